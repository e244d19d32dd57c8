// SPDX-License-Identifier: MIT
// Trials are evaluated in their order, cell by cell of a patch. An earlier particle that is too near rejects a trial.
// If an undecided earlier trial or a cell outside the patch could be such a particle, the trial is open. Every trial
// that is rejected or kept has the same fate in the whole body, so margins and partitions decide nothing. Positions are
// integers, and all random numbers are integers or exact fractions.
#include "md/random_filling.hpp"

#include <algorithm>
#include <cmath>

#include "balance/grid/for_each.hpp"
#include "md/closest.hpp"
#include "md/initial.hpp"
#include "md/profile.hpp"
#include "md/random.hpp"

namespace md {
namespace {

constexpr int most_cells_along = 1 << 20;  // A cell's number and a trial's number in it fit into 64 bits.
constexpr int most_trials = 16;            // In a cell and epoch. More come once in 10^14 times and are left out.
constexpr int trials_per_particle = 128;
constexpr int first_margin = 2;  // cells

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// Trials of a cell from 64 random bits: a Poisson number of mean 1.
int poisson(std::uint64_t bits) {
    const double u = unit_number(bits);
    double term = 0.36787944117144233, below = term;  // 1 / e
    int n = 0;
    for (; u >= below && n < most_trials - 1; below += term) term /= ++n;
    return n;
}

// A place in [lower, upper) from 64 random bits.
std::int64_t between(std::int64_t lower, std::int64_t upper, std::uint64_t bits) {
    using Wide = unsigned __int128;
    return lower + static_cast<std::int64_t>(Wide{bits} * static_cast<std::uint64_t>(upper - lower) >> 64);
}

// Cells along an axis of the box: at least as wide as the spacing, and as what a particle has in the mean.
int cells_along(double side, double width) {
    return static_cast<int>(std::clamp(std::floor(side / width), 1.0, static_cast<double>(most_cells_along)));
}

// Calls use(part) for boxes of at most side^3 cells that make up `all`.
template <class Use>
void for_each_part(const balance::Box& all, int side, Use use) {
    balance::Box part;
    const auto cut = [&](int a, int from) {
        part.lower[a] = from;
        part.upper[a] = std::min(from + side, all.upper[a]);
    };
    for (int z = all.lower[2]; z < all.upper[2]; z += side)
        for (int y = all.lower[1]; y < all.upper[1]; y += side)
            for (int x = all.lower[0]; x < all.upper[0]; x += side) {
                cut(0, x), cut(1, y), cut(2, z);
                use(part);
            }
}

// Distance of a point from an image of a body, lengths.
double distance_to(const Body& body, const Point& at, const Point& image) {
    Body point;
    point.lattice = body.lattice;
    for (int a = 0; a < 3; ++a) point.lower[a] = static_cast<double>(at[a] - image[a]) * position_unit;
    point.upper = point.lower;
    return md::distance(point, body);
}

}  // namespace

// A box of cells that may reach beyond a periodic axis, where its cells are images.
class Patch {
public:
    Patch(const RandomFilling& filling, const balance::Box& core, int margin) : f_(filling), core_(core), all_(core) {
        for (int a = 0; a < dimensions(); ++a) {
            all_.lower[a] -= margin, all_.upper[a] += margin;
            if (f_.axis_[a].periodic) continue;
            all_.lower[a] = std::max(all_.lower[a], 0);
            all_.upper[a] = std::min(all_.upper[a], f_.axis_[a].cells);
        }
        first_.assign(static_cast<std::size_t>(all_.cells()), none);
        if (f_.spacing_ > 0) add_others();
    }

    /// Nothing where a trial of the core stays open.
    std::optional<std::vector<Placed>> evaluate(int epochs) {
        for (int epoch = 0; epoch < epochs; ++epoch) {
            std::vector<Placed> trials;
            for_each_cell(all_, [&](const CellIndex& cell) { add_trials(cell, epoch, trials); });
            std::sort(trials.begin(), trials.end(),
                      [](const Placed& a, const Placed& b) { return a.when.mark < b.when.mark; });
            for (const Placed& trial : trials)
                if (const TrialFate verdict = judge(trial.at); verdict != TrialFate::rejected)
                    add({trial.at, trial.when, verdict == TrialFate::open});
        }
        std::vector<Placed> kept;
        bool open = false;
        for_each_cell(core_, [&](const CellIndex& cell) {
            for (int i = first_[place(cell)]; i != none; i = points_[i].next) {
                if (points_[i].when.epoch == before_all) continue;
                open = open || points_[i].open;
                kept.push_back({points_[i].at, points_[i].when});
            }
        });
        if (open) return std::nullopt;
        return kept;
    }

private:
    using CellIndex = std::array<int, 3>;
    enum class TrialFate { kept, rejected, open };
    static constexpr int none = -1, before_all = -1;
    struct Known {
        Point at;
        TrialMoment when;
        bool open = false;
        int next = none;  // in its cell
    };

    int dimensions() const { return f_.region_.dimensions; }
    std::int64_t place(const CellIndex& c) const {
        return ((std::int64_t{c[2]} - all_.lower[2]) * all_.extent(1) + c[1] - all_.lower[1]) * all_.extent(0) + c[0] -
               all_.lower[0];
    }
    CellIndex cell_of(const Point& at) const {
        CellIndex cell{};
        for (int a = 0; a < dimensions(); ++a) cell[a] = f_.axis_[a].cell_of(at[a]);
        return cell;
    }
    void add(Known point) {
        int& first = first_[place(cell_of(point.at))];
        point.next = first;
        first = static_cast<int>(points_.size());
        points_.push_back(point);
    }
    template <class Use>
    static void for_each_cell(const balance::Box& box, Use use) {
        CellIndex c{};
        for (c[2] = box.lower[2]; c[2] < box.upper[2]; ++c[2])
            for (c[1] = box.lower[1]; c[1] < box.upper[1]; ++c[1])
                for (c[0] = box.lower[0]; c[0] < box.upper[0]; ++c[0]) use(c);
    }

    // Those of the body that lie in a cell, in one epoch.
    void add_trials(const CellIndex& cell, int epoch, std::vector<Placed>& trials) const {
        CellIndex real = cell;
        Point shift{};
        for (int a = 0; a < dimensions(); ++a) {
            const std::int64_t image = floor_div(cell[a], f_.axis_[a].cells);
            real[a] -= static_cast<int>(image) * f_.axis_[a].cells;
            shift[a] = image * f_.axis_[a].fixed_length();
        }
        if (!f_.cells_.contains(real)) return;
        std::uint64_t number = 0;  // of the cell
        for (int a = dimensions() - 1; a >= 0; --a)
            number = number * static_cast<std::uint64_t>(f_.axis_[a].cells) + static_cast<std::uint64_t>(real[a]);
        const std::uint64_t key = mix(f_.key_ + static_cast<std::uint64_t>(epoch));
        const int n = poisson(mix(mix(key) ^ number));
        for (int k = 0; k < n; ++k) {
            // Marks differ, because mix() is one-to-one.
            const std::uint64_t mark = mix(key ^ (number * most_trials + static_cast<std::uint64_t>(k)));
            Point at{};
            for (int a = 0; a < dimensions(); ++a) {
                const Axis& axis = f_.axis_[a];
                at[a] = between(axis.edge(real[a]) << edge_shift, axis.edge(real[a] + 1) << edge_shift,
                                mix(mark + static_cast<std::uint64_t>(a)));
            }
            if (!f_.region_.contains(at) || !f_.in_profile(at, mark) || f_.near_solid(at)) continue;
            for (int a = 0; a < dimensions(); ++a) at[a] += shift[a];
            trials.push_back({at, {epoch, mark}});
        }
    }

    bool is_near(const Point& p, const Point& q) const {
        Int128 distance = 0;
        for (int a = 0; a < dimensions(); ++a) {
            if (std::abs(p[a] - q[a]) >= f_.spacing_) return false;
            distance += square(p[a] - q[a]);
        }
        return distance < square(f_.spacing_);
    }
    TrialFate judge(const Point& at) const {
        if (f_.spacing_ == 0) return TrialFate::kept;
        Point low = at, high = at;
        for (int a = 0; a < dimensions(); ++a) low[a] -= f_.spacing_ - 1, high[a] += f_.spacing_ - 1;
        balance::Box near{cell_of(low), cell_of(high)};
        for (int a = 0; a < 3; ++a) ++near.upper[a];
        bool open = false, rejected = false;
        for_each_cell(near, [&](const CellIndex& cell) {
            if (rejected) return;
            if (!all_.contains(cell)) {
                open = open || f_.exists(cell);
                return;
            }
            for (int i = first_[place(cell)]; i != none && !rejected; i = points_[i].next) {
                if (is_near(points_[i].at, at)) (points_[i].open ? open : rejected) = true;
            }
        });
        return rejected ? TrialFate::rejected : open ? TrialFate::open : TrialFate::kept;
    }

    // Calls use(corners of the meeting, shift) for each image of a box (2^-40 lengths) that meets [lower, upper).
    template <class Use>
    void for_each_image(const Region& region, std::int64_t around, const Point& lower, const Point& upper,
                        Use use) const {
        Point first{}, last{};
        for (int a = 0; a < dimensions(); ++a) {
            if (!f_.axis_[a].periodic) continue;
            const std::int64_t length = f_.axis_[a].fixed_length();
            first[a] = -floor_div(region.upper[a] + around - lower[a], length);
            last[a] = floor_div(upper[a] - region.lower[a] + around, length);
        }
        Point image{};
        for (image[2] = first[2]; image[2] <= last[2]; ++image[2])
            for (image[1] = first[1]; image[1] <= last[1]; ++image[1])
                for (image[0] = first[0]; image[0] <= last[0]; ++image[0]) {
                    Point shift{}, low{}, high{};
                    bool meet = true;
                    for (int a = 0; a < dimensions(); ++a) {
                        shift[a] = image[a] * f_.axis_[a].fixed_length();
                        low[a] = std::max(lower[a], region.lower[a] - around + shift[a]);
                        high[a] = std::min(upper[a], region.upper[a] + around + shift[a]);
                        meet = meet && low[a] < high[a];
                    }
                    if (meet) use(low, high, shift);
                }
    }

    // The particles of other bodies that are nearer to this one, or to an image of it, than its spacing.
    void add_others() {
        Point lower{}, upper{};
        for (int a = 0; a < dimensions(); ++a) {
            lower[a] = f_.axis_[a].edge(all_.lower[a]) << edge_shift;
            upper[a] = f_.axis_[a].edge(all_.upper[a]) << edge_shift;
        }
        const double far = f_.body().spacing + edge_unit;
        for_each_image(
            f_.region_, f_.spacing_, lower, upper, [&](const Point& low, const Point& high, const Point& own) {
                for (const Filling* other : f_.others_)
                    for_each_image(Region(other->body()), 1, low, high, [&](Point from, Point to, const Point& shift) {
                        if (distance(other->body(), shift, own) >= far) return;
                        for (int a = 0; a < 3; ++a) from[a] -= shift[a], to[a] -= shift[a];
                        other->for_each_in(from, to, [&](Point at) {
                            for (int a = 0; a < 3; ++a) at[a] += shift[a];
                            if (distance_to(f_.body(), at, own) < far) add({at, {before_all, 0}});
                        });
                    });
            });
    }
    // Distance of an image of another body from an image of this body, lengths.
    double distance(Body other, const Point& image, const Point& own) const {
        for (int a = 0; a < 3; ++a) {
            const double shift = static_cast<double>(image[a] - own[a]) * position_unit;
            other.lower[a] += shift, other.upper[a] += shift, other.center[a] += shift;
        }
        return md::distance(other, f_.body());
    }

    const RandomFilling& f_;
    const balance::Box core_;
    balance::Box all_;        // with the margin
    std::vector<int> first_;  // known points, by cell
    std::vector<Known> points_;
};

RandomFilling::RandomFilling(const Domain& domain, const Body& body, std::size_t number, std::uint64_t seed,
                             std::span<const Filling* const> others, std::vector<Body> solid)
    : Filling(domain, body),
      others_(others),
      solid_(std::move(solid)),
      key_(mix(~mix(seed) ^ number)),
      region_(body),
      spacing_(std::llrint(body.spacing / position_unit)) {
    // Lattices know how far apart particles of a density are; here any lattice does.
    const int dimensions = region_.dimensions;
    const double mean = lattice_constant(dimensions == 2 ? LatticeKind::hexagonal : LatticeKind::sc, body.density);
    for (int a = 0; a < dimensions; ++a) {
        const Axis& axis = domain.axis[a];
        axis_[a] = {axis.length, cells_along(axis.real_length(), std::max(body.spacing, mean)), axis.periodic};
        cells_.lower[a] = axis_[a].cell_of(region_.lower[a]);
        cells_.upper[a] = axis_[a].cell_of(region_.upper[a] - 1) + 1;
    }
}

bool RandomFilling::near_solid(const Point& at) const {
    if (solid_.empty() || spacing_ == 0) return false;
    bool near = false;
    balance::for_each_image(domain_.grid(), 1, [&](const std::array<int, 3>& image) {
        Point shift{};
        for (int a = 0; a < region_.dimensions; ++a) shift[a] = image[a] * axis_[a].fixed_length();
        near = near || std::any_of(solid_.begin(), solid_.end(),
                                   [&](const Body& other) { return distance_to(other, at, shift) < body().spacing; });
    });
    return near;
}

bool RandomFilling::in_profile(const Point& at, std::uint64_t mark) const {
    const Profile& profile = body().profile;
    if (profile.kind == ProfileKind::uniform) return true;
    const std::uint64_t bits = mix(mark + 3);  // those before are for the coordinates
    return unit_number(bits) < relative_density(body(), at[static_cast<std::size_t>(profile.axis)]);
}

int RandomFilling::most_epochs() const {
    double trials = volume(body()) * means_of(body()).first;  // of an epoch
    for (int a = 0; a < region_.dimensions; ++a) trials /= axis_[a].cell_width();
    return static_cast<int>(
        std::clamp(trials_per_particle * static_cast<double>(particle_count(body())) / trials, 128.0, 1e6));
}

balance::Box RandomFilling::block(std::int64_t number) const {
    balance::Box box = cells_;
    for (int a = 0; a < region_.dimensions; ++a) {
        const std::int64_t along = (cells_.extent(a) + block_side() - 1) / block_side();
        box.lower[a] = cells_.lower[a] + static_cast<int>(number % along) * block_side();
        box.upper[a] = std::min(box.lower[a] + block_side(), cells_.upper[a]);
        number /= along;
    }
    return box;
}

std::int64_t RandomFilling::blocks() const {
    std::int64_t n = 1;
    for (int a = 0; a < region_.dimensions; ++a) n *= (cells_.extent(a) + block_side() - 1) / block_side();
    return n;
}

std::vector<Placed> RandomFilling::placed(const balance::Box& cells, int epochs) const {
    for (int margin = spacing_ > 0 ? first_margin : 0;; margin *= 2)
        if (std::optional<std::vector<Placed>> kept = Patch(*this, cells, margin).evaluate(epochs))
            return std::move(*kept);
}

void RandomFilling::for_each_in(const Point& lower, const Point& upper,
                                const std::function<void(const Point&)>& use) const {
    balance::Box cells;
    for (int a = 0; a < region_.dimensions; ++a)
        cells.lower[a] = axis_[a].cell_of(lower[a]), cells.upper[a] = axis_[a].cell_of(upper[a] - 1) + 1;
    const balance::Box mine = balance::intersection(cells, cells_);
    for_each_part(mine, block_side(), [&](const balance::Box& part) {
        for (const Placed& p : placed(part, last_->epoch + 1)) {
            bool inside = p.when <= *last_;
            for (int a = 0; a < region_.dimensions; ++a) inside = inside && p.at[a] >= lower[a] && p.at[a] < upper[a];
            if (inside) use(p.at);
        }
    });
}

}  // namespace md
