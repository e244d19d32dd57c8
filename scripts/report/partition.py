# SPDX-License-Identifier: MIT
"""The result of `steelyard partition`, as a map of one frame."""
import math

from .tables import is_count, is_number

MOST_BLOCKS = 65536


def partition(found, notes):
    """The grid, and boxes, loads and nodes of the resources, by partition.json. None if it is no such file."""
    if not found:
        return None
    try:
        resources = [{k: r[k] for k in ("kind", "node", "speed", "load", "cells", "boxes")} for r in found["resources"]]
        grid, numbers = found["grid"], [r[k] for r in resources for k in ("node", "speed", "load", "cells")]
        boxes = [box for r in resources for box in r["boxes"]]
        good = len(grid) == 3 and all(is_count(n) and n > 0 for n in grid) and all(map(is_number, numbers))
        if not good or not resources or any(len(box) != 6 or not all(map(is_count, box)) for box in boxes):
            raise ValueError
        model = found.get("lbe_model")
        return {"grid": grid, "lbe_model": model if is_number(model) else None, "resources": resources}
    except (KeyError, TypeError, ValueError, AttributeError):
        notes.add("partition.json", "it is not what the program writes, and is left out")
        return None


def partition_map(found):
    """Blocks of cells, each with the resource that owns the cell in its middle, as cell_map() has them."""
    if not found:
        return None
    grid, resources = found["grid"], found["resources"]
    side = least(1, max(grid), lambda side: math.prod(-(-n // side) for n in grid) <= MOST_BLOCKS)
    edges = [[*range(0, n, side), n] for n in grid]
    middles = [[(a + b) // 2 for a, b in zip(e, e[1:])] for e in edges]
    nx, ny, nz = (len(m) for m in middles)
    owner = [0] * (nx * ny * nz)
    for r, resource in enumerate(resources):
        for box in resource["boxes"]:
            inside = [[i for i, c in enumerate(middles[a]) if box[a] <= c < box[a + 3]] for a in range(3)]
            for i in inside[0]:
                for j in inside[1]:
                    for k in inside[2]:
                        owner[(i * ny + j) * nz + k] = r
    each = [r["load"] / max(1, r["cells"]) for r in resources]  # a cell
    sizes = [[b - a for a, b in zip(e, e[1:])] for e in edges]
    cells = [x * y * z for x in sizes[0] for y in sizes[1] for z in sizes[2]]
    return {
        "step": [0],
        "edges": edges,
        "owner": [owner],
        "load": [[each[o] * n for o, n in zip(owner, cells)]],
        "zone": [[int(resources[o]["kind"] == "accelerator") for o in owner]],
        "owners": {
            "word": "resource",
            "node": [r["node"] for r in resources],
            "speed": [r["speed"] for r in resources],
            "load": [r["load"] for r in resources],
        },
    }


def least(low, high, good):
    """The least number of [low, high] that is good, as all greater ones are."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle + 1, high)
    return low
