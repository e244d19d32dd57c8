// SPDX-License-Identifier: MIT
// Nothing in a file is believed: its digest finds damage, the checks here find files that are whole but make no sense,
// and say which part of them.
#include "app/output/restart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>

#include "app/common/words.hpp"
#include "app/deck/compare.hpp"
#include "app/output/checkpoint_front.hpp"
#include "app/output/file_kind.hpp"
#include "balance/grid/grid.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

constexpr int box_columns = 4;
constexpr const char* remedy = "use another checkpoint";

// Rank 0 looks at the file, all hear the verdict.
Front verified_front(const std::string& path, const comm::Communicator& comm) {
    std::string text;
    on_rank_0(comm, [&] {
        const auto refuse = [&](const std::string& what) {
            throw InputError(fmt::format("{}: {}; {}", path, what, remedy));
        };
        const std::int64_t size = comm::file_size(path);
        const std::string look = comm::read_front(path, front_look);
        text = look.substr(0, front_bytes);
        const std::optional<Front> front = parse_front(text);
        if (!front) throw InputError(fmt::format("{}: {}", path, why_no_checkpoint(path, look)));
        if (front->bytes != size) refuse(fmt::format("is damaged: {} bytes instead of {}", size, front->bytes));
    });
    comm.broadcast(text);
    const Front front = *parse_front(text);
    comm::require(comm, comm::file_digest(path, front_bytes, front.bytes, comm) == front.body,
                  [&] { return InputError(path + ": is damaged: its bytes don't match its digest; " + remedy); });
    return front;
}

// Calls use(particles) for this rank's share of the file, a piece at a time, the same number of pieces on all ranks.
void for_each_piece(comm::FileReader& file, std::int64_t particles, const comm::Communicator& comm,
                    const std::function<void(std::vector<md::Particle>)>& use) {
    constexpr std::int64_t piece = 1 << 15;
    const balance::Range mine = balance::block(particles, comm.rank(), comm.size());
    const std::int64_t pieces = (particles / comm.size() + piece) / piece;
    for (std::int64_t k = 0; k < pieces; ++k) {
        const std::int64_t begin = std::min(mine.end, mine.begin + k * piece),
                           n = std::min(mine.end, begin + piece) - begin;
        const std::vector<std::int64_t> id = file.rows<std::int64_t>("/exact/id", begin, n);
        const std::vector<std::int64_t> state = file.rows<std::int64_t>("/exact/state", begin, n, state_columns);
        std::vector<md::Particle> list;
        list.reserve(n);
        for (std::int64_t i = 0; i < n; ++i)
            list.push_back({id[i], state[4 * i], state[4 * i + 1], state[4 * i + 2], state[4 * i + 3]});
        use(std::move(list));
    }
}

// Is a particle one that a run can hold? Beyond these velocities sums of integers could overflow.
bool sensible(const md::Particle& p, const md::Domain& domain) {
    constexpr std::int64_t fastest = std::int64_t{1} << 61;
    const auto inside = [](std::int64_t x, const md::Axis& axis) { return x >= 0 && x < axis.fixed_length(); };
    return inside(p.x, domain.axis[0]) && inside(p.y, domain.axis[1]) && p.vx > -fastest && p.vx < fastest &&
           p.vy > -fastest && p.vy < fastest;
}

void read_history(comm::FileReader& file, CheckpointInfo& info, const comm::Communicator& comm) {
    const std::vector<double> energies = file.all<double>("/exact/energies"), clock = file.all<double>("/exact/clock");
    const std::vector<std::int64_t> step = file.all<std::int64_t>("/particles/all/position/step");
    const auto require = [&](bool good, const char* what) {
        comm::require(comm, good,
                      [&] { return InputError(fmt::format("{}: {} makes no sense; {}", info.path, what, remedy)); });
    };
    require(step == std::vector{info.step}, "its step, which is not that of its front,");
    // Of a particle that is as fast as sensible() allows, and more than a pair's energy can be.
    const double most = 1e13 * static_cast<double>(std::max<std::int64_t>(1, info.particles));
    require(energies.size() == 2 && std::abs(energies[0]) <= most && energies[1] >= 0 && energies[1] <= most,
            "its energy");
    info.energy_first = energies[0];
    info.largest_kinetic = energies[1];
    require(clock.size() == 3 && clock[0] >= 0 && clock[0] <= static_cast<double>(info.step) &&
                clock[0] == std::floor(clock[0]) && clock[1] >= 0 && clock[1] < 1e15 && clock[2] == info.deck.run.dt,
            "its time");
    info.clock = {static_cast<std::int64_t>(clock[0]), clock[1], clock[2]};
    if (!file.has("/exact/lineage")) return;  // of the time before run.json, as restarts/strip_t1.h5
    const std::vector<std::int64_t> numbers = file.all<std::int64_t>("/exact/lineage");
    require(numbers.size() % 2 == 0 && !numbers.empty(), "its lineage");
    info.lineage = lineage_from(numbers);
    std::int64_t before = 0;
    for (const Start& s : info.lineage) {
        require(s.step >= before && s.step <= info.step, "its lineage");
        before = s.step;
    }
}

Deck deck_in(const std::string& text, const std::string& path) {
    try {
        return parse_deck(text, path);
    } catch (const DeckError& e) {
        throw InputError(path + ": its deck is not of this version: " + e.what());
    }
}

// What a checkpoint holds of one model.
struct SavedModel {
    balance::Partition partition;
    std::vector<balance::Split> splits;
    std::vector<double> memory, record, state;  // state: of this rank's home
};

SavedModel read_model(comm::FileReader& file, const std::string& path, const LoadBalancer& balancer,
                      const comm::Communicator& comm) {
    SavedModel s;
    s.partition.first = file.all<std::int64_t>(path + "/first");
    const std::vector<std::int64_t> boxes = file.all<std::int64_t>(path + "/boxes"),
                                    splits = file.all<std::int64_t>(path + "/splits");
    const auto to_int = [](std::int64_t n) {
        return static_cast<int>(std::clamp<std::int64_t>(n, -1, INT32_MAX));
    };  // what it cuts is no number of a cell
    for (std::size_t i = 0; i + box_columns <= boxes.size(); i += box_columns)
        s.partition.boxes.push_back(
            {{to_int(boxes[i]), to_int(boxes[i + 1]), 0}, {to_int(boxes[i + 2]), to_int(boxes[i + 3]), 1}});
    if (boxes.size() % box_columns != 0) s.partition.boxes.clear();
    if (splits.size() % 2 != 0) s.splits.push_back({-1, -1});  // half a split: refused
    for (std::size_t i = 0; i + 2 <= splits.size(); i += 2)
        s.splits.push_back({to_int(splits[i]), to_int(splits[i + 1])});
    s.memory = file.all<double>(path + "/memory");
    s.record = file.all<double>(path + "/record");
    if (file.row_count<double>(path + "/state") == balancer.grid().box().cells()) {
        const balance::FieldPlan file_order = balance::plan_by_columns(balancer.team(), balancer.grid());
        const std::vector<double> state =
            file.rows<double>(path + "/state", comm.exclusive_sum(file_order.cells()), file_order.cells());
        s.state.resize(balancer.home_cells());
        file_order.to_home(std::span<const double>(state), std::span(s.state));
    }
    return s;
}

// Could a partitioner with these options have left as many splits?
bool fits(const std::vector<balance::Split>& splits, const balance::Grid& grid,
          const balance::PartitionOptions& options) {
    const auto boxes = balance::kind_of(options).bisected_boxes;
    return !boxes ||
           static_cast<std::int64_t>(splits.size()) == std::max<std::int64_t>(0, 2 * boxes(grid, options) - 1);
}

// Empty, or what of it makes no sense for the model `b`; the same on all ranks. options: of the run that saved it.
std::string nonsense_in(const SavedModel& s, const BalancedModel& b, balance::PartitionOptions options,
                        std::int64_t step, const LoadBalancer& balancer, const comm::Communicator& comm) {
    const bool state = s.state.size() == static_cast<std::size_t>(balancer.home_cells()) &&
                       std::all_of(s.state.begin(), s.state.end(), [&](double v) { return b.model->accepts_state(v); });
    const bool splits = std::all_of(s.splits.begin(), s.splits.end(),
                                    [](const balance::Split& x) { return x.axis >= -1 && x.axis <= 1 && x.left >= 0; });
    // One rank looks at what all have read: with thousands of processes it takes a while.
    if (!comm.all_agree(comm.rank() != 0 || balance::is_partition_of(s.partition, balancer.grid()))) return "boxes";
    options.processes = s.partition.processes();
    if (!splits || !(s.splits.empty() || fits(s.splits, balancer.grid(), options))) return "splits";
    if (!b.model->accepts_memory(s.memory)) return "memory";
    if (!balance::History::accepts(s.record, s.partition.processes(), step)) return "record";
    return comm.all_agree(state) ? "" : "state";
}

// processes: of the run that saved them.
void load_speeds(comm::FileReader& file, const std::string& path, std::int64_t processes, LoadBalancer& balancer,
                 std::vector<std::string>& notes, const comm::Communicator& comm) {
    if (!file.has("/balance/speeds")) return;  // they were off, or the version knew none
    std::vector<double> found = file.all<double>("/balance/speeds/found");
    if (processes != balancer.hosts().processes() && processes == static_cast<std::int64_t>(found.size())) {
        notes.push_back(fmt::format("the speeds of {} are dropped", counted(processes, "process")));
        return;
    }
    const bool good =
        balancer.speeds().restore(balancer.team(), std::move(found), file.all<double>("/balance/speeds/memory"));
    comm::require(comm, good, [&] {
        return InputError(
            fmt::format("{}: /balance/speeds makes no sense; {}, or restart with balance.speeds = off", path, remedy));
    });
}

}  // namespace

std::uint64_t hash_in_file(const std::string& path, std::int64_t particles, const comm::Communicator& comm) {
    comm::FileReader file(path, comm);
    std::uint64_t mine = 0;
    for_each_piece(file, particles, comm, [&](std::vector<md::Particle> list) {
        for (const md::Particle& p : list) mine += md::particle_hash(p);
    });
    std::array<md::Int128, 1> sum{static_cast<md::Int128>(mine)};
    comm.sum(sum);
    return static_cast<std::uint64_t>(sum[0]);
}

CheckpointInfo read_checkpoint(const std::string& path, const comm::Communicator& comm) {
    const Front front = verified_front(path, comm);
    CheckpointInfo info;
    info.path = path;
    info.step = front.step;
    info.particles = front.particles;
    info.state_hash = front.state_hash;
    try {
        comm::FileReader file(path, comm);
        const bool whole = file.row_count<std::int64_t>("/exact/id") == front.particles &&
                           file.row_count<std::int64_t>("/exact/state", state_columns) == front.particles;
        comm::require(comm, whole, [&] {
            return InputError(fmt::format("{}: holds another number of particles than it says; {}", path, remedy));
        });
        const std::vector<std::uint8_t> text = file.all<std::uint8_t>("/exact/deck");
        info.deck = agreed(comm, [&] { return deck_in(std::string(text.begin(), text.end()), path); });
        comm::require(comm, particle_count(info.deck) == front.particles, [&] {
            return InputError(fmt::format("{}: holds another number of particles than its deck; {}", path, remedy));
        });
        read_history(file, info, comm);
    } catch (const comm::ReadError& e) {
        comm::throw_in_place_of(e, InputError(e.what()));
    }
    return info;
}

std::vector<SavedBalancing> saved_balancing(const CheckpointInfo& info, const comm::Communicator& comm) {
    std::vector<SavedBalancing> found;
    comm::FileReader file(info.path, comm);
    if (!file.has("/balance")) return found;
    const std::vector<std::int64_t> step = file.all<std::int64_t>("/balance/step");
    for (const std::string& model : balance::model_names())
        if (file.has("/balance/" + model))
            found.push_back(
                {model, file.row_count<std::int64_t>("/balance/" + model + "/first") - 1, step.empty() ? 0 : step[0]});
    return found;
}

void require_same_system(const Deck& deck, const CheckpointInfo& info) {
    for (const DeckChange& c : changes(info.deck, deck))
        if (c.refused)
            throw InputError(fmt::format(
                "{}: {} differs from the deck's ({} there, {} in the deck); a restart keeps it: give the deck the "
                "checkpoint's value, or start anew",
                info.path, c.key, c.before.empty() ? "nothing" : c.before, c.now.empty() ? "nothing" : c.now));
}

void load_particles(const CheckpointInfo& info, Engine& engine, const balance::Decomposition& owners,
                    const comm::Communicator& comm) {
    try {
        comm::FileReader file(info.path, comm);
        const md::Domain& domain = engine.setup().domain;
        for_each_piece(file, info.particles, comm, [&](std::vector<md::Particle> list) {
            const bool good =
                std::all_of(list.begin(), list.end(), [&](const md::Particle& p) { return sensible(p, domain); });
            comm::require(comm, good, [&] {
                return InputError(fmt::format("{}: holds a particle outside the box, or faster than anything; {}",
                                              info.path, remedy));
            });
            engine.distribute(list, owners);
        });
    } catch (const comm::ReadError& e) {
        comm::throw_in_place_of(e, InputError(e.what()));
    }
    comm::require(comm, engine.state_hash() == info.state_hash, [&] {
        return InputError(fmt::format("{}: its particles don't match its state hash; {}", info.path, remedy));
    });
}

std::vector<std::string> load_balance(const CheckpointInfo& info, LoadBalancer& balancer,
                                      const comm::Communicator& comm) {
    std::vector<std::string> notes;
    const Deck::Balance& old = info.deck.balance;
    std::vector<std::string> dropped;  // models of the checkpoint that this run doesn't have
    if (old.every > 0) {
        dropped = old.compare;
        dropped.insert(dropped.begin(), old.model);
    }
    std::int64_t processes = 0;
    try {
        comm::FileReader file(info.path, comm);
        for (BalancedModel& b : balancer.models()) {
            if (!balancer.on()) break;
            std::erase(dropped, b.name);
            const std::string path = "/balance/" + b.name;
            if (!file.has(path)) {
                notes.push_back(fmt::format("{} starts anew: the checkpoint holds nothing of it", b.name));
                continue;
            }
            SavedModel saved = read_model(file, path, balancer, comm);
            const std::vector<std::int64_t> last = file.all<std::int64_t>("/balance/step");
            std::string wrong = nonsense_in(saved, b, old.partition, info.step, balancer, comm);
            if (last.size() != 1 || last[0] < 0 || last[0] > info.step) wrong = "step";
            comm::require(comm, wrong.empty(), [&] {
                return InputError(fmt::format("{}: {}/{} makes no sense; {}, or restart with balance.every = 0",
                                              info.path, path, wrong, remedy));
            });
            b.state = std::move(saved.state);
            b.model->set_memory(saved.memory);
            if (saved.partition.processes() != balancer.hosts().processes()) {
                notes.push_back(fmt::format(
                    "{} keeps what it has learnt of the cells; its partition, made for {}, starts anew with {}", b.name,
                    counted(saved.partition.processes(), "process"), balancer.hosts().processes()));
                continue;
            }
            b.partition = {balancer.team(), saved.partition, balancer.hosts()};
            if (fits(saved.splits, balancer.grid(), balancer.partition_options()))
                b.splits = {balancer.team(), saved.splits};  // else the partition is of another kind now
            b.history = balance::History::from_numbers(std::span(saved.record).first<balance::History::numbers>());
            if (&b == &balancer.models().front()) balancer.set_last_step(last[0]);
        }
        if (const std::string first = "/balance/" + old.model + "/first"; old.every > 0 && file.has(first))
            processes = file.row_count<std::int64_t>(first) - 1;
        if (balancer.finds_speeds()) load_speeds(file, info.path, processes, balancer, notes, comm);
        if (balancer.zones().learns() && file.has("/zones")) {
            const bool good = balancer.zones().restore(file.all<double>("/zones/of_ranks"));
            comm::require(comm, good, [&] {
                return InputError(fmt::format(
                    "{}: /zones makes no sense; {}, or restart with accelerator.backend = none", info.path, remedy));
            });
        }
    } catch (const comm::ReadError& e) {
        comm::throw_in_place_of(e, InputError(e.what()));
    }
    for (const std::string& name : dropped) notes.push_back(fmt::format("what {} had learnt is dropped", name));
    return notes;
}

}  // namespace app
