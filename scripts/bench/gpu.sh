#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gpu.sh: measures the engine with all cells on a CUDA device, or on threads in its place if there is none. Checks that
# its bits are those of the engine without a device. Measures rates of more and more particles. Writes results/gpu/.
# Needs a C++ compiler, CMake, xxHash and, for a device, nvcc. Needs no MPI, HDF5 or other library, and no network.
# If xxHash is not installed, its header has to lie in build-xxhash/xxhash.h. Takes about 3 minutes on an H100, without
# the build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/bench/gpu.sh; exit 0; }
[[ $# -eq 0 ]] || { echo "gpu.sh: unknown option $1; see --help" >&2; exit 2; }
folder=build-gpu options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTEELYARD_ENGINE_ONLY=ON -DSTEELYARD_TESTS=OFF)
if ! echo '#include <xxhash.h>' | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1; then
    [[ -f build-xxhash/xxhash.h ]] ||
        { echo "gpu.sh: no xxHash: install it, or copy its xxhash.h into the folder build-xxhash" >&2; exit 2; }
    options+=(-DSTEELYARD_FETCH=ON "-DFETCHCONTENT_SOURCE_DIR_XXHASH=$PWD/build-xxhash")
fi
cmake -S . -B $folder "${options[@]}" >/dev/null
mkdir -p results/gpu
cmake --build $folder --target zone_rates -j "$(nproc)" >results/gpu/build.log 2>&1 ||
    { tail -n 30 results/gpu/build.log >&2; exit 1; }
$folder/examples/gpu/zone_rates results/gpu/summary.json
# Memory errors of the kernels; slow, so on the small systems only.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [[ -n $sanitizer ]] && ! grep -q '"stand_in": true' results/gpu/summary.json; then
    "$sanitizer" --error-exitcode 9 $folder/examples/gpu/zone_rates /dev/null check
fi
echo "results/gpu/summary.json is written"
