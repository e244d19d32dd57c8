# SPDX-License-Identifier: MIT
"""Lines of many models and runs in one plot: styles, an axis that all runs share, and places for the names at the ends
of lines. The page's spread() in charts.js computes the same places as spread() here."""

# The colours of Okabe and Ito (Color Universal Design, 2008; recommended by Wong, Nature Methods 8, 441, 2011) without
# yellow, which is too light on white. People with any kind of colour vision can tell them apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
DASHES = ((), (6, 2.5), (1.5, 2), (8, 2, 1.5, 2))  # lengths of ink and gap in points
# The styles of the first, second, ... line. The numbers of colours and dashes have no common divisor, so 28 styles
# differ, and neighbours differ both in colour and in dash.
LINE_STYLES = [(COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]) for k in range(len(COLOURS) * len(DASHES))]


def axis_of(spans):
    """How the steps of several runs lie on one axis, so that each run takes at least a third of it.

    spans: the first and the last step of each run.
    Returns the label of the axis, and for each run (origin, unit): a step lies at (step - origin) / unit.
    """
    lengths = [b - a for a, b in spans]
    if 3 * min(lengths) >= max(b for _, b in spans) - min(a for a, _ in spans):
        return "step", [(0, 1)] * len(spans)
    if 3 * min(lengths) >= max(lengths):
        return "steps since the first balancing", [(a, 1) for a, _ in spans]
    return "part of the steps of each run, %", [(a, (b - a) / 100 or 1) for a, b in spans]


def lowest(values):
    """The lower end of an axis of efficiencies up to 1. values: a list for each line. The first two values of a line
    are left out, because they rate partitions that knew no measured loads."""
    return min(0.9, min(min(v[2:] or v, default=1) for v in values))


def spread(wanted, gap, low, high):
    """Places between low and high, at least `gap` apart and in the order of the wanted ones, with the least sum of
    squared distances from them. If they do not fit, the gap is smaller. Method: pool adjacent violators."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    gap = min(gap, (high - low) / max(1, len(order) - 1))
    blocks = []  # [sum, number] of neighbours that lie gap after gap
    for i, k in enumerate(order):
        blocks.append([wanted[k] - i * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] > blocks[-1][0] * blocks[-2][1]:
            total, number = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += number
    means = [total / number for total, number in blocks for _ in range(number)]
    places = [0.0] * len(order)
    for i, k in enumerate(order):
        places[k] = max(low, min(means[i], high - (len(order) - 1) * gap)) + i * gap
    return places
