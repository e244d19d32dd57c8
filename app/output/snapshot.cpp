// SPDX-License-Identifier: MIT
// Cell fields of one step with a description for ParaView, and the particles of a checkpoint in H5MD.
#include "app/output/snapshot.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "app/common/errors.hpp"
#include "app/output/h5md.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

std::array<double, 2> box_lengths(const Engine& engine) {
    const auto& axis = engine.setup().domain.axis;
    return {axis[0].real_length(), axis[1].real_length()};
}

// One step's cell data on a uniform grid, one cell thick, as a collection of one: the form that all of ParaView's XDMF
// readers take, alone and in a series, and show in the x-y plane.
std::string xdmf_grid(const std::string& data, double time, const Engine& engine, bool load) {
    const balance::Grid grid = engine.setup().domain.grid();
    const std::array<double, 2> box = box_lengths(engine);
    const int nx = grid.cells[0], ny = grid.cells[1];
    std::string text = fmt::format(
        "<Grid Name=\"step\" GridType=\"Collection\" CollectionType=\"Spatial\">\n<Time Value=\"{}\"/>\n"
        "<Grid Name=\"cells\" GridType=\"Uniform\">\n<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"2 {} {}\"/>\n"
        "<Geometry GeometryType=\"ORIGIN_DXDYDZ\">"
        "<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">0 0 0</DataItem>"
        "<DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">1 {} "
        "{}</DataItem></Geometry>\n",
        time, ny + 1, nx + 1, box[1] / ny, box[0] / nx);
    const auto add = [&](const char* name, const char* type) {
        text += fmt::format(
            "<Attribute Name=\"{0}\" AttributeType=\"Scalar\" Center=\"Cell\"><DataItem Format=\"HDF\" {1} "
            "Dimensions=\"1 {2} {3}\">{4}:/{0}</DataItem></Attribute>\n",
            name, type, ny, nx, data);
    };
    for (const char* name : {"particles", "owner"}) add(name, "NumberType=\"Int\" Precision=\"4\"");
    if (load) add("load", "NumberType=\"Float\" Precision=\"8\"");
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
    if (comm_.rank() != 0) return;
    // Of each step that is there, the grid as its own description has it.
    std::map<std::int64_t, std::string> grids;
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        long long found = -1;
        if (std::sscanf(name.c_str(), "fields_%lld.xdmf", &found) != 1 || name != fields_name(found) + ".xdmf" ||
            found > step)
            continue;
        const std::string text = comm::read_text(it->path().string());
        if (text.starts_with(xdmf_begin) && text.ends_with(xdmf_end))
            grids[found] = text.substr(xdmf_begin.size(), text.size() - xdmf_begin.size() - xdmf_end.size());
    }
    for (const auto& [found, grid] : grids) past_ += grid;
}

void FieldFiles::write(std::int64_t step, double time, const Engine& engine, const LoadBalancer& balancer) {
    const comm::Communicator& comm = comm_;
    const balance::Grid grid = engine.setup().domain.grid();
    std::vector<comm::FieldBlock<std::int32_t>> particles, owner;
    for (std::size_t t = 0; t < engine.tiles().size(); ++t) {
        const md::Tile& tile = engine.tiles()[t];
        comm::FieldBlock<std::int32_t> count{tile.box(), {}};
        for (int y = tile.box().lower[1]; y < tile.box().upper[1]; ++y)
            for (int x = tile.box().lower[0]; x < tile.box().upper[0]; ++x) count.values.push_back(tile.count(x, y));
        owner.push_back(
            {tile.box(),
             std::vector<std::int32_t>(count.values.size(), static_cast<std::int32_t>(engine.tiles().process_of(t)))});
        particles.push_back(std::move(count));
    }
    const std::string name = fields_name(step), path = directory_ + "/" + name + ".h5";
    comm::FileWriter file(comm::unfinished(path), comm);
    file.field("/particles", grid.cells[0], grid.cells[1], particles);
    file.field("/owner", grid.cells[0], grid.cells[1], owner);
    if (balancer.has_load()) {
        file.field("/load", grid.cells[0], grid.cells[1], balancer.load(engine));
        file.attribute("/load", "step", std::array{balancer.load_step()}, true);
    }
    file.attribute("/", "box", box_lengths(engine));
    file.attribute("/", "cells", std::array<std::int64_t, 2>{grid.cells[0], grid.cells[1]});
    file.attribute("/", "step", std::array{step}, true);
    file.attribute("/", "time", std::array{time});
    file.close();
    if (!comm::publish(path, false, comm))
        throw OutputError(path + ": cannot give it its name; check that nothing else has it and the disk is not full");
    const std::string description = xdmf_grid(name + ".h5", time, engine, balancer.has_load());
    const auto check = [&](bool good, const std::string& file_name) {
        if (!comm.all_agree(comm.rank() != 0 || good))
            throw OutputError(
                fmt::format("{}/{}: cannot write it; check that nothing else has that name and the disk is not full",
                            directory_, file_name));
    };
    check(comm.rank() != 0 ||
              comm::replace_file(fmt::format("{}/{}.xdmf", directory_, name), xdmf_begin + description + xdmf_end),
          name + ".xdmf");
    check(comm.rank() != 0 ||
              ((series_started_ || series_.start(directory_ + "/fields.xdmf", series_begin + past_ + series_end)) &&
               series_.append(description, series_end)),
          "fields.xdmf");
    series_started_ = true;
}

void write_particles(comm::FileWriter& file, std::int64_t step, double time, const Engine& engine,
                     const comm::Communicator& comm) {
    const auto& axis = engine.setup().domain.axis;
    describe_h5md(file, {axis[0].periodic, axis[1].periodic});
    // Every element is a group of value, step and time.
    const std::string all = "/particles/all";
    const auto stamp = [&](const std::string& path) {
        file.dataset(path + "/step", std::span<const std::int64_t>(std::array{step}));
        file.dataset(path + "/time", std::span<const double>(std::array{time}));
        file.attribute(path + "/time", "unit", h5md_time_unit);
    };
    const auto write = [&]<class T>(T, const std::string& path, int columns, bool frame,
                                    auto put) {  // put(to, particle, tile, own)
        std::size_t t = 0;
        std::int64_t i = 0;
        file.rows<T>(path, engine.particles(), columns, frame, [&](std::span<T> out) {
            for (T* to = out.data(); to != out.data() + out.size(); to += columns, ++i) {
                while (i == engine.tiles()[t].size()) ++t, i = 0;
                md::Particle p = engine.tiles()[t].particle(i);
                p.x = md::wrapped(p.x, axis[0]);
                p.y = md::wrapped(p.y, axis[1]);
                put(to, p, t, i);
            }
        });
    };
    const auto vectors = [&](Column column, auto value) {
        const std::string path = h5md_path(column);
        write(double{}, path + "/value", 3, true,
              [&](double* to, const md::Particle& p, std::size_t t, std::int64_t i) {
                  const std::array<double, 2> xy = value(p, t, i);
                  to[0] = xy[0], to[1] = xy[1], to[2] = 0;
              });
        file.attribute(path + "/value", "unit", h5md_unit(column));
        stamp(path);
    };
    vectors(Column::position, [](const md::Particle& p, auto...) {
        return std::array{static_cast<double>(p.x) * md::position_unit, static_cast<double>(p.y) * md::position_unit};
    });
    vectors(Column::velocity, [](const md::Particle& p, auto...) {
        return std::array{static_cast<double>(p.vx) * md::velocity_unit, static_cast<double>(p.vy) * md::velocity_unit};
    });
    const auto put_id = [](std::int64_t* to, const md::Particle& p, auto...) { *to = p.id; };
    write(std::int64_t{}, all + "/id/value", 1, true, put_id);
    stamp(all + "/id");
    write(std::int64_t{}, "/exact/id", 1, false, put_id);
    write(std::int64_t{}, "/exact/state", 4, false, [](std::int64_t* to, const md::Particle& p, auto...) {
        to[0] = p.x, to[1] = p.y, to[2] = p.vx, to[3] = p.vy;
    });
    file.attribute("/exact", "columns", "x, y in 2^-40 lengths, vx, vy in 2^-40 lengths per time");

    const std::array<double, 2> box = box_lengths(engine);
    std::vector<double> edges;  // the three edge vectors, written by rank 0
    if (comm.rank() == 0) edges = {box[0], 0, 0, 0, box[1], 0, 0, 0, 1};
    file.rows(h5md_box + "/edges/value", std::span<const double>(edges), 3, true);
    stamp(h5md_box + "/edges");
}

}  // namespace app
