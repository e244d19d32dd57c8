#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# message_costs.sh: measures, on two ranks of this machine, what a rank's core takes for a nonblocking message and for copying
# its bytes into MPI's buffers and out of them: the costs that scripts/simulate/platform.py charges on a simulated cluster. Writes
# results/message_costs/. Some seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,5s/^# //p' scripts/bench/message_costs.sh; exit 0; }
TARGET=bench_message_costs scripts/build.sh >/dev/null
mkdir -p results/message_costs
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
"$mpiexec" -n 2 build/bench/bench_message_costs results/message_costs/summary.json
echo "wrote results/message_costs/summary.json"
