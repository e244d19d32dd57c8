// SPDX-License-Identifier: MIT
// The speed of each process, from the times of a reference. The reference is a fixed piece of work, the same for all
// processes. Each process measures its time before every balancing. A process that takes twice as long for it runs at
// half speed. A process's own cells cannot show its speed, because they may be few, or dear.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "balance/grid/grid.hpp"
#include "balance/meter.hpp"
#include "balance/partition/part_targets.hpp"
#include "balance/team.hpp"

namespace balance {

/// Whether a time was measured at all: positive and finite.
inline bool is_time(double seconds) { return seconds > 0 && std::isfinite(seconds); }

/// All measured speeds are kept between these two, relative to the usual speed.
inline constexpr double slowest_speed = 0.05, fastest_speed = 20;

/// One process's speed as a mean of its last measurements, in logarithms relative to the usual speed.
class SpeedTrack {
public:
    SpeedTrack() = default;
    /// A track that begins with a speed that was found before.
    explicit SpeedTrack(double speed) : mean_(std::log(speed)), measured_(1) {}

    /// noise: standard deviation of measurements. One that differs from the mean by more than noise explains is the
    /// first of a new speed.
    void add(double measured, double noise);
    /// Exactly 1 where it differs from that by less than can be told.
    double speed(double noise) const;
    /// How far this measurement is from the mean; NaN if there is none.
    double deviation(double measured) const { return measured_ > 0 ? measured - mean_ : std::nan(""); }

    static constexpr std::size_t count = 2;
    /// For checkpoints: `count` numbers.
    std::array<double, count> numbers() const { return {mean_, static_cast<double>(measured_)}; }
    static SpeedTrack from_numbers(std::span<const double, count> numbers) {
        SpeedTrack track;
        track.mean_ = numbers[0];
        track.measured_ = static_cast<int>(numbers[1]);
        return track;
    }
    static bool accepts(std::span<const double, count> numbers);

private:
    static constexpr int most_measured = 8;  // the mean forgets older ones

    double mean_ = 0;
    int measured_ = 0;
};

/// Speeds of all processes. Each member follows those that it hosts; all know those that are not the usual ones.
class Speeds {
public:
    /// All speeds equal.
    explicit Speeds(std::int64_t processes);

    /// Learns from times of the reference. The usual speed is the median of all processes, or of a sample of very many.
    /// The noise is the usual difference of measurements from the means before. Collective.
    /// hosted: the processes that the member hosts, the same ones each time.
    /// reference: seconds of the reference on each of them. A number that is no is_time() leaves the speed as it is.
    void learn(const Team& team, const IndexRange& hosted, std::span<const double> reference,
               const Meter& meter = no_meter);

    /// Speeds that are known, of each process, in any unit. Throws std::invalid_argument where there are more or fewer.
    void set(std::span<const double> speeds);

    /// Speeds of some processes, relative to the mean of all.
    std::vector<double> relative(const IndexRange& processes) const;
    /// Speeds of all processes.
    std::vector<double> relative() const { return relative({0, processes_}); }
    /// The sum and the largest of relative().
    double capacity() const { return capacity_; }
    double fastest() const { return fastest_; }
    /// The share of a partition that each process should get.
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
    bool restore(const IndexRange& hosted, std::span<const double> found, std::optional<std::span<const double>> saved);

private:
    // One that is not the usual one, as it was found. Most are, so only the others are remembered and told.
    struct SpeedOf {
        std::int64_t process;
        double speed;
        friend bool operator==(const SpeedOf&, const SpeedOf&) = default;
    };
    // Results of member 0 for all: the usual logarithm of a speed, and the noise of the logarithms.
    struct Usual {
        double log_speed, noise;
    };
    Usual usual_of(const Team& team, const IndexRange& hosted, std::span<const double> log_speeds, const Meter& meter);
    double noise_of(std::vector<double> sizes);
    void set(double usual, std::vector<SpeedOf> unequal);
    double relative(double found) const { return found / mean_; }
    bool all_are_1() const { return unequal_.empty() && usual_ == 1; }
    double of(std::int64_t process) const;
    std::vector<double> found(const IndexRange& processes) const;

    std::int64_t processes_;
    double usual_ = 1;              // as found, 1 is what most processes have
    std::vector<SpeedOf> unequal_;  // by process
    double mean_ = 1;               // of what was found
    double capacity_, fastest_ = 1;
    std::vector<SpeedTrack> tracks_;  // of the hosted processes; empty: nothing was measured
    std::vector<double> deviations_;  // on member 0: sizes of the last deviations from means, of all sampled processes
};

}  // namespace balance
