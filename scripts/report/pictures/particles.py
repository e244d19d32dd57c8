# SPDX-License-Identifier: MIT
"""The particles of a run as spheres, by trajectory.h5 and, of the same steps, fields_<step>.h5. One column for each
step; above, particles have the colour of the process that owns their cell, and below that of their kinetic energy.
Lines are the edges of what a process owns; where particles hide them they are faint."""
import os

from common import fail, reason
from plotting import AXES, View, field_files, h5py, matplotlib, np, plt, read_fields

from ..tables import read_text
from ..view import up_of

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


def basis(along, up):
    """Unit vectors to the right, up and towards the viewer, who looks along an axis. up: (axis, sign), see up_of(), or
    None for the last axis but that one. Where one looks along the upright axis, it is from above."""
    axis, sign = up or (1 if along == 2 else 2, 1)
    rows = np.zeros((3, 3))
    if axis == along:
        rows[0, min({0, 1, 2} - {along})], rows[2, along] = 1, sign
        rows[1] = np.cross(rows[2], rows[0])
    else:
        rows[0, 3 - axis - along], rows[1, axis] = 1, sign
        rows[2] = np.cross(rows[0], rows[1])
    return rows


class Camera:
    """Looks along parallel lines at a box of these sides: dots to the right, dots up, and height towards the viewer.
    axes: basis(), beside which one looks in three dimensions; None in the plane."""

    def __init__(self, box, axes=None):
        a, b = (0, 0) if axes is None else np.radians((28, 24))  # around the vertical axis, and down at it
        turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        tilt = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
        self.axes, self.sides = np.eye(3) if axes is None else axes, box
        turned = tilt @ turn @ self.axes
        self.corners = np.array(np.meshgrid(*[(0, side) for side in box])).reshape(3, -1).T
        ends = self.corners @ turned.T
        low, high = ends.min(axis=0) - 0.5, ends.max(axis=0) + 0.5
        self.scale = WIDTH * FINE / (high[0] - low[0])
        self.turn, self.low = self.scale * turned, self.scale * low
        # Whole dots of the picture.
        self.shape = int(np.ceil(self.scale * (high[1] - low[1]) / FINE)) * FINE, WIDTH * FINE

    def __call__(self, x):
        return x @ self.turn.T - self.low

    def names(self):
        """(name, middle of an edge of the box, direction outwards) of each axis, in dots of the drawn picture. The edge
        is the leftmost one for the axis that is upright, the lowest one for the others."""
        for axis in range(3):
            middles = np.where(np.arange(3) == axis, self.sides / 2, self.corners[self.corners[:, axis] == 0])
            at = self(middles)[:, :2] / FINE
            upright = self.axes[1, axis] != 0
            edge = at[at[:, 0 if upright else 1].argmin()]
            away = edge - self(self.sides / 2)[:2] / FINE
            yield AXES[axis], edge, away / np.hypot(*away)


def spheres(camera, x):
    """For each dot: the particle nearest to the viewer (-1: none), its height there, and how bright it is."""
    x, radius = camera(x), 0.5 * camera.scale
    # Ascending heights, because of the particles that meet in a dot the last one stays. Centres over one dot are less
    # than a dot apart sideways, so the higher centre has the higher surface.
    order = np.argsort(x[:, 2])
    (across, up, z), (rows, columns) = x[order].T, camera.shape
    left, low = np.floor(across).astype(int), np.floor(up).astype(int)
    across, up = left + 0.5 - across, low + 0.5 - up  # from the centre to the middle of its dot
    nearest, height = np.full(rows * columns, -1), np.full(rows * columns, -np.inf)
    bright = np.ones(rows * columns, "f4")
    reach = int(np.ceil(radius))
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            inside = (across + i) ** 2 + (up + j) ** 2 < radius**2
            inside &= (left >= -i) & (left < columns - i) & (low >= -j) & (low < rows - j)
            who = np.flatnonzero(inside)
            at, a, b = (low[who] + j) * columns + left[who] + i, (across[who] + i) / radius, (up[who] + j) / radius
            c = np.sqrt(1 - a**2 - b**2)
            top = z[who] + radius * c
            seen = top > height[at]
            at, who, normal = at[seen], who[seen], (a[seen], b[seen], c[seen])
            nearest[at], height[at] = order[who], top[seen]
            bright[at] = 0.35 + 0.65 * np.clip(sum(n * light for n, light in zip(normal, LIGHT)), 0, 1)
    return [values.reshape(camera.shape) for values in (nearest, height, bright)]


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


def ink_of(camera, lines, height):
    """How dark lines are in each dot: dark, or faint behind what is in front of them."""
    ends = camera(np.array(lines))
    steps = np.linspace(0, 1, 2 + int(np.ptp(ends, axis=1).max()))[:, None, None]
    points = (ends[:, 0] + steps * (ends[:, 1] - ends[:, 0])).reshape(-1, 3)
    hidden, seen = np.zeros((2, *camera.shape), dtype=bool)
    for offset in np.ndindex(FINE, FINE):
        dots = np.clip(points[:, :2].astype(int) + np.array(offset) - FINE // 2, 0, np.array(camera.shape[::-1]) - 1)
        at = dots[:, 1], dots[:, 0]
        front = points[:, 2] > height[at] - camera.scale
        for mask, where in ((seen, front), (hidden, ~front)):
            mask[at[0][where], at[1][where]] = True
    return np.where(seen, 0.85, np.where(hidden, 0.12, 0)).astype("f4")[..., None]


def coarse(picture):
    rows, columns = picture.shape[0] // FINE, picture.shape[1] // FINE
    return picture.reshape(rows, FINE, columns, FINE, 3).mean(axis=(1, 3))


class Moment:
    """One step of a run."""

    def __init__(self, frame, fields, axes=None):
        """frame: as read_frames() has it.  fields: a path.  axes: of the camera."""
        attributes, (owner,) = read_fields(fields, "owner")
        positions, velocities, row = frame
        self.x, v = positions[row], velocities[row]
        self.step, self.time = int(attributes["step"]), float(np.ravel(attributes["time"])[0])
        self.box = np.append(attributes["box"], 1.0)[:3]
        self.owner = owner.T.reshape(np.append(attributes["cells"], 1)[:3])
        self.width = self.box / self.owner.shape
        self.camera = Camera(self.box, axes)
        cells = np.minimum((self.x / self.width).astype(int), np.array(self.owner.shape) - 1)
        self.of = {"process": self.owner[tuple(cells.T)], "energy": 0.5 * (v**2).sum(axis=1)}
        self.nearest, height, self.bright = spheres(self.camera, self.x)
        self.ink = ink_of(self.camera, edges(self.owner, self.width), height)

    def picture(self, colour, colours):
        shown = colours(self.of[colour])[:, :3].astype("f4")[self.nearest] * self.bright[..., None]
        shown[self.nearest < 0] = 1
        return coarse(shown * (1 - self.ink) + np.array([0.1, 0.12, 0.2], "f4") * self.ink)


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
    up = up_of(read_text(outdir, "deck.yaml"))
    along = View(options, read_fields(fields[steps[0]])[0]["cells"], up=up).axis
    upright = None if along is None else basis(along, up)
    moments = [Moment(frames[s], fields[s], upright) for s in steps]
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
            for name, at, away in () if along is None else moment.camera.names():
                place = dict(textcoords="offset points", ha="center", va="center", fontsize=9)
                axis.annotate(name, at, 8 * away, annotation_clip=False, **place)
        if colour == "energy":
            scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(0, top), "plasma")
            figure.colorbar(scale, ax=row, shrink=0.75, pad=0.01, label="kinetic energy / epsilon")
        elif processes <= 8:
            shown = [matplotlib.patches.Patch(color=colours["process"](n), label=n) for n in range(processes)]
            row[-1].legend(handles=shown, title="process", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return figure
