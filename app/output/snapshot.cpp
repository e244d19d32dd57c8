// SPDX-License-Identifier: MIT
// Cell fields of one step, and the particles of a checkpoint in H5MD.
#include "app/output/snapshot.hpp"

#include <array>
#include <utility>
#include <vector>

#include "app/output/h5md.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

std::array<double, 2> box_lengths(const Engine& engine) {
    const auto& axis = engine.setup().domain.axis;
    return {axis[0].real_length(), axis[1].real_length()};
}

}  // namespace

CellFields cell_fields(std::int64_t step, double time, const Engine& engine, const LoadBalancer& balancer) {
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
    CellFields fields{engine.setup().domain.grid(), box_lengths(engine), step, time, {}, {}};
    fields.integers = {{"particles", std::move(particles)}, {"owner", std::move(owner)}};
    if (balancer.has_load()) fields.numbers = {{"load", balancer.load(engine), balancer.load_step()}};
    return fields;
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
