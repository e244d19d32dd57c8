#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# arm.sh --setup [CMAKE OPTIONS]: cross-compiles the program for 64-bit Arm processors (aarch64) into build-arm/, on a
# Debian machine with another processor. Installs the compiler and the emulator QEMU if they are missing, and unpacks
# Debian's arm64 libraries into build-arm/sysroot. Nothing else of the machine changes.
#
# arm.sh ARGUMENTS: runs build-arm/steelyard with these arguments under QEMU.
# For example: arm.sh run DECK --out DIR --set run.steps=20. Several ranks: mpiexec.mpich -n 2 scripts/arm.sh run ...
# QEMU is slow, and times in the results mean nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$root/build-arm/steelyard
sysroot=$root/build-arm/sysroot
if [[ $# -eq 0 || $1 == -h || $1 == --help ]]; then sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit $(($# < 1 ? 2 : 0)); fi

stop() { echo "arm.sh: $1" >&2; exit "${2:-2}"; }

# Packages of two architectures on one machine, as Debian allows, would remove this machine's compilers: libmpich-dev
# depends on those of its own architecture. So apt resolves the dependencies for an arm64 machine on which nothing is
# installed, in indices of its own, from the package sources of this machine. Only the libraries among these packages
# are unpacked. The C and C++ libraries to compile with are the cross compiler's.
make_sysroot() {
    local folder=$sysroot.apt log=$sysroot.log package libraries needed
    rm -rf "$folder" "$sysroot.new"
    mkdir -p "$folder"/{lists,archives}/partial "$sysroot.new"
    : >"$folder/status"
    arm64() {
        "$1" -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root \
            -o Dir::State::Lists="$folder/lists" -o Dir::State::Status="$folder/status" \
            -o Dir::Cache="$folder" -o Acquire::Retries=3 "${@:2}"
    }
    mapfile -t libraries < <("$root/scripts/setup.sh" --libraries)
    arm64 apt-get update >"$log" 2>&1 || true  # sources without arm64 do no harm if another one has the libraries
    arm64 apt-get install --simulate --no-install-recommends "${libraries[@]}" >"$folder/needed" 2>>"$log" ||
        stop "the package sources of this machine lack arm64, or cannot be reached (${libraries[*]}); the log is $log" 1
    mapfile -t needed < <(sed -n 's/^Inst \([^ ]*\) .*/\1/p' "$folder/needed")
    # Programs load libraries of the section libs, which holds no compilers and no headers.
    mapfile -t needed < <(arm64 apt-cache show "${needed[@]}" |
        awk '$1 == "Package:" { name = $2 } $1 == "Section:" && $2 == "libs" { print name }' | sort -u)
    (cd "$folder/archives" && arm64 apt-get download "${libraries[@]}" "${needed[@]}" >>"$log" 2>&1) ||
        stop "the arm64 libraries could not be downloaded; the log is $log" 1
    for package in "$folder"/archives/*.deb; do
        dpkg-deb --extract "$package" "$sysroot.new" >>"$log" 2>&1 || stop "cannot unpack $package; the log is $log" 1
    done
    mv "$sysroot.new" "$sysroot"
    rm -rf "$folder" "$log"
}

if [[ $1 == --setup ]]; then
    shift
    cd "$root"
    [[ $(uname -m) != aarch64 ]] || stop "this machine has such a processor itself; scripts/build.sh builds for it"
    scripts/setup.sh --arm
    for tool in aarch64-linux-gnu-g++ qemu-aarch64-static apt-get dpkg-deb; do
        command -v $tool >/dev/null || stop "there is no $tool here; on Debian g++-aarch64-linux-gnu and \
qemu-user-static are the packages to install"
    done
    [[ -d $sysroot ]] || make_sysroot
    TARGET=steelyard exec scripts/build.sh arm "$@"
fi

[[ -x $program ]] || stop "no $program; run scripts/arm.sh --setup"
command -v qemu-aarch64-static >/dev/null || stop "there is no qemu-aarch64-static; run scripts/arm.sh --setup"
# LD_PRELOAD may name a library for this machine's processor.
exec env -u LD_PRELOAD qemu-aarch64-static -L "$sysroot" "$program" "$@"
