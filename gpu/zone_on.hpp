// SPDX-License-Identifier: MIT
// A zone on an accelerator of the kind `On` (Host or Device): which functors run when, on which arrays. Only the lists
// of the border and single numbers cross to the processor and back.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"
#include "gpu/zone.hpp"

namespace gpu {

template <class On>
class ZoneOn final : public Zone {
public:
    /// on: whose memory and threads the zone uses; it is the zone's own.
    ZoneOn(std::unique_ptr<On> on, const ZoneSetup& setup) : on_(std::move(on)), setup_(setup) {
        cells_.halo = setup.halo;
        totals_.resize(1);
        result_.resize(1);
        count_.resize(2);
        narrow_g2_.resize(md::narrow_rows);
        set_block({{0, 0, 0}, {0, 0, 1}}, {});
    }
    ~ZoneOn() override {
        try {
            on_->wait();
        } catch (const std::exception&) {  // an accelerator that has failed; who used it has been told
        }
    }

    std::vector<md::Particle> set_block(const balance::Box& block, const Border& border) override;
    void insert(std::span<const md::Particle> particles) override;
    std::vector<md::Particle> take_emigrants() override { return take_outside(); }
    std::int64_t size() const override { return size_; }

    void sort() override;
    std::span<const std::int32_t> outgoing_counts() override { return {border_counts_.data(), outgoing_cells_}; }
    void lay_slots(std::span<const std::int32_t> counts) override;
    void build_neighbour_lists(double radius) override;

    std::span<const std::uint64_t> outgoing() const override { return {outgoing_.data(), outgoing_.size()}; }
    std::span<std::uint64_t> incoming() override { return {incoming_.data(), incoming_.size()}; }
    void start(const Pass& pass) override;
    Result finish() override;

    std::vector<md::Particle> particles() override;
    void forces(std::vector<std::int64_t>& x, std::vector<std::int64_t>& y) override;
    std::vector<std::int32_t> counts() override;
    std::vector<std::int64_t> cell_neighbours() override;
    std::int64_t bytes() const override { return on_->bytes(); }

private:
    template <class T>
    using Own = Array<On, T>;
    static constexpr std::size_t most_records = 1 << 20;  // particles that are copied at a time
    static constexpr int slices =
        4;  // of a cell's height, by which its particles are sorted: near in memory, near in space

    Particles views() const { return {id_.data(), x_.data(), y_.data(), vx_.data(), vy_.data()}; }
    std::array<Own<std::int64_t>*, 5> own_arrays() { return {&id_, &x_, &y_, &vx_, &vy_}; }
    std::uint64_t* packed() const { return packed_[current_].data(); }
    PassView pass_view(const Pass& pass) const;
    md::StepArgs arguments(md::Kick kick) const;

    template <class T>
    void upload(Own<T>& to, const std::vector<T>& from) {
        to.resize(from.size());
        on_->to_device(to.data(), from.data(), from.size() * sizeof(T));
        on_->wait();  // `from` is the caller's
    }
    template <class T>
    std::vector<T> download(const Own<T>& from) {
        std::vector<T> to(from.size());
        on_->to_host(to.data(), from.data(), from.size() * sizeof(T));
        on_->wait();
        return to;
    }
    template <class T>
    void scan(T* values, std::int64_t n, std::size_t level = 0);
    void list_border_cells(const Border& border);
    template <class Lists>
    void list_slots(Lists& lists, std::span<const std::int32_t> counts);
    std::vector<md::Particle> take_outside();
    void close_gaps(std::int64_t outside);
    void fill_ghosts();
    void take_outgoing();
    void launch_pass(const Pass& pass);

    // Cells of the block with its halo, and the slots of the particles in them, one after the other.
    struct CellList {
        explicit CellList(On& on) : cells(on), first(on), slots(on) {}
        Own<std::int32_t> cells, first, slots;
    };
    struct ShiftedList : CellList {
        explicit ShiftedList(On& on) : CellList(on), of_cell(on), shifts(on) {}
        Own<std::uint64_t> of_cell, shifts;
    };

    std::unique_ptr<On> on_;  // destroyed after the arrays
    ZoneSetup setup_;
    balance::Box block_;
    Cells cells_{};
    Extent extent_{};
    std::int64_t size_ = 0;
    int current_ = 0;              // which packed positions are those of now
    bool ghosts_current_ = false;  // ghosts are where their owners are
    bool summed_ = false;          // the pass that was started adds up energies
    std::size_t outgoing_cells_ = 0;
    std::vector<std::int32_t> border_counts_;  // of outgoing cells, then of those that have images

    Own<std::int64_t> id_{*on_}, x_{*on_}, y_{*on_}, vx_{*on_}, vy_{*on_}, spare_{*on_};
    Own<std::int32_t> key_{*on_}, place_{*on_}, bins_{*on_};  // of particles: bin, place there; key_ then holds cells
    Own<std::int64_t> edges_[2]{Own<std::int64_t>{*on_}, Own<std::int64_t>{*on_}};  // of the cells with the halo, 2^-26
    Own<std::int32_t> counts_{*on_}, first_slot_{*on_}, border_cells_{*on_}, border_{*on_};
    CellList outgoing_list_{*on_}, image_sources_{*on_};
    ShiftedList incoming_list_{*on_}, images_{*on_};
    Own<std::uint64_t> packed_[2]{Own<std::uint64_t>{*on_}, Own<std::uint64_t>{*on_}}, reference_{*on_};
    Own<std::int32_t> slot_{*on_}, length_{*on_}, row_slots_{*on_};
    Own<std::int64_t> row_base_{*on_};
    Own<std::int64_t> force_x_{*on_}, force_y_{*on_};
    Own<std::uint64_t> came_{*on_}, leaving_{*on_};
    Own<md::Particle> records_{*on_};
    Own<Totals> totals_{*on_};
    Own<std::int32_t> count_{*on_};
    Own<float> narrow_g2_{*on_};
    bool narrow_known_ = false;
    std::vector<std::unique_ptr<Own<std::int32_t>>> sums32_;  // scratch of scans, by level
    std::vector<std::unique_ptr<Own<std::int64_t>>> sums64_;
    Array<On, std::uint64_t, true> outgoing_{*on_}, incoming_{*on_};
    Array<On, Totals, true> result_{*on_};
};

// --- the block

template <class On>
std::vector<md::Particle> ZoneOn<On>::set_block(const balance::Box& block, const Border& border) {
    block_ = block;
    cells_.columns = block.extent(0);
    cells_.rows = block.extent(1);
    if (block.empty()) cells_.columns = cells_.rows = 0;
    for (int a = 0; a < 2; ++a) {
        const md::Axis& axis = setup_.domain.axis[a];
        const int lower = block.lower[a], upper = lower + (a == 0 ? cells_.columns : cells_.rows);
        extent_.lower[a] = axis.edge(lower);
        extent_.upper[a] = axis.edge(upper);
        std::vector<std::int64_t> edges;
        for (int c = lower - cells_.halo; c <= upper + cells_.halo; ++c) edges.push_back(axis.edge(c));
        upload(edges_[a], edges);
    }
    list_border_cells(border);
    return take_outside();
}

template <class On>
void ZoneOn<On>::list_border_cells(const Border& border) {
    const auto number = [&](int x, int y) {
        return (x - block_.lower[0] + cells_.halo) * cells_.rows_with_halo() + (y - block_.lower[1] + cells_.halo);
    };
    const auto each_cell = [&](const balance::Box& box, auto use) {
        for (int x = box.lower[0]; x < box.upper[0]; ++x)
            for (int y = box.lower[1]; y < box.upper[1]; ++y) use(x, y);
    };
    const auto joined_shift = [](const auto& b) { return b.dx | static_cast<std::uint64_t>(b.dy) << 32; };
    std::vector<std::int32_t> outgoing, incoming, images, sources;
    std::vector<std::uint64_t> incoming_shift, image_shift;
    for (const balance::Box& box : border.outgoing)
        each_cell(box, [&](int x, int y) { outgoing.push_back(number(x, y)); });
    for (const Border::Incoming& b : border.incoming)
        each_cell(b.box, [&](int x, int y) {
            incoming.push_back(number(x, y));
            incoming_shift.push_back(joined_shift(b));
        });
    for (const Border::Image& b : border.images)
        each_cell(b.box, [&](int x, int y) {
            images.push_back(number(x, y));
            image_shift.push_back(joined_shift(b));
            sources.push_back(number(x - b.box.lower[0] + b.from[0], y - b.box.lower[1] + b.from[1]));
        });
    outgoing_cells_ = outgoing.size();
    upload(outgoing_list_.cells, outgoing);
    upload(incoming_list_.cells, incoming);
    upload(incoming_list_.of_cell, incoming_shift);
    upload(images_.cells, images);
    upload(images_.of_cell, image_shift);
    upload(image_sources_.cells, sources);
    outgoing.insert(outgoing.end(), sources.begin(), sources.end());
    upload(border_cells_, outgoing);
    border_counts_.assign(outgoing.size(), 0);
}

// --- particles that come and leave

template <class On>
void ZoneOn<On>::insert(std::span<const md::Particle> particles) {
    for (Own<std::int64_t>* a : own_arrays()) a->grow(static_cast<std::size_t>(size_) + particles.size());
    for (; !particles.empty(); particles = particles.subspan(records_.size())) {
        records_.resize(std::min(particles.size(), most_records));
        on_->to_device(records_.data(), particles.data(), records_.size() * sizeof(md::Particle));
        launch(*on_, static_cast<std::int64_t>(records_.size()), Append{records_.data(), views(), size_});
        on_->wait();
        size_ += static_cast<std::int64_t>(records_.size());
    }
}

template <class On>
std::vector<md::Particle> ZoneOn<On>::take_outside() {
    if (size_ == 0) return {};
    place_.resize(static_cast<std::size_t>(size_));
    on_->clear(count_.data(), 2 * sizeof(std::int32_t));
    launch(*on_, size_, FindOutside{views(), extent_, place_.data(), count_.data()});
    const std::int64_t outside = download(count_)[0];
    if (outside == 0) return {};
    std::vector<md::Particle> taken(static_cast<std::size_t>(outside));
    for (std::size_t first = 0; first < taken.size(); first += records_.size()) {
        records_.resize(std::min(taken.size() - first, most_records));
        launch(*on_, static_cast<std::int64_t>(records_.size()),
               TakeListed{views(), place_.data() + first, records_.data()});
        on_->to_host(&taken[first], records_.data(), records_.size() * sizeof(md::Particle));
        on_->wait();
    }
    close_gaps(outside);
    return taken;
}

// The particles that stay become the first ones.
template <class On>
void ZoneOn<On>::close_gaps(std::int64_t outside) {
    const std::int64_t kept = size_ - outside;
    key_.resize(static_cast<std::size_t>(2 * outside));
    std::int32_t *movers = key_.data(), *holes = key_.data() + outside;
    on_->clear(count_.data(), 2 * sizeof(std::int32_t));
    launch(*on_, outside, FindMovers{views(), extent_, kept, movers, count_.data()});
    launch(*on_, outside, FindHoles{place_.data(), kept, holes, count_.data() + 1});
    launch(*on_, outside, FillHoles{views(), movers, holes, count_.data()});
    on_->wait();
    size_ = kept;
    for (Own<std::int64_t>* a : own_arrays()) a->grow(static_cast<std::size_t>(kept));
}

// --- a rebuild

template <class On>
template <class T>
void ZoneOn<On>::scan(T* values, std::int64_t n, std::size_t level) {
    const std::int64_t runs = (n + scanned - 1) / scanned;
    if (runs <= 1) return launch(*on_, runs, ScanRuns<T>{values, n, nullptr});
    auto& scratch = [this]() -> auto& {
        if constexpr (sizeof(T) == sizeof(std::int32_t)) return sums32_;
        else return sums64_;
    }
    ();
    if (scratch.size() == level) scratch.push_back(std::make_unique<Own<T>>(*on_));
    Own<T>& sums = *scratch[level];
    sums.resize(static_cast<std::size_t>(runs));
    launch(*on_, runs, SumRuns<T>{values, n, sums.data()});
    scan(sums.data(), runs, level + 1);
    launch(*on_, runs, ScanRuns<T>{values, n, sums.data()});
}

template <class On>
void ZoneOn<On>::sort() {
    const auto n = static_cast<std::size_t>(size_);
    const std::int64_t bins = cells_.count() * slices;
    if (bins > INT32_MAX / 2 || size_ > INT32_MAX / 2)
        throw md::SimulationError("an accelerator's zone holds over 2^29 cells or 2^30 particles", false,
                                  "give the accelerator a smaller share, or use more accelerators");
    key_.resize(n);
    place_.resize(n);
    bins_.resize(static_cast<std::size_t>(bins) + 1);
    on_->clear(bins_.data(), bins_.size() * sizeof(std::int32_t));
    on_->clear(totals_.data(), sizeof(Totals));
    md::KeysArgs args{};
    args.x = x_.data();
    args.y = y_.data();
    args.slices = slices;
    for (int a = 0; a < 2; ++a) {
        const md::Axis& axis = setup_.domain.axis[a];
        args.edges[a] = edges_[a].data() + cells_.halo;
        args.cells[a] = a == 0 ? cells_.columns : cells_.rows;
        args.per_cell[a] = axis.cells / static_cast<double>(axis.length);
    }
    launch(*on_, size_, FindBins{args, extent_, key_.data(), place_.data(), bins_.data(), &totals_.data()->lost});
    scan(bins_.data(), bins + 1);
    slot_.resize(n);  // the order, until slots are laid out
    launch(*on_, size_, FindOrder{key_.data(), place_.data(), bins_.data(), slot_.data()});
    spare_.resize(n);
    for (Own<std::int64_t>* a : own_arrays()) {
        launch(*on_, size_, Reorder{a->data(), slot_.data(), spare_.data()});
        a->swap(spare_);
        spare_.resize(n);
    }
    counts_.resize(static_cast<std::size_t>(cells_.columns_with_halo()) * cells_.rows_with_halo());
    on_->clear(counts_.data(), counts_.size() * sizeof(std::int32_t));
    launch(*on_, cells_.count(), CountCells{cells_, bins_.data(), slices, counts_.data()});
    border_.resize(border_cells_.size());
    launch(*on_, static_cast<std::int64_t>(border_cells_.size()),
           Gather{counts_.data(), border_cells_.data(), border_.data()});
    border_counts_ = download(border_);
    if (download(totals_)[0].lost)
        throw md::SimulationError("a particle lies outside the accelerator's zone that holds it");
}

// counts: particles of the list's cells.
template <class On>
template <class Lists>
void ZoneOn<On>::list_slots(Lists& lists, std::span<const std::int32_t> counts) {
    std::vector<std::int32_t> first(counts.size());
    std::int32_t n = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) first[k] = std::exchange(n, n + counts[k]);
    upload(lists.first, first);
    lists.slots.resize(static_cast<std::size_t>(n));
    const auto cells = static_cast<std::int64_t>(counts.size());
    launch(*on_, cells, ListSlots{lists.cells.data(), lists.first.data(), first_slot_.data(), lists.slots.data()});
    if constexpr (std::is_same_v<Lists, ShiftedList>) {
        lists.shifts.resize(static_cast<std::size_t>(n));
        launch(*on_, cells,
               ListShifts{lists.cells.data(), lists.first.data(), first_slot_.data(), lists.of_cell.data(),
                          lists.shifts.data()});
    }
}

template <class On>
void ZoneOn<On>::lay_slots(std::span<const std::int32_t> counts) {
    const std::span<const std::int32_t> all(border_counts_);
    const auto of_outgoing = all.first(outgoing_cells_), of_images = all.subspan(outgoing_cells_);
    std::int64_t slots = size_;
    for (const std::int32_t n : counts) slots += n;
    for (const std::int32_t n : of_images) slots += n;
    if (slots > INT32_MAX / 2)
        throw md::SimulationError("an accelerator's zone holds over 2^30 particles", false,
                                  "give the accelerator a smaller share, or use more accelerators");
    upload(border_, {counts.begin(), counts.end()});
    launch(*on_, static_cast<std::int64_t>(counts.size()),
           Scatter{border_.data(), incoming_list_.cells.data(), counts_.data()});
    upload(border_, {of_images.begin(), of_images.end()});
    launch(*on_, static_cast<std::int64_t>(of_images.size()),
           Scatter{border_.data(), images_.cells.data(), counts_.data()});

    first_slot_.resize(counts_.size() + 1);
    on_->clear(first_slot_.data() + counts_.size(), sizeof(std::int32_t));
    on_->copy(first_slot_.data(), counts_.data(), counts_.size() * sizeof(std::int32_t));
    scan(first_slot_.data(), static_cast<std::int64_t>(first_slot_.size()));
    list_slots(outgoing_list_, of_outgoing);
    list_slots(incoming_list_, counts);
    list_slots(images_, of_images);
    list_slots(image_sources_, of_images);

    const auto n = static_cast<std::size_t>(size_);
    for (auto& p : packed_) p.resize(static_cast<std::size_t>(slots));
    reference_.resize(n);
    launch(*on_, cells_.count(), LayOwn{cells_, bins_.data(), slices, first_slot_.data(), slot_.data(), key_.data()});
    launch(*on_, size_, PackOwn{views(), slot_.data(), setup_.domain.packed_shift(), packed(), reference_.data()});
    incoming_.resize(incoming_list_.slots.size());
    came_.resize(incoming_list_.slots.size());
    outgoing_.resize(outgoing_list_.slots.size());
    leaving_.resize(outgoing_list_.slots.size());
    take_outgoing();
    on_->wait();
    ghosts_current_ = false;
}

template <class On>
void ZoneOn<On>::build_neighbour_lists(double radius) {
    fill_ghosts();
    const md::Domain& domain = setup_.domain;
    const double reach = radius * (1 + 1e-5) * md::two_to(domain.packed_bits);  // floats round by far less than that
    const Search search{cells_,
                        {edges_[0].data(), edges_[1].data()},
                        md::to_edge_units(radius * (1 + 1e-5)) + 1,
                        static_cast<float>(reach * reach),
                        packed(),
                        x_.data(),
                        y_.data(),
                        first_slot_.data(),
                        slot_.data(),
                        key_.data()};
    const std::int64_t groups = (size_ + group - 1) / group;
    length_.resize(static_cast<std::size_t>(size_));
    row_base_.resize(static_cast<std::size_t>(groups) + 1);
    on_->clear(row_base_.data() + groups, sizeof(std::int64_t));
    launch(*on_, size_, CountRows{search, length_.data()});
    launch(*on_, groups, MeasureGroups{length_.data(), size_, row_base_.data()});
    scan(row_base_.data(), groups + 1);
    std::int64_t elements = 0;
    on_->to_host(&elements, row_base_.data() + groups, sizeof elements);
    on_->wait();
    row_slots_.resize(static_cast<std::size_t>(elements) + group);  // empty rows begin somewhere too
    launch(*on_, size_, FillRows{search, {row_base_.data(), length_.data(), row_slots_.data()}});
    on_->wait();
}

// Ghosts to where their owners are now.
template <class On>
void ZoneOn<On>::fill_ghosts() {
    if (ghosts_current_) return;
    ghosts_current_ = true;
    const auto n = static_cast<std::int64_t>(incoming_.size());
    on_->to_device(came_.data(), incoming_.data(), incoming_.size() * sizeof(std::uint64_t));
    launch(*on_, n, PutIncoming{came_.data(), incoming_list_.shifts.data(), incoming_list_.slots.data(), packed()});
    launch(*on_, static_cast<std::int64_t>(images_.slots.size()),
           PutImages{image_sources_.slots.data(), images_.slots.data(), images_.shifts.data(), packed()});
}

template <class On>
void ZoneOn<On>::take_outgoing() {
    launch(*on_, static_cast<std::int64_t>(outgoing_.size()),
           TakeOutgoing{packed(), outgoing_list_.slots.data(), leaving_.data()});
    on_->to_host(outgoing_.data(), leaving_.data(), outgoing_.size() * sizeof(std::uint64_t));
}

// --- a step

template <class On>
PassView ZoneOn<On>::pass_view(const Pass& pass) const {
    return {views(),
            packed(),
            reference_.data(),
            packed_[1 - current_].data(),
            slot_.data(),
            {row_base_.data(), length_.data(), row_slots_.data()},
            pass.keep_forces ? force_x_.data() : nullptr,
            pass.keep_forces ? force_y_.data() : nullptr,
            totals_.data(),
            pass.sums};
}

template <class On>
md::StepArgs ZoneOn<On>::arguments(md::Kick kick) const {
    md::StepArgs args{};
    args.dt = setup_.dt;
    args.kick = kick;
    for (int a = 0; a < 2; ++a) {
        const md::Axis& axis = setup_.domain.axis[a];
        args.cell[a] = axis.cell_width();
        args.length[a] = axis.fixed_length();
        if (axis.periodic) continue;
        // A particle that can reach a wall before the next rebuild lies within the halo's width of it.
        args.wall[a][0] = block_.lower[a] < setup_.halo;
        args.wall[a][1] = block_.upper[a] > axis.cells - setup_.halo;
    }
    return args;
}

template <class On>
void ZoneOn<On>::launch_pass(const Pass& pass) {
    const PassView view = pass_view(pass);
    const md::PotentialSpec& spec = setup_.potential;
    const int bits = setup_.domain.packed_bits;
    const md::Integration integration(arguments(pass.kick), setup_.precision, bits);
    const auto step = [&](const auto& force) {
        using Force = std::remove_cvref_t<decltype(force)>;
        if constexpr (requires { force.narrow_g2(nullptr, 0); }) {
            if (!narrow_known_) {
                std::vector<float> limits;
                for (int n = 0; n < md::narrow_rows; ++n)
                    limits.push_back(force.narrow_g2(setup_.limits.narrow_g2.data(), n));
                upload(narrow_g2_, limits);
                narrow_known_ = true;
            }
        }
        launch(*on_, size_, Step<Force>{view, force, integration, narrow_g2_.data()});
    };
    const auto with = [&]<template <class, bool> class P, bool softened>(P<double, softened>*) {
        if (setup_.precision == md::Precision::mixed)
            step(md::MixedForce<P, softened>(spec, setup_.limits.safe_r2, bits));
        else step(md::DoubleForce<P, softened>(spec, setup_.limits.safe_r2, bits));
    };
    int kind = md::potential_index(spec.kind);
    const auto if_named = [&]<template <class, bool> class P>(P<double, true>*) {
        if (kind-- != 0) return;
        if (pass.sums) launch(*on_, size_, SumPairs<P>{view, md::PairEnergy<P>(spec, bits)});
        if (spec.softening == 0.0) with(static_cast<P<double, false>*>(nullptr));
        else with(static_cast<P<double, true>*>(nullptr));
    };
    [&]<class... All>(std::tuple<All...>*) {
        (if_named(static_cast<All*>(nullptr)), ...);
    }(static_cast<md::Potentials<double, true>*>(nullptr));
}

template <class On>
void ZoneOn<On>::start(const Pass& pass) {
    if (pass.keep_forces) {
        force_x_.resize(static_cast<std::size_t>(size_));
        force_y_.resize(static_cast<std::size_t>(size_));
    }
    summed_ = pass.sums;
    on_->start_clock();
    fill_ghosts();
    on_->clear(totals_.data(), sizeof(Totals));
    launch_pass(pass);
    if (pass.kick == md::Kick::first || pass.kick == md::Kick::middle) {
        current_ = 1 - current_;
        ghosts_current_ = false;
        take_outgoing();
    }
    on_->to_host(result_.data(), totals_.data(), sizeof(Totals));
    on_->stop_clock();
}

template <class On>
Zone::Result ZoneOn<On>::finish() {
    on_->wait();
    const Totals& t = *result_.data();
    Result r;
    std::memcpy(&r.step.displacement2, &t.displacement2, sizeof t.displacement2);
    for (int a = 0; a < 2; ++a) r.step.momentum[a] = t.momentum[a].value();
    r.step.kinetic = t.kinetic.value();
    r.step.fault = t.first_fault();
    if (summed_) r.pairs = {t.energy.value(), t.virial.value(), static_cast<std::int64_t>(t.pairs)};
    r.seconds = on_->seconds();
    return r;
}

// --- what is read from time to time

template <class On>
std::vector<md::Particle> ZoneOn<On>::particles() {
    const auto n = static_cast<std::size_t>(size_);
    std::vector<md::Particle> all(n);
    std::vector<std::int64_t> values(n);
    const auto read = [&](const Own<std::int64_t>& from, std::int64_t md::Particle::*member) {
        on_->to_host(values.data(), from.data(), n * sizeof(std::int64_t));
        on_->wait();
        for (std::size_t i = 0; i < n; ++i) all[i].*member = values[i];
    };
    read(id_, &md::Particle::id);
    read(x_, &md::Particle::x);
    read(y_, &md::Particle::y);
    read(vx_, &md::Particle::vx);
    read(vy_, &md::Particle::vy);
    return all;
}

template <class On>
void ZoneOn<On>::forces(std::vector<std::int64_t>& x, std::vector<std::int64_t>& y) {
    x = download(force_x_);
    y = download(force_y_);
}

template <class On>
std::vector<std::int32_t> ZoneOn<On>::counts() {
    return download(counts_);
}

template <class On>
std::vector<std::int64_t> ZoneOn<On>::cell_neighbours() {
    Own<std::int64_t> pairs(*on_);
    pairs.resize(static_cast<std::size_t>(cells_.count()));
    const double cutoff2 =
        setup_.potential.cutoff * setup_.potential.cutoff * md::two_to(2 * setup_.domain.packed_bits);
    launch(*on_, cells_.count(), CountPairs{pass_view({}), bins_.data(), slices, cutoff2, pairs.data()});
    return download(pairs);
}

}  // namespace gpu
