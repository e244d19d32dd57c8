#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gallery.sh [--quick] [--docs] [--fresh] [--only NAME ...]: the decks of inputs/gallery, balanced by models and partitioners.
# Writes results/gallery/ (with --quick results/gallery/quick/): table.md, summary.json and a picture of each deck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && exec scripts/reproduce/gallery.py --help
TARGET=steelyard scripts/build.sh >/dev/null
exec scripts/reproduce/gallery.py "$@"
