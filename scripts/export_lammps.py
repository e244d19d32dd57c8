#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A state as a LAMMPS data file, from which LAMMPS goes on: export_lammps.py STATE.h5 [--frame N] OUT.data

Reads H5MD: a checkpoint, or a frame of trajectory.h5 (counted from 0; default: the last). Writes atom_style atomic
in units lj, with mass 1, and all numbers with 17 digits, so that they are read back to the same bits of doubles.
Positions, which are multiples of 2^-40 in a run, are exact in doubles below 2^13. Ids are kept; where there is an id 0,
which LAMMPS does not know, all grow by 1. A usual LAMMPS refuses ids from 2^31 on, so a note names them. A state in two
dimensions gets z = 0 in a box from -0.5 to 0.5.
"""
from common import fail, note, parser_of, reason, replacing, require_other
from plotting import h5py, np


def read_state(path, frame=None):
    """ids, positions, velocities, lengths of the box and the number of dimensions."""
    try:
        with h5py.File(path) as f:
            group = f["particles/all"]
            frames = len(group["position/value"])
            if frames == 0 or len(group["velocity/value"]) != frames or len(group["position/value"][0]) == 0:
                fail(f"{path} holds no frame of particles with velocities; give a checkpoint or a trajectory of a run")
            at = frames - 1 if frame is None else frame
            if not 0 <= at < frames:
                fail(f"{path}: has frames 0 to {frames - 1}, not {at}; name one of them")
            position, velocity = group["position/value"][at], group["velocity/value"][at]
            ids = group["id"]
            ids = ids["value"][at] if isinstance(ids, h5py.Group) else ids[:]
            edges = np.diag(group["box/edges/value"][at])
            periodic = [b in (b"periodic", "periodic") for b in group["box"].attrs["boundary"]]
    except OSError as e:
        fail(f"cannot read {path}: {reason(e)}; give a checkpoint or a trajectory")
    except KeyError:
        fail(f"{path} lacks positions, velocities, ids or box; give a checkpoint or a trajectory with both columns")
    flat = edges[2] == 1 and not periodic[2] and not position[:, 2].any() and not velocity[:, 2].any()
    return ids, position, velocity, edges, 2 if flat else 3


def write_data(path, ids, position, velocity, box, dimensions):
    bounds = [(0.0, length) for length in box]
    if dimensions == 2:
        bounds[2] = (-0.5, 0.5)
    ids = ids + 1 if ids.min() == 0 else ids
    if ids.max() >= 2**31:
        built = "LAMMPS reads ids from 2^31 on only if built with LAMMPS_SIZES=bigbig"
        note(f"{path}: ids go up to {ids.max()}; {built}")
    with replacing(path) as unfinished, open(unfinished, "w") as f:
        f.write(f"Steelyard's state, units lj, {dimensions} dimensions\n\n{len(ids)} atoms\n1 atom types\n\n")
        for (low, high), axis in zip(bounds, "xyz"):
            f.write(f"{low:.17g} {high:.17g} {axis}lo {axis}hi\n")
        f.write("\nMasses\n\n1 1\n\nAtoms # atomic\n\n")
        f.writelines(f"{i} 1 {x:.17g} {y:.17g} {z:.17g}\n" for i, (x, y, z) in zip(ids, position))
        f.write("\nVelocities\n\n")
        f.writelines(f"{i} {x:.17g} {y:.17g} {z:.17g}\n" for i, (x, y, z) in zip(ids, velocity))


def main():
    parser = parser_of(__doc__)
    parser.add_argument("state", help="checkpoint_<step>.h5 or trajectory.h5")
    parser.add_argument("out", help="the data file to write")
    parser.add_argument("--frame", type=int, help="of a trajectory, counted from 0 (default: the last)")
    options = parser.parse_args()
    require_other(options.out, options.state)
    state = read_state(options.state, options.frame)
    write_data(options.out, *state)
    print(f"wrote {options.out}: {len(state[0])} particles in {state[-1]} dimensions")


if __name__ == "__main__":
    main()
