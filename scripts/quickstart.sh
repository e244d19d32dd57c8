#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, runs the main job (two slabs collide, inputs/slab.yaml) on two ranks, draws its density.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3s/^# //p' scripts/quickstart.sh; exit 0; }
TARGET=steelyard scripts/build.sh
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
"$mpiexec" -n 2 build/steelyard run inputs/slab.yaml --out out/slab --force  # an earlier quickstart's results are put aside
/usr/bin/python3 scripts/plot_density.py out/slab
/usr/bin/python3 - <<'PY'
import json
s = json.load(open("out/slab/summary.json"))
print(f"\n{s['particles']} particles, {s['steps']} steps in {s['wall_seconds']:.1f} s on {s['ranks']} ranks: "
      f"{s['atom_steps_per_second'] / 1e6:.1f} M atom-steps/s")
print(f"energy drift {s['energy_drift']:.1e} of the largest kinetic energy; state hash {s['state_hash']}")
print("results in out/slab: thermo.csv, summary.json, density.png")
PY
