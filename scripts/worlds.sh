#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# worlds.sh [WORLD ...]: builds the program with other compilers and libraries, in build-worlds/WORLD. Compares short
# runs of the decks on three ranks, and a selftest, with the expected results (scripts/expected.py). Prints a line for
# each world. Without a WORLD: those whose compilers and libraries are installed.
#   g++-N, clang-N:    The compiler of this version. clang needs its libomp-N-dev.
#   openmpi:           Debian's Open MPI, with the parallel HDF5 of it.
#   openmpi-serial:    Debian's Open MPI, with serial HDF5.
#   parallel-hdf5:     MPICH, with the parallel HDF5 of it.
#   fast-math:         CXXFLAGS="-O3 -march=native -ffast-math", which must not change a bit.
# CMAKE=PROGRAM takes another CMake. DECKS="--most 3e5" are options of expected.py.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/worlds.sh; exit 0; }
worlds=("$@")
if [[ $# -eq 0 ]]; then
    for compiler in g++-{11..15} clang-{14..21}; do
        command -v "${compiler/clang/clang++}" >/dev/null && worlds+=("$compiler")
    done
    command -v mpicxx.openmpi >/dev/null && worlds+=(openmpi openmpi-serial)
    command -v h5pcc.mpich >/dev/null && worlds+=(parallel-hdf5)
    worlds+=(fast-math)
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# try WORLD: configures, builds and compares; the log goes to standard output.
try() {
    local folder=build-worlds/$1 mpi=mpich options=()
    case $1 in
        g++-*) options=(-DCMAKE_CXX_COMPILER="$1" -DCMAKE_C_COMPILER="gcc-${1#g++-}") ;;
        clang-*) options=(-DCMAKE_CXX_COMPILER="clang++-${1#clang-}" -DCMAKE_C_COMPILER="$1") ;;
        openmpi) mpi=openmpi options=(-DHDF5_C_COMPILER_EXECUTABLE="$(command -v h5pcc.openmpi)") ;;
        openmpi-serial) mpi=openmpi ;;
        fast-math) options=(-DCMAKE_CXX_FLAGS="-O3 -march=native -ffast-math") ;;
        parallel-hdf5) options=(-DHDF5_C_COMPILER_EXECUTABLE="$(command -v h5pcc.mpich)") ;;
    esac
    rm -rf "$folder"
    "${CMAKE:-cmake}" -S . -B "$folder" -DSTEELYARD_TESTS=OFF -DSTEELYARD_CUDA=OFF \
        -DMPI_CXX_COMPILER="$(command -v mpicxx.$mpi)" "${options[@]}" || return
    cmake --build "$folder" --target steelyard --parallel "$(nproc)" || return
    "$folder/steelyard" --version
    "mpiexec.$mpi" -n 2 "$folder/steelyard" selftest || return
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=1 scripts/expected.py --program "$folder/steelyard" --start "mpiexec.$mpi -n 3" ${DECKS:---most 3e5}
}

for world in "${worlds[@]}"; do
    [[ $world =~ ^(g\+\+-[0-9]+|clang-[0-9]+|openmpi|openmpi-serial|parallel-hdf5|fast-math)$ ]] ||
        { echo "worlds.sh: there is no world $world; see --help" >&2; exit 2; }
done
code=0
mkdir -p build-worlds
for world in "${worlds[@]}"; do
    start=$SECONDS log=build-worlds/$world.log
    if try "$world" >"$log" 2>&1; then verdict=$(tail -n 1 "$log"); else verdict="FAILED: $log" code=1; fi
    printf '%-15s %4d s  %s\n' "$world" $((SECONDS - start)) "$verdict"
done
exit $code
