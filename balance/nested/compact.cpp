// SPDX-License-Identifier: MIT
// Compact parts need few ghost cells. Recursive bisection with jogs makes them, but it rounds to half a cell at each of
// its cuts. So processes that are too slow then give single cells to their neighbours, or exchange cells with them.
// Last, the parts are numbered so that few cells move. The kind `diffusion` begins with the partition in use instead,
// and moves load along the borders first.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "balance/grid/for_each.hpp"
#include "balance/nested/split.hpp"
#include "balance/partition/decomposition.hpp"
#include "balance/partition/partition.hpp"

namespace balance {
namespace {

// A cell that may go to another part. Its cost is the number of its neighbours in its part, less the number of those in
// the other part. Kernighan & Lin (1970) call the negative of it the gain.
struct Candidate {
    int cost;
    std::int64_t cell;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

// The cells on both sides of the border between a part and another one.
struct PartBorder {
    std::vector<Candidate> given;
    std::vector<std::int64_t> taken;
};

// A cell that a part gives to another, and one that it takes in exchange; -1: none.
struct CellExchange {
    std::int64_t given = -1, taken = -1;
    std::int32_t other = -1;
    double slowest = 0;  // the larger of both parts' times afterwards; 1: that of a mean part
    int cost = 0;
};

// The load that a part gives to each of its neighbours.
using Flows = std::map<std::int32_t, double>;

double sum_of(const std::vector<Flows>& flows) {
    double sum = 0;
    for (const Flows& of_part : flows)
        for (const auto& [other, flow] : of_part) sum += flow;
    return sum;
}

// Levels of the parts. Their differences, times the lengths of borders, are flows that take away each part's excess.
// Hu, Blake & Emerson (1998), by conjugate gradients.
std::vector<double> levels(const std::vector<Flows>& lengths, std::vector<double> excess) {
    const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    constexpr int most = 2000;
    constexpr double enough = 1e-12;
    std::vector<double> level(excess.size(), 0), direction = excess, change(excess.size());
    double left = product(excess, excess);
    const double wanted = left * enough;
    for (int n = 0; n < most && left > wanted; ++n) {
        for (std::size_t p = 0; p < change.size(); ++p) {
            change[p] = 0;
            for (const auto& [q, length] : lengths[p]) change[p] += length * (direction[p] - direction[q]);
        }
        const double curvature = product(direction, change);
        if (curvature <= 0) break;  // loads are none, or all parts are one
        for (std::size_t p = 0; p < change.size(); ++p) {
            level[p] += left / curvature * direction[p];
            excess[p] -= left / curvature * change[p];
        }
        const double before = std::exchange(left, product(excess, excess));
        for (std::size_t p = 0; p < change.size(); ++p) direction[p] = excess[p] + left / before * direction[p];
    }
    return level;
}

// Parts of a grid and what is known of them. Cells are numbered by x, then y, then z.
class CompactParts {
public:
    CompactParts(const Grid& grid, std::span<const std::int64_t> load, std::span<const PartNeed> needs)
        : grid_(grid), load_(load), owner_(load.size()) {
        double all = 0, speed = 0;
        std::int64_t heaviest = 0;
        for (const std::int64_t l : load) all += static_cast<double>(l), heaviest = std::max(heaviest, l);
        for (const PartNeed& n : needs) speed += n.speed;
        for (const PartNeed& n : needs) even_.push_back(all > 0 ? all * (n.speed / speed) : 1);
        // A tenth of the heaviest cell: less costs many ghost cells, and more costs balance.
        const double mean = all / static_cast<double>(needs.size());
        slowest_ = 1.0005 + (all > 0 ? static_cast<double>(heaviest) / mean / 10 : 0);
    }

    // Begins with parts of a recursive bisection.
    void bisect(std::span<const PartNeed> needs) {
        std::vector<Region> regions;
        for (SplitPart& part : split_region({grid_.box()}, LoadsByCell(grid_.box(), load_), needs, 0))
            regions.push_back(std::move(part.region));
        begin(std::move(regions));
    }

    // Begins with the parts before. If one is too slow, moves load between neighbours. Returns false if there is
    // another number of parts, one has no cells, or so much load would have to move that new parts are better.
    bool diffuse(const Partition& before) {
        constexpr double most = 0.1;  // of all load; beyond it compact parts move as few cells
        if (before.processes() != std::ssize(even_)) return false;
        std::vector<Region> regions;
        for (std::int64_t p = 0; p < before.processes(); ++p)
            regions.emplace_back(before.boxes.begin() + before.first[p], before.boxes.begin() + before.first[p + 1]);
        if (std::ranges::any_of(regions, &Region::empty)) return false;
        begin(std::move(regions));
        if (!uneven()) return true;
        const std::vector<Flows> flows = flows_between_parts();
        if (sum_of(flows) > most * std::accumulate(even_.begin(), even_.end(), 0.0)) return false;
        for (std::int32_t p = 0; p < std::ssize(sum_); ++p) give(p, flows[p]);
        return true;
    }

    // Relieves parts that are too slow, until there are none or nothing helps.
    void refine() {
        constexpr int sweeps = 30, at_once = 20;
        bool changed = true;
        for (int sweep = 0; changed && sweep < sweeps; ++sweep) {
            changed = false;
            for (std::int32_t p = 0; p < std::ssize(sum_); ++p)
                for (int n = 0; n < at_once && time(p) > slowest_ && relieve(p); ++n) changed = true;
        }
    }

    // Gives each part the number of the part before with which it shares most cells. The largest shares come first.
    // May number only parts with equal needs anew.
    std::vector<std::int32_t> numbered(const Partition& before, std::span<const PartNeed> needs) const {
        std::vector<std::tuple<std::int64_t, std::int32_t, std::int32_t>> common;  // cells (negative), old part, part
        for (std::int32_t old = 0; old < before.processes(); ++old) {
            std::map<std::int32_t, std::int64_t> cells;
            for (std::int64_t b = before.first[old]; b < before.first[old + 1]; ++b)
                for_each_cell(before.boxes[b], [&](int x, int y, int z) { ++cells[owner_[place(x, y, z)]]; });
            for (const auto& [part, n] : cells)
                if (needs[part].speed == needs[old].speed) common.emplace_back(-n, old, part);
        }
        std::ranges::sort(common);
        std::vector<std::int32_t> number(needs.size(), -1);
        std::vector<bool> given(needs.size(), false);
        for (const auto& [n, old, part] : common)
            if (number[part] < 0 && !given[old]) number[part] = old, given[old] = true;
        std::map<double, std::vector<std::int32_t>> left;  // numbers by speed, the last one first
        for (std::int32_t p = static_cast<std::int32_t>(std::ssize(needs)) - 1; p >= 0; --p)
            if (!given[p]) left[needs[p].speed].push_back(p);
        for (std::size_t p = 0; p < number.size(); ++p)
            if (number[p] < 0) {
                number[p] = left[needs[p].speed].back();
                left[needs[p].speed].pop_back();
            }
        return number;
    }

    // The cells of a part in few boxes.
    Region region(std::int32_t p) const {
        const std::vector<std::int64_t> cells = cells_of(p);
        if (std::ssize(cells) == cells_in(regions_[p])) return joined(regions_[p]);  // it has lost none
        Region single;
        for (const std::int64_t c : cells) single.push_back(box_of(c));
        return joined(std::move(single));
    }

private:
    std::int64_t place(int x, int y, int z) const { return place_in(grid_.box(), x, y, z); }
    Box box_of(std::int64_t cell) const {
        const int z = static_cast<int>(cell % grid_.cells[2]),
                  y = static_cast<int>(cell / grid_.cells[2] % grid_.cells[1]),
                  x = static_cast<int>(cell / grid_.cells[2] / grid_.cells[1]);
        return {{x, y, z}, {x + 1, y + 1, z + 1}};
    }
    // Calls visit(cell) for each cell that `cell` sees over a face, an edge or a corner.
    template <class Visit>
    void for_each_near(std::int64_t cell, Visit visit) const {
        for_each_cell(with_halo(box_of(cell), halo_of(grid_, 1)), [&](int x, int y, int z) {
            std::array<int, 3> at{x, y, z};
            for (int a = 0; a < 3; ++a)
                if (grid_.periodic[a]) at[a] = (at[a] + grid_.cells[a]) % grid_.cells[a];
            if (grid_.box().contains(at) && place(at[0], at[1], at[2]) != cell) visit(place(at[0], at[1], at[2]));
        });
    }

    void begin(std::vector<Region> regions) {
        regions_ = std::move(regions);
        sum_.assign(regions_.size(), 0);
        for (std::size_t p = 0; p < regions_.size(); ++p)
            for (const Box& box : regions_[p])
                for_each_cell(box, [&](int x, int y, int z) {
                    owner_[place(x, y, z)] = static_cast<std::int32_t>(p);
                    sum_[p] += load_[place(x, y, z)];
                });
    }
    bool uneven() const {
        for (std::int32_t p = 0; p < std::ssize(sum_); ++p)
            if (time(p) > slowest_) return true;
        return false;
    }
    // Seconds that a part takes, relative to those of all parts if they are balanced; with `more` load.
    double time(std::int32_t p, std::int64_t more = 0) const { return static_cast<double>(sum_[p] + more) / even_[p]; }

    // In ascending order.
    std::vector<std::int64_t> cells_of(std::int32_t p) const {
        std::vector<std::int64_t> cells;
        for (const Box& box : regions_[p])
            for_each_cell(box, [&](int x, int y, int z) {
                if (owner_[place(x, y, z)] == p) cells.push_back(place(x, y, z));
            });
        return ascending(std::move(cells));
    }
    static std::vector<std::int64_t> ascending(std::vector<std::int64_t> cells) {
        std::ranges::sort(cells);
        cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
        return cells;
    }

    // The borders of a part with its neighbours.
    std::map<std::int32_t, PartBorder> borders_of(const std::vector<std::int64_t>& cells, std::int32_t p) const {
        std::map<std::int32_t, PartBorder> borders;
        std::map<std::int32_t, int> near;  // how many neighbours of a cell each part has
        for (const std::int64_t c : cells) {
            near.clear();
            for_each_near(c, [&](std::int64_t other) {
                ++near[owner_[other]];
                if (owner_[other] != p) borders[owner_[other]].taken.push_back(other);
            });
            const int own = near.contains(p) ? near[p] : 0;
            for (const auto& [q, n] : near)
                if (q != p) borders[q].given.push_back({own - n, c});
        }
        return borders;
    }
    // The cost of moving a cell to another part.
    int cost(std::int64_t cell, std::int32_t to) const {
        int cost = 0;
        for_each_near(cell,
                      [&](std::int64_t other) { cost += (owner_[other] == owner_[cell]) - (owner_[other] == to); });
        return cost;
    }
    // The cells that part p may take.
    std::vector<Candidate> candidates(std::vector<std::int64_t> cells, std::int32_t p) const {
        std::vector<Candidate> found;
        for (const std::int64_t c : ascending(std::move(cells))) found.push_back({cost(c, p), c});
        return cheapest(std::move(found));
    }
    static std::vector<Candidate> cheapest(std::vector<Candidate> some) {
        constexpr std::size_t most = 100;  // of large parts' borders these are enough
        std::ranges::sort(some);
        some.resize(std::min(some.size(), most));
        return some;
    }

    // Makes part p faster by the cheapest exchange after which neither it nor the other part is too slow. If there is
    // none, by the one after which the slower of both is fastest. Returns false if no exchange helps.
    bool relieve(std::int32_t p) {
        const std::vector<std::int64_t> cells = cells_of(p);
        CellExchange best{.slowest = time(p)};
        for (auto& [q, border] : borders_of(cells, p)) {
            if (time(q) >= time(p)) continue;
            std::vector<Candidate> taken = candidates(std::move(border.taken), p);
            if (cells.size() > 1) taken.push_back({0, -1});
            for (const Candidate& give : cheapest(std::move(border.given)))
                for (const Candidate& take : taken) {
                    const std::int64_t less = load_[give.cell] - (take.cell < 0 ? 0 : load_[take.cell]);
                    const CellExchange e{give.cell, take.cell, q, std::max(time(p, -less), time(q, less)),
                                         give.cost + take.cost};
                    if (less > 0 && rank(e) < rank(best)) best = e;
                }
        }
        if (best.given < 0) return false;
        move(best.given, best.other);
        if (best.taken >= 0) move(best.taken, p);
        return true;
    }

    // The flows that take away each part's excess and have the least sum of squares, each square divided by the length
    // of its border. So all borders move about equally far.
    std::vector<Flows> flows_between_parts() const {
        std::vector<Flows> flows(sum_.size());  // first, the lengths of borders
        for (std::int64_t c = 0; c < std::ssize(owner_); ++c)
            for_each_near(c, [&](std::int64_t other) {
                if (owner_[other] != owner_[c]) ++flows[owner_[c]][owner_[other]];
            });
        std::vector<double> excess;
        for (std::size_t p = 0; p < sum_.size(); ++p) excess.push_back(static_cast<double>(sum_[p]) - even_[p]);
        const std::vector<double> level = levels(flows, std::move(excess));
        for (std::size_t p = 0; p < flows.size(); ++p)
            for (auto& [q, flow] : flows[p]) flow *= std::max(0.0, level[p] - level[q]);
        return flows;
    }

    // Gives cells of part p to its neighbours, one by one, the cheapest first.
    void give(std::int32_t p, const Flows& flows) {
        const std::vector<std::int64_t> cells = cells_of(p);
        std::int64_t kept = std::ssize(cells);
        for (const auto& [neighbour, border] : borders_of(cells, p)) {
            const std::int32_t q = neighbour;  // clang captures no structured binding
            double left = flows.contains(q) ? flows.at(q) : 0;
            std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> next;
            for (const Candidate& c : border.given) next.push({cost(c.cell, q), c.cell});
            while (!next.empty() && left > 0 && kept > 1) {
                const Candidate c = next.top();
                next.pop();
                if (owner_[c.cell] != p || cost(c.cell, q) != c.cost) continue;  // it lies there with its new cost, too
                if (static_cast<double>(load_[c.cell]) > 2 * left) break;
                move(c.cell, q);
                left -= static_cast<double>(load_[c.cell]);
                --kept;
                for_each_near(c.cell, [&](std::int64_t other) {
                    if (owner_[other] == p) next.push({cost(other, q), other});
                });
            }
        }
    }

    std::tuple<bool, int, double> rank(const CellExchange& e) const {
        const bool slow = e.slowest > slowest_;
        return {slow, slow ? 0 : e.cost, e.slowest};
    }
    void move(std::int64_t cell, std::int32_t to) {
        sum_[owner_[cell]] -= load_[cell];
        sum_[to] += load_[cell];
        owner_[cell] = to;
        regions_[to].push_back(box_of(cell));
    }

    const Grid& grid_;
    std::span<const std::int64_t> load_;
    std::vector<std::int32_t> owner_;
    std::vector<Region> regions_;  // of each part at least its cells
    std::vector<std::int64_t> sum_;
    std::vector<double> even_;  // load of each part if they are balanced
    double slowest_;            // a time that is not too slow
};

// from_in_use: begins with the partition in use, if there is one.
Partition compact_parts(const PartitionInput& in, const PartitionOptions& options, bool from_in_use) {
    if (options.processes > in.grid.box().cells())
        throw std::invalid_argument("cannot split " + std::to_string(in.grid.box().cells()) + " cells over " +
                                    std::to_string(options.processes) + " processes");
    const std::vector<std::int64_t> load = whole_field(in.team, in.grid, in.load);
    const Partition before = in.in_use ? whole(in.team, *in.in_use) : Partition{{}, {0}};
    Partition made{{}, {0}};
    in.meter.part(RoundPart::whole, options.processes, in.grid.box().cells());
    if (in.team.rank() == 0) {
        std::vector<PartNeed> needs;
        for (std::int64_t p = 0; p < options.processes; ++p)
            needs.push_back({static_cast<double>(in.targets.of(p)), 1});
        CompactParts parts(in.grid, load, needs);
        if (!from_in_use || !parts.diffuse(before)) parts.bisect(needs);
        parts.refine();
        const std::vector<std::int32_t> number = parts.numbered(before, needs);
        std::vector<Region> regions(needs.size());
        for (std::size_t p = 0; p < needs.size(); ++p) regions[number[p]] = parts.region(static_cast<std::int32_t>(p));
        for (const Region& r : regions) {
            made.boxes.insert(made.boxes.end(), r.begin(), r.end());
            made.first.push_back(std::ssize(made.boxes));
        }
    }
    return {from_first(in.team, std::move(made.boxes)), from_first(in.team, std::move(made.first))};
}

}  // namespace

Partition partition_compact(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>&) {
    return compact_parts(in, options, false);
}

Partition partition_diffusion(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>&) {
    return compact_parts(in, options, true);
}

}  // namespace balance
