# SPDX-License-Identifier: MIT
"""The particles of a run as spheres, by trajectory.h5 and, of the same steps, fields_<step>.h5. One column for each
step; above, particles have the colour of the process that owns their cell, and below that of their kinetic energy.
Lines are the edges of what a process owns; where particles hide them they are faint."""
import os

from common import fail, reason
from plotting import field_files, h5py, matplotlib, np, plt, read_fields

COLOURS = ("process", "energy")
WIDTH = 420  # of a column, in dots
FINE = 3  # dots are the mean of so many by so many that are computed
LIGHT = np.array([-0.45, 0.55, 0.7]) / np.linalg.norm([-0.45, 0.55, 0.7])


def read_frames(path):
    """{step: (positions, velocities)} of a trajectory, read when they are asked for."""
    try:
        group = h5py.File(path)["particles/all"]
        position, velocity = group["position"], group["velocity"]
        steps = position["step"][:]
    except OSError as e:
        fail(f"cannot read {path}: {reason(e)}; run with output.trajectory_every > 0")
    except KeyError:
        fail(f"{path} lacks positions or velocities; run with output.trajectory_columns: [position, velocity]")
    return {int(s): (position["value"], velocity["value"], i) for i, s in enumerate(steps)}


class Camera:
    """Looks along parallel lines at a box of these sides: dots to the right, dots up, and height towards the viewer."""

    def __init__(self, box, flat):
        a, b = (0, 0) if flat else np.radians((28, 24))  # around the vertical axis, and down at it
        turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        tilt = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
        corners = np.array(np.meshgrid(*[(0, side) for side in box])).reshape(3, -1).T @ (tilt @ turn).T
        low, high = corners.min(axis=0) - 0.5, corners.max(axis=0) + 0.5
        self.scale = WIDTH * FINE / (high[0] - low[0])
        self.turn, self.low = self.scale * tilt @ turn, self.scale * low
        # Whole dots of the picture.
        self.shape = int(np.ceil(self.scale * (high[1] - low[1]) / FINE)) * FINE, WIDTH * FINE

    def __call__(self, x):
        return x @ self.turn.T - self.low


def spheres(camera, x):
    """For each dot: the particle nearest to the viewer (-1: none), its height there, and how bright it is."""
    x, radius = camera(x), 0.5 * camera.scale
    nearest, height = np.full(camera.shape, -1), np.full(camera.shape, -np.inf)
    bright = np.ones(camera.shape)
    reach = int(np.ceil(radius))
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            dots = np.floor(x[:, :2]).astype(int) + (i, j)
            normal = (dots + 0.5 - x[:, :2]) / radius
            inside = (normal**2).sum(axis=1) < 1
            inside &= ((dots >= 0) & (dots < camera.shape[::-1])).all(axis=1)
            who = np.flatnonzero(inside)
            normal = np.column_stack((normal[who], np.sqrt(1 - (normal[who] ** 2).sum(axis=1))))
            top = x[who, 2] + radius * normal[:, 2]
            # In ascending order, since of those that meet in a dot the last one stays.
            order = np.argsort(top)
            order = order[top[order] > height[dots[who[order], 1], dots[who[order], 0]]]
            at = dots[who[order], 1], dots[who[order], 0]
            nearest[at], height[at] = who[order], top[order]
            bright[at] = 0.35 + 0.65 * np.clip(normal[order] @ LIGHT, 0, 1)
    return nearest, height, bright


def edges(owner, width):
    """Lines [2, 3] along which the surfaces of the processes' regions bend; owner[x, y, z]. Four cells meet in an edge.
    The surface does not bend there if each cell has the owner of its neighbour across one plane."""
    padded, lines = np.pad(owner, 1, constant_values=-1), []
    for axis in range(3):
        first, second = [a for a in range(3) if a != axis]
        around = np.moveaxis(padded, (axis, first, second), (0, 1, 2))[1:-1]
        a, b, c, d = around[:, :-1, :-1], around[:, :-1, 1:], around[:, 1:, :-1], around[:, 1:, 1:]
        bends = ~(((a == b) & (c == d)) | ((a == c) & (b == d)))
        for along, i, j in zip(*np.nonzero(bends)):
            line = np.empty((2, 3))
            line[:, axis], line[:, first], line[:, second] = (along, along + 1), i, j
            lines.append(line * width)
    return lines


def draw_lines(camera, picture, lines, height):
    """Over the picture: dark, or faint behind what is in front of them."""
    ends = camera(np.array(lines))
    steps = np.linspace(0, 1, 2 + int(np.ptp(ends, axis=1).max()))[:, None, None]
    points = (ends[:, 0] + steps * (ends[:, 1] - ends[:, 0])).reshape(-1, 3)
    ink = np.zeros(camera.shape)
    for offset in np.ndindex(FINE, FINE):
        dots = np.clip(points[:, :2].astype(int) + np.array(offset) - FINE // 2, 0, np.array(camera.shape[::-1]) - 1)
        at = dots[:, 1], dots[:, 0]
        np.maximum.at(ink, at, np.where(points[:, 2] > height[at] - camera.scale, 0.85, 0.12))
    return picture * (1 - ink[..., None]) + np.array([0.1, 0.12, 0.2]) * ink[..., None]


def coarse(picture):
    rows, columns = picture.shape[0] // FINE, picture.shape[1] // FINE
    return picture.reshape(rows, FINE, columns, FINE, 3).mean(axis=(1, 3))


class Moment:
    """One step of a run."""

    def __init__(self, frame, fields):
        attributes, (owner,) = read_fields(fields, "owner")
        dimensions = len(attributes["cells"])
        positions, velocities, row = frame
        self.x, v = positions[row], velocities[row]
        self.step, self.time = int(attributes["step"]), float(np.ravel(attributes["time"])[0])
        self.box = np.append(attributes["box"], 1.0)[:3]
        self.owner = owner.T.reshape(np.append(attributes["cells"], 1)[:3])
        self.width = self.box / self.owner.shape
        self.camera = Camera(self.box, dimensions == 2)
        cells = np.minimum((self.x / self.width).astype(int), np.array(self.owner.shape) - 1)
        self.of = {"process": self.owner[tuple(cells.T)], "energy": 0.5 * (v**2).sum(axis=1)}
        self.dots = spheres(self.camera, self.x)

    def picture(self, colour, colours):
        nearest, height, bright = self.dots
        picture = np.where((nearest < 0)[..., None], 1.0, colours(self.of[colour])[nearest, :3] * bright[..., None])
        return coarse(draw_lines(self.camera, picture, edges(self.owner, self.width), height))


def draw(options, outdir):
    wanted = [c for c in options.colour or COLOURS if c in COLOURS]
    if not wanted:
        fail(f"particles have the colours {', '.join(COLOURS)}; give one of them to --colour")
    fields = field_files(outdir)
    frames = read_frames(os.path.join(outdir, "trajectory.h5"))
    both = sorted(set(fields) & set(frames))
    steps = options.steps or sorted({both[0], both[len(both) // 2], both[-1]} if both else {})
    missing = [s for s in steps if s not in both]
    if missing or not steps:
        of = f"of step {missing[0]} " if missing else ""
        fail(f"{outdir} has no frame {of}with cell fields; both are there of {both}")
    moments = [Moment(frames[s], fields[s]) for s in steps]
    processes = 1 + max(m.owner.max() for m in moments)
    top = max(np.percentile(m.of["energy"], 99) for m in moments)
    colours = {
        "process": lambda owner: plt.get_cmap("Set2")(owner % 8),
        "energy": lambda energy: plt.get_cmap("plasma")(np.clip(energy / top, 0, 1)),
    }

    rows, columns = len(wanted), len(moments)
    high = moments[0].camera.shape[0] / moments[0].camera.shape[1]
    wide = WIDTH / 110  # as save() has them
    size = (wide * columns + 0.9, rows * (wide * high + 0.25) + 0.15)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for axis, moment in zip(axes[0], moments):
        axis.set_title(f"t = {moment.time:g} (step {moment.step})")
    for row, colour in zip(axes, wanted):
        for axis, moment in zip(row, moments):
            axis.imshow(moment.picture(colour, colours[colour]), origin="lower", interpolation="antialiased")
            axis.set_axis_off()
        if colour == "energy":
            scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(0, top), "plasma")
            figure.colorbar(scale, ax=row, shrink=0.75, pad=0.01, label="kinetic energy / epsilon")
        elif processes <= 8:
            shown = [matplotlib.patches.Patch(color=colours["process"](n), label=n) for n in range(processes)]
            row[-1].legend(handles=shown, title="process", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure
