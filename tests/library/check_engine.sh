#!/bin/sh
# SPDX-License-Identifier: MIT
# check_engine.sh EXAMPLE PROGRAM SOURCE: examples/engine ends with the state hash of the program, on one rank without
# MPI.
#
# check_engine.sh build CMAKE SOURCE PROGRAM [CMAKE OPTIONS]: first builds the example without MPI, HDF5, yaml-cpp and
# fmt, which CMake cannot find.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
example=$1 program=$2 source=$3
if [ "$1" = build ]; then
    cmake=$2 source=$3 program=$4
    shift 4
    without=
    for package in MPI HDF5 yaml-cpp fmt CLI11 nlohmann_json Catch2; do without="$without -DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"; done
    # shellcheck disable=SC2086
    "$cmake" -S "$source" -B "$work/build" -DSTEELYARD_ENGINE_ONLY=ON -DSTEELYARD_TESTS=OFF $without "$@"
    "$cmake" --build "$work/build"
    example=$work/build/examples/engine/engine_example
    if grep -q -E 'libmpi|mpich|comm/mpi|hdf5|yaml|libfmt' "$work/build/CMakeFiles/rules.ninja" "$work/build/build.ninja"; then
        echo "check_engine.sh: the engine alone is built with MPI, HDF5, yaml-cpp or fmt" >&2
        exit 1
    fi
fi
ldd "$example" | grep -E 'libmpi|mpich|hdf5|yaml|fmt' && { echo "check_engine.sh: it is linked with what it should not need" >&2; exit 1; }
"$example" | tee "$work/printed"
"$program" run "$source/inputs/tiny.yaml" --out "$work/out" --quiet
hash=$(sed -n 's/^state hash //p' "$work/printed")
grep -q "\"state_hash\": \"$hash\"" "$work/out/summary.json" ||
    { echo "check_engine.sh: the example ends with $hash, the program with another: $(grep state_hash "$work/out/summary.json")" >&2; exit 1; }
