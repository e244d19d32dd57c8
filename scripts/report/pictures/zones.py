# SPDX-License-Identifier: MIT
"""The border between the zones of CPUs and accelerators, by zones.csv. Above: the share of each rank's load that its
accelerators have, and dotted the most that they may have. Below: what a step took the CPU and the accelerators between
two checks."""
import os

from common import fail, read_csv
from plotting import plt

COLUMNS = ("step", "rank", "share", "cpu_seconds", "accelerator_seconds", "next_share", "most_share")


def draw(options, outdir):
    path = os.path.join(outdir, "zones.csv")
    rows = read_csv(path, COLUMNS, "give the output directory of a run with accelerator.backend")
    if not rows:
        fail(f"{path} holds no check of a border; let the run do more steps")
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 6.4), sharex=True, layout="constrained")
    ranks = sorted({int(r["rank"]) for r in rows})
    for rank in ranks:
        own = [r for r in rows if int(r["rank"]) == rank]
        steps, colour = [int(r["step"]) for r in own], f"C{rank % 10}"

        def column(name, factor):
            return [factor * float(r[name]) for r in own]

        above.step([0, *steps], [100 * float(own[0]["share"]), *column("next_share", 100)], where="post", color=colour)
        above.plot(steps, column("most_share", 100), ":", color=colour, linewidth=1)
        below.plot(steps, column("cpu_seconds", 1e3), "-", color=colour, marker=".", label=f"rank {rank}: CPU")
        below.plot(steps, column("accelerator_seconds", 1e3), "--", color=colour, marker="x", label="its accelerators")
    above.set(ylabel="share of the accelerators, %", ylim=(0, 105), title=os.path.normpath(outdir))
    below.set(xlabel="step", ylabel="ms a step, since the last check", yscale="log")
    if len(ranks) <= 8:
        below.legend()
    for axis in (above, below):
        axis.grid()
    return figure
