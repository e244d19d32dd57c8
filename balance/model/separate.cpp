// SPDX-License-Identifier: MIT
// Weighted least squares, in which each unknown is expected to be either next to nothing or of any size: how much of
// each is allowed follows from the last solution, a few times (iteratively reweighted least squares). So a deviation is
// explained by few numbers where it can be. A process's speed may have changed at any balancing; each change is one
// more unknown. Every equation meets few unknowns: the normal equations are solved by conjugate gradients.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "balance/model/median.hpp"
#include "balance/model/speeds.hpp"

namespace balance {
namespace {

constexpr double decay = 0.8;        // weight of a record beside the next one
constexpr double typical = 0.5;      // size of the logarithm of a speed, or of a surcharge, before anything is known
constexpr double negligible = 0.01;  // values up to this size cost little, however many there are
// To call one more process slow must explain this many times as much as to change a speed that is known, or a
// surcharge.
constexpr double speed_price = 4;
constexpr double least_noise = 0.01;   // of an excess
constexpr double noise_of_one = 0.15;  // over P where the residuals of few processes P cannot show the noise
constexpr double most_noise = 0.3;

using Values = std::vector<double>;

double square(double x) { return x * x; }

// weight * (sum of factors * unknowns) = weight * excess
struct Equation {
    std::size_t begin, end;  // of its terms
    double excess, weight;
    std::int64_t process;
};
struct Term {
    std::size_t unknown;
    double factor;
};

constexpr int most_levels = 4;  // single ones, and groups of 2, 4, 8 side by side

// The unknowns. Of each process the logarithm of its speed at the first record, and its change at each later one; the
// same of the groups of 2, 4, 8 consecutive processes, which may be those of a node. Then the surcharges of blocks, and
// of squares of 2 x 2, 4 x 4, 8 x 8 blocks, in space of cubes. So what neighbours have in common takes few numbers.
// Where there are few processes, groups would be nearly all of them, and a square would say the same as a speed: then
// there are fewer levels.
class Fit {
public:
    Fit(std::span<const SpeedRecord> records, std::span<const double> known, int layers)
        : records_(records.size()),
          least_noise_(std::max(least_noise, noise_of_one / static_cast<double>(known.size()))),
          layers_(layers),
          levels_(std::clamp(static_cast<int>(std::bit_width(known.size())) - 2, 1, most_levels)) {
        for (int level = 0; level < levels_; ++level) {
            first_group_[level] = first_block_;
            first_block_ += ((known.size() >> level) + 1) * records_;
        }
        for (std::size_t k = 0; k < records_; ++k) {
            const std::vector<BlockShare>& shares = records[k].shares;
            for (auto here = shares.begin(); here != shares.end();) {
                const std::int64_t p = here->process;
                const auto next = std::find_if(here, shares.end(), [&](const BlockShare& s) { return s.process != p; });
                const std::size_t begin = terms_.size();
                for_each_speed(p, k, [&](std::size_t i) { terms_.push_back({i, -1}); });
                add_shares({here, next});
                equations_.push_back(
                    {begin, terms_.size(),
                     records[k].excess[static_cast<std::size_t>(p)] + std::log(known[static_cast<std::size_t>(p)]),
                     std::pow(decay, static_cast<double>(records_ - 1 - k)), p});
                here = next;
            }
        }
        number_blocks();
    }

    // unequal: processes whose speed is known to differ.
    void solve(const std::vector<bool>& unequal) {
        constexpr int rounds = 3;
        const double restless = noise_of_changes();
        for (int round = 0; round < rounds; ++round) {
            const double noise2 =
                square(std::clamp(std::max(1.4826 * median_residual(), restless), least_noise_, most_noise));
            for (std::size_t i = 0; i < x_.size(); ++i) {
                const std::size_t process = i / records_;
                const bool suspected = i < first_block_ && !(process < unequal.size() && unequal[process]);
                const double price = suspected ? speed_price : 1.0;
                precision_[i] = price * noise2 / (round == 0 ? square(typical) : square(x_[i]) + square(negligible));
            }
            conjugate_gradients();
        }
    }

    // The logarithm of what a process's speed is now over what was known.
    double deviation(std::int64_t process) const {
        double sum = 0;
        for_each_speed(process, records_ - 1, [&](std::size_t i) { sum += x_[i]; });
        return sum;
    }

private:
    // Those that make up a process's speed at record k.
    template <class Visit>
    void for_each_speed(std::int64_t process, std::size_t k, Visit visit) const {
        for (int level = 0; level < levels_; ++level)
            for (std::size_t i = 0; i <= k; ++i)
                visit(first_group_[level] + static_cast<std::size_t>(process >> level) * records_ + i);
    }

    // Of one process.
    void add_shares(std::span<const BlockShare> of_process) {
        for (int level = 0; level < levels_; ++level) {
            std::map<std::size_t, double> shares;
            for (const BlockShare& s : of_process) {
                const auto group = [level](std::int32_t block) { return static_cast<std::size_t>(block >> level); };
                shares[(static_cast<std::size_t>(level) << 60) | group(s.x) << 40 | group(s.y / layers_) << 20 |
                       group(s.y % layers_)] += s.share;
            }
            for (const auto& [block, share] : shares) terms_.push_back({first_block_ + block, share});
        }
    }

    // Gives the blocks that occur consecutive numbers.
    void number_blocks() {
        std::vector<std::size_t> blocks;
        for (const Term& t : terms_)
            if (t.unknown >= first_block_) blocks.push_back(t.unknown);
        std::sort(blocks.begin(), blocks.end());
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
        for (Term& t : terms_)
            if (t.unknown >= first_block_)
                t.unknown =
                    first_block_ + static_cast<std::size_t>(std::lower_bound(blocks.begin(), blocks.end(), t.unknown) -
                                                            blocks.begin());
        x_.assign(first_block_ + blocks.size(), 0.0);
        precision_ = x_;
    }

    double left_side(const Equation& e, const Values& x) const {
        double sum = 0;
        for (std::size_t i = e.begin; i < e.end; ++i) sum += terms_[i].factor * x[terms_[i].unknown];
        return sum;
    }
    void add_transposed(const Equation& e, double value, Values& to) const {
        for (std::size_t i = e.begin; i < e.end; ++i) to[terms_[i].unknown] += terms_[i].factor * value;
    }

    // By how much the excess of a process changes from one record to the next, where nothing else is said: of normal
    // noise the median of two records' difference is 0.954 times its standard deviation.
    double noise_of_changes() const {
        Values size;
        std::map<std::int64_t, double> last;
        for (const Equation& e : equations_) {
            if (const auto before = last.find(e.process); before != last.end())
                size.push_back(std::abs(e.excess - before->second));
            last[e.process] = e.excess;
        }
        return median(std::move(size)) / 0.954;
    }

    double median_residual() const {
        Values size;
        for (const Equation& e : equations_) size.push_back(std::abs(e.excess - left_side(e, x_)));
        return median(std::move(size));
    }

    // Of the normal equations, from the last solution on.
    void conjugate_gradients() {
        constexpr int most_steps = 60;
        constexpr double enough = 1e-6;  // of the squared residual
        Values residual(x_.size(), 0.0), diagonal = precision_;
        for (const Equation& e : equations_) {
            add_transposed(e, e.weight * (e.excess - left_side(e, x_)), residual);
            for (std::size_t i = e.begin; i < e.end; ++i)
                diagonal[terms_[i].unknown] += e.weight * square(terms_[i].factor);
        }
        for (std::size_t i = 0; i < x_.size(); ++i) residual[i] -= precision_[i] * x_[i];
        const auto preconditioned = [&](std::size_t i) { return residual[i] / diagonal[i]; };
        const auto product = [&] {
            double sum = 0;
            for (std::size_t i = 0; i < x_.size(); ++i) sum += residual[i] * preconditioned(i);
            return sum;
        };
        Values direction(x_.size(), 0.0), image(x_.size());
        const double first = product();
        double before = first, now = first;
        for (int step = 0; step < most_steps && now > enough * first && now > 1e-30; ++step) {
            for (std::size_t i = 0; i < x_.size(); ++i)
                direction[i] = preconditioned(i) + (step > 0 ? now / before * direction[i] : 0.0);
            for (std::size_t i = 0; i < x_.size(); ++i) image[i] = precision_[i] * direction[i];
            for (const Equation& e : equations_) add_transposed(e, e.weight * left_side(e, direction), image);
            double curvature = 0;
            for (std::size_t i = 0; i < x_.size(); ++i) curvature += direction[i] * image[i];
            const double length = now / curvature;
            for (std::size_t i = 0; i < x_.size(); ++i) {
                x_[i] += length * direction[i];
                residual[i] -= length * image[i];
            }
            before = std::exchange(now, product());
        }
    }

    std::size_t records_, first_block_ = 0;
    double least_noise_;
    int layers_, levels_;
    std::array<std::size_t, most_levels> first_group_{};
    std::vector<Term> terms_;
    std::vector<Equation> equations_;
    Values x_, precision_;
};

}  // namespace

// Of each process what is left in the last record must be small, or no more than noise can do, there and in the mean of
// all records.
bool explained(std::span<const SpeedRecord> records, std::span<const double> known) {
    constexpr double small = 0.02;
    constexpr double usual_noise = 0.03;  // more may be many slow processes
    constexpr std::size_t crowd = 16;     // fewer processes do not show their noise
    const std::size_t processes = known.size();
    Values last, mean;
    for (std::size_t p = 0; p < processes; ++p) {
        double sum = 0;
        for (const SpeedRecord& r : records) sum += r.excess[p];
        last.push_back(std::abs(records.back().excess[p] + std::log(known[p])));
        mean.push_back(std::abs(sum / static_cast<double>(records.size()) + std::log(known[p])));
    }
    const double noise = processes < crowd ? 0 : std::min(1.4826 * median(last), usual_noise);
    // About the largest that so many numbers with a normal distribution reach, with some room.
    const double reached = 1.2 * noise * std::sqrt(2 * std::log(static_cast<double>(processes)));
    const auto within = [&](const Values& left, double most) {
        return std::ranges::all_of(left, [&](double v) { return v <= std::max(small, most); });
    };
    if (within(last, small)) return true;
    return within(last, reached) && within(mean, reached / std::sqrt(static_cast<double>(records.size())));
}

std::vector<double> separate(std::span<const SpeedRecord> records, std::span<const double> known, int layers) {
    if (explained(records, known)) return {known.begin(), known.end()};
    Fit fit(records, known, layers);
    std::vector<bool> unequal;
    for (const double speed : known) unequal.push_back(speed != 1);
    fit.solve(unequal);
    // Costs and speeds of few processes are hard to tell apart.
    const double tellable = 0.03 + 0.15 / std::sqrt(static_cast<double>(known.size()));
    Values log_speed;
    for (std::size_t p = 0; p < known.size(); ++p)
        log_speed.push_back(std::log(known[p]) + fit.deviation(static_cast<std::int64_t>(p)));
    const double usual = median(log_speed);
    std::vector<double> speeds;
    for (const double s : log_speed)
        speeds.push_back(
            std::abs(s - usual) < tellable ? 1.0 : std::clamp(std::exp(s - usual), slowest_speed, fastest_speed));
    return speeds;
}

}  // namespace balance
