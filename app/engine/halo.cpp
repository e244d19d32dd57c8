// SPDX-License-Identifier: MIT
// balance::Transfer packs and unpacks all messages of the halo along the halo plan, on all threads. Ghosts from tiles
// of the same rank are copied from tile to tile.
#include "app/engine/halo.hpp"

#include <algorithm>
#include <map>
#include <numeric>
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
template <int D>
std::size_t particles_in(const md::Tile<D>& tile, const balance::Box& box) {
    std::int64_t n = 0;
    md::for_each_column<D>(box, [&](const md::CellIndex& c) {
        const std::int32_t* counts = &tile.count(c);
        n += std::accumulate(counts, counts + box.extent(D - 1), std::int64_t{0});
    });
    return static_cast<std::size_t>(n);
}

}  // namespace

template <int D>
Halo<D>::Halo(const Setup& setup, Tiles<D>& tiles, const balance::Decomposition& decomposition)
    : setup_(setup),
      tiles_(tiles),
      blocks_(setup, tiles),
      counts_(make_channel(setup, tiles.comm(), "ghost_counts", &traffic_)),
      positions_(make_channel(setup, tiles.comm(), "ghosts", &traffic_)) {
    plan(decomposition);
}

template <int D>
void Halo<D>::plan(const balance::Decomposition& decomposition) {
    balance::Plan counted = balance::halo_plan(decomposition, tiles_.comm().rank(), setup_.halo),
                  seen = balance::halo_plan(decomposition, tiles_.comm().rank(), setup_.reach);
    counted_.local.assign(tiles_.size(), {});
    seen_.local.assign(tiles_.size(), {});
    halo_boxes_.assign(tiles_.size(), {});
    halo_owners_.assign(tiles_.size(), {});
    remote_.assign(tiles_.size(), false);
    const auto add_owner = [&](const Move& m) {
        const std::size_t t = tiles_.place_of(m.target);
        md::HaloBox halo{in_target_coordinates<D>(setup_.domain, m).box, {}};
        for (int a = 0; a < D; ++a) halo.shift[a] = m.image[a] * setup_.domain.axis[a].fixed_length();
        halo_boxes_[t].push_back(halo);
        halo_owners_[t].push_back(m.source);
        return t;
    };
    blocks_.plan(counted, seen);
    for (const Move& m : counted.local) counted_.local[add_owner(m)].push_back(m);
    for (const Move& m : seen.local)
        if (!is_block(m.source) && !is_block(m.target)) seen_.local[tiles_.place_of(m.target)].push_back(m);
    counted_.links = std::move(counted.links);
    seen_.links = std::move(seen.links);
    for (const balance::PeerMoves<Move>& link : counted_.links)
        for (const Move& m : link.incoming) add_owner(m);
    for (const balance::PeerMoves<Move>& link : seen_.links)
        for (const Move& m : link.incoming) remote_[tiles_.place_of(m.target)] = true;
    counts_.lay_out(std::span(std::as_const(counted_.links)), cells_of, cells_of);
}

template <int D>
std::int64_t Halo<D>::plan_bytes() const {
    const auto of = [](const auto& list) { return static_cast<std::int64_t>(list.capacity() * sizeof(list[0])); };
    std::int64_t n = of(halo_boxes_) + of(halo_owners_) + of(remote_) + blocks_.plan_bytes();
    for (const Around* around : {&counted_, &seen_}) {
        n += of(around->links) + of(around->local);
        for (const balance::PeerMoves<Move>& link : around->links) n += of(link.outgoing) + of(link.incoming);
        for (const std::vector<Move>& moves : around->local) n += of(moves);
    }
    for (std::size_t t = 0; t < halo_boxes_.size(); ++t) n += of(halo_boxes_[t]) + of(halo_owners_[t]);
    return n;
}

// The particles that have left each tile, and who owns their cells. Those of a zone stand with its first block.
template <int D>
std::vector<std::vector<typename Halo<D>::Emigrant>> Halo<D>::take_emigrants() {
    std::vector<std::vector<Emigrant>> emigrants(tiles_.size());
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) {
        tiles_[t].remove_emigrants(halo_boxes_[t], [&](const md::Particle<D>& p, int k) {
            emigrants[t].push_back({halo_owners_[t][k], p});
        });
    });
    for (int a = 0; a < tiles_.accelerators(); ++a) {
        // A zone does not tell which of its blocks a particle has left. All of them see the same owner there.
        std::vector<md::HaloBox> boxes;
        std::vector<balance::TileId> owners;
        const std::size_t first = tiles_.first_of_accelerator(a), end = tiles_.first_of_accelerator(a + 1);
        for (std::size_t t = first; t < end; ++t) {
            boxes.insert(boxes.end(), halo_boxes_[t].begin(), halo_boxes_[t].end());
            owners.insert(owners.end(), halo_owners_[t].begin(), halo_owners_[t].end());
        }
        for (md::Particle<D> p : tiles_.zone(a).take_emigrants()) {
            const int k = md::holder_of(p, boxes, setup_.domain.axis);
            for (int axis = 0; axis < D; ++axis) p.x[axis] -= boxes[k].shift[axis];
            emigrants[first].push_back({owners[k], p});
        }
    }
    return emigrants;
}

template <int D>
void Halo<D>::emigrate() {
    const std::vector<std::vector<Emigrant>> emigrants = take_emigrants();
    // The records to one rank, and the number of records from it. The links are those of the halo.
    struct Parcel {
        std::vector<Emigrant> sent;
        std::int64_t received = 0;
    };
    std::vector<Parcel> parcels(counted_.links.size());
    std::vector<balance::PeerMoves<Parcel*>> links;
    std::map<int, Parcel*> to_rank;
    for (std::size_t l = 0; l < parcels.size(); ++l) {
        const int rank = counted_.links[l].member;
        to_rank[rank] = &parcels[l];
        links.push_back({rank, {&parcels[l]}, {&parcels[l]}});
    }
    std::vector<std::vector<md::Particle<D>>> to_blocks(tiles_.size());
    const auto insert = [&](const Emigrant& e) {
        const std::size_t t = tiles_.place_of(e.target);
        if (t < tiles_.on_cpu()) tiles_[t].insert({&e.particle, 1});
        else to_blocks[t].push_back(e.particle);
    };
    for (const auto& of_tile : emigrants)
        for (const Emigrant& e : of_tile) {
            const int rank = tiles_.hosts().member_of(e.target.process);
            if (rank != tiles_.comm().rank()) to_rank.at(rank)->sent.push_back(e);
            else insert(e);
        }
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
    records.finish(balance::SerialLoop{},
                   [&](Parcel* p, const Emigrant* from) { std::for_each_n(from, p->received, insert); });
    for (std::size_t t = tiles_.on_cpu(); t < tiles_.size(); ++t) tiles_.insert(t, to_blocks[t]);
}

template <int D>
void Halo<D>::lay_slots() {
    blocks_.lay_slots();
    parallel_for(tiles_.on_cpu(), [&](std::size_t t) { tiles_[t].lay_slots(); });
}

template <int D>
void Halo<D>::copy_counts() {
    constexpr int up = D - 1;
    blocks_.take_counts();
    counts_.start(on_all_threads, [&](const Move& m, std::int32_t* to) {
        const md::Tile<D>& source = tiles_[tiles_.place_of(m.source)];
        md::for_each_column<D>(
            m.box, [&](const md::CellIndex& c) { to = std::copy_n(&source.count(c), m.box.extent(up), to); });
    });
    parallel_for(tiles_.size(), [&](std::size_t t) {
        for (const Move& m : counted_.local[t]) {
            const md::Tile<D>& source = tiles_[tiles_.place_of(m.source)];
            const balance::Box to = in_target_coordinates<D>(setup_.domain, m).box;
            md::for_each_column<D>(m.box, [&](const md::CellIndex& from) {
                md::CellIndex into = from;
                for (int a = 0; a < D; ++a) into[a] += to.lower[a] - m.box.lower[a];
                std::copy_n(&source.count(from), m.box.extent(up), &tiles_[t].count(into));
            });
        }
    });
    counts_.finish(on_all_threads, [&](const Move& m, const std::int32_t* from) {
        md::Tile<D>& target = tiles_[tiles_.place_of(m.target)];
        const balance::Box to = in_target_coordinates<D>(setup_.domain, m).box;
        md::for_each_column<D>(to, [&](const md::CellIndex& c) {
            std::copy_n(from, to.extent(up), &target.count(c));
            from += to.extent(up);
        });
    });
}

template <int D>
void Halo<D>::exchange_counts() {
    copy_counts();
    due_.assign(tiles_.size(), 0);
    positions_.lay_out(
        std::span(std::as_const(seen_.links)),
        [&](const Move& m) { return particles_in(tiles_[tiles_.place_of(m.source)], m.box); },
        [&](const Move& m) {
            const std::size_t t = tiles_.place_of(m.target);
            const std::size_t n = particles_in(tiles_[t], in_target_coordinates<D>(setup_.domain, m).box);
            due_[t] += n > 0;
            return n;
        });
}

template <int D>
void Halo<D>::gather_counts() {
    constexpr int up = D - 1;
    const auto add = [&](const Move& m, const std::int32_t* seen) {
        md::Tile<D>& owner = tiles_[tiles_.place_of(m.source)];
        md::for_each_column<D>(m.box, [&](const md::CellIndex& c) {
            std::int32_t* counts = &owner.count(c);
            for (int r = 0; r < m.box.extent(up); ++r) counts[r] += *seen++;
        });
    };
    const auto pack = [&](const Move& m, std::int32_t* to) {
        const md::Tile<D>& target = tiles_[tiles_.place_of(m.target)];
        const balance::Box box = in_target_coordinates<D>(setup_.domain, m).box;
        md::for_each_column<D>(box,
                               [&](const md::CellIndex& c) { to = std::copy_n(&target.count(c), box.extent(up), to); });
    };
    std::vector<balance::PeerMoves<Move>> back;
    for (const balance::PeerMoves<Move>& link : counted_.links)
        back.push_back({link.member, link.incoming, link.outgoing});
    balance::Transfer<Move, std::int32_t> counts(make_channel(setup_, tiles_.comm(), "counts_back", &traffic_));
    counts.lay_out(std::span(std::as_const(back)), cells_of, cells_of);
    counts.start(on_all_threads, pack);
    std::vector<std::int32_t> here;
    for (const std::vector<Move>& moves : counted_.local)
        for (const Move& m : moves) {
            here.resize(cells_of(m));
            pack(m, here.data());
            add(m, here.data());
        }
    counts.finish(balance::SerialLoop{}, add);
    copy_counts();
}

template <int D>
void Halo<D>::start() {
    missing_ = due_;
    positions_.start(on_all_threads, [&](const Move& m, md::Packed<D>* to) {
        if (is_block(m.source)) return blocks_.pack(m, to);
        const md::Tile<D>& source = tiles_[tiles_.place_of(m.source)];
        source.for_each_run(m.box,
                            [&](const auto& run) { to = std::copy_n(source.packed() + run.begin, run.size, to); });
    });
}

template <int D>
void Halo<D>::unpack(const Move& m, const md::Packed<D>* from) {
    if (is_block(m.target)) return blocks_.unpack(m, from);
    md::Tile<D>& target = tiles_[tiles_.place_of(m.target)];
    const TargetView<D> to = in_target_coordinates<D>(setup_.domain, m);
    target.for_each_run(to.box, [&](const auto& run) {
        copy_shifted(from, run.size, target.packed() + run.begin, to.shift);
        from += run.size;
    });
}

template <int D>
void Halo<D>::finish() {
    positions_.finish(on_all_threads, [&](const Move& m, const md::Packed<D>* from) { unpack(m, from); });
    missing_.assign(tiles_.size(), 0);
}

template <int D>
bool Halo<D>::finish_some(std::vector<std::size_t>& tiles) {
    return positions_.finish_some(
        on_all_threads, [&](const Move& m, const md::Packed<D>* from) { unpack(m, from); },
        [&](const Move& m) {
            const std::size_t t = tiles_.place_of(m.target);
            if (--missing_[t] == 0) tiles.push_back(t);
        });
}

template <int D>
void Halo<D>::fill_from_this_rank(std::size_t t) {
    md::Tile<D>& target = tiles_[t];
    for (const Move& m : seen_.local[t]) {
        const md::Tile<D>& source = tiles_[tiles_.place_of(m.source)];
        const TargetView<D> to = in_target_coordinates<D>(setup_.domain, m);
        const int height = m.box.extent(D - 1);
        md::for_each_column<D>(m.box, [&](const md::CellIndex& c) {
            md::CellIndex there = c;
            for (int a = 0; a < D; ++a) there[a] += to.box.lower[a] - m.box.lower[a];
            const auto from = source.run(c, height), into = target.run(there, height);
            copy_shifted(source.packed() + from.begin, from.size, target.packed() + into.begin, to.shift);
        });
    }
}

template class Halo<2>;
template class Halo<3>;

}  // namespace app
