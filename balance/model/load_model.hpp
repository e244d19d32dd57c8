// SPDX-License-Identifier: MIT
// Load models: from the times that processes were measured to need to a load of each cell.
//
// A model is a class that sees one process, or one piece of a process, at a time. Knowledge of all processes reaches it
// in two ways: as exact sums, or as the conclusions of one member from a few numbers of each process. So results do not
// depend on who hosts what. To add one: a file with a class derived from LoadModel, a line in STEELYARD_MODELS
// (load_model.cpp), a test: docs/extend.md.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "balance/over_all.hpp"
#include "balance/words.hpp"

namespace balance {

/// Counts of a cell, known without measuring: particles in it, in the 3 x 3 and in the 5 x 5 cells around it.
struct CellCounts {
    std::int32_t n = 0, n3 = 0, n5 = 0;
};

/// One process since the last balancing. It has all cells of the process, in a fixed order that depends on the boxes
/// alone. For an additive() model it may have only some of them.
struct ProcessView {
    std::span<const CellCounts> cells;
    std::span<double>
        state;  ///< what the model remembers of each cell, read and write; it stays with the cell, whoever owns it
    double time = 0;  ///< measured compute seconds a step
    std::int64_t index = 0;
    /// Counts of the cells at the time when their loads count. Empty if they are unknown or the model does not want
    /// them (wants_ahead()).
    std::span<const CellCounts> ahead{};
    std::span<const double> contribution{};  ///< The model's contribution() in the last round, of all cells.
    /// True seconds a step of each cell. Empty if they are unknown (without counted work) or the model does not want
    /// them (wants_costs()).
    std::span<const double> costs{};
};

/// Sums over all processes.
struct Totals {
    double time = 0;  ///< seconds a step
    std::int64_t particles = 0, cells = 0, processes = 0;
};

/// The loads that all models start from, since before the first measurement none of them knows anything.
enum class Start {
    particles,  ///< of each cell its particle count
    uniform,    ///< 1 for each cell
};
constexpr auto words_of(Start) {
    return std::to_array<Word<Start>>({{Start::particles, "particles"}, {Start::uniform, "uniform"}});
}
inline double first_load(Start start, const CellCounts& cell) { return start == Start::uniform ? 1.0 : cell.n; }

/// Constants of all models (deck section balance.constants).
struct ModelConstants {
    double weight = 0.5;   ///< moving_average: of the new value, in (0, 1]
    double threshold = 0;  ///< a1, b1: alpha of the paper, in [0, 0.1); 0 = off
    Start start = Start::particles;
    double forgetting = 0.8;   ///< r1: weight of the past in the fit
    double floor = 0.15;       ///< r1: smallest gain
    double noise_weight = 16;  ///< r1: how many squared noise levels a deviation must beat
    std::vector<double> costs{2e-9, 1.5e-8, 6e-10,
                              0};  ///< r1: first guess of the fit: seconds for a cell, a particle, n * n3, n * n5
    friend bool operator==(const ModelConstants&, const ModelConstants&) = default;
};

/// Models fit costs to at most this number of processes. That is enough for a few costs, and no member needs more.
inline constexpr std::int64_t most_concluded = most_known_to_one;
/// Models conclude from the processes with multiples of this number. It is odd, so that not all of them are on the same
/// socket of each node.
inline std::int64_t concluded_every(std::int64_t processes) {
    return (processes + most_concluded - 1) / most_concluded | 1;
}
/// The first multiple of `every` from this process on.
inline std::int64_t next_of_sample(std::int64_t process, std::int64_t every) {
    return (process + every - 1) / every * every;
}

class LoadModel {
public:
    virtual ~LoadModel() = default;

    /// State of a cell before anything was measured.
    virtual double first_state(const CellCounts& cell) const = 0;
    /// Numbers of a process that the model wants to see of all processes, in rounds; called for round 0, 1, ... <
    /// rounds().
    virtual int rounds() const { return 0; }
    virtual std::vector<double> contribution(int /*round*/, const ProcessView&) const { return {}; }
    /// True if (1) the contribution of a process is the sum of its cells' contributions, each a whole number below 2^53
    /// (ExactSum), and (2) update() needs only the cell itself and its process's time and contribution. Then each
    /// member updates the cells of its own home, and no cell value travels. A call may have any of a process's cells,
    /// in any order, or none.
    virtual bool additive() const { return false; }
    /// Conclusions from all processes. One member calls it and the others wait for its answer, so it must not throw.
    /// rows: contribution of each process one after the other.
    /// times: seconds a step of each process.
    ///
    /// Above `most_concluded` processes, every third process, or fifth, ..., stands for all. Sums over them are then
    /// not the sums over all processes (Totals).
    virtual std::vector<double> conclude(int /*round*/, std::span<const double> /*rows*/,
                                         std::span<const double> /*times*/) const {
        return {};
    }
    /// Takes that over, on every member.
    virtual void learn(int /*round*/, std::span<const double> /*conclusions*/) {}
    /// Whether the model needs the true costs of cells (studies).
    virtual bool wants_costs() const { return false; }
    /// Whether the model needs the predicted counts of cells (ProcessView::ahead).
    virtual bool wants_ahead() const { return false; }
    /// Whether the model needs the counts of cells; ProcessView::cells is empty if not.
    virtual bool needs_particles() const { return true; }
    /// New load of each cell of a process, seconds per step (any common unit will do). Updates the state.
    virtual void update(const ProcessView& process, const Totals& totals, std::span<double> load) const = 0;
    /// The result of learn(). set_memory(memory()) on another object makes it equal.
    virtual std::vector<double> memory() const { return {}; }
    virtual void set_memory(std::span<const double>) {}
    /// Could memory() have returned this? Asked before what a file holds is handed to set_memory(). By default: the
    /// length of memory() now, no number negative or huge.
    virtual bool accepts_memory(std::span<const double> memory) const;
    /// Could a cell's state have this value? By default: not negative, not huge.
    virtual bool accepts_state(double value) const { return value >= 0 && value <= 1e100; }
};

/// Throws std::invalid_argument for an unknown name.
std::unique_ptr<LoadModel> make_model(const std::string& name, const ModelConstants& constants);

/// Names of all models: the paper's six (Liu et al. 2015), then ours, then that of studies.
std::vector<std::string> model_names();

}  // namespace balance
