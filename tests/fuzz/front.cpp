// SPDX-License-Identifier: MIT
// The front of a checkpoint, and what else a file that is none may be.
#include <string>

#include "app/output/checkpoint_front.hpp"
#include "app/output/file_kind.hpp"
#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    const std::string text(input);
    if (const auto front = app::parse_front(text))
        require(app::text_of(*front) == text, "a front is what its numbers make");
    app::why_no_checkpoint(file_of(input), text);
}
