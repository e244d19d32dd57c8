#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LBDatafiles as a load series for `steelyard replay`: convert_loads.py DIRECTORY OUT.h5

DARMA/vt and its Load Balancing Analysis Framework (LBAF) write LBDatafiles, and so does a run with
`output.balance_formats: [lbaf]`. DIRECTORY holds NAME.RANK.json of all ranks from 0 on; give one of the files if it
holds several names. Files may be compressed (.json.br, with python3-brotli). docs/replay.md says how objects become
cells.
"""
import itertools
import json
import os
import re
import sys

from common import fail, note, parser_of, reason, replacing, require_other
from plotting import h5py, np

MOST_ALONG = 1 << 20  # cells along an axis
MOST_HOLES = 1 << 20  # cells without an object; more would only cost memory
ASK = "docs/replay.md says what it has to hold"


class Senseless(Exception):
    """Valid JSON that is no LBDatafile."""


def files_at(path):
    """The files of all ranks, in the order of the ranks."""
    pattern = re.compile(r"(.+)\.(\d{1,9})\.json(?:\.br)?")
    folder, only = (path, None) if os.path.isdir(path) else os.path.split(path)
    given = pattern.fullmatch(only) if only is not None else None
    if only is not None and not given:
        fail(f"{path}: is not called NAME.RANK.json; give such a file")
    try:
        listed = [m for m in map(pattern.fullmatch, sorted(os.listdir(folder or "."))) if m]
    except OSError as e:
        fail(f"{path}: cannot be read: {reason(e)}")
    names = {given[1]} if given else {m[1] for m in listed}
    if len(names) > 1:
        fail(f"{path}: holds files of the names {', '.join(sorted(names)[:2])}; give the first file of one")
    files = {int(m[2]): os.path.join(folder, m[0]) for m in listed if m[1] in names}
    if not files:
        fail(f"{path}: there are no files NAME.RANK.json; give a directory that holds them")
    missing = next((r for r in range(len(files)) if r not in files), None)
    if missing is not None:
        fail(f"{path}: the file of rank {missing} is missing; give the files of all ranks")
    return [files[r] for r in range(len(files))]


def require_memory(size, path):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > memory:
        fail(f"{path}: needs about {size / 1e9:.1f} GB of memory, and there are {memory / 1e9:.1f}; give fewer phases")


def text_of(path):
    try:
        require_memory(10 * os.path.getsize(path), path)  # about ten bytes for a parsed one
        with open(path, "rb") as f:
            data = f.read()
    except OSError as e:
        fail(f"{path}: cannot be read: {reason(e)}")
    if not path.endswith(".br"):
        return data
    try:
        import brotli

        return brotli.decompress(data)
    except ImportError:
        fail(f"{path}: is compressed; install python3-brotli, or decompress all files: brotli -d --rm *.br")
    except brotli.error:
        fail(f"{path}: is no Brotli file")


def whole(number, least=0, most=2**63 - 1):
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise Senseless(f"{number!r} is no whole number from {least} to {most}")
    return number


def get(thing, key):
    if not isinstance(thing, dict) or key not in thing:
        raise Senseless(f"the key '{key}' is missing")
    return thing[key]


def amount(thing, key):
    number = get(thing, key)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number <= sys.float_info.max:
        raise Senseless(f"the {key} {number!r:.40} is no number >= 0")
    return float(number)


def id_of(entity):
    return whole(get(entity, "id" if "id" in entity else "seq_id"), 0, 2**64 - 1)


def is_object(entity):
    return entity.get("type", "object") == "object"


def object_of(task):
    """An object of a phase: id, seconds, index, box of cells (lower, upper) or none, and if it may migrate."""
    entity, time = get(task, "entity"), amount(task, "time")
    number = id_of(entity)
    index = tuple(whole(i, -(2**31), 2**31 - 1) for i in entity.get("index", ()))
    said, box = task.get("user_defined", {}), None
    if "lower" in said:
        box = [[whole(i, 0, MOST_ALONG) for i in get(said, corner)] for corner in ("lower", "upper")]
    return number, time, index, box, entity.get("migratable", True)


def messages_of(phase):
    """The messages from one object to another: ids and bytes."""
    found = []
    for c in phase.get("communications", ()):
        ends, size = (get(c, "from"), get(c, "to")), amount(c, "bytes")
        if c.get("type", "SendRecv") == "SendRecv" and all(map(is_object, ends)):
            found.append((*map(id_of, ends), size))
    return found


def read(files):
    """Phases as (id, step, objects, messages); cells, boundary and processes of the metadata, or none."""
    phases, grid = None, {}
    for path in files:
        try:
            data = json.loads(text_of(path))
            mine = []
            for p in get(data, "phases"):
                number = whole(get(p, "id"), -(2**63))
                step = whole(p.get("user_defined", {}).get("step", number))
                objects = [object_of(t) for t in get(p, "tasks") if is_object(get(t, "entity"))]
                mine.append((number, step, objects, messages_of(p)))
            if phases is None:
                phases, grid = mine, data.get("metadata", {}).get("attributes", {})
            elif [p[:2] for p in mine] != [p[:2] for p in phases]:
                fail(f"{path}: its phases are not those of the file of rank 0; give whole files of one run")
            else:
                for p, more in zip(phases, mine):
                    p[2].extend(more[2])
                    p[3].extend(more[3])
        except RecursionError:
            fail(f"{path}: is no LBDatafile: it nests too deeply; give another")
        except ValueError as e:
            fail(f"{path}: is no JSON ({e}); is it truncated?")
        except (Senseless, TypeError, AttributeError) as e:
            fail(f"{path}: is no LBDatafile ({str(e)[:200]}); {ASK}")
    if not phases:
        fail(f"{files[0]}: there are no phases; give one at least")
    for before, after in zip(phases, phases[1:]):
        if after[1] <= before[1]:
            fail(f"{files[0]}: step {after[1]} of phase {after[0]} is not behind step {before[1]}; sort the phases")
    return phases, grid if "cells" in grid else {}


def places_of(objects, path):
    """Extents of the grid from x on, and the cell of each object: by its index, or in a row by the ids."""
    indices = [o[2] for o in objects]
    axes = len(indices[0])
    if axes not in (2, 3) or len(set(indices)) < len(indices) or any(len(i) != axes or min(i) < 0 for i in indices):
        return (len(objects), 1), [(k, 0) for k in range(len(objects))]
    extents = tuple(1 + max(i[a] for i in indices) for a in range(axes))
    cells = int(np.prod(extents, dtype=object))
    if max(extents) > MOST_ALONG or cells > MOST_HOLES + 64 * len(objects):
        fail(f"{path}: the indices of {len(objects)} objects span {cells} cells; number them more densely")
    return extents, indices


def sums_of(messages, objects):
    """Bytes from each object to each other, by their places in the list."""
    place, sums = {o[0]: k for k, o in enumerate(objects)}, {}
    for *ends, size in messages:
        pair = tuple(place.get(e) for e in ends)
        if None not in pair and pair[0] != pair[1]:
            sums[pair] = sums.get(pair, 0) + size
    return sums


def bytes_of_objects(sums, objects):
    """Of each object, the mean of what it sends to another one."""
    number, size = np.zeros(objects), np.zeros(objects)
    for (sender, _), each in sums.items():
        number[sender] += 1
        size[sender] += each
    return size / np.maximum(number, 1)


def bytes_of_boxes(sums, box, boxes, periodic):
    """Of each cell. The bytes from a box to another are spread evenly over its cells that touch the other. A cell that
    touches several boxes has the mean of its shares, and one that touches none the mean of its box's other cells."""
    padded = box
    for axis, wraps in enumerate(periodic):
        width = [(int(a == axis),) * 2 for a in range(box.ndim)]
        padded = np.pad(padded, width, "wrap") if wraps else np.pad(padded, width, constant_values=-1)
    shifts = itertools.product(range(3), repeat=box.ndim)
    parts = (tuple(slice(s, s + n) for s, n in zip(shift, box.shape)) for shift in shifts)
    around, own = np.sort([padded[part].ravel() for part in parts], axis=0), box.ravel()
    others = (around >= 0) & (around != own)
    others[1:] &= around[1:] != around[:-1]
    cell = np.nonzero(others)[1]
    pairs, which, touching = np.unique(own[cell] * boxes + around[others], return_inverse=True, return_counts=True)
    share = [sums.get(divmod(pair, boxes), 0) / n for pair, n in zip(pairs.tolist(), touching.tolist())]
    number = np.bincount(cell, minlength=own.size)
    size = np.bincount(cell, np.array(share)[which], own.size) / np.maximum(number, 1)
    at_border = own[number > 0]
    means = np.bincount(at_border, size[number > 0], boxes) / np.maximum(np.bincount(at_border, minlength=boxes), 1)
    return np.where(number > 0, size, means[own]).reshape(box.shape)


def fields_of_objects(phases, path):
    """Loads and bytes [t, x, y(, z)] of objects of other programs, which are the same in all phases."""
    for number, _, objects, _ in phases:
        objects.sort(key=lambda o: o[0])
        ids = [o[0] for o in objects]
        if not ids or len(set(ids)) < len(ids):
            fail(f"{path}: phase {number} holds no objects, or one of them twice; give each an id of its own")
        if ids != [o[0] for o in phases[0][2]]:
            fail(f"{path}: the objects of phase {number} are not those of phase {phases[0][0]}; give the same ones")
    extents, places = places_of(phases[0][2], path)
    require_memory(32 * len(phases) * np.prod(extents, dtype=object), path)
    loads, sizes = np.zeros((2, len(phases), *extents))
    for load, size, (_, _, objects, messages) in zip(loads, sizes, phases):
        each = bytes_of_objects(sums_of(messages, objects), len(objects))
        for place, o, b in zip(places, objects, each):
            load[place], size[place] = o[1], b
    return loads, sizes


def fields_of_boxes(phases, grid, ranks, path):
    """Loads and bytes of a run of this program: boxes of cells, whose times are spread evenly over their cells."""
    cells = tuple(whole(n, 1, MOST_ALONG) for n in get(grid, "cells"))
    if whole(get(grid, "processes"), 1) > ranks:
        fail(f"{path}: there are files of {ranks} ranks, and {grid['processes']} have written some; give all")
    require_memory((32 * len(phases) + 1000) * np.prod(cells, dtype=object), path)
    boundary = grid.get("boundary", ["wall"] * len(cells))
    if len(boundary) != len(cells) or not all(isinstance(word, str) for word in boundary):
        raise Senseless(f"boundary {str(boundary)[:60]} has no word for each of {len(cells)} axes")
    periodic = [word == "periodic" for word in boundary]
    loads, sizes = np.full((2, len(phases), *cells), np.nan)
    for load, size, (number, _, objects, messages) in zip(loads, sizes, phases):
        owner = np.zeros(cells, int)
        for k, (_, time, _, box, _) in enumerate(objects):
            if box is None:
                fail(f"{path}: its metadata name cells, and some objects have no box; give the files as written")
            part = tuple(slice(low, high) for low, high in zip(*box))
            if len(part) != len(cells) or load[part].size == 0 or not np.isnan(load[part]).all():
                fail(f"{path}: the boxes of phase {number} do not cover each cell once; give the files of all ranks")
            load[part], owner[part] = time / load[part].size, k
        if np.isnan(load).any():
            fail(f"{path}: the boxes of phase {number} do not cover each cell once; give the files of all ranks")
        size[:] = bytes_of_boxes(sums_of(messages, objects), owner, len(objects), periodic) if messages else 0
    return loads, sizes


def main():
    parser = parser_of(__doc__)
    parser.add_argument("files", metavar="DIRECTORY")
    parser.add_argument("out", metavar="OUT.h5")
    options = parser.parse_args()
    files = files_at(options.files)
    require_other(options.out, *files)
    phases, grid = read(files)
    try:
        if grid:
            loads, sizes = fields_of_boxes(phases, grid, len(files), options.files)
        else:
            loads, sizes = fields_of_objects(phases, options.files)
    except (Senseless, MemoryError, TypeError) as e:
        fail(f"{options.files}: its metadata make no sense ({e}); {ASK}")
    pinned = max(sum(not o[4] for o in objects) for _, _, objects, _ in phases)
    if pinned:
        note(f"{pinned} objects may not migrate; a replay moves them like others")
    boundary = grid.get("boundary", ["wall"] * (loads.ndim - 1))
    with replacing(options.out) as unfinished, h5py.File(unfinished, "w") as out:
        for name, field in ("load", loads), ("bytes", sizes):
            if name == "load" or any(messages for *_, messages in phases):
                # x varies fastest
                out[name] = np.ascontiguousarray(field.transpose(0, *range(field.ndim - 1, 0, -1)))
        out["step"] = [p[1] for p in phases]
        out.attrs["boundary"] = boundary


if __name__ == "__main__":
    main()
