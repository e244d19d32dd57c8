// SPDX-License-Identifier: MIT
#include "app/snapshot.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <utility>
#include <vector>

#include "app/output.hpp"
#include "comm/file.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

std::array<double, 2> box_lengths(const Tiles& tiles) {
    const auto& axis = tiles.setup().domain.axis;
    return {axis[0].real_length(), axis[1].real_length()};
}

// Describes the HDF5 file to ParaView: cell data on a uniform grid.
std::string xdmf(const std::string& data, double time, const Tiles& tiles) {
    const balance::Grid grid = tiles.setup().domain.grid();
    const std::array<double, 2> box = box_lengths(tiles);
    const int nx = grid.cells[0], ny = grid.cells[1];
    std::string text = fmt::format(
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\"><Domain><Grid Name=\"cells\" GridType=\"Uniform\">\n"
        "<Time Value=\"{}\"/>\n<Topology TopologyType=\"2DCoRectMesh\" Dimensions=\"{} {}\"/>\n<Geometry GeometryType=\"ORIGIN_DXDY\">"
        "<DataItem Dimensions=\"2\">0 0</DataItem><DataItem Dimensions=\"2\">{} {}</DataItem></Geometry>\n",
        time, ny + 1, nx + 1, box[1] / ny, box[0] / nx);
    for (const char* name : {"particles", "owner"})
        text += fmt::format("<Attribute Name=\"{0}\" Center=\"Cell\"><DataItem Format=\"HDF\" NumberType=\"Int\" Precision=\"4\" "
                            "Dimensions=\"{1} {2}\">{3}:/{0}</DataItem></Attribute>\n", name, ny, nx, data);
    return text + "</Grid></Domain></Xdmf>\n";
}

}  // namespace

void write_fields(const std::string& directory, std::int64_t step, double time, const Tiles& tiles, const comm::Communicator& comm) {
    const balance::Grid grid = tiles.setup().domain.grid();
    std::vector<comm::FieldBlock> particles, owner;
    for (std::size_t t = 0; t < tiles.tiles().size(); ++t) {
        const md::Tile& tile = tiles.tiles()[t];
        comm::FieldBlock count{tile.box(), {}};
        for (int y = tile.box().lower[1]; y < tile.box().upper[1]; ++y)
            for (int x = tile.box().lower[0]; x < tile.box().upper[0]; ++x) count.values.push_back(tile.count(x, y));
        owner.push_back({tile.box(), std::vector<std::int32_t>(count.values.size(), static_cast<std::int32_t>(tiles.process_of(t)))});
        particles.push_back(std::move(count));
    }
    const std::string name = fmt::format("fields_{}", step);
    comm::FileWriter file(directory + "/" + name + ".h5", comm);
    file.field("/particles", grid.cells[0], grid.cells[1], particles);
    file.field("/owner", grid.cells[0], grid.cells[1], owner);
    file.attribute("/", "box", box_lengths(tiles));
    file.attribute("/", "cells", std::array<std::int64_t, 2>{grid.cells[0], grid.cells[1]});
    file.attribute("/", "step", std::array{step}, true);
    file.attribute("/", "time", std::array{time});
    file.close();
    bool good = true;
    if (comm.rank() == 0) {
        std::ofstream description(directory + "/" + name + ".xdmf", std::ios::trunc);
        description << xdmf(name + ".h5", time, tiles) << std::flush;
        good = description.good();
    }
    if (!comm.all_agree(good)) throw OutputError(directory + ": cannot write " + name + ".xdmf; check that the disk is not full");
}

void write_trajectory_frame(const std::string& directory, std::int64_t step, double time, const Tiles& tiles, const comm::Communicator& comm) {
    const auto n = static_cast<std::size_t>(tiles.particles());
    std::vector<std::int64_t> id, exact;
    std::vector<double> position, velocity, force;
    id.reserve(n);
    exact.reserve(4 * n);
    for (auto* v : {&position, &velocity, &force}) v->reserve(3 * n);
    for (std::size_t t = 0; t < tiles.tiles().size(); ++t)
        for (std::int64_t i = 0; i < tiles.tiles()[t].size(); ++i) {
            const md::Particle p = tiles.tiles()[t].particle(i);
            const std::int64_t x = md::wrapped(p.x, tiles.setup().domain.axis[0]), y = md::wrapped(p.y, tiles.setup().domain.axis[1]);
            id.push_back(p.id);
            exact.insert(exact.end(), {x, y, p.vx, p.vy});
            position.insert(position.end(), {static_cast<double>(x) * md::position_unit, static_cast<double>(y) * md::position_unit, 0.0});
            velocity.insert(velocity.end(), {static_cast<double>(p.vx) * md::velocity_unit, static_cast<double>(p.vy) * md::velocity_unit, 0.0});
            const std::array<double, 2> f = tiles.force(t, i);
            force.insert(force.end(), {f[0], f[1], 0.0});
        }
    comm::FileWriter file(fmt::format("{}/trajectory_{}.h5", directory, step), comm);
    file.group("/h5md");
    file.attribute("/h5md", "version", std::array<std::int64_t, 2>{1, 1});
    file.group("/h5md/creator");
    file.attribute("/h5md/creator", "name", "steelyard");
    file.attribute("/h5md/creator", "version", STEELYARD_VERSION);
    file.group("/h5md/author");
    file.attribute("/h5md/author", "name", "steelyard");
    // Every element is a group of value, step and time; the ones of one frame share step and time.
    const std::string all = "/particles/all";
    const std::array<std::int64_t, 1> steps{step};
    const std::array<double, 1> times{time};
    const auto element = [&](const std::string& path, auto&& values, int columns) {
        file.rows(path + "/value", std::span(std::as_const(values)), columns, true);
        file.dataset(path + "/step", std::span<const std::int64_t>(steps));
        file.dataset(path + "/time", std::span<const double>(times));
    };
    element(all + "/position", position, 3);
    element(all + "/velocity", velocity, 3);
    element(all + "/force", force, 3);
    element(all + "/id", id, 1);
    file.group(all + "/box");
    file.attribute(all + "/box", "dimension", std::array<std::int64_t, 1>{3}, true);
    std::vector<std::string> boundary;
    for (const md::Axis& a : tiles.setup().domain.axis) boundary.push_back(a.periodic ? "periodic" : "none");
    boundary.push_back("none");  // 2D: z = 0
    file.attribute(all + "/box", "boundary", boundary);
    const std::array<double, 2> box = box_lengths(tiles);
    std::vector<double> edges;  // the three edge vectors, written by rank 0
    if (comm.rank() == 0) edges = {box[0], 0, 0, 0, box[1], 0, 0, 0, 1};
    element(all + "/box/edges", edges, 3);
    file.rows("/exact/id", std::span<const std::int64_t>(id));
    file.rows("/exact/state", std::span<const std::int64_t>(exact), 4);
    file.attribute("/exact", "columns", "x, y in 2^-40 lengths, vx, vy in 2^-40 lengths per time");
    file.close();
}

}  // namespace app
