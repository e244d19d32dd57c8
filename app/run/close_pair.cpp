// SPDX-License-Identifier: MIT
// An engine whose cutoff is the radius lists the close pairs alone. Its cells tell where they are, and the particles of
// those cells are compared one with another on all ranks. If a cell holds more particles than fit at that distance, two
// of them must be closer. Then the cell's particles are compared, because lists of such a cell would not fit in memory.
#include "app/run/close_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "app/run/plain_engine.hpp"
#include "balance/grid/for_each.hpp"
#include "balance/team.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

constexpr std::int64_t most_compared = 4096, fullest_cell = 1 << 16;

using Particles = std::vector<md::Particle<3>>;

// A cell of this rank that holds particles to be looked at. number: in the grid, the same on any ranks.
struct Cell {
    std::int64_t number = 0;
    std::size_t tile = 0;
    std::int64_t first = 0, particles = 0;
};

// use(cell, place of the cell among all of the rank's) for each cell of this rank.
template <class Use>
void for_each_own_cell(const Engine& engine, Use use) {
    const balance::Box grid = engine.setup().domain.grid().box();
    for (std::size_t t = 0, place = 0; t < engine.tiles().size(); ++t) {
        const balance::Box& box = engine.tiles().box(t);
        const std::vector<std::int32_t> counts = engine.tiles().counts(t);
        Cell cell{0, t, 0, 0};
        std::size_t k = 0;
        balance::for_each_cell(box, [&](int x, int y, int z) {
            cell.number = balance::place_in(grid, x, y, z);
            cell.particles = counts[k++];
            use(cell, place++);
            cell.first += cell.particles;
        });
    }
}

// So many particles cannot lie in a cell, each further than `radius` from all others: their balls of half that radius
// would not fit.
double most_apart(const md::Domain& domain, double radius) {
    double room = 1;
    for (const md::Axis& axis : domain.axes()) room *= axis.cell_width() + radius;
    return room / (domain.dimensions == 2 ? std::numbers::pi / 4 * radius * radius
                                          : std::numbers::pi / 6 * radius * radius * radius);
}

// Particles of these cells of all ranks, on all ranks and ordered by their ids. If they are too many, only the first
// cells count. If the first cell alone holds too many, only its particles with the least ids count.
Particles gathered(const Engine& engine, const std::vector<Cell>& cells, const comm::Communicator& comm) {
    const auto below = [&](std::int64_t number) {
        std::int64_t mine = 0;
        for (const Cell& cell : cells) mine += cell.number < number ? cell.particles : 0;
        return comm.sum_of(mine);
    };
    std::int64_t low = 0, high = engine.setup().domain.grid().box().cells();
    std::int64_t first = high;
    for (const Cell& cell : cells) first = std::min(first, cell.number);
    first = comm.min_of(first);
    if (below(high) <= most_compared) low = high;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (below(middle) <= most_compared ? low : high) = middle;
    }
    low = std::max(low, first + 1);
    Particles mine;
    for (const Cell& cell : cells)
        for (std::int64_t i = 0; cell.number < low && i < cell.particles; ++i)
            mine.push_back(engine.tiles().particle(cell.tile, cell.first + i));
    const auto by_id = [](const md::Particle<3>& a, const md::Particle<3>& b) { return a.id < b.id; };
    std::ranges::sort(mine, by_id);
    mine.resize(std::min<std::size_t>(mine.size(), most_compared));
    Particles all = balance::elements_in<md::Particle<3>>(comm.all_gather(std::as_bytes(std::span(mine))));
    std::ranges::sort(all, by_id);
    return all;
}

double distance(const md::Particle<3>& a, const md::Particle<3>& b, const md::Domain& domain) {
    double square = 0;
    for (int k = 0; k < domain.dimensions; ++k) {
        std::int64_t d = std::abs(a.x[k] - b.x[k]);
        if (domain.axis[k].periodic) d = std::min(d, domain.axis[k].fixed_length() - d);
        const double x = static_cast<double>(d) * md::position_unit;
        square += x * x;
    }
    return std::sqrt(square);
}

bool across_box(const md::Particle<3>& a, const md::Particle<3>& b, const md::Domain& domain) {
    for (int k = 0; k < domain.dimensions; ++k)
        if (domain.axis[k].periodic && 2 * std::abs(a.x[k] - b.x[k]) > domain.axis[k].fixed_length()) return true;
    return false;
}

std::optional<CloseParticles> closest(const Particles& all, const md::Domain& domain, double radius) {
    std::optional<CloseParticles> found;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size(); ++j)
            if (const double d = distance(all[i], all[j], domain); d < (found ? found->distance : radius)) {
                found = {{{}, {}, d, false, across_box(all[i], all[j], domain)}, {all[i].id, all[j].id}};
                for (int k = 0; k < 3; ++k) found->at[k] = static_cast<double>(all[i].x[k]) * md::position_unit;
            }
    return found;
}

bool at_random(const md::Body& body) { return body.fill == md::Fill::random; }

// Ids are those of a system without bodies at random.
CloseParticles with_bodies(CloseParticles pair, const md::System& system) {
    const std::vector<md::Body> bodies = md::all_bodies(system);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (at_random(bodies[i])) continue;
        for (std::size_t k = 0; k < 2; ++k)
            if (pair.id[k] >= first) pair.body[k] = i;
        first += md::particle_count(bodies[i]);
    }
    return pair;
}

}  // namespace

std::optional<CloseParticles> closest_pair_with_files(const Deck& deck, double radius, const comm::Communicator& comm) {
    Deck listed = deck;
    listed.grid.skin = 0;
    listed.balance.every = 0;
    listed.accelerator.backend = AcceleratorBackend::none;
    if (radius > 0) listed.system.potential.cutoff = radius;
    std::erase_if(listed.system.bodies, at_random);  // they keep their distance
    const PlainEngine plain(listed, comm);
    Engine& engine = *plain.engine;
    fill_at_start(listed, engine, plain.owners, comm);
    engine.rebin();
    const md::Domain& domain = plain.setup.domain;
    const double most = radius > 0 ? most_apart(domain, radius) : std::numeric_limits<double>::infinity();
    std::vector<Cell> crowded;
    std::int64_t fullest = 0;
    for_each_own_cell(engine, [&](const Cell& cell, std::size_t) {
        fullest = std::max(fullest, cell.particles);
        if (static_cast<double>(cell.particles) > most) crowded.push_back(cell);
    });
    const auto closest_in = [&](const std::vector<Cell>& cells) -> std::optional<CloseParticles> {
        if (comm.sum_of(std::ssize(cells)) == 0) return std::nullopt;
        const auto found = closest(gathered(engine, cells, comm), domain, radius);
        return found ? std::optional(with_bodies(*found, deck.system)) : std::nullopt;
    };
    if (const auto found = closest_in(crowded)) return found;
    fullest = comm.max_of(fullest);
    comm::require(comm, fullest < fullest_cell, [&] {
        const std::string& file = deck.system.from.file;
        return InputError("{}: {} particles lie in one cell; use a file without such a crowd",
                          file.empty() ? "system.bodies" : file, fullest);
    });
    if (radius == 0) return std::nullopt;
    engine.build_neighbour_lists();
    const std::vector<std::int64_t> pairs = engine.cell_neighbours();
    std::vector<Cell> close;
    for_each_own_cell(engine, [&](const Cell& cell, std::size_t place) {
        if (pairs[place] > 0) close.push_back(cell);
    });
    return closest_in(close);
}

}  // namespace app
