#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compare_lammps.sh: the same states in LAMMPS and here, in two and three dimensions. Forces and pressure at each state,
# and total energy there and 200 steps later. Writes results/compare_lammps/summary.json; exits 1 if a bound is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/compare_lammps.sh; exit 0; }
scripts/setup.sh --bench
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/compare_lammps.py
