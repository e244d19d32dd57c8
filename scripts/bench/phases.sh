#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# phases.sh [--runs N]: the time of a step on one core, phase by phase, beside the least that the work could take; and
# softened against plain Lennard-Jones. Writes results/phases/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/phases.sh; exit 0; }
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/phases.py "$@"
