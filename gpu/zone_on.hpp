// SPDX-License-Identifier: MIT
// A zone on an accelerator of the kind `On` (Host or Device): in which order its particles, cells, border, lists and
// passes are used. Only the lists of the border and single numbers cross to the processor and back.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gpu/launch.hpp"
#include "gpu/zone.hpp"
#include "gpu/zone/border.hpp"
#include "gpu/zone/cells.hpp"
#include "gpu/zone/lists.hpp"
#include "gpu/zone/particles.hpp"
#include "gpu/zone/pass.hpp"

namespace gpu {

template <int D, class On>
class ZoneOn final : public Zone<D> {
public:
    /// on: whose memory and threads the zone uses; it is the zone's own.
    ZoneOn(std::unique_ptr<On> on, const ZoneSetup& setup) : on_(std::move(on)), setup_(setup) { set_blocks({}, {}); }
    ~ZoneOn() override {
        try {
            on_->wait();
        } catch (const std::exception&) {  // an accelerator that has failed; who used it has been told
        }
    }

    std::vector<md::Particle<D>> set_blocks(const std::vector<balance::Box>& blocks,
                                            const BlockBorder<D>& border) override {
        cells_.set_blocks(blocks);
        border_.set(border, cells_);
        return take_emigrants();
    }
    void insert(std::span<const md::Particle<D>> particles) override { particles_.insert(particles); }
    std::vector<md::Particle<D>> take_emigrants() override { return particles_.take_outside(cells_.blocks()); }
    std::int64_t size() const override { return particles_.size(); }
    std::int64_t size(std::size_t block) const override { return cells_.particles_in(block); }

    void sort() override {
        cells_.sort(particles_);
        border_.count(cells_);
    }
    std::span<const std::int32_t> border_counts() override { return border_.counts(); }
    void lay_slots(std::span<const std::int32_t> counts) override {
        const std::int64_t slots = size() + border_.ghosts(counts);
        if (slots > INT32_MAX / 2)
            throw md::SimulationError("an accelerator's zone holds over 2^30 particles",
                                      "give the accelerator a smaller share, or use more accelerators");
        border_.put_counts(counts, cells_);
        cells_.lay_slots(size());
        border_.list_slots(counts, cells_);
        pass_.put_own(particles_.views(), size(), slots, cells_.slot());
        border_.take_outgoing(pass_.packed());
        on_->wait();
        ghosts_current_ = false;
    }
    void build_neighbour_lists(double radius) override {
        fill_ghosts();
        const double searched = md::searched_radius(radius), packed = searched * md::two_to(setup_.domain.packed_bits);
        NeighbourSearch<D> search{cells_.blocks(),
                                  md::to_edge_units(searched) + 1,
                                  static_cast<float>(packed * packed),
                                  pass_.packed(),
                                  {},
                                  cells_.first_slot(),
                                  cells_.slot(),
                                  cells_.cell_of()};
        for (int a = 0; a < D; ++a) search.x[a] = particles_.views().x[a];
        lists_.build(search, size());
    }

    std::span<const md::Packed<D>> outgoing() const override { return border_.outgoing(); }
    std::span<md::Packed<D>> incoming() override { return border_.incoming(); }
    void start(const ZonePassOptions& pass) override {
        on_->start_clock();
        fill_ghosts();
        pass_.start(pass, particles_.views(), size(), cells_, lists_.rows());
        if (pass_.flips(pass)) {
            ghosts_current_ = false;
            border_.take_outgoing(pass_.packed());
        }
        pass_.take_results();
        on_->stop_clock();
    }
    ZoneResult finish() override {
        on_->wait();
        ZoneResult r = pass_.result();
        r.seconds = on_->seconds();
        return r;
    }

    md::Int128 change_velocities(const md::VelocityChange<D>& change) override {
        return pass_.change_velocities(particles_.views(), size(), change);
    }
    std::vector<md::Particle<D>> particles() override { return particles_.read(); }
    std::vector<std::int64_t> forces(int axis) override { return download(*on_, pass_.force(axis)); }
    std::vector<std::int32_t> counts(std::size_t block) override { return cells_.counts_of(block); }
    std::vector<std::int64_t> cell_neighbours() override {
        Array<On, std::int64_t> pairs(*on_);
        pairs.resize(static_cast<std::size_t>(cells_.count()));
        const double cutoff2 =
            setup_.potential.cutoff * setup_.potential.cutoff * md::two_to(2 * setup_.domain.packed_bits);
        launch(*on_, cells_.count(),
               CountPairs<D>{pass_.view({}, particles_.views(), cells_.slot(), lists_.rows()), cells_.bins(),
                             md::slices_of_cell, cutoff2, pairs.data()});
        return download(*on_, pairs);
    }
    std::int64_t bytes() const override { return on_->bytes(); }
    std::int64_t copied() const override { return on_->copied(); }

private:
    void fill_ghosts() {
        if (!std::exchange(ghosts_current_, true)) border_.fill_ghosts(pass_.packed());
    }

    std::unique_ptr<On> on_;  // destroyed after all that has memory of it
    ZoneSetup setup_;
    ZoneParticles<D, On> particles_{*on_};
    ZoneCells<D, On> cells_{*on_, setup_.domain, setup_.halo};
    ZoneBorder<D, On> border_{*on_};
    ZoneLists<D, On> lists_{*on_};
    ZonePass<D, On> pass_{*on_, setup_};
    bool ghosts_current_ = false;  // ghosts are where their owners are
};

}  // namespace gpu
