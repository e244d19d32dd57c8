// SPDX-License-Identifier: MIT
#include "app/snapshot.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "app/errors.hpp"
#include "comm/durable.hpp"
#include "comm/file.hpp"
#include "comm/posix_file.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

std::array<double, 2> box_lengths(const Tiles& tiles) {
    const auto& axis = tiles.setup().domain.axis;
    return {axis[0].real_length(), axis[1].real_length()};
}

// Describes the HDF5 file to ParaView: cell data on a uniform grid.
std::string xdmf(const std::string& data, double time, const Tiles& tiles, bool load) {
    const balance::Grid grid = tiles.setup().domain.grid();
    const std::array<double, 2> box = box_lengths(tiles);
    const int nx = grid.cells[0], ny = grid.cells[1];
    std::string text = fmt::format(
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\"><Domain><Grid Name=\"cells\" GridType=\"Uniform\">\n"
        "<Time Value=\"{}\"/>\n<Topology TopologyType=\"2DCoRectMesh\" Dimensions=\"{} {}\"/>\n<Geometry GeometryType=\"ORIGIN_DXDY\">"
        "<DataItem Dimensions=\"2\">0 0</DataItem><DataItem Dimensions=\"2\">{} {}</DataItem></Geometry>\n",
        time, ny + 1, nx + 1, box[1] / ny, box[0] / nx);
    const auto add = [&](const char* name, const char* type) {
        text += fmt::format("<Attribute Name=\"{0}\" Center=\"Cell\"><DataItem Format=\"HDF\" {1} Dimensions=\"{2} {3}\">{4}:/{0}</DataItem></Attribute>\n", name, type,
                            ny, nx, data);
    };
    for (const char* name : {"particles", "owner"}) add(name, "NumberType=\"Int\" Precision=\"4\"");
    if (load) add("load", "NumberType=\"Float\" Precision=\"8\"");
    return text + "</Grid></Domain></Xdmf>\n";
}

}  // namespace

void write_fields(const std::string& directory, std::int64_t step, double time, const Tiles& tiles, const Rebalance& rebalance, const comm::Communicator& comm) {
    const balance::Grid grid = tiles.setup().domain.grid();
    std::vector<comm::FieldBlock<std::int32_t>> particles, owner;
    for (std::size_t t = 0; t < tiles.tiles().size(); ++t) {
        const md::Tile& tile = tiles.tiles()[t];
        comm::FieldBlock<std::int32_t> count{tile.box(), {}};
        for (int y = tile.box().lower[1]; y < tile.box().upper[1]; ++y)
            for (int x = tile.box().lower[0]; x < tile.box().upper[0]; ++x) count.values.push_back(tile.count(x, y));
        owner.push_back({tile.box(), std::vector<std::int32_t>(count.values.size(), static_cast<std::int32_t>(tiles.process_of(t)))});
        particles.push_back(std::move(count));
    }
    const std::string name = fmt::format("fields_{}", step);
    const std::string path = directory + "/" + name + ".h5", description = directory + "/" + name + ".xdmf";
    comm::FileWriter file(comm::unfinished(path), comm);
    file.field("/particles", grid.cells[0], grid.cells[1], particles);
    file.field("/owner", grid.cells[0], grid.cells[1], owner);
    if (rebalance.has_load()) file.field("/load", grid.cells[0], grid.cells[1], rebalance.load());
    file.attribute("/", "box", box_lengths(tiles));
    file.attribute("/", "cells", std::array<std::int64_t, 2>{grid.cells[0], grid.cells[1]});
    file.attribute("/", "step", std::array{step}, true);
    file.attribute("/", "time", std::array{time});
    file.close();
    const bool described = comm.rank() != 0 || comm::replace_file(description, xdmf(name + ".h5", time, tiles, rebalance.has_load()));
    if (!comm::publish(path, false, comm)) throw OutputError(path + ": cannot give it its name; check that nothing else has it and the disk is not full");
    if (!comm.all_agree(described)) throw OutputError(description + ": cannot write it; check that nothing else has that name and the disk is not full");
}

void write_particles(comm::FileWriter& file, std::int64_t step, double time, const Tiles& tiles, const comm::Communicator& comm, bool forces) {
    file.group("/h5md");
    file.attribute("/h5md", "version", std::array<std::int64_t, 2>{1, 1});
    file.group("/h5md/creator");
    file.attribute("/h5md/creator", "name", "steelyard");
    file.attribute("/h5md/creator", "version", STEELYARD_VERSION);
    file.group("/h5md/author");
    file.attribute("/h5md/author", "name", "steelyard");

    // Every element is a group of value, step and time.
    const std::string all = "/particles/all";
    const auto stamp = [&](const std::string& path) {
        file.dataset(path + "/step", std::span<const std::int64_t>(std::array{step}));
        file.dataset(path + "/time", std::span<const double>(std::array{time}));
    };
    const auto& axis = tiles.setup().domain.axis;
    const auto write = [&]<class T>(T, const std::string& path, int columns, bool frame, auto put) {  // put(to, particle, tile, own)
        std::size_t t = 0;
        std::int64_t i = 0;
        file.rows<T>(path, tiles.particles(), columns, frame, [&](std::span<T> out) {
            for (T* to = out.data(); to != out.data() + out.size(); to += columns, ++i) {
                while (i == tiles.tiles()[t].size()) ++t, i = 0;
                md::Particle p = tiles.tiles()[t].particle(i);
                p.x = md::wrapped(p.x, axis[0]);
                p.y = md::wrapped(p.y, axis[1]);
                put(to, p, t, i);
            }
        });
    };
    const auto vectors = [&](const std::string& name, auto value) {
        write(double{}, all + name + "/value", 3, true, [&](double* to, const md::Particle& p, std::size_t t, std::int64_t i) {
            const std::array<double, 2> xy = value(p, t, i);
            to[0] = xy[0], to[1] = xy[1], to[2] = 0;
        });
        stamp(all + name);
    };
    vectors("/position", [](const md::Particle& p, auto...) {
        return std::array{static_cast<double>(p.x) * md::position_unit, static_cast<double>(p.y) * md::position_unit};
    });
    vectors("/velocity", [](const md::Particle& p, auto...) {
        return std::array{static_cast<double>(p.vx) * md::velocity_unit, static_cast<double>(p.vy) * md::velocity_unit};
    });
    if (forces) vectors("/force", [&](const md::Particle&, std::size_t t, std::int64_t i) { return tiles.force(t, i); });
    const auto put_id = [](std::int64_t* to, const md::Particle& p, auto...) { *to = p.id; };
    write(std::int64_t{}, all + "/id/value", 1, true, put_id);
    stamp(all + "/id");
    write(std::int64_t{}, "/exact/id", 1, false, put_id);
    write(std::int64_t{}, "/exact/state", 4, false, [](std::int64_t* to, const md::Particle& p, auto...) { to[0] = p.x, to[1] = p.y, to[2] = p.vx, to[3] = p.vy; });
    file.attribute("/exact", "columns", "x, y in 2^-40 lengths, vx, vy in 2^-40 lengths per time");

    file.group(all + "/box");
    file.attribute(all + "/box", "dimension", std::array<std::int64_t, 1>{3}, true);
    std::vector<std::string> boundary;
    for (const md::Axis& a : axis) boundary.push_back(a.periodic ? "periodic" : "none");
    boundary.push_back("none");  // 2D: z = 0
    file.attribute(all + "/box", "boundary", boundary);
    const std::array<double, 2> box = box_lengths(tiles);
    std::vector<double> edges;  // the three edge vectors, written by rank 0
    if (comm.rank() == 0) edges = {box[0], 0, 0, 0, box[1], 0, 0, 0, 1};
    file.rows(all + "/box/edges/value", std::span<const double>(edges), 3, true);
    stamp(all + "/box/edges");
}

void write_trajectory_frame(const std::string& directory, std::int64_t step, double time, const Tiles& tiles, const comm::Communicator& comm) {
    const std::string path = fmt::format("{}/trajectory_{}.h5", directory, step);
    comm::FileWriter file(comm::unfinished(path), comm);
    write_particles(file, step, time, tiles, comm, true);
    file.close();
    if (!comm::publish(path, false, comm)) throw OutputError(path + ": cannot give it its name; check that nothing else has it and the disk is not full");
}

}  // namespace app
