// SPDX-License-Identifier: MIT
// Damaged checkpoints: every byte counts, every truncation shows, on all ranks alike.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/deck/setup.hpp"
#include "app/engine/engine_of.hpp"
#include "app/output/checkpoint/checkpoint.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "app/output/directory/run_directory.hpp"
#include "app/output/results.hpp"
#include "comm/communicator.hpp"

using namespace app;

namespace {

template <int D>
const char* const deck_text = R"(
system:
  box: [40.0, 30.0]
  slabs:
    - {lower: [4, 4], upper: [18, 25], lattice: hexagonal, density: 1.0, temperature: 0.3, velocity: [1.0, 1.0]}
run: {dt: 0.001, steps: 10}
)";
template <>
const char* const deck_text<3> = R"(
system:
  box: [20.0, 15.0, 9.0]
  boundary: [reflecting, periodic, periodic]
  slabs:
    - {lower: [4, 4, 1], upper: [14, 12, 7], density: 0.5, temperature: 0.3, velocity: [1.0, 1.0, -1.0]}
run: {dt: 0.001, steps: 10}
)";

template <int D>
struct Fixture {
    comm::Communicator world;
    Timers timers;
    Deck deck = parse_deck(deck_text<D>, "test.yaml");
    std::string directory, path;
    std::uint64_t hash = 0;

    balance::Decomposition owners() {
        const balance::Grid grid = make_setup(deck, "").domain.grid();
        return {grid, balance::one_box_each(balance::even_partition(grid, world.size())),
                balance::Hosts(world.size(), world.size()), deck.grid.tile.value_or(balance::TileShape{16, 32, 5})};
    }
    EngineOf<D> make() { return EngineOf<D>(make_setup(deck, ""), owners(), world, timers); }
    Fixture() {
        if (world.rank() == 0)
            directory =
                (std::filesystem::temp_directory_path() / ("steelyard_test_" + std::to_string(getpid()))).string();
        world.broadcast(directory);
        if (world.rank() == 0) std::filesystem::create_directories(directory);
        world.barrier();
        EngineOf<D> t = make();
        t.fill(deck.system, owners());
        hash = t.state_hash();
        CheckpointInfo info;
        info.step = 7;
        info.energy_first = -1.25;
        info.largest_kinetic = 3.5;
        info.lineage = {{99, 0}, {12, 4}};
        info.clock = {4, 0.004, deck.run.dt};
        info.deck = deck;
        const LoadBalancer balancer(deck, t.setup().domain.grid(), world.size(), world, timers);
        std::vector<std::int64_t> own;
        write_checkpoint(directory, info, t, balancer, world, own);
        path = directory + "/checkpoint_7.h5";
    }
    ~Fixture() {
        world.barrier();
        if (world.rank() == 0) std::filesystem::remove_all(directory);
    }
    /// True when the file is refused; all ranks must say the same.
    bool refused(const std::string& file) {
        bool no = false;
        try {
            const CheckpointInfo info = read_checkpoint(file, world);
            EngineOf<D> t = make();
            load_particles(info, t, owners(), world);
        } catch (const InputError&) {
            no = true;
        }
        const bool all_no = world.all_agree(no), all_yes = world.all_agree(!no);
        CHECK((all_no || all_yes));
        return no;
    }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("a checkpoint reads back exactly, on any number of ranks", "", ((int D), D), 2, 3) {
    Fixture<D> f;
    const CheckpointInfo info = read_checkpoint(f.path, f.world);
    CHECK(info.step == 7);
    CHECK(info.energy_first == -1.25);
    CHECK(info.largest_kinetic == 3.5);
    CHECK(to_yaml(info.deck) == to_yaml(f.deck));
    CHECK(info.state_hash == f.hash);
    EngineOf<D> t = f.make();
    load_particles(info, t, f.owners(), f.world);
    CHECK(t.state_hash() == f.hash);
    CHECK(info.lineage == Lineage{{99, 0}, {12, 4}});
    CHECK(info.clock.at(7) == Approx(0.007));
    CHECK(RunDirectory(f.directory, result_kinds(), f.world).newest_checkpoint(OldResults::refuse)->step == 7);
    CHECK_FALSE(RunDirectory(f.directory + "/fresh", result_kinds(), f.world).newest_checkpoint(OldResults::refuse));
}

TEMPLATE_TEST_CASE_SIG("the room that a checkpoint needs is that of its file", "", ((int D), D), 2, 3) {
    Fixture<D> f;
    const auto particles = md::particle_count(f.deck.system);
    for (const char* setting : {"balance.every=0", "balance.every=10", "balance.compare=[a1, moving_average]"}) {
        CheckpointInfo info;
        info.deck = parse_deck(deck_text<D>, "test.yaml", {"balance.every=10", "balance.clock=work", setting});
        info.clock.dt = info.deck.run.dt;
        EngineOf<D> t = f.make();
        t.fill(info.deck.system, f.owners());
        const LoadBalancer balancer(info.deck, t.setup().domain.grid(), 7, f.world, f.timers);
        std::vector<std::int64_t> own;
        std::int64_t bytes = write_checkpoint(f.directory, info, t, balancer, f.world, own).bytes;
        std::int64_t room = checkpoint_bytes(particles, D, info.deck, balancer);
        f.world.broadcast(std::span(&room, 1));
        const std::int64_t models = 3;
        CHECK((room >= bytes && room <= bytes + (models + 1) * (1 << 15)));
    }
}

TEMPLATE_TEST_CASE_SIG("every flipped byte and every truncation is refused", "", ((int D), D), 2, 3) {
    Fixture<D> f;
    const std::string damaged = f.directory + "/damaged.h5";
    std::string good;
    if (f.world.rank() == 0) {
        std::ifstream in(f.path, std::ios::binary);
        good.assign(std::istreambuf_iterator<char>(in), {});
    }
    f.world.broadcast(good);
    const auto with = [&](const std::string& bytes) {
        if (f.world.rank() == 0) {
            std::ofstream out(damaged, std::ios::binary | std::ios::trunc);
            out << bytes;
        }
        f.world.barrier();
        return f.refused(damaged);
    };
    CHECK_FALSE(with(good));
    const std::size_t stride = f.world.size() > 1 ? 101 : D == 2 ? 1 : 11;  // all of them on one rank
    const auto put = [&](std::size_t place, char byte) {
        if (f.world.rank() == 0)
            std::fstream(damaged, std::ios::binary | std::ios::in | std::ios::out).seekp(place).put(byte);
        f.world.barrier();
    };
    std::size_t accepted = 0, tried = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(20000, good.size()); i += stride) {
        put(i, static_cast<char>(good[i] ^ (1 << (i % 8))));
        ++tried;
        accepted += !f.refused(damaged);
        put(i, good[i]);
    }
    CHECK_FALSE(f.refused(damaged));
    for (std::size_t n = 0; n < good.size(); n += 64 * stride) {
        ++tried;
        accepted += !with(good.substr(0, n));
    }
    accepted += !with(good + "x");
    accepted += !f.refused(f.directory + "/missing.h5");
    accepted += !f.refused(f.directory);
    CHECK(tried > std::min<std::size_t>(20000, good.size()) / stride);
    CHECK(good.size() > 15000);
    CHECK(accepted == 0);
}

TEMPLATE_TEST_CASE_SIG("a restart keeps system and grid, and says which key differs", "", ((int D), D), 2, 3) {
    Fixture<D> f;
    const CheckpointInfo info = read_checkpoint(f.path, f.world);
    const auto message = [&](const std::string& setting) -> std::string {
        try {
            require_same_system(parse_deck(deck_text<D>, "test.yaml", {setting}), info);
        } catch (const InputError& e) {
            return e.what();
        }
        return "";
    };
    CHECK(message("run.dt=0.002").empty());
    CHECK(message("output.every=3").empty());
    CHECK(message("grid.skin=0.41").empty());
    CHECK(message("grid.skin=auto").empty());
    CHECK(message("system.seed=5").find("system.seed differs") != std::string::npos);
    CHECK(message("system.slabs.0.temperature=5").find("system.slabs.0.temperature differs") != std::string::npos);
    CHECK(message("grid.cell=3.5").find("grid.cell differs") != std::string::npos);
    CHECK_THROWS_WITH(require_same_system(parse_deck(deck_text<5 - D>, "test.yaml"), info),
                      Catch::Contains("system.box differs"));
}
