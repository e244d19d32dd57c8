// SPDX-License-Identifier: MIT
#include "tools/predict/report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/common/json.hpp"
#include "app/common/words.hpp"
#include "tools/predict/forecast.hpp"

namespace app {
namespace {

using predict::Forecast;
using predict::Terms;

constexpr std::array<std::pair<const char*, double Terms::*>, 5> term_names{{{"compute", &Terms::compute},
                                                                             {"imbalance", &Terms::imbalance},
                                                                             {"messages", &Terms::messages},
                                                                             {"bytes", &Terms::bytes},
                                                                             {"rebalancing", &Terms::rebalancing}}};

double speed_up(const PredictReport& report, const Forecast& f) {
    return report.forecasts.front().terms.seconds() / f.terms.seconds();
}

double efficiency(const PredictReport& report, const Forecast& f) {
    return speed_up(report, f) / static_cast<double>(f.ranks);
}

constexpr double good_efficiency = 0.7;  // more ranks are a waste for most

double uncertainty(const Forecast& f) { return (f.high_seconds - f.low_seconds) / 2 / f.terms.seconds(); }

// How much shorter a step gets.
double gain(const Forecast& f, double seconds) { return std::max(0.0, 1 - seconds / f.terms.seconds()); }

const Forecast& of_ranks(const PredictReport& report, std::int64_t ranks) {
    for (const Forecast& f : report.forecasts)
        if (f.ranks == ranks) return f;
    return report.forecasts.front();
}

std::string in_words(const PredictReport& report, const Forecast& f) {
    const std::string all =
        report.deck.run.steps > 0
            ? fmt::format(" ({:.3g} s for {})", f.terms.seconds() * static_cast<double>(report.deck.run.steps),
                          counted(report.deck.run.steps, "step"))
            : "";
    return fmt::format("{}, {:.4g} s a step{}, efficiency {:.2f}", counted(f.ranks, "rank"), f.terms.seconds(), all,
                       efficiency(report, f));
}

void say_uncertainty(const PredictReport& report) {
    std::vector<std::string> parts{
        fmt::format("+-: {:.0f} %, as far as predictions were off in tests ({:.0f} % where runs balance)",
                    100 * predict::method_error, 100 * predict::method_error_balanced)};
    if (report.calibrated) parts.push_back("and the scatter of the times that were measured now");
    else if (report.machine.compute_uncertainty + report.machine.message_uncertainty > 0)
        parts.push_back(fmt::format("and {:.0f} % of computing and {:.0f} % of messages, the machine's uncertainties",
                                    100 * report.machine.compute_uncertainty,
                                    100 * report.machine.message_uncertainty));
    say_lines(parts);
}

// The number of ranks that was asked for, or that seems sensible.
void say_ranks(const PredictReport& report, const Forecast& best) {
    const bool might_be_faster =
        best.ranks == report.forecasts.back().ranks && best.ranks > 1 && best.ranks < report.most_ranks;
    say(stdout, "\n  shortest step of these: {}\n{}", in_words(report, best),
        might_be_faster ? "  (more ranks might be faster still)\n" : "");
    if (report.options.efficiency > 0)
        say(stdout, "  for an efficiency of {:g}: {}\n", report.options.efficiency,
            in_words(report, of_ranks(report, report.answer)));
    if (report.options.seconds > 0)
        say(stdout, "  for {} in {:g} s: {}\n", counted(report.deck.run.steps, "step"), report.options.seconds,
            report.answer > 0 ? in_words(report, of_ranks(report, report.answer))
                              : fmt::format("no number of ranks up to {} is enough", report.most_tried));
    if (report.options.efficiency == 0 && report.options.seconds == 0)
        say(stdout, "  recommended: {} ({:g} or more)\n",
            in_words(report, predict::most_with_efficiency(report.forecasts, good_efficiency)), good_efficiency);
    if (report.calibrated)
        say(stdout, "  the {} that are here: {}\n", counted(report.cores, "core"),
            in_words(report, of_ranks(report, std::min<std::int64_t>(report.cores, report.forecasts.back().ranks))));
}

}  // namespace

void say_prediction(const PredictReport& report, const std::string& directory) {
    say(stdout, "steelyard {}: {}\n", STEELYARD_VERSION, report.deck.name);
    std::vector<std::string> facts{counted(report.particles, "particle"), counted(report.cells, "cell"),
                                   fmt::format("machine {}", report.machine.name),
                                   fmt::format("costs of messages {}", report.messages_how),
                                   fmt::format("neighbour lists serve {:.3g} steps", report.steps_per_rebuild)};
    if (report.sampled_steps > 0)
        facts.push_back(fmt::format("loads as in the first {}", counted(report.sampled_steps, "step")));
    if (report.options.length != 1) facts.push_back(fmt::format("all lengths times {:g}", report.options.length));
    say_lines(facts);
    say(stdout, "\n  predicted, not measured; shares of a step in %\n");
    say(stdout, "  {:>6}{:>12}{:>7}{:>10}{:>7} |{:>6}{:>7}{:>7}{:>6}{:>7}{}\n", "ranks", "s a step", "+- %", "speed-up",
        "eff.", "comp.", "imbal.", "mess.", "bytes", "rebal.", report.options.length > 1 ? "  grain" : "");
    for (const Forecast& f : report.forecasts) {
        const double all = f.terms.seconds(), s = speed_up(report, f);
        std::string row = fmt::format("  {:>6}{:>12.4g}{:>7.1f}{:>10.2f}{:>7.2f} |", f.ranks, all, 100 * uncertainty(f),
                                      s, s / static_cast<double>(f.ranks));
        const std::array<int, 5> widths{6, 7, 7, 6, 7};
        for (std::size_t i = 0; i < term_names.size(); ++i)
            row += fmt::format("{:>{}.1f}", 100 * (f.terms.*term_names[i].second) / all, widths[i]);
        if (const double whole = f.undivided_imbalance; report.options.length > 1 && whole >= 0)
            row += fmt::format("{:>7.1f}", 100 * whole / (all - f.terms.imbalance + whole));
        say(stdout, "{}\n", row);
    }
    if (report.options.length > 1)
        say(stdout, "  grain: imbalance if no cell of the deck were cut, in % of the step then\n");
    say_uncertainty(report);
    const Forecast& best = best_of(report.forecasts);
    say_ranks(report, best);
    const predict::Limit limit = limit_of(best.terms);
    std::vector<std::string> limits{fmt::format("on {} it is limited by {}", counted(best.ranks, "rank"), limit.name),
                                    fmt::format("{:.1f} % of a step", 100 * limit.seconds / best.terms.seconds())};
    if (limit.seconds != best.terms.compute)
        limits.push_back(fmt::format("computing is {:.1f} %", 100 * best.terms.compute / best.terms.seconds()));
    say_lines(limits);
    say_lines({"a step would be shorter",
               fmt::format("by {:.1f} % with equal loads", 100 * gain(best, best.balanced_seconds)),
               fmt::format("by {:.1f} % on a network twice as fast", 100 * gain(best, best.fast_network_seconds))});
    say_lines({fmt::format("overlap: a step of {:.4g} s with none", best.none_seconds),
               fmt::format("{:.4g} with links", best.links_seconds),
               fmt::format("{:.4g} with full", best.full_seconds)});
    say(stdout, "  output in {}\n", directory);
}

std::string to_json(const PredictReport& report) {
    Json j;
    j["version"] = STEELYARD_VERSION;
    j["deck"] = report.deck.name;
    j["machine"] = report.machine.name;
    j["calibrated"] = report.calibrated;
    if (report.calibrated) j["threads"] = omp_get_max_threads();
    j["messages"] = report.messages_how;
    j["fitted"] = report.fitted;
    j["particles"] = report.particles;
    j["cells"] = report.cells;
    j["length"] = report.options.length;
    j["steps_per_rebuild"] = report.steps_per_rebuild;
    j["sampled_steps"] = report.sampled_steps;
    j["overlap"] = balance::word_of(report.deck.comm.overlap);
    const Forecast& best = best_of(report.forecasts);
    j["best_ranks"] = best.ranks;
    j["recommended_ranks"] = predict::most_with_efficiency(report.forecasts, good_efficiency).ranks;
    if (report.calibrated) j["cores"] = report.cores;
    if (report.options.efficiency > 0)
        j["asked"] = {{"efficiency", report.options.efficiency}, {"ranks", report.answer}};
    if (report.options.seconds > 0)
        j["asked"] = {{"seconds", report.options.seconds},
                      {"ranks", report.answer > 0 ? Json(report.answer) : Json(nullptr)}};
    j["limited_by"] = limit_of(best.terms).name;
    for (const Forecast& f : report.forecasts) {
        Json row = {
            {"ranks", f.ranks},
            {"step_seconds", f.terms.seconds()},
            {"low_seconds", f.low_seconds},
            {"high_seconds", f.high_seconds},
            {"speed_up", speed_up(report, f)},
            {"efficiency", efficiency(report, f)},
            {"lbe", f.lbe},
            {"messages_a_rank", f.messages},
            {"bytes_a_rank", f.bytes},
            {"balanced_seconds", f.balanced_seconds},
            {"fast_network_seconds", f.fast_network_seconds},
            {"overlap_seconds", {{"none", f.none_seconds}, {"links", f.links_seconds}, {"full", f.full_seconds}}}};
        for (const auto& [name, term] : term_names) row["seconds"][name] = f.terms.*term;
        row["seconds"]["communication"] = f.terms.communication();
        if (report.options.length > 1 && f.undivided_imbalance >= 0) row["undivided_imbalance"] = f.undivided_imbalance;
        j["forecasts"].push_back(row);
    }
    return text_of(j, 2) + "\n";
}

std::string extrap_lines(const PredictReport& report) {
    std::string text;
    const auto add = [&](std::int64_t ranks, const char* callpath, double value) {
        text +=
            Json({{"params", {{"p", ranks}}}, {"callpath", callpath}, {"metric", "time"}, {"value", value}}).dump() +
            "\n";
    };
    for (const Forecast& f : report.forecasts) {
        add(f.ranks, "step", f.terms.seconds());
        for (const auto& [name, term] : term_names) add(f.ranks, (std::string("step->") + name).c_str(), f.terms.*term);
    }
    return text;
}

}  // namespace app
