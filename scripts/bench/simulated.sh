#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# simulated.sh [--dimensions 3] [--particles N] [RANKS...]: the balanced collision with N particles a rank (default:
# 10,000) on ever more ranks of a simulated cluster; writes results/simulated/summary.json, in three dimensions
# results/simulated_3d/summary.json. Default: 24 96 384 2400. 2400 flat ranks take 15 minutes of one core and 5.9 GB;
# in space 12 minutes and 19.1 GB with PLATFORM_SET=simultaneous_seconds=1e-7 (docs/simulation.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,6s/^# //p' scripts/bench/simulated.sh; exit 0; }
exec scripts/bench/simulated.py "$@"
