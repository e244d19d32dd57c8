#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One page for a browser about a run, or about several side by side: report.py OUT [OUT ...] [--output FILE] [--watch]

OUT: the output directory of a run, of one that goes on or was ended early too, or of `steelyard partition`. The page is
one file that needs no network: map of the box over time, balancing, times of the ranks, energies, what ran. Writes
report.html in the first OUT. docs/report.md
"""
import argparse
import os
import subprocess
import sys

from common import ROOT, fail
from report.page import page, replace_file
from report.run import is_result, read_run
from report.watch import watch


# Scripts that draw for a paper, and the files without which each has nothing to draw.
PICTURES = {
    "lbe": ("balance.csv", "summary.json"),
    "density": ("fields.xdmf",),
    "partition": ("fields.xdmf", "balance.csv"),
    "zones": ("zones.csv",),
}


def draw(outdir, kind):
    """Has the plot scripts draw what there is of a run. Returns whether all of them could."""
    good = True
    for name, needs in PICTURES.items():
        if all(os.path.isfile(os.path.join(outdir, n)) for n in needs):
            script = os.path.join(ROOT, "scripts", f"plot_{name}.py")
            picture = os.path.join(outdir, f"{name}.{kind}")
            good &= subprocess.run([sys.executable, script, outdir, "--output", picture]).returncode == 0
    return good


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


def write_page(arguments, reload=None, going=()):
    """The page of the directories as they are now, and its path. reload, going: see watch()."""
    path = arguments.output or os.path.join(arguments.outdirs[0], "report.html")
    messages = [arguments.messages, *[None] * len(arguments.outdirs)]
    going = [*going, *[False] * len(arguments.outdirs)]
    runs = [read_run(o, m, g) for o, m, g in zip(arguments.outdirs, messages, going)]
    try:
        replace_file(path, page(runs, reload))
    except OSError as e:
        fail(f"cannot write {path!r}: {e.strerror}")
    return shown(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdirs", nargs="+", metavar="OUT")
    parser.add_argument("--output", metavar="FILE", help="the page (default: report.html in the first OUT)")
    parser.add_argument("--messages", metavar="FILE", help="what `run --trace-messages FILE` of the first OUT wrote")
    kinds = ("png", "pdf")
    parser.add_argument("--pictures", choices=kinds, help="also draw pictures for a paper into each OUT, by plot_*.py")
    parser.add_argument(
        "--watch", action="store_true", help="write the page anew while a run goes on, until it has ended"
    )
    every = "with --watch: how often to look whether there is more to show (default: 2)"
    parser.add_argument("--every", type=seconds, default=2, metavar="SECONDS", help=every)
    arguments = parser.parse_args()
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
    if not arguments.watch:
        say(f"wrote {write_page(arguments)}")
    if arguments.pictures and not all([draw(o, arguments.pictures) for o in arguments.outdirs]):
        sys.exit(2)


if __name__ == "__main__":
    main()
