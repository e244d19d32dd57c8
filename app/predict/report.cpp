// SPDX-License-Identifier: MIT
#include "app/predict/report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/common/build_info.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"

namespace app {
namespace {

using Json = nlohmann::ordered_json;
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

double uncertainty(const Forecast& f) { return (f.high_seconds - f.low_seconds) / 2 / f.terms.seconds(); }

// How much shorter a step gets.
double gain(const Forecast& f, double seconds) { return std::max(0.0, 1 - seconds / f.terms.seconds()); }

}  // namespace

void say_prediction(const PredictReport& report, const std::string& directory) {
    say(stdout, "steelyard {}: {}\n", STEELYARD_VERSION, report.deck);
    std::vector<std::string> facts{counted(report.particles, "particle"), counted(report.cells, "cell"),
                                   fmt::format("machine {}", report.machine.name),
                                   fmt::format("costs of messages {}", report.messages_how),
                                   fmt::format("neighbour lists serve {:.3g} steps", report.steps_per_rebuild)};
    if (report.length != 1) facts.push_back(fmt::format("all lengths times {:g}", report.length));
    say(stdout, "{}", lines_of(facts));
    say(stdout, "\n  predicted, not measured; shares of a step in %\n");
    say(stdout, "  {:>6}{:>12}{:>7}{:>10}{:>7} |{:>6}{:>7}{:>7}{:>6}{:>7}\n", "ranks", "s a step", "+- %", "speed-up",
        "eff.", "comp.", "imbal.", "mess.", "bytes", "rebal.");
    for (const Forecast& f : report.forecasts) {
        const double all = f.terms.seconds(), s = speed_up(report, f);
        std::string row = fmt::format("  {:>6}{:>12.4g}{:>7.1f}{:>10.2f}{:>7.2f} |", f.ranks, all, 100 * uncertainty(f),
                                      s, s / static_cast<double>(f.ranks));
        const std::array<int, 5> widths{6, 7, 7, 6, 7};
        for (std::size_t i = 0; i < term_names.size(); ++i)
            row += fmt::format("{:>{}.1f}", 100 * (f.terms.*term_names[i].second) / all, widths[i]);
        say(stdout, "{}\n", row);
    }
    const Forecast& best = best_of(report.forecasts);
    say(stdout, "\n  best of these: {}{}\n", counted(best.ranks, "rank"),
        &best == &report.forecasts.back() ? "; more might be faster still" : "");
    say(stdout, "  it is limited by {}\n", limiting_term(best.terms));
    say(stdout, "{}",
        lines_of({"a step would be shorter",
                  fmt::format("by {:.1f} % with equal loads", 100 * gain(best, best.balanced_seconds)),
                  fmt::format("by {:.1f} % on a network twice as fast", 100 * gain(best, best.fast_network_seconds))}));
    say(stdout, "{}",
        lines_of({fmt::format("overlap: a step of {:.4g} s with none", best.none_seconds),
                  fmt::format("{:.4g} with links", best.links_seconds),
                  fmt::format("{:.4g} with full", best.full_seconds)}));
    say(stdout, "  output in {}\n", directory);
}

std::string to_json(const PredictReport& report) {
    Json j;
    j["version"] = STEELYARD_VERSION;
    j["deck"] = report.deck;
    j["machine"] = report.machine.name;
    j["calibrated"] = report.calibrated;
    if (report.calibrated) j["threads"] = omp_get_max_threads();
    j["messages"] = report.messages_how;
    j["fitted"] = report.fitted;
    j["particles"] = report.particles;
    j["cells"] = report.cells;
    j["length"] = report.length;
    j["steps_per_rebuild"] = report.steps_per_rebuild;
    j["overlap"] = balance::word_of(report.overlap);
    const Forecast& best = best_of(report.forecasts);
    j["best_ranks"] = best.ranks;
    j["limited_by"] = limiting_term(best.terms);
    for (const Forecast& f : report.forecasts) {
        Json row = {
            {"ranks", f.ranks},
            {"step_seconds", f.terms.seconds()},
            {"low_seconds", f.low_seconds},
            {"high_seconds", f.high_seconds},
            {"speed_up", speed_up(report, f)},
            {"efficiency", speed_up(report, f) / static_cast<double>(f.ranks)},
            {"lbe", f.lbe},
            {"messages_a_rank", f.messages},
            {"bytes_a_rank", f.bytes},
            {"balanced_seconds", f.balanced_seconds},
            {"fast_network_seconds", f.fast_network_seconds},
            {"overlap_seconds", {{"none", f.none_seconds}, {"links", f.links_seconds}, {"full", f.full_seconds}}}};
        for (const auto& [name, term] : term_names) row["seconds"][name] = f.terms.*term;
        row["seconds"]["communication"] = f.terms.communication();
        j["forecasts"].push_back(row);
    }
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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
