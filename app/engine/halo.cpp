// SPDX-License-Identifier: MIT
// All that the halo sends is packed and unpacked by balance::Transfer along the halo plan, on all threads. What does
// not cross to another rank is copied from tile to tile.
#include "app/engine/halo.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "app/engine/thread_schedule.hpp"
#include "comm/exchange.hpp"

namespace app {
namespace {

using balance::Move;

// MPI libraries send messages up to some size, the eager limit, at once; a longer one waits until its receiver is
// ready, which computes meanwhile. This is below the limit of the common ones.
constexpr std::size_t eager_bytes = 4096;

constexpr auto on_all_threads = [](std::size_t n, auto body) { parallel_for(n, body); };

std::size_t cells_of(const Move& m) { return static_cast<std::size_t>(m.box.cells()); }

// Adds an image's shift to packed positions: each half on its own, both wrap.
std::uint64_t shifted(std::uint64_t packed, std::uint32_t dx, std::uint32_t dy) {
    return static_cast<std::uint32_t>(static_cast<std::uint32_t>(packed) + dx) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(static_cast<std::uint32_t>(packed >> 32) + dy)) << 32;
}

void copy_shifted(const std::uint64_t* from, std::int64_t n, std::uint64_t* to, std::uint32_t dx, std::uint32_t dy) {
    if (dx == 0 && dy == 0) std::copy_n(from, n, to);
    else std::transform(from, from + n, to, [=](std::uint64_t p) { return shifted(p, dx, dy); });
}

// Particles in a box of a tile's cells or halo.
std::size_t particles_in(const md::Tile& tile, const balance::Box& box) {
    std::size_t n = 0;
    for (int x = box.lower[0]; x < box.upper[0]; ++x)
        for (int y = box.lower[1]; y < box.upper[1]; ++y) n += tile.count(x, y);
    return n;
}

}  // namespace

Halo::Halo(const Setup& setup, Tiles& tiles, const balance::Decomposition& decomposition)
    : setup_(setup),
      tiles_(tiles),
      counts_(std::make_unique<comm::Exchange>(tiles.comm())),
      positions_(std::make_unique<comm::Exchange>(tiles.comm(), eager_bytes)) {
    plan(decomposition);
}

Halo::TargetView Halo::in_target_coordinates(const Move& m) const {
    const md::Domain& domain = setup_.domain;
    const balance::Grid grid = domain.grid();
    const auto packed = [&](int a) {
        return static_cast<std::uint32_t>((m.image[a] * domain.axis[a].fixed_length()) >> domain.packed_shift());
    };
    const balance::Box box = balance::shifted(m.box, {m.image[0] * grid.cells[0], m.image[1] * grid.cells[1], 0});
    return {box, packed(0), packed(1)};
}

void Halo::plan(const balance::Decomposition& decomposition) {
    balance::Plan plan = balance::halo_plan(decomposition, tiles_.comm().rank(), setup_.halo);
    local_.assign(tiles_.size(), {});
    halo_boxes_.assign(tiles_.size(), {});
    halo_owners_.assign(tiles_.size(), {});
    remote_.assign(tiles_.size(), false);
    const auto add_owner = [&](const Move& m) {
        const std::size_t t = tiles_.place_of(m.target);
        const auto shift = [&](int a) { return m.image[a] * setup_.domain.axis[a].fixed_length(); };
        halo_boxes_[t].push_back({in_target_coordinates(m).box, {shift(0), shift(1)}});
        halo_owners_[t].push_back(m.source);
        return t;
    };
    for (const Move& m : plan.local) local_[add_owner(m)].push_back(m);
    links_ = std::move(plan.links);
    for (const balance::Link<Move>& link : links_)
        for (const Move& m : link.incoming) remote_[add_owner(m)] = true;
    counts_.lay_out(std::span(std::as_const(links_)), cells_of, cells_of);
}

std::int64_t Halo::plan_bytes() const {
    const auto of = [](const auto& list) { return static_cast<std::int64_t>(list.capacity() * sizeof(list[0])); };
    std::int64_t n = of(links_) + of(local_) + of(halo_boxes_) + of(halo_owners_) + of(remote_);
    for (const balance::Link<Move>& link : links_) n += of(link.outgoing) + of(link.incoming);
    for (std::size_t t = 0; t < local_.size(); ++t) n += of(local_[t]) + of(halo_boxes_[t]) + of(halo_owners_[t]);
    return n;
}

void Halo::emigrate() {
    struct Emigrant {
        balance::TileId target;
        md::Particle particle;
    };
    std::vector<std::vector<Emigrant>> emigrants(tiles_.size());
    parallel_for(tiles_.size(), [&](std::size_t t) {
        tiles_[t].remove_emigrants(halo_boxes_[t], [&](const md::Particle& p, int k) {
            emigrants[t].push_back({halo_owners_[t][k], p});
        });
    });
    // What goes to one rank, and how many records come from it; the links are those of the halo.
    struct Parcel {
        std::vector<Emigrant> sent;
        std::int64_t received = 0;
    };
    std::vector<Parcel> parcels(links_.size());
    std::vector<balance::Link<Parcel*>> links;
    std::map<int, Parcel*> to_rank;
    for (std::size_t l = 0; l < links_.size(); ++l) {
        to_rank[links_[l].member] = &parcels[l];
        links.push_back({links_[l].member, {&parcels[l]}, {&parcels[l]}});
    }
    for (const auto& of_tile : emigrants)
        for (const Emigrant& e : of_tile) {
            const int rank = tiles_.hosts().member_of(e.target.process);
            if (rank == tiles_.comm().rank()) tiles_[tiles_.place_of(e.target)].insert({&e.particle, 1});
            else to_rank.at(rank)->sent.push_back(e);
        }
    balance::Transfer<Parcel*, std::int64_t> sizes(std::make_unique<comm::Exchange>(tiles_.comm()));
    const auto one = [](Parcel*) { return std::size_t{1}; };
    sizes.lay_out(std::span(std::as_const(links)), one, one);
    sizes.start(balance::SerialLoop{},
                [](Parcel* p, std::int64_t* to) { *to = static_cast<std::int64_t>(p->sent.size()); });
    sizes.finish(balance::SerialLoop{}, [](Parcel* p, const std::int64_t* from) { p->received = *from; });
    balance::Transfer<Parcel*, Emigrant> records(std::make_unique<comm::Exchange>(tiles_.comm()));
    records.lay_out(
        std::span(std::as_const(links)), [](Parcel* p) { return p->sent.size(); },
        [](Parcel* p) { return static_cast<std::size_t>(p->received); });
    records.start(balance::SerialLoop{},
                  [](Parcel* p, Emigrant* to) { std::copy(p->sent.begin(), p->sent.end(), to); });
    records.finish(balance::SerialLoop{}, [&](Parcel* p, const Emigrant* from) {
        for (std::int64_t i = 0; i < p->received; ++i)
            tiles_[tiles_.place_of(from[i].target)].insert({&from[i].particle, 1});
    });
}

void Halo::exchange_counts() {
    counts_.start(on_all_threads, [&](const Move& m, std::int32_t* to) {
        const md::Tile& source = tiles_[tiles_.place_of(m.source)];
        for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x)
            to = std::copy_n(source.column(x, m.box.lower[1]), m.box.extent(1), to);
    });
    parallel_for(tiles_.size(), [&](std::size_t t) {
        for (const Move& m : local_[t]) {
            const md::Tile& source = tiles_[tiles_.place_of(m.source)];
            const balance::Box to = in_target_coordinates(m).box;
            for (int x = 0; x < to.extent(0); ++x)
                std::copy_n(source.column(m.box.lower[0] + x, m.box.lower[1]), to.extent(1),
                            &tiles_[t].count(to.lower[0] + x, to.lower[1]));
        }
    });
    counts_.finish(on_all_threads, [&](const Move& m, const std::int32_t* from) {
        md::Tile& target = tiles_[tiles_.place_of(m.target)];
        const balance::Box to = in_target_coordinates(m).box;
        for (int x = to.lower[0]; x < to.upper[0]; ++x, from += to.extent(1))
            std::copy_n(from, to.extent(1), &target.count(x, to.lower[1]));
    });
    positions_.lay_out(
        std::span(std::as_const(links_)),
        [&](const Move& m) { return particles_in(tiles_[tiles_.place_of(m.source)], m.box); },
        [&](const Move& m) { return particles_in(tiles_[tiles_.place_of(m.target)], in_target_coordinates(m).box); });
}

void Halo::start() {
    positions_.start(on_all_threads, [&](const Move& m, std::uint64_t* to) {
        const md::Tile& source = tiles_[tiles_.place_of(m.source)];
        for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x) {
            const md::Tile::Run run = source.run(x, m.box.lower[1], m.box.upper[1]);
            to = std::copy_n(source.packed() + run.begin, run.size, to);
        }
    });
}

void Halo::finish() {
    positions_.finish(on_all_threads, [&](const Move& m, const std::uint64_t* from) {
        md::Tile& target = tiles_[tiles_.place_of(m.target)];
        const TargetView to = in_target_coordinates(m);
        for (int x = to.box.lower[0]; x < to.box.upper[0]; ++x) {
            const md::Tile::Run run = target.run(x, to.box.lower[1], to.box.upper[1]);
            copy_shifted(from, run.size, target.packed() + run.begin, to.dx, to.dy);
            from += run.size;
        }
    });
}

void Halo::fill_from_this_rank(std::size_t t) {
    md::Tile& target = tiles_[t];
    for (const Move& m : local_[t]) {
        const md::Tile& source = tiles_[tiles_.place_of(m.source)];
        const TargetView to = in_target_coordinates(m);
        for (int x = 0; x < to.box.extent(0); ++x) {
            const md::Tile::Run from = source.run(m.box.lower[0] + x, m.box.lower[1], m.box.upper[1]);
            const md::Tile::Run into = target.run(to.box.lower[0] + x, to.box.lower[1], to.box.upper[1]);
            copy_shifted(source.packed() + from.begin, from.size, target.packed() + into.begin, to.dx, to.dy);
        }
    }
}

}  // namespace app
