# SPDX-License-Identifier: MIT
"""Files of particles as other programs write them, and decks that begin with one."""
import h5py
import numpy as np

from program import COLLISIONS, fails_with, fresh, hash_of, ok_run, run_words, written


def made(tmp, dimensions, step=40):
    """A state of a small collision: its directory, and the path of its checkpoint."""
    c, out = COLLISIONS[dimensions], tmp / f"made{dimensions}"
    every = dict(output__every=step, checkpoint__every=step, output__trajectory_every=step // 2)
    ok_run(out, deck=c.deck, ranks=0, **c.small | every | dict(run__steps=step))
    return out, out / f"checkpoint_{step}.h5"


def deck_of(tmp, file):
    """A deck whose particles are those of a file."""
    text = f"system: {{from: {{file: {file}}}}}\nrun: {{dt: 0.0005, steps: 20}}\noutput: {{every: 10}}\n"
    return written(tmp / "deck.yaml", text)


def started(tmp, file, ranks=0, **keys):
    """The hash of the state that a run of no steps starts from."""
    out = fresh(tmp / "started")
    ok_run(out, deck=deck_of(tmp, file), ranks=ranks, **dict(run__steps=0) | keys)
    return hash_of(out)


def refused(tmp, file, what, code=3, **keys):
    """One line that matches names the error, on one rank and two, before anything is written."""
    for ranks in (0, 2):
        out = tmp / "refused"
        fails_with(code, (), ranks, *run_words(out, deck=deck_of(tmp, file), **keys), matches=what)
        assert not out.exists()


def lattice(number, distance, start):
    """Places of a cube of particles."""
    axis = np.arange(number) * distance + start
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def write_h5md(path, ids, x, v, box, *, timed=False, matrix=False, frames=1, kind="f8", offset=None, chunks=None):
    """As other writers do it: elements that are fixed or have frames, chunked and compressed or not."""
    with h5py.File(path, "w") as f:
        g = f.create_group("particles/atoms")
        g.create_group("box").attrs["dimension"] = x.shape[1]

        def put(name, value, still=False):
            options = dict(chunks=chunks, compression="gzip") if chunks and value.ndim == 2 and not timed else {}
            if timed and not still:
                g[name + "/value"] = np.stack([value * 0.5] * (frames - 1) + [value])
                g[name + "/step"] = np.arange(frames)
            else:
                g.create_dataset(name, data=value, **options)

        put("position", (x if offset is None else x + offset).astype(kind))
        put("velocity", v.astype(kind))
        put("id", ids, still=True)
        put("box/edges", np.diag(box) if matrix else np.array(box), still=not matrix)
        if offset is not None:
            put("box/offset", np.array(offset), still=True)
    return path


def write_dump(path, ids, x, v, box, *, frames=1, columns="id type x y z vx vy vz", ending="\n"):
    """A LAMMPS dump. All frames but the last one hold half the values."""
    values = {"id": ids, "type": np.ones_like(ids), "q": x[:, 0]}
    for a, (axis, images) in enumerate(zip("xyz", (-2, 3, 0))):
        values |= {axis: x[:, a], axis + "u": x[:, a] + images * box[a], axis + "s": x[:, a] / box[a]}
        values["v" + axis] = v[:, a]
    columns_ = [values[name] for name in columns.split()]
    with open(path, "w", newline="") as f:
        for frame in range(frames):
            lines = ["ITEM: TIMESTEP", str(frame), "ITEM: NUMBER OF ATOMS", str(len(ids)), "ITEM: BOX BOUNDS pp pp pp"]
            lines += [f"0 {length:.17g}" for length in box] + [f"ITEM: ATOMS {columns} "]
            scaled = [c * (1 if frame == frames - 1 or c.dtype.kind == "i" else 0.5) for c in columns_]
            lines += [" ".join(f"{value:.17g}" for value in row) for row in zip(*scaled)]
            f.write(ending.join(lines) + ending)
    return path
