// SPDX-License-Identifier: MIT
// The front of a checkpoint.
#include "app/output/checkpoint/front.hpp"

#include <string>

#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    const std::string text(input);
    if (const auto front = app::parse_front(text))
        require(app::text_of(*front) == text, "a front is what its numbers make");
}
