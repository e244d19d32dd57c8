// SPDX-License-Identifier: MIT
#include "tools/replay/load_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "app/run/start.hpp"
#include "balance/model/cell_counts.hpp"
#include "balance/replay.hpp"
#include "comm/file/durable.hpp"
#include "comm/team.hpp"

namespace app {
namespace {

constexpr const char *load_name = "/load", *particles_name = "/particles", *ahead_name = "/particles_ahead",
                     *bytes_name = "/bytes", *step_name = "/step";

}  // namespace

bool LoadSeriesReader::has_particles() const { return std::ranges::count(counts_, particles_name) > 0; }
bool LoadSeriesReader::has_ahead() const { return std::ranges::count(counts_, ahead_name) > 0; }

LoadSeriesReader::LoadSeriesReader(const std::string& path, const comm::Communicator& comm)
    : file_(path, comm), path_(path), comm_(comm) {
    check_shapes();
    require_memory();
    check_steps();
    find_scale();
}

void LoadSeriesReader::check_shapes() {
    const comm::FieldSeriesReader::Shape shape = file_.shape(load_name);
    refuse_unless<InputError>(comm_, shape.times > 0, "{}: {} holds no times; give one at least", path_, load_name);
    has_bytes_ = file_.has(bytes_name);
    for (const char* name : {particles_name, ahead_name, bytes_name}) {
        if (!file_.has(name)) continue;
        if (name != bytes_name) counts_.emplace_back(name);
        refuse_unless<InputError>(comm_, file_.shape(name) == shape,
                                  "{}: {} and {} have different shapes; give both for the same times and cells", path_,
                                  load_name, name);
    }
    grid_ = {shape.cells, {false, false, false}, shape.dimensions};
    const std::vector<std::string> boundary = file_.texts("boundary");
    const bool fits = boundary.empty() || boundary.size() == static_cast<std::size_t>(shape.dimensions);
    refuse_unless<InputError>(comm_, fits, "{}: its attribute boundary has {} for {} axes; give one for each", path_,
                              counted(std::ssize(boundary), "word"), shape.dimensions);
    for (std::size_t a = 0; a < boundary.size(); ++a) grid_.periodic[a] = boundary[a] == "periodic";
    steps_.resize(shape.times);
}

// Rank 0 reads a field; then each rank holds the cells of its home.
void LoadSeriesReader::require_memory() const {
    const double read = 40, balanced = balanced_cell_bytes * comm_.node_size() / comm_.size();
    const std::int64_t cells = grid_.box().cells();
    on_rank_0(comm_, [&] {
        if (const std::string lack = comm::lack_of_memory((read + balanced) * static_cast<double>(cells));
            !lack.empty())
            throw InputError("{}: a replay of its {} {}; use larger cells", path_, counted(cells, "cell"), lack);
    });
}

void LoadSeriesReader::check_steps() {
    if (!file_.has(step_name)) return std::iota(steps_.begin(), steps_.end(), 0);
    const std::vector<std::int64_t> found = file_.integers(step_name);
    refuse_unless<InputError>(comm_, found.size() == steps_.size(), "{}: {} has {} for {} of {}; give one for each",
                              path_, step_name, counted(std::ssize(found), "step"), counted(times(), "time"),
                              load_name);
    const bool ascending = std::ranges::adjacent_find(found, std::greater_equal<>()) == found.end();
    refuse_unless<InputError>(
        comm_, ascending && found.front() >= 0 && found.back() <= last_step,
        "{}: the numbers in {} do not ascend from 0 or more up to 10^15; give each time a later step", path_,
        step_name);
    steps_ = found;
}

// Looks at every number once.
void LoadSeriesReader::find_scale() {
    balance::SeriesNumbers numbers;
    for (std::int64_t t = 0; t < times(); ++t) {
        const auto require_good = [&](balance::SeriesNumbers::Bad bad, const std::string& counts) {
            comm_.sum(bad);
            const std::string flaw = balance::SeriesNumbers::flaw_of_entry(bad, t, counts);
            comm::require(comm_, flaw.empty(), [&] { return InputError(path_ + ": " + flaw); });
        };
        require_good(numbers.see(file_.home(load_name, t), {}), "");
        if (has_bytes_) require_good(numbers.see({}, {}, file_.home(bytes_name, t)), "");
        for (const std::string& name : counts_) require_good(numbers.see({}, file_.home(name, t)), name);
    }
    // Largest numbers of all ranks. Numbers >= 0 have the order of their bits.
    std::array most{&numbers.largest, &numbers.most_particles, &numbers.most_bytes};
    std::array<std::int64_t, most.size()> bits;
    std::ranges::transform(most, bits.begin(), [](const double* v) { return std::bit_cast<std::int64_t>(*v); });
    comm_.max(bits);
    for (std::size_t i = 0; i < bits.size(); ++i) *most[i] = std::bit_cast<double>(bits[i]);
    const std::int64_t cells = grid_.box().cells();
    const std::string flaw = numbers.flaw(cells);
    comm::require(comm_, flaw.empty(), [&] { return InputError(path_ + ": " + flaw); });
    scale_ = balance::series_scale(numbers.largest, cells);
}

balance::HomeCells LoadSeriesReader::cells(std::int64_t time) const {
    balance::HomeCells cells;
    for (const double v : file_.home(load_name, time)) cells.work.push_back(balance::to_ticks(v * scale_));
    cells.counts.resize(cells.work.size());
    const auto counts_of = [&](const char* name) {
        const std::vector<double> particles = file_.home(name, time);
        return counts_around(comm::Ranks(comm_), grid_, std::vector<std::int32_t>(particles.begin(), particles.end()));
    };
    if (has_particles()) cells.counts = counts_of(particles_name);
    if (has_ahead()) cells.ahead = counts_of(ahead_name);
    if (has_bytes_) cells.bytes = balance::in_parts_of_bytes(file_.home(bytes_name, time));
    return cells;
}

}  // namespace app
