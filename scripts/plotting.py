# SPDX-License-Identifier: MIT
"""The common part of the scripts that draw: libraries, cell fields and their layers, smoothing, borders, and files."""
import glob
import os
import re
import sys

from common import fail, reason


def with_debians_python(error):
    """If this Python lacks the libraries of plots and Debian's own has them, the script goes on with the latter."""
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
SIZES = {"axes.titlesize": 10, "legend.fontsize": 8, "figure.titlesize": 11}
matplotlib.rcParams.update({**SIZES, "grid.alpha": 0.3})
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


def nearest(steps, wanted):
    """The steps nearest to the wanted ones."""
    return sorted({min(steps, key=lambda s: abs(s - w)) for w in wanted})


class View:
    """The part of the cells that is drawn. In two dimensions all cells [y, x] are drawn. In three dimensions a layer of
    the cells [z, y, x] is drawn, or the mean along an axis.

    shown: The two axes in the picture, the horizontal one first.  text: For a title; empty in 2D.
    axis, layer: In 3D; the layer is None for a mean.
    """

    def __init__(self, options, cells, mean=False, layer=None, up=None):
        """By options.slice and options.project (report.py --help). With neither, of an axis alone, and with `mean`: the
        mean along it, else this layer, or the one in the middle.  cells: their number along each axis.
        up: (axis, sign) that is upright if it is in the picture. Without options, it is."""
        self.index, self.shown, self.text = (slice(None),) * 2, (0, 1), ""
        self.axis = self.layer = None
        if len(cells) == 2:
            if options.slice or options.project:
                fail("there are two dimensions, which are drawn whole; leave out --slice and --project")
            return
        self.axis = AXES.index(options.project or ("y" if up and up[0] == 2 else "z"))
        if mean and not options.slice:
            self.index, self.text = (slice(None),) * 3, f", mean along {AXES[self.axis]}"
        else:
            middle = cells[self.axis] // 2 if layer is None or options.project else layer
            found = re.fullmatch(r"([xyz])=(\d+)", options.slice or f"{AXES[self.axis]}={middle}")
            if not found or int(found[2]) >= cells[AXES.index(found[1])]:
                limits = ", ".join(f"{name}=0 to {name}={n - 1}" for name, n in zip(AXES, cells))
                fail(f"--slice {options.slice}: there is no such layer of cells; give one of {limits}")
            self.axis, self.layer = AXES.index(found[1]), int(found[2])
            self.index = tuple(self.layer if a == self.axis else slice(None) for a in (2, 1, 0))
            self.text = f", layer {found[1]} = {self.layer}"
        self.shown = tuple(sorted((a for a in range(3) if a != self.axis), key=lambda a: (bool(up) and a == up[0], a)))

    def __call__(self, cells):
        """The picture [vertical, horizontal] of cells."""
        picked = cells[self.index]
        picked = picked.mean(axis=2 - self.axis) if picked.ndim == 3 else picked
        return picked if self.shown[0] < self.shown[1] else picked.T

    def of(self, values):
        """The two of the axes' values that belong to the shown axes."""
        return [values[a] for a in self.shown]

    def labels(self, what):
        """The labels of the picture's axes, for Axes.set(): what is counted along them, with {} for the name."""
        return dict(zip(("xlabel", "ylabel"), (what.format(AXES[a]) for a in self.shown)))


def smoothed(field, wraps):
    """Mean of 3 x 3 cells [y, x], or of 3 along a line, because single cells beat with the lattice. If the box wraps
    around (wraps: horizontal axis, vertical axis), the mean at one end takes cells of the other. If the box has a wall
    there, the field is mirrored, so nothing crosses the wall and nothing is lost."""
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


def save(figure, path, dpi=110):
    """Writes the picture, a PNG with a palette, a third of the bytes, and says where it is."""
    try:
        figure.savefig(path, dpi=dpi)
        if path.endswith(".png"):
            from PIL import Image  # which matplotlib needs, too

            with Image.open(path) as picture:
                small = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
            small.save(path, format="PNG", optimize=True)
    except (OSError, ValueError) as e:
        fail(f"cannot write {path}: {e}")
    plt.close(figure)
    print(f"wrote {path}")
