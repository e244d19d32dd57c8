# SPDX-License-Identifier: MIT
"""What `steelyard partition` wrote, as a map of one frame."""

MOST_BLOCKS = 65536


def partition(found, notes):
    """Of partition.json: the grid, and boxes, loads and nodes of its resources; None where it is no such file."""
    if not found:
        return None
    try:
        resources = [{k: r[k] for k in ("kind", "node", "speed", "load", "cells", "boxes")} for r in found["resources"]]
        grid = [int(n) for n in found["grid"]]
        boxes = [[int(edge) for edge in box] for r in resources for box in r["boxes"]]
        if len(grid) != 3 or min(grid) < 1 or any(len(box) != 6 for box in boxes) or not resources:
            raise ValueError
        return {"grid": grid, "lbe_model": found.get("lbe_model"), "resources": resources}
    except (KeyError, TypeError, ValueError, AttributeError):
        notes.add("partition.json", "it is not what the program writes, and is left out")
        return None


def partition_map(found):
    """Blocks of cells, each with the resource that owns the cell in its middle, as cell_map() has them."""
    if not found:
        return None
    grid, resources, side = found["grid"], found["resources"], 1
    while count(grid, side) > MOST_BLOCKS:
        side += 1
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


def count(grid, side):
    blocks = 1
    for n in grid:
        blocks *= -(-n // side)
    return blocks
