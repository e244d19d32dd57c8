#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# simulated.sh [RANKS...]: the balanced collision with 10,000 particles a rank on ever more ranks of a simulated cluster;
# writes results/simulated/summary.json. Default: 24 96 384 2400. 2400 ranks take 15 minutes of one core and 12.4 GB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/simulated.sh; exit 0; }
exec scripts/bench/simulated.py "$@"
