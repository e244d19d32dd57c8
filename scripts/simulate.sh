#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# simulate.sh RANKS DECK [--out DIR] [--set key.path=value ...] [other options of steelyard run]: runs a deck on RANKS
# ranks of a simulated cluster. One process of this machine simulates them (docs/simulation.md). Times are simulated.
# PLATFORM chooses the cluster: tianhe1a (default; at most 2400 ranks, with PLATFORM_SET=nodes=N six for each node),
# tianhe2_16, tianhe2_32 or tianhe2_mic. PLATFORM_SET="key=value ..." replaces numbers of the cluster.
# PROGRAM=replay_messages replays a trace of messages instead: simulate.sh RANKS TRACE [its options].
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $# -lt 2 || $1 == -h || $1 == --help ]]; then sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit $(($# < 2 ? 2 : 0)); fi
ranks=$1 deck=$2
shift 2
[[ $ranks =~ ^[1-9][0-9]*$ ]] || { echo "simulate.sh: $ranks is no number of ranks; see --help" >&2; exit 2; }
name=${PROGRAM:-steelyard}
program=$root/build-smpi/$name
[[ -x $program ]] || { echo "simulate.sh: no $program; run scripts/setup.sh --simulate and TARGET=$name scripts/build.sh smpi" >&2; exit 2; }
command=()
[[ $name == steelyard ]] && command=(run)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$root/scripts/simulate/platform.py" "${PLATFORM:-tianhe1a}" "$ranks" "$folder" ${PLATFORM_SET:-}
export STEELYARD_PLATFORM OMP_NUM_THREADS=1
STEELYARD_PLATFORM=$(<"$folder/assumptions.json")
mapfile -t costs <"$folder/options"
# The program has no variables that ranks could share by mistake, so they need no copies of it (no privatisation).
# The program itself says how long its computations take, so reading a clock takes no simulated time. Latencies and
# bandwidths are the platform's own. Stacks are small because there may be thousands of ranks.
# Each collective call uses an algorithm of logarithmically many messages, as MPI libraries do. On thousands of ranks
# some of SimGrid's own choices hang or take hours.
# Because smpirun splits arguments at blanks and keeps signals, its simulator is called directly.
simulator=$(sed -n 's/.*"\(\/[^"]*\/smpimain\)".*/\1/p' "$(command -v smpirun)")
"$simulator" "$program" --cfg=smpi/np:"$ranks" --cfg=smpi/hostfile:"$folder/hosts" --cfg=smpi/privatization:no \
    --cfg=smpi/simulate-computation:no --cfg=contexts/stack-size:2048 \
    --cfg=network/model:SMPI --cfg=smpi/bw-factor:0:0.95 --cfg=smpi/lat-factor:0:1 --cfg=smpi/wtime:0 \
    --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:0 \
    --cfg=smpi/async-small-thresh:0 --cfg=smpi/send-is-detached-thresh:0 \
    --cfg=smpi/coll-selector:mpich --cfg=smpi/bcast:binomial_tree --cfg=smpi/barrier:ompi_bruck \
    --cfg=smpi/allreduce:mpich --cfg=smpi/reduce:binomial --cfg=smpi/gather:ompi_binomial \
    "${costs[@]}" --log=root.thresh:warning --log=smpi_kernel.thresh:error "$folder/platform.xml" "${command[@]}" "$deck" "$@"
