# SPDX-License-Identifier: MIT
"""The state at the end of a 20,000-particle collision does not depend on how it is computed."""
import itertools
import random

import pytest

from program import DECK, fresh, instruction_sets, options, state_of


@pytest.mark.parametrize("precision", ("mixed", "double"))
def test_one_hash(tmp, precision):
    """Ranks, threads, tiles, skins, output, processes, kernels and builds."""
    everything = list(itertools.product([1, 2, 3, 4, 7], [1, 2], [12, 32], ["0.2", "0.4", "auto"], [1, 50], [None, 40]))
    chosen = everything if options.full else random.Random(1).sample(everything, 12)
    ways = []
    for ranks, threads, tile, skin, every, processes in chosen:
        keys = dict(grid__tile=tile, grid__skin=skin, output__every=every)
        if processes:
            keys["balance__processes"] = processes
        ways.append(dict(ranks=ranks, threads=threads, **keys))
    for binary in [options.binary] + options.other:
        ways += [dict(ranks=0, isa=isa, binary=binary) for isa in instruction_sets(binary)]
    hashes = {}
    for way in ways:
        state = state_of(DECK, fresh(tmp / "out"), run__precision=precision, run__steps=150, **way)
        hashes.setdefault(state, []).append(way)
    assert len(hashes) == 1, hashes
    print(precision, len(ways), "runs, hash", *hashes, flush=True)
