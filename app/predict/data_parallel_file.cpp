// SPDX-License-Identifier: MIT
#include "app/predict/data_parallel_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/deck/key.hpp"
#include "app/deck/settings.hpp"
#include "app/output/run_directory.hpp"
#include "comm/file/posix_file.hpp"

namespace app {
namespace {

using predict::Overlapped;

// Numbers by number: {1: 1.0, 2: 1.4}.
Key table(const char* name, std::map<double, double>& xs, const NumberRange& range, const char* meaning) {
    Key key{name, meaning, "a map from numbers to numbers"};
    key.read = [&xs, range](const Node& node, const std::string& path) {
        if (node.kind != Node::Kind::map)
            fail(node.where, path + " must be a map, not " + describe(node), "write it as in {1: 1.0, 2: 1.4}");
        for (const NodeEntry& e : node.entries) {
            Node from = e.value;
            from.text = e.key, from.where = e.where, from.kind = Node::Kind::scalar, from.quoted = false;
            xs[to_number(from, path, {0, 1e15, true})] = to_number(e.value, below(path, e.key), range);
        }
    };
    key.text = [&xs] {
        std::string text;
        for (const auto& [x, y] : xs)
            text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", number_text(x), number_text(y));
        return "{" + text + "}";
    };
    return key;
}

std::vector<Key> keys_of(DataParallelProgram& p) {
    const NumberRange positive{0, 1e15, true}, seconds{0, 1e9};
    Key counts = list(
        "counts", p.counts, [](std::int64_t& n) { return integer("", n, 1, 1'000'000'000, ""); }, "[1, 2, 4]",
        "numbers of subdomains (squares: along a side) to predict for");
    counts.read = [&p, read = std::move(counts.read)](const Node& node, const std::string& path) {
        p.counts.resize(to_list(node, path, 0, "[1, 2, 4]").size());
        read(node, path);
    };
    std::vector<Key> program{
        word("cut", p.cut, "into strips that share columns, or into P x P squares"),
        required(number("columns", p.columns, positive, "of the domain; squares: points along its side"), "give it"),
        number("height", p.height, positive, "points of a column; squares: not used"),
        number("overlap", p.overlap, {0, 1e15},
               "columns that strips share; squares: width of the rim that others need"),
        required(number("t_calc", p.times.calculate, {0, 1e9, true}, "seconds to compute a point once"), "give it"),
        number("t_comm", p.times.transfer, seconds, "seconds to transfer a point"),
        number("t_s", p.times.start, seconds, "seconds to start a message"),
        section("iterations", "to the wanted accuracy",
                {number("serial", p.serial, positive, "I_1: without subdomains"),
                 table("parallel", p.parallel, positive, "I_p: by the number of subdomains"),
                 table("by_overlap", p.by_overlap, positive, "factor of I_p: by the overlap"),
                 number("inner", p.inner, positive, "I_m: inner iterations of the slowest subdomain")}),
        counts,
        table("measured", p.measured, seconds, "seconds that were measured, shown beside"),
    };
    return {section("data_parallel", "", std::move(program))};
}

// Linear between the entries; a table of one entry, or of none, is a constant.
double look_up(const std::map<double, double>& table, double x, double otherwise, const char* key) {
    if (table.empty()) return otherwise;
    if (table.size() == 1) return table.begin()->second;
    const auto above = table.lower_bound(x);
    if (above == table.end() || (above == table.begin() && above->first != x))
        throw DeckError(
            fmt::format("data_parallel.iterations.{}: the table does not reach {:g}; add an entry, or predict "
                        "between {:g} and {:g}",
                        key, x, table.begin()->first, table.rbegin()->first));
    if (above->first == x) return above->second;
    const auto below = std::prev(above);
    return below->second + (above->second - below->second) * (x - below->first) / (above->first - below->first);
}

predict::Subdomain subdomain(const DataParallelProgram& p, std::int64_t count) {
    return p.cut == Cutting::strips ? predict::strip(p.columns, p.height, count, p.overlap)
                                    : predict::square(p.columns, static_cast<double>(count), p.overlap);
}

struct NamedOverlap {
    const char* name;
    Overlapped overlapped;
};
constexpr std::array<NamedOverlap, 4> overlaps{{{"nothing", Overlapped::nothing},
                                                {"links", Overlapped::links},
                                                {"compute", Overlapped::compute},
                                                {"hardware", Overlapped::hardware}}};

std::int64_t best_count_of(const DataParallelProgram& p) {
    const auto [first, last] = std::minmax_element(p.counts.begin(), p.counts.end());
    return predict::best_count([&](std::int64_t n) { return p.seconds(n); }, *first, *last).count;
}

std::string json_of(const DataParallelProgram& p) {
    nlohmann::ordered_json j = {
        {"program", p.name}, {"sequential_seconds", p.sequential()}, {"best_count", best_count_of(p)}};
    for (const std::int64_t n : p.counts) {
        nlohmann::ordered_json row = {
            {"count", n}, {"processors", p.processors(n)}, {"speed_up", p.sequential() / p.seconds(n)}};
        for (const NamedOverlap& o : overlaps) row["seconds"][o.name] = p.seconds(n, o.overlapped);
        if (p.measured.count(static_cast<double>(n))) row["measured_seconds"] = p.measured.at(static_cast<double>(n));
        j["counts"].push_back(row);
    }
    return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void say_program(const DataParallelProgram& p, const std::string& directory) {
    say(stdout, "{}: predicted, not measured, but for the last column; seconds\n", p.name);
    say(stdout, "  without subdomains: {:.4g}\n", p.sequential());
    say(stdout, "  {:>6}{:>10}{:>9}{:>11} | overlapped:{:>8}{:>9}{:>9} |{:>9}\n", "count", "seconds", "speed-up",
        "efficiency", "links", "compute", "hardware", "measured");
    for (const std::int64_t n : p.counts) {
        const double s = p.sequential() / p.seconds(n);
        const auto measured = p.measured.find(static_cast<double>(n));
        say(stdout, "  {:>6}{:>10.4g}{:>9.2f}{:>11.2f} |            {:>8.4g}{:>9.4g}{:>9.4g} |{:>9}\n", n, p.seconds(n),
            s, s / p.processors(n), p.seconds(n, Overlapped::links), p.seconds(n, Overlapped::compute),
            p.seconds(n, Overlapped::hardware),
            measured == p.measured.end() ? "" : fmt::format("{:.4g}", measured->second));
    }
    const std::int64_t best = best_count_of(p);
    say(stdout, "  best count from {} to {}: {}, speed-up {:.2f}\n",
        *std::min_element(p.counts.begin(), p.counts.end()), *std::max_element(p.counts.begin(), p.counts.end()), best,
        p.sequential() / p.seconds(best));
    say(stdout, "  output in {}\n", directory);
}

std::optional<DataParallelProgram> data_parallel_in(const std::string& text, const Options& options) {
    const std::string shown = printable(options.deck);
    Node root = parse_tree(text, {shown});
    if (root.kind != Node::Kind::map || !root.find("data_parallel")) return std::nullopt;
    for (const std::string& setting : options.settings) apply_setting(root, setting);
    DataParallelProgram program;
    const std::vector<Key> keys = keys_of(program);
    read_tree(root, keys, keys, shown);
    if (program.counts.empty())
        throw DeckError(shown + ": data_parallel.counts is empty; give at least one number, as in [1, 2, 4]");
    if (!options.machine.empty() || !options.processes.empty() || options.length != 1 || options.efficiency > 0 ||
        options.seconds > 0)
        throw UsageError("command line: --machine, --processes, --scale, --efficiency and --time are for decks; " +
                         shown + " itself says what a data-parallel program costs, and for which counts");
    program.name = std::filesystem::path(options.deck).stem().string();
    return program;
}

}  // namespace

predict::Iterations DataParallelProgram::iterations(std::int64_t count) const {
    return {serial,
            look_up(parallel, static_cast<double>(count), serial, "parallel") *
                (count > 1 ? look_up(by_overlap, overlap, 1, "by_overlap") : 1),
            inner};
}
double DataParallelProgram::seconds(std::int64_t count, Overlapped overlapped) const {
    return parallel_seconds(subdomain(*this, count), times, iterations(count), overlapped);
}
double DataParallelProgram::sequential() const {
    return sequential_seconds(columns * (cut == Cutting::strips ? height : columns), times, {serial, serial, 1});
}
double DataParallelProgram::processors(std::int64_t count) const {
    return static_cast<double>(count) * (cut == Cutting::squares ? static_cast<double>(count) : 1);
}

std::optional<DataParallelProgram> read_data_parallel(const Options& options, const comm::Communicator& comm) {
    std::string text;
    on_rank_0(comm, [&] { text = deck_bytes(options.deck); });
    comm.broadcast(text);
    return agreed(comm, [&] { return data_parallel_in(text, options); });
}

int predict_data_parallel(const DataParallelProgram& program, const Options& options, const comm::Communicator& comm) {
    Deck named;
    named.name = program.name;
    const std::string text = agreed(
        comm, [&] { return json_of(program); });  // whatever can be refused is looked at before files are written
    RunDirectory directory(output_path(options, named, comm), comm);
    directory.prepare(std::nullopt, old_results(options), named, options.deck);
    on_rank_0(comm, [&] {
        if (!comm::replace_file(directory.path() + "/predict.json", text))
            throw OutputError(directory.path() + ": cannot write predict.json; choose another directory with --out");
    });
    if (comm.rank() == 0 && !options.quiet) say_program(program, directory.path());
    return 0;
}

}  // namespace app
