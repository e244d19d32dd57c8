// SPDX-License-Identifier: MIT
// Bytes that ranks give one another: of lengths that only the giver knows, and of more than an int can count.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "comm/communicator.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/mpi/requests.hpp"
#include "comm/tags.hpp"

namespace comm {

std::vector<std::byte> Communicator::all_to_all(std::span<const std::vector<std::byte>> to_rank) const {
    // The number of ranks that send to this one. No rank comes through here before all have called. So messages of two
    // calls cannot be confused, although the next lines receive from any rank.
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
    Requests requests(*this);
    for (std::int64_t& size : incoming) requests.post(MPI_Irecv, &size, 1, MPI_ANY_SOURCE, all_to_all_sizes_tag);
    for (int r = 0; r < size_; ++r) {
        sizes[r].sent = std::ssize(to_rank[r]);
        if (sends[r]) requests.post(MPI_Isend, &sizes[r].sent, 1, r, all_to_all_sizes_tag);
    }
    const std::vector<MPI_Status> status = requests.wait();
    for (int k = 0; k < senders; ++k) sizes[status[k].MPI_SOURCE].received = incoming[k];
    sizes[rank_].received = sizes[rank_].sent;

    std::int64_t total = 0;
    for (const Announced& s : sizes) total += s.received;
    std::vector<std::byte> in(total);
    std::int64_t at = 0;
    for (int r = 0; r < size_; at += sizes[r++].received)  // in rank order
        if (r == rank_) std::ranges::copy(to_rank[r], in.begin() + at);
        else requests.post(MPI_Irecv, in.data() + at, sizes[r].received, r, all_to_all_bytes_tag, piece_);
    for (int r = 0; r < size_; ++r)
        if (r != rank_) requests.post(MPI_Isend, to_rank[r].data(), sizes[r].sent, r, all_to_all_bytes_tag, piece_);
    requests.wait();
    return in;
}

// Along a binomial tree: a rank collects from the ranks 1, 2, 4, ... places further on. Each has collected from the
// ranks behind it before. The rank then sends all of it on. So no rank receives more messages than the logarithm of the
// ranks.
std::vector<std::byte> Communicator::gather(std::span<const std::byte> mine) const {
    std::vector<std::byte> all(mine.begin(), mine.end());
    Requests requests(*this);
    for (int step = 1; step < size_; step *= 2) {
        const std::int64_t size = std::ssize(all);
        if (rank_ & step) {
            requests.post(MPI_Isend, &size, 1, rank_ - step, gather_size_tag);
            requests.post(MPI_Isend, all.data(), size, rank_ - step, gather_bytes_tag, piece_);
            requests.wait();
            return {};
        }
        if (rank_ + step >= size_) continue;
        std::int64_t more = 0;
        requests.post(MPI_Irecv, &more, 1, rank_ + step, gather_size_tag);
        requests.wait();
        all.resize(size + more);
        requests.post(MPI_Irecv, all.data() + size, more, rank_ + step, gather_bytes_tag, piece_);
        requests.wait();
    }
    return all;
}

// The method of Bruck et al. (IEEE TPDS 8(11), 1997). A rank has its own bytes and those of the ranks behind it, in a
// circle. Each round brings the bytes of as many more ranks. So the number of messages is logarithmic, and no byte
// comes twice. MPI_Allgatherv of many bytes goes from neighbour to neighbour in as many messages as there are ranks.
std::vector<std::byte> Communicator::all_gather(std::span<const std::byte> mine) const {
    std::vector<std::byte> bytes(mine.begin(), mine.end());
    std::vector<std::int64_t> sizes{std::ssize(mine)};  // of this rank, the next, the one after it
    Requests requests(*this);
    for (int step = 1; step < size_; step *= 2) {
        const int ranks = std::min(step, size_ - step);  // that are still to come, at most as many as are here
        const int ahead = (rank_ + step) % size_, behind = (rank_ - step + size_) % size_;
        const std::int64_t out = std::accumulate(sizes.begin(), sizes.begin() + ranks, std::int64_t{0});
        sizes.resize(step + ranks);
        requests.post(MPI_Irecv, &sizes[step], ranks, ahead, all_gather_sizes_tag);
        requests.post(MPI_Isend, sizes.data(), ranks, behind, all_gather_sizes_tag);
        requests.wait();
        const std::size_t here = bytes.size();
        bytes.resize(here + std::accumulate(sizes.begin() + step, sizes.end(), std::int64_t{0}));
        requests.post(MPI_Irecv, bytes.data() + here, bytes.size() - here, ahead, all_gather_bytes_tag, piece_);
        requests.post(MPI_Isend, bytes.data(), out, behind, all_gather_bytes_tag, piece_);
        requests.wait();
    }
    // The first rank's come first.
    const std::int64_t before =
        std::accumulate(sizes.begin(), sizes.begin() + (size_ - rank_) % size_, std::int64_t{0});
    std::rotate(bytes.begin(), bytes.begin() + before, bytes.end());
    return bytes;
}

// A first message says how many bytes there are and has as many of them as fit; most have no other one.
std::vector<std::byte> Communicator::pass_on(int distance, std::span<const std::byte> bytes) const {
    constexpr std::size_t most_at_first = 4096;
    const int ahead = (rank_ + distance) % size_, behind = (rank_ - distance + size_) % size_;
    const std::size_t room = std::min(most_at_first, piece_ + sizeof(std::int64_t));
    const auto first_of = [&](std::size_t size) { return std::min(size, room - sizeof(std::int64_t)); };
    std::vector<std::byte> out(sizeof(std::int64_t)), in(room);
    auto size = std::ssize(bytes);
    std::memcpy(out.data(), &size, sizeof size);
    out.insert(out.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(first_of(bytes.size())));
    Requests requests(*this);
    requests.post(MPI_Irecv, in.data(), in.size(), behind, pass_on_tag);
    requests.post(MPI_Isend, out.data(), out.size(), ahead, pass_on_tag);
    requests.wait();
    std::memcpy(&size, in.data(), sizeof size);
    std::vector<std::byte> arrived(size);
    const std::size_t here = first_of(arrived.size()), gone = first_of(bytes.size());
    std::copy_n(in.begin() + sizeof size, here, arrived.begin());
    requests.post(MPI_Irecv, arrived.data() + here, arrived.size() - here, behind, pass_on_tag, piece_);
    requests.post(MPI_Isend, bytes.data() + gone, bytes.size() - gone, ahead, pass_on_tag, piece_);
    requests.wait();
    return arrived;
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
