#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# checkpoint.sh [--runs N] [--ranks R]: speed of writing a checkpoint of 4 M particles over that of dd with fsync, in interleaved
# pairs on the same disk. Writes results/checkpoint/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/checkpoint.sh; exit 0; }
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/checkpoint.py "$@"
