// SPDX-License-Identifier: MIT
// Cell fields of one step, and the particles of a checkpoint in H5MD.
#include "app/output/snapshot.hpp"

#include <array>
#include <utility>
#include <vector>

#include "app/output/checkpoint_front.hpp"
#include "app/output/h5md.hpp"
#include "app/output/run_directory.hpp"
#include "app/output/series.hpp"
#include "balance/grid/field.hpp"
#include "md/initial.hpp"

namespace app {
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

namespace {

class FieldSeries final : public Series {
public:
    explicit FieldSeries(const SeriesContext& c) : files_(c.results) {
        if (c.results.continued()) on_rank_0(c.results.comm(), [&] { files_.go_on(c.first_step); });
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
    const md::Domain& domain = engine.setup().domain;
    describe_h5md(file, domain);
    // Every element is a group of value, step and time.
    const std::string all = "/particles/all";
    const auto stamp = [&](const std::string& path) {
        file.dataset(path + "/step", std::span<const std::int64_t>(std::array{step}));
        file.dataset(path + "/time", std::span<const double>(std::array{time}));
        file.attribute(path + "/time", "unit", h5md_time_unit);
    };
    const auto write = [&]<class T>(T, const std::string& path, int columns, bool frame,
                                    auto put) {  // put(to, particle)
        std::size_t t = 0;
        std::int64_t i = 0;
        file.rows<T>(path, engine.particles(), columns, frame, [&](std::span<T> out) {
            for (T* to = out.data(); to != out.data() + out.size(); to += columns, ++i) {
                while (i == engine.tiles().particles(t)) ++t, i = 0;
                md::Particle<3> p = engine.tiles().particle(t, i);
                for (int a = 0; a < domain.dimensions; ++a) p.x[a] = md::wrapped(p.x[a], domain.axis[a]);
                put(to, p);
            }
        });
    };
    const auto vectors = [&](Column column, auto value) {
        const std::string path = h5md_path(column);
        write(double{}, path + "/value", 3, true, [&](double* to, const md::Particle<3>& p) {
            for (int a = 0; a < 3; ++a) to[a] = value(p, a);
        });
        file.attribute(path + "/value", "unit", h5md_unit(column));
        stamp(path);
    };
    vectors(Column::position,
            [](const md::Particle<3>& p, int a) { return static_cast<double>(p.x[a]) * md::position_unit; });
    vectors(Column::velocity,
            [](const md::Particle<3>& p, int a) { return static_cast<double>(p.v[a]) * md::velocity_unit; });
    const auto put_id = [](std::int64_t* to, const md::Particle<3>& p) { *to = p.id; };
    write(std::int64_t{}, all + "/id/value", 1, true, put_id);
    stamp(all + "/id");
    write(std::int64_t{}, "/exact/id", 1, false, put_id);
    const int axes = domain.dimensions;
    write(std::int64_t{}, "/exact/state", state_columns(axes), false, [&](std::int64_t* to, const md::Particle<3>& p) {
        for (int a = 0; a < axes; ++a) to[a] = p.x[a], to[axes + a] = p.v[a];
    });
    file.attribute("/exact", "columns",
                   axes == 2 ? "x, y in 2^-40 lengths, vx, vy in 2^-40 lengths per time"
                             : "x, y, z in 2^-40 lengths, vx, vy, vz in 2^-40 lengths per time");

    std::vector<double> edges;  // the three edge vectors, written by rank 0
    if (comm.rank() == 0) {
        const std::array<double, 9> of_box = h5md_edges(domain);
        edges.assign(of_box.begin(), of_box.end());
    }
    file.rows(h5md_box + "/edges/value", std::span<const double>(edges), 3, true);
    stamp(h5md_box + "/edges");
}

}  // namespace app
