// SPDX-License-Identifier: MIT
// Bytes that ranks give one another: of lengths that only the giver knows, and of more than an int can count.
#include <algorithm>

#include "comm/communicator.hpp"
#include "comm/mpi/from_mpi.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/mpi/pieces.hpp"
#include "comm/simulation.hpp"
#include "comm/tags.hpp"

namespace comm {

std::vector<std::byte> Communicator::all_to_all(std::span<const std::vector<std::byte>> to_rank) const {
    // How many ranks send to this one. No rank comes through here before all have called: messages of one call cannot
    // be taken for those of the call before, although the next lines receive from any rank.
    std::vector<int> sends(size_);
    for (int r = 0; r < size_; ++r) sends[r] = r != rank_ && !to_rank[r].empty();
    int senders = 0;
    collective(oversubscribed_, "MPI_Reduce_scatter_block", MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
               sends.data(), &senders, 1, MPI_INT, MPI_SUM, handle_->comm);

    // Who sends how much: 64-bit sizes.
    struct Announced {
        std::int64_t sent = 0, received = 0;
    };
    std::vector<Announced> sizes(size_);
    std::vector<std::int64_t> incoming(senders);
    std::vector<MPI_Request> requests(senders);
    for (int k = 0; k < senders; ++k)
        mpi_check(
            MPI_Irecv(&incoming[k], 1, MPI_INT64_T, MPI_ANY_SOURCE, all_to_all_sizes_tag, handle_->comm, &requests[k]),
            "MPI_Irecv");
    for (int r = 0; r < size_; ++r) {
        sizes[r].sent = static_cast<std::int64_t>(to_rank[r].size());
        if (!sends[r]) continue;
        requests.emplace_back();
        mpi_check(MPI_Isend(&sizes[r].sent, 1, MPI_INT64_T, r, all_to_all_sizes_tag, handle_->comm, &requests.back()),
                  "MPI_Isend");
    }
    std::vector<MPI_Status> status(requests.size());
    wait_all(static_cast<int>(requests.size()), requests.data(), status.data(), oversubscribed_);
    for (int k = 0; k < senders; ++k) sizes[status[k].MPI_SOURCE].received = incoming[k];
    sizes[rank_].received = sizes[rank_].sent;

    std::int64_t total = 0;
    for (const Announced& s : sizes) total += s.received;
    std::vector<std::byte> in(total);
    requests.clear();
    const auto post = [&](auto call, auto* bytes, std::int64_t size, int other, const char* what) {
        for_each_piece(size, piece_, [&](std::size_t at, int count) {
            requests.emplace_back();
            mpi_check(call(bytes + at, count, MPI_BYTE, other, all_to_all_bytes_tag, handle_->comm, &requests.back()),
                      what);
        });
    };
    std::int64_t at = 0;
    for (int r = 0; r < size_; at += sizes[r++].received)  // in rank order
        if (r == rank_) std::copy(to_rank[r].begin(), to_rank[r].end(), in.begin() + at);
        else post(MPI_Irecv, in.data() + at, sizes[r].received, r, "MPI_Irecv");
    for (int r = 0; r < size_; ++r)
        if (r != rank_) post(MPI_Isend, to_rank[r].data(), sizes[r].sent, r, "MPI_Isend");
    wait_all(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE, oversubscribed_);
    return in;
}

// Along a binomial tree: a rank collects from the next one, from the next but one, the next but three, ..., what they
// have of those behind them, and sends all of it on. So no rank receives more messages than the logarithm of the ranks.
std::vector<std::byte> Communicator::gather(std::span<const std::byte> mine) const {
    std::vector<std::byte> all(mine.begin(), mine.end());
    const auto transfer = [&](auto call, auto* data, int count, MPI_Datatype type, int other, int tag) {
        MPI_Request request;
        mpi_check(call(data, count, type, other, tag, handle_->comm, &request), "MPI_Isend or MPI_Irecv");
        wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
    };
    for (int step = 1; step < size_; step *= 2) {
        const std::size_t size = all.size();
        if (rank_ & step) {
            const auto bytes = static_cast<std::int64_t>(size);
            transfer(MPI_Isend, &bytes, 1, MPI_INT64_T, rank_ - step, gather_size_tag);
            for_each_piece(size, piece_, [&](std::size_t at, int count) {
                transfer(MPI_Isend, all.data() + at, count, MPI_BYTE, rank_ - step, gather_bytes_tag);
            });
            return {};
        }
        if (rank_ + step >= size_) continue;
        std::int64_t more = 0;
        transfer(MPI_Irecv, &more, 1, MPI_INT64_T, rank_ + step, gather_size_tag);
        all.resize(size + more);
        for_each_piece(more, piece_, [&](std::size_t at, int count) {
            transfer(MPI_Irecv, all.data() + size + at, count, MPI_BYTE, rank_ + step, gather_bytes_tag);
        });
    }
    return all;
}

// MPI_Allgatherv of the simulator sends a message between each two ranks; the tree sends fewer.
std::vector<std::byte> Communicator::all_gather(std::span<const std::byte> mine) const {
    auto total = static_cast<std::int64_t>(mine.size());
    if (simulated) {
        std::vector<std::byte> all = gather(mine);
        total = static_cast<std::int64_t>(all.size());
        broadcast(std::span(&total, 1));
        all.resize(total);
        broadcast(std::span(all));
        return all;
    }
    std::vector<std::int64_t> begin(size_ + 1, 0);  // of each rank's bytes among all
    collective(oversubscribed_, "MPI_Allgather", MPI_Allgather, MPI_Iallgather, &total, 1, MPI_INT64_T,
               begin.data() + 1, 1, MPI_INT64_T, handle_->comm);
    for (int r = 0; r < size_; ++r) begin[r + 1] += begin[r];
    std::vector<std::byte> all(begin[size_]);
    // Each call brings one piece of the whole, to which a rank gives what lies in it of its own.
    for_each_piece(all.size(), piece_, [&](std::size_t at, int count) {
        const auto low = static_cast<std::int64_t>(at), high = low + count;
        std::vector<int> counts(size_), places(size_);
        for (int r = 0; r < size_; ++r) {
            const std::int64_t from = std::clamp(begin[r], low, high), to = std::clamp(begin[r + 1], low, high);
            counts[r] = static_cast<int>(to - from);
            places[r] = static_cast<int>(from - low);
        }
        const std::byte* given = mine.data() + (counts[rank_] > 0 ? std::max<std::int64_t>(0, low - begin[rank_]) : 0);
        collective(oversubscribed_, "MPI_Allgatherv", MPI_Allgatherv, MPI_Iallgatherv, given, counts[rank_], MPI_BYTE,
                   all.data() + at, counts.data(), places.data(), MPI_BYTE, handle_->comm);
    });
    return all;
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
    // Each text with a zero behind it.
    const std::vector<std::byte> all = gather(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
    std::vector<std::string> out;
    const char* next = reinterpret_cast<const char*>(all.data());
    for (const char* end = next + all.size(); next < end; next += out.back().size() + 1) out.emplace_back(next);
    return out;
}

}  // namespace comm
