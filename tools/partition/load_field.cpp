// SPDX-License-Identifier: MIT
// Particles are counted by the engine itself, so that the load is the one that a run counts at its first step.
#include "tools/partition/load_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/balancing/measure.hpp"
#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/setup.hpp"
#include "app/engine/engine.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "app/run/plain_engine.hpp"
#include "comm/file/field_reader.hpp"
#include "comm/team.hpp"

namespace app {
namespace {

LoadField counted_load(const Deck& given, const comm::Communicator& comm) {
    Deck deck = given;
    deck.grid.skin = 0;      // the neighbour lists serve once
    deck.balance.every = 1;  // counts look two cells far
    deck.balance.clock = balance::BalanceClock::work;
    const PlainEngine plain(deck, comm);
    Engine& engine = *plain.engine;
    fill_from(deck, engine, plain.owners, comm);
    engine.rebin();
    engine.build_neighbour_lists();
    const balance::Grid grid = plain.setup.domain.grid();
    const balance::Counting counting{balance::costs_at(deck.balance.work, 0), plain.setup.domain.cell_widths()};
    const balance::HomeCells cells = count_cells(comm::Ranks(comm), engine, plain.owners, counting);
    LoadField field{grid, {1, 1, 1}, {}, 1 / balance::ticks_per_second, "seconds a step, counted work"};
    std::copy_n(deck.system.box.begin(), grid.dimensions, field.box.begin());
    field.load = cells.work;
    for (const balance::CellCounts& c : cells.counts) field.items.push_back(c.n);
    field.item_bytes = ghost_bytes(grid.dimensions);
    return field;
}

balance::Grid grid_of(const Deck& deck, const std::array<int, 3>& cells) {
    const auto periodic = [&](int axis) { return deck.system.boundary[axis] == md::Boundary::periodic; };
    const int dimensions = cells[2] > 1 ? 3 : deck.system.dimensions;
    return {
        cells, {periodic(0), periodic(1), dimensions == 3 && deck.system.dimensions == 3 && periodic(2)}, dimensions};
}

LoadField uniform_load(const Deck& deck, const comm::Communicator& comm) {
    const Setup setup = agreed(comm, [&] { return make_setup(deck, ""); });
    LoadField field{setup.domain.grid(), {}, {}, 1, "cells"};
    if (deck.load.cells) {
        std::array<int, 3> cells{1, 1, 1};
        std::copy(deck.load.cells->begin(), deck.load.cells->end(), cells.begin());
        field.grid = grid_of(deck, cells);
    }
    return field;
}

LoadField dataset_load(const Deck& deck, const comm::Communicator& comm) {
    const comm::ReadField read = comm::read_field(deck.load.file, deck.load.dataset, comm);
    LoadField field{grid_of(deck, read.cells), {}, {}, 1, "the dataset's unit"};
    double largest = 0;
    bool good = true;
    for (const double v : read.values) {
        good = good && std::isfinite(v) && v >= 0;
        largest = std::max(largest, v);
    }
    refuse_unless<InputError>(comm, good,
                              "{}: {} holds numbers that are negative, infinite or none at all; give loads >= 0",
                              deck.load.file, deck.load.dataset);
    // Bits have the order of the numbers, for those >= 0.
    const std::int64_t bits = comm.max_of(std::bit_cast<std::int64_t>(largest));
    const double scale = balance::load_scale(std::bit_cast<double>(bits), field.grid.box().cells());
    refuse_unless<InputError>(comm, scale != 0, "{}: {} holds zeros only; give it a load", deck.load.file,
                              deck.load.dataset);
    for (const double v : read.values) field.load.push_back(std::llround(v * scale));
    field.unit = 1 / scale;
    return field;
}

}  // namespace

std::int64_t ghost_bytes(int dimensions) { return dimensions == 2 ? sizeof(md::Packed<2>) : sizeof(md::Packed<3>); }

void fill_from(const Deck& deck, Engine& engine, const balance::Decomposition& owners, const comm::Communicator& comm) {
    if (deck.load.kind != LoadKind::checkpoint) return fill_at_start(deck, engine, owners, comm);
    const CheckpointInfo checkpoint = read_checkpoint(deck.load.file, comm);
    for (const DeckChange& c : changes(checkpoint.deck, deck))
        refuse_unless<InputError>(comm, c.key != "system.box" && c.key != "system.boundary",
                                  "{}: {} is {} there and {} in the deck; give the deck the checkpoint's value",
                                  deck.load.file, c.key, c.before, c.now);
    load_particles(checkpoint, engine, owners, comm);
}

LoadField load_field(const Deck& deck, const comm::Communicator& comm) {
    if (deck.load.kind == LoadKind::slabs || deck.load.kind == LoadKind::checkpoint) return counted_load(deck, comm);
    LoadField field = deck.load.kind == LoadKind::uniform ? uniform_load(deck, comm) : dataset_load(deck, comm);
    for (int a = 0; a < 3; ++a) field.box[a] = field.grid.cells[a];
    field.item_bytes = deck.load.bytes_per_cell;
    return field;
}

}  // namespace app
