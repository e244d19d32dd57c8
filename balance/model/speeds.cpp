// SPDX-License-Identifier: MIT
// Member 0 gets a number of each process, or of a sample if there are very many. From these it finds the usual speed
// and the scatter of measurements. Each member then finds the speeds of its hosted processes, and tells those that
// differ. So nothing depends on the number of members.
#include "balance/model/speeds.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "balance/model/load_model.hpp"
#include "balance/model/median.hpp"

namespace balance {
namespace {

constexpr std::int64_t mean_target = std::int64_t{1} << 20;
constexpr double least_noise = 0.002, dead_zone = 0.01;
constexpr double first_noise = 0.014;          // Assumed until the scatter of measurements is known.
constexpr double a_change = 5, certain = 3.5;  // Times the noise.
constexpr std::size_t enough_deviations = 12;  // For a median. Few processes make so many in several balancings.
constexpr double per_median = 1.4826;          // Standard deviation of normal numbers over the median of their sizes.

// The largest of n normal numbers is about sqrt(2 ln n) standard deviations. So among more than 40 processes a speed
// has to differ by more before it counts as unequal.
double wider(double noise, std::int64_t processes) {
    return noise * std::sqrt(std::max(1.0, std::log(static_cast<double>(processes)) / std::log(40.0)));
}

}  // namespace

void SpeedTrack::add(double measured, double noise) {
    if (std::abs(deviation(measured)) > a_change * noise) measured_ = 0;
    measured_ = std::min(measured_ + 1, most_measured);
    mean_ += (measured - mean_) / measured_;
}

double SpeedTrack::speed(double noise) const {
    if (measured_ == 0 || std::abs(mean_) < std::max(certain * noise / std::sqrt(measured_), dead_zone)) return 1;
    return std::clamp(std::exp(mean_), slowest_speed, fastest_speed);
}

bool SpeedTrack::accepts(std::span<const double, count> numbers) {
    const double measured = numbers[1];
    return std::abs(numbers[0]) <= 1000 && measured >= 0 && measured <= most_measured &&
           measured == std::floor(measured);
}

Speeds::Speeds(std::int64_t processes)
    : processes_(processes),
      capacity_(static_cast<double>(processes)),
      deviations_(enough_deviations, first_noise / per_median) {}

void Speeds::learn(const Team& team, const IndexRange& hosted, std::span<const double> reference, const Meter& meter) {
    if (std::ssize(reference) != hosted.size())
        throw std::invalid_argument(std::to_string(reference.size()) + " times of the reference for " +
                                    std::to_string(hosted.size()) + " processes");
    if (processes_ < 2) return;
    meter.part(RoundPart::speeds, hosted.size(), 0);
    tracks_.resize(hosted.size());
    std::vector<double> log_speeds;
    for (const double seconds : reference) log_speeds.push_back(is_time(seconds) ? -std::log(seconds) : std::nan(""));
    const Usual usual = usual_of(team, hosted, log_speeds, meter);
    std::vector<SpeedOf> unequal;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
        if (!std::isnan(log_speeds[i])) tracks_[i].add(log_speeds[i] - usual.log_speed, usual.noise);
        if (const double speed = tracks_[i].speed(usual.noise); speed != 1)
            unequal.push_back({hosted.begin + static_cast<std::int64_t>(i), speed});
    }
    set(1, from_first(team, gather<SpeedOf>(team, unequal)));
}

Speeds::Usual Speeds::usual_of(const Team& team, const IndexRange& hosted, std::span<const double> log_speeds,
                               const Meter& meter) {
    const std::int64_t every = concluded_every(processes_);
    std::vector<double>
        sampled;  // of each process of the sample the speed that was measured, and the mean of those before
    for (std::int64_t p = next_of_sample(hosted.begin, every); p < hosted.end; p += every) {
        const auto i = static_cast<std::size_t>(p - hosted.begin);
        if (std::isnan(log_speeds[i])) continue;
        sampled.insert(sampled.end(), {log_speeds[i], tracks_[i].deviation(log_speeds[i])});
    }
    sampled = gather<double>(team, sampled);
    Usual usual{};
    if (team.rank() == 0) {
        meter.part(RoundPart::medians, std::ssize(sampled) / 2, 0);
        std::vector<double> speeds, sizes;
        for (std::size_t i = 0; i < sampled.size(); i += 2) speeds.push_back(sampled[i]);
        usual.log_speed = median(std::move(speeds));
        for (std::size_t i = 1; i < sampled.size(); i += 2)
            if (!std::isnan(sampled[i])) sizes.push_back(sampled[i]);
        // Beside their own median, since another speed may be the usual one now.
        const double common = median(sizes);
        for (double& s : sizes) s = std::abs(s - common);
        const bool measured = !sizes.empty();
        usual.noise = noise_of(std::move(sizes));
        if (measured) usual.noise = wider(usual.noise, processes_);
    }
    team.broadcast(std::as_writable_bytes(std::span(&usual, 1)));
    return usual;
}

// By the newest deviations. sizes: of those of this time, of each process of the sample that has a mean. The median's
// own deviation is nearly nothing, so the smallest one does not count: it would be half of two.
double Speeds::noise_of(std::vector<double> sizes) {
    if (!sizes.empty()) sizes.erase(std::ranges::min_element(sizes));
    const std::size_t older = enough_deviations - std::min(enough_deviations, sizes.size());
    sizes.insert(sizes.end(), deviations_.begin(),
                 deviations_.begin() + static_cast<std::ptrdiff_t>(std::min(older, deviations_.size())));
    deviations_ = sizes;
    return std::max(per_median * median(std::move(sizes)), least_noise);
}

void Speeds::set(std::span<const double> speeds) {
    if (std::ssize(speeds) != processes_)
        throw std::invalid_argument(std::to_string(speeds.size()) + " speeds for " + std::to_string(processes_) +
                                    " processes");
    double usual = 1;  // what more than half of them have, if there is such a speed
    std::size_t lead = 0;
    for (const double s : speeds) {
        if (lead == 0) usual = s;
        lead += s == usual ? 1 : -1;
    }
    std::vector<SpeedOf> unequal;
    for (std::int64_t p = 0; p < processes_; ++p)
        if (speeds[p] != usual) unequal.push_back({p, speeds[p]});
    set(usual, std::move(unequal));
}

void Speeds::set(double usual, std::vector<SpeedOf> unequal) {
    const auto as_first = [&](const SpeedOf& s) { return s.speed == unequal.front().speed; };
    if (std::ssize(unequal) == processes_ && std::ranges::all_of(unequal, as_first)) {
        usual = unequal.front().speed;
        unequal.clear();
    }
    usual_ = usual;
    unequal_ = std::move(unequal);
    // One after the other, since the last bits of a sum depend on that.
    const auto sum_over_all = [&](auto value) {
        double sum = 0;
        std::int64_t p = 0;
        const auto add_usual = [&](std::int64_t end) {
            for (const double v = value(usual_); p < end; ++p) sum += v;
        };
        for (const SpeedOf& s : unequal_) add_usual(s.process), sum += value(s.speed), ++p;
        add_usual(processes_);
        return sum;
    };
    mean_ = sum_over_all([](double s) { return s; }) / static_cast<double>(processes_);
    capacity_ = sum_over_all([&](double s) { return relative(s); });
    fastest_ = std::ssize(unequal_) < processes_ ? relative(usual_) : 0;
    for (const SpeedOf& s : unequal_) fastest_ = std::max(fastest_, relative(s.speed));
}

double Speeds::of(std::int64_t process) const {
    const auto at = std::ranges::lower_bound(unequal_, process, {}, &SpeedOf::process);
    return at != unequal_.end() && at->process == process ? at->speed : usual_;
}

std::vector<double> Speeds::found(const IndexRange& processes) const {
    std::vector<double> speeds(processes.size(), usual_);
    auto at = std::ranges::lower_bound(unequal_, processes.begin, {}, &SpeedOf::process);
    for (; at != unequal_.end() && at->process < processes.end; ++at) speeds[at->process - processes.begin] = at->speed;
    return speeds;
}

std::vector<double> Speeds::relative(const IndexRange& processes) const {
    std::vector<double> speeds = found(processes);
    for (double& s : speeds) s = relative(s);
    return speeds;
}

PartTargets Speeds::targets() const {
    if (unequal_.empty()) return {};
    const auto target_of = [&](double found) {
        return std::clamp<std::int64_t>(std::llround(relative(found) * static_cast<double>(mean_target)), 1,
                                        std::int64_t{1} << 31);
    };
    std::vector<PartTargets::Target> others;
    for (const SpeedOf& s : unequal_) others.push_back({s.process, target_of(s.speed)});
    return {processes_, target_of(usual_), std::move(others)};
}

std::vector<double> Speeds::at_mean_speed(std::span<const double> times, std::int64_t first) const {
    std::vector<double> work(times.begin(), times.end());
    for (std::size_t i = 0; i < work.size() && !all_are_1(); ++i)
        work[i] *= relative(of(first + static_cast<std::int64_t>(i)));
    return work;
}

std::int64_t Speeds::bytes() const {
    return static_cast<std::int64_t>(unequal_.capacity() * sizeof(SpeedOf) + tracks_.capacity() * sizeof(SpeedTrack) +
                                     deviations_.capacity() * sizeof(double));
}

std::vector<double> Speeds::memory(const Team& team) const {
    std::vector<double> here;
    for (const SpeedTrack& track : tracks_)
        for (const double n : track.numbers()) here.push_back(n);
    const std::vector<double> tracks = gather<double>(team, here);
    if (team.rank() != 0) return {};
    std::vector<double> memory{static_cast<double>(deviations_.size())};
    memory.insert(memory.end(), deviations_.begin(), deviations_.end());
    const std::size_t begin = memory.size();
    memory.insert(memory.end(), tracks.begin(), tracks.end());
    memory.resize(begin + static_cast<std::size_t>(processes_) * SpeedTrack::count);  // 0 where nothing was measured
    return memory;
}

bool Speeds::restore(const IndexRange& hosted, std::span<const double> found,
                     std::optional<std::span<const double>> saved) {
    const auto is_speed = [](double s) { return s >= 1e-6 && s <= 1e6; };
    if (std::ssize(found) != processes_ || !std::ranges::all_of(found, is_speed)) return false;
    const std::size_t numbers = static_cast<std::size_t>(processes_) * SpeedTrack::count;
    std::vector<SpeedTrack> tracks;
    std::span<const double> deviations;
    if (!saved) {
        for (std::int64_t p = hosted.begin; p < hosted.end; ++p) tracks.emplace_back(found[p]);
    } else {
        if (saved->size() < 1 + numbers || saved->front() != static_cast<double>(saved->size() - 1 - numbers))
            return false;
        deviations = saved->subspan(1, saved->size() - 1 - numbers);
        if (!std::ranges::all_of(deviations, [](double d) { return d >= 0 && d <= 1000; })) return false;
        for (std::int64_t p = 0; p < processes_; ++p) {
            const auto track = saved->last(numbers).subspan(p * SpeedTrack::count).first<SpeedTrack::count>();
            if (!SpeedTrack::accepts(track)) return false;
            if (hosted.contains(p)) tracks.push_back(SpeedTrack::from_numbers(track));
        }
    }
    set(found);
    tracks_ = std::move(tracks);
    if (saved) deviations_.assign(deviations.begin(), deviations.end());
    return true;
}

}  // namespace balance
