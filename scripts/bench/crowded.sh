#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# crowded.sh [--runs N] [--ranks R ...] [--other BINARY]: what checkpoints, trajectory frames and cell fields cost where ranks share
# cores. Writes results/crowded/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/crowded.sh; exit 0; }
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/crowded.py "$@"
