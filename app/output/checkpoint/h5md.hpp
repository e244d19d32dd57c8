// SPDX-License-Identifier: MIT
// Names of the H5MD 1.1 format (de Buyl, Colberg, Hofling 2014) that trajectories and checkpoints share.
//
// Units. H5MD readers know no reduced units, and some refuse a file whose units they don't know. So sigma is called
// Angstrom and tau ps: no reader changes the numbers then. The attribute `reduced_units` of /h5md says so.
#pragma once
#include <array>
#include <string>

#include "app/deck/deck.hpp"
#include "comm/file/file.hpp"
#include "md/domain.hpp"

namespace app {

inline const std::string h5md_box = "/particles/all/box";
inline const char* const h5md_time_unit = "ps";

/// Group of a column: it holds value, step and time.
std::string h5md_path(Column column);
const char* h5md_unit(Column column);

/// Who wrote the file, and the box, without its edges: /h5md, attributes of /particles/all/box.
void describe_h5md(comm::FileWriter& file, const md::Domain& domain);

/// The three edge vectors of the box, lengths. In two dimensions z is 1 long and not periodic, and all lies at 0.
std::array<double, 9> h5md_edges(const md::Domain& domain);

}  // namespace app
