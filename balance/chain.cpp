// SPDX-License-Identifier: MIT
#include "balance/chain.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace balance {
namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

// Sums over items [i, j) of this member are prefix[j] - prefix[i].
struct Piece {
    std::vector<std::int64_t> load, size;
    std::int64_t first = 0, before = 0;  // items and load of the members before

    std::int64_t count() const { return static_cast<std::int64_t>(load.size()) - 1; }

    // Largest j such that items [i, j) fit beside `has` of load and size.
    std::int64_t furthest(std::int64_t i, std::int64_t load_has, std::int64_t size_has, std::int64_t bottleneck, std::int64_t limit) const {
        std::int64_t j = fitting(load, i, bottleneck - load_has);
        if (!size.empty() && limit > 0) j = std::min(j, fitting(size, i, limit - size_has));
        return j;
    }
    // Smallest i such that items [i, j) fit, from the right.
    std::int64_t nearest(std::int64_t j, std::int64_t load_has, std::int64_t size_has, std::int64_t bottleneck, std::int64_t limit) const {
        std::int64_t i = fitting_back(load, j, bottleneck - load_has);
        if (!size.empty() && limit > 0) i = std::max(i, fitting_back(size, j, limit - size_has));
        return i;
    }
    std::int64_t size_of(std::int64_t i, std::int64_t j) const { return size.empty() ? 0 : size[j] - size[i]; }

private:
    static std::int64_t fitting(const std::vector<std::int64_t>& prefix, std::int64_t i, std::int64_t room) {
        if (room < 0) return i;
        return std::upper_bound(prefix.begin() + i, prefix.end(), prefix[i] + room) - prefix.begin() - 1;
    }
    static std::int64_t fitting_back(const std::vector<std::int64_t>& prefix, std::int64_t j, std::int64_t room) {
        if (room < 0) return j;
        return std::lower_bound(prefix.begin(), prefix.begin() + j, prefix[j] - room) - prefix.begin();
    }
};

std::vector<std::int64_t> prefix_of(const std::vector<std::int64_t>& v) {
    std::vector<std::int64_t> p(v.size() + 1, 0);
    for (std::size_t i = 0; i < v.size(); ++i) p[i + 1] = p[i] + v[i];
    return p;
}

// One greedy sweep with a bottleneck: does it fit, and what is the next bottleneck worth trying?
struct Probe {
    bool fits;
    std::int64_t largest;    // load of the fullest run: as good as the bottleneck that was tried
    std::int64_t next;       // smallest bottleneck that would have moved a cut
};
Probe probe(const Team& team, const Piece& mine, std::int64_t parts, std::int64_t limit, std::int64_t bottleneck) {
    enum { part, load, size, largest, next, failed, fields };
    std::vector<std::int64_t> carry(fields, 0);
    carry[next] = none;
    team.relay(true, carry, [&](std::span<std::int64_t> c) {
        for (std::int64_t i = 0; i < mine.count() && !c[failed];) {
            const std::int64_t j = mine.furthest(i, c[load], c[size], bottleneck, limit);
            c[load] += mine.load[j] - mine.load[i];
            c[size] += mine.size_of(i, j);
            c[largest] = std::max(c[largest], c[load]);
            if (j == mine.count()) break;
            if (mine.furthest(j, c[load], c[size], none / 2, limit) > j) c[next] = std::min(c[next], c[load] + mine.load[j + 1] - mine.load[j]);
            const bool stuck = i == j && c[load] == 0 && c[size] == 0;  // one item alone is too much
            c[failed] = stuck || ++c[part] == parts;
            c[load] = c[size] = 0;
            i = j;
        }
    });
    return {carry[failed] == 0, carry[largest], carry[next]};
}

// Load of the fullest run of the best cut. total: of all items.
std::int64_t smallest_bottleneck(const Team& team, const Piece& mine, std::int64_t parts, std::int64_t limit,
                                 std::int64_t total) {
    // Between `low` (can't do with less) and `high` (known to do): the sweeps name the values worth trying.
    std::int64_t low = (total + parts - 1) / parts;
    const Probe best = probe(team, mine, parts, limit, total);
    if (!best.fits) {  // the sizes taken as loads: their bottleneck is the smallest limit
        std::vector<std::int64_t> size{mine.size.back()};
        team.sum(size);
        throw Infeasible(parts, limit, smallest_bottleneck(team, Piece{mine.size, {}}, parts, 0, size[0]));
    }
    std::int64_t high = best.largest;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        const Probe p = probe(team, mine, parts, limit, middle);
        if (p.fits) high = p.largest > low ? p.largest : low;
        else low = std::max(middle + 1, p.next == none ? high : std::min(p.next, high));
    }
    return high;
}

}  // namespace

Infeasible::Infeasible(std::int64_t parts_wanted, std::int64_t limit_wanted, std::int64_t smallest_limit)
    : std::runtime_error("no cut of the chain keeps " + std::to_string(parts_wanted) + " parts within " +
                         std::to_string(limit_wanted) + "; the smallest limit that works is " +
                         std::to_string(smallest_limit)),
      parts(parts_wanted), limit(limit_wanted), smallest(smallest_limit) {}

std::vector<std::int64_t> chain_partition(const Team& team, const ChainItems& items, std::int64_t parts, std::int64_t limit) {
    Piece mine{prefix_of(items.load), items.size.empty() ? std::vector<std::int64_t>{} : prefix_of(items.size)};
    std::vector<std::int64_t> count(team.size() + 1, 0), load(team.size() + 1, 0);
    count[team.rank() + 1] = mine.count();
    load[team.rank() + 1] = mine.load.back();
    team.sum(count);
    team.sum(load);
    for (int r = 0; r < team.size(); ++r) count[r + 1] += count[r], load[r + 1] += load[r];
    mine.first = count[team.rank()];
    mine.before = load[team.rank()];
    const std::int64_t items_in_all = count.back(), total = load.back();
    const std::int64_t high = smallest_bottleneck(team, mine, parts, limit, total);

    // Earliest position of each cut such that what follows still fits.
    std::vector<std::int64_t> earliest(parts + 1, 0);
    {
        enum { part, load_, size_, fields };
        std::vector<std::int64_t> carry{parts - 1, 0, 0};
        team.relay(false, carry, [&](std::span<std::int64_t> c) {
            for (std::int64_t j = mine.count(); j > 0 && c[part] >= 0;) {
                const std::int64_t i = mine.nearest(j, c[load_], c[size_], high, limit);
                c[load_] += mine.load[j] - mine.load[i];
                c[size_] += mine.size_of(i, j);
                if (i == 0) break;
                earliest[c[part]--] = mine.first + i;
                c[load_] = c[size_] = 0;
                j = i;
            }
        });
        team.sum(earliest);
    }
    // Final cuts: as near to even shares as that and the bottleneck allow.
    std::vector<std::int64_t> cuts(parts + 1, 0);
    std::vector<std::int64_t> carry{1, 0, 0};  // next cut, load and size of the run before it
    team.relay(true, carry, [&](std::span<std::int64_t> c) {
        std::int64_t i = 0;
        while (c[0] < parts) {
            const std::int64_t furthest = mine.furthest(i, c[1], c[2], high, limit);
            // Items whose middle lies below the ideal share belong before the cut.
            const __int128 ideal = static_cast<__int128>(total) * c[0] / parts;
            std::int64_t wanted = i, top = mine.count();
            while (wanted < top) {
                const std::int64_t m = (wanted + top) / 2;
                if (static_cast<__int128>(mine.load[m]) + mine.load[m + 1] + 2 * static_cast<__int128>(mine.before) < 2 * ideal) wanted = m + 1;
                else top = m;
            }
            const std::int64_t at = std::min(std::max(wanted, earliest[c[0]] - mine.first), furthest);
            if (at >= mine.count()) {  // further on
                c[1] += mine.load[mine.count()] - mine.load[i];
                c[2] += mine.size_of(i, mine.count());
                break;
            }
            cuts[c[0]++] = mine.first + at;
            c[1] = c[2] = 0;
            i = at;
        }
    });
    for (std::int64_t p = carry[0]; p <= parts; ++p) cuts[p] = team.rank() == 0 ? items_in_all : 0;
    team.sum(cuts);
    return cuts;
}

}  // namespace balance
