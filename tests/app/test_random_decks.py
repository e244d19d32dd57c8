# SPDX-License-Identifier: MIT
"""Random decks, each computed in several random ways: all must end in one state and write one thermo.csv.

A deck and its ways follow from a seed. By hand, decks 40 to 59, with a build by another compiler beside:
python3 -m pytest tests/app/test_random_decks.py --seeds 40:20 --other build-clang/steelyard
"""
import math
import os
import random
import shlex
import subprocess

from program import command, fresh, hash_of, instruction_sets, options, rows, run, run_words

WAYS = 4  # of each deck, beside the plain one
KINDS = ["lennard_jones", "soft_sphere", "mie"]
MODELS = ["time_average", "moving_average", "particle_count", "hybrid", "a1", "b1", "r1", "exact"]
SHARES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]


def slab(draw, lower, upper, dimensions, most, diameter):
    """Within these corners, of about `most` particles at most."""
    volume = math.prod(b - a for a, b in zip(lower, upper))
    density = draw.choice([0.3, 0.6, 0.85, 1.1]) / diameter**dimensions
    lattice = draw.choice(["sc", "bcc", "fcc", "hcp"]) if dimensions == 3 else "hexagonal"
    fast = draw.choice([0, 3, 12])
    velocity = [round(draw.uniform(-fast, fast), 2) for a in range(dimensions)]
    return (
        f"    - {{lower: {lower}, upper: {upper}, lattice: {lattice}, density: {min(density, most / volume):.6g}, "
        f"temperature: {draw.choice([0, 0.5, 2, 8])}, velocity: {velocity}}}\n"
    )


def slabs(draw, box, boundary, diameter):
    """One slab or two side by side, a diameter away from their images beyond periodic axes."""
    dimensions = len(box)
    most = draw.choice([1, 20, 150, 400])
    lower = [round(draw.choice([0, draw.uniform(0, 0.4)]) * side, 3) for side in box]
    upper = []
    for a, side in enumerate(box):
        gap = diameter if boundary[a] == "periodic" else draw.choice([0, 0, draw.uniform(0, 0.3) * side])
        upper.append(round(max(side - gap, lower[a] + 0.1), 3))
    a = draw.randrange(dimensions)
    if draw.random() < 0.5 or upper[a] - lower[a] < 3 * diameter:
        return slab(draw, lower, upper, dimensions, most, diameter)
    middle = draw.uniform(lower[a] + diameter, upper[a] - 2 * diameter)
    end, begin = list(upper), list(lower)
    end[a], begin[a] = round(middle, 3), round(middle + diameter, 3)
    return slab(draw, lower, end, dimensions, most, diameter) + slab(draw, begin, upper, dimensions, most, diameter)


def bodies(draw, box, diameter):
    """Two halves, or one, at random places with a profile; none where there is no room for a particle."""
    dimensions, spacing = len(box), round(0.9 * diameter, 4)
    lower = [round(draw.choice([0, 0.2]) * side, 3) for side in box]
    upper = [round(draw.choice([1, 0.7]) * side, 3) for side in box]
    a = draw.randrange(dimensions)
    end, begin = list(upper), list(lower)
    end[a] = begin[a] = round((lower[a] + upper[a]) / 2, 3)
    text = ""
    for low, high in [(lower, end), (begin, upper)][: draw.choice([1, 2])]:
        volume = math.prod(b - a for a, b in zip(low, high))
        particles = int(min(draw.choice([0.05, 0.15]) / spacing**dimensions * volume, draw.choice([20, 300])))
        kind = draw.choice(["uniform", "linear", "geometric", "sinusoidal"])
        own = dict(uniform="", linear=", ends: [0.3, 1]", geometric=", ratio: 0.95", sinusoidal=", periods: 2")[kind]
        if particles == 0:
            return ""
        text += (
            f"    - {{shape: box, lower: {low}, upper: {high}, fill: random, particles: {particles}, "
            f"spacing: {spacing}, profile: {{kind: {kind}, axis: {draw.choice('xyz'[:dimensions])}{own}}}, "
            f"temperature: {draw.choice([0, 2])}, velocity: {[draw.choice([-4, 0, 3]) for b in range(dimensions)]}}}\n"
        )
    return text


def random_deck(draw, dimensions):
    """A deck's text, which may still be refused for reasons that only the program knows."""
    cutoff = round(draw.choice([1.0, draw.uniform(0.8, 3.5)]), 3)
    diameter = round(cutoff / draw.uniform(1.0, 2.5), 3)
    cell = round(cutoff * draw.choice([1, 1.2, draw.uniform(1, 2)]), 3)
    box = [round(cell * (draw.randint(1, 9) + draw.choice([0, draw.random()])), 3) for a in range(dimensions)]
    boundary = [draw.choice(["periodic", "reflecting"]) if side > 2.3 * cutoff else "reflecting" for side in box]
    potential = dict(
        kind=draw.choice(KINDS), sigma=diameter, cutoff=cutoff, shift=draw.choice(["none", "energy", "force"])
    )
    if potential["kind"] == "mie":
        potential["repulsive"], potential["attractive"] = draw.choice([(12, 6), (14, 8), (10, 4), (24, 6)])
    if draw.random() < 0.25:
        potential["softening"] = round(diameter * draw.uniform(0.1, 0.5), 3)
    half = draw.randint(5, 30)
    words = ", ".join(f"{k}: {v}" for k, v in potential.items())
    kind = "slabs"
    if draw.random() < 0.15:  # a lattice that fills a periodic box
        counts = [draw.randint(3, 5) for a in range(dimensions)]
        lattice = draw.choice(["sc", "bcc", "fcc", "hcp"]) if dimensions == 3 else "hexagonal"
        density, temperature = round(draw.choice([0.7, 0.9]) / diameter**dimensions, 6), draw.choice([0.5, 2, 8])
        shape = "  box: fit\n"
        matter = f"    - {{cells: {counts}, lattice: {lattice}, density: {density}, temperature: {temperature}}}\n"
    else:
        shape = f"  box: {box}\n  boundary: [{', '.join(boundary)}]\n"
        at_random = bodies(draw, box, diameter) if draw.random() < 0.3 else ""
        if at_random:
            kind, matter = "bodies", at_random
        else:
            matter = slabs(draw, box, boundary, diameter)
    return (
        f"system:\n{shape}  seed: {draw.randrange(1000)}\n  potential: {{{words}}}\n  {kind}:\n{matter}"
        f"run: {{dt: {diameter * draw.choice([0.001, 0.003, 0.006]):.6g}, steps: {2 * half}, "
        f"precision: {draw.choice(['mixed', 'double'])}}}\ngrid: {{cell: {cell}}}\noutput: {{every: {half}}}\n"
    )


def balancing(draw):
    keys = dict(
        balance__every=draw.randint(1, 10),
        balance__clock=draw.choice(["wall", "work", "work"]),
        balance__migrate=draw.choice(["gain", "always", "always", "always"]),
        balance__partition__kind=draw.choice(["chain", "chain", "chain", "rcb", "nested", "none"]),
        balance__partition__cut=draw.choice(["patches", "strips", "cells"]),
        balance__partition__order=draw.choice(["morton", "hilbert", "tree"]),
        balance__partition__sticky=draw.choice(["true", "false"]),
        balance__partition__patches_per_process=draw.randint(1, 5),
        balance__partition__min_width=draw.choice([1, 1, 2]),
    )
    by_work = keys["balance__clock"] == "work"
    model = draw.choice(MODELS if by_work else MODELS[:-1])
    if by_work:
        others = [m for m in MODELS if m != model]
        keys["balance__compare"] = f"[{', '.join(draw.sample(others, draw.choice([0, 0, 2])))}]"
    if draw.random() < 0.4:
        keys["balance__processes"] = draw.randint(2, 20)
    return dict(keys, balance__model=model)


def messages(draw):
    return dict(
        comm__order=draw.choice(["plain", "near_first", "far_first"]),
        comm__aggregate=draw.choice(["none", "process", "node", "auto"]),
        comm__overlap=draw.choice(["none", "links", "full"]),
        comm__piece_bytes=draw.choice(["auto", 64, 500]),
        comm__threshold_bytes=draw.choice(["auto", 1, 200]),
        comm__ranks_per_node=draw.choice(["auto", 1, 2, 3]),
    )


def accelerators(draw):
    return dict(
        accelerator__backend="host",
        accelerator__share=draw.choice(SHARES),
        accelerator__controller=draw.choice(["fixed", "fixed", "cpu_load", "measured_speed"]),
        accelerator__every=draw.randint(1, 10),
        accelerator__devices=draw.choice([1, 1, 2]),
        accelerator__reach=draw.choice(["border", "border", "inner"]),
        accelerator__threads=draw.choice([1, 2]),
    )


def random_part(draw, isas, binaries, grid):
    """How a run, or a part of it between two checkpoints, is computed."""
    keys = dict(grid)
    for chance, choose in ((0.5, balancing), (0.5, messages), (0.4, accelerators)):
        if draw.random() < chance:
            keys.update(choose(draw))
    if draw.random() < 0.5:
        keys["grid__skin"] = draw.choice([0, round(draw.uniform(0.01, 0.6), 3)])
    return dict(
        ranks=draw.choice([1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8]),
        threads=draw.choice([1, 1, 2]),
        isa=draw.choice(isas),
        binary=draw.choice(binaries),
        keys=keys,
    )


def random_way(draw, isas, binaries, mixed):
    """One part, or two with a restart between them, which may change all but the grid."""
    grid = {}
    if draw.random() < 0.5:
        grid["grid__tile"] = draw.randint(4, 12)
    if mixed and draw.random() < 0.3:  # in double precision the packed positions may depend on the cells
        grid["grid__cell"] = round(draw.uniform(3.5, 5), 3)
    return [random_part(draw, isas, binaries, grid) for n in range(draw.choice([1, 1, 2]))]


def words_of(deck, out, part, restart):
    return run_words(out, deck=deck, restart="auto" if restart else None, **part["keys"])


def outcome(deck, out, way, steps):
    """The state and table at the end; or where the simulation fails, how; or None where this way is refused."""
    fresh(out)
    for i, part in enumerate(way):
        keys = dict(part["keys"], checkpoint__every=steps // 2)
        if i + 1 < len(way):
            keys["run__steps"] = steps // 2
        how = {name: part[name] for name in ("threads", "isa", "binary")}
        code, text = run(part["ranks"], *words_of(deck, out, dict(part, keys=keys), i > 0), **how)
        if code == 2:
            return None
        if code == 4:
            return "failed", "in a way that depends on when one looks"
        assert code == 0, f"exit code {code}: {text}"
    return hash_of(out), rows(out)


def in_words(deck, way):
    lines = []
    for i, part in enumerate(way):
        isa = f" STEELYARD_ISA={part['isa']}" if part["isa"] else ""
        words = command(part["ranks"], *words_of(deck, "OUT", part, i > 0), binary=part["binary"])
        lines.append(f"OMP_NUM_THREADS={part['threads']}{isa} {shlex.join(words)}")
    return "\n".join(lines)


def compare(folder, seed, isas, dimensions):
    """Returns the end of a random deck, and how many ways gave it; none where the deck itself is refused."""
    draw = random.Random(f"{seed} {dimensions}")
    text = random_deck(draw, dimensions)
    deck = os.path.join(folder, f"deck_{dimensions}d_{seed}.yaml")
    with open(deck, "w") as f:
        f.write(text)
    steps = 2 * int(text.split("every: ")[1].split("}")[0])
    plain = [dict(ranks=0, threads=1, isa=None, binary=options.binary, keys={})]
    found = {}
    binaries = [options.binary] + options.other
    for way in [plain] + [random_way(draw, isas, binaries, "mixed" in text) for n in range(WAYS)]:
        try:
            end = outcome(deck, os.path.join(folder, "out"), way, steps)
        except (AssertionError, subprocess.TimeoutExpired) as e:
            raise AssertionError(f"seed {seed}: {e}\n{text}\n{in_words(deck, way)}") from None
        if end is not None:
            found.setdefault(end, []).append(way)
        elif way is plain:
            return "refused", 0
    named = [f"{end[0]}\n{in_words(deck, way)}" for end, ways in found.items() for way in ways]
    tables = "\n".join(table for state, table in found)
    assert len(found) == 1, f"seed {seed}: {len(found)} ends of\n{text}\n" + "\n\n".join(named) + f"\n{tables}"
    return next(iter(found))[0], len(named)


def test_random_decks(tmp):
    """Ranks, threads, kernels, tiles, skins, balancing, messages, accelerators and restarts are drawn for each deck."""
    first, number = (int(x) for x in options.seeds.split(":"))
    isas = [None, *instruction_sets()]
    decks = ways = 0
    for seed in range(first, first + number):
        end, compared = compare(tmp, seed, isas, 2 if seed % 4 == 3 else 3)
        decks += end not in ("failed", "refused")
        ways += compared
        print(f"seed {seed}: {end}, {compared} ways", flush=True)
    print(f"{decks} of {number} decks, {ways} ways")
    assert decks > number / 2 and ways > WAYS // 2 * decks, "most decks and ways must be valid"
