// SPDX-License-Identifier: MIT
// metis/step_<step>.graph: the cells of a balancing as a graph for METIS and for who reads its files, with what the
// cells cost and hold; beside it, in the format of METIS' own results, step_<step>.owners: who had them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>

#include "app/output/directory/result_files.hpp"
#include "app/output/formats/balance_formats.hpp"
#include "balance/partition/cell_graph.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr const char* metis_folder = "metis";

// Comments, a line of counts, then a line for each cell: its weights and its neighbours, counted from 1.
std::string graph_text(const BalancedCells& before, const balance::Grid& grid) {
    const double sum = std::accumulate(before.seconds.begin(), before.seconds.end(), 0.0);
    std::vector<std::int64_t> load;  // cell_graph() scales it anew
    for (const double s : before.seconds) load.push_back(sum > 0 ? static_cast<std::int64_t>(s / sum * 0x1p60) : 0);
    const balance::CellGraph graph = balance::cell_graph(grid, load);
    const bool particles = std::ranges::any_of(before.particles, [](std::int64_t n) { return n > 0; });
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "% step {}; {} x {} x {} cells by x, then y, then z\n", before.step, grid.cells[0],
                   grid.cells[1], grid.cells[2]);
    fmt::format_to(out, "% weights: seconds a step in units of {}{}\n", sum * 0x1p-30, particles ? "; particles" : "");
    fmt::format_to(out, "{} {} 010 {}\n", load.size(), graph.neighbours.size() / 2, particles ? 2 : 1);
    for (std::size_t c = 0; c < load.size(); ++c) {
        fmt::format_to(out, "{}", graph.weight[c]);
        if (particles) fmt::format_to(out, " {}", before.particles[c]);
        for (std::int32_t i = graph.first[c]; i < graph.first[c + 1]; ++i)
            fmt::format_to(out, " {}", graph.neighbours[i] + 1);
        text += '\n';
    }
    return text;
}

// The step of a file that MetisFiles writes, also of an unfinished one; empty for any other name.
std::optional<std::int64_t> metis_step(std::string_view name) {
    if (name.ends_with(".tmp")) name.remove_suffix(4);
    const auto step = step_in_name(name, "step_", ".graph");
    return step ? step : step_in_name(name, "step_", ".owners");
}

// The process of each cell, a line for each.
std::string owners_text(const BalancedCells& before, const balance::Grid& grid) {
    std::vector<std::int64_t> owners(grid.box().cells());
    for_each_box(before.partition, [&](std::int64_t p, const balance::Box& box) {
        for_each_cell(grid, box, [&](std::int64_t c) { owners[c] = p; });
    });
    std::string text;
    for (const std::int64_t p : owners) text += std::to_string(p) + "\n";
    return text;
}

// On rank 0 alone.
class MetisFiles final : public FormatFiles {
public:
    // Removes what an earlier start of this run has written of steps after `last`. Throws OutputError.
    MetisFiles(RunDirectory& results, const balance::Grid& grid, std::int64_t last) : results_(results), grid_(grid) {
        std::error_code error;
        const std::string path = results.path() + "/" + metis_folder;
        fs::create_directory(path, error);
        std::vector<fs::path> later;
        for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
            if (metis_step(entry.path().filename().string()).value_or(-1) > last) later.push_back(entry.path());
        for (const fs::path& file : later) fs::remove(file, error);
        if (error) throw results.cannot_write(metis_folder);
    }
    // Writes both files of a balancing. Throws OutputError.
    void add(const BalancedCells& before) override {
        const std::string name = fmt::format("{}/step_{}.", metis_folder, before.step);
        results_.write(name + "owners", owners_text(before, grid_));
        results_.write(name + "graph", graph_text(before, grid_));
    }

private:
    RunDirectory& results_;
    balance::Grid grid_;
};

}  // namespace

std::int64_t last_metis_step(const std::string& folder) {
    std::int64_t last = -1;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        last = std::max(last, metis_step(entry.path().filename().string()).value_or(-1));
    return last;
}

std::unique_ptr<FormatFiles> make_metis(RunDirectory& results, const balance::Grid& grid, std::int64_t last) {
    return std::make_unique<MetisFiles>(results, grid, last);
}

}  // namespace app
