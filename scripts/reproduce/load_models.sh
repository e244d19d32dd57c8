#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# load_models.sh [OPTIONS]: the experiment of Liu et al. (2015) on load models, with virtual processes and counted work.
# Writes results/load_models/: summary.json, lbe.csv, pictures. `--help` lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
TARGET="steelyard bench_equal_work" scripts/build.sh >/dev/null
exec scripts/reproduce/load_models.py "$@"
