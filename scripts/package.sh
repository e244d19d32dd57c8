#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# package.sh [MODE]: makes the Debian package steelyard in build/ (docs/packaging.md). Each mode prints sizes and seconds.
#   --try:         Makes the package and runs --check in a new minimal Debian, by bare.sh.
#   --check FILE:  Installs the package FILE, runs it as an ordinary user, purges it, and looks for files that stay.
#   --container:   Builds the last commit by packaging/container/Containerfile. The base image is a new minimal Debian
#                  from mmdebstrap, so no registry of images is needed.
# Needs root, except for the package itself. --try and --container need the tools of scripts/setup.sh --bare --container.
set -euo pipefail
umask 022  # the package is for all users
cd "$(dirname "${BASH_SOURCE[0]}")/.."
TIMEFORMAT="package.sh: %0R s"
say() { echo "package.sh: $*"; }
quietly() {
    local log
    log=$(mktemp)
    "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
    rm "$log"
}

make_package() {
    scripts/setup.sh --package
    TARGET="steelyard replay_messages" scripts/build.sh -DCMAKE_SKIP_INSTALL_RPATH=ON  # Debian's libraries are found without
    rm -f build/steelyard_*.deb
    (cd build && quietly cpack -G DEB)
    package=$(ls build/steelyard_*.deb)
    say "$package has $(du -k "$package" | cut -f1) kB, installed $(dpkg-deb -f "$package" Installed-Size) kB"
}

check_package() {  # FILE
    local shared=/usr/share/steelyard out left
    export DEBIAN_FRONTEND=noninteractive
    quietly apt-get update
    quietly apt-get install -y --no-install-recommends "$1" python3
    out=$(runuser -u nobody -- mktemp -d)
    as_user() { (cd "$out" && runuser -u nobody -- "$@"); }
    as_user steelyard --version
    time as_user steelyard selftest
    as_user mpiexec.mpich -n 2 steelyard run $shared/inputs/tiny.yaml --out two --set run.steps=50 --quiet
    as_user $shared/report.py two
    as_user replay_messages --help >/dev/null
    [[ -s /usr/share/man/man1/steelyard.1 && -s /usr/share/doc/steelyard/copyright ]] || { say "no man page or licence"; return 1; }
    # shellcheck source=/dev/null disable=SC2034
    [[ $(. /usr/share/bash-completion/completions/steelyard && COMP_WORDS=(steelyard pred) COMP_CWORD=1 &&
        _steelyard steelyard && echo "${COMPREPLY[*]}") == predict ]] || { say "bash completes no subcommand"; return 1; }
    quietly apt-get purge -y steelyard
    left=$(find / -xdev \( -path /srv -o -path /tmp \) -prune -o -name '*steelyard*' -print)
    [[ -z $left ]] || { say "after the purge these stay: $left"; return 1; }
    say "installed, ran as an ordinary user, and was purged"
}

build_container() {
    local base
    [[ $(id -u) -eq 0 ]] || { say "only root can build the container here; use sudo" >&2; return 2; }
    command -v buildah >/dev/null || { say "there is no buildah; run scripts/setup.sh --container" >&2; return 2; }
    work=$(mktemp -d)
    buildah() { command buildah --root "$work/graph" --runroot "$work/run" --storage-driver vfs "$@"; }
    trap 'buildah rm --all >/dev/null; rm -rf "$work"' EXIT
    export BUILDAH_ISOLATION=chroot  # needs no namespaces
    mmdebstrap --quiet --variant=minbase bookworm "$work/debian.tar"
    base=$(buildah from scratch)
    buildah add --quiet "$base" "$work/debian.tar" / >/dev/null
    buildah config --env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$base"
    buildah commit --quiet "$base" "$(sed -n '/^FROM/{s/^FROM \([^ ]*\).*/\1/p;q}' packaging/container/Containerfile)" >/dev/null
    git clone --quiet --no-local . "$work/source"
    buildah build --pull=never -f packaging/container/Containerfile -t steelyard "$work/source"
    buildah images
}

case ${1:-} in
    -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/package.sh ;;
    '') time make_package ;;
    --try) make_package && scripts/bare.sh --copy "$package" scripts/package.sh --check "/tmp/$(basename "$package")" ;;
    --check) time check_package "$2" ;;
    --container) time build_container ;;
    *) echo "package.sh: unknown mode $1; see --help" >&2; exit 2 ;;
esac
