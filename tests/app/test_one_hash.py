# SPDX-License-Identifier: MIT
"""The state at the end of a 20,000-particle collision does not depend on how it is computed."""
import itertools
import random

import pytest

from program import DECK, fresh, options, run, run_words, state_of

KERNELS = ("scalar", "portable", "avx2", "avx512")


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
    for binary, isa in itertools.product([options.binary] + options.other, KERNELS):
        words = run_words(fresh(tmp / "probe"), run__steps=0)
        if isa == "scalar" or run(0, *words, isa=isa)[0] == 0:
            ways.append(dict(ranks=0, isa=isa, binary=binary))
    hashes = {}
    for way in ways:
        state = state_of(DECK, fresh(tmp / "out"), run__precision=precision, run__steps=150, **way)
        hashes.setdefault(state, []).append(way)
    assert len(hashes) == 1, hashes
    print(precision, len(ways), "runs, hash", *hashes, flush=True)
