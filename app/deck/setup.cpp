// SPDX-License-Identifier: MIT
#include "app/deck/setup.hpp"

#include <algorithm>

namespace app {

Setup make_setup(const Deck& deck, const std::string& kernels) {
    Method method;
    method.dt = deck.run.dt;
    method.precision = deck.run.precision;
    method.cell = deck.grid.cell;
    method.skin = deck.grid.skin;
    method.modelled = deck.balance.every > 0 || deck.output.interval("loads") > 0 ||
                      deck.accelerator.backend != AcceleratorBackend::none;
    method.time_tiles = deck.balance.every > 0 && deck.balance.clock == balance::BalanceClock::wall;
    method.overlap = deck.comm.overlap;
    method.work = deck.balance.work;
    method.kernels = kernels;
    try {
        return make_setup(deck.system, method);
    } catch (const GeometryError& e) {
        throw DeckError(deck.name + ".yaml: " + e.what());
    }
}

balance::TileShape tile_shape(const Deck& deck, const md::Domain& domain, std::int64_t threads) {
    return deck.grid.tile.value_or(balance::choose_tile(domain.grid(), domain.axis[1].cell_width(), threads));
}

void add_accelerators(Setup& setup, const Deck& deck, int node_rank, int node_size) {
    const Deck::Accelerator& a = deck.accelerator;
    if (a.backend == AcceleratorBackend::none) return;
    setup.time_tiles = true;
    Accelerators& mine = setup.accelerators;
    mine.threads = static_cast<int>(a.threads);
    if (a.backend == AcceleratorBackend::host) {
        mine.devices.assign(a.devices.value_or(1), 0);
        return;
    }
    mine.backend = gpu::Backend::cuda;
    const int found = gpu::accelerator_count(mine.backend);
    if (found == 0)
        throw DeckError("accelerator.backend: cuda: " + gpu::why_no_cuda() +
                        "; write host or none, or use a machine with a GPU");
    // Devices are dealt to the ranks of a node: several to each where there are more, else round-robin.
    const int each = static_cast<int>(a.devices.value_or(std::max(1, found / node_size)));
    for (int d = 0; d < each; ++d) mine.devices.push_back((node_rank * each + d) % found);
}

namespace {

// The time of a longer message is mostly that of its bytes (docs/messages.md): to merge more would gain little, even
// where MPI sends longer ones at once.
constexpr std::size_t most_eager_bytes = 16384;

}  // namespace

comm::Schedule schedule_of(const Deck::Comm& c, const std::function<std::size_t(std::size_t most)>& eager_limit) {
    comm::Schedule schedule;
    schedule.order = c.order;
    schedule.aggregate = c.aggregate;
    schedule.one_by_one = c.overlap == comm::Overlap::none;
    const bool merges = c.aggregate == comm::Aggregate::automatic || c.aggregate == comm::Aggregate::node;
    if (!c.threshold_bytes && merges) schedule.threshold = eager_limit(most_eager_bytes);
    if (c.threshold_bytes) schedule.threshold = static_cast<std::size_t>(*c.threshold_bytes);
    // A longer message waits until its receiver calls MPI, which a receiver that computes does not do.
    if (c.aggregate == comm::Aggregate::automatic && c.overlap == comm::Overlap::full)
        schedule.piece = schedule.threshold;
    if (c.piece_bytes) schedule.piece = static_cast<std::size_t>(*c.piece_bytes);
    return schedule;
}

comm::Network network_of(const Deck::Comm& c, const comm::Communicator& comm) {
    const comm::Schedule schedule =
        schedule_of(c, [&](std::size_t most) { return comm::measure_eager_limit(comm, most); });
    return comm::make_network(schedule, comm, static_cast<int>(c.ranks_per_node.value_or(0)),
                              static_cast<int>(c.nodes_per_switch.value_or(0)));
}

}  // namespace app
