// SPDX-License-Identifier: MIT
// Where a node has more ranks than cores, collective calls are nonblocking ones that are waited for, so that a rank can
// give its core away while it waits. Elsewhere they are blocking ones.
#include "comm/communicator.hpp"

#include <algorithm>
#include <utility>

#include "comm/mpi/from_mpi.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/mpi/tags.hpp"
#include "comm/simulation.hpp"

namespace comm {
namespace {

template <class T>
void reduce(const Communicator::Handle& handle, std::span<T> values, MPI_Datatype type, MPI_Op op, bool yield) {
    if (values.empty()) return;  // of all ranks
    collective(yield, "MPI_Allreduce", MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, values.data(),
               static_cast<int>(values.size()), type, op, handle.comm);
}

// Calls use(at, count) for each piece of `size` bytes.
template <class Use>
void for_each_piece(std::size_t size, std::size_t piece, Use use) {
    for (std::size_t at = 0; at < size; at += piece) use(at, static_cast<int>(std::min(piece, size - at)));
}

// Of this rank's and all before it, in rounds that each double how many ranks a sum is of: MPI_Exscan of the simulator
// sends a message from each rank to each later one.
std::int64_t sum_up_to_rank(MPI_Comm comm, int rank, int size, std::int64_t sum) {
    for (int step = 1; step < size; step *= 2) {
        const int below = rank >= step ? rank - step : MPI_PROC_NULL,
                  above = rank + step < size ? rank + step : MPI_PROC_NULL;
        std::int64_t more = 0;
        mpi_check(MPI_Sendrecv(&sum, 1, MPI_INT64_T, above, exclusive_sum_tag, &more, 1, MPI_INT64_T, below,
                               exclusive_sum_tag, comm, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
        sum += more;
    }
    return sum;
}

// Does some node have more of these ranks than cores?
bool crowded_anywhere(MPI_Comm comm) {
    if (simulated) return false;  // each rank has a core; and simulated time stands still while one polls
    MPI_Comm node;
    mpi_check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    int ranks = 1;
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    cpu_set_t mask;
    std::int64_t crowded = sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) < ranks;
    mpi_check(MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT64_T, MPI_MAX, comm), "MPI_Allreduce");
    return crowded != 0;
}

}  // namespace

Communicator::Communicator()
    : Communicator(std::make_shared<Handle>(MPI_COMM_WORLD), crowded_anywhere(MPI_COMM_WORLD)) {}

Communicator::Communicator(std::shared_ptr<const Handle> handle, bool oversubscribed)
    : handle_(std::move(handle)), oversubscribed_(oversubscribed) {
    mpi_check(MPI_Comm_rank(handle_->comm, &rank_), "MPI_Comm_rank");
    mpi_check(MPI_Comm_size(handle_->comm, &size_), "MPI_Comm_size");
    MPI_Comm node;
    mpi_check(MPI_Comm_split_type(handle_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    MPI_Comm_rank(node, &node_rank_);
    MPI_Comm_size(node, &node_size_);
    MPI_Comm_free(&node);
}

Communicator from_mpi(MPI_Comm ranks) {
    MPI_Comm own;
    mpi_check(MPI_Comm_dup(ranks, &own), "MPI_Comm_dup");
    mpi_check(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return {std::make_shared<const Communicator::Handle>(own), crowded_anywhere(own)};
}

Communicator Communicator::split(int colour) const {
    MPI_Comm part;
    mpi_check(MPI_Comm_split(handle_->comm, colour, rank_, &part), "MPI_Comm_split");
    return Communicator(std::make_shared<Handle>(part), oversubscribed_).in_pieces_of(piece_);
}

Communicator Communicator::in_pieces_of(std::size_t bytes) const {
    Communicator same = *this;
    same.piece_ = bytes;
    return same;
}

void Communicator::barrier() const {
    collective(oversubscribed_, "MPI_Barrier", MPI_Barrier, MPI_Ibarrier, handle_->comm);
}

void Communicator::broadcast(std::string& text) const {
    auto size = static_cast<std::int64_t>(text.size());
    broadcast(std::span(&size, 1));
    text.resize(size);
    broadcast(std::as_writable_bytes(std::span(text)));
}

void Communicator::broadcast(std::span<std::int64_t> values) const { broadcast(std::as_writable_bytes(values)); }
void Communicator::broadcast(std::span<std::byte> bytes) const {
    for_each_piece(bytes.size(), piece_, [&](std::size_t at, int count) {
        collective(oversubscribed_, "MPI_Bcast", MPI_Bcast, MPI_Ibcast, bytes.data() + at, count, MPI_BYTE, 0,
                   handle_->comm);
    });
}

void Communicator::sum(std::span<std::int64_t> values) const {
    reduce(*handle_, values, MPI_INT64_T, MPI_SUM, oversubscribed_);
}
void Communicator::min(std::span<std::int64_t> values) const {
    reduce(*handle_, values, MPI_INT64_T, MPI_MIN, oversubscribed_);
}
void Communicator::max(std::span<std::int64_t> values) const {
    reduce(*handle_, values, MPI_INT64_T, MPI_MAX, oversubscribed_);
}

void Communicator::sum(std::span<Int128> values) const {
    // Limbs of 32 bits in 64: below 2^31 ranks no limb overflows, and the last one carries the sign.
    std::vector<std::int64_t> limbs;
    for (const Int128 v : values)
        for (int k = 0; k < 4; ++k) {
            const auto limb = static_cast<std::int64_t>(v >> (32 * k));
            limbs.push_back(k < 3 ? limb & 0xffffffff : static_cast<std::int64_t>(static_cast<std::int32_t>(limb)));
        }
    reduce(*handle_, std::span(limbs), MPI_INT64_T, MPI_SUM, oversubscribed_);
    for (std::size_t i = 0; i < values.size(); ++i) {
        Int128 v = 0;
        for (int k = 3; k >= 0; --k) v = (v * (Int128{1} << 32)) + limbs[4 * i + k];
        values[i] = v;
    }
}

std::int64_t Communicator::exclusive_sum(std::int64_t value) const {
    if (simulated) return sum_up_to_rank(handle_->comm, rank_, size_, value) - value;
    std::int64_t before = 0;
    collective(oversubscribed_, "MPI_Exscan", MPI_Exscan, MPI_Iexscan, &value, &before, 1, MPI_INT64_T, MPI_SUM,
               handle_->comm);
    return rank_ == 0 ? 0 : before;
}

bool Communicator::all_agree(bool good) const {
    std::int64_t bad = good ? 0 : 1;
    reduce(*handle_, std::span(&bad, 1), MPI_INT64_T, MPI_MAX, oversubscribed_);
    return bad == 0;
}

std::vector<Spread> Communicator::spread(std::span<const double> values) const {
    std::vector<double> low(values.begin(), values.end()), sums = low, high = low;
    reduce(*handle_, std::span(low), MPI_DOUBLE, MPI_MIN, oversubscribed_);
    reduce(*handle_, std::span(sums), MPI_DOUBLE, MPI_SUM, oversubscribed_);
    reduce(*handle_, std::span(high), MPI_DOUBLE, MPI_MAX, oversubscribed_);
    std::vector<Spread> out;
    for (std::size_t i = 0; i < values.size(); ++i) out.push_back({low[i], sums[i] / size_, high[i]});
    return out;
}

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

struct Reduction::State {
    Communicator comm;
    std::vector<std::int64_t> mine, largest;
    MPI_Request request = MPI_REQUEST_NULL;
};
Reduction::Reduction(const Communicator& comm, std::vector<std::int64_t> values)
    : state_(std::make_unique<State>(State{comm, std::move(values), {}})) {
    state_->largest.resize(state_->mine.size());
    if (simulated) return;  // its nonblocking reductions take as many messages as there are ranks: wait() reduces
    mpi_check(MPI_Iallreduce(state_->mine.data(), state_->largest.data(), static_cast<int>(state_->mine.size()),
                             MPI_INT64_T, MPI_MAX, comm.handle().comm, &state_->request),
              "MPI_Iallreduce");
}
Reduction::Reduction(Reduction&&) noexcept = default;
// After an error wait() is not called: MPI may still write to the values, which stay.
Reduction::~Reduction() {
    if (state_ && state_->request != MPI_REQUEST_NULL) static_cast<void>(state_.release());
}
std::vector<std::int64_t> Reduction::wait() {
    if (simulated) return state_->comm.max(state_->mine), std::move(state_->mine);
    wait_all(1, &state_->request, MPI_STATUSES_IGNORE, state_->comm.oversubscribed());
    return std::move(state_->largest);
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
