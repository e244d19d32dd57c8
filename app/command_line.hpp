// SPDX-License-Identifier: MIT
// The program's commands and their options.
#pragma once
#include <string>

#include "app/run/options.hpp"

namespace app {

struct CommandLine {
    std::string command;  ///< as given: run, partition, ...; empty where there is nothing to carry out
    bool has_deck = false;
    Options options;
    std::string text;   ///< to be printed on standard output: help or the version
    std::string error;  ///< why the command line is refused, without "error:"; empty: it isn't
};

CommandLine read_command_line(int argc, char** argv);

}  // namespace app
