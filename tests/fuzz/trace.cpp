// SPDX-License-Identifier: MIT
// Traces of messages.
#include "tools/messages/trace.hpp"

#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    const std::string path = file_of(input);
    accepted([&] { read_trace(path, {}, 3, world()); });
    read_trace(path, {"ghosts"}, 2, world());
}
