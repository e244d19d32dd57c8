// SPDX-License-Identifier: MIT
// Weighted least squares, in which each unknown is expected to be either next to nothing or of any size: how much of
// each is allowed follows from the last solution, a few times (iteratively reweighted least squares). So a deviation is
// explained by few numbers where it can be. A process's speed may have changed at any balancing; each change is one
// more unknown. So there are far more unknowns than equations, and each of these meets few. The problem is solved by
// elimination in as many numbers as there are equations; or, where many processes and records make that take longer,
// by conjugate gradients, which are stopped early.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "balance/model/median.hpp"
#include "balance/model/speeds.hpp"

namespace balance {
namespace {

constexpr double decay = 0.8;    // weight of a record beside the next one
constexpr double typical = 0.5;  // size of the logarithm of a speed, or of a surcharge, before anything is known
// In the first round each unknown is held back by this times the sum of the squares of its factors, so that none is
// preferred for having great ones. Else speeds would explain what many dear blocks do. More holds back more.
constexpr double reserve = 0.04;
constexpr double negligible = 0.01;  // values up to this size cost little, however many there are
// From the second round on, to call one more process slow must explain this many times as much as to change a speed
// that is known, or a surcharge.
constexpr double speed_price = 4;
constexpr double least_noise = 0.01;   // of an excess
constexpr double noise_of_one = 0.15;  // over P where the residuals of few processes P cannot show the noise
constexpr double most_noise = 0.3;

using Values = std::vector<double>;
using Index = std::uint32_t;

double square(double x) { return x * x; }

constexpr int most_levels = 4;  // single ones, and groups of 2, 4, 8 side by side

constexpr Index none = ~Index{0};

// Numbers that occur, in order, and the place of each among them. Places are in pages, of which those are there in
// which numbers occur: blocks of some of very many processes are few among all blocks.
class Occurring {
public:
    explicit Occurring(std::span<const Index> any) {
        if (!any.empty()) page_of_.assign(std::ranges::max(any) / page + 1, none);
        for (const Index i : any) page_of_[i / page] = 0;
        Index pages = 0;
        for (Index& p : page_of_)
            if (p != none) p = pages++;
        places_.assign(std::size_t{pages} * page, none);
        for (const Index i : any) places_[in_page(i)] = 0;
        for (Index p = 0; p < page_of_.size(); ++p)
            for (Index i = p * page; page_of_[p] != none && i < (p + 1) * page; ++i)
                if (Index& place = places_[in_page(i)]; place != none)
                    place = static_cast<Index>(numbers.size()), numbers.push_back(i);
    }
    Index place_of(std::size_t i) const {
        return i / page < page_of_.size() && page_of_[i / page] != none ? places_[in_page(i)] : none;
    }
    std::vector<Index> numbers;

private:
    static constexpr Index page = 64;
    std::size_t in_page(std::size_t i) const { return std::size_t{page_of_[i / page]} * page + i % page; }

    std::vector<Index> page_of_, places_;
};

// The unknowns are nodes of trees. Of each process the logarithm of its speed at the first record, and its change at
// each later one; above them the same of the groups of 2, 4, 8 consecutive processes, which may be those of a node.
// Then the surcharges of blocks; above them those of squares of 2 x 2, 4 x 4, 8 x 8 blocks, in space of cubes. So what
// neighbours have in common takes few numbers. Where there are few processes, groups would be nearly all of them, and a
// square would say the same as a speed: then there are fewer levels. What no equation meets has no node. Processes
// outside the fit only show how much noise there is.
//
// An equation meets some leaves and all that is above them. So it holds the leaves alone, and one pass down the trees
// does the rest for all equations; for the transposed matrix it is one pass up.
class Fit {
public:
    // log_known: of the speeds of all processes. fitted: as involved() gives it.
    Fit(std::span<const SpeedRecord> records, const Values& log_known, const std::vector<bool>& fitted,
        const std::array<int, 3>& blocks)
        : records_(records.size()),
          processes_(processes_in(fitted, log_known.size())),
          least_noise_(std::max(least_noise, noise_of_one / static_cast<double>(log_known.size()))) {
        for (const Index p : processes_.numbers) unequal_.push_back(log_known[p] != 0);
        add_equations(records, log_known, fitted);
        grow(blocks, std::clamp(static_cast<int>(std::bit_width(log_known.size())) - 2, 1, most_levels));
        prepare();
    }

    // About the multiplications of the solution: of conjugate gradients the most that there can be, of an elimination
    // those of whole rows for a quarter, as they take.
    std::int64_t operations() const { return operations_; }
    // Numbers of the matrix that are not zero.
    std::int64_t entries() const { return static_cast<std::int64_t>(columns_.back()); }

    void solve() {
        for (int round = 0; round < rounds; ++round) {
            const double noise2 =
                square(std::clamp(std::max(1.4826 * median_residual(), noise_of_changes_), least_noise_, most_noise));
            for (std::size_t i = 0; i < x_.size(); ++i) {
                const std::size_t process = i / records_;
                const bool suspected = i < first_block_ && !(process < unequal_.size() && unequal_[process]);
                const double price = suspected ? speed_price : 1.0;
                precision_[i] = round == 0 ? noise2 / square(typical) + reserve * squares_[i]
                                           : price * noise2 / (square(x_[i]) + square(negligible));
            }
            if (eliminates_) eliminate();
            else take_steps();
        }
        down(x_);
    }

    // The logarithm of what a process's speed is now over what was known; 0 outside the fit.
    double deviation(std::size_t process) const {
        const Index place = processes_.place_of(process);
        return place == none ? 0.0 : sums_[place * records_ + records_ - 1];
    }

private:
    // Terms of an equation; those that it does not need have no share.
    static constexpr std::size_t four = 4;
    struct Terms {
        std::array<Index, four> leaf;
        std::array<double, four> share;
    };
    // Of a column of the matrix.
    struct Entry {
        Index row;
        double factor;
    };
    // weight * (sum of shares * surcharges - speed) = weight * excess
    struct Equation {
        std::size_t begin, end;  // of its terms
        std::size_t speed;       // a leaf: of a process at a record
        double excess, weight;
    };

    void add_equations(std::span<const SpeedRecord> records, const Values& log_known, const std::vector<bool>& fitted) {
        // By how much an excess changes from one record to the next, where nothing else is said.
        Values before(log_known.size(), std::nan("")), changes;
        std::size_t shares_of_all = 0;
        for (const SpeedRecord& r : records) shares_of_all += r.shares.size();
        terms_.reserve(shares_of_all / four + processes_.numbers.size() * records_);
        for (std::size_t k = 0; k < records_; ++k) {
            const std::vector<BlockShare>& shares = records[k].shares;
            for (auto here = shares.begin(); here != shares.end();) {
                const std::int32_t process = here->process;
                const auto p = static_cast<std::size_t>(process);
                const double excess = records[k].excess[p] + log_known[p];
                if (const double last = std::exchange(before[p], excess); !std::isnan(last))
                    changes.push_back(std::abs(excess - last));
                const bool outside = !fitted[k * log_known.size() + p];
                const std::size_t begin = terms_.size();
                for (std::size_t i = 0; here != shares.end() && here->process == process; ++here, ++i) {
                    if (outside) continue;
                    const Index block = static_cast<Index>(here->block);
                    if (i % four == 0) terms_.push_back({{block, block, block, block}, {}});
                    terms_.back().leaf[i % four] = block;
                    terms_.back().share[i % four] = here->share;
                }
                if (outside) outside_.push_back(std::abs(excess));
                else
                    equations_.push_back({begin, terms_.size(), processes_.place_of(p) * records_ + k, excess,
                                          std::pow(decay, static_cast<double>(records_ - 1 - k))});
            }
        }
        // Of normal noise the median of two records' difference is 0.954 times its standard deviation.
        noise_of_changes_ = median(std::move(changes)) / 0.954;
        // Processes that are neighbours have blocks in common. So equations that share unknowns are near each other,
        // and rows of the elimination are short.
        std::ranges::sort(equations_, {}, &Equation::speed);
    }

    // The nodes of both kinds of trees, and the places of the blocks among them.
    void grow(const std::array<int, 3>& blocks, int levels) {
        std::vector<Index> met;
        grow(processes_.numbers, records_, levels, [](Index group, int) { return group / 2; });
        first_block_ = parents_.size();
        for (const Terms& t : terms_) met.insert(met.end(), t.leaf.begin(), t.leaf.end());
        const Occurring leaves(met);
        for (Terms& t : terms_)
            for (Index& leaf : t.leaf) leaf = static_cast<Index>(first_block_) + leaves.place_of(leaf);
        grow(leaves.numbers, 1, levels, [&](Index block, int level) {
            const auto along = [&](int axis, int l) { return static_cast<Index>((blocks[axis] + (1 << l) - 1) >> l); };
            const Index ny = along(1, level), nz = along(2, level);
            const Index x = block / (ny * nz), y = block / nz % ny, z = block % nz;
            return (x / 2 * along(1, level + 1) + y / 2) * along(2, level + 1) + z / 2;
        });
        x_.assign(parents_.size(), 0.0);
        precision_ = squares_ = sums_ = x_;
    }
    // Trees above some leaves, level by level: parents come later than their children. of_each: unknowns of a node.
    // above: the number, among all of the next level, of a node's parent.
    template <class Above>
    void grow(std::vector<Index> level, std::size_t of_each, int levels, const Above& above) {
        for (int l = 0; l + 1 < levels; ++l) {
            std::vector<Index> higher;
            for (const Index node : level) higher.push_back(above(node, l));
            const Occurring next(higher);
            const std::size_t begin = parents_.size() + level.size() * of_each;
            for (const Index node : higher)
                for (std::size_t k = 0; k < of_each; ++k)
                    parents_.push_back(static_cast<Index>(begin + next.place_of(node) * of_each + k));
            level = next.numbers;
        }
        parents_.resize(parents_.size() + level.size() * of_each, root);
    }

    // Of each node what it has together with all nodes above; of a process also with the records before.
    void down(const Values& x) {
        for (std::size_t i = x.size(); i-- > 0;) sums_[i] = parents_[i] == root ? x[i] : x[i] + sums_[parents_[i]];
        for (std::size_t p = 0; p < processes_.numbers.size(); ++p)
            for (std::size_t i = p * records_ + 1; i < (p + 1) * records_; ++i) sums_[i] += sums_[i - 1];
    }
    // The transposed of down(): what is given to the leaves is handed on to all nodes above.
    void up(Values& x) const {
        for (std::size_t p = 0; p < processes_.numbers.size(); ++p)
            for (std::size_t i = (p + 1) * records_ - 1; i > p * records_; --i) x[i - 1] += x[i];
        for (std::size_t i = 0; i < x.size(); ++i)
            if (parents_[i] != root) x[parents_[i]] += x[i];
    }

    // Of x by down(x). Four terms at a time, in two sums that do not wait for each other, take half as long as one by
    // one.
    double left_side(const Equation& e) const {
        double even = 0, odd = 0;
        for (std::size_t i = e.begin; i < e.end; ++i) {
            const auto& [leaf, share] = terms_[i];
            even += share[0] * sums_[leaf[0]] + share[2] * sums_[leaf[2]];
            odd += share[1] * sums_[leaf[1]] + share[3] * sums_[leaf[3]];
        }
        return even + odd - sums_[e.speed];
    }
    void add_transposed(const Equation& e, double value, Values& to) const {
        to[e.speed] -= value;
        for (std::size_t i = e.begin; i < e.end; ++i) {
            const auto& [leaf, share] = terms_[i];
            to[leaf[0]] += share[0] * value;
            to[leaf[1]] += share[1] * value;
            to[leaf[2]] += share[2] * value;
            to[leaf[3]] += share[3] * value;
        }
    }

    // Tells all numbers of the matrix that are not zero, row by row, as visit(unknown, row, factor). What a process has
    // in a square is the sum of what it has in the square's blocks.
    template <class Visit>
    void for_entries(const Visit& visit) const {
        Values share(x_.size(), 0.0);
        std::vector<Index> nodes, parents;
        for (Index row = 0; row < equations_.size(); ++row) {
            const Equation& e = equations_[row];
            for (std::size_t leaf = e.speed / records_ * records_; leaf <= e.speed; ++leaf)
                for (Index i = static_cast<Index>(leaf); i != root; i = parents_[i]) visit(i, row, -1.0);
            for (std::size_t i = e.begin; i < e.end; ++i)
                for (std::size_t k = 0; k < four; ++k) {
                    if (terms_[i].share[k] == 0) continue;
                    share[terms_[i].leaf[k]] = terms_[i].share[k];
                    nodes.push_back(terms_[i].leaf[k]);
                }
            while (!nodes.empty()) {
                for (const Index i : nodes) {
                    visit(i, row, share[i]);
                    if (const Index parent = parents_[i]; parent != root) {
                        if (share[parent] == 0) parents.push_back(parent);
                        share[parent] += share[i];
                    }
                    share[i] = 0;
                }
                nodes.swap(parents);
                parents.clear();
            }
        }
    }

    // Chooses how to solve, and keeps what does not depend on the precisions: the diagonal of the normal equations, and
    // for an elimination the columns of the matrix.
    void prepare() {
        columns_.assign(x_.size() + 1, 0);  // first their lengths
        first_.resize(equations_.size());
        std::iota(first_.begin(), first_.end(), Index{0});
        std::vector<Index> top(x_.size());  // first row of each column
        for_entries([&](Index unknown, Index row, double factor) {
            if (columns_[unknown + 1]++ == 0) top[unknown] = row;
            first_[row] = std::min(first_[row], top[unknown]);
            squares_[unknown] += equations_[row].weight * square(factor);
        });
        constexpr double of_rows = 0.25;  // what a multiplication of whole rows takes of the time of another one
        std::int64_t eliminating = 0;
        for (const std::size_t length : columns_) eliminating += static_cast<std::int64_t>(length * length / 2);
        for (std::size_t row = 0; row < first_.size(); ++row)
            eliminating += static_cast<std::int64_t>(of_rows * square(static_cast<double>(row - first_[row])) / 2);
        const auto stepping = most_steps * static_cast<std::int64_t>(8 * terms_.size() + 6 * x_.size());
        operations_ = rounds * std::min(eliminating, stepping);
        std::partial_sum(columns_.begin(), columns_.end(), columns_.begin());
        eliminates_ = eliminating < stepping;
        if (!eliminates_) return;
        entries_.resize(columns_.back());
        std::vector<std::size_t> next(columns_.begin(), columns_.end() - 1);
        for_entries([&](Index unknown, Index row, double factor) { entries_[next[unknown]++] = {row, factor}; });
    }
    std::span<const Entry> column_of(std::size_t unknown) const {
        return std::span(entries_).subspan(columns_[unknown], columns_[unknown + 1] - columns_[unknown]);
    }

    double median_residual() {
        down(x_);
        Values size = outside_;
        for (const Equation& e : equations_) size.push_back(std::abs(e.excess - left_side(e)));
        return median(std::move(size));
    }

    // With one unknown y for each equation in place of one for each node, of which there are many more. Where A is the
    // matrix of the equations, P the precisions and W the weights, x = P^-1 A^T y with (W^-1 + A P^-1 A^T) y = excess.
    // This matrix is L L^T; rows of L are stored from their first entry on.
    void eliminate() {
        std::vector<std::size_t> begin;  // of each row, less its first column
        std::size_t size = 0;
        for (std::size_t i = 0; i < first_.size(); ++i) {
            begin.push_back(size - first_[i]);
            size += i - first_[i] + 1;
        }
        Values lower(size, 0.0), inverse, y;  // inverse: of the diagonal
        for (std::size_t unknown = 0; unknown < x_.size(); ++unknown) {
            const std::span<const Entry> column = column_of(unknown);
            for (std::size_t i = 0; i < column.size(); ++i) {
                const double factor = column[i].factor / precision_[unknown];
                double* row = &lower[begin[column[i].row]];
                for (std::size_t j = 0; j <= i; ++j) row[column[j].row] += factor * column[j].factor;
            }
        }
        for (std::size_t i = 0; i < first_.size(); ++i) {
            double* row = &lower[begin[i]];
            for (std::size_t j = first_[i]; j < i; ++j)
                row[j] = (row[j] - product(row, &lower[begin[j]], std::max(first_[i], first_[j]), j)) * inverse[j];
            inverse.push_back(1 / std::sqrt(row[i] + 1 / equations_[i].weight - product(row, row, first_[i], i)));
            y.push_back((equations_[i].excess - product(row, y.data(), first_[i], i)) * inverse[i]);
        }
        for (std::size_t i = y.size(); i-- > 0;) {
            y[i] *= inverse[i];
            for (std::size_t j = first_[i]; j < i; ++j) y[j] -= lower[begin[i] + j] * y[i];
        }
        for (std::size_t unknown = 0; unknown < x_.size(); ++unknown) {
            double sum = 0;
            for (const Entry& e : column_of(unknown)) sum += e.factor * y[e.row];
            x_[unknown] = sum / precision_[unknown];
        }
    }
    // Of numbers from `from` up to `to`. In four sums, so that none waits for another.
    static double product(const double* a, const double* b, std::size_t from, std::size_t to) {
        std::array<double, 4> sums{};
        std::size_t i = from;
        for (; i + 4 <= to; i += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
        for (; i < to; ++i) sums[0] += a[i] * b[i];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    // Conjugate gradients of the normal equations, from the last solution on.
    void take_steps() {
        constexpr double enough = 1e-6;  // of the squared residual
        const std::size_t n = x_.size();
        Values residual(n, 0.0), inverse(n), direction(n, 0.0), image(n);
        down(x_);
        for (const Equation& e : equations_) add_transposed(e, e.weight * (e.excess - left_side(e)), residual);
        up(residual);
        double first = 0;
        for (std::size_t i = 0; i < n; ++i) {
            residual[i] -= precision_[i] * x_[i];
            inverse[i] = 1 / (squares_[i] + precision_[i]);
            first += square(residual[i]) * inverse[i];
        }
        double before = first, now = first;
        for (int step = 0; step < most_steps && now > enough * first && now > 1e-30; ++step) {
            const double kept = step > 0 ? now / before : 0.0;
            for (std::size_t i = 0; i < n; ++i) direction[i] = residual[i] * inverse[i] + kept * direction[i];
            down(direction);
            std::ranges::fill(image, 0.0);
            for (const Equation& e : equations_) add_transposed(e, e.weight * left_side(e), image);
            up(image);
            double curvature = 0;
            for (std::size_t i = 0; i < n; ++i) {
                image[i] += precision_[i] * direction[i];
                curvature += direction[i] * image[i];
            }
            const double length = now / curvature;
            before = std::exchange(now, 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                x_[i] += length * direction[i];
                residual[i] -= length * image[i];
                now += square(residual[i]) * inverse[i];
            }
        }
    }

    static constexpr int rounds = 3, most_steps = 60;
    static constexpr Index root = none;  // above the highest level

    std::size_t records_, first_block_ = 0;
    Occurring processes_;
    double least_noise_, noise_of_changes_ = 0;
    std::vector<bool> unequal_;  // of the processes of the fit: their speed is known to differ
    Values outside_;             // what is left of those outside the fit
    std::vector<Index> parents_;
    std::vector<Terms> terms_;
    std::vector<Equation> equations_;
    std::vector<std::size_t> columns_;  // where those of the unknowns begin among the entries
    std::vector<Entry> entries_;
    std::vector<Index> first_;  // of each row the first one that it shares an unknown with
    std::int64_t operations_ = 0;
    bool eliminates_ = false;
    Values x_, precision_, squares_, sums_;
};

}  // namespace

std::vector<double> log_speeds(std::span<const SpeedRecord> records, std::span<const double> known,
                               const std::vector<bool>& fitted, const std::array<int, 3>& blocks, const Meter& meter) {
    meter.part(RoundPart::search, 0, 0);
    Values log_speed;
    for (const double speed : known) log_speed.push_back(std::log(speed));
    Fit fit(records, log_speed, fitted, blocks);
    meter.part(RoundPart::search, fit.operations(), fit.entries());
    fit.solve();
    for (std::size_t p = 0; p < known.size(); ++p) log_speed[p] += fit.deviation(p);
    return log_speed;
}

double speed_beside(double log_speed, double median, std::int64_t processes) {
    // Costs and speeds of few processes are hard to tell apart.
    const double tellable = 0.03 + 0.15 / std::sqrt(static_cast<double>(processes));
    const double differs = log_speed - median;
    return std::abs(differs) < tellable ? 1.0 : std::clamp(std::exp(differs), slowest_speed, fastest_speed);
}

std::vector<double> separate(std::span<const SpeedRecord> records, std::span<const double> known,
                             const std::vector<bool>& fitted, const std::array<int, 3>& blocks, const Meter& meter) {
    std::vector<double> speeds = log_speeds(records, known, fitted, blocks, meter);
    const double usual = median(speeds);
    for (double& s : speeds) s = speed_beside(s, usual, std::ssize(known));
    return speeds;
}

}  // namespace balance
