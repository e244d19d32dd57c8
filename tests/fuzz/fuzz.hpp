// SPDX-License-Identifier: MIT
// What all fuzzers share. Each defines read(), which gives an input to one reader of the program.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "comm/communicator.hpp"

namespace fuzz {

/// Defined by each fuzzer. It may throw whatever the program throws at an input that it refuses.
void read(std::string_view input);

/// The one rank of the fuzzer.
const comm::Communicator& world();

/// Path of a file that holds these bytes, until the next one of this name. TMPDIR says where; scripts/fuzz.sh keeps it
/// in memory.
std::string file_of(std::string_view bytes, const std::string& name = "input");

/// Runs body(). Returns whether it was not refused. A refusal is a finding, unless it is one line for an input file or
/// a command that cannot be used: exit codes 2 and 3.
bool accepted(const std::function<void()>& body);

/// A finding, unless `good`.
void require(bool good, const char* claim);

}  // namespace fuzz
