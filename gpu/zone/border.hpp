// SPDX-License-Identifier: MIT
// What a zone's block shows of its cells, and what it sees around them: the lists of cells and slots, and the positions
// on their way.
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

template <class On>
class ZoneBorder {
public:
    explicit ZoneBorder(On& on) : on_(on) {}

    /// Lists the border's cells. After the cells have their block.
    void set(const Border& border, const ZoneCells<On>& cells);
    /// Counts the particles in the cells that others and images see. After the cells were sorted.
    void count(ZoneCells<On>& cells);
    /// Of the outgoing cells.
    std::span<const std::int32_t> outgoing_counts() const { return {counts_.data(), outgoing_cells_}; }
    /// Particles that the halo will hold. incoming: of the incoming cells.
    std::int64_t ghosts(std::span<const std::int32_t> incoming) const;
    /// Fills the halo's counts in.
    void put_counts(std::span<const std::int32_t> incoming, ZoneCells<On>& cells);
    /// Lists the slots of the particles in the border. After the cells' slots were laid out.
    void list_slots(std::span<const std::int32_t> incoming, const ZoneCells<On>& cells);

    /// Ghosts to where their owners are now.
    void fill_ghosts(std::uint64_t* packed);
    /// Positions of now into outgoing(), when the accelerator comes to it.
    void take_outgoing(const std::uint64_t* packed);
    std::span<const std::uint64_t> outgoing() const { return {outgoing_.data(), outgoing_.size()}; }
    std::span<std::uint64_t> incoming() { return {incoming_.data(), incoming_.size()}; }

private:
    // Cells of the block with its halo, and the slots of the particles in them, one after the other.
    struct CellList {
        explicit CellList(On& on) : cells(on), first(on), slots(on) {}
        Array<On, std::int32_t> cells, first, slots;
    };
    struct ShiftedList : CellList {
        explicit ShiftedList(On& on) : CellList(on), of_cell(on), shifts(on) {}
        Array<On, std::uint64_t> of_cell, shifts;
    };
    std::span<const std::int32_t> image_counts() const { return std::span(counts_).subspan(outgoing_cells_); }
    void scatter(std::span<const std::int32_t> counts, const CellList& list, ZoneCells<On>& cells);
    template <class List>
    void list(List& list, std::span<const std::int32_t> counts, const ZoneCells<On>& cells);

    On& on_;
    std::size_t outgoing_cells_ = 0;
    std::vector<std::int32_t> counts_;  // of outgoing cells, then of those that have images
    Array<On, std::int32_t> seen_cells_{on_}, moving_counts_{on_};
    CellList outgoing_list_{on_}, image_sources_{on_};
    ShiftedList incoming_list_{on_}, images_{on_};
    Array<On, std::uint64_t> came_{on_}, leaving_{on_};
    Array<On, std::uint64_t, true> outgoing_{on_}, incoming_{on_};
};

template <class On>
void ZoneBorder<On>::set(const Border& border, const ZoneCells<On>& at) {
    const auto each_cell = [](const balance::Box& box, auto use) {
        for (int x = box.lower[0]; x < box.upper[0]; ++x)
            for (int y = box.lower[1]; y < box.upper[1]; ++y) use(x, y);
    };
    std::vector<std::int32_t> outgoing, incoming, images, sources;
    std::vector<std::uint64_t> incoming_shift, image_shift;
    for (const balance::Box& box : border.outgoing)
        each_cell(box, [&](int x, int y) { outgoing.push_back(at.number(x, y)); });
    for (const Border::Incoming& b : border.incoming)
        each_cell(b.box, [&](int x, int y) {
            incoming.push_back(at.number(x, y));
            incoming_shift.push_back(md::joined(b.dx, b.dy));
        });
    for (const Border::Image& b : border.images)
        each_cell(b.box, [&](int x, int y) {
            images.push_back(at.number(x, y));
            image_shift.push_back(md::joined(b.dx, b.dy));
            sources.push_back(at.number(x - b.box.lower[0] + b.from[0], y - b.box.lower[1] + b.from[1]));
        });
    outgoing_cells_ = outgoing.size();
    upload(on_, outgoing_list_.cells, outgoing);
    upload(on_, incoming_list_.cells, incoming);
    upload(on_, incoming_list_.of_cell, incoming_shift);
    upload(on_, images_.cells, images);
    upload(on_, images_.of_cell, image_shift);
    upload(on_, image_sources_.cells, sources);
    outgoing.insert(outgoing.end(), sources.begin(), sources.end());
    upload(on_, seen_cells_, outgoing);
    counts_.assign(outgoing.size(), 0);
}

template <class On>
void ZoneBorder<On>::count(ZoneCells<On>& cells) {
    moving_counts_.resize(seen_cells_.size());
    launch(on_, static_cast<std::int64_t>(seen_cells_.size()),
           Gather{cells.counts().data(), seen_cells_.data(), moving_counts_.data()});
    counts_ = download(on_, moving_counts_);
}

template <class On>
std::int64_t ZoneBorder<On>::ghosts(std::span<const std::int32_t> incoming) const {
    std::int64_t n = 0;
    for (const std::int32_t k : incoming) n += k;
    for (const std::int32_t k : image_counts()) n += k;
    return n;
}

template <class On>
void ZoneBorder<On>::put_counts(std::span<const std::int32_t> incoming, ZoneCells<On>& cells) {
    scatter(incoming, incoming_list_, cells);
    scatter(image_counts(), images_, cells);
}

template <class On>
void ZoneBorder<On>::scatter(std::span<const std::int32_t> counts, const CellList& list, ZoneCells<On>& cells) {
    upload(on_, moving_counts_, std::vector<std::int32_t>(counts.begin(), counts.end()));
    launch(on_, static_cast<std::int64_t>(counts.size()),
           Scatter{moving_counts_.data(), list.cells.data(), cells.counts().data()});
}

template <class On>
void ZoneBorder<On>::list_slots(std::span<const std::int32_t> incoming, const ZoneCells<On>& cells) {
    list(outgoing_list_, outgoing_counts(), cells);
    list(incoming_list_, incoming, cells);
    list(images_, image_counts(), cells);
    list(image_sources_, image_counts(), cells);
    incoming_.resize(incoming_list_.slots.size());
    came_.resize(incoming_list_.slots.size());
    outgoing_.resize(outgoing_list_.slots.size());
    leaving_.resize(outgoing_list_.slots.size());
}

// counts: particles of the list's cells.
template <class On>
template <class List>
void ZoneBorder<On>::list(List& list, std::span<const std::int32_t> counts, const ZoneCells<On>& cells) {
    std::vector<std::int32_t> first(counts.size());
    std::int32_t n = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) first[k] = std::exchange(n, n + counts[k]);
    upload(on_, list.first, first);
    list.slots.resize(static_cast<std::size_t>(n));
    const auto size = static_cast<std::int64_t>(counts.size());
    launch(on_, size, ListSlots{list.cells.data(), list.first.data(), cells.first_slot(), list.slots.data()});
    if constexpr (std::is_same_v<List, ShiftedList>) {
        list.shifts.resize(static_cast<std::size_t>(n));
        launch(on_, size,
               ListShifts{list.cells.data(), list.first.data(), cells.first_slot(), list.of_cell.data(),
                          list.shifts.data()});
    }
}

template <class On>
void ZoneBorder<On>::fill_ghosts(std::uint64_t* packed) {
    on_.to_device(came_.data(), incoming_.data(), incoming_.size() * sizeof(std::uint64_t));
    launch(on_, static_cast<std::int64_t>(incoming_.size()),
           PutIncoming{came_.data(), incoming_list_.shifts.data(), incoming_list_.slots.data(), packed});
    launch(on_, static_cast<std::int64_t>(images_.slots.size()),
           PutImages{image_sources_.slots.data(), images_.slots.data(), images_.shifts.data(), packed});
}

template <class On>
void ZoneBorder<On>::take_outgoing(const std::uint64_t* packed) {
    launch(on_, static_cast<std::int64_t>(outgoing_.size()),
           TakeOutgoing{packed, outgoing_list_.slots.data(), leaving_.data()});
    on_.to_host(outgoing_.data(), leaving_.data(), outgoing_.size() * sizeof(std::uint64_t));
}

}  // namespace gpu
