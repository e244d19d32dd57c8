// SPDX-License-Identifier: MIT
// Nothing in a file is believed: its digest finds damage, the checks here find files that are whole but make no sense,
// and say which part of them.
#include "app/output/checkpoint/restart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>

#include "app/deck/deck.hpp"
#include "app/output/checkpoint/front.hpp"
#include "balance/grid/grid.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "md/initial.hpp"
#include "md/kernels/kernels.hpp"
#include "md/system.hpp"

namespace app {
namespace {

// Rank 0 looks at the file, all hear the verdict.
Front verified_front(const std::string& path, const comm::Communicator& comm) {
    std::string text;
    on_rank_0(comm, [&] {
        const auto refuse = [&](const std::string& what) { throw unusable(path, what); };
        const std::int64_t size = comm::file_size(path);
        text = comm::read_front(path, front_bytes);
        const std::optional<Front> front = parse_front(text);
        std::error_code error;
        if (!std::filesystem::exists(path, error)) refuse("there is no such file");
        if (!front) refuse("is no checkpoint, or one that is damaged or of another version");
        if (front->bytes != size) refuse(fmt::format("is damaged: {} bytes instead of {}", size, front->bytes));
    });
    comm.broadcast(text);
    const Front front = *parse_front(text);
    agreed(comm, [&] {
        if (comm::file_size(path) != front.bytes)
            throw InputError(
                path + ": this rank sees no such file, or another one than rank 0; put it where all nodes see it");
    });
    comm::require(comm, comm::file_digest(path, front_bytes, front.bytes, comm) == front.body,
                  [&] { return unusable(path, "is damaged: its bytes don't match its digest"); });
    return front;
}

// Calls use(particles) for this rank's share of the file, a piece at a time, the same number of pieces on all ranks.
void for_each_piece(comm::FileReader& file, std::int64_t particles, int dimensions, const comm::Communicator& comm,
                    const std::function<void(std::vector<md::Particle<3>>)>& use) {
    constexpr std::int64_t piece = 1 << 15;
    const balance::IndexRange mine = balance::block(particles, comm.rank(), comm.size());
    const std::int64_t pieces = (particles / comm.size() + piece) / piece;
    for (std::int64_t k = 0; k < pieces; ++k) {
        const std::int64_t begin = std::min(mine.end, mine.begin + k * piece),
                           n = std::min(mine.end, begin + piece) - begin;
        const std::vector<std::int64_t> id = file.rows<std::int64_t>("/exact/id", begin, n);
        const int columns = state_columns(dimensions);
        const std::vector<std::int64_t> state = file.rows<std::int64_t>("/exact/state", begin, n, columns);
        std::vector<md::Particle<3>> list;
        list.reserve(n);
        for (std::int64_t i = 0; i < n; ++i) {
            md::Particle<3> p{id[i], {}, {}};
            for (int a = 0; a < dimensions; ++a)
                p.x[a] = state[columns * i + a], p.v[a] = state[columns * i + dimensions + a];
            list.push_back(p);
        }
        use(std::move(list));
    }
}

// Is a particle one that a run can hold? Beyond these velocities sums of integers could overflow.
bool sensible(const md::Particle<3>& p, const md::Domain& domain) {
    constexpr std::int64_t fastest = std::int64_t{1} << 61;
    for (int a = 0; a < domain.dimensions; ++a)
        if (p.x[a] < 0 || p.x[a] >= domain.axis[a].fixed_length() || p.v[a] <= -fastest || p.v[a] >= fastest)
            return false;
    return true;
}

// Bounds of the energy of a checkpoint's particles follow from their motion, their places and the depth of their
// potential. The energy at the start and the energy given since add up to the present one, up to the error of the time
// step. The bounds are wide, because no true checkpoint may be refused, even with a large time step.
bool sensible_energies(const CheckpointInfo& info, double kinetic) {
    constexpr double wide = 100, most_in_pairs = 1000, most_error = 1;  // epsilon; of a particle, the last one a step
    const md::System& s = info.deck.system;
    const auto n = static_cast<double>(info.particles);
    double fall = 0;  // of a particle through the whole box
    for (int a = 0; a < s.dimensions; ++a) fall += std::abs(s.gravity[a]) * s.box[a];
    const double here =
        kinetic + info.largest_kinetic + n * (most_in_pairs * std::max(1.0, s.potential.epsilon) + fall);
    const double given = std::ldexp(static_cast<double>(info.given.heat + info.given.work), -md::kinetic_bits);
    return std::abs(info.energy_first + given) <= wide * here + most_error * n * static_cast<double>(info.step);
}

void read_history(comm::FileReader& file, CheckpointInfo& info, const comm::Communicator& comm) {
    const std::vector<double> energies = file.all<double>("/exact/energies"), clock = file.all<double>("/exact/clock");
    const std::vector<std::int64_t> step = file.all<std::int64_t>("/particles/all/position/step");
    const auto require = [&](bool good, const char* what) {
        comm::require(comm, good, [&] { return unusable(info.path, std::string(what) + " makes no sense"); });
    };
    require(step == std::vector{info.step}, "its step, which is not that of its front,");
    // Energy of a particle at the speed limit of sensible(). It is more than a pair's energy can be.
    const double most = 1e13 * static_cast<double>(std::max<std::int64_t>(1, info.particles));
    require(energies.size() == 2 && std::abs(energies[0]) <= most && energies[1] >= 0 && energies[1] <= most,
            "its energy");
    info.energy_first = energies[0];
    info.largest_kinetic = energies[1];
    require(clock.size() == 3 && clock[0] >= 0 && clock[0] <= static_cast<double>(info.step) &&
                clock[0] == std::floor(clock[0]) && clock[1] >= 0 && clock[1] < 1e15 && clock[2] == info.deck.run.dt,
            "its time");
    info.clock = {static_cast<std::int64_t>(clock[0]), clock[1], clock[2]};
    if (gives(info.deck.system)) {
        const std::vector<std::int64_t> halves = file.all<std::int64_t>("/exact/given");
        require(halves.size() == 4, "what it was given");
        const auto joined = [](std::int64_t high, std::int64_t low) {
            return static_cast<md::Int128>(static_cast<unsigned __int128>(static_cast<std::uint64_t>(high)) << 64 |
                                           static_cast<std::uint64_t>(low));
        };
        info.given = {joined(halves[0], halves[1]), joined(halves[2], halves[3])};
        for (const md::Int128 g : {info.given.heat, info.given.work})
            require(std::abs(static_cast<double>(g)) <= std::ldexp(most, md::kinetic_bits), "what it was given");
        const md::Thermostat& t = info.deck.system.thermostat;
        const bool heats = t.kind != md::ThermostatKind::none && info.step > t.from,
                   moves = md::has_motion(info.deck.system) && info.step > 0;
        require((heats || info.given.heat == 0) && (moves || info.given.work == 0), "what it was given");
    }
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

}  // namespace

InputError unusable(const std::string& path, const std::string& what, const std::string& or_else) {
    return InputError("{}: {}; use another checkpoint{}", path, what, or_else);
}

std::uint64_t hash_in_file(const std::string& path, std::int64_t particles, int dimensions,
                           const comm::Communicator& comm) {
    comm::FileReader file(path, comm);
    std::uint64_t mine = 0;
    for_each_piece(file, particles, dimensions, comm, [&](std::vector<md::Particle<3>> list) {
        for (const md::Particle<3>& p : list)
            mine += dimensions == 3 ? md::particle_hash(p)
                                    : md::particle_hash(md::Particle<2>{p.id, {p.x[0], p.x[1]}, {p.v[0], p.v[1]}});
    });
    return static_cast<std::uint64_t>(comm.wide_sum_of(static_cast<md::Int128>(mine)));
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
        const std::vector<std::uint8_t> text = file.all<std::uint8_t>("/exact/deck");
        info.deck = agreed(comm, [&] { return deck_in(std::string(text.begin(), text.end()), path); });
        const int columns = state_columns(info.deck.system.dimensions);
        const bool whole = file.row_count<std::int64_t>("/exact/id") == front.particles &&
                           file.row_count<std::int64_t>("/exact/state", columns) == front.particles;
        comm::require(comm, whole, [&] { return unusable(path, "holds another number of particles than it says"); });
        comm::require(comm, md::particle_count(info.deck.system) == front.particles,
                      [&] { return unusable(path, "holds another number of particles than its deck"); });
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
    std::vector<std::string> names{info.deck.balance.driver()};
    for (const balance::Contender& c : info.deck.balance.compare) names.push_back(c.name);
    for (const std::string& name : names)
        if (const std::string first = "/balance/" + name + "/first"; file.has(first))
            found.push_back({name, file.row_count<std::int64_t>(first) - 1, step.empty() ? 0 : step[0]});
    return found;
}

void require_same_system(const Deck& deck, const CheckpointInfo& info) {
    if (md::has_motion(deck.system) && deck.run.dt != info.deck.run.dt)
        throw InputError(
            "{}: run.dt differs from the deck's, and the places of moving faces follow from it; keep it, or start anew",
            info.path);
    for (const DeckChange& c : changes(info.deck, deck))
        if (c.refused)
            throw InputError(
                "{}: {} differs from the deck's ({} there, {} in the deck); a restart keeps it: give the deck the "
                "checkpoint's value, or start anew",
                info.path, c.key, c.before.empty() ? "nothing" : c.before, c.now.empty() ? "nothing" : c.now);
}

void load_particles(const CheckpointInfo& info, Engine& engine, const balance::Decomposition& owners,
                    const comm::Communicator& comm) {
    try {
        comm::FileReader file(info.path, comm);
        const md::Domain& domain = engine.setup().domain;
        double kinetic = 0;
        for_each_piece(file, info.particles, domain.dimensions, comm, [&](std::vector<md::Particle<3>> list) {
            const bool good = std::ranges::all_of(list, [&](const md::Particle<3>& p) { return sensible(p, domain); });
            comm::require(comm, good, [&] {
                return unusable(info.path, "holds a particle outside the box, or faster than anything");
            });
            for (const md::Particle<3>& p : list)
                for (int a = 0; a < domain.dimensions; ++a)
                    kinetic += std::pow(static_cast<double>(p.v[a]) * md::velocity_unit, 2) / 2;
            engine.distribute(list, owners);
        });
        const md::Int128 sum = comm.wide_sum_of(static_cast<md::Int128>(std::ldexp(kinetic, md::kinetic_bits)));
        comm::require(comm, sensible_energies(info, std::ldexp(static_cast<double>(sum), -md::kinetic_bits)), [&] {
            return unusable(info.path, "its first energy and what it was given make no sense for its particles");
        });
    } catch (const comm::ReadError& e) {
        comm::throw_in_place_of(e, InputError(e.what()));
    }
    engine.set_given(info.given);
    comm::require(comm, engine.state_hash() == info.state_hash,
                  [&] { return unusable(info.path, "its particles don't match its state hash"); });
}

}  // namespace app
