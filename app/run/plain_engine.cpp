// SPDX-License-Identifier: MIT
#include "app/run/plain_engine.hpp"

#include <fmt/format.h>
#include <omp.h>

#include "app/common/words.hpp"
#include "app/deck/setup.hpp"
#include "app/state/state_file.hpp"

namespace app {
namespace {

balance::Decomposition even_owners(const Deck& deck, const Setup& setup, const comm::Communicator& comm) {
    const balance::Grid grid = setup.domain.grid();
    refuse_unless<UsageError>(comm, grid.box().cells() >= comm.size(), "grid: {} for {}; use fewer ranks",
                              counted(grid.box().cells(), "cell"), counted(comm.size(), "rank"));
    return {grid,
            balance::one_box_each(balance::even_partition(grid, comm.size())),
            {comm.size(), comm.size()},
            tile_shape(deck, setup.domain, std::int64_t{comm.size()} * omp_get_max_threads())};
}

}  // namespace

void fill_at_start(const Deck& deck, Engine& engine, const balance::Decomposition& owners,
                   const comm::Communicator& comm) {
    if (!deck.system.from.file.empty()) return load_state(deck, engine, owners, comm);
    engine.fill(deck.system, owners);
    fill_from_files(deck, engine, owners, comm);
}

PlainEngine::PlainEngine(const Deck& deck, const comm::Communicator& comm)
    : setup(agreed(comm, [&] { return make_setup(deck, ""); })),
      owners(even_owners(deck, setup, comm)),
      engine(make_engine(setup, owners, comm, timers)) {}

}  // namespace app
