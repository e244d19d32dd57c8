// SPDX-License-Identifier: MIT
// Frames are in the order of ids, so that frames can be subtracted. Ranks exchange the rows in windows of ids: no rank
// ever holds more than its share of a frame.
#include "app/output/trajectory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>

#include "app/common/errors.hpp"
#include "app/output/h5md.hpp"
#include "app/output/run_directory.hpp"
#include "balance/grid/grid.hpp"
#include "comm/file/durable.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

constexpr const char* file_name = "trajectory.h5";

// Datasets in the order of describe().
enum Place : std::size_t { place_step, place_time, place_edges, place_id, first_column };

// A frame goes out in windows of ids, of which each rank writes this many rows at a time: little memory, long writes.
constexpr std::int64_t window_rows = 1 << 16;

// A particle on its way to the rank that writes its row.
struct Row {
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

}  // namespace

std::vector<std::int64_t> trajectory_steps(const std::string& path) {
    for (const Column column : {Column::position, Column::velocity, Column::force})
        if (std::vector<std::int64_t> steps = comm::read_integers(path, h5md_path(column) + "/step"); !steps.empty())
            return steps;
    return {};
}

SeriesKind trajectory_series() {
    return {{file_name},
            [](const Deck& deck) {
                const std::vector<Column>& columns = deck.output.trajectory_columns;
                return Needs{.forces = std::find(columns.begin(), columns.end(), Column::force) != columns.end()};
            },
            started<TrajectoryFile>};
}

TrajectoryFile::TrajectoryFile(const SeriesContext& c)
    : results_(c.results),
      path_(c.results.path() + "/" + file_name),
      comm_(c.results.comm()),
      columns_(c.deck.output.trajectory_columns),
      every_(c.deck.output.interval("trajectory")),
      last_step_(c.deck.run.steps),
      particles_(c.particles),
      domain_(c.domain),
      file_(path_, comm_, [this](comm::FileWriter& file, std::int64_t frames, std::int64_t capacity) {
          return describe(file, frames, capacity);
      }) {
    if (results_.continued()) go_on(c.first_step, c.expected);
}

std::vector<comm::FramePlace> TrajectoryFile::describe(comm::FileWriter& file, std::int64_t frames,
                                                       std::int64_t capacity) const {
    // What changes with the number of frames comes first, so that it lies in one page.
    const std::string first = h5md_path(columns_.front());
    std::vector<comm::FramePlace> places{
        file.frames(first + "/step", comm::Element::int64, frames, capacity),
        file.frames(first + "/time", comm::Element::float64, frames, capacity),
        file.frames(h5md_box + "/edges/value", comm::Element::float64, frames, capacity, 3, 3)};
    places.push_back({});
    for (const Column c : columns_)
        places.push_back(file.frames(h5md_path(c) + "/value", comm::Element::float64, frames, capacity, particles_, 3));
    places[place_id] = {file.reserve("/particles/all/id", comm::Element::int64, particles_), 8, particles_, 1, true};
    for (const Column c : columns_) file.attribute(h5md_path(c) + "/value", "unit", h5md_unit(c));
    file.attribute(first + "/time", "unit", h5md_time_unit);
    for (std::size_t c = 1; c < columns_.size(); ++c)
        for (const char* stamp : {"/step", "/time"}) file.link(h5md_path(columns_[c]) + stamp, first + stamp);
    for (const char* stamp : {"/step", "/time"}) file.link(h5md_box + "/edges" + stamp, first + stamp);
    describe_h5md(file, domain_);
    return places;
}

// Frames of the whole run, but no larger a file than file systems take; then it grows by copying.
std::int64_t TrajectoryFile::room_for(std::int64_t frames) const {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 42;
    const std::int64_t frame_bytes = particles_ * 24 * static_cast<std::int64_t>(columns_.size()) + 100;
    return std::min(frames, std::max<std::int64_t>(1, most_bytes / frame_bytes));
}

void TrajectoryFile::go_on(std::int64_t step, bool expected) {
    std::array<std::int64_t, 4> found{};  // is there a file, frames in it, frames that stay, capacity
    if (comm_.rank() == 0) {
        const std::vector<std::int64_t> steps = trajectory_steps(path_);
        const auto stay = std::upper_bound(steps.begin(), steps.end(), step) - steps.begin();
        found = {comm::file_size(path_) >= 0, static_cast<std::int64_t>(steps.size()), stay,
                 comm::count_frames(path_, h5md_path(columns_.front()) + "/step").capacity};
    }
    comm_.broadcast(found);
    const auto [exists, frames, stay, capacity] = found;
    if (!exists && expected) on_rank_0(comm_, [&] { results_.note_missing(file_name); });
    if (!exists || (every_ == 0 && frames == stay)) return;
    if (stay == 0 || !file_.open(frames, capacity))
        return on_rank_0(comm_, [&] { results_.put_aside(file_name, "holds no frames that this run can go on with"); });
    file_.keep(stay);
    if (every_ == 0) return;
    const std::int64_t needed = stay + last_step_ / every_ - step / every_;
    if (needed > capacity) file_.grow(std::max(stay + 1, room_for(needed)));
}

// Another program may have removed it: then it is begun anew with the next frame. Returns whether it has.
bool TrajectoryFile::forget_if_damaged() {
    std::int64_t damaged = 0;
    on_rank_0(comm_, [&] {
        const std::string damage = file_.damage();
        if (!damage.empty()) results_.lost(file_name, damage), damaged = 1;
    });
    comm_.broadcast(std::span(&damaged, 1));
    if (damaged) file_.forget();
    return damaged != 0;
}

// Does something with the file. False where another program has taken it meanwhile.
template <class Body>
bool TrajectoryFile::unless_damaged(Body body) {
    forget_if_damaged();
    try {
        body();
    } catch (const comm::Agreed<comm::WriteError>&) {
        if (!forget_if_damaged()) throw;
        return false;
    }
    return true;
}

void TrajectoryFile::flush() {
    unless_damaged([&] { file_.flush(); });
}

void TrajectoryFile::write(const Moment& now) {
    if (!unless_damaged([&] { add_frame(now); })) add_frame(now);
}

void TrajectoryFile::add_frame(const Moment& now) {
    const std::int64_t step = now.step, frame = file_.frames();
    if (file_.capacity() == 0) file_.create(room_for(1 + last_step_ / every_ - step / every_));
    else if (frame == file_.capacity()) file_.grow(2 * frame);
    if (comm_.rank() == 0) {
        const std::array<double, 9> edges = h5md_edges(domain_);
        file_.write(place_step, frame, 0, &step, 1);
        file_.write(place_time, frame, 0, &now.time, 1);
        file_.write(place_edges, frame, 0, edges.data(), 3);
    }
    if (frame == 0) {
        const balance::Range mine = balance::block(particles_, comm_.rank(), comm_.size());
        std::vector<std::int64_t> ids(mine.size());
        std::iota(ids.begin(), ids.end(), mine.begin);
        file_.write(place_id, 0, mine.begin, ids.data(), mine.size());
    }
    write_in_order(frame, now.engine);
    file_.commit();
}

// Particles lie in the ranks by place. Window by window of ids they go to the rank that writes their rows.
void TrajectoryFile::write_in_order(std::int64_t frame, const Engine& engine) {
    const std::int64_t window = window_rows * comm_.size(), windows = (particles_ + window - 1) / window;
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
    for_each([&](std::int64_t, std::int64_t id) { ++first[id / window + 1]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> place(begin.back());
    std::vector<std::int64_t> next(first.begin(), first.end() - 1);
    for_each([&](std::int64_t at, std::int64_t id) { place[next[id / window]++] = static_cast<std::uint32_t>(at); });

    std::vector<std::vector<std::byte>> to_rank(comm_.size());
    std::vector<double> rows;
    for (std::int64_t w = 0; w < windows; ++w)
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            for (auto& out : to_rank) out.clear();
            std::size_t t = 0;
            for (std::int64_t k = first[w]; k < first[w + 1]; ++k) {
                while (place[k] >= begin[t + 1]) ++t;
                const std::int64_t i = place[k] - begin[t];
                const md::Particle<3> p = engine.tiles().particle(t, i);
                const Row row{p.id,
                              columns_[c] == Column::force ? engine.force(t, i) : value_of(columns_[c], p, domain_)};
                const auto bytes = std::as_bytes(std::span(&row, 1));
                auto& out = to_rank[row.id % window / window_rows];
                out.insert(out.end(), bytes.begin(), bytes.end());
            }
            const std::vector<std::byte> in = comm_.all_to_all(to_rank);
            const std::int64_t lowest = w * window + comm_.rank() * window_rows,
                               mine = std::clamp<std::int64_t>(particles_ - lowest, 0, window_rows);
            rows.assign(3 * mine, 0.0);
            for (std::size_t at = 0; at < in.size(); at += sizeof(Row)) {
                Row row;
                std::memcpy(&row, &in[at], sizeof row);
                std::copy(row.value.begin(), row.value.end(), &rows[3 * (row.id - lowest)]);
            }
            file_.write(first_column + c, frame, lowest, rows.data(), mine);
        }
}

}  // namespace app
