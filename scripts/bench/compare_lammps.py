#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same states here and in LAMMPS (lj/cut, shifted): forces, pressure and energies.

In two dimensions: a liquid, and a collision of 20,000 particles at its start, at first contact and in full contact. In
three: a melt after 100 steps and at its start, and a collision in full contact, between walls.

Forces at the state: the largest and the rms difference of a particle's force, over the rms force. The melt starts from
a lattice, where all forces cancel, so its differences are divided by the rms force after 100 steps. LAMMPS gets all 40
bits of the positions. Our forces see 26 of them behind the point in `mixed`, 28 in `double`.

Pressure at the state, and total energy per atom there and 200 steps later. Bounds hold for the largest difference of a
force, for the pressure and both energies. Writes results/compare_lammps/summary.json; exits 1 if a bound is missed.
"""
import os
import subprocess
import sys
import tempfile

from common import call, read_csv, write_json
from export_lammps import write_data
from plotting import h5py, np
from studies import build, options_of, steelyard, table

STEPS = 200
MELT = ["system.slabs.0.cells=[14,14,14]", "system.potential.shift=energy"]
CASES = {  # deck, step of the state, settings, and the case whose rms force is the unit where it is not its own
    "liquid": ("inputs/liquid.yaml", 600, ["system.slabs.0.cells=[100,100]", "system.potential.shift=energy"]),
    "start": ("inputs/tiny.yaml", 0, []),
    "contact": ("inputs/tiny.yaml", 200, []),
    "collision": ("inputs/tiny.yaml", 1000, []),
    "melt": ("inputs/melt.yaml", 100, MELT),
    "melt start": ("inputs/melt.yaml", 0, MELT, "melt"),
    "collision 3D": ("inputs/collision_3d.yaml", 200, []),
}
BOUNDS = {"double": {"force": 1e-6, "rest": 1e-6}, "mixed": {"force": 5e-5, "rest": 1e-6}}

LAMMPS = """units lj
dimension {dimension}
atom_style atomic
atom_modify sort 0 0
boundary {boundary}
read_data start.data
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
pair_modify shift yes
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
timestep {dt}
fix 1 all nve
{walls}
thermo_modify norm yes format float %.15g
thermo 200
dump f all custom 1000000 forces.dump id fx fy fz
dump_modify f sort id format float %.17g
run {steps}
"""


def ours(folder, case, precision):
    """Our state, in two dimensions with z = 0, and its energy and pressure there and 200 steps later."""
    deck, at, settings = CASES[case][:3]
    settings = settings + [
        f"run.precision={precision}",
        f"run.steps={at + STEPS}",
        f"output.every={STEPS if at % STEPS == 0 else at}",
        f"output.trajectory_every={at or STEPS}",
        "output.trajectory_columns=[position, velocity, force]",
    ]
    folder = os.path.join(folder, "out")
    steelyard("run", deck, out=folder, settings=settings)
    rows = {int(r["step"]): {k: float(v) for k, v in r.items()} for r in read_csv(os.path.join(folder, "thermo.csv"))}
    with h5py.File(os.path.join(folder, "trajectory.h5")) as f:
        g = f["particles/all"]
        frame = list(g["position/step"]).index(at)
        state = {name: g[name + "/value"][frame] for name in ("position", "velocity", "force")}
        state["box"] = np.diag(g["box/edges/value"][frame])
        state["dimension"] = 3 if "momentum_z" in rows[at] else 2
        periodic = [b in (b"periodic", "periodic") for b in g["box"].attrs["boundary"]]
        state["periodic"] = periodic[: state["dimension"]]
    state["dt"] = rows[at + STEPS]["time"] / (at + STEPS)
    return state, [thermo(rows[step], state) for step in (at, at + STEPS)]


def thermo(row, state):
    """Energy per atom, and the pressure that LAMMPS means: ours leaves out the motion of the centre of mass."""
    n, dimension = row["particles"], state["dimension"]
    square = sum(row["momentum_" + axis] ** 2 for axis in "xyz"[:dimension])
    volume = np.prod(state["box"][:dimension])
    return row["total"] / n, row["pressure"] + square / n / (dimension * volume)


def lammps(folder, state):
    """LAMMPS's forces at the state, and its energy and pressure there and 200 steps later."""
    n, flat = len(state["position"]), state["dimension"] == 2
    values = (state[name] for name in ("position", "velocity", "box", "dimension"))
    write_data(os.path.join(folder, "start.data"), np.arange(1, n + 1), *values)
    walls = "".join(f" {axis}lo EDGE {axis}hi EDGE" for axis, p in zip("xyz", state["periodic"]) if not p)
    boundary = " ".join("p" if p else "f" for p in state["periodic"]) + " p" * flat
    values = dict(dt=state["dt"], dimension=state["dimension"], walls=walls and "fix 2 all wall/reflect" + walls)
    with open(os.path.join(folder, "in.lammps"), "w") as f:
        f.write(LAMMPS.format(steps=STEPS, boundary=boundary, **values))
    text = call(["lmp", "-log", "none", "-in", "in.lammps"], cwd=folder, stdout=subprocess.PIPE).stdout
    lines = text.splitlines()
    head = next(i for i, l in enumerate(lines) if l.split()[:2] == ["Step", "Temp"])
    columns = [lines[head].split().index(name) for name in ("TotEng", "Press")]
    values = [[float(lines[head + k].split()[c]) for c in columns] for k in (1, 2)]
    with open(os.path.join(folder, "forces.dump")) as f:
        table = f.read().splitlines()[9 : 9 + n]
    return np.array([[float(x) for x in line.split()[1:]] for line in table]), values


def compared(case, precision, unit=None):
    """The row of a case. unit: of the differences of forces, where it is not the rms force of the case."""
    with tempfile.TemporaryDirectory() as folder:
        state, mine = ours(folder, case, precision)
        force, theirs = lammps(folder, state)
    rms = np.sqrt((force**2).sum(axis=1).mean())
    difference = np.sqrt(((force - state["force"]) ** 2).sum(axis=1)) / (unit or rms)
    (energy, pressure), (energy_end, _) = abs(np.array(mine) / np.array(theirs) - 1)
    return {
        "dimension": state["dimension"],
        "particles": len(force),
        "rms_force": rms,
        "max": difference.max(),
        "rms": np.sqrt((difference**2).mean()),
        "pressure": pressure,
        "energy_start": energy,
        "energy_end": energy_end,
        "energies_and_pressures": {"ours": mine, "lammps": theirs},
    }


def main():
    options_of(__doc__).parse_args()
    build("steelyard", setup="--bench")
    failed, results = False, {"simulated": False, "steps": STEPS}
    forces = ("max dF", "10.1e"), ("rms dF", "10.1e"), ("bound", "7.0e")
    energies = ("dp/p", "9.1e"), ("dE/E start", "12.1e"), ("end", "9.1e"), ("bound", "7.0e")
    line = table(("state", "<14"), ("precision", "<10"), *forces, *energies)
    for case in CASES:
        for precision, bounds in BOUNDS.items():
            unit = results[CASES[case][3]][precision]["rms_force"] if CASES[case][3:] else None
            row = compared(case, precision, unit)
            results.setdefault(case, {})[precision] = row
            rest = [row[key] for key in ("pressure", "energy_start", "energy_end")]
            line(case, precision, row["max"], row["rms"], bounds["force"], *rest, bounds["rest"])
            failed |= not (row["max"] <= bounds["force"] and max(rest) <= bounds["rest"])
    write_json("results/compare_lammps/summary.json", results)
    print("bounds missed" if failed else "within bounds")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
