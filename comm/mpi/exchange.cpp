// SPDX-License-Identifier: MIT
// Messages are planned once (message_plan.hpp) and posted many times.
#include "comm/exchange.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "comm/message_plan.hpp"
#include "comm/mpi/mpi_check.hpp"

namespace comm {
namespace {

const Network& one_message_each() {
    static const Network network;
    return network;
}

}  // namespace

struct Exchange::State {
    MessagePlan plan;
    std::vector<std::byte> forwarding;
    // Since start():
    std::span<std::byte> received;
    std::shared_ptr<const void> owner;  // Keeps the sent and received bytes alive.
    std::vector<MPI_Request> receives;  // Receives that have not completed.
    std::vector<std::size_t> messages;  // Their messages in the plan.
    std::vector<MPI_Request> sends;
    std::vector<int> missing;    // of each part: messages that have not come yet
    std::vector<int> completed;  // places in `receives`
    std::vector<MPI_Status> statuses;

    const MessagePlan::Receive& receive_of(std::size_t request, const MPI_Status& status) const;
    void forget_completed(int count);
};

// Ends the job when a message has not the size that was planned.
const MessagePlan::Receive& Exchange::State::receive_of(std::size_t request, const MPI_Status& status) const {
    const MessagePlan::Receive& due = plan.receives[messages[request]];
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (static_cast<std::size_t>(bytes) != due.bytes)
        fatal(1, "exchange: " + std::to_string(bytes) + " bytes came from rank " + std::to_string(status.MPI_SOURCE) +
                     " where " + std::to_string(due.bytes) + " were due; this is a bug");
    return due;
}

// The last requests take the places of those that have completed, so that MPI looks through open ones alone.
void Exchange::State::forget_completed(int count) {
    std::sort(completed.begin(), completed.begin() + count, std::greater<>());
    for (int k = 0; k < count; ++k) {
        receives[completed[k]] = receives.back();
        messages[completed[k]] = messages.back();
        receives.pop_back();
        messages.pop_back();
    }
}

Exchange::Exchange(const Communicator& comm) : Exchange(comm, one_message_each()) {}
Exchange::Exchange(const Communicator& comm, const Network& network, Traffic* traffic, Observer on_plan)
    : comm_(comm),
      network_(&network),
      traffic_(traffic),
      on_plan_(std::move(on_plan)),
      state_(std::make_unique<State>()) {}
// After an error finish() is not called: MPI may still write to the buffers, which stay.
Exchange::~Exchange() {
    if (!state_->receives.empty() || !state_->sends.empty()) static_cast<void>(state_.release());
}

balance::Channel::Places Exchange::lay_out(std::span<const balance::Part> sent,
                                           std::span<const balance::Part> received) {
    if (on_plan_) on_plan_(sent);
    const std::size_t piece = network_->schedule.piece;
    if (piece < 1 || piece > INT_MAX)
        throw std::invalid_argument("comm::Schedule::piece is " + std::to_string(piece) +
                                    "; MPI sends messages of 1 to 2^31 - 1 bytes");
    state_->plan = plan_messages(comm_.rank(), sent, received, network_->nodes, network_->schedule,
                                 node_traffic(sent, received, comm_, *network_));
    state_->forwarding.resize(state_->plan.forwarding_bytes);
    return state_->plan.places;
}

void Exchange::start(std::span<const std::byte> sent, std::span<std::byte> received,
                     std::shared_ptr<const void> owner) {
    State& s = *state_;
    s.received = received;
    s.owner = std::move(owner);
    s.missing = s.plan.messages;
    for (const MessagePlan::Receive& r : s.plan.receives) {
        std::byte* to = (r.forwards.empty() ? received.data() : s.forwarding.data()) + r.at;
        s.messages.push_back(s.receives.size());
        s.receives.emplace_back();
        mpi_check(
            MPI_Irecv(to, static_cast<int>(r.bytes), MPI_BYTE, r.from, r.tag, comm_.handle().comm, &s.receives.back()),
            "MPI_Irecv");
    }
    for (const MessagePlan::Send& m : s.plan.sends) {
        const bool one_by_one = network_->schedule.one_by_one;
        send(one_by_one ? MPI_Issend : MPI_Isend, sent.data() + m.at, m.bytes, m.to, m.tag);
        if (one_by_one) wait_all(1, &s.sends.back(), MPI_STATUSES_IGNORE, comm_.oversubscribed());
    }
}

template <class Call>
void Exchange::send(Call call, const std::byte* bytes, std::size_t size, int to, int tag) {
    state_->sends.emplace_back();
    mpi_check(call(bytes, static_cast<int>(size), MPI_BYTE, to, tag, comm_.handle().comm, &state_->sends.back()),
              "MPI_Isend");
    if (!traffic_) return;
    ++traffic_->messages;
    traffic_->bytes += static_cast<std::int64_t>(size);
}

std::vector<std::size_t> Exchange::wait_for_some() {
    State& s = *state_;
    std::vector<std::size_t> arrived;
    const auto come = [&](const std::vector<std::size_t>& parts) {
        for (const std::size_t p : parts)
            if (--s.missing[p] == 0) arrived.push_back(p);
    };
    while (arrived.empty() && !s.receives.empty()) {
        s.completed.resize(s.receives.size());
        s.statuses.resize(s.receives.size());
        const int n = wait_some(s.receives, s.completed.data(), s.statuses.data(), comm_.oversubscribed());
        for (int k = 0; k < n; ++k) {
            const MessagePlan::Receive& r = s.receive_of(s.completed[k], s.statuses[k]);
            come(r.parts);
            for (const MessagePlan::Forward& f : r.forwards) {
                const std::byte* bytes = s.forwarding.data() + f.at;
                if (f.to == comm_.rank()) {
                    std::memcpy(s.received.data() + f.place, bytes, f.bytes);
                    come(f.parts);
                } else {
                    send(MPI_Isend, bytes, f.bytes, f.to, f.tag);
                }
            }
        }
        s.forget_completed(n);
    }
    return arrived;
}

void Exchange::finish() {
    State& s = *state_;
    if (s.plan.forwarding_bytes > 0)
        while (!wait_for_some().empty()) {
        }
    s.statuses.resize(s.receives.size());
    wait_all(static_cast<int>(s.receives.size()), s.receives.data(), s.statuses.data(), comm_.oversubscribed());
    for (std::size_t i = 0; i < s.receives.size(); ++i) s.receive_of(i, s.statuses[i]);
    wait_all(static_cast<int>(s.sends.size()), s.sends.data(), MPI_STATUSES_IGNORE, comm_.oversubscribed());
    s.receives.clear();
    s.messages.clear();
    s.sends.clear();
    s.owner.reset();
}

}  // namespace comm
