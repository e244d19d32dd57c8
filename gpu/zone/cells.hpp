// SPDX-License-Identifier: MIT
// The cells of a zone's block: which particles lie in them, and which slots these have.
#pragma once
#include <cstdint>
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
    ZoneCells(On& on, const md::Domain& domain, int halo) : on_(on), domain_(domain) {
        for (int a = 0; a < D; ++a) edges_.emplace_back(on);
        cells_.halo = halo;
        lost_.resize(1);
    }

    /// An empty block has no cells.
    void set_block(const balance::Box& block) {
        block_ = block;
        for (int a = 0; a < D; ++a) {
            cells_.along[a] = block.empty() ? 0 : block.extent(a);
            const md::Axis& axis = domain_.axis[a];
            const int lower = block.lower[a], upper = lower + cells_.along[a];
            extent_.lower[a] = axis.edge(lower);
            extent_.upper[a] = axis.edge(upper);
            std::vector<std::int64_t> edges;
            for (int c = lower - cells_.halo; c <= upper + cells_.halo; ++c) edges.push_back(axis.edge(c));
            upload(on_, edges_[a], edges);
        }
    }
    /// Sorts the particles into the cells (and by slices of their heights) and counts them. Throws md::SimulationError.
    void sort(ZoneParticles<D, On>& particles) {
        const std::int64_t n = particles.size(), bins = cells_.count() * md::slices_of_cell;
        if (bins > INT32_MAX / 2 || n > INT32_MAX / 2)
            throw md::SimulationError("an accelerator's zone holds over 2^29 cells or 2^30 particles",
                                      "give the accelerator a smaller share, or use more accelerators");
        key_.resize(n);
        slot_.resize(n);
        bins_.resize(static_cast<std::size_t>(bins) + 1);
        on_.clear(bins_.data(), bins_.size() * sizeof(std::int32_t));
        on_.clear(lost_.data(), sizeof(std::uint32_t));
        md::KeysArgs<D> args{};
        args.slices = md::slices_of_cell;
        for (int a = 0; a < D; ++a) {
            const md::Axis& axis = domain_.axis[a];
            args.edges[a] = edges_[a].data() + cells_.halo;
            args.cells[a] = cells_.along[a];
            args.per_cell[a] = axis.cells / static_cast<double>(axis.length);
        }
        std::int32_t* place = particles.numbers().data();  // in its bin
        launch(on_, n, FindBins<D>{particles.views(), args, extent_, key_.data(), place, bins_.data(), lost_.data()});
        scan_(bins_.data(), bins + 1);
        launch(on_, n, FindOrder{key_.data(), place, bins_.data(), slot_.data()});
        particles.reorder(slot_.data());
        counts_.resize(cells_.count_with_halo());
        on_.clear(counts_.data(), counts_.size() * sizeof(std::int32_t));
        launch(on_, cells_.count(), CountCells<D>{cells_, bins_.data(), md::slices_of_cell, counts_.data()});
        if (download(on_, lost_)[0])
            throw md::SimulationError("a particle lies outside the accelerator's zone that holds it");
    }
    /// The first slot of each cell from the counts of all cells, and the slots of own particles. After sort(), and
    /// after the halo's counts have been filled in.
    void lay_slots(std::int64_t particles) {
        first_slot_.resize(counts_.size() + 1);
        on_.clear(first_slot_.data() + counts_.size(), sizeof(std::int32_t));
        on_.copy(first_slot_.data(), counts_.data(), counts_.size() * sizeof(std::int32_t));
        scan_(first_slot_.data(), std::ssize(first_slot_));
        slot_.resize(particles);
        launch(on_, cells_.count(),
               LayOwn<D>{cells_, bins_.data(), md::slices_of_cell, first_slot_.data(), slot_.data(), key_.data()});
    }

    const balance::Box& block() const { return block_; }
    const Extent<D>& extent() const { return extent_; }
    const Cells<D>& cells() const { return cells_; }
    /// Number of a cell among the cells of the block with its halo (grid coordinates of the block).
    std::int32_t number(const md::CellIndex& c) const {
        std::int32_t place[D];
        for (int a = 0; a < D; ++a) place[a] = c[a] - block_.lower[a] + cells_.halo;
        return cells_.number(place);
    }
    const std::int64_t* edges(int axis) const { return edges_[axis].data(); }  ///< of the cells with the halo, 2^-26
    Array<On, std::int32_t>& counts() { return counts_; }                      ///< by cell of the block with its halo
    const std::int32_t* first_slot() const { return first_slot_.data(); }      ///< likewise
    const std::int32_t* slot() const { return slot_.data(); }                  ///< by own number
    const std::int32_t* cell_of() const { return key_.data(); }                ///< by own number, after lay_slots()
    const std::int32_t* bins() const { return bins_.data(); }                  ///< scanned; slices of own cells

private:
    On& on_;
    const md::Domain& domain_;
    balance::Box block_;
    Cells<D> cells_{};
    Extent<D> extent_{};
    std::vector<Array<On, std::int64_t>> edges_;  // by axis
    Array<On, std::int32_t> key_{on_};            // of particles: bin; after lay_slots() cell
    Array<On, std::int32_t> slot_{on_};           // of particles: slot; while they are sorted the order
    Array<On, std::int32_t> bins_{on_}, counts_{on_}, first_slot_{on_};
    Array<On, std::uint32_t> lost_{on_};  // not 0: a particle lies outside the block
    Scan<On, std::int32_t> scan_{on_};
};

}  // namespace gpu
