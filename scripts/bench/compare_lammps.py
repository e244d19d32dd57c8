#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hands states of ours to LAMMPS (lj/cut, shifted) and compares: a liquid, and a collision of 20,000 particles at its
start, at first contact and in full contact.

Forces at the state: the largest and the rms difference of a particle's force, over the rms force. LAMMPS gets all 40
bits of the positions; our forces see 26 of them behind the point in `mixed`, 28 in `double`. Total energy per atom at
the state and 200 steps later. Bounds hold for the largest difference and for both energies.
"""
import csv
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from common import call, words, write_json  # noqa: E402
from plotting import h5py, np  # noqa: E402


STEPS = 200
CASES = {  # deck, step of the state, settings
    "liquid": ("inputs/liquid.yaml", 600, ["system.slabs.0.cells=[100,100]", "system.potential.shift=energy"]),
    "start": ("inputs/tiny.yaml", 0, []),
    "contact": ("inputs/tiny.yaml", 200, []),
    "collision": ("inputs/tiny.yaml", 1000, []),
}
BOUNDS = {"double": {"force": 1e-6, "energy": 1e-6}, "mixed": {"force": 5e-5, "energy": 1e-6}}

LAMMPS = """units lj
dimension 2
atom_style atomic
atom_modify sort 0 0
boundary p p p
read_data start.data
mass 1 1.0
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
pair_modify shift yes
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
timestep {dt}
fix 1 all nve
thermo_modify norm yes format float %.15g
thermo 200
dump f all custom 1000000 forces.dump id fx fy
dump_modify f sort id format float %.17g
run {steps}
"""


def ours(folder, case, precision):
    deck, at, settings = CASES[case]
    settings = settings + [
        f"run.precision={precision}",
        f"run.steps={at + STEPS}",
        f"output.every={STEPS}",
        f"output.trajectory_every={at or STEPS}",
        "output.trajectory_columns=[position, velocity, force]",
    ]
    call(["build/steelyard", "run", deck, "--out", folder, "--quiet"] + words(settings))
    with h5py.File(os.path.join(folder, "trajectory.h5")) as f:
        g = f["particles/all"]
        frame = list(g["position/step"]).index(at)
        state = {name: g[name + "/value"][frame][:, :2] for name in ("position", "velocity", "force")}
        box = np.diag(g["box/edges/value"][frame])[:2]
    rows = {
        int(r["step"]): float(r["total"]) / int(r["particles"])
        for r in csv.DictReader(open(os.path.join(folder, "thermo.csv")))
    }
    times = {int(r["step"]): float(r["time"]) for r in csv.DictReader(open(os.path.join(folder, "thermo.csv")))}
    return state, box, times[STEPS] / STEPS, rows[at], rows[at + STEPS]


def lammps(folder, state, box, dt):
    n = len(state["position"])
    with open(os.path.join(folder, "start.data"), "w") as f:
        f.write(
            f"start state\n\n{n} atoms\n1 atom types\n\n0 {box[0]!r} xlo xhi\n0 {box[1]!r} ylo yhi\n"
            "-0.5 0.5 zlo zhi\n\nAtoms\n\n"
        )
        for i, (x, y) in enumerate(state["position"]):
            f.write(f"{i + 1} 1 {x:.17g} {y:.17g} 0\n")
        f.write("\nVelocities\n\n")
        for i, (x, y) in enumerate(state["velocity"]):
            f.write(f"{i + 1} {x:.17g} {y:.17g} 0\n")
    with open(os.path.join(folder, "in.lammps"), "w") as f:
        f.write(LAMMPS.format(steps=STEPS, dt=dt))
    text = call(["lmp", "-log", "none", "-in", "in.lammps"], cwd=folder, stdout=subprocess.PIPE).stdout
    lines = text.splitlines()
    head = next(i for i, l in enumerate(lines) if l.split()[:2] == ["Step", "Temp"])
    column = lines[head].split().index("TotEng")
    energies = [float(lines[head + k].split()[column]) for k in (1, 2)]
    with open(os.path.join(folder, "forces.dump")) as f:
        table = f.read().splitlines()[9 : 9 + n]
    return np.array([[float(x) for x in line.split()[1:]] for line in table]), energies


def main():
    failed = False
    results = {"simulated": False, "steps": STEPS}
    print(
        f"{'state':<11}{'precision':<10}{'max dF':>12}{'rms dF':>12}{'bound':>8}{'dE/E start':>13}"
        f"{'dE/E end':>11}{'bound':>8}"
    )
    for case in CASES:
        for precision, bounds in BOUNDS.items():
            with tempfile.TemporaryDirectory() as folder:
                state, box, dt, start, end = ours(folder, case, precision)
                force, energies = lammps(folder, state, box, dt)
            rms = np.sqrt((force**2).sum(axis=1).mean())
            difference = np.sqrt(((force - state["force"]) ** 2).sum(axis=1)) / rms
            row = {
                "particles": len(force),
                "rms_force": rms,
                "max": difference.max(),
                "rms": np.sqrt((difference**2).mean()),
                "energy_start": abs(start / energies[0] - 1),
                "energy_end": abs(end / energies[1] - 1),
                "energy_per_atom": {"ours": [start, end], "lammps": energies},
            }
            results.setdefault(case, {})[precision] = row
            print(
                f"{case:<11}{precision:<10}{row['max']:>12.2e}{row['rms']:>12.2e}{bounds['force']:>8.0e}"
                f"{row['energy_start']:>13.2e}{row['energy_end']:>11.2e}{bounds['energy']:>8.0e}"
            )
            failed |= row["max"] > bounds["force"] or max(row["energy_start"], row["energy_end"]) > bounds["energy"]
    os.makedirs("results/compare_lammps", exist_ok=True)
    write_json("results/compare_lammps/summary.json", results)
    print("bounds missed" if failed else "within bounds")
    sys.exit(failed)


if __name__ == "__main__":
    main()
