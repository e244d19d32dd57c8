// SPDX-License-Identifier: MIT
// hybrid FILE [host]: the engine with an accelerator beside the CPU, on one rank: the CPU alone, the accelerator alone,
// and both with a border that finds its place (balance/zone). On a CUDA device if there is one, else (or with `host`)
// on threads of this processor. All three must end in the same state. Prints rates and the way of the border, and
// writes FILE (JSON). It needs no MPI; the program does the same on any number of ranks (docs/zones.md).
#include <omp.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "examples/gpu/slabs.hpp"
#include "examples/gpu/zone_run.hpp"

namespace {

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
                ZoneRun run(setup, deck, c.share);
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
