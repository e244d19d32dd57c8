// SPDX-License-Identifier: MIT
#include "comm/communicator.hpp"

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
    std::int64_t size = static_cast<std::int64_t>(text.size());
    mpi_check(MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
    text.resize(size);
    mpi_check(MPI_Bcast(text.data(), static_cast<int>(size), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
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
    mpi_check(MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD), "MPI_Exscan");
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
    std::vector<int> sent(size_), received(size_), sent_at(size_, 0), received_at(size_, 0);
    std::vector<std::byte> out;
    for (int r = 0; r < size_; ++r) {
        sent[r] = static_cast<int>(to_rank[r].size());
        sent_at[r] = static_cast<int>(out.size());
        out.insert(out.end(), to_rank[r].begin(), to_rank[r].end());
    }
    MPI_Request request;
    mpi_check(MPI_Ialltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD, &request), "MPI_Ialltoall");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
    for (int r = 1; r < size_; ++r) received_at[r] = received_at[r - 1] + received[r - 1];
    std::vector<std::byte> in(received_at.back() + received.back());
    mpi_check(MPI_Ialltoallv(out.data(), sent.data(), sent_at.data(), MPI_BYTE, in.data(), received.data(), received_at.data(), MPI_BYTE, MPI_COMM_WORLD, &request),
              "MPI_Ialltoallv");
    wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_);
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
    const int mine = static_cast<int>(text.size());
    std::vector<int> sizes(size_), starts(size_, 0);
    mpi_check(MPI_Gather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
    for (int r = 1; r < size_; ++r) starts[r] = starts[r - 1] + sizes[r - 1];
    std::string all(rank_ == 0 ? starts.back() + sizes.back() : 0, ' ');
    mpi_check(MPI_Gatherv(text.data(), mine, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Gatherv");
    std::vector<std::string> out;
    if (rank_ == 0)
        for (int r = 0; r < size_; ++r) out.push_back(all.substr(starts[r], sizes[r]));
    return out;
}

}  // namespace comm
