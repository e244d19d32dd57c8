#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# worth.sh [--rounds N]: what a run says that balancing was worth, against runs without balancing, on two ranks of this
# machine; writes results/worth/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/worth.sh; exit 0; }
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/worth.py "$@"
