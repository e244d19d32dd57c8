// SPDX-License-Identifier: MIT
// Catch2 itself, compiled once for all test programs.
#define CATCH_CONFIG_RUNNER
#include "catch_runner.hpp"

#include <catch2/catch.hpp>

int run_catch(int argc, char* argv[]) { return Catch::Session().run(argc, argv); }
