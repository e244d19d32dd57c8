#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# predict.sh [--simulated | --balancing | --overlap] [OPTIONS]: predicted beside measured times of a step, on this
# machine or on a simulated cluster; writes results/predict/summary.json. `--help` lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for a in "$@"; do [[ $a == -h || $a == --help ]] && exec scripts/bench/predict.py --help; done
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/predict.py "$@"
