// SPDX-License-Identifier: MIT
// bench_kernels [SET]: what a force pass takes for each set of kernels that this processor has, or for this one alone,
// with all data in the caches.
// A tile of liquid (Lennard-Jones, cutoff 2.5; density 0.9 in two dimensions, 0.8442 in three) is passed with a narrow
// and a wide skin. The clusters are the same, and have more rows of neighbours with the wide one: so the two times tell
// what a row takes and what a cluster takes besides. Each time is the least of many. Nanoseconds; multiply by the clock
// rate in GHz for cycles.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "tests/md/one_tile.hpp"

namespace {

double least_nanoseconds(const auto& work) {
    double least = 1e30;
    for (int i = 0; i < 200; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        least =
            std::min(least, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
    }
    return least;
}

struct Measured {
    double pass, rebuild;  // of the whole tile
    double clusters = 0, rows = 0;
};
template <int D>
Measured measure(test::OneTile<D>& t, double skin) {
    t.skin = skin;
    t.rebuild();
    Measured m{};
    const md::ListView<D> lists = t.tile.lists();
    m.clusters = lists.cluster_count;
    for (int c = 0; c < lists.cluster_count; ++c)
        for (int h = lists.clusters[c].first; h < lists.clusters[c].last; ++h) m.rows += lists.neighbourhoods[h].length;
    const md::StepArgs a = test::step_arguments(t.domain, t.potential, t.limits, md::Kick::middle, 0.0, false);
    const auto step = md::kernels_of<D>(t.kernels).step_for(t.potential, t.precision);
    m.pass = least_nanoseconds([&] {
        md::StepResult r;
        step(t.tile.view(), a, r);
    });
    m.rebuild =
        least_nanoseconds([&] { t.tile.build_neighbour_lists(t.kernels, t.potential.cutoff + skin, t.scratch); });
    return m;
}

// A cube or square of `side` particles a side; skins: wide, narrow and usual.
template <int D>
void report(int side, double spacing, const std::array<double, 3>& skin, const std::string& only) {
    const auto particles = test::jittered<D>(side, spacing, 0.1, 6.0, 1.0);
    for (const md::Precision precision : {md::Precision::mixed, md::Precision::double_})
        for (const md::Kernels* kernels : md::available_kernels()) {
            if (!only.empty() && only != kernels->isa) continue;
            md::PotentialSpec potential;
            potential.shift = md::Shift::none;
            const md::Domain box = test::walled_box(side * spacing + 12, potential.cutoff + skin[0], D);
            test::OneTile<D> t(box, potential, precision, *kernels, particles);
            const Measured wide = measure(t, skin[0]), narrow = measure(t, skin[1]), usual = measure(t, skin[2]);
            const double row = (wide.pass - narrow.pass) / (wide.rows - narrow.rows),
                         cluster = (usual.pass - row * usual.rows) / usual.clusters;
            const double count = static_cast<double>(t.tile.size());
            std::printf("%dD  %-10s %-9s %12.2f %12.2f %10.2f %12.1f %16.1f\n", D, kernels->isa,
                        precision == md::Precision::mixed ? "mixed" : "double", usual.pass / count,
                        usual.rows * md::lanes / count, row, cluster, usual.rebuild / count);
        }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string only = argc > 1 ? md::choose_kernels(argv[1]).isa : "";
    std::printf("    %-10s %-9s %12s %12s %10s %12s %16s\n", "kernels", "precision", "ns/particle", "row/particle",
                "ns/row", "ns/cluster", "lists, ns/particle");
    report<2>(64, 1.054, {1.0, 0.0, 0.35}, only);
    report<3>(16, 1.058, {0.6, 0.0, 0.3}, only);
}
