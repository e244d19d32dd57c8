// SPDX-License-Identifier: MIT
// The engine with an accelerator beside the CPU, on one rank and without MPI: for measurements.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "app/engine/engine.hpp"
#include "balance/zone/border.hpp"
#include "balance/zone/controller.hpp"
#include "gpu/zone.hpp"

/// What a check of the border saw.
struct Way {
    std::int64_t step;
    double share, cpu_seconds, accelerator_seconds;
};

/// A run in the plane, on one rank, whose border a controller moves.
class ZoneRun {
public:
    ZoneRun(const app::Setup& setup, const md::System& system, double share)
        : grid_(setup.domain.grid()),
          tile_(balance::choose_tile(grid_, setup.domain.axes().back().cell_width(), omp_get_max_threads())),
          engine_(app::make_engine(setup, decomposition(), alone_, timers_)),
          share_(share) {
        engine_->fill(system, decomposition());
    }

    /// Steps up to `last`; controller: who moves the border. Checks come every so many steps. Returns the seconds that
    /// the steps took, without those of checks: with these, particles are sorted and lists rebuilt out of turn.
    double steps(std::int64_t last, std::string_view controller, std::int64_t every) {
        double seconds = 0, start = comm::now();
        for (; step_ < last; ++step_) {
            if (step_ == 0 || balance::check_due(step_, every)) {
                seconds += comm::now() - start;
                engine_->rebin();
                move_border(controller);
                engine_->build_neighbour_lists();
                start = comm::now();
            } else if (engine_->displaced()) {
                engine_->rebin();
                engine_->build_neighbour_lists();
            }
            engine_->force_pass({step_ == 0 ? md::Kick::first : md::Kick::middle});
        }
        return seconds + comm::now() - start;
    }
    std::uint64_t finish() {
        if (engine_->displaced()) engine_->rebin(), engine_->build_neighbour_lists();
        engine_->force_pass({md::Kick::last});
        return engine_->state_hash();
    }
    std::int64_t particles() const { return engine_->particles(); }
    double share() const { return share_; }
    const std::vector<Way>& way() const { return way_; }

private:
    balance::Decomposition decomposition() const {
        balance::Zones zones;
        if (room_) zones.blocks = balance::zone_blocks(*room_, border_, 1, loads_);
        if (room_) zones.first = {0, std::ssize(zones.blocks)};
        return {grid_, balance::one_box_each({grid_.box()}), balance::Hosts(1, 1), tile_, zones};
    }

    // What the cells in each strip usually cost.
    void measure() {
        if (!room_)
            room_ = balance::zone_room(grid_, {grid_.box()}, balance::ZoneReach::border, engine_->setup().halo,
                                       [](const balance::Box& b) { return b.cells(); });
        loads_.assign(room_->strips(), 0);
        const int axis = balance::axes_by_length(grid_.box())[0];
        const std::vector<balance::CellCounts> counts = engine_->tiles().cell_counts();
        const balance::CellCounts* c = counts.data();
        for (std::size_t t = 0; t < engine_->tiles().size(); ++t) {
            const balance::Box& b = engine_->tiles().box(t);
            for (int x = b.lower[0]; x < b.upper[0]; ++x)
                for (int y = b.lower[1]; y < b.upper[1]; ++y, ++c)
                    loads_[axis == 0 ? x : y] += 2 + c->n * (15 + std::int64_t{6} * c->n3 / 10);
        }
        total_ = std::accumulate(loads_.begin(), loads_.end(), std::int64_t{0});
    }

    void move_border(std::string_view controller) {
        const balance::Decomposition old = decomposition();
        const app::ZoneSeconds spent = engine_->take_zone_seconds();
        measure();
        if (step_ > 0) {
            const auto steps = static_cast<double>(step_ - checked_);
            const balance::ZoneTimes times{
                balance::share_at(loads_, total_, border_),
                0,
                1,
                static_cast<double>(*std::max_element(loads_.begin(), loads_.end())) / static_cast<double>(total_),
                spent.cpu / steps,
                spent.accelerator / steps,
                1};
            way_.push_back({step_, times.share, times.cpu_seconds, times.accelerator_seconds});
            const balance::BorderStep next = balance::next_share(controller, times, state_);
            if (next.decision != balance::BorderDecision::kept) share_ = next.share;
            else if (controller != "fixed") share_ = times.share;
        }
        checked_ = step_;
        border_ = balance::border_at(loads_, total_, share_);
        engine_->repartition(old, decomposition());
    }

    const comm::Communicator alone_;
    app::Timers timers_;
    balance::Grid grid_;
    balance::TileShape tile_;
    std::optional<balance::ZoneRoom> room_;
    std::vector<std::int64_t> loads_;  // of the strips
    std::int64_t total_ = 0;
    int border_ = 0;
    std::unique_ptr<app::Engine> engine_;
    double share_;
    balance::ControllerState state_;
    std::int64_t step_ = 0, checked_ = 0;
    std::vector<Way> way_;
};
