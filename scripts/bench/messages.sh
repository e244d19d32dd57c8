#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# messages.sh [--rounds N] [--ranks N] [--decks NAME ...]: the program on 2 ranks of this machine under several schedules
# (comm: in the deck): the time in ghost exchange of a deck of many small patches (patches), and the time of a step on
# four decks (slab slab_soft strip_t1 liquid), each relative to the default. Runs in random order; one beside which
# others were at work is repeated. Writes results/messages_here/. About 10 minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,6s/^# //p' scripts/bench/messages.sh; exit 0; }
[[ -x build/steelyard ]] || scripts/build.sh
exec scripts/bench/messages.py "$@"
