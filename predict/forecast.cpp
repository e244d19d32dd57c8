// SPDX-License-Identifier: MIT
#include "predict/forecast.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace predict {
namespace {

// The ranks of a run, step after step.
class Course {
public:
    Course(const RankSteps& ranks, const Conditions& c)
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

}  // namespace

double mean_step_seconds(const RankSteps& ranks, const Conditions& c) {
    constexpr int settling = 3, measured = 4;  // steps until who waits for whom repeats itself, and those that count
    Course course(ranks, c);
    for (int i = 0; i < settling; ++i) course.usual_step();
    const double begin = course.end();
    for (int i = 0; i < measured; ++i) course.usual_step();
    const double before = course.end(), usual = (before - begin) / measured;
    course.step_with_rebuild();
    for (int i = 0; i < settling; ++i) course.usual_step();
    const double rebuild = course.end() - before - settling * usual;
    return usual + (rebuild - usual) / c.steps_per_rebuild + c.rebalancing_seconds;
}

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
                 messages = c.machine.message_uncertainty * f.terms.communication();
    f.low_seconds = std::max(0.0, seconds - compute - messages);
    f.high_seconds = seconds + compute + messages;
    f.balanced_seconds = std::min(seconds, mean_step_seconds(balanced(ranks), c));
    f.fast_network_seconds = mean_step_seconds(ranks, with(c, scaled_network(c.machine, 0.5)));
    f.none_seconds = mean_step_seconds(ranks, with(c, comm::Overlap::none));
    f.links_seconds = mean_step_seconds(ranks, with(c, comm::Overlap::links));
    f.full_seconds = mean_step_seconds(ranks, with(c, comm::Overlap::full));
    return f;
}

const Forecast& best_of(std::span<const Forecast> forecasts) {
    return *std::min_element(forecasts.begin(), forecasts.end(), [](const Forecast& a, const Forecast& b) {
        return a.terms.seconds() < b.terms.seconds();
    });
}

std::string limiting_term(const Terms& t) {
    const std::array<std::pair<double, const char*>, 5> named{{{t.compute, "computing itself"},
                                                               {t.imbalance, "imbalance of the ranks' loads"},
                                                               {t.messages, "the number of messages and their latency"},
                                                               {t.bytes, "the bytes that messages carry"},
                                                               {t.rebalancing, "balancing and migration"}}};
    return std::max_element(named.begin(), named.end())->second;
}

}  // namespace predict
