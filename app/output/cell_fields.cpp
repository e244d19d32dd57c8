// SPDX-License-Identifier: MIT
#include "app/output/cell_fields.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "app/common/errors.hpp"
#include "app/output/run_directory.hpp"
#include "comm/file/durable.hpp"

namespace app {
namespace {

// One step's cell data on a uniform grid, in two dimensions one cell thick, as a collection of one grid. All of
// ParaView's XDMF readers take this form, alone and in a series, and show it in the x-y plane.
std::string xdmf_grid(const std::string& data, const CellFields& fields) {
    const std::array<int, 3>& n = fields.grid.cells;
    const auto width = [&](int axis) { return fields.box[axis] / n[axis]; };
    std::string text = fmt::format(
        "<Grid Name=\"step\" GridType=\"Collection\" CollectionType=\"Spatial\">\n<Time Value=\"{}\"/>\n"
        "<Grid Name=\"cells\" GridType=\"Uniform\">\n<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{} {} "
        "{}\"/>\n"
        "<Geometry GeometryType=\"ORIGIN_DXDYDZ\">"
        "<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">0 0 0</DataItem>"
        "<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">{} {} "
        "{}</DataItem></Geometry>\n",
        fields.time, n[2] + 1, n[1] + 1, n[0] + 1, width(2), width(1), width(0));
    const auto add = [&](const std::string& name, const char* type) {
        text += fmt::format(
            "<Attribute Name=\"{0}\" AttributeType=\"Scalar\" Center=\"Cell\"><DataItem Format=\"HDF\" {1} "
            "Dimensions=\"{2} {3} {4}\">{5}:/{0}</DataItem></Attribute>\n",
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
        long long found = -1;
        if (std::sscanf(name.c_str(), "fields_%lld.xdmf", &found) != 1 || name != fields_name(found) + ".xdmf" ||
            found > step)
            continue;
        const std::string text = results_.read(name);
        if (text.starts_with(xdmf_begin) && text.ends_with(xdmf_end))
            grids[found] = text.substr(xdmf_begin.size(), text.size() - xdmf_begin.size() - xdmf_end.size());
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
    if (!comm::replace_file(fmt::format("{}/{}.xdmf", results_.path(), name), xdmf_begin + grid + xdmf_end))
        throw results_.cannot_write(name + ".xdmf");
    const bool started =
        series_started_ || series_.start(results_.path() + "/" + series, series_begin + past_ + series_end);
    if (!started || !series_.append(grid, series_end)) throw results_.cannot_write(series);
    series_started_ = true;
}

}  // namespace app
