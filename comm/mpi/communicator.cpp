// SPDX-License-Identifier: MIT
// Where a node has more ranks than cores, collective calls are nonblocking ones that are waited for, so that a rank can
// give its core away while it waits. Elsewhere they are blocking ones.
#include "comm/communicator.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include "comm/mpi/from_mpi.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/simulation.hpp"

namespace comm {
namespace {

template <class T>
void reduce(const Communicator::Handle& handle, std::span<T> values, MPI_Datatype type, MPI_Op op, bool yield) {
    if (values.empty()) return;  // of all ranks
    collective(yield, "MPI_Allreduce", MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, values.data(),
               static_cast<int>(values.size()), type, op, handle.comm);
}

void broadcast_bytes(const Communicator::Handle& handle, void* bytes, std::size_t size, bool yield) {
    // MPI counts are 31-bit.
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (std::size_t at = 0; at < size; at += piece)
        collective(yield, "MPI_Bcast", MPI_Bcast, MPI_Ibcast, static_cast<char*>(bytes) + at,
                   static_cast<int>(std::min(piece, size - at)), MPI_BYTE, 0, handle.comm);
}

// Of this rank's and all before it, in rounds that each double how many ranks a sum is of: MPI_Exscan of the simulator
// sends a message from each rank to each later one.
std::int64_t sum_up_to_rank(MPI_Comm comm, int rank, int size, std::int64_t sum) {
    constexpr int tag = 6;
    for (int step = 1; step < size; step *= 2) {
        const int below = rank >= step ? rank - step : MPI_PROC_NULL,
                  above = rank + step < size ? rank + step : MPI_PROC_NULL;
        std::int64_t more = 0;
        mpi_check(
            MPI_Sendrecv(&sum, 1, MPI_INT64_T, above, tag, &more, 1, MPI_INT64_T, below, tag, comm, MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
        sum += more;
    }
    return sum;
}

// Does some node have more of these ranks than cores?
bool crowded_anywhere(MPI_Comm comm) {
    if (simulated) return false;  // nobody waits for a core there, and nobody may poll: time stands still meanwhile
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
    return {std::make_shared<Handle>(part), oversubscribed_};
}

void Communicator::barrier() const {
    collective(oversubscribed_, "MPI_Barrier", MPI_Barrier, MPI_Ibarrier, handle_->comm);
}

void Communicator::broadcast(std::string& text) const {
    auto size = static_cast<std::int64_t>(text.size());
    broadcast(std::span(&size, 1));
    text.resize(size);
    broadcast_bytes(*handle_, text.data(), text.size(), oversubscribed_);
}

void Communicator::broadcast(std::span<std::int64_t> values) const { broadcast(std::as_writable_bytes(values)); }
void Communicator::broadcast(std::span<std::byte> bytes) const {
    broadcast_bytes(*handle_, bytes.data(), bytes.size(), oversubscribed_);
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
    constexpr int sizes_tag = 2;
    struct Announced {
        std::int64_t sent = 0, received = 0;
    };
    std::vector<Announced> sizes(size_);
    std::vector<std::int64_t> incoming(senders);
    std::vector<MPI_Request> requests(senders);
    for (int k = 0; k < senders; ++k)
        mpi_check(MPI_Irecv(&incoming[k], 1, MPI_INT64_T, MPI_ANY_SOURCE, sizes_tag, handle_->comm, &requests[k]),
                  "MPI_Irecv");
    for (int r = 0; r < size_; ++r) {
        sizes[r].sent = static_cast<std::int64_t>(to_rank[r].size());
        if (!sends[r]) continue;
        requests.emplace_back();
        mpi_check(MPI_Isend(&sizes[r].sent, 1, MPI_INT64_T, r, sizes_tag, handle_->comm, &requests.back()),
                  "MPI_Isend");
    }
    std::vector<MPI_Status> status(requests.size());
    wait_all(static_cast<int>(requests.size()), requests.data(), status.data(), oversubscribed_);
    for (int k = 0; k < senders; ++k) sizes[status[k].MPI_SOURCE].received = incoming[k];
    sizes[rank_].received = sizes[rank_].sent;

    std::int64_t total = 0;
    for (const Announced& s : sizes) total += s.received;
    std::vector<std::byte> in(total);
    constexpr int bytes_tag = 5;
    constexpr std::size_t piece = std::size_t{1} << 30;  // MPI counts are 31-bit
    requests.clear();
    const auto post = [&](auto call, auto* bytes, std::int64_t size, int other, const char* what) {
        for (std::size_t begin = 0; begin < static_cast<std::size_t>(size); begin += piece) {
            requests.emplace_back();
            mpi_check(call(bytes + begin, static_cast<int>(std::min(piece, size - begin)), MPI_BYTE, other, bytes_tag,
                           handle_->comm, &requests.back()),
                      what);
        }
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
// After an error nobody waits for it: MPI may still write there.
Reduction::~Reduction() {
    if (state_ && state_->request != MPI_REQUEST_NULL) static_cast<void>(state_.release());
}
std::vector<std::int64_t> Reduction::wait() {
    if (simulated) return state_->comm.max(state_->mine), std::move(state_->mine);
    wait_all(1, &state_->request, MPI_STATUSES_IGNORE, state_->comm.oversubscribed());
    return std::move(state_->largest);
}

// Along a binomial tree: a rank collects from the next one, from the next but one, the next but three, ..., what they
// have of those behind them, and hands all of it on. So no rank receives more messages than the logarithm of the ranks.
std::vector<std::byte> Communicator::gather(std::span<const std::byte> mine) const {
    constexpr int size_tag = 3, tag = 4;
    std::vector<std::byte> all(mine.begin(), mine.end());
    const auto wait_for = [&](MPI_Request request) { wait_all(1, &request, MPI_STATUSES_IGNORE, oversubscribed_); };
    MPI_Request request;
    for (int step = 1; step < size_; step *= 2) {
        std::int64_t size = static_cast<std::int64_t>(all.size());
        if (rank_ & step) {
            if (size > INT_MAX)
                fatal(1, std::to_string(size) +
                             " bytes are too many for one rank; use fewer cells, or "
                             "balance.partition.cut = strips");
            mpi_check(MPI_Isend(&size, 1, MPI_INT64_T, rank_ - step, size_tag, handle_->comm, &request), "MPI_Isend");
            wait_for(request);
            mpi_check(
                MPI_Isend(all.data(), static_cast<int>(size), MPI_BYTE, rank_ - step, tag, handle_->comm, &request),
                "MPI_Isend");
            wait_for(request);
            return {};
        }
        if (rank_ + step >= size_) continue;
        std::int64_t more = 0;
        mpi_check(MPI_Irecv(&more, 1, MPI_INT64_T, rank_ + step, size_tag, handle_->comm, &request), "MPI_Irecv");
        wait_for(request);
        all.resize(size + more);
        mpi_check(
            MPI_Irecv(all.data() + size, static_cast<int>(more), MPI_BYTE, rank_ + step, tag, handle_->comm, &request),
            "MPI_Irecv");
        wait_for(request);
    }
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
