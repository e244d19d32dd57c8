// SPDX-License-Identifier: MIT
#include "balance/model/block_parts.hpp"

#include <algorithm>
#include <tuple>

namespace balance {
namespace {

// Sums over a part of a box, whose cells' counts begin at `counts`.
std::array<std::int64_t, features - 1> sums_over(const Box& part, const Box& box, const CellCounts* counts) {
    std::int64_t particles = 0, near = 0, farther = 0;
    const bool flat = box.extent(2) == 1;  // then cells along y lie side by side
    const int cells = part.extent(flat ? 1 : 2), end_y = flat ? part.lower[1] + 1 : part.upper[1];
    for (int x = part.lower[0]; x < part.upper[0]; ++x)
        for (int y = part.lower[1]; y < end_y; ++y) {
            const CellCounts* first = counts + place_in(box, x, y, part.lower[2]);
            for (const CellCounts* c = first; c != first + cells; ++c) {
                const std::int64_t n = c->n;
                particles += n, near += n * c->n3, farther += n * c->n5;
            }
        }
    return {particles, near, farther};
}

}  // namespace

Features BlockPart::features_of_all() const {
    Features f{static_cast<double>(cells)};
    for (std::size_t i = 0; i < sums.size(); ++i) f[i + 1] = static_cast<double>(sums[i]);
    return f;
}

void BlockPart::add(const BlockPart& other) {
    cells += other.cells;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
}

std::vector<BlockPart> parts_of(const Piece& piece, const Box& home, std::span<const CellCounts> counts, int side,
                                int layers) {
    std::vector<BlockPart> parts;
    for (const Box& box : piece.boxes) {
        std::array<int, 3> first, end;  // blocks that the box meets
        for (int a = 0; a < 3; ++a) first[a] = box.lower[a] / side, end[a] = (box.upper[a] + side - 1) / side;
        for (int x = first[0]; x < end[0]; ++x)
            for (int y = first[1]; y < end[1]; ++y)
                for (int z = first[2]; z < end[2]; ++z) {
                    const Box part = intersection(
                        box, {{x * side, y * side, z * side}, {(x + 1) * side, (y + 1) * side, (z + 1) * side}});
                    parts.push_back({static_cast<std::int32_t>(piece.process), x, y * layers + z,
                                     static_cast<std::int32_t>(part.cells()), sums_over(part, home, counts.data())});
                }
    }
    return merged(std::move(parts));
}

std::vector<BlockPart> merged(std::vector<BlockPart> parts) {
    const auto key = [](const BlockPart& p) { return std::tuple(p.process, p.x, p.y); };
    std::ranges::sort(parts, {}, key);
    std::size_t kept = 0;
    for (const BlockPart& part : parts) {
        if (kept > 0 && key(parts[kept - 1]) == key(part)) parts[kept - 1].add(part);
        else parts[kept++] = part;
    }
    parts.resize(kept);
    return parts;
}

PackedParts::PackedParts(std::span<const BlockPart> parts) {
    const auto begins = [&](std::size_t i) {  // whether it is not one more of what the one before is
        if (i == 0) return true;
        const BlockPart &a = parts[i - 1], &b = parts[i];
        return a.process != b.process || a.x != b.x || a.y + 1 != b.y || a.cells != b.cells || a.sums != b.sums;
    };
    std::size_t kept = 0, runs = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (begins(i)) ++kept;
        else if (begins(i - 1)) ++runs;
    parts_.reserve(kept);
    runs_.reserve(runs);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (begins(i)) {
            parts_.push_back(parts[i]);
            continue;
        }
        if (begins(i - 1)) runs_.push_back({static_cast<std::uint32_t>(parts_.size() - 1), 1});
        ++runs_.back().length;
    }
}

std::vector<BlockPart> PackedParts::unpacked() const {
    std::size_t size = parts_.size();
    for (const Run& run : runs_) size += run.length - 1;
    std::vector<BlockPart> parts;
    parts.reserve(size);
    auto run = runs_.begin();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::uint32_t length = run != runs_.end() && run->place == i ? (run++)->length : 1;
        BlockPart part = parts_[i];
        for (std::uint32_t k = 0; k < length; ++k, ++part.y) parts.push_back(part);
    }
    return parts;
}

std::int64_t PackedParts::bytes() const {
    return static_cast<std::int64_t>(parts_.capacity() * sizeof(BlockPart) + runs_.capacity() * sizeof(Run));
}

std::vector<std::int64_t> feature_sums(std::span<const BlockPart> parts, const Range& processes) {
    std::vector<std::int64_t> sums(processes.size() * features, 0);
    for (const BlockPart& p : parts) {
        std::int64_t* of_process = &sums[(p.process - processes.begin) * features];
        of_process[0] += p.cells;
        for (std::size_t i = 0; i < p.sums.size(); ++i) of_process[i + 1] += p.sums[i];
    }
    return sums;
}

}  // namespace balance
