// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "app/state/particle_source.hpp"

namespace app {

FileBox file_box(const md::Domain& domain, const SourceHead& source) {
    FileBox p{domain, {}, {}};
    for (int a = 0; a < domain.dimensions; ++a) {
        p.lower[a] = quanta(source.lower[a]);
        const std::int64_t length = md::to_edge_units(source.length[a]);
        p.length[a] = length > 0 ? length << md::edge_shift : domain.axis[a].fixed_length();
    }
    return p;
}

std::string place(md::Particle<3>& p, const FileBox& box) {
    for (int a = 0; a < box.domain.dimensions; ++a) {
        const md::Axis& axis = box.domain.axis[a];
        std::int64_t x = p.x[a] - box.lower[a];
        if (axis.periodic) {
            x %= box.length[a];
            if (x < 0) x += box.length[a];
        } else if (x < 0 || x > axis.fixed_length()) {
            return fmt::format("lies outside the box, at {} = {:.10g}", "xyz"[a],
                               static_cast<double>(p.x[a]) * md::position_unit);
        } else if (x == axis.fixed_length()) {
            --x;
        }
        p.x[a] = x;
    }
    return "";
}

}  // namespace app
