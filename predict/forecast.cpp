// SPDX-License-Identifier: MIT
#include "predict/forecast.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace predict {
namespace {

// The ranks of a run, step after step.
class Ranks {
public:
    Ranks(const RankSteps& ranks, const Conditions& c)
        : ranks_(ranks), c_(c), full_(c.overlap == comm::Overlap::full), at_(ranks.steps.size(), 0.0) {}

    void usual_step() {
        advance(ranks_.steps, c_.overlap);
        agree();
    }
    void step_with_rebuild() {
        const comm::Overlap blocking = full_ ? comm::Overlap::links : c_.overlap;
        for (const auto* exchange : {&ranks_.records, &ranks_.records, &ranks_.counts, &ranks_.steps})
            advance(*exchange, blocking);
        agree();
    }
    /// Of the last rank.
    double end() const { return *std::max_element(at_.begin(), at_.end()); }

private:
    void advance(std::span<const RankStep> steps, comm::Overlap overlap) {
        at_ = step_ends(steps, at_, c_.nodes, c_.machine, overlap);
    }
    // One that travels is waited for in the next step.
    void agree() {
        std::vector<double> agreed = reduction_ends(at_, c_.nodes, c_.machine);
        if (full_ && c_.machine.reductions_travel) std::swap(agreed, agreed_before_);
        for (std::size_t r = 0; r < agreed.size(); ++r) at_[r] = std::max(at_[r], agreed[r]);
    }

    const RankSteps& ranks_;
    const Conditions& c_;
    bool full_;
    std::vector<double> at_, agreed_before_;
};

RankSteps balanced(RankSteps ranks) {
    double mean = 0;
    for (const RankStep& r : ranks.steps) mean += r.seconds() / static_cast<double>(ranks.steps.size());
    for (RankStep& r : ranks.steps) {
        const double factor = r.seconds() > 0 ? mean / r.seconds() : 0;
        r.inner_seconds = r.seconds() > 0 ? r.inner_seconds * factor : mean;
        for (RimTile& tile : r.rim) tile.seconds *= factor;
    }
    return ranks;
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
StepTimes step_times(const RankSteps& ranks, const Conditions& c) {
    constexpr int settling = 3, measured = 4;  // steps until who waits for whom repeats itself, and those that count
    Ranks course(ranks, c);
    for (int i = 0; i < settling; ++i) course.usual_step();
    const double begin = course.end();
    for (int i = 0; i < measured; ++i) course.usual_step();
    const double before = course.end(), usual = (before - begin) / measured;
    course.step_with_rebuild();
    for (int i = 0; i < settling; ++i) course.usual_step();
    return {usual, course.end() - before - settling * usual - usual};
}

}  // namespace

double mean_step_seconds(const RankSteps& ranks, const Conditions& c) {
    const StepTimes t = step_times(ranks, c);
    return t.usual + t.rebuild / c.steps_per_rebuild + c.rebalancing_seconds;
}

double rebuild_seconds(const RankSteps& ranks, const Conditions& c) { return step_times(ranks, c).rebuild; }

Terms terms_of(const RankSteps& ranks, const Conditions& c) {
    Terms t;
    double most = 0;
    for (const RankStep& r : ranks.steps) {
        t.compute += r.seconds() / static_cast<double>(ranks.steps.size());
        most = std::max(most, r.seconds());
    }
    t.imbalance = most - t.compute;
    t.rebalancing = c.rebalancing_seconds;
    Machine endless = c.machine;
    endless.inside.bytes_per_second = endless.between.bytes_per_second = endless.copy_bytes_per_second = 1e300;
    const double all = mean_step_seconds(ranks, c), without_bytes = mean_step_seconds(ranks, with(c, endless));
    t.messages = std::max(0.0, without_bytes - most - c.rebalancing_seconds);  // rounding
    t.bytes = std::max(0.0, all - without_bytes);
    return t;
}

Forecast forecast(const RankSteps& ranks, const Conditions& c) {
    Forecast f;
    f.ranks = static_cast<std::int64_t>(ranks.steps.size());
    f.terms = terms_of(ranks, c);
    f.lbe = f.terms.compute > 0 ? f.terms.compute / (f.terms.compute + f.terms.imbalance) : 1;
    f.messages = ranks.messages;
    f.bytes = ranks.bytes;
    const double seconds = f.terms.seconds(),
                 compute = c.machine.compute_uncertainty * (seconds - f.terms.communication()),
                 messages = c.machine.message_uncertainty * f.terms.communication(),
                 method = (c.rebalancing_seconds > 0 ? method_error_balanced : method_error) * seconds;
    f.low_seconds = std::max(0.0, seconds - compute - messages - method);
    f.high_seconds = seconds + compute + messages + method;
    f.balanced_seconds = std::min(seconds, mean_step_seconds(balanced(ranks), c));
    f.fast_network_seconds = mean_step_seconds(ranks, with(c, scaled_network(c.machine, 0.5)));
    f.none_seconds = mean_step_seconds(ranks, with(c, comm::Overlap::none));
    f.links_seconds = mean_step_seconds(ranks, with(c, comm::Overlap::links));
    f.full_seconds = mean_step_seconds(ranks, with(c, comm::Overlap::full));
    return f;
}

Forecast mean_of(std::span<const Forecast> forecasts) {
    Forecast mean = forecasts.front();
    const auto average = [&](auto value) {
        double sum = 0;
        for (const Forecast& f : forecasts) sum += value(f);
        return sum / static_cast<double>(forecasts.size());
    };
    for (double Terms::*term :
         {&Terms::compute, &Terms::imbalance, &Terms::messages, &Terms::bytes, &Terms::rebalancing})
        mean.terms.*term = average([&](const Forecast& f) { return f.terms.*term; });
    for (double Forecast::*number :
         {&Forecast::lbe, &Forecast::messages, &Forecast::bytes, &Forecast::low_seconds, &Forecast::high_seconds,
          &Forecast::balanced_seconds, &Forecast::fast_network_seconds, &Forecast::none_seconds,
          &Forecast::links_seconds, &Forecast::full_seconds})
        mean.*number = average([&](const Forecast& f) { return f.*number; });
    mean.lbe = mean.terms.compute > 0 ? mean.terms.compute / (mean.terms.compute + mean.terms.imbalance) : 1;
    return mean;
}

const Forecast& best_of(std::span<const Forecast> forecasts) {
    return *std::min_element(forecasts.begin(), forecasts.end(), [](const Forecast& a, const Forecast& b) {
        return a.terms.seconds() < b.terms.seconds();
    });
}

Limit limit_of(const Terms& t) {
    if (2 * t.compute >= t.seconds()) return {"computing itself", t.compute};
    const std::array<Limit, 4> losses{{{"imbalance of the ranks' loads", t.imbalance},
                                       {"the number of messages and their latency", t.messages},
                                       {"the bytes that messages carry", t.bytes},
                                       {"balancing and migration", t.rebalancing}}};
    return *std::max_element(losses.begin(), losses.end(),
                             [](const Limit& a, const Limit& b) { return a.seconds < b.seconds; });
}

}  // namespace predict
