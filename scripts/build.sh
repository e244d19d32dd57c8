#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh [PRESET] [CMAKE OPTIONS]: sets up, configures and builds. The binary is build/steelyard for the default preset,
# build-PRESET/steelyard for others (see CMakePresets.json). TARGET=steelyard leaves the tests out. STEELYARD_SETUP=skip
# installs no packages (docs/install.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,5s/^# //p' scripts/build.sh; exit 0; }
preset=default
[[ $# -gt 0 && $1 != -* ]] && { preset=$1; shift; }
scripts/setup.sh
if ! command -v ninja >/dev/null; then  # not on every cluster
    set -- -G "Unix Makefiles" "$@"
    export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
fi
cmake --preset "$preset" "$@" >/dev/null
folder=build
[[ $preset == default ]] || folder=build-$preset
cmake --build "$folder" ${TARGET:+--target "$TARGET"}
