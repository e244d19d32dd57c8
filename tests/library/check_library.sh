#!/bin/sh
# SPDX-License-Identifier: MIT
# check_library.sh CMAKE SOURCE BUILD CONFIG MPIEXEC MPICXX [CMAKE OPTIONS]: builds and runs examples/balance as
# another project would. The library comes first from an installation of BUILD, then from SOURCE by add_subdirectory.
# If MPIEXEC is not empty, examples/mpi runs on several ranks, too. The examples must balance well, must not get flags
# of ours, and must not build more of Steelyard than the library.
set -eu
cmake=$1 source=$2 build=$3 config=$4 mpiexec=$5 mpicxx=$6
shift 6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "check_library.sh: $*" >&2
    exit 1
}

# configure NAME OPTIONS: configures the example in $work/NAME and looks at the command that compiles it.
configure() {
    name=$1
    shift
    "$cmake" -S "$source/examples/balance" -B "$work/$name" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
        -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$name: CMake fails"; }
    grep '"command".*examples/balance/main.cpp' "$work/$name/compile_commands.json" >"$work/command" ||
        fail "$name: no command that compiles main.cpp"
    for flag in -Wall -ffp-contract -DSTEELYARD; do
        grep -q -e "$flag" "$work/command" && fail "$name: $flag is forced on the example: $(cat "$work/command")"
    done
    grep -q -E 'std=(c|gnu)\+\+2' "$work/command" || fail "$name: C++20 is not asked for: $(cat "$work/command")"
}

# build NAME: builds and runs it.
build() {
    "$cmake" --build "$work/$1" >"$work/log" 2>&1 || { cat "$work/log"; fail "$1: the example does not build"; }
    "$work/$1/balance_example" | tee "$work/printed"
    awk '$1 == "chain" && $3 >= 0.95 { ++good } $1 == "r1" && $5 == 3 && $3 >= 0.9 { ++good } END { exit good != 2 }' "$work/printed" || fail "$1: LBE of chain below 0.95, or of r1 below 0.9"
}

"$cmake" --install "$build" --config "$config" --component balance --prefix "$work/prefix" >/dev/null
configure installed -DCMAKE_PREFIX_PATH="$work/prefix" "$@"
grep -q "$work/prefix/include" "$work/command" || fail "installed: the headers are not those of the prefix"
build installed
configure subdirectory -DSTEELYARD_SOURCE="$source" "$@"
more=$(grep -o -e ' -o [^ ]*' "$work/subdirectory/compile_commands.json" | grep -v -e steelyard_balance.dir -e balance_example.dir) || true
[ -z "$more" ] || fail "subdirectory: more is built than the library: $more"
# With MPI the library is built as a subdirectory below, with the team of ranks.
[ -n "$mpiexec" ] || build subdirectory

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
