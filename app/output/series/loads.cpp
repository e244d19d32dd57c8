// SPDX-License-Identifier: MIT
// loads.h5: what the cells cost and hold, step by step: a load series, which `steelyard replay` balances again.
//
// The counted work of each cell and its particles, as a balancing by counted work sees them. Each rank writes the cells
// of its home (balance/grid/field.hpp).
#include <span>
#include <vector>

#include "app/output/series/frame_series.hpp"
#include "balance/grid/field.hpp"
#include "balance/round.hpp"
#include "comm/file/frame_file.hpp"

namespace app {
namespace {

constexpr const char* loads_file = "loads.h5";

// Datasets in the order of describe().
enum LoadsPlace : std::size_t { entry_step, entry_time, entry_load, entry_particles, entry_ahead };

std::vector<std::int64_t> loads_steps(const std::string& path) { return comm::read_integers(path, "/step"); }

class LoadSeries final : public FrameSeries {
public:
    explicit LoadSeries(const SeriesContext& c)
        : FrameSeries(c, {loads_file, "/step", loads_steps, c.deck.output.interval("loads"),
                          c.domain.grid().box().cells() * 16 + 16}),
          grid_(c.domain.grid()),
          work_(c.deck.balance.work),
          ahead_(c.looks_ahead) {
        for (int a = 0; a < grid_.dimensions; ++a) {
            box_.push_back(c.deck.system.box[a]);
            boundary_.emplace_back(grid_.periodic[a] ? "periodic" : "reflecting");
        }
        go_on(c);
    }

private:
    void write_frame(std::int64_t frame, const OutputStep& now) override {
        if (comm().rank() == 0) {
            file().write(entry_step, frame, 0, &now.step, 1);
            file().write(entry_time, frame, 0, &now.time, 1);
        }
        const balance::HomeCells cells = now.balancer.count(now.step, now.engine);
        const balance::Box home = balance::Homes{grid_, comm().size()}.of(comm().rank());
        std::vector<double> loads(home.extent(0));
        std::vector<std::int32_t> particles(home.extent(0)), ahead(particles);
        for (int z = home.lower[2]; z < home.upper[2]; ++z)
            for (int y = home.lower[1]; y < home.upper[1]; ++y) {
                for (int x = home.lower[0]; x < home.upper[0]; ++x) {
                    const std::int64_t i = balance::place_in(home, x, y, z), to = x - home.lower[0];
                    loads[to] = balance::to_seconds(cells.work[i]);
                    particles[to] = cells.counts[i].n;
                    if (cells.ahead) ahead[to] = (*cells.ahead)[i].n;
                }
                const std::int64_t row = std::int64_t{z} * grid_.cells[1] + y, first = home.lower[0];
                const auto write = [&]<class T>(std::size_t place, const std::vector<T>& values) {
                    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
                    file().write_part(place, frame, row, first * size, values.data(), std::ssize(values) * size);
                };
                write(entry_load, loads);
                write(entry_particles, particles);
                if (ahead_) write(entry_ahead, ahead);
            }
    }
    std::vector<comm::FramePlace> describe(comm::FileWriter& file, std::int64_t frames,
                                           std::int64_t capacity) const override {
        std::vector<std::int64_t> extents;
        for (int a = grid_.dimensions - 1; a >= 0; --a) extents.push_back(grid_.cells[a]);  // x varies fastest
        std::vector<comm::FramePlace> places{
            file.frames("/step", comm::Element::int64, frames, capacity),
            file.frames("/time", comm::Element::float64, frames, capacity),
            file.frames("/load", comm::Element::float64, frames, capacity, extents),
            file.frames("/particles", comm::Element::int32, frames, capacity, extents)};
        if (ahead_) places.push_back(file.frames("/particles_ahead", comm::Element::int32, frames, capacity, extents));
        file.attribute("/load", "unit", "seconds a step, counted work");
        // At other prices the series would be another one: a restart begins it anew.
        file.attribute("/load", "prices",
                       std::array{work_.cell, work_.particle, work_.candidate, work_.pair, work_.spill,
                                  static_cast<double>(work_.capacity), work_.region_factor, work_.region_lower[0],
                                  work_.region_lower[1], work_.region_upper[0], work_.region_upper[1]});
        const balance::ActiveSteps& active = work_.region_active;
        if (active != balance::ActiveSteps{})
            file.attribute("/load", "region_steps",
                           std::array{active.from_step, active.to_step.value_or(-1), active.period.value_or(-1)});
        file.attribute("/", "box", std::span(box_));
        file.attribute("/", "boundary", boundary_);
        return places;
    }

    balance::Grid grid_;
    balance::WorkCosts work_;
    bool ahead_;
    std::vector<double> box_;
    std::vector<std::string> boundary_;
};

}  // namespace

SeriesKind loads_series() {
    return {{loads_file}, [](const Deck&) { return Needs{.cells = true}; }, started<LoadSeries>, loads_steps};
}

}  // namespace app
