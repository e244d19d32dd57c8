# SPDX-License-Identifier: MIT
"""Density and its profile, by fields_<step>.h5. Above: the number density of each step. Below: the mean density along x
inside the material, relative to its median at the start. Because a cell holds only a few particles, both are smoothed.
The density is the mean of 3 x 3 cells, so it reaches a cell beyond the particles. The profile is the mean of 3 columns.
In three dimensions the density is the mean along an axis, or that of one layer of cells. If the picture has no x axis,
the profile is one along y."""
from common import fail
from plotting import AXES, View, field_files, nearest, np, plt, read_fields, smoothed

from ..tables import read_text
from ..view import up_of
from . import wraps_of


def read_field(path, view):
    attributes, (particles,) = read_fields(path, "particles", pick=view)
    density = particles / np.prod(attributes["box"] / attributes["cells"])
    return density, int(attributes["step"]), float(np.ravel(attributes["time"])[0])


def profile(density, rows, wraps):
    """Mean over the rows that hold material at the start; smoothed, since a cell holds only a few particles."""
    return smoothed(density[rows].mean(axis=0), wraps[:1])


def evenly(steps):
    """The steps to draw: all of up to four. If there are more, four or three equally far apart are drawn, from the
    first to the last. If no such steps exist, the ones nearest to four such steps are drawn."""
    if len(steps) <= 4:
        return steps
    for number in (4, 3):
        wanted = np.linspace(steps[0], steps[-1], number)
        if set(wanted) <= set(steps):
            return [int(step) for step in wanted]
    return nearest(steps, np.linspace(steps[0], steps[-1], 4))


def draw(options, outdir):
    found, boundary = field_files(outdir), wraps_of(outdir)
    steps = sorted(options.steps or evenly(list(found)))
    if not options.steps and len(steps) < len(found) and len(set(np.diff(steps))) > 1:
        uneven = f"Of {len(found)} frames no three or four from the first to the last are equally far apart"
        print(f"{uneven}: drawn are {steps}; --steps chooses others.")
    missing = [s for s in steps if s not in found]
    if missing:
        fail(f"no fields of step {missing[0]}; there are {sorted(found)}")

    attributes, _ = read_fields(found[min(found)], "particles")
    view = View(options, attributes["cells"], mean=True, up=up_of(read_text(outdir, "deck.yaml")))
    box, wraps = view.of(attributes["box"]), view.of(boundary)
    start, _, _ = read_field(found[min(found)], view)
    # Rows well inside the material: where most columns of the fuller slab are filled.
    filled = (start > 0).mean(axis=1)
    rows = filled > 0.9 * filled.max()
    columns = profile(start, rows, wraps)
    reference = np.median(columns[columns > 0.5 * columns.max()])
    fields = [read_field(found[s], view) for s in steps]
    top = max(np.percentile(smoothed(f[0], wraps), 99.9) for f in fields) / reference

    layout = dict(
        squeeze=False, sharex=True, sharey="row", layout="constrained", gridspec_kw={"height_ratios": [2, 1.2]}
    )
    figure, axes = plt.subplots(2, len(steps), figsize=(3.6 * len(steps) + 1, 5.2), **layout)
    scale = dict(cmap="magma_r", vmin=0, vmax=top, interpolation="nearest", aspect="equal")
    profiles = [profile(density, rows, wraps) / reference for density, _, _ in fields]
    for (axis, below), values, (density, step, time) in zip(axes.T, profiles, fields):
        extent = [0, box[0], 0, box[1]]
        image = axis.imshow(smoothed(density, wraps) / reference, origin="lower", extent=extent, **scale)
        axis.set_title(f"t = {time:g} (step {step}){view.text}")
        x = (np.arange(density.shape[1]) + 0.5) * box[0] / density.shape[1]
        below.plot(x, values, color="#5b2a86", lw=1)
        below.axhline(1, color="0.6", lw=0.8, ls="--")
        place = dict(xycoords="axes fraction", ha="right", va="top", fontsize=9)
        below.annotate(f"max {values.max():.2f}", (0.97, 0.9), **place)
        most = max(1.3, 1.1 * max(v.max() for v in profiles))
        below.set(ylim=(0, most), xlabel=f"{AXES[view.shown[0]]} / sigma")
    axes[0][0].set_ylabel(f"{AXES[view.shown[1]]} / sigma")
    axes[1][0].set_ylabel("density / initial,\nmean of 3 columns")
    figure.colorbar(image, ax=axes[0], label="density / initial,\nmean of 3 x 3 cells", shrink=0.85, pad=0.01)
    return figure
