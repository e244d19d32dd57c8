#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# setup.sh [OPTION ...]: installs the Debian packages that are missing for a build and its tests. Options add packages:
#   --bench:     LAMMPS and the tools for its source, and Zoltan, for the comparisons with them.
#   --format:    Formatters, for format.sh.
#   --slow:      Programs that read our files in the slow tests.
#   --slurm:     Slurm, for the jobs and their test.
#   --sanitize:  Clang, for sanitize.sh and fuzz.sh.
#   --simulate:  SimGrid, for simulate.sh.
#   --arm:       Compiler and emulator, for arm.sh.
#   --browser:   Chromium, for the tests of the pages of report.py.
#   --bare:      Tools that make a new Debian, for bare.sh.
#   --package:   Tools that make a Debian package, for package.sh.
#   --container: Tools that build a container, for package.sh --container.
#
# --libraries only prints the packages of the libraries that the program is built with. --names only prints the packages
# of the options before it. If all packages are installed, the script returns at once. Without apt-get, without root, or
# with STEELYARD_SETUP=skip nothing is installed; docs/install.md tells how to do it by hand.
set -euo pipefail

libraries=(libmpich-dev libhdf5-dev libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libxxhash-dev libhwloc-dev)
packages=(cmake ninja-build g++ pkg-config mpich "${libraries[@]}" libmetis-dev metis libscotch-dev catch2 python3 python3-numpy python3-matplotlib
    python3-h5py python3-pytest python3-dev pybind11-dev)
for option in "$@"; do
    case $option in
        --bench) packages+=(lammps dpkg-dev libtrilinos-zoltan-dev libopenmpi-dev) ;;
        --format) packages+=(clang-format-14 black flake8) ;;
        --slow) packages+=(python3-mdanalysis paraview python3-paraview) ;;
        --slurm) packages+=(munge slurmctld slurmd slurm-client) ;;
        --sanitize) packages+=(clang libclang-rt-dev libomp-dev llvm) ;;  # llvm: names and lines in reports
        --simulate) packages+=(libsimgrid-dev) ;;
        --browser) packages+=(chromium chromium-driver python3-selenium) ;;
        --bare) packages+=(mmdebstrap git) ;;
        --package) packages+=(dpkg-dev file git) ;;
        --container) packages+=(mmdebstrap git buildah crun) ;;
        --arm) packages+=(g++-aarch64-linux-gnu qemu-user-static) ;;
        --libraries) printf '%s\n' "${libraries[@]}"; exit 0 ;;
        --names) printf '%s\n' "${packages[@]}"; exit 0 ;;
        -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) echo "setup.sh: unknown option $option; see --help" >&2; exit 2 ;;
    esac
done

skip() { echo "setup.sh: installs nothing, because $1; CMake will say what a build lacks (docs/install.md)" >&2; exit 0; }
[[ ${STEELYARD_SETUP:-} == skip ]] && skip "STEELYARD_SETUP=skip"
command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || skip "there is no apt-get here"

missing=()
for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

sudo=()
if [[ $(id -u) -ne 0 ]]; then
    sudo=(sudo -n)
    "${sudo[@]}" true 2>/dev/null || skip "you are not root and sudo wants a password or is not there (${missing[*]} would be wanted)"
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
echo "installing: ${missing[*]}"
for attempt in 1 2 3; do
    if "${sudo[@]}" apt-get update >"$log" 2>&1 &&
        "${sudo[@]}" apt-get install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1; then
        rm -f "$log"
        exit 0
    fi
    sleep $((attempt * 5))
done
tail -n 20 "$log" >&2
echo "setup.sh: the packages could not be installed; the log is $log" >&2
exit 1
