// SPDX-License-Identifier: MIT
// Overrides from the command line, applied to the tree before the schema sees it.
#pragma once
#include <string>

#include "app/deck/yaml_tree.hpp"

namespace app {

/// Puts the value of `key.path=value` into the tree and adds missing keys. A list's elements are numbered from 0.
/// Messages locate added values at `--set key.path`. Throws DeckError. The schema checks the keys.
void apply_setting(Node& root, const std::string& setting);

/// Where the value at a dotted path stands, or what is nearest to it if it is missing. file: for an empty path.
std::string locate(const Node& root, const std::string& path, const std::string& file);

}  // namespace app
