# SPDX-License-Identifier: MIT
"""Load balance efficiency against the step, of every model of every directory in one plot, each with a colour, a dash
and its name at the end of the line. Above: LBE, the mean over the largest compute time of the processes. Below: LBE_m,
the same of the loads of the partition in use: the efficiency that its model predicts."""
import os

from common import fail, read_csv, read_json
from plotting import plt

from ..lines import LINE_STYLES, axis_of, lowest, spread


def read(outdir):
    """{model: [(step, LBE, LBE_m), ...]}, the driver first, and the summary."""
    path = os.path.join(outdir, "balance.csv")
    advice = "give the output directory of a run that has ended, with balance.every > 0"
    rows = read_csv(path, ("step", "model", "lbe", "lbe_model", "decision"), advice)
    curves = {}
    for r in rows:
        if r["decision"] != "kept: clock":
            curves.setdefault(r["model"], []).append((int(r["step"]), float(r["lbe"]), float(r["lbe_model"])))
    if not curves:
        fail(f"{path} holds no balancing that the clock could resolve")
    return curves, read_json(os.path.join(outdir, "summary.json"), ("overall_lbe", "overall_lbe_measured"), advice)


def name_ends(axis, lines, names):
    """Writes the names beside the axis, in the order of the lines' ends, with a leader from the end to the name. The
    limits of the axis must be set."""
    axis.figure.draw_without_rendering()  # the layout gives the axis its height
    height = axis.get_window_extent().height / axis.figure.dpi * 72  # in points
    ends = [axis.transLimits.transform((line.get_xdata()[-1], line.get_ydata()[-1])) for line in lines]
    places = spread([height * min(1, max(0, y)) for _, y in ends], 10, 0, height)
    for line, name, (x, y), place in zip(lines, names, ends, places):
        leader = dict(arrowstyle="-", color=line.get_color(), lw=0.6, shrinkA=0, shrinkB=0, relpos=(0, 0.5))
        where = dict(xycoords="axes fraction", textcoords="axes fraction", va="center", fontsize=8)
        end, beside = (x, min(1, max(0, y))), (1.035, place / height)
        axis.annotate(name, end, beside, arrowprops=leader, annotation_clip=False, **where)


def draw_lines(axis, curves, column, names):
    """Draws a column of each curve in percent, with its name. curves: [(x, LBE, LBE_m), ...] of each line."""
    lines = []
    for k, points in enumerate(curves):
        colour, dash = LINE_STYLES[k % len(LINE_STYLES)]
        x, values = zip(*((p[0], 100 * p[column]) for p in points))
        # A dash is in units of the line's width.
        (line,) = axis.plot(x, values, color=colour, lw=1.2, ls=(0, tuple(d / 1.2 for d in dash)) if dash else "-")
        axis.plot(x[-1], values[-1], ".", color=colour, ms=4)
        lines.append(line)
    low = 100 * lowest([[p[column] for p in points] for points in curves])
    axis.set(ylim=(low - 0.03 * (100 - low), 100 + 0.03 * (100 - low)))
    axis.margins(x=0.01)
    axis.grid()
    name_ends(axis, lines, names)


def gather(outdirs, drivers=False):
    """What is drawn of all directories, of all models or of the drivers. A dictionary:

    label: of the axis of steps.  origin, unit: where the steps of the first directory lie (lines.axis_of()).
    curves, names, overall: of each line; overall LBE after the first measured update, if there is one, and of all.
    seconds: of each line, the time to compute and balance by counted work, or None.
    titles: of each directory.
    """
    runs, found = [read(o) for o in outdirs], {"curves": [], "names": [], "overall": [], "seconds": [], "titles": []}
    models = [list(curves)[: 1 if drivers else None] for curves, _ in runs]
    spans = [[f(p[0] for points in curves.values() for p in points) for f in (min, max)] for curves, _ in runs]
    found["label"], places = axis_of(spans)
    for (curves, s), outdir, own, (origin, unit) in zip(runs, outdirs, models, places):
        folder = os.path.basename(os.path.normpath(outdir))
        for model in own:
            name = f"{folder}: {model}" if max(map(len, models)) > 1 else folder
            found["curves"].append([((step - origin) / unit, *rest) for step, *rest in curves[model]])
            found["names"].append(name if len(runs) > 1 else model)
            found["overall"].append((s["overall_lbe_measured"].get(model), s["overall_lbe"].get(model)))
            found["seconds"].append((s.get("contenders") or {}).get(model, {}).get("seconds"))
        clock = "counted work" if s["clock"] == "work" else "wall clock"
        ranks = f"{s['ranks']} rank{'s' if s['ranks'] != 1 else ''}"
        found["titles"].append(f"{s['deck']}, {folder}: {s['processes']} processes on {ranks}, {clock}")
    return {**found, "origin": places[0][0], "unit": places[0][1]}


def draw(options, *outdirs):
    found = gather(outdirs)
    high = max(2.7, 0.15 * len(found["curves"]))  # a name takes 10 points
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.5, 2 * high + 0.6), sharex=True, layout="constrained")
    above.set_title("\n".join(found["titles"]))
    above.set(ylabel="LBE, %")
    below.set(ylabel="LBE_m, %", xlabel=found["label"])
    names = []
    for name, (after, all_), seconds in zip(found["names"], found["overall"], found["seconds"]):
        time = "" if seconds is None else f"  {seconds:.4g} s"
        names.append(f"{name}  {100 * (all_ if after is None else after):.1f} ({100 * all_:.1f}){time}")
    draw_lines(above, found["curves"], 1, names)
    draw_lines(below, found["curves"], 2, found["names"])
    heading = "overall LBE, %, after the first\nmeasured update (of all)"
    if any(s is not None for s in found["seconds"]):
        heading += ", seconds"
    above.annotate(heading, (1.035, 1), (0, 8), "axes fraction", "offset points", fontsize=7, color="0.35")
    return figure
