#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Partition over the density, and the load field: plot_partition.py OUTDIR [--step N] [--output FILE]

Reads fields_<step>.h5 (particles, owner, load). Left: density with the borders between processes; middle: the same
around the most expensive cells; right: load of each cell there, by the model that drove the run. Writes
OUTDIR/partition.png.
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


def borders(owner, window):
    """Line segments between cells of different owners inside window = (x0, x1, y0, y1), cells."""
    x0, x1, y0, y1 = window
    o = owner[y0:y1, x0:x1]
    segments = []
    for j, i in np.argwhere(o[:, 1:] != o[:, :-1]):
        segments.append([(x0 + i + 1, y0 + j), (x0 + i + 1, y0 + j + 1)])
    for j, i in np.argwhere(o[1:, :] != o[:-1, :]):
        segments.append([(x0 + i, y0 + j + 1), (x0 + i + 1, y0 + j + 1)])
    return segments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir")
    parser.add_argument("--step", type=int, help="default: the last one there")
    parser.add_argument("--output", help="picture (default: OUTDIR/partition.png)")
    arguments = parser.parse_args()
    found = {
        int(re.search(r"fields_(\d+)\.h5$", p).group(1)): p
        for p in glob.glob(os.path.join(arguments.outdir, "fields_*.h5"))
    }
    step = arguments.step if arguments.step is not None else max(found, default=None)
    if step not in found:
        sys.exit(f"plot_partition.py: no fields of step {step} in {arguments.outdir}; run with output.fields_every > 0")
    with h5py.File(found[step]) as f:
        particles, owner = f["particles"][:], f["owner"][:]
        load = f["load"][:] if "load" in f else None
        load_step = (
            int(f["load"].attrs.get("step", step)) if load is not None else step
        )  # version 0.1.0 has no such attribute
    ny, nx = particles.shape
    density = sum(np.roll(np.roll(particles, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) / 9.0

    # Around the most expensive column: as wide as high, a few hundred cells of it.
    middle = int(np.argmax((load if load is not None else density).sum(axis=0)))
    side = min(nx, ny, 120)
    x0 = int(np.clip(middle - side // 2, 0, nx - side))
    y0 = int(np.clip(ny // 2 - side // 2, 0, ny - side))
    zoom = (x0, x0 + side, y0, y0 + side)

    figure, axes = plt.subplots(
        1, 3 if load is not None else 2, figsize=(16 if load is not None else 11, 5.2), layout="constrained"
    )

    def draw(axis, field, window, cmap, title, **scale):
        a, b, c, d = window
        image = axis.imshow(
            field[c:d, a:b],
            origin="lower",
            extent=[a, b, c, d],
            cmap=cmap,
            interpolation="nearest",
            aspect="equal",
            **scale,
        )
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("cell in x")
        return image

    from matplotlib.collections import LineCollection

    whole = (0, nx, 0, ny)
    top = np.percentile(density, 99.9)
    draw(
        axes[0], density, whole, "magma_r", f"density, {len(np.unique(owner))} processes, step {step}", vmin=0, vmax=top
    )
    axes[0].add_collection(LineCollection(borders(owner, whole), colors="#1d6fa5", linewidths=0.15))
    axes[0].set_ylabel("cell in y")
    image = draw(
        axes[1], density, zoom, "magma_r", "particles per cell (mean of 3 x 3), borders of processes", vmin=0, vmax=top
    )
    axes[1].add_collection(LineCollection(borders(owner, zoom), colors="#1d6fa5", linewidths=0.8))
    figure.colorbar(image, ax=axes[1], shrink=0.8)
    if load is not None:
        mean = load.mean()
        image = draw(
            axes[2],
            load / mean,
            zoom,
            "viridis",
            f"load of each cell by the model / mean, step {load_step}",
            vmin=0,
            vmax=np.percentile(load / mean, 99.9),
        )
        figure.colorbar(image, ax=axes[2], shrink=0.8)
    path = arguments.output or os.path.join(arguments.outdir, "partition.png")
    figure.savefig(path, dpi=130)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
