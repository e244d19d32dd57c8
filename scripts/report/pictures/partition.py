# SPDX-License-Identifier: MIT
"""Partition over the density, and the load field, by fields_<step>.h5. Left: density, as the mean of 3 x 3 cells, with
the borders between processes. Middle: the same around the most expensive cells. Right: load of each cell there, by the
model that drove the run. In three dimensions, of one layer of cells."""
from common import fail
from plotting import LineCollection, View, borders, field_files, np, plt, read_fields, smoothed

from ..tables import read_text
from ..view import up_of
from . import wraps_of


def draw(options, outdir):
    found = field_files(outdir)
    step = max(options.steps or found)
    if step not in found:
        fail(f"no fields of step {step} in {outdir}; there are {sorted(found)}")
    attributes, (particles, owner, load) = read_fields(found[step], "particles", "owner", "load")
    load_step = attributes.get("load_step", step)
    view = View(options, attributes["cells"], up=up_of(read_text(outdir, "deck.yaml")))
    processes = len(np.unique(owner))
    particles, owner = view(particles), view(owner)
    if load is not None:
        load = view(load / load.mean())
    ny, nx = particles.shape
    density = smoothed(particles, view.of(wraps_of(outdir)))

    # Around the most expensive column: as wide as high, a few hundred cells of it.
    middle = int(np.argmax((load if load is not None else density).sum(axis=0)))
    side = min(nx, ny, 120)
    x0 = int(np.clip(middle - side // 2, 0, nx - side))
    y0 = int(np.clip(ny // 2 - side // 2, 0, ny - side))
    zoom = (x0, x0 + side, y0, y0 + side)

    number = 2 if load is None else 3
    figure, axes = plt.subplots(1, number, figsize=(5 * number + 1, 5.2), layout="constrained")
    labels = view.labels("cell in {}")

    def picture(axis, field, window, cmap, title):
        a, b, c, d = window
        scale = dict(cmap=cmap, vmin=0, vmax=np.percentile(field, 99.9), interpolation="nearest", aspect="equal")
        image = axis.imshow(field[c:d, a:b], origin="lower", extent=window, **scale)
        axis.set(title=title, xlabel=labels["xlabel"])
        return image

    def lines(axis, window, width):
        a, b, c, d = window
        axis.add_collection(LineCollection(borders(owner[c:d, a:b], (a, c)), colors="#1d6fa5", linewidths=width))

    whole, title = (0, nx, 0, ny), f"density (mean of 3 x 3 cells), {processes} processes, step {step}{view.text}"
    picture(axes[0], density, whole, "magma_r", title)
    axes[0].set_ylabel(labels["ylabel"])
    lines(axes[0], whole, 0.15)
    title = "particles per cell (mean of 3 x 3), borders of processes"
    images = [picture(axes[1], density, zoom, "magma_r", title)]
    lines(axes[1], zoom, 0.8)
    if load is not None:
        title = f"load of each cell by the model / mean, step {load_step}"
        images.append(picture(axes[2], load, zoom, "viridis", title))
    for axis, image in zip(axes[1:], images):
        figure.colorbar(image, ax=axis, shrink=0.8)
    return figure
