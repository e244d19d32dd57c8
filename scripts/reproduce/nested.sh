#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nested.sh [OPTIONS]: the tests of Liu, Yang & Yang (2018) on nested partitions: LBE_m on 1 to 32 nodes, and the modelled
# communication time of Algorithm 1 and 2. Writes results/nested/: summary.json, CSV files, pictures. `--help` lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
TARGET=steelyard scripts/build.sh >/dev/null
exec /usr/bin/python3 scripts/reproduce/nested.py "$@"
