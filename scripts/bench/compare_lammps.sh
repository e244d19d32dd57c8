#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compare_lammps.sh: the same state in LAMMPS and here. Forces at that state, and total energy before and after 200 steps.
# Writes results/compare_lammps/summary.json; exits 1 if a bound is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/bench/compare_lammps.sh; exit 0; }
scripts/setup.sh --bench
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/bench/compare_lammps.py
