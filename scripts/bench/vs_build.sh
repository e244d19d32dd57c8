#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vs_build.sh OTHER_BUILD [--runs N] [--only CASE ...]: the speed of this checkout over that of another build (its
# binary, or its build folder), in alternating pairs. Writes results/vs_build/summary.json; exits 1 if their state
# hashes differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,5s/^# //p' scripts/bench/vs_build.sh; exit 0; }
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/vs_build.py "$@"
