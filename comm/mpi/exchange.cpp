// SPDX-License-Identifier: MIT
// Messages are planned once (message_plan.hpp) and posted many times.
#include "comm/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "comm/message_plan.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/node_traffic.hpp"

namespace comm {
namespace {

const Network& one_message_each() {
    static const Network network;
    return network;
}

}  // namespace

struct Exchange::State {
    MessagePlan plan;
    std::vector<std::byte> transit;
    // Since start():
    std::span<std::byte> received;
    std::vector<MPI_Request> requests;  // of the receives, then of what is sent and handed on
    std::vector<int> missing;           // of each part: messages that have not come yet
    std::vector<int> completed;
    std::vector<MPI_Status> statuses;

    void check_size(std::size_t request, const MPI_Status& status) const;
};

// Ends the job when a message has not the size that was planned.
void Exchange::State::check_size(std::size_t request, const MPI_Status& status) const {
    if (request >= plan.receives.size()) return;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (static_cast<std::size_t>(bytes) != plan.receives[request].bytes)
        fatal(1, "exchange: " + std::to_string(bytes) + " bytes came from rank " + std::to_string(status.MPI_SOURCE) +
                     " where " + std::to_string(plan.receives[request].bytes) + " were due; this is a bug");
}

Exchange::Exchange(const Communicator& comm) : Exchange(comm, one_message_each()) {}
Exchange::Exchange(const Communicator& comm, const Network& network, Traffic* traffic)
    : comm_(comm), network_(&network), traffic_(traffic), state_(std::make_unique<State>()) {}
Exchange::~Exchange() = default;

balance::Channel::Places Exchange::lay_out(std::span<const balance::Part> sent,
                                           std::span<const balance::Part> received) {
    state_->plan = plan_messages(comm_.rank(), sent, received, network_->nodes, network_->schedule,
                                 node_traffic(sent, received, comm_, *network_));
    state_->transit.resize(state_->plan.transit_bytes);
    return state_->plan.places;
}

void Exchange::start(std::span<const std::byte> sent, std::span<std::byte> received) {
    State& s = *state_;
    s.received = received;
    s.missing = s.plan.messages;
    for (const MessagePlan::Receive& r : s.plan.receives) {
        std::byte* to = (r.hand_on.empty() ? received.data() : s.transit.data()) + r.at;
        s.requests.emplace_back();
        mpi_check(
            MPI_Irecv(to, static_cast<int>(r.bytes), MPI_BYTE, r.from, r.tag, comm_.handle().comm, &s.requests.back()),
            "MPI_Irecv");
    }
    for (const MessagePlan::Send& m : s.plan.sends) {
        s.requests.emplace_back();
        const auto send = network_->schedule.one_by_one ? MPI_Issend : MPI_Isend;
        mpi_check(send(sent.data() + m.at, static_cast<int>(m.bytes), MPI_BYTE, m.to, m.tag, comm_.handle().comm,
                       &s.requests.back()),
                  "MPI_Isend");
        if (network_->schedule.one_by_one) wait_all(1, &s.requests.back(), MPI_STATUSES_IGNORE, comm_.oversubscribed());
        if (traffic_) ++traffic_->messages, traffic_->bytes += static_cast<std::int64_t>(m.bytes);
    }
}

std::vector<std::size_t> Exchange::wait_for_some() {
    State& s = *state_;
    std::vector<std::size_t> arrived;
    const auto come = [&](const std::vector<std::size_t>& parts) {
        for (const std::size_t p : parts)
            if (--s.missing[p] == 0) arrived.push_back(p);
    };
    while (arrived.empty()) {
        s.completed.resize(s.requests.size());
        s.statuses.resize(s.requests.size());
        const int n = wait_some(s.requests, s.completed.data(), s.statuses.data(), comm_.oversubscribed());
        if (n == MPI_UNDEFINED) break;  // nothing is on its way
        for (int k = 0; k < n; ++k) {
            const auto request = static_cast<std::size_t>(s.completed[k]);
            s.check_size(request, s.statuses[k]);
            if (request >= s.plan.receives.size()) continue;
            const MessagePlan::Receive& r = s.plan.receives[request];
            come(r.parts);
            for (const MessagePlan::HandOn& part : r.hand_on) {
                const std::byte* bytes = s.transit.data() + part.at;
                if (part.to == comm_.rank()) {
                    std::memcpy(s.received.data() + part.place, bytes, part.bytes);
                    come(part.parts);
                    continue;
                }
                s.requests.emplace_back();
                mpi_check(MPI_Isend(bytes, static_cast<int>(part.bytes), MPI_BYTE, part.to, part.tag,
                                    comm_.handle().comm, &s.requests.back()),
                          "MPI_Isend");
                if (traffic_) ++traffic_->messages, traffic_->bytes += static_cast<std::int64_t>(part.bytes);
            }
        }
    }
    return arrived;
}

void Exchange::finish() {
    State& s = *state_;
    if (s.plan.transit_bytes > 0)
        while (!wait_for_some().empty()) {
        }
    std::vector<char> due;
    for (const MPI_Request r : s.requests) due.push_back(r != MPI_REQUEST_NULL);
    s.statuses.resize(s.requests.size());
    wait_all(static_cast<int>(s.requests.size()), s.requests.data(), s.statuses.data(), comm_.oversubscribed());
    for (std::size_t i = 0; i < due.size(); ++i)
        if (due[i]) s.check_size(i, s.statuses[i]);
    s.requests.clear();
}

}  // namespace comm
