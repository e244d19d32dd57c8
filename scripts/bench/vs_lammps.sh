#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vs_lammps.sh [--runs N] [--precision mixed|double] [--only CASE ...]: our speed over that of LAMMPS's lj/cut/opt on the
# same problems, in interleaved pairs. CASE: slab_1core, liquid_1core, slab1m_1core, slab_2ranks, slab_2threads,
# balanced, or in three dimensions melt_1core, melt256k_1core, melt1m_1core, melt_2ranks, melt_2threads, slab3d_1core,
# slab3d_2ranks, balanced3d; without --only all of them. Writes results/vs_lammps/summary.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,6s/^# //p' scripts/bench/vs_lammps.sh; exit 0; }
scripts/setup.sh --bench
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/vs_lammps.py "$@"
