// SPDX-License-Identifier: MIT
// All results of the program, for those who make a RunDirectory.
#pragma once
#include "app/output/directory/result_files.hpp"

namespace app {

/// Files and folders of `run`, `replay`, `predict` and `partition`, without checkpoints.
const ResultKinds& result_kinds();

}  // namespace app
