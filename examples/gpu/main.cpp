// SPDX-License-Identifier: MIT
// zone_rates FILE [host | check | SYSTEM PARTICLES]: a zone that is the whole periodic box, on a CUDA device if there
// is one, else (or with `host`) on threads of this processor. First its state after some hundred steps must be the
// engine's, bit for bit, of a slab collision and of liquids in the plane and in space; `check` ends there. Then come
// their rates with more and more particles, rebuilds included. With a system (slab, liquid or space) and a number of
// particles that rate alone is measured, and nothing is checked. Prints a table and writes FILE (JSON).
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "app/engine/engine.hpp"
#include "examples/gpu/slabs.hpp"
#include "gpu/zone.hpp"
#include "md/initial.hpp"
#include "md/lattice.hpp"
#include "md/skin.hpp"

namespace {

template <int D>
using Particles = std::vector<md::Particle<D>>;

// The liquid of inputs/liquid.yaml.
Problem liquid(double particles) {
    Problem problem{"liquid"};
    md::Body slab;
    slab.density = 0.9;
    slab.temperature = 1.0;
    const auto rows = std::llround(std::sqrt(particles / 2 / std::sqrt(3.0)));
    slab.cells = {{std::llround(particles / 2 / static_cast<double>(rows)), rows, 1}};
    const double a = md::lattice_constant(slab.lattice, slab.density);
    problem.system.box = {static_cast<double>((*slab.cells)[0]) * a,
                          static_cast<double>((*slab.cells)[1]) * a * std::sqrt(3.0)};
    problem.system.potential.shift = md::Shift::none;
    problem.system.slabs = {slab};
    problem.method.dt = 0.005;
    return problem;
}

// A liquid in a box with three equal sides.
Problem liquid_in_space(double particles) {
    Problem problem{"space"};
    md::Body slab;
    slab.lattice = md::LatticeKind::fcc;
    slab.density = 0.8442;
    slab.temperature = 1.44;
    const auto side = std::llround(std::cbrt(particles / md::sites_of_cell(slab.lattice)));
    slab.cells = {{side, side, side}};
    problem.system.dimensions = 3;
    problem.system.box = md::fitted_box(slab);
    problem.system.slabs = {slab};
    problem.method.dt = 0.004;
    return problem;
}

// Calls use(particles) for all particles of the system, some columns of cells at a time.
template <int D, class Use>
void make_particles(const md::System& system, const md::Domain& domain, Use use) {
    constexpr int columns = 64;
    const balance::Box all = domain.grid().box();
    for (int x = 0; x < all.upper[0]; x += columns) {
        balance::Box cells = all;
        cells.lower[0] = x;
        cells.upper[0] = std::min(x + columns, all.upper[0]);
        std::int64_t first = 0;
        for (const md::Body& slab : system.slabs) {
            const md::Lattice lattice(slab);
            Particles<D> made;
            md::make_particles(domain, lattice, first, system.seed, cells, made);
            for (md::Particle<D>& p : made)
                for (int a = 0; a < D; ++a) p.v[a] += std::llrint(slab.velocity[a] / md::velocity_unit);
            use(made);
            first += lattice.sites();
        }
    }
}

// A zone that is the whole box: its ghosts are images of its own particles.
template <int D>
class WholeBox {
public:
    WholeBox(const Problem& problem, gpu::Backend backend, int threads)
        : setup_(app::make_setup(problem.system, problem.method)),
          zone_(gpu::make_zone<D>(
              backend, 0, threads,
              {setup_.domain, setup_.halo, setup_.potential, {}, setup_.precision, setup_.limits, setup_.dt})),
          skins_(D, setup_.potential.cutoff, setup_.skin, setup_.widest_skin) {
        zone_->set_blocks({setup_.domain.grid().box()}, images());
        make_particles<D>(problem.system, setup_.domain, [&](const Particles<D>& some) { zone_->insert(some); });
    }

    const app::Setup& setup() const { return setup_; }
    std::int64_t size() const { return zone_->size(); }
    std::int64_t bytes() const { return zone_->bytes(); }
    std::int64_t rebuilds() const { return rebuilds_; }
    double skin() const { return skin_; }
    double seconds() const { return seconds_; }

    /// A pass of forces and kicks, with new lists before it if they are due.
    void step(md::Kick kick) {
        if (displaced_) rebuild();
        zone_->start({kick, false, false});
        const gpu::ZoneResult r = zone_->finish();
        if (r.step.fault.kind != md::FaultKind::none)
            throw md::SimulationError("particle " + std::to_string(r.step.fault.id) + " has a fault");
        seconds_ += r.seconds;
        ++steps_since_;
        const double limit = skin_ / 2 / setup_.domain.packed_unit();
        displaced_ = r.step.displacement2 > limit * limit;
    }
    std::uint64_t state_hash() const {
        std::uint64_t sum = 0;
        for (const md::Particle<D>& p : zone_->particles()) sum += md::particle_hash(wrapped(p));
        return sum;
    }

private:
    md::Particle<D> wrapped(md::Particle<D> p) const {
        for (int a = 0; a < D; ++a) p.x[a] = md::wrapped(p.x[a], setup_.domain.axis[a]);
        return p;
    }
    gpu::BlockBorder<D> images() const {
        gpu::BlockBorder<D> border;
        const std::array<int, 3> n = setup_.domain.grid().cells;
        const int h = setup_.halo;
        // Of an axis: the cells of the halo below, of the block, of the halo above.
        const auto part = [&](int a, int side, balance::Box& box) {
            box.lower[a] = side < 0 ? -h : side > 0 ? n[a] : 0;
            box.upper[a] = side < 0 ? 0 : side > 0 ? n[a] + h : n[a];
        };
        const auto packed = [&](int a, int side) {
            return static_cast<std::uint32_t>(side * setup_.domain.axis[a].fixed_length() >>
                                              setup_.domain.packed_shift());
        };
        const balance::Box sides =
            balance::with_halo({{0, 0, 0}, {1, 1, 1}}, balance::halo_of(setup_.domain.grid(), 1));
        md::for_each_cell<D>(sides, [&](const md::CellIndex& side) {
            if (side == md::CellIndex{}) return;
            typename gpu::BlockBorder<D>::Image image{};
            for (int a = 0; a < D; ++a) {
                part(a, side[a], image.box);
                image.from[a] = image.box.lower[a] - side[a] * n[a];
                image.shift.at[a] = packed(a, side[a]);
            }
            border.images.push_back(image);
        });
        return border;
    }
    // What a step costs with a skin shows from one rebuild to the next.
    void tune_skin() {
        const auto now = std::chrono::steady_clock::now();
        if (steps_since_ > 0) {
            const auto steps = static_cast<double>(steps_since_);
            const double passes = (seconds_ - seconds_before_) / steps,
                         all = std::chrono::duration<double>(now - rebuilt_).count() / steps;
            skins_.add(passes, std::max(0.0, all - passes));
            skin_ = skins_.skin();
        }
        rebuilt_ = now;
        seconds_before_ = seconds_;
    }
    void rebuild() {
        tune_skin();
        Particles<D> back = zone_->take_emigrants();
        for (md::Particle<D>& p : back) p = wrapped(p);
        zone_->insert(back);
        zone_->sort();
        zone_->lay_slots({});
        zone_->build_neighbour_lists(setup_.potential.cutoff + skin_);
        steps_since_ = 0;
        displaced_ = false;
        ++rebuilds_;
    }

    app::Setup setup_;
    std::unique_ptr<gpu::Zone<D>> zone_;
    md::SkinSearch skins_;
    double skin_ = setup_.skin, seconds_ = 0, seconds_before_ = 0;
    std::chrono::steady_clock::time_point rebuilt_;
    std::int64_t steps_since_ = 0, rebuilds_ = 0;
    bool displaced_ = true;
};

template <int D>
std::uint64_t engine_hash(const Problem& problem, int steps) {
    const comm::Communicator alone;
    const app::Setup setup = app::make_setup(problem.system, problem.method);
    const balance::Grid grid = setup.domain.grid();
    const balance::Decomposition owners(
        grid, balance::one_box_each({grid.box()}), balance::Hosts(1, 1),
        balance::choose_tile(grid, setup.domain.axis[D - 1].cell_width(), omp_get_max_threads()));
    app::Timers timers;
    const std::unique_ptr<app::Engine> engine = app::make_engine(setup, owners, alone, timers);
    Particles<3> all;
    make_particles<D>(problem.system, setup.domain, [&](const Particles<D>& some) {
        for (const md::Particle<D>& p : some) {
            md::Particle<3> in_space{p.id, {}, {}};
            std::copy_n(p.x, D, in_space.x);
            std::copy_n(p.v, D, in_space.v);
            all.push_back(in_space);
        }
    });
    engine->distribute(all, owners);
    for (int step = 0; step < steps; ++step) {
        if (engine->displaced()) {
            engine->rebin();
            engine->build_neighbour_lists();
        }
        engine->force_pass({step == 0 ? md::Kick::first : md::Kick::middle});
    }
    return engine->state_hash();
}

template <int D>
bool same_bits(const Problem& problem, gpu::Backend backend, int threads, int steps) {
    WholeBox<D> zone(problem, backend, threads);
    for (int step = 0; step < steps; ++step) zone.step(step == 0 ? md::Kick::first : md::Kick::middle);
    const std::uint64_t mine = zone.state_hash(), expected = engine_hash<D>(problem, steps);
    std::printf("%s, %s, %" PRId64 " particles, %d steps: state %016" PRIx64 ", the engine's %016" PRIx64 "\n",
                problem.name, balance::word_of(problem.method.precision).data(), zone.size(), steps, mine, expected);
    return mine == expected;
}

// Atom-steps a second, rebuilds included.
template <int D>
double rate(const Problem& problem, gpu::Backend backend, int threads, double least_seconds) {
    WholeBox<D> zone(problem, backend, threads);
    zone.step(md::Kick::first);
    for (int k = 0; k < 20; ++k) zone.step(md::Kick::middle);
    const auto start = std::chrono::steady_clock::now();
    const double at_work = zone.seconds();
    const std::int64_t rebuilds = zone.rebuilds();
    std::int64_t steps = 0;
    double seconds = 0;
    while (seconds < least_seconds) {
        zone.step(md::Kick::middle);
        ++steps;
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    const double r = static_cast<double>(zone.size() * steps) / seconds;
    std::printf("%-7s %11" PRId64 " %9.2f %9.2f %8.1f %8.2f %7.2f\n", problem.name, zone.size(), r * 1e-6,
                1e9 * (zone.seconds() - at_work) / static_cast<double>(zone.size() * steps),
                static_cast<double>(steps) / static_cast<double>(std::max<std::int64_t>(zone.rebuilds() - rebuilds, 1)),
                zone.skin(), static_cast<double>(zone.bytes()) / static_cast<double>(zone.size()));
    std::fflush(stdout);
    return r;
}
double rate_of(const Problem& problem, gpu::Backend backend, int threads) {
    return (problem.system.dimensions == 2 ? rate<2> : rate<3>)(problem, backend, threads, 4.0);
}

constexpr std::array systems{slabs, liquid, liquid_in_space};

struct Options {
    std::string file, what;  // what: nothing, host, check, or the name of a system
    double particles = 0;
};

// Nothing where the words make no sense.
std::optional<Options> options_of(int argc, char** argv) {
    if (argc < 2 || argc > 4 || argv[1][0] == '-') return std::nullopt;
    Options options{argv[1], argc > 2 ? argv[2] : "", 0};
    if (argc == 2 || (argc == 3 && (options.what == "host" || options.what == "check"))) return options;
    const bool named =
        std::any_of(systems.begin(), systems.end(), [&](auto* make) { return options.what == make(1e4).name; });
    char* end = nullptr;
    if (argc == 4) options.particles = std::strtod(argv[3], &end);
    const bool number = argc == 4 && *end == 0 && options.particles >= 1000 && options.particles <= 1e9;
    return named && number ? std::optional(options) : std::nullopt;
}

// Whether the zone's states are the engine's.
bool check(gpu::Backend backend, int threads) {
    bool equal = true;
    for (auto* const make : systems)
        for (const md::Precision precision : {md::Precision::mixed, md::Precision::double_}) {
            Problem of = make(20000);
            of.method.precision = precision;
            const auto same = of.system.dimensions == 2 ? same_bits<2> : same_bits<3>;
            equal = same(of, backend, threads, 300) && equal;
        }
    if (!equal) std::fprintf(stderr, "zone_rates: the zone's bits are not the engine's\n");
    return equal;
}

// As the members of a JSON object. options.particles: 0 for all systems with more and more particles.
std::string rates(const Options& options, gpu::Backend backend, int threads, bool device) {
    std::vector<double> sizes = device ? std::vector<double>{1e6, 4e6, 16e6, 64e6} : std::vector<double>{2.5e4, 1e5};
    if (options.particles > 0) sizes = {options.particles};
    std::printf("system    particles       M/s   ns pass  rebuild     skin   bytes\n");
    std::string all;
    for (auto* const make : systems) {
        const std::string name = make(1e4).name;
        if (options.particles > 0 && name != options.what) continue;
        all += "\"rate_" + name + "\": {";
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            char text[64];
            std::snprintf(text, sizeof text, "%s\"%.0f\": %.6g", k ? ", " : "", sizes[k],
                          rate_of(make(sizes[k]), backend, threads));
            all += text;
        }
        all += "}, ";
    }
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<Options> options = options_of(argc, argv);
    if (!options) {
        std::fprintf(stderr, "usage: zone_rates FILE [host | check | slab|liquid|space PARTICLES]\n");
        return 2;
    }
    const bool device = gpu::accelerator_count(gpu::Backend::cuda) > 0 && options->what != "host";
    const gpu::Backend backend = device ? gpu::Backend::cuda : gpu::Backend::host;
    const int threads = device ? 1 : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const std::string name = gpu::accelerator_name(backend, 0, threads);
    std::printf("on %s\n", name.c_str());
    if (!device) std::printf("these are rates of the host stand-in\n");
    try {
        const bool one = options->particles > 0, checked = one || check(backend, threads);
        if (options->what == "check") return checked ? 0 : 1;
        std::ofstream file(options->file);
        if (!file) throw std::runtime_error("can't write " + options->file);
        file << "{" << rates(*options, backend, threads, device);
        if (!one) file << "\"hash_equal\": " << (checked ? "true" : "false") << ", ";
        file << "\"device\": \"" << name << "\", \"stand_in\": " << (device ? "false" : "true") << "}\n";
        if (!file.flush()) throw std::runtime_error("can't write " + options->file);
        return checked ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "zone_rates: %s\n", e.what());
        return 1;
    }
}
