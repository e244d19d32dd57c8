// SPDX-License-Identifier: MIT
#pragma once

/// Runs the tests of this program; the exit code.
int run_catch(int argc, char* argv[]);
