#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# balancing.sh [--runs N]: what balancing by r1 adds to the time of a million particles on two ranks, in balance or not.
# Writes results/balancing/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/balancing.sh; exit 0; }
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/balancing.py "$@"
