// SPDX-License-Identifier: MIT
// The terminal on which somebody sees what this program prints.
#pragma once
#include <string>

#include "comm/file/posix_file.hpp"

namespace app {

/// Size and abilities of a terminal.
struct Screen {
    int columns = 80, rows = 24;
    bool colours = false;  ///< 256 of them, and they are wanted
};

/// Standard output, if that is a terminal. A process of a launcher prints into a pipe, and the launcher prints its
/// text. So the launcher's own standard output counts for such a process.
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
