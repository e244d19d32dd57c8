#!/bin/sh
# SPDX-License-Identifier: MIT
# check_library.sh CMAKE SOURCE BUILD CONFIG MPIEXEC MPICXX [CMAKE OPTIONS]: builds examples/balance as another project would,
# with the library installed from BUILD and with SOURCE by add_subdirectory, and runs it; then examples/mpi, on several
# ranks, where MPIEXEC is not empty. The examples must balance well, must not get flags of ours, and must not build more
# of Steelyard than the library.
set -eu
cmake=$1 source=$2 build=$3 config=$4 mpiexec=$5 mpicxx=$6
shift 6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "check_library.sh: $*" >&2
    exit 1
}

# use NAME OPTIONS: configures, builds and runs the example in $work/NAME.
use() {
    name=$1
    shift
    "$cmake" -S "$source/examples/balance" -B "$work/$name" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
        -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON "$@" >"$work/log" 2>&1 &&
        "$cmake" --build "$work/$name" >>"$work/log" 2>&1 || { cat "$work/log"; fail "$name: the example does not build"; }
    "$work/$name/balance_example" | tee "$work/printed"
    awk '$1 == "chain" && $3 >= 0.95 { ++good } $1 == "r1" && $5 == 3 && $3 >= 0.9 { ++good } END { exit good != 2 }' "$work/printed" || fail "$name: LBE of chain below 0.95, or of r1 below 0.9"
    grep '"command".*examples/balance/main.cpp' "$work/$name/compile_commands.json" >"$work/command" ||
        fail "$name: no command that compiles main.cpp"
    for flag in -Wall -ffp-contract -DSTEELYARD; do
        grep -q -e "$flag" "$work/command" && fail "$name: $flag is forced on the example: $(cat "$work/command")"
    done
    grep -q -E 'std=(c|gnu)\+\+2' "$work/command" || fail "$name: C++20 is not asked for: $(cat "$work/command")"
}

"$cmake" --install "$build" --config "$config" --component balance --prefix "$work/prefix" >/dev/null
use installed -DCMAKE_PREFIX_PATH="$work/prefix" "$@"
grep -q "$work/prefix/include" "$work/command" || fail "installed: the headers are not those of the prefix"
use subdirectory -DSTEELYARD_SOURCE="$source" "$@"
more=$(find "$work/subdirectory" -name 'test_*' -o -name steelyard -type f -o -name 'lib*.a' ! -name libsteelyard_balance.a)
[ -z "$more" ] || fail "subdirectory: more was built than the library: $more"

[ -n "$mpiexec" ] || exit 0
# use_mpi NAME OPTIONS: the same with examples/mpi. Its result must not depend on the number of ranks.
use_mpi() {
    name=mpi_$1
    shift
    "$cmake" -S "$source/examples/mpi" -B "$work/$name" "$@" >"$work/log" 2>&1 &&
        "$cmake" --build "$work/$name" >>"$work/log" 2>&1 || { cat "$work/log"; fail "$name: the example does not build"; }
    for ranks in 1 2 3; do
        "$mpiexec" -n $ranks "$work/$name/mpi_example" >"$work/printed" || fail "$name: it fails on $ranks ranks"
        [ "$(cat "$work/printed")" = "LBE 0.966" ] || fail "$name: $(cat "$work/printed") on $ranks ranks"
    done
}
"$cmake" --install "$build" --config "$config" --component mpi --prefix "$work/prefix" >/dev/null
use_mpi installed -DCMAKE_PREFIX_PATH="$work/prefix" "$@"
use_mpi subdirectory -DSTEELYARD_SOURCE="$source" -DMPI_CXX_COMPILER="$mpicxx" "$@"
