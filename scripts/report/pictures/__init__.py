# SPDX-License-Identifier: MIT
"""Pictures for a paper, by `report.py OUT --pictures KIND`. A new one is an entry here and a module of that name. Its
draw(options, *outdirs) returns a figure of matplotlib, or ends in fail() if it cannot."""
import importlib
import os
import sys
import time

from common import fail

from ..run import box_of
from ..tables import read_text

# The files that each picture needs in an output directory.
PICTURES = {
    "map": ("map.csv",),
    "lbe": ("balance.csv", "summary.json"),
    "density": ("fields.xdmf", "thermo.csv"),
    "partition": ("fields.xdmf", "balance.csv"),
    "particles": ("fields.xdmf", "trajectory.h5"),
    "zones": ("zones.csv",),
    "nested": ("partition.json",),
    "prediction": ("predict.json",),
}
TOGETHER = ("map", "lbe")  # of all directories in one picture, which the first of them gets


def wraps_of(outdir):
    """For each axis, x first: does the box of a run wrap around? By the deck in its output directory."""
    box = box_of(read_text(outdir, "deck.yaml") or "")
    if not box or not box["periodic"]:
        fail(f"{outdir}/deck.yaml has no box and boundary; it is not the deck that a run wrote")
    return box["periodic"]


def draw(outdirs, options):
    """Draws the pictures options.only, or all whose files the directories have. Returns whether each picture could be
    drawn. If a picture cannot be drawn, a line says why, else how long it took."""
    from plotting import save

    jobs = []
    for name in options.only or PICTURES:
        for of in [outdirs] if name in TOGETHER else [[o] for o in outdirs]:
            if options.only or all(os.path.isfile(os.path.join(o, need)) for o in of for need in PICTURES[name]):
                jobs.append((name, of))
    if options.only and options.output and len(jobs) != 1:
        one = f"--output is the name of one picture, and there are {len(jobs)}"
        fail(f"{one}; leave it out, or give one OUT and --only")
    good = True
    for k, (name, of) in enumerate(jobs, 1):
        path = options.only and options.output or os.path.join(of[0], f"{name}.{options.pictures}")
        begin = time.monotonic()
        if sys.stderr.isatty():  # the next line takes the place of this one
            print(f"report.py: draws {name}", end="\r", file=sys.stderr, flush=True)
        try:
            save(importlib.import_module(f".{name}", __package__).draw(options, *of), path)
            print(f"report.py: {name}, {k} of {len(jobs)}: {time.monotonic() - begin:.1f} s", file=sys.stderr)
        except SystemExit:
            good = False
    return good
