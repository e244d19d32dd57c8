# SPDX-License-Identifier: MIT
"""The box over time and how balanced the processes were. Frames of map.csv show the borders between processes, in a row
for each directory and colour. Below them is the LBE over the steps, with lines at the frames."""
import os

from common import fail
from plotting import AXES, LineCollection, View, borders, nearest, np, plt

from ..run import box_of, read_map, text_of
from ..tables import Notes, read_text
from ..view import up_of
from . import PICTURES, lbe

COLOURS = {"density": "YlGnBu", "load": "OrRd", "process": "Set2"}


class Frames:
    """The frames of a run. x, y: edges of the blocks of cells along the axes that are shown, in sigma."""

    def __init__(self, options, outdir):
        deck = read_text(outdir, "deck.yaml") or ""
        self.name, self.map = os.path.basename(text_of(os.path.abspath(outdir))), read_map(outdir, deck, Notes())
        if not self.map:
            fail(f"{outdir} has no map.csv with a frame that can be drawn; run with output.map_frames > 0")
        self.edges = [np.array(e) for e in self.map["edges"]]
        grid = [e[-1] for e in self.edges]
        box = box_of(deck)
        width = np.append(box["sides"] if box else grid, 1)[:3] / grid
        self.flat = bool(grid[2] == 1)
        self.view = View(options, grid[: 2 if self.flat else 3], mean=True, up=up_of(deck))
        self.x, self.y = (self.edges[a] * width[a] for a in self.view.shown)
        self.cells = np.einsum("i,j,k->ijk", *map(np.diff, self.edges))
        self.volume = width.prod()

    def blocks(self, name, frame):
        """A column of a frame, [up, right]; of owners, which have no mean, those in the middle."""
        if name not in self.map:
            return None
        values = np.array(self.map[name][frame], dtype=float).reshape(self.cells.shape)
        values = values if name == "owner" else values / self.cells
        if self.flat:
            return values[:, :, 0].T
        axis, layer = self.view.axis, self.view.layer
        if layer is None and name != "owner":
            shown = values.mean(axis=axis)
        else:
            layer = self.edges[axis][-1] // 2 if layer is None else layer
            shown = values.take(np.searchsorted(self.edges[axis], layer, side="right") - 1, axis=axis)
        return shown.T if self.view.shown[0] < self.view.shown[1] else shown

    def field(self, colour, frame):
        """The colours of a frame; None where the run knows of no loads yet."""
        if colour == "density":
            return self.blocks("particles", frame) / self.volume
        if colour == "process":
            return self.blocks("owner", frame) % 8
        load = self.blocks("load", frame)
        return None if load is None or np.isnan(load).any() else 1e6 * load

    def borders(self, frame):
        lines = borders(self.blocks("owner", frame))
        return [[(self.x[i], self.y[j]) for i, j in line] for line in lines]

    def chosen(self, wanted, colour):
        """The frames that are nearest to the steps wanted, else some that are spread over the run."""
        steps = [s for f, s in enumerate(self.map["step"]) if self.field(colour, f) is not None]
        if not steps:
            fail(f"{self.name}/map.csv has no loads, since the run did not balance; choose another --colour")
        return [self.map["step"].index(s) for s in nearest(steps, wanted or np.linspace(steps[0], steps[-1], 4))]


def draw_lbe(axis, found, frames):
    """Draws the LBE of all models of a run, of several runs that of the drivers. frames: steps of the first run."""
    for step in frames:
        axis.axvline((step - found["origin"]) / found["unit"], color="0.6", lw=0.8, zorder=0)
    axis.set_xlabel(found["label"], fontsize=9)
    axis.set_ylabel("LBE (overall), %", fontsize=9)
    axis.tick_params(labelsize=8)
    names = [f"{name} ({100 * all_:.1f})" for name, (_, all_) in zip(found["names"], found["overall"])]
    lbe.draw_lines(axis, found["curves"], 1, names)


def draw_frame(axis, run, frame, field, **colours):
    """A frame with its borders, thinner the more processes there are. Returns what a bar of colours is for."""
    image = axis.pcolormesh(run.x, run.y, field, rasterized=True, **colours)
    processes = 1 + max(run.map["owner"][frame])
    width = 1.1 if processes <= 16 else 0.7 if processes <= 200 else 0.3
    for ink, wide in (("white", 2 * width), ("#16202c", width)):
        axis.add_collection(LineCollection(run.borders(frame), colors=ink, linewidths=wide))
    title = f"step {run.map['step'][frame]:,}{run.view.text}"
    axis.set(aspect="equal", xlim=(0, run.x[-1]), ylim=(0, run.y[-1]), title=title)
    return image


def draw(options, *outdirs):
    wanted = [c for c in options.colour or ["density"] if c in COLOURS]
    if not wanted:
        fail(f"a map has the colours {', '.join(COLOURS)}; give one of them to --colour")
    rows = [(run, colour) for run in [Frames(options, o) for o in outdirs] for colour in wanted]
    first, chosen = rows[0][0], []
    for run, colour in rows:  # about the same moments in all of them
        wanted = options.steps or [first.map["step"][f] for f in (chosen or [[]])[0]]
        chosen.append(run.chosen(wanted, colour))
    fields = [[run.field(colour, f) for f in frames] for (run, colour), frames in zip(rows, chosen)]
    with_lbe = all(os.path.isfile(os.path.join(o, name)) for o in outdirs for name in PICTURES["lbe"])
    lines = lbe.gather(outdirs, drivers=len(outdirs) > 1) if with_lbe else {"curves": ()}
    columns = max(len(frames) for frames in chosen)
    wide = min(5, 13 / columns)
    below = max(1.9, 0.6 + 0.15 * len(lines["curves"]))
    heights = [wide * first.y[-1] / first.x[-1] + 0.3] * len(rows) + [below] * with_lbe
    figure = plt.figure(figsize=(wide * columns + 1.2, sum(heights) + 0.8), layout="constrained")
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    for row, (run, colour) in enumerate(rows):
        same = [f for (_, c), drawn in zip(rows, fields) if c == colour for f in drawn]
        top = 7 if colour == "process" else max(np.percentile(f, 99.8) for f in same) or 1
        axes = [figure.add_subplot(grid[row, column]) for column in range(len(chosen[row]))]
        for axis, frame, field in zip(axes, chosen[row], fields[row]):
            image = draw_frame(axis, run, frame, field, cmap=COLOURS[colour], vmin=0, vmax=top)
            axis.tick_params(labelsize=8, labelleft=axis is axes[0], labelbottom=row == len(rows) - 1)
            if row == len(rows) - 1:
                axis.set_xlabel(f"{AXES[run.view.shown[0]]} / sigma", fontsize=9)
        name = f"{run.name}\n" if len(outdirs) > 1 else ""
        axes[0].set_ylabel(f"{name}{AXES[run.view.shown[1]]} / sigma", fontsize=9)
        if colour != "process":
            label = "load of a\ncell / \u00b5s" if colour == "load" else "particles /\nsigma" + "\u00b3\u00b2"[run.flat]
            bar = figure.colorbar(image, ax=axes, pad=0.01, aspect=12)
            bar.ax.tick_params(labelsize=8)
            bar.set_label(label, fontsize=8)
    if with_lbe:
        draw_lbe(figure.add_subplot(grid[len(rows), :]), lines, [first.map["step"][f] for f in chosen[0]])
    return figure
