// SPDX-License-Identifier: MIT
#include "app/output/checkpoint/h5md.hpp"

#include <cstdint>
#include <vector>

namespace app {

std::string h5md_path(Column column) { return "/particles/all/" + std::string(balance::word_of(column)); }

const char* h5md_unit(Column column) {
    constexpr std::array units{"Angstrom", "Angstrom ps-1", "kJ mol-1 Angstrom-1"};
    return units[static_cast<std::size_t>(column)];
}

void describe_h5md(comm::FileWriter& file, const md::Domain& domain) {
    file.group("/h5md");
    file.attribute("/h5md", "version", std::array<std::int64_t, 2>{1, 1});
    file.attribute("/h5md", "reduced_units",
                   "Lennard-Jones units: Angstrom stands for sigma, ps for tau, kJ mol-1 for epsilon");
    file.group("/h5md/creator");
    file.attribute("/h5md/creator", "name", "steelyard");
    file.attribute("/h5md/creator", "version", STEELYARD_VERSION);
    file.group("/h5md/author");
    file.attribute("/h5md/author", "name", "steelyard");
    file.group("/h5md/modules/units");
    file.attribute("/h5md/modules/units", "version", std::array<std::int64_t, 2>{1, 0});
    file.group(h5md_box);
    file.attribute(h5md_box, "dimension", std::array<std::int64_t, 1>{3}, true);
    std::vector<std::string> boundary;
    for (const md::Axis& axis : domain.axes()) boundary.push_back(axis.periodic ? "periodic" : "none");
    boundary.resize(3, "none");
    file.attribute(h5md_box, "boundary", boundary);
}

std::array<double, 9> h5md_edges(const md::Domain& domain) {
    std::array<double, 9> edges{1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int a = 0; a < domain.dimensions; ++a) edges[4 * a] = domain.axis[a].real_length();
    return edges;
}

}  // namespace app
