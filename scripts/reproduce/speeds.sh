#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# speeds.sh [OPTIONS]: speeds of processes that the run finds by itself, by counted work and by the wall clock. Writes
# results/speeds/: summary.json, CSV, pictures. `--help` lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for a in "$@"; do [[ $a == -h || $a == --help ]] && exec scripts/reproduce/speeds.py --help; done
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/reproduce/speeds.py "$@"
