// SPDX-License-Identifier: MIT
// A checkpoint is worth nothing unless it can be read. So it is written under another name, digested, read back and
// compared with the state in memory. It gets its name once it is on the disk. Older checkpoints go last.
#include "app/output/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "app/output/checkpoint/front.hpp"
#include "app/output/checkpoint/h5md.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "balance/grid/field.hpp"
#include "comm/clock.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"
#include "md/initial.hpp"

namespace app {
namespace {

// The particles: H5MD groups and the exact integers.
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

// The state of the models, and the owners of the cells.
void write_balance(comm::FileWriter& file, const LoadBalancer& balancer) {
    file.dataset("/balance/step", std::span<const std::int64_t>(std::array{balancer.last_step()}));
    const balance::FieldPlan file_order = balance::plan_by_columns(balancer.team(), balancer.grid());
    const auto write = [&](const BalancedModel& b, const std::string& path) {
        const balance::Partition partition = balance::whole(balancer.team(), b.partition);
        std::vector<std::int64_t> boxes, splits;
        const int axes = balancer.grid().dimensions;
        for (const balance::Box& box : partition.boxes) {
            boxes.insert(boxes.end(), box.lower.begin(), box.lower.begin() + axes);
            boxes.insert(boxes.end(), box.upper.begin(), box.upper.begin() + axes);
        }
        for (const balance::Split& s : b.splits.whole(balancer.team())) splits.insert(splits.end(), {s.axis, s.left});
        const std::vector<double> memory = b.model->memory();
        file.dataset(path + "/boxes", std::span<const std::int64_t>(boxes));
        file.dataset(path + "/first", std::span<const std::int64_t>(partition.first));
        file.dataset(path + "/splits", std::span<const std::int64_t>(splits));
        file.dataset(path + "/memory", std::span<const double>(memory));
        file.dataset(path + "/record", std::span<const double>(b.history.to_numbers()));
        file.dataset(path + "/criterion", std::span<const double>(b.watch.memory));
        file.rows(path + "/spent", std::span<const double>(b.watch.spent));
        std::vector<double> state;
        if (!b.state.empty()) state = file_order.to_boxes(std::span<const double>(b.state));  // after a balancing
        file.rows(path + "/state", std::span<const double>(state));
    };
    for (const BalancedModel& b : balancer.models()) write(b, "/balance/" + b.contender.name);
    if (!balancer.choosable().empty())
        file.dataset(choice_path + "/chosen", std::span<const std::int64_t>(balancer.choice().to_numbers()));
    for (const BalancedModel& b : balancer.candidates()) {
        write(b, choice_path + "/" + b.contender.name);
        file.dataset(choice_path + "/" + b.contender.name + "/rating", std::span<const double>(b.rating.to_numbers()));
    }
    if (!balancer.finds_speeds()) return;
    const std::vector<double> memory = balancer.speeds().memory(balancer.team());
    file.dataset("/balance/speeds/found", std::span<const double>(balancer.speeds().found()));
    file.rows("/balance/speeds/reference", std::span<const double>(memory));
}

// The records of one model in the layout of write_balance(). boxes: boxes of all processes.
std::int64_t model_bytes(const BalancedModel& b, std::int64_t boxes, const LoadBalancer& balancer) {
    constexpr std::int64_t number = 8, layout = 1 << 13;
    const std::int64_t corners = 2 * balancer.grid().dimensions, splits = 4 * boxes,  // 2 n - 1 of n boxes, two numbers
        small = static_cast<std::int64_t>(b.model->memory().size() + b.watch.memory.size()) + balance::History::numbers;
    return layout + number * (corners * boxes + splits + small + 2 * balancer.hosts().processes() + 1 +
                              balancer.grid().box().cells());
}

// High and low halves of heat and work.
std::array<std::int64_t, 4> halves_of(const md::Given& g) {
    const auto high = [](md::Int128 x) { return static_cast<std::int64_t>(x >> 64); };
    const auto low = [](md::Int128 x) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(x)); };
    return {high(g.heat), low(g.heat), high(g.work), low(g.work)};
}

void write_body(const std::string& path, const CheckpointInfo& info, const Engine& engine, const LoadBalancer& balancer,
                const comm::Communicator& comm) {
    comm::FileWriter file(path, comm, front_bytes);
    write_particles(file, info.step, info.clock.at(info.step), engine, comm);
    const std::string deck = to_yaml(info.deck);
    const std::vector<std::int64_t> lineage = numbers_of(info.lineage);
    file.dataset("/exact/deck", std::span(reinterpret_cast<const std::uint8_t*>(deck.data()), deck.size()));
    file.dataset("/exact/energies", std::span<const double>(std::array{info.energy_first, info.largest_kinetic}));
    file.dataset("/exact/clock", std::span<const double>(
                                     std::array{static_cast<double>(info.clock.step), info.clock.time, info.clock.dt}));
    file.dataset("/exact/lineage", std::span<const std::int64_t>(lineage));
    if (gives(info.deck.system)) file.dataset("/exact/given", std::span<const std::int64_t>(halves_of(info.given)));
    if (balancer.on()) write_balance(file, balancer);
    if (balancer.zones().on()) file.dataset("/zones/of_ranks", std::span<const double>(balancer.zones().memory()));
    file.close();
}

// The digest was taken of the file itself; what is left to compare is its front, and the particles with those in
// memory.
bool reads_back(const std::string& path, const Front& front, int dimensions, const comm::Communicator& comm) {
    const bool good = comm.rank() != 0 || comm::read_front(path, front_bytes) == text_of(front);
    try {
        return comm.all_agree(good) && hash_in_file(path, front.particles, dimensions, comm) == front.state_hash;
    } catch (const comm::Agreed<comm::ReadError>&) {
        return false;
    }
}

}  // namespace

CheckpointCost& CheckpointCost::operator+=(const CheckpointCost& other) {
    count += other.count;
    bytes += other.bytes;
    write_seconds += other.write_seconds;
    verify_seconds += other.verify_seconds;
    remove_seconds += other.remove_seconds;
    return *this;
}

std::int64_t checkpoint_bytes(std::int64_t particles, int dimensions, const Deck& deck, const LoadBalancer& balancer) {
    constexpr std::int64_t number = 8, layout = 1 << 15;
    const std::int64_t seen_by_readers = 3 + 3 + 1, exact = 1 + state_columns(dimensions);  // numbers a particle
    std::int64_t bytes = particles * number * (seen_by_readers + exact) + layout + std::ssize(to_yaml(deck));
    if (!balancer.on()) return bytes;
    std::vector<std::int64_t> boxes;
    std::vector<const BalancedModel*> all;
    for (const auto* list : {&balancer.models(), &balancer.candidates()})
        for (const BalancedModel& b : *list) all.push_back(&b), boxes.push_back(std::ssize(b.partition.boxes));
    balancer.team().sum(boxes);
    for (std::size_t m = 0; m < boxes.size(); ++m) bytes += model_bytes(*all[m], boxes[m], balancer);
    if (balancer.finds_speeds())
        bytes += number * static_cast<std::int64_t>(balancer.speeds().found().size() +
                                                    balancer.speeds().memory(balancer.team()).size());
    return bytes;
}

CheckpointCost write_checkpoint(const std::string& directory, const CheckpointInfo& info, const Engine& engine,
                                const LoadBalancer& balancer, const comm::Communicator& comm,
                                std::vector<std::int64_t>& own) {
    const std::string name = directory + "/" + checkpoint_name(info.step), unfinished = comm::unfinished(name);
    CheckpointCost cost{.count = 1};
    double start = comm::now();
    const auto lap = [&](double& seconds) { seconds = comm::now() - start, start += seconds; };
    const std::int64_t particles = comm.sum_of(engine.particles());
    const std::int64_t bytes = checkpoint_bytes(particles, engine.setup().domain.dimensions, info.deck, balancer);
    on_rank_0(comm, [&] {
        const std::string lack = comm::lack_of_space(directory, bytes);
        if (!lack.empty())
            throw OutputError("{}: a checkpoint {}; free some space or choose another --out", name, lack);
    });
    write_body(unfinished, info, engine, balancer, comm);
    const auto check = [&](bool good, const char* what) {
        comm::require(comm, good, [&] { return OutputError(name + ": " + what); });
    };
    check(comm::flush(unfinished, comm), "cannot be flushed to the disk; check the disk");
    lap(cost.write_seconds);

    Front front{info.step, particles, 0, engine.state_hash(), 0};
    front.bytes = cost.bytes = comm.from_rank_0(comm.rank() == 0 ? comm::file_size(unfinished) : 0);
    front.body = comm::file_digest(unfinished, front_bytes, front.bytes, comm);
    check(comm.rank() != 0 || comm::write_front(unfinished, text_of(front)), "cannot write it; check the disk");
    check(reads_back(unfinished, front, engine.setup().domain.dimensions, comm),
          "what was written does not read back the same; check the disk and memory");
    lap(cost.verify_seconds);

    check(comm::publish(name, true, comm), "cannot be flushed to the disk or renamed; check the disk");
    own.push_back(info.step);
    while (static_cast<std::int64_t>(own.size()) > info.deck.checkpoint.keep) {
        if (comm.rank() == 0) std::remove((directory + "/" + checkpoint_name(own.front())).c_str());
        own.erase(own.begin());
    }
    lap(cost.remove_seconds);
    return cost;
}

}  // namespace app
