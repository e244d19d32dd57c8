// SPDX-License-Identifier: MIT
// The engine in D dimensions; engine.hpp says what its functions do.
#pragma once
#include <vector>

#include "app/engine/engine.hpp"
#include "app/engine/force_pass.hpp"
#include "app/engine/halo.hpp"
#include "app/engine/skin_tuning.hpp"
#include "app/engine/stopwatch.hpp"
#include "app/engine/tiles.hpp"

namespace app {

template <int D>
class EngineOf final : public Engine {
public:
    EngineOf(const Setup& setup, const balance::Decomposition& decomposition, const comm::Communicator& comm,
             Timers& timers);

    void fill(const md::System& system, const balance::Decomposition& owners) override;
    void distribute(const std::vector<md::Particle<3>>& particles, const balance::Decomposition& owners) override;
    void reverse() override { tiles_.reverse(); }
    void rebin() override;
    void repartition(balance::Decomposition old, const balance::Decomposition& next) override;
    void lay_slots() override;
    void build_neighbour_lists() override;
    void force_pass(const PassOptions& options, std::int64_t stop = 0) override;

    void thermalise(std::int64_t step) override {
        const Timed phase(timers_, Phase::forces);
        forces_.thermalise(step);
    }
    md::Given given() const override { return forces_.given(); }
    void set_given(const md::Given& given) override { forces_.set_given(given); }
    md::SystemSums sums() const override { return forces_.sums(); }
    std::array<double, 3> force(std::size_t tile, std::int64_t own) const override { return forces_.force(tile, own); }
    std::vector<std::int32_t> cell_particles_after(double time) override;
    std::vector<std::int64_t> cell_neighbours() override { return tiles_.cell_neighbours(); }
    std::vector<double> take_tile_seconds() override { return stopwatch_.take_tile_seconds(); }
    double take_share() override { return stopwatch_.take_share(); }
    const comm::Traffic& traffic() const override { return halo_.traffic(); }
    const TravelSeconds& travel_seconds() const override { return seconds_.travel; }
    ZoneSeconds take_zone_seconds() override;
    const Tiles<D>& tiles() const override { return tiles_; }
    double skin() const override { return skin_.skin(); }
    std::int64_t rebuilds() const override { return rebuilds_; }
    std::int64_t bytes() const override { return tiles_.bytes() + halo_.bytes(); }
    std::int64_t ownership_bytes() const override { return tiles_.ownership_bytes() + halo_.plan_bytes(); }

private:
    /// Stages of the tiles. Each stage needs the one before.
    enum class Stage { scattered, binned, laid, listed };

    void sort();
    template <class Blocks, class OnTiles>
    void at_the_same_time(Blocks blocks, OnTiles tiles);
    void assign_to_threads();
    void refill_ghosts();
    template <class Compute>
    void compute_with_ghosts(Compute compute);
    ThreadSchedule to_threads(std::vector<std::size_t> tiles) const;

    Timers& timers_;
    Tiles<D> tiles_;
    Halo<D> halo_;
    Stopwatch stopwatch_;
    ForcePass<D> forces_;
    struct {
        ThreadSchedule all, inner;     // all tiles; tiles that need no ghosts from other ranks
        std::vector<std::size_t> rim;  // tiles that need such ghosts
    } on_threads_;
    Stage stage_ = Stage::scattered;
    bool ghosts_current_ = false;  // the ghosts have the present positions of their particles
    std::int64_t rebuilds_ = 0;
    std::int64_t given_particles_ = 0;  // see Holdings
    struct {
        TravelSeconds travel;
        ZoneSeconds zones;
    } seconds_;
    SkinTuning skin_;
};

}  // namespace app
