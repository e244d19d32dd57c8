#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make_restart.sh [DECK [FILE]]: runs a deck to its last step and keeps the checkpoint of it.
# Default: inputs/strip.yaml to restarts/strip_t1.h5.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/make_restart.sh; exit 0; }
deck=${1:-inputs/strip.yaml}
file=${2:-restarts/strip_t1.h5}
scripts/build.sh >/dev/null
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
build/steelyard run "$deck" --out "$out" --quiet
steps=$(python3 -c "import json, sys; print(json.load(open(sys.argv[1]))['steps'])" "$out/summary.json")
cp "$out/checkpoint_$steps.h5" "$file"
build/steelyard info "$file" | head -n 2
echo "wrote $file"
