// SPDX-License-Identifier: MIT
// Frames are in the order of ids, so that frames can be subtracted. Ranks exchange the rows in windows of ids: no rank
// ever holds more than its share of a frame.
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <span>

#include "app/output/checkpoint/h5md.hpp"
#include "app/output/series/frame_series.hpp"
#include "balance/team.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

constexpr const char* trajectory_file = "trajectory.h5";

// Datasets in the order of describe().
enum TrajectoryPlace : std::size_t { place_step, place_time, place_edges, place_id, first_column };

// A frame goes out in windows of ids, of which each rank writes this many rows at a time: little memory, long writes.
constexpr std::int64_t window_rows = 1 << 16;

// A particle on its way to the rank that writes its row.
struct TrajectoryRow {
    std::int64_t id;
    std::array<double, 3> value;
};

std::array<double, 3> value_of(Column column, const md::Particle<3>& p, const md::Domain& domain) {
    std::array<double, 3> value{};
    for (int a = 0; a < domain.dimensions; ++a)
        value[a] = column == Column::velocity
                       ? static_cast<double>(p.v[a]) * md::velocity_unit
                       : static_cast<double>(md::wrapped(p.x[a], domain.axis[a])) * md::position_unit;
    return value;
}

std::vector<std::int64_t> trajectory_steps(const std::string& path) {
    for (const Column column : {Column::position, Column::velocity, Column::force})
        if (std::vector<std::int64_t> steps = comm::read_integers(path, h5md_path(column) + "/step"); !steps.empty())
            return steps;
    return {};
}

class TrajectoryFile final : public FrameSeries {
public:
    /// write() needs force_pass(..., keep_forces) where the deck wants forces.
    explicit TrajectoryFile(const SeriesContext& c)
        : FrameSeries(c, {trajectory_file, h5md_path(c.deck.output.trajectory_columns.front()) + "/step",
                          trajectory_steps, c.deck.output.interval("trajectory"),
                          c.particles * 24 * std::ssize(c.deck.output.trajectory_columns) + 100}),
          columns_(c.deck.output.trajectory_columns),
          particles_(c.particles),
          domain_(c.domain) {
        go_on(c);
    }

private:
    void write_frame(std::int64_t frame, const OutputStep& now) override {
        if (comm().rank() == 0) {
            const std::array<double, 9> edges = h5md_edges(domain_);
            file().write(place_step, frame, 0, &now.step, 1);
            file().write(place_time, frame, 0, &now.time, 1);
            file().write(place_edges, frame, 0, edges.data(), 3);
        }
        if (first_ids_.empty()) first_ids_ = first_ids(now.engine);
        write_in_order(frame, now.engine);
    }
    std::vector<comm::FramePlace> describe(comm::FileWriter& file, std::int64_t frames,
                                           std::int64_t capacity) const override {
        // The parts that change with the number of frames come first, so that they lie in one page.
        const std::string first = h5md_path(columns_.front());
        std::vector<comm::FramePlace> places{
            file.frames(first + "/step", comm::Element::int64, frames, capacity),
            file.frames(first + "/time", comm::Element::float64, frames, capacity),
            file.frames(h5md_box + "/edges/value", comm::Element::float64, frames, capacity, {3, 3})};
        places.push_back({});
        for (const Column c : columns_)
            places.push_back(
                file.frames(h5md_path(c) + "/value", comm::Element::float64, frames, capacity, {particles_, 3}));
        places[place_id] = {file.reserve("/particles/all/id", comm::Element::int64, particles_), 8, particles_, 1,
                            true};
        for (const Column c : columns_) file.attribute(h5md_path(c) + "/value", "unit", h5md_unit(c));
        file.attribute(first + "/time", "unit", h5md_time_unit);
        for (std::size_t c = 1; c < columns_.size(); ++c)
            for (const char* stamp : {"/step", "/time"}) file.link(h5md_path(columns_[c]) + stamp, first + stamp);
        for (const char* stamp : {"/step", "/time"}) file.link(h5md_box + "/edges" + stamp, first + stamp);
        describe_h5md(file, domain_);
        return places;
    }
    // The ids with which the ranges of window_rows rows begin, and one beyond all. Those of slabs are the rows'
    // numbers; those of a file may be any. Found by bisection, all at once.
    std::vector<std::int64_t> first_ids(const Engine& engine) const {
        std::vector<std::int64_t> ids;
        for (std::size_t t = 0; t < engine.tiles().size(); ++t)
            for (std::int64_t i = 0; i < engine.tiles().particles(t); ++i)
                ids.push_back(engine.tiles().particle(t, i).id);
        std::ranges::sort(ids);
        constexpr std::int64_t beyond = std::int64_t{1} << 62;
        const std::int64_t ranges = (particles_ + window_rows - 1) / window_rows;
        std::vector<std::int64_t> low(ranges, 0), high(ranges, beyond),
            before(ranges);  // row k * window_rows is in [low, high)
        for (std::int64_t width = beyond; width > 1; width /= 2) {
            for (std::int64_t k = 0; k < ranges; ++k)
                before[k] = std::ranges::lower_bound(ids, low[k] + width / 2) - ids.begin();
            comm().sum(std::span(before));
            for (std::int64_t k = 0; k < ranges; ++k)
                (before[k] <= k * window_rows ? low[k] : high[k]) = low[k] + width / 2;
        }
        low.push_back(beyond);
        return low;
    }
    // Particles lie in the ranks by place. Window by window of ids they go to the rank that writes their rows.
    void write_in_order(std::int64_t frame, const Engine& engine) {
        const std::int64_t ranks = comm().size(), ranges = std::ssize(first_ids_) - 1,
                           windows = (ranges + ranks - 1) / ranks;
        const auto range_of = [&](std::int64_t id) {
            return std::ranges::upper_bound(first_ids_, id) - first_ids_.begin() - 1;
        };
        std::vector<std::int64_t> begin(engine.tiles().size() + 1,
                                        0);  // of each tile in a list of all of this rank's particles
        for (std::size_t t = 0; t < engine.tiles().size(); ++t) begin[t + 1] = begin[t] + engine.tiles().particles(t);
        // Places in that list, window by window.
        std::vector<std::int64_t> first(windows + 1, 0);
        const auto for_each = [&](auto visit) {
            for (std::size_t t = 0; t < engine.tiles().size(); ++t)
                for (std::int64_t i = begin[t]; i < begin[t + 1]; ++i)
                    visit(i, engine.tiles().particle(t, i - begin[t]).id);
        };
        for_each([&](std::int64_t, std::int64_t id) { ++first[range_of(id) / ranks + 1]; });
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<std::uint32_t> place(begin.back());
        std::vector<std::int64_t> next(first.begin(), first.end() - 1);
        for_each([&](std::int64_t at, std::int64_t id) {
            place[next[range_of(id) / ranks]++] = static_cast<std::uint32_t>(at);
        });

        std::vector<std::vector<std::byte>> to_rank(comm().size());
        std::vector<double> values;
        std::vector<std::int64_t> ids;
        for (std::int64_t w = 0; w < windows; ++w)
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                for (auto& out : to_rank) out.clear();
                std::size_t t = 0;
                for (std::int64_t k = first[w]; k < first[w + 1]; ++k) {
                    while (place[k] >= begin[t + 1]) ++t;
                    const std::int64_t i = place[k] - begin[t];
                    const md::Particle<3> p = engine.tiles().particle(t, i);
                    const TrajectoryRow row{
                        p.id, columns_[c] == Column::force ? engine.force(t, i) : value_of(columns_[c], p, domain_)};
                    balance::append(to_rank[range_of(row.id) % ranks], row);
                }
                auto in = balance::elements_in<TrajectoryRow>(comm().all_to_all(to_rank));
                std::ranges::sort(in, {}, &TrajectoryRow::id);
                const std::int64_t lowest = (w * ranks + comm().rank()) * window_rows, mine = std::ssize(in);
                values.clear();
                for (const TrajectoryRow& row : in) values.insert(values.end(), row.value.begin(), row.value.end());
                file().write(first_column + c, frame, lowest, values.data(), mine);
                if (frame > 0 || c > 0) continue;
                ids.clear();
                for (const TrajectoryRow& row : in) ids.push_back(row.id);
                file().write(place_id, 0, lowest, ids.data(), mine);
            }
    }

    std::vector<Column> columns_;
    std::int64_t particles_;
    std::vector<std::int64_t> first_ids_;  ///< of each range of rows
    const md::Domain domain_;
};

}  // namespace

SeriesKind trajectory_series() {
    return {{trajectory_file},
            [](const Deck& deck) {
                const std::vector<Column>& columns = deck.output.trajectory_columns;
                return Needs{.forces = std::ranges::find(columns, Column::force) != columns.end()};
            },
            started<TrajectoryFile>,
            trajectory_steps};
}

}  // namespace app
