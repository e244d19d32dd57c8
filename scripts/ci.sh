#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ci.sh [PART ...]: checks of a change. Without a PART all of them run, in this order. So does .ci/run.
#   start:  The first command of the README, run on a fresh Debian by bare.sh.
#   tests:  Format, build with g++ and the fast tests, by test.sh. nvcc is used if it is installed. Tests with the
#           labels slow, gpu, smpi and arm do not run.
#   clang:  clang reads each source of the program, its tools and examples alone. Warnings are errors (read_sources.py).
#   smpi:   Builds the program for simulated ranks, without optimisation, and runs a few steps on 16 of them.
#   asan:   The unit tests of balance/, comm/ and md/, and boxes of any length, under AddressSanitizer and
#           UndefinedBehaviorSanitizer.
#   tsan:   Teams of threads under ThreadSanitizer.
#   fuzz:   The readers of files with the inputs in tests/fuzz/corpus, under AddressSanitizer, by fuzz.sh.
# Prints the time of each part and the results of ctest. If a part fails, the others still run, and the exit code is 1.
# Installs missing packages, as setup.sh does.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/ci.sh; exit 0; }

part_start() { scripts/setup.sh --bare && scripts/bare.sh; }
part_tests() { scripts/test.sh; }
part_asan() { scripts/sanitize.sh --unit; }
part_tsan() { scripts/sanitize.sh --teams; }
part_fuzz() { scripts/fuzz.sh --corpus; }
part_clang() {
    scripts/setup.sh --sanitize &&
        cmake --preset clang -DSTEELYARD_UNITY=OFF -DSTEELYARD_TESTS=OFF -DSTEELYARD_CUDA=OFF >/dev/null &&
        cmake --build build-clang --target steelyard_commit >/dev/null &&
        scripts/read_sources.py build-clang
}
part_smpi() {
    local out
    out=$(mktemp -d)
    scripts/setup.sh --simulate &&
        TARGET="steelyard replay_messages" scripts/build.sh smpi -DSTEELYARD_WERROR=ON -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 &&
        scripts/simulate.sh 16 inputs/tiny.yaml --out "$out" --set run.steps=20 --set balance.every=5 --quiet
    local code=$?
    rm -rf "$out"
    return $code
}

parts=("$@")
[[ $# -gt 0 ]] || parts=(start tests clang smpi asan tsan fuzz)
for part in "${parts[@]}"; do
    [[ $part =~ ^(start|tests|clang|smpi|asan|tsan|fuzz)$ ]] || { echo "ci.sh: unknown part $part; see --help" >&2; exit 2; }
done

log=$(mktemp)
trap 'rm -f "$log"' EXIT
report=() failed=0
for part in "${parts[@]}"; do
    echo "=== ci.sh: $part"
    start=$SECONDS
    "part_$part" 2>&1 | tee "$log"
    code=${PIPESTATUS[0]}
    took=$((SECONDS - start)) verdict=passed
    [[ $code -eq 0 ]] || { verdict="FAILED with exit code $code"; failed=1; }
    report+=("$(printf '%-6s %3d min %02d s  %s' "$part" $((took / 60)) $((took % 60)) "$verdict")")
    [[ $part == tests ]] && closing=$(sed -n '/% tests passed/,$p' "$log")
done
echo
printf '%s\n' "${report[@]}"
[[ -z ${closing:-} ]] || printf '%s\n' "$closing"
exit $failed
