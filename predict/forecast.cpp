// SPDX-License-Identifier: MIT
#include "predict/forecast.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace predict {
namespace {

// The last end. Where nothing is computed, that of an exchange alone.
double longest(std::span<const RankStep> ranks, const Conditions& c, comm::Overlap overlap) {
    const std::vector<double> ends = step_ends(ranks, c.nodes, c.machine, overlap);
    return *std::max_element(ends.begin(), ends.end());
}

RankSteps balanced(RankSteps ranks) {
    double mean = 0;
    for (const RankStep& r : ranks.steps) mean += r.seconds() / static_cast<double>(ranks.steps.size());
    for (RankStep& r : ranks.steps) {
        const double factor = r.seconds() > 0 ? mean / r.seconds() : 0;
        r.inner_seconds = r.seconds() > 0 ? r.inner_seconds * factor : mean;
        r.rim_seconds *= factor;
    }
    return ranks;
}

Machine scaled_network(Machine m, double factor) {
    for (Link* link : {&m.inside, &m.between}) link->latency_seconds *= factor, link->bytes_per_second /= factor;
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
    const int n = static_cast<int>(ranks.steps.size());
    const bool full = c.overlap == comm::Overlap::full;
    const comm::Overlap blocking = full ? comm::Overlap::links : c.overlap;
    const double usual = longest(ranks.steps, c, c.overlap);
    const double rebuild = 2 * longest(ranks.records, c, blocking) + longest(ranks.counts, c, blocking) +
                           longest(ranks.steps, c, blocking);
    const double reduction = full && c.machine.reductions_travel ? 0 : reduction_seconds(n, c.machine);
    return usual + (rebuild - usual) / c.steps_per_rebuild + reduction + c.rebalancing_seconds;
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
    t.messages = without_bytes - most - c.rebalancing_seconds;
    t.bytes = all - without_bytes;
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
    f.balanced_seconds = mean_step_seconds(balanced(ranks), c);
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
