#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fuzz.sh [SECONDS | --corpus] [NAME...]: gives changed inputs to each reader of files for SECONDS (60), and prints a
# line for each reader. NAMEs choose readers; the default is all. After a finding the exit code is 1, and the input
# stays in out/fuzz/. --corpus runs the inputs of tests/fuzz/corpus/ unchanged, in seconds. Builds the preset asan
# first, with clang's libFuzzer, AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer. More:
# docs/reliability.md
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/fuzz.sh; exit 0; }
seconds=60
case ${1:-} in
    --corpus) seconds=0; shift ;;
    *[!0-9]* | '') ;;
    *) seconds=$1; shift ;;
esac
known=$(sed -n 's/^add_fuzzer(\([a-z_0-9]*\) .*/\1/p' tests/fuzz/CMakeLists.txt)
names=("$@")
[[ $# -gt 0 ]] || mapfile -t names <<<"$known"
for name in "${names[@]}"; do
    grep -qx -- "$name" <<<"$known" ||
        { echo "fuzz.sh: there is no fuzzer $name; use one of" $known >&2; exit 2; }
done

scripts/setup.sh --sanitize || exit 1
work=$(mktemp -d)
memory=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)  # readers of paths read their inputs from there
trap 'rm -rf "$work" "$memory"' EXIT
TARGET="${names[*]/#/fuzz_}" scripts/build.sh asan >"$work/build.log" 2>&1 ||
    { tail -n 30 "$work/build.log" >&2; echo "fuzz.sh: the fuzzers could not be built" >&2; exit 1; }

# As in sanitize.sh: yaml-cpp appends to vectors without telling AddressSanitizer, and hwloc's plugins leak.
export TMPDIR=$memory OMP_NUM_THREADS=1 HWLOC_PLUGINS_PATH=/nonexistent
export LSAN_OPTIONS=suppressions=$PWD/tests/fuzz/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:detect_container_overflow=0
ASAN_OPTIONS+=:allocator_may_return_null=1  # HDF5 asks for what a damaged file says, and bears that it does not get it
sed -n 's/^| `\([a-z_]*\)` .*/"\1: "/p' docs/deck.md | sort -u >"$work/deck.dict"
mkdir -p out/fuzz

findings=0
for name in "${names[@]}"; do
    log=$work/$name.log inputs=("tests/fuzz/corpus/$name") options=(-print_final_stats=1 -timeout=20 -rss_limit_mb=2048
        "-artifact_prefix=out/fuzz/$name-")
    case $name in
        h5md | loads | checkpoint) options+=(-malloc_limit_mb=1000000) ;;  # what is taken counts, not what is asked for
        *) options+=(-malloc_limit_mb=1024) ;;
    esac
    [[ $name == deck ]] && inputs+=(inputs) options+=("-dict=$work/deck.dict")
    [[ $name == json ]] && options+=(-dict=tests/fuzz/json.dict)
    mkdir "$work/$name"  # takes the inputs that are found
    if [[ $seconds -gt 0 ]]; then options+=("-max_total_time=$seconds"); else options+=(-runs=0); fi
    verdict=clean
    build-asan/fuzzers/"fuzz_$name" "${options[@]}" "$work/$name" "${inputs[@]}" >"$log" 2>&1 || {
        findings=$((findings + 1))
        verdict="FINDING: $(grep -m1 -oE '(FINDING|SUMMARY|ERROR): .*|runtime error: .*' "$log" || tail -n 1 "$log")"
        verdict+=" ($(grep -oE 'out/fuzz/[^ ]*' "$log" | tail -n 1))"
        cp "$log" "out/fuzz/$name.log"
    }
    printf '%-14s %9d runs %6d features  %s\n' "$name" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)" \
        "$(grep -oE ' ft: [0-9]+' "$log" | tail -n 1 | tr -dc 0-9)" "$verdict"
done
echo "${#names[@]} fuzzers, $findings findings"
[[ $findings -eq 0 ]]
