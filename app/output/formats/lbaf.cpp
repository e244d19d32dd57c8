// SPDX-License-Identifier: MIT
// lbaf/data.<process>.json: the LBDatafiles of DARMA/vt, which its Load Balancing Analysis Framework (LBAF) reads. A
// file for each process, a phase in each of them for each balancing, an object for each box of cells.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "app/common/json.hpp"
#include "app/output/formats/balance_formats.hpp"
#include "balance/partition/cell_graph.hpp"
#include "comm/file/posix_file.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder = "lbaf";

std::vector<int> along_axes_of(const balance::Grid& grid, const std::array<int, 3>& values) {
    return {values.begin(), values.begin() + grid.dimensions};
}

// The beginning of a file; in a file of a run with other cells or processes it is another one.
std::string head_of(const balance::Grid& grid, std::int64_t process, std::int64_t processes) {
    Json boundary = Json::array();
    for (int a = 0; a < grid.dimensions; ++a) boundary.push_back(grid.periodic[a] ? "periodic" : "reflecting");
    const Json metadata{{"type", "LBDatafile"},
                        {"rank", process},
                        {"attributes",
                         {{"program", "steelyard"},
                          {"processes", processes},
                          {"cells", along_axes_of(grid, grid.cells)},
                          {"boundary", boundary}}}};
    std::string head = fmt::format(R"({{"type":"LBDatafile","metadata":{},"rank_alpha":)", metadata.dump());
    head.erase(head.rfind('}'), 1);  // rank_alpha is the last key of the metadata
    return head;
}

// The rest of the first line, always as long: the end of a run writes it again, when the speed is known. LBAF takes
// rank_alpha times the objects' time for the work of a rank.
std::string rest_of_head(double speed) { return fmt::format("{:<13.6e}}},\"phases\":[\n", 1 / speed); }

// The text before the number of the step in the line of a phase.
constexpr std::string_view before_step = R"("user_defined":{"step":)";

std::int64_t step_in(const std::string& line) {
    const std::size_t at = line.find(before_step);
    return at == std::string::npos ? -1 : std::atoll(line.c_str() + at + before_step.size());
}

// The speed of the process in the last phase of a text; 1 if it has none.
double last_speed_in(const std::string& text) {
    constexpr std::string_view before_speed = R"("speed":)";
    const std::size_t phase = text.rfind(before_step);
    const std::size_t at = phase == std::string::npos ? phase : text.find(before_speed, phase);
    return at == std::string::npos ? 1 : std::strtod(text.c_str() + at + before_speed.size(), nullptr);
}

// How many of the lines after the first one are phases up to step `last`.
std::int64_t phases_until(const std::string& text, std::int64_t last) {
    std::int64_t count = 0;
    for (std::size_t at = text.find('\n'), end = 0; at != std::string::npos; at = end, ++count) {
        end = text.find('\n', at + 1);
        const std::int64_t step = end == std::string::npos ? -1 : step_in(text.substr(at + 1, end - at - 1));
        if (step < 0 || step > last) break;
    }
    return count;
}

// The first `lines` lines.
std::string first_lines(const std::string& text, std::int64_t lines) {
    std::size_t end = 0;
    for (; lines > 0; --lines) end = text.find('\n', end) + 1;
    return text.substr(0, end);
}

// A box is called by its lower corner: the number of that cell, by x, then y, then z.
Json entity_of(const balance::Grid& grid, const balance::Box& box, std::int64_t process) {
    const std::int64_t id = balance::place_in(grid.box(), box.lower[0], box.lower[1], box.lower[2]);
    return {{"type", "object"}, {"id", id}, {"home", process}, {"migratable", true}};
}

// The objects of all processes, one for each box.
std::vector<Json> tasks_of(const BalancedCells& before, const balance::Grid& grid) {
    std::vector<Json> tasks(before.partition.processes(), Json::array());
    for_each_box(before.partition, [&](std::int64_t p, const balance::Box& box) {
        double seconds = 0;
        std::int64_t particles = 0;
        for_each_cell(grid, box,
                      [&](std::int64_t c) { seconds += before.seconds[c], particles += before.particles[c]; });
        tasks[p].push_back({{"entity", entity_of(grid, box, p)},
                            {"node", p},
                            {"resource", "cpu"},
                            {"time", seconds},
                            {"user_defined",
                             {{"lower", along_axes_of(grid, box.lower)},
                              {"upper", along_axes_of(grid, box.upper)},
                              {"particles", particles}}}});
    });
    return tasks;
}

// What the processes' boxes send a step: to each box that their cells touch, the positions of the particles in these
// cells, 4 bytes an axis.
std::vector<Json> communications_of(const BalancedCells& before, const balance::Grid& grid) {
    std::vector<std::int32_t> box_of(grid.box().cells());
    std::vector<Json> entities;
    std::vector<std::int64_t> processes;
    for_each_box(before.partition, [&](std::int64_t p, const balance::Box& box) {
        for_each_cell(grid, box, [&](std::int64_t c) { box_of[c] = static_cast<std::int32_t>(entities.size()); });
        entities.push_back(entity_of(grid, box, p));
        processes.push_back(p);
    });
    const balance::CellGraph graph = balance::cell_graph(grid, before.particles);
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> sent;  // particles, from box to box
    std::vector<std::int32_t> touched;
    for (std::size_t c = 0; c < box_of.size(); ++c) {
        touched.clear();
        for (std::int32_t i = graph.first[c]; i < graph.first[c + 1]; ++i)
            touched.push_back(box_of[graph.neighbours[i]]);
        std::ranges::sort(touched);
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        for (const std::int32_t to : touched)
            if (to != box_of[c]) sent[{box_of[c], to}] += before.particles[c];
    }
    std::vector<Json> communications(before.partition.processes(), Json::array());
    for (const auto& [boxes, particles] : sent)
        communications[processes[boxes.first]].push_back(
            {{"type", "SendRecv"},
             {"from", entities[boxes.first]},
             {"to", entities[boxes.second]},
             {"messages", 1},
             {"bytes", 4.0 * grid.dimensions * static_cast<double>(particles)}});
    return communications;
}

// On rank 0 alone. While they grow, with a phase a line, the files bear the names data.<process>.json.tmp.
class LbafFiles final : public FormatFiles {
public:
    // Goes on with what an earlier start of this run has written up to step `last`. Throws OutputError.
    LbafFiles(RunDirectory& results, const balance::Grid& grid, std::int64_t processes, std::int64_t last)
        : results_(results), grid_(grid), sizes_(processes, 0), speeds_(processes, 1) {
        std::error_code error;
        if (fs::is_directory(results.path() + "/" + folder, error)) {
            // All files have the same phases up to that step: it has a checkpoint, which was written after them.
            bool sound = true;
            for (std::int64_t p = 0; p < processes && sound; ++p) {
                const std::string text = past(p);
                const std::int64_t phases = phases_until(text, last);
                if (p == 0) phases_ = phases;
                sound = text.starts_with(head_of(grid, p, processes)) && phases == phases_;
            }
            if (!sound) results.put_aside(folder, "is incomplete, or of other processes or cells");
            if (!sound) phases_ = 0;
        }
        fs::create_directory(results.path() + "/" + folder, error);
        for (std::int64_t p = 0; p < processes; ++p) {
            const std::string text =
                phases_ > 0 ? first_lines(past(p), 1 + phases_) : head_of(grid, p, processes) + rest_of_head(1);
            const std::string growing = comm::unfinished(results.path() + "/" + name(p));
            sizes_[p] = std::ssize(text);
            speeds_[p] = last_speed_in(text);
            // A file that grew is cut: nothing of what stays is written again, so a power cut cannot take it.
            const bool cut = phases_ > 0 && !results.read(comm::unfinished(name(p))).empty();
            if (cut ? ftruncate(comm::Descriptor(growing, O_WRONLY | O_NOFOLLOW), sizes_[p]) != 0
                    : !comm::replace_file(growing, text))
                throw results.cannot_write(name(p));
        }
    }
    // Adds a phase. Throws OutputError.
    void add(const BalancedCells& before) override {
        const std::vector<Json> tasks = tasks_of(before, grid_), communications = communications_of(before, grid_);
        for (std::size_t p = 0; p < sizes_.size(); ++p)
            write(static_cast<std::int64_t>(p),
                  fmt::format("{}{{\"id\":{},{}{},\"speed\":{}}},\"tasks\":{},\"communications\":{}}}\n",
                              phases_ > 0 ? "," : "", phases_, before_step, before.step, Json(before.speeds[p]).dump(),
                              tasks[p].dump(), communications[p].dump()),
                  sizes_[p]);
        speeds_ = before.speeds;
        ++phases_;
    }
    // Ends the files and gives them their names. Throws OutputError.
    void finish() override {
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            const auto p = static_cast<std::int64_t>(i);
            const std::string path = results_.path() + "/" + name(p);
            write(p, rest_of_head(speeds_[i]), std::ssize(head_of(grid_, p, std::ssize(sizes_))));
            write(p, "]}\n", sizes_[i]);
            if (std::rename(comm::unfinished(path).c_str(), path.c_str()) != 0) throw results_.cannot_write(name(p));
        }
    }

private:
    std::string name(std::int64_t process) const { return fmt::format("{}/data.{}.json", folder, process); }
    // The file of this process from an earlier start.
    std::string past(std::int64_t process) const {
        const std::string growing = results_.read(comm::unfinished(name(process)));
        return growing.empty() ? results_.read(name(process)) : growing;
    }
    // at: bytes from its begin
    void write(std::int64_t process, const std::string& text, std::int64_t at) {
        comm::Descriptor file(comm::unfinished(results_.path() + "/" + name(process)), O_WRONLY | O_NOFOLLOW);
        if (!file.good() || !comm::write_at(file, text.data(), std::ssize(text), at) || !file.close())
            throw results_.cannot_write(name(process));
        sizes_[process] = std::max(sizes_[process], at + std::ssize(text));
    }

    RunDirectory& results_;
    balance::Grid grid_;
    std::vector<std::int64_t> sizes_;  // of each file
    std::vector<double> speeds_;       // of each process, as known at the last phase
    std::int64_t phases_ = 0;          // in each file
};

}  // namespace

std::int64_t last_lbaf_step(const std::string& folder) {
    std::int64_t last = -1;
    for (const char* name : {"/data.0.json", "/data.0.json.tmp"}) {
        const std::string text = comm::read_text(folder + name);
        const std::size_t at = text.rfind(before_step);
        if (at != std::string::npos) last = std::max(last, step_in(text.substr(at)));
    }
    return last;
}

std::unique_ptr<FormatFiles> make_lbaf(RunDirectory& results, const balance::Grid& grid, std::int64_t processes,
                                       std::int64_t last) {
    return std::make_unique<LbafFiles>(results, grid, processes, last);
}

}  // namespace app
