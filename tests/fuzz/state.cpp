// SPDX-License-Identifier: MIT
// Files of particles: LAMMPS data and dumps, H5MD. The last frame, and the first and the second by name.
#include <cmath>
#include <optional>

#include "app/state/state_file.hpp"
#include "fuzz.hpp"

namespace {

// The box of the file, with a side of its own where the file says none.
md::Domain domain_of(const app::FoundState& found) {
    md::Domain domain;
    domain.dimensions = found.dimensions;
    for (int a = 0; a < found.dimensions; ++a) {
        const double side = found.box[a] > 0 ? found.box[a] : 100;
        domain.axis[a].length = std::max<std::int64_t>(1, std::llround(std::ldexp(side, md::edge_bits)));
        domain.axis[a].periodic = a != 1;
    }
    return domain;
}

}  // namespace

void fuzz::read(std::string_view input) {
    const std::string path = file_of(input);
    for (const std::optional<std::int64_t> frame : {std::optional<std::int64_t>(), {0}, {1}})
        accepted([&] {
            md::StateFile file;
            file.file = path;
            file.frame = frame;
            const app::FoundState found = app::look_at_state(file, "system.from", world());
            file.digest = found.state.digest;
            const md::Domain domain = domain_of(found);
            const auto particles = app::read_particles(file, domain, world());
            require(std::ssize(particles) == found.state.particles, "as many particles as were found");
            for (const md::Particle<3>& p : particles)
                for (int a = 0; a < found.dimensions; ++a)
                    require(p.x[a] >= 0 && p.x[a] < domain.axis[a].fixed_length(), "particles lie in the box");
        });
}
