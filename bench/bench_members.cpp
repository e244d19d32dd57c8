// SPDX-License-Identifier: MIT
// bench_members MEMBERS CELLS CUT [ROUNDS]: what one member of a team of up to 100,000 and more does, sends and holds
// in a balancing. All members run the real code, by turns in this process (turn_team.hpp); CELLS, CUT and ROUNDS as in
// bench_wide. Prints for each balancing the time of the slowest member, by rates of arithmetic that were measured
// (app/balancing/simulated_cost.hpp) and by a model of messages: an estimate, not a measurement. Then what a member
// sends, and the bytes that it keeps afterwards and holds at most meanwhile, counted at each allocation; member 0,
// which fits costs for all, stands apart. At last the collective calls of the middle member by the size
// of the team.
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "turn_team.hpp"
#include "wide_world.hpp"

namespace {

class ClockMeter final : public balance::Meter {
public:
    explicit ClockMeter(double& clock) : clock_(clock) {}
    void part(balance::RoundPart part, std::int64_t processes, std::int64_t cells) const override {
        charge(app::part_costs[static_cast<int>(part)], processes, cells);
    }
    void charge(const app::PartCost& c, std::int64_t processes, std::int64_t cells) const {
        clock_ += c.once + c.process * static_cast<double>(processes) + c.cell * static_cast<double>(cells);
    }
    double now() const override { return clock_; }

private:
    double& clock_;
};

struct Report {
    double decision = 0, all = 0;  // seconds of the slowest member
    double lbe = 0;
    std::int64_t messages = 0, bytes = 0;  // of all members
    std::vector<turns::Memory> memory;     // of each
};

// What half, 99 % and all of the members other than member 0 hold at most, in kilobytes.
using Most = std::array<double, 3>;
Most most_of(const std::vector<turns::Memory>& memory, std::int64_t turns::Memory::*which) {
    std::vector<std::int64_t> bytes;
    for (std::size_t m = 1; m < memory.size(); ++m) bytes.push_back(memory[m].*which);
    std::ranges::sort(bytes);
    const auto at = [&](double part) {
        const auto last = static_cast<double>(bytes.size()) - 1;
        return bytes.empty() ? 0 : static_cast<double>(bytes[static_cast<std::size_t>(std::ceil(part * last))]) / 1000;
    };
    return {at(0.5), at(0.99), at(1)};
}

std::vector<Report> play(turns::Turns& turns, int members, const balance::Grid& grid, balance::CutAt cut, int rounds) {
    std::vector<Report> reports(rounds);
    for (Report& r : reports) r.memory.resize(members);
    const auto board = turns::Team::all(turns, members);
    const balance::Policy policy = wide::policy_for(members, cut);
    turns.run(std::size_t{1} << 18, [&](int m) {
        turns::Account& account = turns.account(m);
        const turns::Team team(board, m);
        const ClockMeter meter(account.clock);
        const balance::Setting setting{team, grid, {members, members}, policy, meter};
        balance::Balancing state = wide::start(setting);
        for (int round = 0; round < rounds; ++round) {
            std::int64_t nothing = 0;
            team.sum(std::span(&nothing, 1));  // all begin together
            account.memory.most = account.memory.now;
            const std::int64_t messages = account.messages, bytes = account.bytes;
            const wide::Spent spent = wide::balance_once(
                setting, state, round,
                [&](auto cost, auto processes, auto cells) { meter.charge(cost, processes, cells); });
            Report& r = reports[round];
            r.decision = std::max(r.decision, spent.decision);
            r.all = std::max(r.all, spent.all);
            r.lbe = state.models.front().history.lbe_model;
            r.messages += account.messages - messages;
            r.bytes += account.bytes - bytes;
            r.memory[m] = account.memory;
        }
    });
    return reports;
}

int run(int argc, char** argv) {
    const int members = argc > 1 ? std::atoi(argv[1]) : 0;
    const std::optional<balance::CutAt> cut = argc > 3 ? wide::cut_of(argv[3]) : std::nullopt;
    const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    if (members < 1 || rounds < 1 || !cut) {
        std::fprintf(stderr, "usage: bench_members MEMBERS CELLS patches|strips|cells [ROUNDS]\n");
        return 2;
    }
    const balance::Grid grid = wide::grid_of(argv[2]);
    turns::Turns turns(members, {});
    const std::vector<Report> reports = play(turns, members, grid, *cut, rounds);
    const auto kilobytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1000; };
    for (int round = 0; round < rounds; ++round) {
        const Report& r = reports[round];
        std::printf(
            "%d members, %lld cells, round %d: estimated %.3f ms, %.3f ms with the plan of what moves, LBE_m "
            "%.4f; a member sends %.0f messages, %.3f MB\n",
            members, static_cast<long long>(grid.box().cells()), round, r.decision * 1e3, r.all * 1e3, r.lbe,
            static_cast<double>(r.messages) / members, static_cast<double>(r.bytes) / members * 1e-6);
        for (const auto& [does, which] :
             {std::pair{"keep", &turns::Memory::now}, std::pair{"hold at most", &turns::Memory::most}}) {
            const Most most = most_of(r.memory, which);
            std::printf("  half of the members %s up to %.1f kB, 99 %% up to %.1f, all up to %.1f; member 0 %.1f\n",
                        does, most[0], most[1], most[2], kilobytes(r.memory[0].*which));
        }
    }
    std::printf("collective calls of member %d:\n", members / 2);
    for (const auto& [size, calls] : turns.account(members / 2).together)
        std::printf("  in a team of %6d: %4lld calls, %.1f kB\n", size, static_cast<long long>(calls.calls),
                    kilobytes(calls.bytes));
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
