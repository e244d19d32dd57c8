// SPDX-License-Identifier: MIT
// The border of a zone's blocks. Outgoing cells are cells of a block whose particles are ghosts of others. Incoming
// cells are cells of a block's halo, whose ghosts come from others. This class lists the cells and their slots, and
// holds the positions that are exchanged.
#pragma once
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"
#include "gpu/zone.hpp"
#include "gpu/zone/cells.hpp"

namespace gpu {

template <int D, class On>
class ZoneBorder {
public:
    explicit ZoneBorder(On& on) : on_(on) {}

    /// Lists the cells of the border. Call it when `at` has its blocks.
    void set(const BlockBorder<D>& border, const ZoneCells<D, On>& at) {
        std::vector<std::int32_t> seen, outgoing, incoming, images, sources;
        std::vector<md::Packed<D>> incoming_shift, image_shift;
        for (const balance::Box& box : border.counted)
            md::for_each_cell<D>(box, [&](const md::CellIndex& c) { seen.push_back(at.number(c)); });
        for (const balance::Box& box : border.outgoing)
            md::for_each_cell<D>(box, [&](const md::CellIndex& c) { outgoing.push_back(at.number(c)); });
        for (const auto& b : border.incoming)
            md::for_each_cell<D>(b.box, [&](const md::CellIndex& c) {
                incoming.push_back(at.number(b.block, c));
                incoming_shift.push_back(b.shift);
            });
        for (const auto& b : border.images)
            md::for_each_cell<D>(b.box, [&](const md::CellIndex& c) {
                images.push_back(at.number(b.block, c));
                image_shift.push_back(b.shift);
                md::CellIndex from = b.from;
                for (int a = 0; a < D; ++a) from[a] += c[a] - b.box.lower[a];
                sources.push_back(at.number(from));
            });
        counted_ = seen.size();
        outgoing_cells_ = outgoing.size();
        upload(on_, outgoing_list_.cells, outgoing);
        upload(on_, incoming_list_.cells, incoming);
        upload(on_, incoming_list_.of_cell, incoming_shift);
        upload(on_, images_.cells, images);
        upload(on_, images_.of_cell, image_shift);
        upload(on_, image_sources_.cells, sources);
        seen.insert(seen.end(), outgoing.begin(), outgoing.end());
        seen.insert(seen.end(), sources.begin(), sources.end());
        upload(on_, seen_cells_, seen);
        counts_.assign(seen.size(), 0);
    }
    /// Counts the particles in counted cells, outgoing cells, and cells that have images. Call it after sorting.
    void count(ZoneCells<D, On>& cells) {
        moving_counts_.resize(seen_cells_.size());
        launch(on_, seen_cells_.size(), Gather{cells.counts().data(), seen_cells_.data(), moving_counts_.data()});
        counts_ = download(on_, moving_counts_);
    }
    /// Number of particles in each counted cell.
    std::span<const std::int32_t> counts() const { return {counts_.data(), counted_}; }
    /// Number of ghosts in the halo. incoming: particles in each incoming cell.
    std::int64_t ghosts(std::span<const std::int32_t> incoming) const {
        std::int64_t n = 0;
        for (const std::int32_t k : incoming) n += k;
        for (const std::int32_t k : image_counts()) n += k;
        return n;
    }
    /// Writes the numbers of ghosts in the halo's cells into `cells`. incoming: as for ghosts().
    void put_counts(std::span<const std::int32_t> incoming, ZoneCells<D, On>& cells) {
        scatter(incoming, incoming_list_, cells);
        scatter(image_counts(), images_, cells);
    }
    /// Lists the slots of the particles in the border. Call it after the slots of `cells` were laid out.
    void list_slots(std::span<const std::int32_t> incoming, const ZoneCells<D, On>& cells) {
        list(outgoing_list_, outgoing_counts(), cells);
        list(incoming_list_, incoming, cells);
        list(images_, image_counts(), cells);
        list(image_sources_, image_counts(), cells);
        incoming_.resize(incoming_list_.slots.size());
        came_.resize(incoming_list_.slots.size());
        outgoing_.resize(outgoing_list_.slots.size());
        leaving_.resize(outgoing_list_.slots.size());
    }

    /// Writes the present positions of the ghosts: ghosts from incoming(), and images.
    void fill_ghosts(md::Packed<D>* packed) {
        on_.to_device(came_.data(), incoming_.data(), incoming_.size() * sizeof(md::Packed<D>));
        launch(on_, incoming_.size(),
               PutIncoming<D>{came_.data(), incoming_list_.shifts.data(), incoming_list_.slots.data(), packed});
        launch(on_, images_.slots.size(),
               PutImages<D>{image_sources_.slots.data(), images_.slots.data(), images_.shifts.data(), packed});
    }
    /// Copies the present positions of outgoing cells into outgoing(). The accelerator does so after its earlier work.
    void take_outgoing(const md::Packed<D>* packed) {
        launch(on_, outgoing_.size(), TakeOutgoing<D>{packed, outgoing_list_.slots.data(), leaving_.data()});
        on_.to_host(outgoing_.data(), leaving_.data(), outgoing_.size() * sizeof(md::Packed<D>));
    }
    std::span<const md::Packed<D>> outgoing() const { return {outgoing_.data(), outgoing_.size()}; }
    std::span<md::Packed<D>> incoming() { return {incoming_.data(), incoming_.size()}; }

private:
    // Some cells of the blocks and their halos, and the slots of all particles in these cells.
    struct CellList {
        explicit CellList(On& on) : cells(on), first(on), slots(on) {}
        Array<On, std::int32_t> cells, first, slots;
    };
    struct ShiftedList : CellList {
        explicit ShiftedList(On& on) : CellList(on), of_cell(on), shifts(on) {}
        Array<On, md::Packed<D>> of_cell, shifts;
    };
    std::span<const std::int32_t> outgoing_counts() const { return {counts_.data() + counted_, outgoing_cells_}; }
    std::span<const std::int32_t> image_counts() const {
        return std::span(counts_).subspan(counted_ + outgoing_cells_);
    }
    void scatter(std::span<const std::int32_t> counts, const CellList& list, ZoneCells<D, On>& cells) {
        upload(on_, moving_counts_, std::vector<std::int32_t>(counts.begin(), counts.end()));
        launch(on_, counts.size(), Scatter{moving_counts_.data(), list.cells.data(), cells.counts().data()});
    }
    // counts: particles of the list's cells.
    template <class List>
    void list(List& list, std::span<const std::int32_t> counts, const ZoneCells<D, On>& cells) {
        std::vector<std::int32_t> first(counts.size());
        std::int32_t n = 0;
        for (std::size_t k = 0; k < counts.size(); ++k) first[k] = std::exchange(n, n + counts[k]);
        upload(on_, list.first, first);
        list.slots.resize(n);
        const auto size = std::ssize(counts);
        launch(on_, size, ListSlots{list.cells.data(), list.first.data(), cells.first_slot(), list.slots.data()});
        if constexpr (std::is_same_v<List, ShiftedList>) {
            list.shifts.resize(n);
            launch(on_, size,
                   ListShifts<D>{list.cells.data(), list.first.data(), cells.first_slot(), list.of_cell.data(),
                                 list.shifts.data()});
        }
    }

    On& on_;
    std::size_t counted_ = 0, outgoing_cells_ = 0;
    std::vector<std::int32_t> counts_;  // of counted cells, then of outgoing ones, then of those that have images
    Array<On, std::int32_t> seen_cells_{on_}, moving_counts_{on_};
    CellList outgoing_list_{on_}, image_sources_{on_};
    ShiftedList incoming_list_{on_}, images_{on_};
    Array<On, md::Packed<D>> came_{on_}, leaving_{on_};
    Array<On, md::Packed<D>, true> outgoing_{on_}, incoming_{on_};
};

}  // namespace gpu
