# SPDX-License-Identifier: MIT
"""What the scripts that draw share: the libraries they need, cell fields and which layer of them is drawn, smoothing,
borders, and the file written."""
import glob
import os
import re
import sys

from common import fail, reason


def with_debians_python(error):
    """Where this Python lacks what plots need and Debian's own has it, the script goes on with that one."""
    debians, script = "/usr/bin/python3", os.path.realpath(sys.argv[0])
    ours = script.startswith(os.path.dirname(os.path.realpath(__file__)) + os.sep)
    if ours and os.path.exists(debians) and not os.environ.get("STEELYARD_DEBIANS_PYTHON"):
        os.environ["STEELYARD_DEBIANS_PYTHON"] = "tried"
        os.execv(debians, [debians, *sys.argv])
    fail(f"{error} for {sys.executable}; plots need numpy, h5py and matplotlib (docs/install.md)")


try:
    import h5py
    import matplotlib
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.collections import LineCollection
except ImportError as e:
    with_debians_python(e)

matplotlib.use("Agg")
__all__ = ["LineCollection", "h5py", "matplotlib", "np", "plt"]
AXES = "xyz"


def field_files(outdir):
    """{step: path} of the cell fields in a run's directory."""
    if not os.path.isdir(outdir):
        fail(f"{outdir} is no directory; give the output directory of a run")
    found = {int(re.search(r"fields_(\d+)\.h5$", p)[1]): p for p in glob.glob(os.path.join(outdir, "fields_*.h5"))}
    if not found:
        fail(f"no fields_<step>.h5 in {outdir}; run with output.fields_every > 0")
    return dict(sorted(found.items()))


def read_fields(path, *names, pick=lambda data: data[:]):
    """Attributes of a file of cell fields, and what is picked of the datasets of these names, [y, x] or, in three
    dimensions, [z, y, x]; None for one that is not there."""
    try:
        with h5py.File(path) as f:
            attributes = dict(f.attrs, **{f"{n}_step": int(f[n].attrs.get("step", -1)) for n in names if n in f})
            found = [pick(f[n]) if n in f else None for n in names]
    except OSError as e:
        fail(f"cannot read {path}: {reason(e)}")
    if found and found[0] is None:
        fail(f"{path} has no {names[0]}; it is no file of cell fields of a run")
    return attributes, found


def periodic(outdir):
    """Of each axis, x first: does the box of a run wrap around? By the deck in its output directory."""
    try:
        with open(os.path.join(outdir, "deck.yaml")) as f:
            found = re.search(r"^\s*boundary:\s*\[([\w\s,]+)\]", f.read(), re.M)
    except OSError as e:
        fail(f"cannot read {outdir}/deck.yaml: {reason(e)}; it says where the box wraps around")
    if not found:
        fail(f"{outdir}/deck.yaml has no boundary; it is not the deck that a run wrote")
    return tuple(word.strip() == "periodic" for word in found[1].split(","))


def add_view(parser, project=False):
    """Options that say what View draws; with `project`, the mean along an axis too."""
    one = parser.add_mutually_exclusive_group()
    middle = "" if project else " (default: z, in the middle)"
    one.add_argument("--slice", metavar="AXIS=LAYER", help=f"in 3D: one layer of cells, from 0, such as z=5{middle}")
    if project:
        one.add_argument("--project", choices=tuple(AXES), help="in 3D: the mean along this axis (default: z)")


class View:
    """What is drawn of cells: in two dimensions, [y, x], all; in three, [z, y, x], a layer, or the mean along an axis.

    shown: the two axes in the picture, the horizontal one first.  text: what is drawn, for a title; empty in 2D.
    """

    def __init__(self, arguments, cells, layer=None):
        """By the options of add_view(); without them the mean along z where they allow it, else this layer along z, or
        the one in the middle.  cells: their number along each axis."""
        self.index, self.mean, self.shown, self.text = (slice(None),) * 2, None, (0, 1), ""
        project = getattr(arguments, "project", None)
        if len(cells) == 2:
            if arguments.slice or project:
                fail("there are two dimensions, which are drawn whole; leave out --slice and --project")
            return
        if not arguments.slice and hasattr(arguments, "project"):
            axis = AXES.index(project or "z")
            self.index, self.mean, self.text = (slice(None),) * 3, 2 - axis, f", mean along {AXES[axis]}"
        else:
            layer = cells[2] // 2 if layer is None else layer
            found = re.fullmatch(r"([xyz])=(\d+)", arguments.slice or f"z={layer}")
            if not found or int(found[2]) >= cells[AXES.index(found[1])]:
                limits = ", ".join(f"{name}=0 to {name}={n - 1}" for name, n in zip(AXES, cells))
                fail(f"--slice {arguments.slice}: there is no such layer of cells; give one of {limits}")
            axis, layer = AXES.index(found[1]), int(found[2])
            self.index = tuple(layer if a == axis else slice(None) for a in (2, 1, 0))
            self.text = f", layer {found[1]} = {layer}"
        self.axis, self.layer = axis, layer
        self.shown = tuple(a for a in range(3) if a != axis)

    def __call__(self, cells):
        """The picture [vertical, horizontal] of cells."""
        picked = cells[self.index]
        return picked if self.mean is None else picked.mean(axis=self.mean)

    def of(self, values):
        """Of values of the axes, those of the two that are shown."""
        return [values[a] for a in self.shown]

    def labels(self, what):
        """The labels of the picture's axes, for Axes.set(): what is counted along them, with {} for the name."""
        return dict(zip(("xlabel", "ylabel"), (what.format(AXES[a]) for a in self.shown)))


def smoothed(field, wraps):
    """Mean of 3 x 3 cells [y, x], or of 3 along a line: single cells beat with the lattice. Over an end of an axis it
    goes on at the other one where the box wraps around (wraps: of the horizontal axis, of the vertical one), else it is
    mirrored there, so nothing crosses a wall and nothing is lost."""
    total = np.asarray(field, dtype=float)
    for axis, wrap in zip(reversed(range(total.ndim)), wraps):
        ends = [(1, 1) if a == axis else (0, 0) for a in range(total.ndim)]
        padded = np.pad(total, ends, mode="wrap" if wrap else "edge")
        n = total.shape[axis]
        total = sum(np.take(padded, range(k, k + n), axis=axis) for k in range(3)) / 3
    return total


def borders(values, at=(0, 0)):
    """Line segments between cells [y, x] of different values; `at` is the place of the first cell. Runs of segments are
    one line each."""
    segments, (left, low) = [], at
    for axis, pairs in ((0, values[:, 1:] != values[:, :-1]), (1, values[1:, :] != values[:-1, :])):
        for k, line in enumerate(pairs.T if axis == 0 else pairs):
            edges = np.flatnonzero(np.diff(np.concatenate(([0], line.view(np.int8), [0]))))
            for a, b in zip(edges[::2], edges[1::2]):
                if axis == 0:
                    segments.append([(left + k + 1, low + a), (left + k + 1, low + b)])
                else:
                    segments.append([(left + a, low + k + 1), (left + b, low + k + 1)])
    return segments


def save(figure, path, dpi=130):
    """Writes the picture and says where it is."""
    try:
        figure.savefig(path, dpi=dpi)
    except (OSError, ValueError) as e:
        fail(f"cannot write {path}: {e}")
    print(f"wrote {path}")


def save_small(figure, path, dpi=100):
    """The same with a palette, a third of the bytes."""
    from PIL import Image  # which matplotlib needs, too

    save(figure, path, dpi)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(path, format="PNG", optimize=True)
