#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh [PRESET] [CMAKE OPTIONS]: sets up, configures and builds. The binary is build/steelyard for the default preset,
# build-PRESET/steelyard for others (see CMakePresets.json). TARGET="NAME ..." builds these targets alone;
# TARGET=steelyard leaves the tests out. STEELYARD_SETUP=skip installs no packages (docs/install.md).
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
folder=build
[[ $preset == default ]] || folder=build-$preset
# A tree that was copied with its build folder: CMake's cache knows the old place.
of=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
if [[ -n $of && ! $of -ef $PWD ]]; then
    echo "build.sh: $PWD/$folder was made for $of and cannot be used here; remove it: rm -r $PWD/$folder" >&2
    exit 2
fi
cmake --preset "$preset" "$@" >/dev/null
# shellcheck disable=SC2086
cmake --build "$folder" ${TARGET:+--target $TARGET}
