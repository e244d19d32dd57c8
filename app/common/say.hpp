// SPDX-License-Identifier: MIT
// Output of the program on the terminal. A full disk behind a log, or a reader that has gone, is no reason to lose a
// run.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace app {

/// Prints formatted text; what can't be printed is dropped.
template <class... T>
void say(std::FILE* to, fmt::format_string<T...> format, T&&... values) {
    std::fputs(fmt::format(format, std::forward<T>(values)...).c_str(), to);
}

}  // namespace app
