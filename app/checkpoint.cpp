// SPDX-License-Identifier: MIT
#include "app/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "app/snapshot.hpp"
#include "comm/clock.hpp"
#include "comm/durable.hpp"
#include "comm/file.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

constexpr int schema = 1;
constexpr std::size_t front_bytes = 512;  // the smallest user block of HDF5
constexpr int state_columns = 4;          // x, y, vx, vy

struct Front {
    std::int64_t step = 0, particles = 0, bytes = 0;
    std::uint64_t state_hash = 0, body = 0;
};

// The whole 512 bytes; a front is valid only if it is exactly what this makes of its own numbers.
std::string text_of(const Front& f) {
    std::string text = fmt::format("steelyard checkpoint\nschema {}\nstep {}\nparticles {}\nstate_hash {:016x}\nbytes {}\nbody {:016x}\n",
                                   schema, f.step, f.particles, f.state_hash, f.bytes, f.body);
    text += fmt::format("front {:016x}\n", comm::text_digest(text));
    text.resize(front_bytes, '\n');
    return text;
}

std::optional<Front> parse_front(const std::string& text) {
    Front f;
    const auto number = [&](std::string_view key, auto& value, int base) {
        const std::size_t at = text.find("\n" + std::string(key) + " ");
        if (at == std::string::npos) return false;
        const char* begin = text.data() + at + key.size() + 2;
        return std::from_chars(begin, text.data() + text.size(), value, base).ec == std::errc();
    };
    if (!number("step", f.step, 10) || !number("particles", f.particles, 10) || !number("state_hash", f.state_hash, 16) ||
        !number("bytes", f.bytes, 10) || !number("body", f.body, 16) || text_of(f) != text)
        return std::nullopt;
    return f;
}


// Rank 0 looks at the file, all hear the verdict.
Front verified_front(const std::string& path, const comm::Communicator& comm) {
    std::string complaint, front;
    if (comm.rank() == 0) {
        const std::int64_t size = comm::file_size(path);
        front = comm::read_front(path, front_bytes);
        const std::optional<Front> f = parse_front(front);
        if (size < 0) complaint = "there is no such file; give the path of a checkpoint";
        else if (!f) complaint = "is not an undamaged checkpoint of this version; use another one";
        else if (f->bytes != size) complaint = fmt::format("is damaged: {} bytes instead of {}; use another checkpoint", size, f->bytes);
    }
    comm.broadcast(complaint);
    if (!complaint.empty()) throw InputError(path + ": " + complaint);
    comm.broadcast(front);
    const Front f = *parse_front(front);
    if (comm::file_digest(path, front_bytes, f.bytes, comm) != f.body) throw InputError(path + ": is damaged: its bytes don't match its digest; use another checkpoint");
    return f;
}

// This rank's share of n rows.
balance::Range share(std::int64_t n, const comm::Communicator& comm) {
    return {n * comm.rank() / comm.size(), n * (comm.rank() + 1) / comm.size()};
}

// Calls use(particles) for this rank's share of the file, a piece at a time, the same number of pieces on all ranks.
void for_each_piece(comm::FileReader& file, std::int64_t particles, const comm::Communicator& comm, const std::function<void(std::vector<md::Particle>)>& use) {
    constexpr std::int64_t piece = 1 << 15;
    const balance::Range mine = share(particles, comm);
    const std::int64_t pieces = (particles / comm.size() + piece) / piece;
    for (std::int64_t k = 0; k < pieces; ++k) {
        const std::int64_t begin = std::min(mine.end, mine.begin + k * piece), n = std::min(mine.end, begin + piece) - begin;
        const std::vector<std::int64_t> id = file.rows<std::int64_t>("/exact/id", begin, n);
        const std::vector<std::int64_t> state = file.rows<std::int64_t>("/exact/state", begin, n, state_columns);
        std::vector<md::Particle> list;
        list.reserve(n);
        for (std::int64_t i = 0; i < n; ++i) list.push_back({id[i], state[4 * i], state[4 * i + 1], state[4 * i + 2], state[4 * i + 3]});
        use(std::move(list));
    }
}

std::uint64_t hash_in_file(const std::string& path, std::int64_t particles, const comm::Communicator& comm) {
    comm::FileReader file(path, comm);
    std::uint64_t mine = 0;
    for_each_piece(file, particles, comm, [&](std::vector<md::Particle> list) { for (const md::Particle& p : list) mine += md::particle_hash(p); });
    std::array<md::Int128, 1> sum{static_cast<md::Int128>(mine)};
    comm.sum(sum);
    return static_cast<std::uint64_t>(sum[0]);
}

std::vector<std::pair<std::int64_t, std::string>> checkpoints_in(const std::string& directory) {
    std::vector<std::pair<std::int64_t, std::string>> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = 0;
        int end = 0;
        if (std::sscanf(name.c_str(), "checkpoint_%ld.h5%n", &step, &end) == 1 && end == static_cast<int>(name.size())) found.emplace_back(step, entry.path().string());
    }
    std::sort(found.rbegin(), found.rend());
    return found;
}

constexpr int box_columns = 4;

// Whatever the models have learnt, and who owns what.
void write_balance(comm::FileWriter& file, const Rebalance& rebalance) {
    file.dataset("/balance/step", std::span<const std::int64_t>(std::array{rebalance.last_step()}));
    for (const Balanced& b : rebalance.models()) {
        const std::string path = "/balance/" + b.name;
        std::vector<std::int64_t> boxes, splits;
        for (const balance::Box& box : b.partition.boxes) boxes.insert(boxes.end(), {box.lower[0], box.lower[1], box.upper[0], box.upper[1]});
        for (const balance::Split& s : b.splits) splits.insert(splits.end(), {s.axis, s.left});
        const std::vector<double> memory = b.model->memory();
        file.dataset(path + "/boxes", std::span<const std::int64_t>(boxes));
        file.dataset(path + "/first", std::span<const std::int64_t>(b.partition.first));
        file.dataset(path + "/splits", std::span<const std::int64_t>(splits));
        file.dataset(path + "/memory", std::span<const double>(memory));
        file.dataset(path + "/record", std::span<const double>(std::bit_cast<std::array<double, 6>>(b.record)));
        file.rows(path + "/state", std::span<const double>(b.state));
    }
}

void write_body(const std::string& path, const CheckpointInfo& info, const Tiles& tiles, const Rebalance& rebalance, const comm::Communicator& comm) {
    comm::FileWriter file(path, comm, front_bytes);
    write_particles(file, info.step, info.clock.at(info.step), tiles, comm, false);
    const std::string deck = to_yaml(info.deck);
    file.dataset("/exact/deck", std::span(reinterpret_cast<const std::uint8_t*>(deck.data()), deck.size()));
    file.dataset("/exact/energies", std::span<const double>(std::array{info.energy_first, info.largest_kinetic}));
    file.dataset("/exact/clock", std::span<const double>(std::array{static_cast<double>(info.clock.step), info.clock.time, info.clock.dt}));
    if (rebalance.on()) write_balance(file, rebalance);
    file.close();
}

}  // namespace

CheckpointCost write_checkpoint(const std::string& directory, const CheckpointInfo& info, const Tiles& tiles, const Rebalance& rebalance, const comm::Communicator& comm) {
    const std::string name = fmt::format("{}/checkpoint_{}.h5", directory, info.step), unfinished = name + ".tmp";
    CheckpointCost cost{.count = 1};
    double start = comm::now();
    const auto lap = [&](double& seconds) { seconds = comm::now() - start, start += seconds; };
    std::array<std::int64_t, 1> particles{tiles.particles()};
    comm.sum(std::span<std::int64_t>(particles));
    std::string lack;
    if (comm.rank() == 0) lack = comm::lack_of_space(directory, particles[0] * 100 + (1 << 17) + rebalance.bytes() * comm.size() * 2);
    comm.broadcast(lack);
    if (!lack.empty()) throw OutputError(fmt::format("{}: a checkpoint {}; free some space or choose another --out", name, lack));

    try {
        write_body(unfinished, info, tiles, rebalance, comm);
    } catch (const comm::FileError& e) {
        throw OutputError(e.what());
    }
    lap(cost.write_seconds);
    Front front{info.step, particles[0], 0, tiles.state_hash(), 0};
    std::string size;
    if (comm.rank() == 0) size = std::to_string(comm::file_size(unfinished));
    comm.broadcast(size);
    front.bytes = cost.bytes = std::stoll(size);
    front.body = comm::file_digest(unfinished, front_bytes, front.bytes, comm);
    bool good = comm.rank() != 0 || comm::write_front(unfinished, text_of(front));
    if (!comm.all_agree(good)) throw OutputError(name + ": cannot write it; check the disk");
    // The digest was taken of the file itself; what is left to compare is its front, and the particles with those in memory.
    try {
        good = comm.rank() != 0 || comm::read_front(unfinished, front_bytes) == text_of(front);
        good = comm.all_agree(good) && hash_in_file(unfinished, particles[0], comm) == front.state_hash;
    } catch (const std::runtime_error&) {
        good = false;
    }
    if (!comm.all_agree(good)) throw OutputError(name + ": what was written does not read back the same; check the disk and memory");
    lap(cost.verify_seconds);
    if (comm.rank() == 0) {
        good = comm::sync_and_rename(unfinished, name);
        const auto all = checkpoints_in(directory);
        for (std::size_t i = static_cast<std::size_t>(info.deck.checkpoint.keep); good && i < all.size(); ++i) std::remove(all[i].second.c_str());
    }
    if (!comm.all_agree(good)) throw OutputError(name + ": cannot be flushed to the disk or renamed; check the disk");
    lap(cost.remove_seconds);
    return cost;
}

CheckpointInfo read_checkpoint(const std::string& path, const comm::Communicator& comm) {
    const Front front = verified_front(path, comm);
    CheckpointInfo info;
    info.path = path;
    info.step = front.step;
    info.particles = front.particles;
    info.state_hash = front.state_hash;
    try {
        comm::FileReader file(path, comm);
        if (file.row_count<std::int64_t>("/exact/id") != front.particles || file.row_count<std::int64_t>("/exact/state", state_columns) != front.particles)
            throw InputError(path + ": holds another number of particles than it says; use another checkpoint");
        const std::int64_t length = file.row_count<std::uint8_t>("/exact/deck");
        const std::vector<std::uint8_t> text = file.rows<std::uint8_t>("/exact/deck", 0, length);
        const std::vector<double> energies = file.rows<double>("/exact/energies", 0, 2);
        info.energy_first = energies[0];
        info.largest_kinetic = energies[1];
        const std::vector<double> clock = file.rows<double>("/exact/clock", 0, 3);
        info.clock = {static_cast<std::int64_t>(clock[0]), clock[1], clock[2]};
        info.deck = parse_deck(std::string(text.begin(), text.end()), path);
    } catch (const comm::FileError& e) {
        throw InputError(e.what());
    } catch (const DeckError& e) {
        throw InputError(path + ": its deck is not of this version: " + e.what());
    }
    return info;
}

void load_particles(const CheckpointInfo& info, Tiles& tiles, const comm::Communicator& comm) {
    try {
        comm::FileReader file(info.path, comm);
        for_each_piece(file, info.particles, comm, [&](std::vector<md::Particle> list) { tiles.adopt(list); });
    } catch (const comm::FileError& e) {
        throw InputError(e.what());
    }
    if (tiles.state_hash() != info.state_hash) throw InputError(info.path + ": its particles don't match its state hash; use another checkpoint");
}

void load_balance(const CheckpointInfo& info, Rebalance& rebalance, const comm::Communicator& comm) {
    if (!rebalance.on()) return;
    try {
        comm::FileReader file(info.path, comm);
        if (!file.has("/balance/step")) return;
        const auto all = [&]<class T>(T, const std::string& path) { return file.rows<T>(path, 0, file.row_count<T>(path)); };
        for (Balanced& b : rebalance.models()) {
            const std::string path = "/balance/" + b.name;
            if (!file.has(path + "/boxes")) continue;
            const std::vector<std::int64_t> first = all(std::int64_t{}, path + "/first"), boxes = all(std::int64_t{}, path + "/boxes"), splits = all(std::int64_t{}, path + "/splits");
            if (static_cast<std::int64_t>(first.size()) != b.partition.processes() + 1) continue;
            b.partition.first = first;
            b.partition.boxes.clear();
            for (std::size_t i = 0; i < boxes.size(); i += box_columns)
                b.partition.boxes.push_back({{static_cast<int>(boxes[i]), static_cast<int>(boxes[i + 1]), 0}, {static_cast<int>(boxes[i + 2]), static_cast<int>(boxes[i + 3]), 1}});
            b.splits.clear();
            for (std::size_t i = 0; i < splits.size(); i += 2) b.splits.push_back({static_cast<std::int32_t>(splits[i]), static_cast<std::int32_t>(splits[i + 1])});
            b.model->set_memory(all(double{}, path + "/memory"));
            const std::vector<double> record = all(double{}, path + "/record");
            b.record = {record.at(0), record.at(1), record.at(2), record.at(3), record.at(4), record.at(5)};
            const std::int64_t mine = rebalance.slab_cells();
            b.state = file.rows<double>(path + "/state", comm.exclusive_sum(mine), mine);
            if (b.name == rebalance.models().front().name) rebalance.set_last_step(all(std::int64_t{}, "/balance/step")[0]);
        }
    } catch (const comm::FileError& e) {
        throw InputError(e.what());
    }
}

std::vector<std::string> all_checkpoints(const std::string& directory) {
    std::vector<std::string> paths;
    for (const auto& [step, path] : checkpoints_in(directory)) paths.push_back(path);
    return paths;
}

std::optional<CheckpointInfo> newest_checkpoint(const std::string& directory, const comm::Communicator& comm) {
    std::string names;
    if (comm.rank() == 0)
        for (const std::string& path : all_checkpoints(directory)) names += path + "\n";
    comm.broadcast(names);
    for (std::size_t begin = 0; begin < names.size();) {
        const std::size_t end = names.find('\n', begin);
        const std::string path = names.substr(begin, end - begin);
        begin = end + 1;
        try {
            return read_checkpoint(path, comm);
        } catch (const InputError& e) {
            if (comm.rank() == 0) fmt::print(stderr, "steelyard: warning: {}\n", e.what());
        }
    }
    return std::nullopt;
}

void require_same_system(const Deck& deck, const CheckpointInfo& info) {
    const auto same = [&](bool equal, const std::string& key) {
        if (!equal) throw InputError(fmt::format("{}: {} differs from the deck's; a restart keeps system and grid", info.path, key));
    };
    const Deck::System &a = deck.system, &b = info.deck.system;
    same(a.box == b.box, "system.box");
    same(a.boundary == b.boundary, "system.boundary");
    same(a.seed == b.seed, "system.seed");
    const md::PotentialSpec &p = a.potential, &q = b.potential;
    same(p.kind == q.kind, "system.potential.kind");
    same(p.epsilon == q.epsilon, "system.potential.epsilon");
    same(p.sigma == q.sigma, "system.potential.sigma");
    same(p.cutoff == q.cutoff, "system.potential.cutoff");
    same(p.softening == q.softening, "system.potential.softening");
    same(p.shift == q.shift, "system.potential.shift");
    same(a.slabs.size() == b.slabs.size(), "system.slabs");
    for (std::size_t i = 0; i < a.slabs.size(); ++i) {
        const md::Slab &s = a.slabs[i], &t = b.slabs[i];
        const std::string key = fmt::format("system.slabs.{}.", i);
        same(s.lower == t.lower, key + "lower");
        same(s.upper == t.upper, key + "upper");
        same(s.cells == t.cells, key + "cells");
        same(s.density == t.density, key + "density");
        same(s.temperature == t.temperature, key + "temperature");
        same(s.velocity == t.velocity, key + "velocity");
    }
    same(deck.grid.cell == info.deck.grid.cell, "grid.cell");
    same(deck.grid.skin == info.deck.grid.skin, "grid.skin");
    same(!deck.grid.tile || deck.grid.tile == info.deck.grid.tile, "grid.tile");  // auto follows the threads, it may come to something else
}

}  // namespace app
