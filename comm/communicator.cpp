// SPDX-License-Identifier: MIT
#include "comm/communicator.hpp"

#include <algorithm>
#include <climits>

#include "comm/exchange.hpp"
#include "comm/mpi_check.hpp"

namespace comm {
namespace {

template <class T>
void reduce(std::span<T> values, MPI_Datatype type, MPI_Op op, bool yield) {
    MPI_Request request;
    mpi_check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, op, MPI_COMM_WORLD, &request), "MPI_Iallreduce");
    wait_all(1, &request, MPI_STATUSES_IGNORE, yield);
}

}  // namespace

Communicator::Communicator() {
    mpi_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
    MPI_Comm node;
    mpi_check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    MPI_Comm_rank(node, &node_rank_);
    MPI_Comm_size(node, &node_size_);
    MPI_Comm_free(&node);
    cpu_set_t mask;
    std::int64_t crowded = sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) < node_size_;
    reduce(std::span(&crowded, 1), MPI_INT64_T, MPI_MAX, false);
    oversubscribed_ = crowded != 0;
}

void Communicator::barrier() const {
    MPI_Request request;
    mpi_check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
}

void Communicator::broadcast(std::string& text) const {
    auto size = static_cast<std::int64_t>(text.size());
    broadcast(std::span(&size, 1));
    if (size > INT_MAX) fatal(1, "a text of " + std::to_string(size) + " bytes is too long to be sent to all ranks; this is a bug");
    text.resize(size);
    MPI_Request request;
    mpi_check(MPI_Ibcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
}

void Communicator::broadcast(std::span<std::int64_t> values) const {
    MPI_Request request;
    mpi_check(MPI_Ibcast(values.data(), static_cast<int>(values.size()), MPI_INT64_T, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
}

void Communicator::sum(std::span<std::int64_t> values) const { reduce(values, MPI_INT64_T, MPI_SUM, oversubscribed_); }
void Communicator::min(std::span<std::int64_t> values) const { reduce(values, MPI_INT64_T, MPI_MIN, oversubscribed_); }
void Communicator::max(std::span<std::int64_t> values) const { reduce(values, MPI_INT64_T, MPI_MAX, oversubscribed_); }

void Communicator::sum(std::span<Int128> values) const {
    // Limbs of 32 bits in 64: below 2^31 ranks no limb overflows, and the last one carries the sign.
    std::vector<std::int64_t> limbs;
    for (const Int128 v : values)
        for (int k = 0; k < 4; ++k) {
            const auto limb = static_cast<std::int64_t>(v >> (32 * k));
            limbs.push_back(k < 3 ? limb & 0xffffffff : static_cast<std::int64_t>(static_cast<std::int32_t>(limb)));
        }
    reduce(std::span(limbs), MPI_INT64_T, MPI_SUM, oversubscribed_);
    for (std::size_t i = 0; i < values.size(); ++i) {
        Int128 v = 0;
        for (int k = 3; k >= 0; --k) v = (v * (Int128{1} << 32)) + limbs[4 * i + k];
        values[i] = v;
    }
}

std::int64_t Communicator::exclusive_sum(std::int64_t value) const {
    std::int64_t before = 0;
    MPI_Request request;
    mpi_check(MPI_Iexscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request), "MPI_Iexscan");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
    return rank_ == 0 ? 0 : before;
}

bool Communicator::all_agree(bool good) const {
    std::int64_t bad = good ? 0 : 1;
    reduce(std::span(&bad, 1), MPI_INT64_T, MPI_MAX, oversubscribed_);
    return bad == 0;
}

std::vector<Spread> Communicator::spread(std::span<const double> values) const {
    std::vector<double> low(values.begin(), values.end()), sums = low, high = low;
    reduce(std::span(low), MPI_DOUBLE, MPI_MIN, oversubscribed_);
    reduce(std::span(sums), MPI_DOUBLE, MPI_SUM, oversubscribed_);
    reduce(std::span(high), MPI_DOUBLE, MPI_MAX, oversubscribed_);
    std::vector<Spread> out;
    for (std::size_t i = 0; i < values.size(); ++i) out.push_back({low[i], sums[i] / size_, high[i]});
    return out;
}

std::vector<std::byte> Communicator::all_to_all(std::span<const std::vector<std::byte>> to_rank) const {
    // Sizes are 64-bit, and the bytes go as messages that are cut where they are long: no count of MPI's can overflow.
    std::vector<std::int64_t> sizes, received(size_), start(size_ + 1, 0);
    for (const std::vector<std::byte>& bytes : to_rank) sizes.push_back(static_cast<std::int64_t>(bytes.size()));
    MPI_Request request;
    mpi_check(MPI_Ialltoall(sizes.data(), 1, MPI_INT64_T, received.data(), 1, MPI_INT64_T, MPI_COMM_WORLD, &request), "MPI_Ialltoall");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
    for (int r = 0; r < size_; ++r) start[r + 1] = start[r] + received[r];
    std::vector<std::byte> in(start[size_]);
    std::vector<Outgoing> out;
    std::vector<Incoming> incoming;
    for (int r = 0; r < size_; ++r) {
        const std::span<std::byte> place = std::span(in).subspan(start[r], received[r]);
        if (r == rank_) std::copy(to_rank[r].begin(), to_rank[r].end(), place.begin());
        else out.push_back({r, to_rank[r]}), incoming.push_back({r, place});
    }
    constexpr int tag = 8;
    Exchange exchange(*this);
    exchange.start(out, incoming, tag);
    exchange.finish();
    return in;
}

void Communicator::relay(bool ascending, std::span<std::int64_t> carry, const std::function<void(std::span<std::int64_t>)>& step) const {
    constexpr int tag = 7;
    const int place = ascending ? rank_ : size_ - 1 - rank_, forward = ascending ? 1 : -1, last = ascending ? size_ - 1 : 0, n = static_cast<int>(carry.size());
    MPI_Request request;
    if (place > 0) {
        mpi_check(MPI_Irecv(carry.data(), n, MPI_INT64_T, rank_ - forward, tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
        wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
    }
    step(carry);
    if (place + 1 < size_) mpi_check(MPI_Send(carry.data(), n, MPI_INT64_T, rank_ + forward, tag, MPI_COMM_WORLD), "MPI_Send");
    if (size_ == 1) return;
    mpi_check(MPI_Ibcast(carry.data(), n, MPI_INT64_T, last, MPI_COMM_WORLD, &request), "MPI_Ibcast");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
    std::vector<std::vector<std::byte>> to_rank(size_);
    const auto bytes = std::as_bytes(std::span(text));
    to_rank[0].assign(bytes.begin(), bytes.end());
    std::vector<std::int64_t> sizes(size_, 0);
    sizes[rank_] = static_cast<std::int64_t>(text.size());
    sum(sizes);
    const std::vector<std::byte> all = all_to_all(to_rank);
    std::vector<std::string> out;
    const char* next = reinterpret_cast<const char*>(all.data());
    for (int r = 0; rank_ == 0 && r < size_; next += sizes[r++]) out.emplace_back(next, sizes[r]);
    return out;
}

}  // namespace comm
