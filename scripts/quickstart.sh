#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, and runs a collision (inputs/quickstart.yaml) on two ranks twice, without and with balancing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3s/^# //p' scripts/quickstart.sh; exit 0; }
TARGET=steelyard scripts/build.sh
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
run() {  # NAME SETTING...: results of an earlier quickstart are put aside
    local name=$1
    shift
    "$mpiexec" -n 2 build/steelyard run inputs/quickstart.yaml --out "out/$name" --force "$@"
}
echo "Without balancing: each rank keeps its half of the box."
run unbalanced --set balance.partition.kind=none
echo "With balancing: r1 models the load of each cell, and the border between the ranks follows."
run balanced
scripts/report.py out/unbalanced out/balanced --output out/report.html >/dev/null
scripts/report.py out/unbalanced out/balanced --pictures png --only map --output out/map.png >/dev/null
echo
python3 - <<'PY'
import json
s, t = (json.load(open(f"out/{name}/summary.json")) for name in ("unbalanced", "balanced"))
same = "end in the same state" if s["state_hash"] == t["state_hash"] else "END IN DIFFERENT STATES"
print(f"Two slabs of {s['particles']} particles in all collided for {s['steps']} steps on {s['ranks']} ranks, without and with balancing; both runs {same}.")
lbe = [100 * next(iter(run["overall_lbe"].values())) for run in (s, t)]
seconds = [run["wall_seconds"] for run in (s, t)]
print(f"The load balance efficiency (mean compute time of the ranks over the largest) went from {lbe[0]:.1f} to {lbe[1]:.1f} %, and the time from {seconds[0]:.1f} to {seconds[1]:.1f} s: {100 * (seconds[0] / seconds[1] - 1):+.0f} % in speed. Both times were measured.")
net = t.get("worth", {}).get("net")
if net:
    print(f"From the balanced run alone, its last lines estimate {net['without_seconds']:.1f} s without balancing: {100 * (net['without_seconds'] / seconds[0] - 1):+.0f} % off the measured {seconds[0]:.1f} s.")
PY
echo "Both runs side by side, for a browser: out/report.html."
echo "Picture: out/map.png; results: out/unbalanced, out/balanced."
