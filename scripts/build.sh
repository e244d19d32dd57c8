#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh [PRESET] [CMAKE OPTIONS]: sets up, configures and builds. The binary is build/steelyard for the default preset,
# build-PRESET/steelyard for others (see CMakePresets.json). TARGET=steelyard leaves the tests out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/build.sh; exit 0; }
preset=${1:-default}
[[ $# -gt 0 ]] && shift
scripts/setup.sh
cmake --preset "$preset" "$@" >/dev/null
folder=build
[[ $preset == default ]] || folder=build-$preset
cmake --build "$folder" ${TARGET:+--target "$TARGET"}
