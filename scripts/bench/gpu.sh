#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpu.sh [host]: measures accelerators in one command: zones alone, whole runs, hashes, and where the time goes.
#
# 1. A zone alone: its bits must be the engine's. Its rates with 1 to 64 million particles: results/gpu/zones.json.
# 2. Whole runs on 1, 2 and 4 ranks, by scripts/bench/devices.py (its --help explains the table): results/gpu/runs.json.
# 3. Memory errors of the kernels, by compute-sanitizer if it is there.
#
# With `host`, or without a device, threads of the processor stand in for devices. Such rates say nothing about a
# device. Takes less than 8 minutes with one device and 16 cores, and 4 with `host` on two cores, beside the build.
# Whole runs that find no time are named and left out. Needs a C++ compiler, CMake, xxHash and, for a device, nvcc.
# Whole runs need all that the program needs (docs/install.md). Nothing is installed, and no network is used. If xxHash
# is not installed, its header has to lie in build-xxhash/xxhash.h.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/bench/gpu.sh; exit 0; }
[[ $# -eq 0 || $* == host ]] || { echo "gpu.sh: unknown option $1; see --help" >&2; exit 2; }
mkdir -p results/gpu
export STEELYARD_SETUP=skip
folder=build
if ! TARGET="steelyard zone_rates" scripts/build.sh >results/gpu/build.log 2>&1 || ! command -v mpiexec >/dev/null; then
    echo "gpu.sh: whole runs are left out: no MPI, or the program cannot be built (results/gpu/build.log);" \
        "scripts/setup.sh installs what it needs" >&2
    folder=build-gpu options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTEELYARD_ENGINE_ONLY=ON -DSTEELYARD_TESTS=OFF)
    if ! echo '#include <xxhash.h>' | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1; then
        [[ -f build-xxhash/xxhash.h ]] ||
            { echo "gpu.sh: no xxHash: install it, or copy its xxhash.h into the folder build-xxhash" >&2; exit 2; }
        options+=(-DSTEELYARD_FETCH=ON "-DFETCHCONTENT_SOURCE_DIR_XXHASH=$PWD/build-xxhash")
    fi
    cmake -S . -B $folder "${options[@]}" >/dev/null
    cmake --build $folder --target zone_rates -j "$(nproc)" >>results/gpu/build.log 2>&1 ||
        { tail -n 30 results/gpu/build.log >&2; exit 1; }
fi
SECONDS=0
$folder/examples/gpu/zone_rates results/gpu/zones.json "$@"
backend=cuda seconds=390  # 90 s are left to the last run and to the sanitizer
grep -q '"stand_in": true' results/gpu/zones.json && backend=host seconds=210
echo "zones alone took $SECONDS s"
[[ $folder == build-gpu ]] ||
    STEELYARD_BUILD=skip scripts/bench/devices.py --backend $backend \
        --seconds $((seconds > SECONDS ? seconds - SECONDS : 1))
# Slow, so on the small systems only.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [[ -n $sanitizer && $backend == cuda ]]; then
    "$sanitizer" --error-exitcode 9 $folder/examples/gpu/zone_rates /dev/null check
fi
echo "gpu.sh: $SECONDS s in all"
