#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nested.sh [OPTIONS]: the tests of Liu, Yang & Yang (2018) on nested partitions: LBE_m on 1 to 32 nodes, and the modelled
# communication time of Algorithm 1 and 2. Writes results/nested/: summary.json, CSV files, pictures. `--help` lists the options.
# nested.sh --simulated [OPTIONS]: the communication time on a simulated Tianhe-2 instead, in simulated.json, .csv and .png.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
TARGET=steelyard scripts/build.sh >/dev/null
if [[ ${1:-} == --simulated ]]; then
    command -v smpirun >/dev/null || { echo "nested.sh: SimGrid is not here; run scripts/setup.sh --simulate" >&2; exit 2; }
    TARGET=replay_messages scripts/build.sh smpi >/dev/null
    exec scripts/reproduce/nested_simulated.py "${@:2}"
fi
exec scripts/reproduce/nested.py "$@"
