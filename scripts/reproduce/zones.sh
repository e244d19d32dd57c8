#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# zones.sh [OPTIONS]: how the border between the zones of a CPU and its accelerator finds its place, after Andrianov et al.
# (2020). Writes results/zones/: summary.json, CSV files, pictures. `--help` lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for a in "$@"; do [[ $a == -h || $a == --help ]] && exec scripts/reproduce/zones.py --help; done
scripts/build.sh >/dev/null
exec scripts/reproduce/zones.py "$@"
