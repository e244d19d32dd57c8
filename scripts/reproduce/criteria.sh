#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# criteria.sh [--fresh] [--only NAME ...]: criteria, which say when to balance, over the best schedule in hindsight.
# Writes results/criteria/summary.json and pictures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && exec scripts/reproduce/criteria.py --help
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/reproduce/criteria.py "$@"
