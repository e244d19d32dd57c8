// SPDX-License-Identifier: MIT
#include "app/output/h5md.hpp"

#include <cstdint>
#include <vector>

namespace app {

std::string h5md_path(Column column) { return "/particles/all/" + std::string(balance::word_of(column)); }

const char* h5md_unit(Column column) {
    constexpr std::array units{"Angstrom", "Angstrom ps-1", "kJ mol-1 Angstrom-1"};
    return units[static_cast<std::size_t>(column)];
}

void describe_h5md(comm::FileWriter& file, const std::array<bool, 2>& periodic) {
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
    for (const bool p : periodic) boundary.push_back(p ? "periodic" : "none");
    boundary.push_back("none");  // 2D: z = 0
    file.attribute(h5md_box, "boundary", boundary);
}

}  // namespace app
