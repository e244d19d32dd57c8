// SPDX-License-Identifier: MIT
// The keys of a deck.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// Keys of one section. Path: dotted, a list's elements as `[]`, the top level empty.
struct SectionKeys {
    std::string path;
    std::vector<std::string> known;
    std::vector<std::string> later;  ///< part of the interface, but not of this version
};

/// Every section of a deck.
const std::vector<SectionKeys>& deck_schema();

/// The keys of the section at `path`, which exists.
const SectionKeys& section_keys(std::string_view path);

/// Where else in a deck `key` belongs, as a dotted path; empty if nowhere or in more than one place.
std::string home_of(std::string_view key);

}  // namespace app
