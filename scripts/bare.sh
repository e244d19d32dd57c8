#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bare.sh [--copy FILE] [COMMAND ...]: runs a command of the README as on a fresh machine, by default scripts/quickstart.sh.
# The command runs in a new minimal Debian root, without the caller's environment and with another umask. The path of
# the clone has a blank and an umlaut. The clone has the last commit. FILE is copied to /tmp of the root. Prints the time that the command took.
# Needs root and mmdebstrap (scripts/setup.sh --bare).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/bare.sh; exit 0; }
copy=()
[[ ${1:-} == --copy ]] && { copy=("$2"); shift 2; }
[[ $# -gt 0 ]] || set -- scripts/quickstart.sh
[[ $(id -u) -eq 0 ]] || { echo "bare.sh: only root can make a root directory; use sudo" >&2; exit 2; }
command -v mmdebstrap >/dev/null || { echo "bare.sh: there is no mmdebstrap; run scripts/setup.sh --bare" >&2; exit 2; }

work=$(mktemp -d)
root=$work/root project="/srv/Kräne und Waagen/steelyard"
cleanup() {
    umount "$root/proc" "$root/sys" "$root/dev/shm" "$root/dev/pts" 2>/dev/null || true
    # Directories that are still mounted below belong to the machine.
    if grep -qF " $root/" /proc/mounts; then echo "bare.sh: $root is still in use and stays" >&2; else rm -rf "$work"; fi
}
trap cleanup EXIT
# shellcheck source=/dev/null
mmdebstrap --quiet --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
mount --bind /proc "$root/proc"
mount --bind /sys "$root/sys"
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"  # MPI's shared memory
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"  # for tests that need a terminal
ln -sf pts/ptmx "$root/dev/ptmx"
echo "127.0.0.1 localhost $(uname -n)" >"$root/etc/hosts"  # as an installer writes it; or each start of MPI asks for the name
git clone --quiet --no-local . "$root$project"
[[ ${#copy[@]} -eq 0 ]] || cp "${copy[@]}" "$root/tmp"
echo "bare.sh: $(du -smx "$root" | cut -f1) MB of Debian, $(chroot "$root" dpkg-query -W | wc -l) packages; $* begins"
TIMEFORMAT="bare.sh: %0R s, of which the processors were busy with it for %0U + %0S s"
time env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C chroot "$root" \
    /bin/bash -c 'umask 027 && cd "$1" && shift && exec "$@"' bash "$project" "$@"
