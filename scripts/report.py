#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One page for a browser about a run, or about several side by side: report.py OUT [OUT ...] [--output FILE] [--watch]

OUT: the output directory of a run, of one that goes on or was ended early too, or of `steelyard partition`. The page is
one file that needs no network: map of the box over time, balancing, times of the ranks, energies, what ran. Writes
report.html in the first OUT. docs/report.md

With --pictures the script also draws pictures for a paper, NAME.png or NAME.pdf in each OUT. It draws each picture
whose files exist. The ones marked * show all OUT together, and lie in the first one.

  map*        the box over time with the borders between processes, and the LBE
  lbe*        LBE and LBE_m of every model of every OUT, in one plot
  density     density (mean of 3 x 3 cells) and its profile, by cell fields
  partition   borders over the density (mean of 3 x 3 cells), and the load of each cell, by cell fields
  particles   particles as spheres, by a trajectory and cell fields
  zones       the border between CPUs and accelerators
  nested      a nested partition, by `steelyard partition`
  prediction  a prediction, by `steelyard predict`
"""
import argparse
import os
import sys

from common import fail, parser_of
from report import pictures
from report.page import page, replace_file
from report.run import is_result, read_run
from report.watch import watch

# Options that belong to --pictures.
DRAWING = {
    "only": dict(nargs="+", metavar="NAME", choices=tuple(pictures.PICTURES), help="these pictures alone, and no page"),
    "steps": dict(type=int, nargs="+", metavar="N", help="the steps to draw, for a map the nearest ones"),
    "colour": dict(
        nargs="+",
        choices=("density", "load", "process", "energy"),
        help="of a map: density, load or process (default: density); of particles: process or energy (default: both)",
    ),
    "slice": dict(metavar="AXIS=LAYER", help="in 3D: one layer of cells, from 0, such as z=5"),
    "project": dict(
        choices=("x", "y", "z"), help="in 3D: the axis to look along, at the mean; of owners in its middle"
    ),
    "node": dict(type=int, metavar="N", help="of a nested partition: the node that is drawn by itself"),
}


def say(what):
    """A line on standard output, whatever that can show; where it takes nothing, one on standard error and code 2."""
    try:
        if sys.stdout:
            sys.stdout.reconfigure(errors="backslashreplace")
            print(what, flush=True)
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes it once more at its end
        fail(f"{what}, but cannot write to standard output: {e.strerror}")


def seconds(text):
    value = float(text)
    if not 0.1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is no number from 0.1 to 3600")
    return value


def shown(path):
    return path if path.isprintable() else ascii(path)


def is_page(path):
    with open(path, "rb") as f:
        return f.read(15).lower() in (b"", b"<!doctype html>")


def write_page(arguments, reload=None, going=()):
    """The page of the directories as they are now, and its path. reload, going: see watch()."""
    path = arguments.output or os.path.join(arguments.outdirs[0], "report.html")
    messages = [arguments.messages, *[None] * len(arguments.outdirs)]
    going = [*going, *[False] * len(arguments.outdirs)]
    runs = [read_run(o, m, g) for o, m, g in zip(arguments.outdirs, messages, going)]
    try:
        if os.path.isfile(path) and not is_page(path):
            fail(f"cannot write {path!r}: a file that is no page has this name; choose another")
        replace_file(path, page(runs, reload))
    except OSError as e:
        fail(f"cannot write {path!r}: {e.strerror}")
    return shown(path)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("outdirs", nargs="+", metavar="OUT")
    output = "the page (default: report.html in the first OUT), or the one picture of --only"
    parser.add_argument("--output", metavar="FILE", help=output)
    parser.add_argument("--messages", metavar="FILE", help="what `run --trace-messages FILE` of the first OUT wrote")
    parser.add_argument("--pictures", metavar="KIND", choices=("png", "pdf"), help="also draw pictures: png or pdf")
    for name, how in DRAWING.items():
        parser.add_argument(f"--{name}", **how)
    anew = "write the page anew while a run goes on, until it has ended"
    parser.add_argument("--watch", action="store_true", help=anew)
    every = "with --watch: how often to look whether there is more to show (default: 2)"
    parser.add_argument("--every", type=seconds, default=2, metavar="SECONDS", help=every)
    arguments = parser.parse_args()
    if arguments.messages and not arguments.watch and not os.path.isfile(arguments.messages):
        parser.error(f"--messages: there is no file {arguments.messages}")
    alone = [f"--{name}" for name in DRAWING if vars(arguments)[name] is not None]
    if alone and not arguments.pictures:
        parser.error(f"{alone[0]} is for --pictures")
    if arguments.watch and arguments.only:
        parser.error("--watch writes pages, and with --only there is none; leave one of them out")
    if arguments.slice and arguments.project:
        parser.error("--slice and --project are two ways to draw three dimensions; give one of them")
    if arguments.pictures:
        import plotting  # noqa: F401  where this Python lacks what pictures need, another one begins anew here
    if arguments.watch:
        files = [arguments.messages] if arguments.messages else []
        code = watch(arguments.outdirs, files, arguments.every, lambda *how: write_page(arguments, *how), say)
        if code:
            sys.exit(code)
    for outdir in [] if arguments.watch else arguments.outdirs:
        if not is_result(outdir):
            what = "holds no results of a run" if os.path.isdir(outdir) else "is no directory"
            print(f"report.py: {outdir!r} {what}; give what `steelyard run --out` wrote to", file=sys.stderr)
            sys.exit(3)
    if not arguments.watch and not arguments.only:
        say(f"wrote {write_page(arguments)}")
    if arguments.pictures and not pictures.draw(arguments.outdirs, arguments):
        sys.exit(2)


if __name__ == "__main__":
    main()
