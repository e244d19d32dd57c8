#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# growth.sh [--dimensions 3] [--steps N] [--one-rank]: time per particle and step, and memory, as the problem and the
# number of ranks grow. Writes results/growth/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/growth.sh; exit 0; }
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/growth.py "$@"
