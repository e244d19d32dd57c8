# SPDX-License-Identifier: MIT
"""From where one looks at a box in three dimensions."""
from .tables import list_of

FRAMES = 12  # of a map, that are compared
CLEARLY = 1.2  # so many times as much must change along another axis


def up_of(deck):
    """The direction opposite to gravity, by the text of a deck: (axis, 1 or -1). None without gravity, or in the plane.
    If gravity is along no axis, the axis is that of its largest component."""
    try:
        gravity = [float(word) for word in list_of(deck, "gravity")]
    except ValueError:
        return None
    strengths = [abs(g) for g in gravity]
    if len(strengths) != 3 or not max(strengths) > 0:
        return None
    axis = strengths.index(max(strengths))
    return axis, -1 if gravity[axis] > 0 else 1


def start_axis(frames, up):
    """The axis along which most changes over the frames of a map (cell_map()), so that a reader sees it happen.

    up: as up_of() has it. One does not look along gravity, because a fall cannot be seen from above.
    Measure of an axis: the sum of the variances over time of the particles in columns along it. Noise is the same along
    all axes. Where all axes are about alike, one looks along z.
    """
    choice = [axis for axis in (2, 1, 0) if not up or axis != up[0]]
    nx, ny, nz = (len(e) - 1 for e in frames["edges"])
    if "particles" not in frames or nz == 1:
        return choice[0]

    def columns(values, number, stride):
        return [sum(values[p : p + number * stride : stride]) for p in range(len(values)) if p // stride % number == 0]

    every = -(-len(frames["particles"]) // FRAMES)
    shown = [[n or 0 for n in frame] for frame in frames["particles"][::-every]]
    best, most = choice[0], 0
    for axis in choice:
        change = 0
        for counts in zip(*(columns(frame, *((nx, ny * nz), (ny, nz), (nz, 1))[axis]) for frame in shown)):
            mean = sum(counts) / len(counts)
            change += sum((c - mean) ** 2 for c in counts)
        if change > most * (CLEARLY if axis != choice[0] else 1):
            best, most = axis, change
    return best
