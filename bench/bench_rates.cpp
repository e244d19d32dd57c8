// SPDX-License-Identifier: MIT
// bench_rates: CPU time of the arithmetic of one balancing on member 0 of a team, the busiest, whatever the others do:
// messages are left out. The bisection is timed by the wall clock, on one member after the other, and that of the
// busiest is printed: run it on an idle machine. From the tables come the rates in app/balancing/simulated_cost.hpp.
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

#include "app/common/heap.hpp"
#include "balance/decision.hpp"
#include "balance/grid/for_each.hpp"
#include "balance/model/cell_counts.hpp"
#include "balance/model/counted_work.hpp"
#include "balance/model/evaluate.hpp"
#include "balance/model/prior.hpp"
#include "balance/partition/chain.hpp"
#include "balance/partition/chain_sweep.hpp"
#include "balance/partition/neighbourhood.hpp"
#include "balance/partition/partition.hpp"
#include "balance/partition/plan.hpp"
#include "balance/partition/quality.hpp"
#include "balance/partition/scattered.hpp"
#include "thread_team.hpp"

using namespace balance;

namespace {

// Member 0 of a team whose other members give what it gives itself.
class Alone final : public Team {
public:
    explicit Alone(int size) : size_(size) {}
    int rank() const override { return 0; }
    int size() const override { return size_; }
    void sum(std::span<std::int64_t>) const override {}
    void max(std::span<std::int64_t>) const override {}
    std::vector<std::byte> gather(std::span<const std::byte> mine) const override {
        std::vector<std::byte> all;
        for (int m = 0; m < size_; ++m) all.insert(all.end(), mine.begin(), mine.end());
        return all;
    }
    void broadcast(std::span<std::byte>) const override {}
    std::vector<std::byte> pass_on(int, std::span<const std::byte> bytes) const override {
        return {bytes.begin(), bytes.end()};
    }
    std::unique_ptr<Channel> channel() const override { return std::make_unique<Nothing>(); }
    std::unique_ptr<Team> split(int) const override { return std::make_unique<Alone>(1); }

private:
    struct Nothing final : Channel {
        Places lay_out(std::span<const Part> sent, std::span<const Part> received) override {
            return {places_in_line(sent), places_in_line(received)};
        }
        void start(std::span<const std::byte>, std::span<std::byte>, std::shared_ptr<const void>) override {}
        std::vector<std::size_t> wait_for_some() override { return {}; }
        void finish() override {}
    };
    int size_;
};

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// For replays, which look at it often: to read the time of a thread takes longer.
double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The fastest of some runs.
double microseconds(const std::function<void()>& part) {
    double best = 1e9;
    for (int i = 0; i < 7; ++i) {
        const double start = cpu_seconds();
        part();
        best = std::min(best, cpu_seconds() - start);
    }
    return best * 1e6;
}

// What a member of a team learnt from the others, call by call.
struct Log {
    std::vector<std::vector<std::byte>> answers;
    std::size_t next = 0;
    double left_out = 0;  // seconds of a replay that went by in the calls

    std::vector<std::byte>& add() { return answers.emplace_back(); }
};

// A member that writes such a log; or one that plays it again, alone on a core whose caches hold what is its own, as
// where each member has a core. Times of threads that take turns on few cores would be several times as long. Left out
// are messages, their layout, reductions, and the copies of what arrives, which is in the cache then.
class Member final : public Team {
public:
    Member(const Team& team, Log& log) : team_(&team), rank_(team.rank()), size_(team.size()), log_(log) {}
    Member(int rank, int size, Log& log) : rank_(rank), size_(size), log_(log) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    void sum(std::span<std::int64_t> values) const override {
        in_place(std::as_writable_bytes(values), [&] { team_->sum(values); });
    }
    void max(std::span<std::int64_t> values) const override {
        in_place(std::as_writable_bytes(values), [&] { team_->max(values); });
    }
    void broadcast(std::span<std::byte> bytes) const override {
        in_place(bytes, [&] { team_->broadcast(bytes); });
    }
    std::vector<std::byte> gather(std::span<const std::byte> mine) const override {
        return answer([&] { return team_->gather(mine); });
    }
    std::vector<std::byte> all_gather(std::span<const std::byte> mine) const override {
        return answer([&] { return team_->all_gather(mine); });
    }
    std::vector<std::byte> pass_on(int distance, std::span<const std::byte> bytes) const override {
        return answer([&] { return team_->pass_on(distance, bytes); });
    }
    std::unique_ptr<Channel> channel() const override {
        return std::make_unique<Messages>(team_ ? team_->channel() : nullptr, *this);
    }
    std::unique_ptr<Team> split(int colour) const override {
        std::unique_ptr<Team> part = team_ ? team_->split(colour) : nullptr;
        std::array<int, 2> place{};
        if (part) place = {part->rank(), part->size()};
        in_place(std::as_writable_bytes(std::span(place)), [] {});
        auto member = part ? std::make_unique<Member>(*part, log_) : std::make_unique<Member>(place[0], place[1], log_);
        member->own_ = std::move(part);
        return member;
    }

private:
    struct Messages final : Channel {
        Messages(std::unique_ptr<Channel> c, const Member& m) : channel(std::move(c)), member(m) {}
        Places lay_out(std::span<const Part> sent, std::span<const Part> received) override {
            const Places places = channel ? channel->lay_out(sent, received) : Places{};
            const auto list = [&](const std::vector<std::size_t>& known) {
                return elements_in<std::size_t>(member.answer([&] {
                    const auto bytes = std::as_bytes(std::span(known));
                    return std::vector<std::byte>(bytes.begin(), bytes.end());
                }));
            };
            return {list(places.sent), list(places.received)};
        }
        void start(std::span<const std::byte> sent, std::span<std::byte> received,
                   std::shared_ptr<const void> owner) override {
            here = received;
            if (channel) {
                arrived = member.log_.answers.size();
                member.log_.add();
                return channel->start(sent, received, owner);
            }
            member.in_place(received, [] {});
        }
        std::vector<std::size_t> wait_for_some() override {
            return elements_in<std::size_t>(member.answer([&] {
                const std::vector<std::size_t> some = channel->wait_for_some();
                const auto bytes = std::as_bytes(std::span(some));
                return std::vector<std::byte>(bytes.begin(), bytes.end());
            }));
        }
        void finish() override {
            if (!channel) return;
            channel->finish();
            member.log_.answers[arrived].assign(here.begin(), here.end());
        }
        std::unique_ptr<Channel> channel;
        const Member& member;
        std::span<std::byte> here;
        std::size_t arrived = 0;  // the place in the log of what is received
    };

    // call(): what the team answers.
    template <class Call>
    std::vector<std::byte> answer(const Call& call) const {
        if (team_) return log_.add() = call();
        const double start = wall_seconds();
        std::vector<std::byte> known = log_.answers[log_.next++];
        log_.left_out += wall_seconds() - start;
        return known;
    }
    template <class Call>
    void in_place(std::span<std::byte> values, const Call& call) const {
        if (team_) {
            call();
            log_.add().assign(values.begin(), values.end());
            return;
        }
        const double start = wall_seconds();
        std::ranges::copy(log_.answers[log_.next++], values.begin());
        log_.left_out += wall_seconds() - start;
    }

    std::unique_ptr<Team> own_;   // of a part
    const Team* team_ = nullptr;  // null: the log is played again
    int rank_, size_;
    Log& log_;
};

// A dense ridge across the middle, as in a collision.
std::int64_t load_at(int nx, int x, int y) {
    return 1000 + (std::abs(x - nx / 2) < nx / 40 ? 30000 : 0) + (x * 7919 + y * 104729) % 500;
}

// The busiest member of a team.
void bisection(int nx, int ny, std::int64_t parts, int members) {
    const Grid grid{{nx, ny, 1}};
    const auto loads_at = [&](int member) {
        const Box home = Homes{grid, members}.of(member);
        std::vector<std::int64_t> mine;
        for (int x = home.lower[0]; x < home.upper[0]; ++x)
            for (int y = home.lower[1]; y < home.upper[1]; ++y) mine.push_back(load_at(nx, x, y));
        return mine;
    };
    const auto cut = [&](const Team& team, const std::vector<std::int64_t>& mine) {
        Scattered<Split> memory;
        bisect(team, grid, mine, parts, 1, memory, {});
    };
    std::vector<Log> logs = ThreadTeam::run(members, [&](const Team& team) {
        Log log;
        const Member member(team, log);
        const std::vector<std::int64_t> mine = loads_at(team.rank());
        cut(member, mine);  // which also makes the blocks of the team
        cut(member, mine);
        return log;
    });
    double busiest = 0;
    for (int m = 0; m < members; ++m) {
        const std::vector<std::int64_t> mine = loads_at(m);
        double best = 1e9;
        for (int i = 0; i < 7; ++i) {
            Log& log = logs[m];
            log.next = 0;
            const Member member(m, members, log);
            cut(member, mine);
            log.left_out = 0;
            const double start = wall_seconds();
            cut(member, mine);
            best = std::min(best, wall_seconds() - start - log.left_out);
        }
        busiest = std::max(busiest, best);
    }
    const std::int64_t cells = grid.box().cells();
    std::printf("%8lld %7d %8lld %8lld %8lld | %9.1f\n", static_cast<long long>(cells), members,
                static_cast<long long>(cells / members),
                static_cast<long long>(cut_together_of(static_cast<double>(cells), 2, members).lines),
                static_cast<long long>(parts), busiest * 1e6);
}

// What a leader of the chain does: it collects its items, and goes through them with many bottlenecks.
struct ChainTimes {
    std::int64_t leaders;
    double item, part;  // nanoseconds: for each item; for each part of each sweep
};
ChainTimes chain_times(const std::vector<std::int64_t>& loads, std::int64_t parts) {
    const auto items = static_cast<std::int64_t>(loads.size());
    const std::int64_t leaders = chain_leaders(items, parts, static_cast<int>(parts)), mine = items / leaders;
    const std::vector<std::int64_t> load(loads.end() - mine, loads.end());
    std::vector<std::int64_t> targets;  // unequal, which takes longest
    for (std::int64_t p = 0; p < parts; ++p) targets.push_back(1'000'000 + p % 17);
    const chain::Rules rules{parts, 0, chain::Targets(balance::PartTargets(targets), parts)};
    const double collected = microseconds([&] {
        const ChainItems gathered{elements_in<std::int64_t>(std::as_bytes(std::span(load))), {}};
        chain::Stretch(gathered, rules).largest_load();
    });
    chain::Stretch stretch({load, {}}, rules);
    std::int64_t passed = 0;
    const double swept = microseconds([&] {  // three rounds, in each of which the bottleneck is known 64 times better
        passed = 0;
        std::int64_t range = stretch.largest_load();
        for (int round = 0; round < 3; ++round, range /= 64)
            for (std::int64_t k = 1; k <= 64; ++k) {
                chain::Sweep sweep{.bottleneck = stretch.load() * leaders / parts + range * k / 64};
                passed += stretch.up(sweep);
            }
    });
    return {leaders, 1e3 * collected / static_cast<double>(mine), 1e3 * swept / static_cast<double>(passed)};
}

void measure(int nx, int ny, int ranks) {
    const Grid grid{{nx, ny, 1}};
    const SerialTeam one;
    const Alone team(ranks);
    const Hosts hosts(ranks, ranks);
    const Box home = Homes{grid, ranks}.of(0);
    std::vector<std::int64_t> loads;
    for (int x = 0; x < nx; ++x)
        for (int y = 0; y < ny; ++y) loads.push_back(load_at(nx, x, y));
    PartitionOptions options;
    options.processes = ranks;
    options.patches_per_process = 8;
    options.cut = CutAt::cells;
    options.sticky = false;
    Scattered<Split> memory;
    const Partition partition = whole(one, make_partition({one, grid, {ranks, 1}, loads, {}, {}}, options, memory));
    const auto cells = static_cast<std::size_t>(home.cells());
    const std::vector<std::int64_t> mine(loads.begin(), loads.begin() + static_cast<std::ptrdiff_t>(cells));
    const std::vector<CellCounts> counts(cells, CellCounts{4, 40, 100});
    const std::vector<std::int64_t> neighbours(cells, 60);
    std::vector<double> state(cells, 1.0);
    const std::vector<double> times(static_cast<std::size_t>(ranks), 1e-3);
    const std::vector<double> rows(times.size() * features, 1e6);
    const auto model = make_model("r1", {});
    const std::int64_t boxes = static_cast<std::int64_t>(partition.boxes.size());

    // A member knows the processes around its home and around its boxes alone.
    const ProcessBoxes of_middle = hosted_of(partition, hosts, ranks / 2),
                       around_middle = around_boxes(one, grid, std::array{all_of(partition)}, of_middle.boxes, 2)[0];
    const ProcessBoxes around_home =
        united(std::array{around_boxes(one, grid, std::array{all_of(partition)}, std::array{home}, 1)[0],
                          hosted_of(partition, hosts, 0)});
    const double planned = microseconds([&] {
        const Decomposition d(grid, around_middle, hosts, {16, 32});
        halo_plan(d, ranks / 2, 2);
    });
    const double fields = microseconds([&] { ProcessCells::whole_processes(team, grid, around_home, hosts); });
    const double owners = microseconds([&] { const Owners o(grid, home, around_home); });
    const Owners o(grid, home, around_home);
    const double quality = microseconds([&] {
        ghost_cells(o);
        moved_between(o, o, mine);
    });
    const ProcessCells pieces = ProcessCells::at_home(team, grid, around_home, hosts);
    const double summed = microseconds([&] { pieces.piece_sums(mine); });
    const double counted = microseconds([&] { counted_work({}, CountedCells{home, {2.5, 2.5}, counts, neighbours}); });
    // The cells as those of one process by itself, whose fields travel nowhere; and what one member concludes of all.
    const Grid own{{home.extent(0), home.extent(1), 1}};
    const Hosts itself(1, 1);
    const ProcessBoxes all_here = even_processes(own, 1, {0, 1});
    const double modelled = microseconds([&] {
        evaluate(*model, one, own, ProcessCells::at_home(one, own, all_here, itself), counts, state, std::array{1e-3});
        model->conclude(0, rows, times);
        model->conclude(1, std::span(rows).first(2 * times.size()), times);
    });
    const std::vector<std::int32_t> particles(cells, 4);
    const double around = microseconds([&] { counts_around(one, own, particles); });
    const double packing = microseconds([&] {
        std::vector<std::int64_t> there(cells);
        unpack(packed(std::span<const std::int64_t>(mine)), std::span(there));
    });
    const ChainTimes chained = chain_times(loads, ranks);
    const std::vector<std::int32_t> empty(cells, 0);
    const double vacuum = microseconds([&] {
        std::vector<std::int32_t> there(cells);
        unpack(packed(std::span<const std::int32_t>(empty)), std::span(there));
    });
    std::printf(
        "%8d %6d %8zu %8lld | %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f | %7lld %6.2f %6.1f\n",
        nx * ny, ranks, cells, static_cast<long long>(boxes), planned, fields, around, owners, quality, summed, counted,
        modelled, packing, vacuum, static_cast<long long>(chained.leaders), chained.item, chained.part);
}

// Partitions that one member makes of a whole grid.
void whole_partition(const Grid& grid, std::int64_t parts) {
    const SerialTeam one;
    std::vector<std::int64_t> loads;
    for_each_cell(grid.box(), [&](int x, int y, int z) { loads.push_back(load_at(grid.cells[0], x, y + 7 * z)); });
    std::printf("%8lld %8lld |", static_cast<long long>(std::ssize(loads)), static_cast<long long>(parts));
    for (const char* kind : {"compact", "nested"}) {
        PartitionOptions options;
        options.kind = kind;
        options.processes = parts;
        Scattered<Split> memory;
        const double made = microseconds([&] {
            make_partition({one, grid, {parts, 1}, loads, {}, {}}, options, memory);
        });
        std::printf(" %9.0f", made);
    }
    std::printf("\n");
}

}  // namespace

int main() {
    app::give_arrays_their_own_pages(true);
    const app::FieldsOnHeap fields;  // as in runs
    std::printf(
        "%8s %6s %8s %8s | %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s (microseconds) | %7s %6s %6s (nanoseconds, of the "
        "chain)\n",
        "cells", "ranks", "at home", "boxes", "tiles", "fields", "around", "owners", "quality", "sums", "counted",
        "model", "packing", "vacuum", "leaders", "item", "part");
    for (const int ranks : {96, 384, 2400}) {
        measure(1140, 228, ranks);
        measure(2280, 912, ranks);
    }
    measure(11400, 11400, 2400);
    std::printf("\n%8s %7s %8s %8s %8s | %9s  (microseconds)\n", "cells", "members", "at home", "lines", "parts",
                "bisection");
    for (const int members : {64, 100})
        for (const std::int64_t parts : {8 * members, 19200})
            for (const auto& [nx, ny] : {std::pair{1140, 114}, {1140, 228}, {2280, 912}, {1140, 4564}})
                bisection(nx, ny, parts, members);
    for (const int members : {16, 150, 600}) bisection(12 * members, 9, 8 * members, members);  // small homes
    std::printf("\n%8s %8s | %9s %9s  (microseconds)\n", "cells", "parts", "compact", "nested");
    for (const Grid& grid :
         {Grid{{380, 38, 1}}, Grid{{1140, 114, 1}}, Grid{{90, 16, 16}, {}, 3}, Grid{{228, 20, 20}, {}, 3}})
        for (const std::int64_t parts : {24, 96, 384, 2400}) whole_partition(grid, parts);
}
