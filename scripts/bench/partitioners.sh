#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# partitioners.sh [--fresh] [--parts N ...] [--series NAME ...] [--without KIND ...]: our partitioners beside METIS and Scotch on the same loads.
# Writes results/partitioners/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && exec scripts/bench/partitioners.py --help
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/partitioners.py "$@"
