// SPDX-License-Identifier: MIT
// The terminal on which somebody sees what this program prints.
#pragma once
#include <string>

#include "comm/file/posix_file.hpp"

namespace app {

/// What fits on a terminal, and what it can show.
struct Screen {
    int columns = 80, rows = 24;
    bool colours = false;  ///< 256 of them, and they are wanted
};

/// Standard output, if that is a terminal. A process that a launcher has started prints into a pipe, and what comes out
/// of it is seen where the launcher's own standard output leads.
class Terminal {
public:
    Terminal();
    /// Empty where pictures can be drawn by printing; else why not: "standard output is no terminal".
    const std::string& lacks() const { return lacks_; }
    /// As it is now; windows change.
    Screen screen() const;

private:
    comm::Descriptor of_launcher_;
    int file_;
    std::string lacks_;
    bool colours_ = false;
};

}  // namespace app
