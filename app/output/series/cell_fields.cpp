// SPDX-License-Identifier: MIT
#include "app/output/series/cell_fields.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "app/common/errors.hpp"
#include "app/output/directory/run_directory.hpp"
#include "app/output/series/series.hpp"
#include "comm/file/durable.hpp"

namespace app {
namespace {

// `particles`, `owner` (process) and, once the run has balanced, `load`: of the model that drives it, at the step of
// the attribute `step`. Cells without particles carry none.
CellFields cell_fields(std::int64_t step, double time, const Engine& engine, const LoadBalancer& balancer) {
    const TileSet& tiles = engine.tiles();
    std::vector<comm::FieldBlock<std::int32_t>> particles, owner, zone;
    const auto add = [&](auto& field, const balance::Box& cells, std::int64_t value) {
        if (!cells.empty()) field.push_back({cells, std::vector(cells.cells(), static_cast<std::int32_t>(value))});
    };
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const balance::Box& box = tiles.box(t);
        const std::vector<std::int32_t> counts = tiles.counts(t);
        comm::FieldBlock<std::int32_t> count{box, {}};
        for (int z = box.lower[2]; z < box.upper[2]; ++z)
            for (int y = box.lower[1]; y < box.upper[1]; ++y)
                for (int x = box.lower[0]; x < box.upper[0]; ++x)
                    count.values.push_back(counts[balance::place_in(box, x, y, z)]);
        particles.push_back(std::move(count));
        if (t < tiles.on_cpu()) add(owner, box, tiles.process_of(t));
        add(zone, box, t < tiles.on_cpu() ? 0 : 1 + tiles.accelerator_of(t));
    }
    const md::Domain& domain = engine.setup().domain;
    CellFields fields{domain.grid(), {1, 1, 1}, step, time, {}, {}};
    for (int a = 0; a < domain.dimensions; ++a) fields.box[a] = domain.axis[a].real_length();
    fields.integers.push_back({"particles", std::move(particles)});
    if (balancer.zones().on()) {  // the cells of a block may belong to several processes
        const balance::ProcessBoxes& mine = balancer.partition();
        for (std::size_t t = tiles.on_cpu(); t < tiles.size(); ++t)
            for (std::int64_t i = 0; i < mine.size(); ++i)
                for (const balance::Box& box : mine.of(i))
                    add(owner, intersection(box, tiles.box(t)), mine.processes[i]);
        fields.integers.push_back({"zone", std::move(zone)});
    }
    fields.integers.push_back({"owner", std::move(owner)});
    if (balancer.has_load()) fields.numbers = {{"load", balancer.load(engine), balancer.load_step()}};
    return fields;
}

// One step's cell data on a uniform grid, in two dimensions one cell thick, as a collection of one grid. All of
// ParaView's XDMF readers take this form, alone and in a series, and show it in the x-y plane.
std::string xdmf_grid(const std::string& data, const CellFields& fields) {
    const std::array<int, 3>& n = fields.grid.cells;
    const auto width = [&](int axis) { return fields.box[axis] / n[axis]; };
    std::string text = fmt::format(
        R"(<Grid Name="step" GridType="Collection" CollectionType="Spatial">
<Time Value="{}"/>
<Grid Name="cells" GridType="Uniform">
<Topology TopologyType="3DCoRectMesh" Dimensions="{} {} {}"/>
)"
        R"(<Geometry GeometryType="ORIGIN_DXDYDZ">)"
        R"(<DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">0 0 0</DataItem>)"
        R"(<DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">{} {} {}</DataItem></Geometry>
)",
        fields.time, n[2] + 1, n[1] + 1, n[0] + 1, width(2), width(1), width(0));
    const auto add = [&](const std::string& name, const char* type) {
        text += fmt::format(R"(<Attribute Name="{0}" AttributeType="Scalar" Center="Cell">)"
                            R"(<DataItem Format="HDF" {1} Dimensions="{2} {3} {4}">{5}:/{0}</DataItem></Attribute>)"
                            "\n",
                            name, type, n[2], n[1], n[0], data);
    };
    for (const auto& field : fields.integers) add(field.name, "NumberType=\"Int\" Precision=\"4\"");
    for (const auto& field : fields.numbers) add(field.name, "NumberType=\"Float\" Precision=\"8\"");
    return text + "</Grid>\n</Grid>\n";
}

const std::string xdmf_begin = "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\"><Domain>\n",
                  xdmf_end = "</Domain></Xdmf>\n";
const std::string series_begin =
                      xdmf_begin + "<Grid Name=\"steps\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
                  series_end = "</Grid>\n" + xdmf_end;

std::string fields_name(std::int64_t step) { return fmt::format("fields_{}", step); }

}  // namespace

void FieldFiles::go_on(std::int64_t step) {
    // The grid of each existing step, from its own description.
    std::map<std::int64_t, std::string> grids;
    std::error_code error;
    for (std::filesystem::directory_iterator it(results_.path(), error), end; !error && it != end;
         it.increment(error)) {
        const std::string name = it->path().filename().string();
        const std::optional<std::int64_t> found = step_in_name(name, "fields_", ".xdmf");
        if (!found || *found > step) continue;
        const std::string text = results_.read(name);
        if (text.starts_with(xdmf_begin) && text.ends_with(xdmf_end))
            grids[*found] = text.substr(xdmf_begin.size(), text.size() - xdmf_begin.size() - xdmf_end.size());
    }
    for (const auto& [found, grid] : grids) past_ += grid;
}

void FieldFiles::write(const CellFields& fields) {
    const std::string path = results_.path() + "/" + fields_name(fields.step) + ".h5";
    const balance::Grid& grid = fields.grid;
    comm::FileWriter file(comm::unfinished(path), results_.comm());
    const auto write_all = [&](const auto& list) {
        for (const auto& field : list) {
            file.field("/" + field.name, grid, field.blocks);
            if (field.step) file.attribute("/" + field.name, "step", std::array{*field.step}, true);
        }
    };
    write_all(fields.integers);
    write_all(fields.numbers);
    const std::vector<std::int64_t> cells(grid.cells.begin(), grid.cells.begin() + grid.dimensions);
    file.attribute("/", "box", std::span(fields.box).first(cells.size()));
    file.attribute("/", "cells", std::span(cells));
    file.attribute("/", "step", std::array{fields.step}, true);
    file.attribute("/", "time", std::array{fields.time});
    file.close();
    comm::require(results_.comm(), comm::publish(path, false, results_.comm()), [&] {
        return OutputError(path + ": cannot give it its name; check that nothing else has it and the disk is not full");
    });
    on_rank_0(results_.comm(), [&] { describe(fields); });
}

// For ParaView, on rank 0: of this step, and in the series of all.
void FieldFiles::describe(const CellFields& fields) {
    const std::string name = fields_name(fields.step), grid = xdmf_grid(name + ".h5", fields), series = "fields.xdmf";
    if (series_started_) results_.require_undamaged(series, series_.damage());
    results_.write(name + ".xdmf", xdmf_begin + grid + xdmf_end);
    const bool started =
        series_started_ || series_.start(results_.path() + "/" + series, series_begin + past_ + series_end);
    if (!started || !series_.append(grid, series_end)) throw results_.cannot_write(series);
    series_started_ = true;
}

namespace {

class FieldSeries final : public Series {
public:
    explicit FieldSeries(const SeriesContext& c) : files_(c.results) {
        if (c.results.continued()) on_rank_0(c.results.comm(), [&] { files_.go_on(c.first_step); });
    }
    void write(const OutputStep& now) override {
        files_.write(cell_fields(now.step, now.time, now.engine, now.balancer));
    }

private:
    FieldFiles files_;
};

}  // namespace

SeriesKind fields_series() {
    return {{"fields.xdmf", "fields_*.h5", "fields_*.xdmf"},
            [](const Deck&) { return Needs{.cells = true}; },
            started<FieldSeries>};
}

}  // namespace app
