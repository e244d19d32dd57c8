// SPDX-License-Identifier: MIT
// The cells of a zone's blocks: which particles lie in them, and which slots these have.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "balance/grid/box.hpp"
#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"
#include "gpu/zone/particles.hpp"
#include "gpu/zone/scan.hpp"
#include "md/cell_table.hpp"
#include "md/domain.hpp"

namespace gpu {

template <int D, class On>
class ZoneCells {
public:
    ZoneCells(On& on, const md::Domain& domain, int halo) : on_(on), domain_(domain), halo_(halo) { lost_.resize(1); }

    void set_blocks(const std::vector<balance::Box>& boxes) {
        boxes_ = boxes;
        first_particle_.assign(boxes.size() + 1, 0);
        std::vector<std::int64_t> edges;
        std::vector<std::size_t> begin;  // of each block's edges, axis by axis
        for (const balance::Box& box : boxes)
            for (int a = 0; a < D; ++a) {
                begin.push_back(edges.size());
                for (int c = box.lower[a] - halo_; c <= box.upper[a] + halo_; ++c)
                    edges.push_back(domain_.axis[a].edge(c));
            }
        upload(on_, edges_, edges);
        host_blocks_.clear();
        std::int64_t own = 0, all = 0;
        for (const balance::Box& box : boxes) {
            Block<D> b{{{}, halo_}, static_cast<std::int32_t>(own), static_cast<std::int32_t>(all), {}, {}, {}};
            for (int a = 0; a < D; ++a) {
                b.cells.along[a] = box.extent(a);
                b.lower[a] = domain_.axis[a].edge(box.lower[a]);
                b.upper[a] = domain_.axis[a].edge(box.upper[a]);
                b.edges[a] = edges_.data() + begin[D * host_blocks_.size() + a];
            }
            own += b.cells.count();
            all += b.cells.count_with_halo();
            host_blocks_.push_back(b);
        }
        if (own > INT32_MAX / 2 / md::slices_of_cell || all > INT32_MAX / 2)
            throw md::SimulationError("an accelerator's zone holds over 2^29 cells", remedy);
        own_ = own;
        all_ = all;
        upload(on_, on_blocks_, host_blocks_);
    }
    /// Sorts the particles into the cells (and by slices of their heights) and counts them. Throws md::SimulationError.
    void sort(ZoneParticles<D, On>& particles) {
        const std::int64_t n = particles.size(), bins = own_ * md::slices_of_cell;
        if (n > INT32_MAX / 2) throw md::SimulationError("an accelerator's zone holds over 2^30 particles", remedy);
        key_.resize(n);
        slot_.resize(n);
        bins_.resize(static_cast<std::size_t>(bins) + 1);
        on_.clear(bins_.data(), bins_.size() * sizeof(std::int32_t));
        on_.clear(lost_.data(), sizeof(std::uint32_t));
        std::int32_t* place = particles.numbers().data();  // in its bin
        FindBins<D> find{particles.views(), blocks(), {},           md::slices_of_cell,
                         key_.data(),       place,    bins_.data(), lost_.data()};
        for (int a = 0; a < D; ++a)
            find.per_cell[a] = domain_.axis[a].cells / static_cast<double>(domain_.axis[a].length);
        launch(on_, n, find);
        scan_(bins_.data(), bins + 1);
        launch(on_, n, FindOrder{key_.data(), place, bins_.data(), slot_.data()});
        particles.reorder(slot_.data());
        counts_.resize(all_);
        on_.clear(counts_.data(), counts_.size() * sizeof(std::int32_t));
        launch(on_, own_, CountCells<D>{blocks(), bins_.data(), md::slices_of_cell, counts_.data()});
        first_particle_.assign(boxes_.size() + 1, static_cast<std::int32_t>(n));
        for (std::size_t b = 0; b < boxes_.size(); ++b)
            on_.to_host(&first_particle_[b], bins_.data() + host_blocks_[b].first * md::slices_of_cell,
                        sizeof(std::int32_t));
        if (download(on_, lost_)[0])
            throw md::SimulationError("a particle lies outside the accelerator's zone that holds it");
    }
    /// The first slot of each cell from the counts of all cells, and the slots of own particles. After sort(), and
    /// after the halos' counts have been filled in.
    void lay_slots(std::int64_t particles) {
        first_slot_.resize(counts_.size() + 1);
        on_.clear(first_slot_.data() + counts_.size(), sizeof(std::int32_t));
        on_.copy(first_slot_.data(), counts_.data(), counts_.size() * sizeof(std::int32_t));
        scan_(first_slot_.data(), std::ssize(first_slot_));
        slot_.resize(particles);
        launch(on_, own_,
               LayOwn<D>{blocks(), bins_.data(), md::slices_of_cell, first_slot_.data(), slot_.data(), key_.data()});
    }

    const std::vector<balance::Box>& boxes() const { return boxes_; }
    Blocks<D> blocks() const { return {on_blocks_.data(), static_cast<std::int32_t>(boxes_.size())}; }
    std::int64_t count() const { return own_; }  ///< of all blocks
    /// Particles in a block. After sort().
    std::int64_t particles_in(std::size_t block) const { return first_particle_[block + 1] - first_particle_[block]; }
    /// Particles in each cell of a block. After sort().
    std::vector<std::int32_t> counts_of(std::size_t block) const {
        const Block<D>& b = host_blocks_[block];
        std::vector<std::int32_t> with_halo(b.cells.count_with_halo()), counts;
        on_.to_host(with_halo.data(), counts_.data() + b.first_with_halo, with_halo.size() * sizeof(std::int32_t));
        on_.wait();
        const int height = b.cells.along[D - 1];
        for (std::int64_t c = 0; c < b.cells.count(); c += height) {
            const auto column = with_halo.begin() + b.cells.with_halo(c);
            counts.insert(counts.end(), column, column + height);
        }
        return counts;
    }
    /// Number, among the cells with the halos, of a cell of a block or its halo (grid coordinates of the block).
    std::int32_t number(std::size_t block, const md::CellIndex& c) const {
        const Block<D>& b = host_blocks_[block];
        std::int32_t place[D];
        for (int a = 0; a < D; ++a) place[a] = c[a] - boxes_[block].lower[a] + halo_;
        return b.first_with_halo + b.cells.number(place);
    }
    /// The same of a cell in some block.
    std::int32_t number(const md::CellIndex& c) const {
        for (std::size_t b = 0; b < boxes_.size(); ++b)
            if (boxes_[b].contains(c)) return number(b, c);
        throw std::logic_error("a cell of a zone's border lies in none of its blocks");
    }
    Array<On, std::int32_t>& counts() { return counts_; }                  ///< by cell, with the halos
    const std::int32_t* first_slot() const { return first_slot_.data(); }  ///< likewise
    const std::int32_t* slot() const { return slot_.data(); }              ///< by own number
    const std::int32_t* cell_of() const { return key_.data(); }            ///< by own number, after lay_slots()
    const std::int32_t* bins() const { return bins_.data(); }              ///< scanned; slices of own cells

private:
    static constexpr const char* remedy = "give the accelerator a smaller share, or use more accelerators";

    On& on_;
    const md::Domain& domain_;
    const int halo_;
    std::vector<balance::Box> boxes_;
    std::vector<Block<D>> host_blocks_;
    std::int64_t own_ = 0, all_ = 0;            // cells without and with the halos
    std::vector<std::int32_t> first_particle_;  // own number, of each block, then of the end
    Array<On, Block<D>> on_blocks_{on_};
    Array<On, std::int64_t> edges_{on_};
    Array<On, std::int32_t> key_{on_};   // of particles: bin; after lay_slots() cell
    Array<On, std::int32_t> slot_{on_};  // of particles: slot; while they are sorted the order
    Array<On, std::int32_t> bins_{on_}, counts_{on_}, first_slot_{on_};
    Array<On, std::uint32_t> lost_{on_};  // not 0: a particle lies outside the blocks
    Scan<On, std::int32_t> scan_{on_};
};

}  // namespace gpu
