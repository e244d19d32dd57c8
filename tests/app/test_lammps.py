# SPDX-License-Identifier: MIT
"""LAMMPS computes the same forces and energies, and goes on from our states."""
import itertools
import shutil
import subprocess

import numpy as np
import pytest

from program import HANG_SECONDS, datasets, ok_run, script, summary, thermo
from states import deck_of

LAMMPS = """units lj
dimension {dimension}
atom_style atomic
boundary p p p
pair_style lj/cut 2.5
{state}
mass 1 1.0
pair_coeff 1 1 1.0 1.0 2.5
pair_modify shift yes
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
timestep 0.002
{fixes}
thermo_modify norm yes format float %.15g
thermo 100
{work}
"""


def lammps(folder, name, **parts):
    (folder / name).write_text(LAMMPS.format(**parts))
    words = ["lmp", "-log", "none", "-in", name]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def energies(text, name="TotEng"):
    """Energy per atom of each row of the last run."""
    lines = [line.split() for line in text.splitlines()]
    head = max(i for i, words in enumerate(lines) if words[:2] == ["Step", "Temp"])
    rows = itertools.takewhile(lambda words: words and words[0].isdigit(), lines[head + 1 :])
    return [float(words[lines[head].index(name)]) for words in rows]


def forces_of(dump):
    """Forces by id of the first frame of a dump of ids and forces."""
    rows = [line.split() for line in dump.read_text().split("ITEM: ATOMS")[1].splitlines()[1:]]
    rows = itertools.takewhile(lambda words: words and words[0] != "ITEM:", rows)
    return {int(i): list(map(float, force)) for i, *force in rows}


@pytest.mark.skipif(not shutil.which("lmp"), reason="LAMMPS is not here; scripts/setup.sh --bench")
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_lammps(tmp, dimension, precision):
    """A state that LAMMPS equilibrates and writes, read here: forces and energies to the bounds of compare_lammps.py.
    The state that we reach, handed back: the energy that LAMMPS sees is ours."""
    kind, *sides = ("fcc", "8 0 8", "0 8") if dimension == 3 else ("sq", "30 0 30", "-0.25 0.25")
    region = f"region box block 0 {' '.join(sides)}\ncreate_box 1 box\ncreate_atoms 1 box"
    nve = "fix 3 all nve\n" + ("fix 2 all enforce2d" if dimension == 2 else "")
    forces = "dump f all custom 100000 forces.dump id fx fy fz\ndump_modify f sort id format float %.17g\n"
    lammps(
        tmp,
        "in.melt",
        dimension=dimension,
        state=f"lattice {kind} 0.8442\n{region}",
        fixes="velocity all create 1.0 87287\nfix 1 all langevin 1.0 1.0 0.1 4711\n" + nve,
        work="run 500\nunfix 1\nwrite_data state.lmp\n" + forces + "run 100",
    )
    # write_data has 16 digits and the run goes on from all of them: what is compared is what LAMMPS reads of it.
    again = dict(state="read_data state.lmp", fixes=nve, work=forces + "run 100")
    theirs = energies(lammps(tmp, "in.again", dimension=dimension, **again))
    expected, out = forces_of(tmp / "forces.dump"), tmp / "out"
    n, keys = len(expected), dict(run__dt=0.002, run__steps=200, run__precision=precision, output__every=100)
    keys |= dict(output__trajectory_every=100, output__trajectory_columns="[position, velocity, force]")
    ok_run(out, deck=deck_of(tmp, tmp / "state.lmp"), ranks=2, **keys)
    ids, found = datasets(out / "trajectory.h5", "particles/all/id", "particles/all/force/value").values()
    assert sorted(expected) == list(ids)
    reference = np.array([expected[i] for i in ids])
    difference = np.sqrt(((found[0] - reference) ** 2).sum(axis=1)) / np.sqrt((reference**2).sum(axis=1).mean())
    assert difference.max() <= {"double": 1e-6, "mixed": 5e-5}[precision], difference.max()
    ours, potential = ([row[name] / n for row in thermo(out)] for name in ("total", "potential"))
    assert np.allclose(ours[:2], theirs, rtol=1e-6, atol=0), (ours, theirs)
    # And back, from the middle of the run to its end.
    script("export_lammps.py", out / "trajectory.h5", "--frame", "1", tmp / "back.data", check=True)
    back = dict(state="read_data back.data", fixes="fix 3 all nve", work="run 100")
    text = lammps(tmp, "in.back", dimension=dimension, **back)
    assert np.allclose(energies(text), ours[1:], rtol=1e-6, atol=0)
    assert np.allclose(energies(text, "E_pair"), potential[1:], rtol=1e-6, atol=0)
    assert summary(out)["particles"] == n
