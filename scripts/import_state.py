#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A state of another program as H5MD, for system.from: import_state.py IN [TRAJECTORY] OUT.h5 [--frame N]
[--scale-length X] [--scale-velocity X]

Reads whatever MDAnalysis reads (GROMACS .gro, PDB, XYZ, a topology and its trajectory as PSF and DCD, ...). A run has
particles of one type, of mass 1 and without charges and bonds. So a file of several types is refused; the mass is the
unit of mass; a note names charges and bonds, which are dropped. MDAnalysis gives lengths in Angstrom and velocities in
Angstrom / ps; a run wants sigma and sigma / tau. So --scale-length is 1 / sigma, as 0.29369 for argon (sigma = 3.405
Angstrom), and --scale-velocity is tau / sigma in ps / Angstrom; both are 1 by default. Needs python3-mdanalysis
(scripts/setup.sh --slow).
"""
import argparse
import warnings

from common import fail, note, parser_of, reason, replacing, require_other
from plotting import h5py, np


def values_of(atoms, name):
    """The values that atoms have of an attribute; none where the file says nothing of it."""
    return np.unique(getattr(atoms, name, np.array([])))


def look_at_kinds(atoms, path):
    """Refuses particles of several types, and notes what else a run does not know."""
    for name in ("names", "types", "masses"):  # MDAnalysis guesses types from names, Ar and Al alike
        values = values_of(atoms, name)
        if len(values) > 1:
            some = ", ".join(str(v) for v in values[:4])
            fail(f"{path}: particles of {name} {some}; give a file of one type of particle")
    if np.any(values_of(atoms, "charges") != 0):
        note(f"{path}: charges are dropped")
    if len(getattr(atoms, "bonds", [])) > 0:
        note(f"{path}: bonds are dropped")


def read_universe(files, frame):
    """Positions, velocities or none, and lengths of the box or none, as MDAnalysis gives them."""
    warnings.showwarning = lambda *_, **__: None  # of guessed masses and the like, which are not used
    try:
        import MDAnalysis
    except ImportError as e:
        fail(f"{e}; install python3-mdanalysis: scripts/setup.sh --slow")
    try:
        universe = MDAnalysis.Universe(*files)
        moment = universe.trajectory[frame]
    except IndexError:
        fail(f"{files[-1]}: has no frame {frame}; name another one")
    except Exception as e:  # each of its readers has errors of its own
        fail(f"cannot read {' '.join(files)}: {reason(e)}; give files that MDAnalysis knows")
    look_at_kinds(universe.atoms, files[0])
    box = moment.dimensions
    if box is not None and not np.all(box[3:] == 90):
        fail(f"{files[-1]}: its box is triclinic; give a rectangular one")
    lengths = None if box is None or not np.all(box[:3] > 0) else np.array(box[:3], dtype=float)
    velocity = np.array(moment.velocities, dtype=float) if moment.has_velocities else None
    return np.array(moment.positions, dtype=float), velocity, lengths


def write_h5md(path, position, velocity, box):
    with replacing(path) as unfinished, h5py.File(unfinished, "w") as f:
        f.create_group("h5md").attrs["version"] = [1, 1]
        f["h5md"].create_group("creator").attrs.update(name="import_state.py", version="1")
        f["h5md"].create_group("author").attrs["name"] = "unknown"
        group = f.create_group("particles/all")
        group["position"] = position
        if velocity is not None:
            group["velocity"] = velocity
        group.create_group("box").attrs["dimension"] = 3
        group["box"].attrs["boundary"] = ["periodic" if box is not None else "none"] * 3
        if box is not None:
            group["box/edges"] = box


def positive(text):
    x = float(text)
    if not 0 < x < np.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number above 0")
    return x


def main():
    parser = parser_of(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="IN [TRAJECTORY] OUT.h5")
    parser.add_argument("--frame", type=int, default=-1, help="counted from 0 (default: the last)")
    parser.add_argument("--scale-length", type=positive, default=1, help="by which lengths are multiplied: 1 / sigma")
    parser.add_argument("--scale-velocity", type=positive, default=1, help="the same of velocities: tau / sigma")
    options = parser.parse_args()
    if not 2 <= len(options.files) <= 3:
        parser.error("give IN OUT.h5, or IN TRAJECTORY OUT.h5")
    *files, out = options.files
    if not out.endswith((".h5", ".hdf5", ".h5md")):
        parser.error(f"the last name, {out}, is that of the file to write; let it end in .h5")
    require_other(out, *files)
    position, velocity, box = read_universe(files, options.frame)
    position *= options.scale_length
    if velocity is not None:
        velocity *= options.scale_velocity
    if box is not None:
        box *= options.scale_length
    write_h5md(out, position, velocity, box)
    moving = "without" if velocity is None else "with"
    where = "without a box" if box is None else "in a box of " + " x ".join(f"{x:.6g}" for x in box)
    print(f"wrote {out}: {len(position)} particles, {moving} velocities, {where}")


if __name__ == "__main__":
    main()
