// SPDX-License-Identifier: MIT
// Cell fields of one step, and the particles of a checkpoint in H5MD.
#include "app/output/snapshot.hpp"

#include <array>
#include <utility>
#include <vector>

#include "app/output/h5md.hpp"
#include "app/output/run_directory.hpp"
#include "app/output/series.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

std::array<double, 2> box_lengths(const Engine& engine) {
    const auto& axis = engine.setup().domain.axis;
    return {axis[0].real_length(), axis[1].real_length()};
}

}  // namespace

CellFields cell_fields(std::int64_t step, double time, const Engine& engine, const LoadBalancer& balancer) {
    const Tiles& tiles = engine.tiles();
    std::vector<comm::FieldBlock<std::int32_t>> particles, owner, zone;
    const auto add = [&](auto& field, const balance::Box& cells, std::int64_t value) {
        if (!cells.empty()) field.push_back({cells, std::vector(cells.cells(), static_cast<std::int32_t>(value))});
    };
    for (std::size_t t = 0; t < tiles.size(); ++t) {
        const balance::Box& box = tiles[t].box();
        comm::FieldBlock<std::int32_t> count{box, {}};
        for (int y = box.lower[1]; y < box.upper[1]; ++y)
            for (int x = box.lower[0]; x < box.upper[0]; ++x) count.values.push_back(tiles[t].count(x, y));
        particles.push_back(std::move(count));
        if (t < tiles.on_cpu()) add(owner, box, tiles.process_of(t));
        add(zone, box, t < tiles.on_cpu() ? 0 : 1 + tiles.accelerator_of(t));
    }
    CellFields fields{engine.setup().domain.grid(), box_lengths(engine), step, time, {}, {}};
    fields.integers.push_back({"particles", std::move(particles)});
    if (balancer.zones().on()) {  // the cells of a block may belong to several processes
        const balance::Partition partition = balancer.partition();
        const balance::Range mine = tiles.hosts().processes_of(engine.tiles().comm().rank());
        for (std::size_t t = tiles.on_cpu(); t < tiles.size(); ++t)
            for (std::int64_t p = mine.begin; p < mine.end; ++p)
                for (std::int64_t b = partition.first[p]; b < partition.first[p + 1]; ++b)
                    add(owner, intersection(partition.boxes[b], tiles[t].box()), p);
        fields.integers.push_back({"zone", std::move(zone)});
    }
    fields.integers.push_back({"owner", std::move(owner)});
    if (balancer.has_load()) fields.numbers = {{"load", balancer.load(engine), balancer.load_step()}};
    return fields;
}

namespace {

class FieldSeries final : public Series {
public:
    explicit FieldSeries(const SeriesContext& c) : files_(c.results) {
        if (c.results.continued()) files_.go_on(c.first_step);
    }
    void write(const Moment& now) override { files_.write(cell_fields(now.step, now.time, now.engine, now.balancer)); }

private:
    FieldFiles files_;
};

}  // namespace

SeriesKind fields_series() {
    return {{"fields.xdmf", "fields_*.h5", "fields_*.xdmf"},
            [](const Deck&) { return Needs{.cells = true}; },
            started<FieldSeries>};
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
