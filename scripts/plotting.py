# SPDX-License-Identifier: MIT
"""What the scripts that draw share: the libraries they need, cell fields, smoothing, borders, and the file written."""
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


def field_files(outdir):
    """{step: path} of the cell fields in a run's directory."""
    if not os.path.isdir(outdir):
        fail(f"{outdir} is no directory; give the output directory of a run")
    found = {int(re.search(r"fields_(\d+)\.h5$", p)[1]): p for p in glob.glob(os.path.join(outdir, "fields_*.h5"))}
    if not found:
        fail(f"no fields_<step>.h5 in {outdir}; run with output.fields_every > 0")
    return dict(sorted(found.items()))


def read_fields(path, *names):
    """Attributes of a file of cell fields, and the datasets of these names, [y, x]; None for one that is not there."""
    try:
        with h5py.File(path) as f:
            attributes = dict(f.attrs, **{f"{n}_step": int(f[n].attrs.get("step", -1)) for n in names if n in f})
            found = [f[n][:] if n in f else None for n in names]
    except OSError as e:
        fail(f"cannot read {path}: {reason(e)}")
    if found and found[0] is None:
        fail(f"{path} has no {names[0]}; it is no file of cell fields of a run")
    return attributes, found


def periodic(outdir):
    """Of both axes, x and y: does the box of a run wrap around? By the deck in its output directory."""
    try:
        with open(os.path.join(outdir, "deck.yaml")) as f:
            found = re.search(r"^\s*boundary:\s*\[\s*(\w+)\s*,\s*(\w+)\s*\]", f.read(), re.M)
    except OSError as e:
        fail(f"cannot read {outdir}/deck.yaml: {reason(e)}; it says where the box wraps around")
    if not found:
        fail(f"{outdir}/deck.yaml has no boundary; it is not the deck that a run wrote")
    return found[1] == "periodic", found[2] == "periodic"


def smoothed(field, wraps):
    """Mean of 3 x 3 cells [y, x], or of 3 along a line: single cells beat with the lattice. Over an end of an axis it
    goes on at the other one where the box wraps around (wraps: of x, y), else it is mirrored there, so nothing
    crosses a wall and nothing is lost."""
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
