#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# messages.sh [OPTIONS]: the experiment of Peng et al. on the order and the merging of messages: traces of molecular dynamics, replayed
# under every schedule on a simulated cluster, and on MPI here. Writes results/messages/: summary.json, traces, pictures. `--help`
# lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for a in "$@"; do [[ $a == -h || $a == --help ]] && exec scripts/reproduce/messages.py --help; done
command -v smpirun >/dev/null || { echo "messages.sh: SimGrid is not here; run scripts/setup.sh --simulate" >&2; exit 2; }
for target in steelyard replay_messages; do TARGET=$target scripts/build.sh smpi >/dev/null; TARGET=$target scripts/build.sh >/dev/null; done
exec scripts/reproduce/messages.py "$@"
