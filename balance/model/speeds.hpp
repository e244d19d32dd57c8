// SPDX-License-Identifier: MIT
// Finds how fast each process runs from the times that the processes take: what stays with a process after its cells
// have moved to another is its speed, what moves with the cells is their cost.
//
// The time of process p over what its cells should cost (balance/model/prior.hpp), both at speed 1, is its excess:
//
//     log excess of p  =  -log speed of p  +  sum over blocks of cells  (share of the block in p's cost) * surcharge
//
// Speeds and surcharges are fitted to the excesses of the last balancings, in which the same block belonged to
// different processes. Where a single balancing leaves both explanations open, the one that needs fewer numbers wins:
// one slow process rather than all its blocks (separate()).
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/meter.hpp"
#include "balance/model/block_parts.hpp"
#include "balance/model/prior.hpp"
#include "balance/partition/part_targets.hpp"
#include "balance/team.hpp"

namespace balance {

/// A part of what a process's cells cost: how much of it lies in one block of cells.
struct BlockShare {
    std::int32_t process = 0;
    std::int32_t block = 0;  ///< in C order among all blocks
    double share = 0;        ///< 0 to 1
};

/// What one balancing tells of the speeds of some processes.
struct SpeedRecord {
    std::vector<BlockShare> shares;  ///< by process, for separate(); a process without any tells nothing
    std::vector<double> excess;      ///< of each process: log of its time over what its cells should cost
};

/// Whether a process was measured at all.
inline bool is_time(double seconds) { return seconds > 0 && std::isfinite(seconds); }
/// The logarithm of a speed, at once for those that are 1, as most are.
inline double log_of(double speed) { return speed == 1 ? 0.0 : std::log(speed); }

/// Balancings that speeds are fitted to.
inline constexpr std::size_t most_records = 6;
/// Between these lie all speeds that are found.
inline constexpr double slowest_speed = 0.05, fastest_speed = 20;

/// A search among fewer takes 5 ms at most: it is made whenever something is unexplained, and looks at all of
/// them.
inline constexpr std::size_t many_processes = 100;

/// Speeds that explain the records, at most `most_records`, the oldest first; 1 is what most processes have, and
/// exactly 1 is given to processes that differ from that by less than can be told. known: the speeds that were found
/// last, which stay unless the records tell otherwise. fitted: involved(), or all. blocks: how many there are along
/// each axis. The meter sees the search itself.
std::vector<double> separate(std::span<const SpeedRecord> records, std::span<const double> known,
                             const std::vector<bool>& fitted, const std::array<int, 3>& blocks,
                             const Meter& meter = no_meter);
/// The same in two steps, for processes that are searched in several groups: first the logarithms of the speeds in one
/// group, then, from that of a process and the median over all groups, the speed of the process.
std::vector<double> log_speeds(std::span<const SpeedRecord> records, std::span<const double> known,
                               const std::vector<bool>& fitted, const std::array<int, 3>& blocks,
                               const Meter& meter = no_meter);
double speed_beside(double log_speed, double median, std::int64_t processes);
/// The standard deviation of noise, by the sizes of what is left of each process, or of a sample of them, in the last
/// record; no more than is usual, for more may be many slow processes. Changes their order.
double noise_in(std::span<double> left);
/// What excesses leave to explain.
struct Unexplained {
    bool shows = false;  ///< whether more than little is left of any process in the last record: if of none, nothing is
    std::vector<double> squares;  ///< of each process: what is beyond noise
};
/// excesses: by record, of each of some processes. known: their speeds. all: how many processes there are.
Unexplained unexplained(std::span<const std::vector<double>> excesses, std::span<const double> known, double noise,
                        std::int64_t all);
/// Which times separate() has to look at: of each record, one after the other, whether that of each process. They are
/// all times of the processes of which something is unexplained or whose speed is known not to be 1, and of the others
/// the times with a part of a square of 2 x 2 blocks in which something unexplained shows. Of fewer than
/// `many_processes` all. What is left out is explained by a speed of 1 and shows the noise. left: Unexplained::squares.
std::vector<bool> involved(std::span<const double> left, std::span<const SpeedRecord> records,
                           std::span<const double> known, const std::array<int, 3>& blocks);
/// The processes with any time among these, in order. all: how many there are.
std::vector<std::uint32_t> processes_in(const std::vector<bool>& involved, std::size_t all);

/// When to search for slow processes again. Costs that particle counts do not show leave something to explain at each
/// balancing, of which searches find nothing. Of many processes each takes long (`many_processes`): after each that
/// found nothing the next one waits for 1, 2, 4, then 8 balancings, unless what is unexplained has doubled since.
class Patience {
public:
    explicit Patience(std::size_t processes) : processes_(processes) {}
    /// Whether to search now. left: what is unexplained of all together, above 0.
    bool over(double left);
    /// What a search has made of what was left: whether all speeds stayed about as they were.
    void tell(double left, bool nothing_found);

    static constexpr std::size_t count = 3;
    /// For checkpoints: `count` numbers, from 0 to 1e9; all are 0 where nothing is waited for.
    std::array<double, count> numbers() const { return {wait_, waited_, left_}; }
    void set_numbers(std::span<const double, count> numbers);

private:
    std::size_t processes_;
    double wait_ = 0, waited_ = 0;  // balancings
    double left_ = 0;               // unexplained by the last search
};

class Speeds {
public:
    /// All speeds equal.
    Speeds(std::int64_t processes, const ModelConstants& constants);

    /// cells: ProcessCells::at_home() of the partition in use. counts: what the cells of the member's home hold. times:
    /// seconds a step of each process that the member hosts, the same ones each time. Collective.
    void learn(const Team& team, const Grid& grid, const ProcessCells& cells, std::span<const CellCounts> counts,
               std::span<const double> times, const Meter& meter = no_meter);

    /// Speeds that are known, of each process, in any unit. Throws std::invalid_argument where there are more or fewer.
    void set(std::span<const double> speeds);

    /// Of each of some processes, relative to the mean of all.
    std::vector<double> relative(const Range& processes) const;
    /// Of each process.
    std::vector<double> relative() const { return relative({0, processes_}); }
    /// The sum and the largest of relative().
    double capacity() const { return capacity_; }
    double fastest() const { return fastest_; }
    /// What each process should get of a partition.
    PartTargets targets() const;
    /// The times that processes would have taken at the mean speed: those from `first` on.
    std::vector<double> at_mean_speed(std::span<const double> times, std::int64_t first = 0) const;

    /// For checkpoints: the speeds as they were found, the same on all members, and what they were found from, on
    /// member 0 (empty elsewhere). memory() is collective.
    std::vector<double> found() const { return found({0, processes_}); }
    std::int64_t bytes() const;
    std::vector<double> memory(const Team& team) const;
    /// The same on all members but for `hosted`, the processes that a member hosts. saved: memory(), nothing where it
    /// is lost. Returns false, and changes nothing, for numbers that cannot be such.
    bool restore(const Range& hosted, std::span<const double> found, std::optional<std::span<const double>> saved);

private:
    // One that is not the usual one, as it was found. Most are, so only the others are remembered and told.
    struct SpeedOf {
        std::int64_t process;
        double speed;
        friend bool operator==(const SpeedOf&, const SpeedOf&) = default;
    };
    void set(double usual, std::vector<SpeedOf> unequal);
    static std::vector<SpeedOf> unequal_in(std::span<const double> speeds, double usual);
    double relative(double found) const { return found / mean_; }
    bool all_are_1() const { return unequal_.empty() && usual_ == 1; }

    struct Blocks {
        int side;  // cells
        std::array<int, 3> count;
    };
    // What one balancing tells of some processes.
    struct Record {
        std::vector<double> times;
        std::vector<double> sums;    // of the features over each process's cells
        bool seen = false;           // whether `excess` is known
        std::vector<double> excess;  // as in SpeedRecord
    };
    // Of the processes that this member hosts.
    struct Left {
        std::vector<double> squares;
        double all = 0;  // the sum over all processes
    };
    Blocks blocks_of(const Grid& grid) const;
    static std::vector<BlockPart> hosted_parts(const ProcessCells& cells, std::span<const CellCounts> counts,
                                               const Blocks& blocks);
    Left left_unexplained(const Team& team, const Range& hosted, const Meter& meter);
    void fit_prior(const Team& team, const Range& hosted, const Meter& meter);
    void fit_prior(std::span<Record> records, std::span<const double> known);
    std::vector<SpeedOf> search(const Team& team, const Range& hosted, const Blocks& blocks, const Left& left,
                                const Meter& meter) const;
    std::vector<SpeedOf> unequal_speeds(const Team& team, std::span<const SpeedOf> logs, bool by_one) const;
    std::vector<BlockShare> shares_of(std::span<const BlockPart> parts, const Blocks& blocks) const;
    std::vector<double> log_ratios(const Record& record) const;
    bool are_about(double usual, std::span<const SpeedOf> unequal) const;
    void forget_excesses();             // which follow from the costs and the speeds
    std::int64_t fitted_every() const;  // the costs are fitted to each process that is a multiple of it
    double of(std::int64_t process) const;
    std::vector<double> found(const Range& processes) const;

    Prior prior_;
    std::int64_t processes_;
    double usual_ = 1;              // as found, 1 is what most processes have
    std::vector<SpeedOf> unequal_;  // by process
    double mean_ = 1;               // of what was found
    double capacity_, fastest_ = 1;
    Patience patience_;
    // Of the last balancings, of the processes that this member hosts: what they had in the blocks, and what else is
    // known. Member 0 is told one number of each process, or of each of a sample, and more only where something has to
    // be explained.
    std::vector<PackedParts> parts_;
    std::vector<Record> records_;
};

}  // namespace balance
