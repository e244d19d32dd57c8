// SPDX-License-Identifier: MIT
// hybrid FILE [host]: the engine with an accelerator beside the CPU, on one rank: the CPU alone, the accelerator alone,
// and both with a border that finds its place (balance/zone). On a CUDA device if there is one, else (or with `host`)
// on threads of this processor. All three must end in the same state. Prints rates and the way of the border, and
// writes FILE (JSON). It needs no MPI; the program does the same on any number of ranks (docs/zones.md).
#include <omp.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "app/engine/engine.hpp"
#include "balance/zone/border.hpp"
#include "balance/zone/controller.hpp"
#include "examples/gpu/slabs.hpp"
#include "gpu/zone.hpp"

namespace {

struct Way {
    std::int64_t step;
    double share, cpu_seconds, accelerator_seconds;
};

// A run on one rank whose border a controller moves.
class Run {
public:
    Run(const app::Setup& setup, const app::Deck& deck, double share)
        : grid_(setup.domain.grid()),
          tile_(balance::choose_tile(grid_, setup.domain.axis[1].cell_width(), omp_get_max_threads())),
          engine_(setup, decomposition(), alone_, timers_),
          share_(share) {
        engine_.fill(deck);
    }

    // Steps up to `last`; kind: who moves the border. Checks come every so many steps.
    void steps(std::int64_t last, balance::ControllerKind kind, std::int64_t every) {
        for (; step_ < last; ++step_) {
            const bool check = step_ == 0 || balance::check_due(step_, every);
            if (engine_.displaced() || check) {
                engine_.rebin();
                if (check) move_border(kind);
                engine_.build_neighbour_lists();
            }
            engine_.force_pass({step_ == 0 ? md::Kick::first : md::Kick::middle});
        }
    }
    std::uint64_t finish() {
        if (engine_.displaced()) engine_.rebin(), engine_.build_neighbour_lists();
        engine_.force_pass({md::Kick::last});
        return engine_.state_hash();
    }
    std::int64_t particles() const { return engine_.particles(); }
    double share() const { return share_; }
    const std::vector<Way>& way() const { return way_; }

private:
    balance::Decomposition decomposition() const {
        balance::Zones zones;
        if (room_) zones = {balance::zone_blocks(*room_, border_, 1, loads_), {0, 1}};
        return {grid_, balance::one_box_each({grid_.box()}), balance::Hosts(1, 1), tile_, zones};
    }

    // What the cells in each strip usually cost.
    void measure() {
        if (!room_)
            room_ = balance::zone_room(grid_, {grid_.box()}, engine_.setup().halo,
                                       [](const balance::Box& b) { return b.cells(); });
        loads_.assign(room_->strips(), 0);
        const std::vector<balance::CellCounts> counts = engine_.tiles().cell_counts();
        const balance::CellCounts* c = counts.data();
        for (std::size_t t = 0; t < engine_.tiles().size(); ++t) {
            const balance::Box& b = engine_.tiles()[t].box();
            for (int x = b.lower[0]; x < b.upper[0]; ++x)
                for (int y = b.lower[1]; y < b.upper[1]; ++y, ++c)
                    loads_[(room_->axis == 0 ? x : y) - room_->block.lower[room_->axis]] +=
                        2 + c->n * (15 + std::int64_t{6} * c->n3 / 10);
        }
        total_ = std::accumulate(loads_.begin(), loads_.end(), std::int64_t{0});
    }

    void move_border(balance::ControllerKind kind) {
        const balance::Decomposition old = decomposition();
        const app::ZoneSeconds spent = engine_.take_zone_seconds();
        measure();
        if (step_ > 0) {
            const auto steps = static_cast<double>(step_ - checked_);
            const balance::ZoneTimes times{
                balance::share_at(loads_, total_, border_),
                0,
                1,
                static_cast<double>(*std::max_element(loads_.begin(), loads_.end())) / static_cast<double>(total_),
                spent.cpu / steps,
                spent.accelerator / steps,
                1};
            way_.push_back({step_, times.share, times.cpu_seconds, times.accelerator_seconds});
            const balance::BorderStep next = balance::next_share(kind, times, state_);
            if (next.decision != balance::BorderDecision::kept) share_ = next.share;
            else if (kind != balance::ControllerKind::fixed) share_ = times.share;
        }
        checked_ = step_;
        border_ = balance::border_at(loads_, total_, share_);
        engine_.repartition(old, decomposition());
    }

    const comm::Communicator alone_;
    app::Timers timers_;
    balance::Grid grid_;
    balance::TileShape tile_;
    std::optional<balance::ZoneRoom> room_;
    std::vector<std::int64_t> loads_;  // of the strips
    std::int64_t total_ = 0;
    int border_ = 0;
    app::Engine engine_;
    double share_;
    balance::ControllerState state_;
    std::int64_t step_ = 0, checked_ = 0;
    std::vector<Way> way_;
};

struct Case {
    const char* name;
    double share;
    balance::ControllerKind kind;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: hybrid FILE [host]\n");
        return 2;
    }
    const bool device = gpu::accelerator_count(gpu::Backend::cuda) > 0 && !(argc > 2 && !std::strcmp(argv[2], "host"));
    const gpu::Backend backend = device ? gpu::Backend::cuda : gpu::Backend::host;
    const int threads = std::max(1, omp_get_max_threads() - 1);  // one is left for the accelerator's, or to wait for it
    omp_set_num_threads(threads);
    const std::string name = gpu::accelerator_name(backend, 0, 1);
    std::printf("%d threads of the CPU beside %s\n", threads, name.c_str());
    if (!device) std::printf("no device was seen; these are rates of the host stand-in\n");
    using Kind = balance::ControllerKind;
    const std::vector<Case> cases{
        {"cpu", 0, Kind::fixed}, {"accelerator", 1, Kind::fixed}, {"both", 0.5, Kind::measured_speed}};
    std::string json, hashes;
    bool equal = true;
    try {
        for (const double particles : device ? std::vector<double>{1e6, 16e6} : std::vector<double>{1e5}) {
            app::Deck deck = slabs(particles);
            deck.accelerator.backend = device ? app::AcceleratorBackend::cuda : app::AcceleratorBackend::host;
            app::Setup setup = app::make_setup(deck, "");
            app::add_accelerators(setup, deck, 0, 1);
            setup.accelerators.devices.resize(1);
            const std::int64_t warm = 400, steps = device ? 1000 : 400, every = 50;
            std::uint64_t first = 0;
            for (const Case& c : cases) {
                Run run(setup, deck, c.share);
                run.steps(warm, c.kind, every);
                const double start = comm::now();
                run.steps(warm + steps, c.kind, every);
                const double seconds = comm::now() - start;
                const std::uint64_t hash = run.finish();
                if (&c == &cases.front()) first = hash;
                equal = equal && hash == first;
                const double rate = static_cast<double>(run.particles()) * static_cast<double>(steps) / seconds;
                std::printf("%-12s %10" PRId64
                            " particles %10.2f M atom-steps/s, last share %5.1f %%, state %016" PRIx64 "\n",
                            c.name, run.particles(), rate * 1e-6, 100 * run.share(), hash);
                std::fflush(stdout);
                char text[160];
                std::snprintf(text, sizeof text,
                              "%s{\"case\": \"%s\", \"particles\": %" PRId64
                              ", \"rate\": %.6g, \"share\": %.4f, \"way\": [",
                              json.empty() ? "" : ", ", c.name, run.particles(), rate, run.share());
                json += text;
                for (const Way& w : run.way()) {
                    std::snprintf(text, sizeof text, "%s[%" PRId64 ", %.4f, %.4g, %.4g]",
                                  &w == &run.way().front() ? "" : ", ", w.step, w.share, w.cpu_seconds,
                                  w.accelerator_seconds);
                    json += text;
                }
                json += "]}";
            }
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "hybrid: %s\n", e.what());
        return 1;
    }
    std::ofstream(argv[1]) << "{\"cases\": [" << json << "], \"hash_equal\": " << (equal ? "true" : "false")
                           << ", \"device\": \"" << name << "\", \"stand_in\": " << (device ? "false" : "true")
                           << "}\n";
    if (!equal) std::fprintf(stderr, "hybrid: the states differ\n");
    return equal ? 0 : 1;
}
