#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that are missing: what a build and the tests need, with --bench also LAMMPS, with --format
# also what format.sh runs, with --slow also what the slow tests read our files with, with --slurm also Slurm, with
# --sanitize also what sanitize.sh builds with, with --simulate also what simulate.sh runs on, with --arm also what
# arm.sh needs, with --browser also what looks at pages of report.py, with --bare also what bare.sh needs. Does nothing,
# quickly, when all are there. Without apt-get, without root, or with STEELYARD_SETUP=skip it leaves that to you:
# docs/install.md. --libraries only names the packages of libraries that the program is built with, --names those that
# the options before it ask for.
set -euo pipefail

libraries=(libmpich-dev libhdf5-dev libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libxxhash-dev libhwloc-dev)
packages=(cmake ninja-build g++ pkg-config mpich "${libraries[@]}" libmetis-dev metis libscotch-dev catch2 python3 python3-numpy python3-matplotlib
    python3-h5py python3-pytest python3-pyte)
for option in "$@"; do
    case $option in
        --bench) packages+=(lammps) ;;
        --format) packages+=(clang-format-14 black flake8) ;;
        --slow) packages+=(python3-mdanalysis paraview python3-paraview) ;;
        --slurm) packages+=(munge slurmctld slurmd slurm-client) ;;
        --sanitize) packages+=(clang libclang-rt-dev libomp-dev llvm) ;;  # llvm: names and lines in reports
        --simulate) packages+=(libsimgrid-dev) ;;
        --browser) packages+=(chromium chromium-driver python3-selenium) ;;
        --bare) packages+=(mmdebstrap git) ;;
        --arm) packages+=(g++-aarch64-linux-gnu qemu-user-static) ;;
        --libraries) printf '%s\n' "${libraries[@]}"; exit 0 ;;
        --names) printf '%s\n' "${packages[@]}"; exit 0 ;;
        -h | --help) sed -n '3,9s/^# //p' "$0"; exit 0 ;;
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
