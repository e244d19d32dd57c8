// SPDX-License-Identifier: MIT
#include "comm/exchange.hpp"

#include <algorithm>
#include <string>

#include "comm/mpi/mpi_check.hpp"

namespace comm {
namespace {

constexpr int sent = -1, tag = 1;

}  // namespace

struct Exchange::Requests {
    std::vector<MPI_Request> all;
    std::vector<int> expected;  // bytes of a receive, `sent` for a send
    std::vector<MPI_Status> status;
};

Exchange::Exchange(const Communicator& comm, std::size_t message_limit)
    : limit_(message_limit), comm_(comm), requests_(std::make_unique<Requests>()) {}
Exchange::~Exchange() = default;

void Exchange::start(std::span<const Outgoing> out, std::span<const Incoming> in) {
    const auto pieces = [this](std::size_t size, auto post) {
        for (std::size_t at = 0; at < size; at += limit_) post(at, static_cast<int>(std::min(limit_, size - at)));
    };
    for (const Incoming& m : in)
        pieces(m.bytes.size(), [&](std::size_t at, int n) {
            requests_->all.emplace_back();
            requests_->expected.push_back(n);
            mpi_check(
                MPI_Irecv(m.bytes.data() + at, n, MPI_BYTE, m.member, tag, comm_.handle().comm, &requests_->all.back()),
                "MPI_Irecv");
        });
    for (const Outgoing& m : out)
        pieces(m.bytes.size(), [&](std::size_t at, int n) {
            requests_->all.emplace_back();
            requests_->expected.push_back(sent);
            mpi_check(
                MPI_Isend(m.bytes.data() + at, n, MPI_BYTE, m.member, tag, comm_.handle().comm, &requests_->all.back()),
                "MPI_Isend");
        });
}

void Exchange::finish() {
    std::vector<MPI_Status>& status = requests_->status;
    status.resize(requests_->all.size());
    wait_all(static_cast<int>(requests_->all.size()), requests_->all.data(), status.data(), comm_.oversubscribed());
    for (std::size_t i = 0; i < status.size(); ++i) {
        if (requests_->expected[i] == sent) continue;
        int n = 0;
        MPI_Get_count(&status[i], MPI_BYTE, &n);
        if (n != requests_->expected[i])
            fatal(1, "exchange: " + std::to_string(n) + " bytes came from rank " +
                         std::to_string(status[i].MPI_SOURCE) + " where " + std::to_string(requests_->expected[i]) +
                         " were due; this is a bug");
    }
    requests_->all.clear();
    requests_->expected.clear();
}

}  // namespace comm
