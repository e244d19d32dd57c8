// SPDX-License-Identifier: MIT
// All ranks begin an exchange together, and the slowest one's time counts. On a simulated cluster that is exact; what
// the simulator cannot know, the arithmetic of making a schedule, is measured on this machine.
#include "replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "balance/model/median.hpp"
#include "comm/clock.hpp"
#include "comm/message_plan.hpp"
#include "comm/mpi/mpi_check.hpp"
#include "comm/simulation.hpp"

#if MPI_VERSION >= 4
namespace {

using comm::mpi_check;

// Parts by rank, one behind the other: the other ranks, their bytes, and where these begin.
struct Side {
    std::vector<int> ranks, bytes, at;
    std::vector<std::size_t> places;  // of each part

    explicit Side(std::span<const balance::Part> parts) : places(parts.size()) {
        std::map<int, std::vector<std::size_t>> of_rank;
        for (std::size_t i = 0; i < parts.size(); ++i) of_rank[parts[i].member].push_back(i);
        std::size_t next = 0;
        for (const auto& [rank, list] : of_rank) {
            ranks.push_back(rank);
            at.push_back(static_cast<int>(next));
            for (const std::size_t i : list) places[i] = std::exchange(next, next + parts[i].bytes);
            bytes.push_back(static_cast<int>(next) - at.back());
        }
    }
    int count() const { return static_cast<int>(ranks.size()); }
};

class Neighbours final : public balance::Channel {
public:
    explicit Neighbours(const comm::Communicator& comm) : comm_(comm) {}
    ~Neighbours() override { drop(); }

    Places lay_out(std::span<const balance::Part> sent, std::span<const balance::Part> received) override {
        drop();
        out_ = Side(sent), in_ = Side(received);
        mpi_check(
            MPI_Dist_graph_create_adjacent(comm_.handle().comm, in_.count(), in_.ranks.data(), MPI_UNWEIGHTED,
                                           out_.count(), out_.ranks.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_),
            "MPI_Dist_graph_create_adjacent");
        return {out_.places, in_.places};
    }
    /// The buffers are those of the first call.
    void start(std::span<const std::byte> sent, std::span<std::byte> received, std::shared_ptr<const void>) override {
        if (request_ == MPI_REQUEST_NULL)
            mpi_check(MPI_Neighbor_alltoallv_init(sent.data(), out_.bytes.data(), out_.at.data(), MPI_BYTE,
                                                  received.data(), in_.bytes.data(), in_.at.data(), MPI_BYTE, graph_,
                                                  MPI_INFO_NULL, &request_),
                      "MPI_Neighbor_alltoallv_init");
        mpi_check(MPI_Start(&request_), "MPI_Start");
    }
    std::vector<std::size_t> wait_for_some() override { return {}; }
    // Not comm::wait_all(): MPI_Testall of MPICH 4.0 fails on the request of a persistent collective call.
    void finish() override {
        if (!comm_.oversubscribed()) return mpi_check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
        int done = 0;
        while (!done) {
            mpi_check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (!done) sched_yield();
        }
    }

private:
    void drop() {
        if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
        if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
    }

    comm::Communicator comm_;
    Side out_{{}}, in_{{}};
    MPI_Comm graph_ = MPI_COMM_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<balance::Channel> make_neighbours(const comm::Communicator& comm) {
    return std::make_unique<Neighbours>(comm);
}
#else
std::unique_ptr<balance::Channel> make_neighbours(const comm::Communicator&) { return nullptr; }
#endif

namespace {

using balance::median;
using balance::Part;

constexpr std::size_t small_bytes = 4096;
constexpr int schedule_trials = 5;

std::size_t bytes_of(const std::vector<Part>& parts) {
    std::size_t n = 0;
    for (const Part& p : parts) n += p.bytes;
    return n;
}

double slowest(double seconds, const comm::Communicator& comm) {
    const std::vector<double> mine{seconds};
    return comm.spread(mine)[0].max;
}

double sum(double value, const comm::Communicator& comm) {
    const std::vector<double> mine{value};
    return comm.spread(mine)[0].mean * comm.size();
}

// No rank begins before all are here. On a simulated cluster, whose ranks have one clock, all begin at one moment.
void begin_together(const comm::Communicator& comm) {
    comm.barrier();
    if constexpr (comm::simulated) {
        constexpr double enough = 1e-3;  // for the reduction
        const double start = slowest(comm::now(), comm) + enough;
        comm::compute(start - comm::now());
    }
}

// Ranks, and the k-th part between two of them, tell what the i-th byte has to be.
std::byte content(int from, int to, int k, std::size_t i, int round) {
    return static_cast<std::byte>(from * 31 + to * 7 + k * 3 + i * 13 + round * 101);
}

// A plan in one way.
class Replayed {
public:
    Replayed(const TracedPlan& plan, const Way& way, const comm::Communicator& comm)
        : plan_(plan), way_(way), comm_(comm), out_(bytes_of(plan.sent)), in_(bytes_of(plan.received)) {
        if (way.network) channel_ = std::make_unique<comm::Exchange>(comm, *way.network, &traffic_);
        else channel_ = make_neighbours(comm);
        std::vector<double> trials;
        for (int trial = 0; trial < (comm::simulated ? 1 : schedule_trials); ++trial) {
            begin_together(comm_);
            const double start = comm::now();
            places_ = channel_->lay_out(plan.sent, plan.received);
            trials.push_back(comm::now() - start);
        }
        schedule_seconds_ = median(trials);
    }

    // Seconds of the slowest rank.
    double exchange(int round) {
        for_each_byte(plan_.sent, places_.sent, [&](std::size_t at, int other, int k, std::size_t i) {
            out_[at] = content(comm_.rank(), other, k, i, round);
        });
        std::fill(in_.begin(), in_.end(), std::byte{0});
        begin_together(comm_);
        const double start = comm::now();
        channel_->start(out_, in_);
        channel_->finish();
        const double seconds = slowest(comm::now() - start, comm_);
        std::int64_t wrong = 0;
        for_each_byte(plan_.received, places_.received, [&](std::size_t at, int other, int k, std::size_t i) {
            wrong += in_[at] != content(other, comm_.rank(), k, i, round);
        });
        wrong = comm_.sum_of(wrong);
        if (wrong > 0)
            throw std::runtime_error(fmt::format("{}: {} bytes of a plan of {} did not arrive as they were sent",
                                                 way_.name, wrong, plan_.kind));
        return seconds;
    }

    // Seconds of lay_out() on the slowest rank. Its arithmetic is measured, because simulated time stands still for it.
    double schedule_seconds() const {
        double arithmetic = 0;
        if (comm::simulated && way_.network) {
            const comm::NodeTraffic traffic = comm::node_traffic(plan_.sent, plan_.received, comm_, *way_.network);
            std::vector<double> trials;
            for (int trial = 0; trial < schedule_trials; ++trial) {
                const auto start = std::chrono::steady_clock::now();
                comm::plan_messages(comm_.rank(), plan_.sent, plan_.received, way_.network->nodes,
                                    way_.network->schedule, traffic);
                trials.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            }
            arithmetic = *std::ranges::min_element(trials);  // others may have had the core
        }
        return slowest(schedule_seconds_ + arithmetic, comm_);
    }
    const comm::Traffic& traffic() const { return traffic_; }

private:
    template <class Use>
    static void for_each_byte(const std::vector<Part>& parts, const std::vector<std::size_t>& places, Use use) {
        std::map<int, int> count;  // parts of each rank so far
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const int k = count[parts[p].member]++;
            for (std::size_t i = 0; i < parts[p].bytes; ++i) use(places[p] + i, parts[p].member, k, i);
        }
    }

    const TracedPlan& plan_;
    const Way& way_;
    const comm::Communicator& comm_;
    comm::Traffic traffic_;
    std::unique_ptr<balance::Channel> channel_;
    balance::Channel::Places places_;
    std::vector<std::byte> out_, in_;
    double schedule_seconds_ = 0;
};

}  // namespace

std::vector<Timing> replay(const std::vector<TracedPlan>& plans, const std::vector<Way>& ways, int rounds,
                           const comm::Communicator& comm) {
    std::vector<Timing> timings;
    for (const TracedPlan& plan : plans) {
        auto timing = std::ranges::find_if(timings, [&](const Timing& t) { return t.kind == plan.kind; });
        if (timing == timings.end()) {
            for (const Way& w : ways) timings.push_back({plan.kind, w.name});
            timing = timings.end() - static_cast<std::ptrdiff_t>(ways.size());
        }
        std::vector<std::unique_ptr<Replayed>> replayed;
        for (const Way& w : ways) replayed.push_back(std::make_unique<Replayed>(plan, w, comm));
        std::vector<std::vector<double>> seconds(ways.size());
        std::vector<std::size_t> turns(ways.size());
        std::iota(turns.begin(), turns.end(), 0);
        std::mt19937 random(1);  // the same on all ranks
        for (int round = 0; round < rounds; ++round) {
            std::shuffle(turns.begin(), turns.end(), random);  // one leaves the caches to the next
            for (const std::size_t w : turns) seconds[w].push_back(replayed[w]->exchange(round));
        }
        const double parts = sum(static_cast<double>(plan.sent.size()), comm);
        const double bytes = sum(static_cast<double>(bytes_of(plan.sent)), comm);
        const double small = sum(
            static_cast<double>(std::ranges::count_if(plan.sent, [](const Part& p) { return p.bytes <= small_bytes; })),
            comm);
        for (std::size_t w = 0; w < ways.size(); ++w, ++timing) {
            ++timing->plans;
            timing->seconds += median(seconds[w]);
            timing->schedule_seconds += replayed[w]->schedule_seconds();
            timing->messages += sum(static_cast<double>(replayed[w]->traffic().messages), comm) / rounds;
            timing->bytes += bytes;
            timing->parts += parts;
            timing->small_parts += small;
        }
    }
    for (Timing& t : timings)
        for (double* value : {&t.seconds, &t.schedule_seconds, &t.messages, &t.bytes, &t.parts, &t.small_parts})
            *value /= t.plans;
    return timings;
}
