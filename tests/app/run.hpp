// SPDX-License-Identifier: MIT
// A run in a test: a deck's engine and balancer on all ranks, without results or checkpoints.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/setup.hpp"
#include "app/engine/engine_of.hpp"
#include "app/run/step.hpp"
#include "comm/communicator.hpp"

namespace test {

inline const comm::Communicator& world() {
    static const comm::Communicator c;
    return c;
}

/// Two crystals that collide and shatter in a periodic box.
inline const std::string collision = R"(
system:
  box: [90.0, 50.0]
  boundary: [periodic, periodic]
  seed: 3
  slabs:
    - {lower: [4, 6], upper: [42, 45], lattice: hexagonal, density: 1.0, temperature: 0.3, velocity: [12.0, 1.0]}
    - {lower: [44, 10], upper: [82, 49], lattice: hexagonal, density: 1.0, temperature: 0.3, velocity: [-12.0, 0.0]}
run: {dt: 0.0005, steps: 300}
)";

/// What a run has that a deck does not say.
struct Circumstances {
    std::int64_t processes = 0;                                           ///< 0: one a rank
    balance::TileShape tile{16, 32, 1};                                   ///< where the deck leaves it open
    std::function<void(app::Setup&, const app::Deck&)> change = nullptr;  ///< of the engine's setup, if there is one
};

/// Record: the observer. D: dimensions of the deck.
template <class Record, int D = 2>
struct Run {
    app::Timers timers;
    app::Deck deck;
    balance::Decomposition owners;
    app::EngineOf<D> engine;
    app::LoadBalancer balancer;
    Record record;

    explicit Run(const std::string& text, const std::vector<std::string>& settings = {}, const Circumstances& c = {})
        : deck(app::parse_deck(text, "test.yaml", settings)),
          owners(decomposition(c)),
          engine(setup(c), owners, world(), timers),
          balancer(deck, engine.setup().domain.grid(), engine.tiles().hosts().processes(), world(), timers) {
        engine.fill(deck.system, owners);
    }
    Run& steps(std::int64_t first, std::int64_t last) {
        app::run_steps(engine, balancer, first, last, record);
        return *this;
    }

private:
    app::Setup setup(const Circumstances& c) const {
        app::Setup setup = app::make_setup(deck, "");
        if (c.change) c.change(setup, deck);
        return setup;
    }
    balance::Decomposition decomposition(const Circumstances& c) const {
        const balance::Grid grid = setup(c).domain.grid();
        const std::int64_t processes = c.processes > 0 ? c.processes : world().size();
        return {grid, balance::one_box_each(balance::even_partition(grid, processes)),
                balance::Hosts(processes, world().size()), deck.grid.tile.value_or(c.tile)};
    }
};

}  // namespace test
