// SPDX-License-Identifier: MIT
// If a node has more ranks than cores, collective calls are nonblocking calls with a wait. So a waiting rank can give
// its core away. Elsewhere they are blocking ones.
#include "comm/communicator.hpp"

#include <algorithm>
#include <utility>

#include "comm/mpi/from_mpi.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/mpi/requests.hpp"
#include "comm/simulation.hpp"
#include "comm/tags.hpp"

namespace comm {
namespace {

// piece: bytes that a reduction has at most, but at least one value.
template <class T>
void reduce(const Communicator::Handle& handle, std::span<T> values, MPI_Datatype type, MPI_Op op, bool yield,
            std::size_t piece) {
    for_each_piece(values.size(), std::max<std::size_t>(1, piece / sizeof(T)), [&](std::size_t at, int count) {
        collective(yield, "MPI_Allreduce", MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, values.data() + at, count, type,
                   op, handle.comm);
    });
}

// The operation of a Reduction. MPI takes all its values for one element, so they come here together.
void largest_and_sum(void* in, void* in_out, int* count, MPI_Datatype*) {
    const auto* from = static_cast<const Reduction::Values*>(in);
    auto* to = static_cast<Reduction::Values*>(in_out);
    for (int i = 0; i < *count; ++i) {
        for (int k = 0; k < Reduction::maxima; ++k) to[i][k] = std::max(to[i][k], from[i][k]);
        to[i].back() += from[i].back();
    }
}

MPI_Op largest_and_sum_op() {
    static const MPI_Op op = [] {
        MPI_Op made;
        mpi_check(MPI_Op_create(largest_and_sum, 1, &made), "MPI_Op_create");
        return made;
    }();
    return op;
}

// The type of a Reduction's values. It may be freed while a reduction is under way; MPI would complain of one that is
// left at the end.
class TypeOfReductions {
public:
    TypeOfReductions() {
        mpi_check(MPI_Type_contiguous(Reduction::maxima + 1, MPI_INT64_T, &type_), "MPI_Type_contiguous");
        mpi_check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    TypeOfReductions(const TypeOfReductions&) = delete;
    TypeOfReductions& operator=(const TypeOfReductions&) = delete;
    ~TypeOfReductions() { MPI_Type_free(&type_); }
    MPI_Datatype get() const { return type_; }

private:
    MPI_Datatype type_;
};

// Sum of the values of this rank and all before it. Each round doubles the number of ranks in a sum, because MPI_Exscan
// of the simulator sends a message from each rank to each later one.
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

void Communicator::broadcast_list(std::vector<std::int64_t>& list) const {
    list.resize(from_rank_0(std::ssize(list)));
    broadcast(std::span(list));
}

void Communicator::broadcast(std::string& text) const {
    text.resize(from_rank_0(std::ssize(text)));
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
    reduce(*handle_, values, MPI_INT64_T, MPI_SUM, oversubscribed_, piece_);
}
void Communicator::min(std::span<std::int64_t> values) const {
    reduce(*handle_, values, MPI_INT64_T, MPI_MIN, oversubscribed_, piece_);
}
void Communicator::max(std::span<std::int64_t> values) const {
    reduce(*handle_, values, MPI_INT64_T, MPI_MAX, oversubscribed_, piece_);
}

void Communicator::sum(std::span<Int128> values) const {
    // Limbs of 32 bits in 64: below 2^31 ranks no limb overflows, and the last one carries the sign.
    std::vector<std::int64_t> limbs;
    for (const Int128 v : values)
        for (int k = 0; k < 4; ++k) {
            const auto limb = static_cast<std::int64_t>(v >> (32 * k));
            limbs.push_back(k < 3 ? limb & 0xffffffff : static_cast<std::int64_t>(static_cast<std::int32_t>(limb)));
        }
    reduce(*handle_, std::span(limbs), MPI_INT64_T, MPI_SUM, oversubscribed_, piece_);
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
    reduce(*handle_, std::span(&bad, 1), MPI_INT64_T, MPI_MAX, oversubscribed_, piece_);
    return bad == 0;
}

std::vector<Spread> Communicator::spread(std::span<const double> values) const {
    std::vector<double> low(values.begin(), values.end()), sums = low, high = low;
    reduce(*handle_, std::span(low), MPI_DOUBLE, MPI_MIN, oversubscribed_, piece_);
    reduce(*handle_, std::span(sums), MPI_DOUBLE, MPI_SUM, oversubscribed_, piece_);
    reduce(*handle_, std::span(high), MPI_DOUBLE, MPI_MAX, oversubscribed_, piece_);
    std::vector<Spread> out;
    for (std::size_t i = 0; i < values.size(); ++i) out.push_back({low[i], sums[i] / size_, high[i]});
    return out;
}

struct Reduction::State {
    Communicator comm;
    Values mine, all;
    MPI_Request request = MPI_REQUEST_NULL;
};
Reduction::Reduction(const Communicator& comm, const Values& values)
    : state_(std::make_unique<State>(State{comm, values, {}})) {
    if (simulated) return;  // its nonblocking reductions take as many messages as there are ranks: wait() reduces
    mpi_check(MPI_Iallreduce(state_->mine.data(), state_->all.data(), 1, TypeOfReductions().get(), largest_and_sum_op(),
                             comm.handle().comm, &state_->request),
              "MPI_Iallreduce");
}
Reduction::Reduction(Reduction&&) noexcept = default;
// After an error wait() is not called: MPI may still write to the values, which stay.
Reduction::~Reduction() {
    if (state_ && state_->request != MPI_REQUEST_NULL) static_cast<void>(state_.release());
}
Reduction::Values Reduction::wait() {
    if (simulated)
        mpi_check(MPI_Allreduce(state_->mine.data(), state_->all.data(), 1, TypeOfReductions().get(),
                                largest_and_sum_op(), state_->comm.handle().comm),
                  "MPI_Allreduce");
    else wait_all(1, &state_->request, MPI_STATUSES_IGNORE, state_->comm.oversubscribed());
    return state_->all;
}

}  // namespace comm
