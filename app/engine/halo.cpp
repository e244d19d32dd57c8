// SPDX-License-Identifier: MIT
// All that the halo sends is packed and unpacked by balance::Transfer along the halo plan, on all threads. What does
// not cross to another rank is copied from tile to tile.
#include "app/engine/halo.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include "app/engine/channel.hpp"
#include "app/engine/thread_schedule.hpp"

namespace app {
namespace {

using balance::Move;

std::size_t cells_of(const Move& m) { return static_cast<std::size_t>(m.box.cells()); }

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
      border_(setup, tiles),
      counts_(make_channel(setup, tiles.comm(), "ghost_counts", &traffic_)),
      positions_(make_channel(setup, tiles.comm(), "ghosts", &traffic_)) {
    plan(decomposition);
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
        halo_boxes_[t].push_back({in_target_coordinates(setup_.domain, m).box, {shift(0), shift(1)}});
        halo_owners_[t].push_back(m.source);
        return t;
    };
    const auto is_block = [&](balance::TileId id) { return tiles_.place_of(id) >= tiles_.on_cpu(); };
    std::vector<Move> across;
    for (const Move& m : plan.local) {
        const std::size_t t = add_owner(m);
        (is_block(m.source) || is_block(m.target) ? across : local_[t]).push_back(m);
    }
    border_.plan(across);
    links_ = std::move(plan.links);
    for (const balance::Link<Move>& link : links_) {
        for (const Move& m : link.incoming) remote_[add_owner(m)] = true;
        for (const Move& m : link.outgoing)
            if (is_block(m.source))
                throw std::logic_error("a block of an accelerator lies beside another rank's cells");
    }
    counts_.lay_out(std::span(std::as_const(links_)), cells_of, cells_of);
}

std::int64_t Halo::plan_bytes() const {
    const auto of = [](const auto& list) { return static_cast<std::int64_t>(list.capacity() * sizeof(list[0])); };
    std::int64_t n = of(links_) + of(local_) + of(halo_boxes_) + of(halo_owners_) + of(remote_) + border_.plan_bytes();
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
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) {
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
    std::vector<std::vector<md::Particle>> to_blocks(tiles_.size() - tiles_.on_cpu());
    for (const auto& of_tile : emigrants)
        for (const Emigrant& e : of_tile) {
            const int rank = tiles_.hosts().member_of(e.target.process);
            if (rank != tiles_.comm().rank()) to_rank.at(rank)->sent.push_back(e);
            else if (const std::size_t t = tiles_.place_of(e.target); t < tiles_.on_cpu())
                tiles_[t].insert({&e.particle, 1});
            else to_blocks[t - tiles_.on_cpu()].push_back(e.particle);
        }
    emigrate_from_blocks(to_blocks);
    balance::Transfer<Parcel*, std::int64_t> sizes(make_channel(setup_, tiles_.comm(), "emigrant_counts", &traffic_));
    const auto one = [](Parcel*) { return std::size_t{1}; };
    sizes.lay_out(std::span(std::as_const(links)), one, one);
    sizes.start(balance::SerialLoop{},
                [](Parcel* p, std::int64_t* to) { *to = static_cast<std::int64_t>(p->sent.size()); });
    sizes.finish(balance::SerialLoop{}, [](Parcel* p, const std::int64_t* from) { p->received = *from; });
    balance::Transfer<Parcel*, Emigrant> records(make_channel(setup_, tiles_.comm(), "emigrants", &traffic_));
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

// Their particles stay on this rank: blocks lie inside its cells. to_blocks: what comes to each from the tiles.
void Halo::emigrate_from_blocks(std::vector<std::vector<md::Particle>>& to_blocks) {
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t)
        for (md::Particle p : tiles_.zone(t).take_emigrants()) {
            const int k = md::holder_of(p, halo_boxes_[t], setup_.domain.axis);
            p.x -= halo_boxes_[t][k].shift[0];
            p.y -= halo_boxes_[t][k].shift[1];
            const std::size_t target = tiles_.place_of(halo_owners_[t][k]);
            if (target < tiles_.on_cpu()) tiles_[target].insert({&p, 1});
            else to_blocks[target - tiles_.on_cpu()].push_back(p);
        }
    for (std::size_t b = 0; b < to_blocks.size(); ++b) tiles_.insert(tiles_.on_cpu() + b, to_blocks[b]);
}

void Halo::lay_slots() {
    border_.lay_slots();
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) { tiles_[t].lay_slots(); });
}

void Halo::exchange_counts() {
    counts_.start(on_all_threads, [&](const Move& m, std::int32_t* to) {
        const md::Tile& source = tiles_[tiles_.place_of(m.source)];
        for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x)
            to = std::copy_n(source.column(x, m.box.lower[1]), m.box.extent(1), to);
    });
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) {
        for (const Move& m : local_[t]) {
            const md::Tile& source = tiles_[tiles_.place_of(m.source)];
            const balance::Box to = in_target_coordinates(setup_.domain, m).box;
            for (int x = 0; x < to.extent(0); ++x)
                std::copy_n(source.column(m.box.lower[0] + x, m.box.lower[1]), to.extent(1),
                            &tiles_[t].count(to.lower[0] + x, to.lower[1]));
        }
    });
    border_.exchange_counts();
    counts_.finish(on_all_threads, [&](const Move& m, const std::int32_t* from) {
        md::Tile& target = tiles_[tiles_.place_of(m.target)];
        const balance::Box to = in_target_coordinates(setup_.domain, m).box;
        for (int x = to.lower[0]; x < to.upper[0]; ++x, from += to.extent(1))
            std::copy_n(from, to.extent(1), &target.count(x, to.lower[1]));
    });
    due_.assign(tiles_.size(), 0);
    positions_.lay_out(
        std::span(std::as_const(links_)),
        [&](const Move& m) { return particles_in(tiles_[tiles_.place_of(m.source)], m.box); },
        [&](const Move& m) {
            const std::size_t t = tiles_.place_of(m.target);
            const std::size_t n = particles_in(tiles_[t], in_target_coordinates(setup_.domain, m).box);
            due_[t] += n > 0;
            return n;
        });
}

void Halo::start() {
    missing_ = due_;
    positions_.start(on_all_threads, [&](const Move& m, std::uint64_t* to) {
        const md::Tile& source = tiles_[tiles_.place_of(m.source)];
        for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x) {
            const md::Tile::Run run = source.run(x, m.box.lower[1], m.box.upper[1]);
            to = std::copy_n(source.packed() + run.begin, run.size, to);
        }
    });
}

void Halo::unpack(const Move& m, const std::uint64_t* from) {
    md::Tile& target = tiles_[tiles_.place_of(m.target)];
    const TargetView to = in_target_coordinates(setup_.domain, m);
    for (int x = to.box.lower[0]; x < to.box.upper[0]; ++x) {
        const md::Tile::Run run = target.run(x, to.box.lower[1], to.box.upper[1]);
        copy_shifted(from, run.size, target.packed() + run.begin, to.dx, to.dy);
        from += run.size;
    }
}

void Halo::finish() {
    positions_.finish(on_all_threads, [&](const Move& m, const std::uint64_t* from) { unpack(m, from); });
}

std::vector<std::size_t> Halo::complete() const {
    std::vector<std::size_t> tiles;
    for (std::size_t t = 0; t < tiles_.on_cpu(); ++t)
        if (remote_[t] && due_[t] == 0) tiles.push_back(t);
    return tiles;
}

bool Halo::finish_some(std::vector<std::size_t>& tiles) {
    return positions_.finish_some(
        on_all_threads, [&](const Move& m, const std::uint64_t* from) { unpack(m, from); },
        [&](const Move& m) {
            const std::size_t t = tiles_.place_of(m.target);
            if (--missing_[t] == 0) tiles.push_back(t);
        });
}

void Halo::fill_from_this_rank(std::size_t t) {
    md::Tile& target = tiles_[t];
    for (const Move& m : local_[t]) {
        const md::Tile& source = tiles_[tiles_.place_of(m.source)];
        const TargetView to = in_target_coordinates(setup_.domain, m);
        for (int x = 0; x < to.box.extent(0); ++x) {
            const md::Tile::Run from = source.run(m.box.lower[0] + x, m.box.lower[1], m.box.upper[1]);
            const md::Tile::Run into = target.run(to.box.lower[0] + x, to.box.lower[1], to.box.upper[1]);
            copy_shifted(source.packed() + from.begin, from.size, target.packed() + into.begin, to.dx, to.dy);
        }
    }
}

}  // namespace app
