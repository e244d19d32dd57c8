// SPDX-License-Identifier: MIT
// Files that a run writes at regular steps, beside thermo.csv. Each is an entry of one table. To add one:
// docs/extend.md.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/deck/deck.hpp"
#include "app/engine/engine.hpp"
#include "md/domain.hpp"

namespace app {

class RunDirectory;

/// A step at which something is written.
struct OutputStep {
    std::int64_t step = 0;
    double time = 0;
    Engine& engine;
    const LoadBalancer& balancer;
};

/// State that the engine must have ready. Positions and velocities are always of the same time.
struct Needs {
    bool cells = false;   ///< particles just sorted into their cells
    bool forces = false;  ///< Engine::force()
};

/// A file that is written at regular steps. All calls are collective and throw OutputError or comm::WriteError.
class Series {
public:
    virtual ~Series() = default;
    virtual void write(const OutputStep& now) = 0;
    /// Flushes the file to the disk, because a checkpoint comes next. A restart from this checkpoint goes on with the
    /// file.
    virtual void flush() {}
};

/// The run that a series describes.
struct SeriesContext {
    RunDirectory& results;  ///< prepared
    const Deck& deck;
    const md::Domain& domain;
    std::int64_t particles = 0;   ///< in all; their ids are 0 .. particles - 1
    std::int64_t first_step = 0;  ///< where this start of the run begins
    bool expected = false;        ///< the run that is continued has written this series
    bool looks_ahead = false;     ///< as LoadBalancer::looks_ahead()
};

struct SeriesKind {
    std::vector<std::string_view> files;  ///< names; a * stands for the step, where there is a file for each
    Needs (*needs)(const Deck& deck);
    /// Begins the files, or goes on with the files of the run that is continued.
    std::unique_ptr<Series> (*start)(const SeriesContext& context);
    /// Returns the steps of the frames in the file at this path, ascending; empty if the file is not readable. On this
    /// rank only. Null for files that do not grow by frames.
    std::vector<std::int64_t> (*frame_steps)(const std::string& path) = nullptr;
    std::string_view name = {};  ///< as in the deck's key output.<name>_every
};

/// SeriesKind::start for a series that is made from its context alone.
template <class Kind>
std::unique_ptr<Series> started(const SeriesContext& context) {
    return std::make_unique<Kind>(context);
}

/// Those that outputs.hpp names, in its order.
const std::vector<SeriesKind>& series_kinds();

}  // namespace app
