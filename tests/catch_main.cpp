// SPDX-License-Identifier: MIT
#include "catch_runner.hpp"

int main(int argc, char* argv[]) { return run_catch(argc, argv); }
