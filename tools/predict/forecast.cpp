// SPDX-License-Identifier: MIT
#include "tools/predict/forecast.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "app/engine/thread_schedule.hpp"

namespace predict {
namespace {

// RankSteps that are to be followed.
struct Timelines {
    std::size_t ranks;
    Timeline steps, counts, records;
    Timelines(const RankSteps& r, const comm::NodeMap& nodes)
        : ranks(r.steps.size()), steps(r.steps, nodes), counts(r.counts, nodes), records(r.records, nodes) {}
};

// The ranks of a run, step after step.
class Ranks {
public:
    Ranks(const Timelines& lines, const Conditions& c)
        : lines_(lines), c_(c), full_(c.overlap == comm::Overlap::full), at_(lines.ranks, 0.0) {}

    void usual_step() {
        advance(lines_.steps, c_.overlap);
        agree();
    }
    void step_with_rebuild() {
        const comm::Overlap blocking = full_ ? comm::Overlap::links : c_.overlap;
        for (const Timeline* exchange : {&lines_.records, &lines_.records, &lines_.counts, &lines_.steps})
            advance(*exchange, blocking);
        agree();
    }
    /// Time of the last rank.
    double end() const { return *std::ranges::max_element(at_); }

private:
    void advance(const Timeline& exchange, comm::Overlap overlap) {
        at_ = exchange.step_ends(at_, c_.machine, overlap);
    }
    // One that travels is waited for in the next step.
    void agree() {
        std::vector<double> agreed = reduction_ends(at_, c_.nodes, c_.machine);
        if (full_ && c_.machine.reductions_travel) std::swap(agreed, agreed_before_);
        for (std::size_t r = 0; r < agreed.size(); ++r) at_[r] = std::max(at_[r], agreed[r]);
    }

    const Timelines& lines_;
    const Conditions& c_;
    bool full_;
    std::vector<double> at_, agreed_before_;
};

std::vector<RankStep> balanced(std::vector<RankStep> ranks) {
    double mean = 0;
    for (const RankStep& r : ranks) mean += r.seconds() / static_cast<double>(ranks.size());
    for (RankStep& r : ranks) {
        const double factor = r.seconds() > 0 ? mean / r.seconds() : 0;
        r.inner_seconds = r.seconds() > 0 ? r.inner_seconds * factor : mean;
        for (RimTile& tile : r.rim) tile.seconds *= factor;
    }
    return ranks;
}

Machine with_endless_bandwidth(Machine m) {
    m.inside.bytes_per_second = m.between.bytes_per_second = m.copy_bytes_per_second = 1e300;
    return m;
}

Machine scaled_network(Machine m, double factor) {
    for (Link* link : {&m.inside, &m.between}) {
        link->latency_seconds *= factor;
        link->acknowledgement_seconds *= factor;
        link->bytes_per_second /= factor;
    }
    m.message_seconds *= factor;
    m.copy_bytes_per_second /= factor;
    return m;
}

Conditions with(Conditions c, const Machine& machine) {
    c.machine = machine;
    return c;
}
Conditions with(Conditions c, comm::Overlap overlap) {
    c.overlap = overlap;
    return c;
}

// Seconds of a step without a rebuild, and what one adds.
struct StepTimes {
    double usual, rebuild;
};
StepTimes step_times(const Timelines& lines, const Conditions& c) {
    constexpr int settling = 3, measured = 4;  // Steps until the pattern of waits repeats itself, and steps that count.
    Ranks course(lines, c);
    for (int i = 0; i < settling; ++i) course.usual_step();
    const double begin = course.end();
    for (int i = 0; i < measured; ++i) course.usual_step();
    const double before = course.end(), usual = (before - begin) / measured;
    course.step_with_rebuild();
    for (int i = 0; i < settling; ++i) course.usual_step();
    return {usual, course.end() - before - settling * usual - usual};
}

double mean_step(const Timelines& lines, const Conditions& c) {
    const StepTimes t = step_times(lines, c);
    return t.usual + t.rebuild / c.steps_per_rebuild + c.rebalancing_seconds;
}

// all: seconds of a mean step; without_bytes: with endless bandwidth.
Terms terms_of(const RankSteps& ranks, const Conditions& c, double all, double without_bytes) {
    Terms t;
    double most = 0;
    for (const RankStep& r : ranks.steps) {
        t.compute += r.seconds() / static_cast<double>(ranks.steps.size());
        most = std::max(most, r.seconds());
    }
    t.imbalance = most - t.compute;
    t.rebalancing = c.rebalancing_seconds;
    t.messages = std::max(0.0, without_bytes - most - c.rebalancing_seconds);  // rounding
    t.bytes = std::max(0.0, all - without_bytes);
    return t;
}

}  // namespace

double mean_step_seconds(const RankSteps& ranks, const Conditions& c) { return mean_step({ranks, c.nodes}, c); }

double rebuild_seconds(const RankSteps& ranks, const Conditions& c) { return step_times({ranks, c.nodes}, c).rebuild; }

Forecast forecast(const RankSteps& ranks, const Conditions& c) {
    const Timelines usual(ranks, c.nodes);
    Timelines even = usual;
    even.steps = Timeline(balanced(ranks.steps), c.nodes);
    struct Variant {
        const Timelines& lines;
        Conditions conditions;
        double seconds = 0;
    };
    std::array<Variant, 6> variants{{{usual, with(c, comm::Overlap::none)},
                                     {usual, with(c, comm::Overlap::links)},
                                     {usual, with(c, comm::Overlap::full)},
                                     {usual, with(c, with_endless_bandwidth(c.machine))},
                                     {even, c},
                                     {usual, with(c, scaled_network(c.machine, 0.5))}}};
    app::parallel_for(std::ssize(variants), [&](std::size_t i) {
        variants[i].seconds = mean_step(variants[i].lines, variants[i].conditions);
    });
    const auto& [none, links, full, endless, with_equal_loads, fast] = variants;
    const double all = (c.overlap == comm::Overlap::none    ? none
                        : c.overlap == comm::Overlap::links ? links
                                                            : full)
                           .seconds;
    Forecast f;
    f.ranks = static_cast<std::int64_t>(ranks.steps.size());
    f.terms = terms_of(ranks, c, all, endless.seconds);
    f.lbe = f.terms.compute > 0 ? f.terms.compute / (f.terms.compute + f.terms.imbalance) : 1;
    f.messages = ranks.messages;
    f.bytes = ranks.bytes;
    const double seconds = f.terms.seconds(),
                 compute = c.machine.compute_uncertainty * (seconds - f.terms.communication()),
                 messages = c.machine.message_uncertainty * f.terms.communication(),
                 method = (c.rebalancing_seconds > 0 ? method_error_balanced : method_error) * seconds;
    f.low_seconds = std::max(0.0, seconds - compute - messages - method);
    f.high_seconds = seconds + compute + messages + method;
    f.balanced_seconds = std::min(seconds, with_equal_loads.seconds);
    f.fast_network_seconds = fast.seconds;
    f.none_seconds = none.seconds;
    f.links_seconds = links.seconds;
    f.full_seconds = full.seconds;
    return f;
}

Forecast mean_of(std::span<const Forecast> forecasts, std::span<const double> weights) {
    Forecast mean = forecasts.front();
    const auto average = [&](auto value) {
        double sum = 0;
        for (std::size_t i = 0; i < forecasts.size(); ++i) sum += weights[i] * value(forecasts[i]);
        return sum;
    };
    for (double Terms::*term :
         {&Terms::compute, &Terms::imbalance, &Terms::messages, &Terms::bytes, &Terms::rebalancing})
        mean.terms.*term = average([&](const Forecast& f) { return f.terms.*term; });
    for (double Forecast::*number :
         {&Forecast::messages, &Forecast::bytes, &Forecast::low_seconds, &Forecast::high_seconds,
          &Forecast::balanced_seconds, &Forecast::fast_network_seconds, &Forecast::none_seconds,
          &Forecast::links_seconds, &Forecast::full_seconds})
        mean.*number = average([&](const Forecast& f) { return f.*number; });
    mean.lbe = mean.terms.compute > 0 ? mean.terms.compute / (mean.terms.compute + mean.terms.imbalance) : 1;
    return mean;
}

const Forecast& best_of(std::span<const Forecast> forecasts) {
    return *std::ranges::min_element(
        forecasts, [](const Forecast& a, const Forecast& b) { return a.terms.seconds() < b.terms.seconds(); });
}

Limit limit_of(const Terms& t) {
    if (2 * t.compute >= t.seconds()) return {"computing itself", t.compute};
    const std::array<Limit, 4> losses{{{"imbalance of the ranks' loads", t.imbalance},
                                       {"the number of messages and their latency", t.messages},
                                       {"the bytes that messages carry", t.bytes},
                                       {"balancing and migration", t.rebalancing}}};
    return *std::ranges::max_element(losses, {}, &Limit::seconds);
}

}  // namespace predict
