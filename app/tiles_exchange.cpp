// SPDX-License-Identifier: MIT
// What tiles send each other along the plan, to other ranks by messages and to their neighbours here by copying: particles that
// change their tile, particle counts of cells, ghosts.
#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "app/parallel.hpp"
#include "app/tiles.hpp"

namespace app {
namespace {

constexpr int counts_tag = 1, ghosts_tag = 2, migration_tag = 3;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& v) { return std::as_bytes(std::span(v)); }
template <class T>
std::span<std::byte> writable_bytes_of(std::vector<T>& v) { return std::as_writable_bytes(std::span(v)); }

// Adds an image's shift to packed positions: each half on its own, both wrap.
std::uint64_t shifted(std::uint64_t packed, std::uint32_t dx, std::uint32_t dy) {
    return static_cast<std::uint32_t>(static_cast<std::uint32_t>(packed) + dx) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(static_cast<std::uint32_t>(packed >> 32) + dy)) << 32;
}

void copy_shifted(const std::uint64_t* from, std::int64_t n, std::uint64_t* to, std::uint32_t dx, std::uint32_t dy) {
    if (dx == 0 && dy == 0) std::copy_n(from, n, to);
    else std::transform(from, from + n, to, [=](std::uint64_t p) { return shifted(p, dx, dy); });
}

// A move as its target sees it.
struct Seen {
    balance::Box box;
    std::uint32_t dx, dy;
};
Seen seen_by_target(const balance::Move& m, const md::Domain& domain) {
    const balance::Grid grid = domain.grid();
    const auto packed = [&](int a) { return static_cast<std::uint32_t>((m.image[a] * domain.axis[a].fixed_length()) >> domain.packed_shift()); };
    return {balance::shifted(m.box, {m.image[0] * grid.cells[0], m.image[1] * grid.cells[1], 0}), packed(0), packed(1)};
}

struct MigrationRecord {
    balance::TileId target;
    md::Particle particle;
};

}  // namespace

void Tiles::make_plan() {
    balance::FramePlan plan = balance::frame_plan(decomposition_, comm_.rank(), setup_.frame);
    local_moves_.assign(tiles_.size(), {});
    frame_boxes_.assign(tiles_.size(), {});
    frame_owners_.assign(tiles_.size(), {});
    std::map<int, Peer> peers;
    remote_.assign(tiles_.size(), false);
    for (const balance::Move& m : plan.incoming) {
        const std::size_t t = local(m.target);
        const int rank = decomposition_.rank_of(m.source.process);
        if (rank == comm_.rank()) {
            local_moves_[t].push_back(m);
        } else {
            remote_[t] = true;
            peers[rank].incoming.push_back(m);
        }
        frame_boxes_[t].push_back({seen_by_target(m, setup_.domain).box,
                                   {m.image[0] * setup_.domain.axis[0].fixed_length(), m.image[1] * setup_.domain.axis[1].fixed_length()}});
        frame_owners_[t].push_back(m.source);
    }
    for (const balance::Move& m : plan.outgoing) peers[decomposition_.rank_of(m.target.process)].outgoing.push_back(m);
    peers_.clear();
    for (auto& [rank, peer] : peers) {
        peer.rank = rank;
        peers_.push_back(std::move(peer));
    }
    share_out();
}

void Tiles::migrate() {
    const Timed phase(timers_, Phase::migration);
    std::vector<std::vector<Leaver>> leavers(tiles_.size());
    parallel_for(tiles_.size(), [&](std::size_t t) {
        tiles_[t].remove_leavers(frame_boxes_[t], [&](const md::Particle& p, int k) { leavers[t].push_back({frame_owners_[t][k], p}); });
    });
    std::map<int, std::size_t> place;
    std::vector<int> ranks;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        place[peers_[i].rank] = i;
        ranks.push_back(peers_[i].rank);
    }
    std::vector<std::vector<MigrationRecord>> sent(peers_.size()), received(peers_.size());
    for (const auto& list : leavers)
        for (const Leaver& l : list) {
            const int rank = decomposition_.rank_of(l.target.process);
            if (rank == comm_.rank()) tiles_[local(l.target)].insert({&l.particle, 1});
            else sent[place.at(rank)].push_back({l.target, l.particle});
        }
    std::vector<std::int64_t> counts;
    for (const auto& s : sent) counts.push_back(static_cast<std::int64_t>(s.size()));
    counts = comm::swap_counts(comm_, ranks, counts);
    std::vector<comm::Outgoing> out;
    std::vector<comm::Incoming> in;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        received[i].resize(counts[i]);
        out.push_back({peers_[i].rank, bytes_of(sent[i])});
        in.push_back({peers_[i].rank, writable_bytes_of(received[i])});
    }
    exchange_.start(out, in, migration_tag);
    exchange_.finish();
    for (const auto& list : received)
        for (const MigrationRecord& r : list) tiles_[local(r.target)].insert({&r.particle, 1});
}

void Tiles::swap_counts() {
    std::vector<std::vector<std::int32_t>> sent(peers_.size()), received(peers_.size());
    std::vector<comm::Outgoing> out;
    std::vector<comm::Incoming> in;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        std::size_t cells = 0;
        for (const balance::Move& m : peers_[i].outgoing) {
            const md::Tile& source = tiles_[local(m.source)];
            for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x)
                for (int y = m.box.lower[1]; y < m.box.upper[1]; ++y) sent[i].push_back(source.count(x, y));
        }
        for (const balance::Move& m : peers_[i].incoming) cells += m.box.cells();
        received[i].resize(cells);
        out.push_back({peers_[i].rank, bytes_of(sent[i])});
        in.push_back({peers_[i].rank, writable_bytes_of(received[i])});
    }
    exchange_.start(out, in, counts_tag);
    exchange_.finish();
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        const std::int32_t* next = received[i].data();
        for (const balance::Move& m : peers_[i].incoming) {
            const balance::Box to = seen_by_target(m, setup_.domain).box;
            for (int x = to.lower[0]; x < to.upper[0]; ++x)
                for (int y = to.lower[1]; y < to.upper[1]; ++y) tiles_[local(m.target)].count(x, y) = *next++;
        }
        const auto particles = [](const std::vector<std::int32_t>& c) { std::size_t n = 0; for (std::int32_t k : c) n += k; return n; };
        peers_[i].sent.resize(particles(sent[i]));
        peers_[i].received.resize(particles(received[i]));
    }
    parallel_for(tiles_.size(), [&](std::size_t t) {
        for (const balance::Move& m : local_moves_[t]) {
            const md::Tile& source = tiles_[local(m.source)];
            const balance::Box to = seen_by_target(m, setup_.domain).box;
            for (int x = 0; x < to.extent(0); ++x)
                for (int y = 0; y < to.extent(1); ++y)
                    tiles_[t].count(to.lower[0] + x, to.lower[1] + y) = source.count(m.box.lower[0] + x, m.box.lower[1] + y);
        }
    });
}

void Tiles::start_ghosts() {
    std::vector<comm::Outgoing> out;
    std::vector<comm::Incoming> in;
    for (Peer& peer : peers_) {
        std::uint64_t* next = peer.sent.data();
        for (const balance::Move& m : peer.outgoing) {
            const md::Tile& source = tiles_[local(m.source)];
            for (int x = m.box.lower[0]; x < m.box.upper[0]; ++x) {
                const md::Tile::Run run = source.run(x, m.box.lower[1], m.box.upper[1]);
                next = std::copy_n(source.packed(current_) + run.begin, run.size, next);
            }
        }
        out.push_back({peer.rank, bytes_of(peer.sent)});
        in.push_back({peer.rank, writable_bytes_of(peer.received)});
    }
    ghost_exchange_.start(out, in, ghosts_tag);
}

void Tiles::finish_ghosts() {
    ghost_exchange_.finish();
    for (Peer& peer : peers_) {
        const std::uint64_t* next = peer.received.data();
        for (const balance::Move& m : peer.incoming) {
            const Seen to = seen_by_target(m, setup_.domain);
            md::Tile& target = tiles_[local(m.target)];
            for (int x = to.box.lower[0]; x < to.box.upper[0]; ++x) {
                const md::Tile::Run run = target.run(x, to.box.lower[1], to.box.upper[1]);
                copy_shifted(next, run.size, target.packed(current_) + run.begin, to.dx, to.dy);
                next += run.size;
            }
        }
    }
}

void Tiles::fill_from_local(std::size_t t) {
    md::Tile& target = tiles_[t];
    for (const balance::Move& m : local_moves_[t]) {
        const md::Tile& source = tiles_[local(m.source)];
        const Seen to = seen_by_target(m, setup_.domain);
        for (int x = 0; x < to.box.extent(0); ++x) {
            const md::Tile::Run from = source.run(m.box.lower[0] + x, m.box.lower[1], m.box.upper[1]);
            const md::Tile::Run into = target.run(to.box.lower[0] + x, to.box.lower[1], to.box.upper[1]);
            copy_shifted(source.packed(current_) + from.begin, from.size, target.packed(current_) + into.begin, to.dx, to.dy);
        }
    }
}

}  // namespace app
