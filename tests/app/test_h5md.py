# SPDX-License-Identifier: MIT
"""H5MD files of other programs: elements of any steps, groups, units and layouts."""
import re

import h5py
import numpy as np
import pytest

from program import completed, fails_with, settings
from states import deck_of

# H5MD files of four particles. The values tell frames apart: all velocities of frame k are k + 1, and its box is 7 + k.
# The command check prints both, as the largest speed and the box.
X = np.array([[0.5, 0.5, 0.5], [3.5, 0.5, 0.5], [0.5, 3.6, 0.5], [3.5, 3.5, 3.4]])
POSITIONS = np.stack([X, X + 0.01, X + 0.02])
VELOCITIES = np.stack([np.eye(4, 3, -1) * (k + 1) for k in range(3)])
EDGES = np.array([[7.0] * 3, [8.0] * 3, [9.0] * 3])
MATRICES = np.stack([np.diag(e) for e in EDGES])
STEPS = [0, 10, 20]
FIXED = {"position": X, "velocity": VELOCITIES[0], "box/edges": EDGES[0]}


def every(step, offset=None):
    """A scalar step, with the attribute offset."""
    return lambda g: [g.create_dataset("step", data=step)] + (
        [g["step"].attrs.create("offset", offset)] if offset else []
    )


def frames(position=STEPS, velocity=STEPS, **more):
    """Elements of three frames at their steps."""
    return {"position": (POSITIONS, position), "velocity": (VELOCITIES, velocity), "box/edges": EDGES[0]} | more


def write_elements(path, elements, group="all", attributes=()):
    """elements: name to a dataset, or to value and steps, which are a list, every(), or None."""
    with h5py.File(path, "a") as f:
        g = f.require_group("particles").create_group(group)
        g.require_group("box").attrs["dimension"] = 3
        for name, element in elements.items():
            if not isinstance(element, tuple):
                g[name] = element
                continue
            g[name + "/value"], step = element
            if callable(step):
                step(g[name])
            elif step is not None:
                g[name + "/step"] = step
        for name, key, value in attributes:
            (f[name] if name.startswith("/") else g[name]).attrs[key] = value


def checking(file, **keys):
    """The command that prints what it finds in a file; keys are those of system.from."""
    keys = {f"system__from__{k}": v for k, v in keys.items() if v is not None}
    return ["check", deck_of(file.parent, file), *settings(**keys)]


def checked(file, **keys):
    """Exit code, largest speed, length of the box, and standard error."""
    done = completed(0, *checking(file, **keys))
    speed, box = (re.search(pattern, done.stdout) for pattern in (r"fastest: ([\d.]+)", r"  box: \[([\d.]+)"))
    return done.returncode, float(speed[1]) if speed else None, float(box[1]) if box else None, done.stderr


@pytest.fixture
def file(tmp):
    return tmp / "state.h5"


IDS = np.arange(4)
TAKEN = {  # the deck's frame, the speed and the box that are found, and what is noted
    "species_once": (frames(species=(np.ones((1, 4), int), [0])), None, 3, 7),
    "id_once": (frames(id=(IDS[None], [0])), 1, 2, 7),
    "box_once": (frames(**{"box/edges": (EDGES[:1], [0])}), None, 3, 7),
    "mass_once": (frames(mass=(np.ones((1, 4)), [0])), None, 3, 7),
    "no_step": (frames(id=(np.stack([IDS] * 3), None)), None, 3, 7),
    "velocity_no_step": (frames(velocity=None), 1, 2, 7),
    "positions_no_step": (frames(position=None), 1, 2, 7),
    "box_no_step": (frames(**{"box/edges": (MATRICES, None)}), 2, 3, 9),
    "box_lengths_no_step": (frames(**{"box/edges": (EDGES, None)}), 1, 2, 8),
    "box_in_a_group": (frames(every(10), every(10), **{"box/edges": (EDGES[0], every(0))}), 0, 1, 7),
    "matrix_in_a_group": (frames(**{"box/edges": (MATRICES[1], every(0))}), 0, 1, 8),
    "box_scalar": (frames([510, 520, 530], [510, 520, 530], **{"box/edges": (EDGES, every(10, 500))}), 0, 1, 8),
    "offset": (frames(every(10, 500), [500, 510, 520]), 2, 3, 7),
    "two_offsets": (frames(every(10, 1000), every(10, 990)), 0, 2, 7),
    "list_and_scalar": (frames([500, 505, 510], every(10, 500)), 2, 2, 7),
    "all_at_one_step": (frames(every(0), every(0)), 1, 2, 7),
    "linked_steps": (frames(velocity=h5py.SoftLink("/particles/all/position/step")), 1, 2, 7),
    "float_steps": (frames([0.0, 10.0, 20.0]), 1, 2, 7),
    "float_ids": (FIXED | {"id": IDS + 1.0}, None, 1, 7),
    "one_for_all": (FIXED | {"species": 29, "mass": [1.0]}, None, 1, 7),
    "still_groups": (FIXED | {"position": (X, every(10)), "velocity": (VELOCITIES[0], [10])}, None, 1, 7),
    "one_frame": ({"position": X, "velocity": (VELOCITIES[:1], [5]), "box/edges": EDGES[0]}, None, 1, 7),
    "no_charge": (FIXED | {"charge": np.zeros(4)}, None, 1, 7),
    "box_rarely": (frames(**{"box/edges": (EDGES[:2], [0, 15])}), 2, 3, 8, "edges is not written at step 20; .* 15"),
    "charge": (FIXED | {"charge": np.array([0, 0, 0, 1])}, None, 1, 7, "the charges of .* are not used"),
    "momentum": ({"position": X, "momentum": X, "box/edges": EDGES[0]}, None, 0, 7, "no velocity: .* start at rest"),
    "others": (FIXED | {"dipole": X, "name": 1}, None, 1, 7, "dipole, name of /particles/all not used"),
    "velocity_fixed": (frames() | {"velocity": VELOCITIES[1]}, 0, 2, 7, "velocity is the same in all frames"),
}
REFUSED = {  # the deck's frame, and why
    "mass_40": (FIXED | {"mass": np.full(4, 40)}, None, "particles of mass 40"),
    "mass_mixed": (FIXED | {"mass": [1, 1, 1, 9]}, None, "particles of mass 9"),
    "mass_for_all": (FIXED | {"mass": 39.9}, None, "particles of mass 39.9"),
    "mass_at_last": (frames(mass=(np.array([[1] * 4, [1] * 4, [40] * 4]), STEPS)), None, "particles of mass 40"),
    "mass_nan": (FIXED | {"mass": [1, 1, np.nan, 1]}, None, "particles of mass nan"),
    "species": (frames(species=(np.array([[1, 1, 1, 2]]), [0])), 1, "particles of species 1 and 2"),
    "species_shape": (FIXED | {"species": [1, 1]}, None, r"species has the shape \[2\]"),
    "ids": (FIXED | {"id": IDS + 0.5}, None, "id holds 0.5, which is no whole number"),
    "no_velocity": (frames(velocity=[0, 10, 30]), None, "velocity has no frame .* 20; name frame: 1 beside"),
    "never": (frames(velocity=[1, 2, 3]), None, "velocity has no frame of .* 20; remove /particles/all/velocity"),
    "other_offset": (frames(every(10, 10)), 2, "velocity has no frame of .* 2 of the positions, 30; name frame: 1"),
    "too_late": (frames(id=(IDS[None], [15])), 1, "id has no frame of .*, 10; name frame: 2 beside the file"),
    "velocity_once": (frames() | {"velocity": (VELOCITIES[0], every(5))}, 1, "velocity has no frame of the step"),
    "still_at_others": (FIXED | {"position": (X, every(10)), "velocity": (X, every(5))}, 0, "velocity has no frame of"),
    "frame_of_others": (FIXED | {"position": (X, every(10)), "velocity": (VELOCITIES[:1], [5])}, 0, "velocity has no"),
    "no_steps": (frames() | {"velocity": (VELOCITIES[:2], None)}, 1, "has 2 frames, the positions 3 frames, and not"),
    "dead_steps": (frames(velocity=h5py.SoftLink("/nowhere")), 1, "velocity/step is a link to another place"),
    "empty_steps": (frames(velocity=np.zeros(0, int)), 0, "velocity/step is no list of steps"),
    "few_steps": (frames([0, 10]), None, "position/step holds 2 steps, and the positions 3 frames; name frame: 1"),
    "half_step": (frames([0, 10.5, 20]), 1, "step holds 10.5, which is no whole number"),
    "far_step": (frames(every(2**62), every(3)), None, "gives frame 2 a step beyond"),
    "tilted": (frames(**{"box/edges": (MATRICES[0] + np.eye(3, k=1), every(0))}), 0, "its box is triclinic"),
    "bonds": (FIXED | {"/connectivity/bonds": np.array([[0, 1]])}, None, "bonds holds bonds, and particles here"),
    "exact": (FIXED | {"/exact/id": IDS, "/exact/state": np.zeros((4, 6))}, None, "its /exact holds no whole numbers"),
}
UNITS = [("position", "nm"), ("velocity", "Angstrom ps-1"), ("box/edges", "nm"), ("position", "?")]


@pytest.mark.parametrize("name", TAKEN)
def test_taken(file, name):
    """Elements of any steps are taken at the step of the positions' frame. One line names the unused parts of a file;
    without such parts there is none."""
    elements, frame, speed, box, *note = TAKEN[name]
    write_elements(file, elements)
    *found, text = checked(file, frame=frame)
    assert found == [0, speed, box] and text.count("\n") == len(note), (found, text)
    assert re.match(f"steelyard: note: {file}: .*{note[0]}" if note else "$", text), text


@pytest.mark.parametrize("name", REFUSED)
def test_refused(file, name):
    """Settings without a meaning, or without effect on this file, are refused, with their place and a remedy."""
    elements, frame, why = REFUSED[name]
    write_elements(file, elements)
    fails_with(3, (), 0, *checking(file, frame=frame), matches=why)


@pytest.mark.parametrize("name, unit", UNITS)
def test_units(file, name, unit):
    """Units that are no reduced ones are refused, wherever they stand."""
    write_elements(file, FIXED, attributes=[(name, "unit", unit)])
    fails_with(3, f"{name} has the unit {unit}, and numbers here are in units of sigma", 0, *checking(file))


def test_reduced_units(file):
    """Reduced units may be named."""
    units = [("position", "unit", "sigma"), ("velocity", "unit", np.bytes_("sigma tau-1")), ("box/edges", "unit", "1")]
    write_elements(file, FIXED, attributes=units)
    assert checked(file) == (0, 1, 7, "")


def test_groups(file):
    """If there are several groups, the deck names one."""
    write_elements(file, FIXED, "fluid")
    write_elements(file, FIXED | {"velocity": VELOCITIES[2]}, "probe")
    fails_with(3, "holds the groups fluid, probe; name one beside the file, as in group: fluid", 0, *checking(file))
    assert [checked(file, group=g) for g in ("fluid", "probe")] == [(0, 1, 7, ""), (0, 3, 7, "")]
    says = "holds no group solid, but fluid, probe; name one of these"
    fails_with(3, says, 0, *checking(file, group="solid"))


@pytest.mark.parametrize("size", (512, 1024, 4096))
def test_user_block(file, size):
    """The signature stands behind a user block of any size."""
    h5py.File(file, "w", userblock_size=size).close()
    write_elements(file, FIXED)
    assert checked(file) == (0, 1, 7, "")


def test_filter(file):
    """A filter that HDF5 lacks is named."""
    write_elements(file, {k: v for k, v in FIXED.items() if k != "velocity"})
    with h5py.File(file, "a") as f:
        f["particles/all"].create_dataset("velocity", data=np.zeros((4, 3)), chunks=(4, 3), compression="lzf")
    fails_with(3, (), 0, *checking(file), matches="velocity is compressed by .*lzf.*, which .* lacks; ")
