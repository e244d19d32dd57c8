#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Density map and profile of a run: plot_density.py OUTDIR [--steps N ...] [--output FILE]

Reads fields_<step>.h5 (particles per cell) and draws the number density for each step, and below it the mean density
along x inside the material, relative to its median at the start. Writes OUTDIR/density.png.
"""
import argparse
import glob
import os
import re
import sys

import h5py
import matplotlib
import matplotlib.pyplot as plt
import numpy as np

matplotlib.use("Agg")


def read_field(path):
    with h5py.File(path) as f:
        box, cells = f.attrs["box"], f.attrs["cells"]
        area = (box[0] / cells[0]) * (box[1] / cells[1])
        return f["particles"][:] / area, box, int(f.attrs["step"]), float(np.ravel(f.attrs["time"])[0])


def profile(density, rows):
    """Mean over the rows that hold material at the start; smoothed over 3 columns, since a cell holds only a few
    particles."""
    p = density[rows].mean(axis=0)
    return np.convolve(np.pad(p, 1, mode="wrap"), np.ones(3) / 3, mode="valid")


def smoothed(density):
    """Mean of 3 x 3 cells: single cells beat with the lattice."""
    total = sum(np.roll(np.roll(density, i, axis=0), j, axis=1) for i in (-1, 0, 1) for j in (-1, 0, 1))
    return total / 9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir")
    parser.add_argument("--steps", type=int, nargs="*", help="steps to draw (default: up to four, evenly)")
    parser.add_argument("--output", help="picture (default: OUTDIR/density.png)")
    arguments = parser.parse_args()
    found = {
        int(re.search(r"fields_(\d+)\.h5$", p).group(1)): p
        for p in glob.glob(os.path.join(arguments.outdir, "fields_*.h5"))
    }
    if not found:
        sys.exit(f"plot_density.py: no fields_*.h5 in {arguments.outdir}; run with output.fields_every > 0")
    steps = sorted(arguments.steps or found)
    if not arguments.steps and len(steps) > 4:
        steps = [steps[i] for i in np.linspace(0, len(steps) - 1, 4).round().astype(int)]
    missing = [s for s in steps if s not in found]
    if missing:
        sys.exit(f"plot_density.py: no fields of step {missing[0]}; there are {sorted(found)}")

    start, box, _, _ = read_field(found[min(found)])
    # Rows well inside the material: where most columns of the fuller slab are filled.
    filled = (start > 0).mean(axis=1)
    rows = filled > 0.9 * filled.max()
    columns = profile(start, rows)
    reference = np.median(columns[columns > 0.5 * columns.max()])
    fields = [read_field(found[s]) for s in steps]
    top = max(np.percentile(smoothed(f[0]), 99.9) for f in fields) / reference

    figure, axes = plt.subplots(
        2,
        len(steps),
        figsize=(3.6 * len(steps) + 1, 5.2),
        squeeze=False,
        sharex=True,
        layout="constrained",
        gridspec_kw={"height_ratios": [2, 1.2]},
    )
    for column, (density, box, step, time) in enumerate(fields):
        axis = axes[0][column]
        image = axis.imshow(
            smoothed(density) / reference,
            origin="lower",
            extent=[0, box[0], 0, box[1]],
            vmin=0,
            vmax=top,
            cmap="magma_r",
            interpolation="nearest",
            aspect="equal",
        )
        axis.set_title(f"t = {time:g} (step {step})", fontsize=10)
        axis.tick_params(labelbottom=False)
        below = axes[1][column]
        x = (np.arange(density.shape[1]) + 0.5) * box[0] / density.shape[1]
        values = profile(density, rows) / reference
        below.plot(x, values, color="#5b2a86", lw=1)
        below.axhline(1, color="0.6", lw=0.8, ls="--")
        below.annotate(
            f"max {values.max():.2f}", (0.97, 0.9), xycoords="axes fraction", ha="right", va="top", fontsize=9
        )
        below.set_ylim(0, max(1.3, 1.1 * max((profile(f[0], rows) / reference).max() for f in fields)))
        below.set_xlabel("x / sigma")
        if column == 0:
            axis.set_ylabel("y / sigma")
            below.set_ylabel("density / initial")
        else:
            axis.tick_params(labelleft=False)
            below.tick_params(labelleft=False)
    figure.colorbar(image, ax=axes[0], label="density / initial", shrink=0.85, pad=0.01)
    path = arguments.output or os.path.join(arguments.outdir, "density.png")
    figure.savefig(path, dpi=130)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
