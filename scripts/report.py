#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One page for a browser about a run, or about several side by side: report.py OUT [OUT ...] [--output FILE]

OUT: the output directory of a run, of one that goes on or was ended early too, or of `steelyard partition`. The page is
one file that needs no network: map of the box over time, balancing, times of the ranks, energies, what ran. Writes
report.html in the first OUT. docs/report.md
"""
import argparse
import os
import sys

from common import fail
from report.page import page, replace_file
from report.run import is_result, read_run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdirs", nargs="+", metavar="OUT")
    parser.add_argument("--output", metavar="FILE", help="the page (default: report.html in the first OUT)")
    parser.add_argument("--messages", metavar="FILE", help="what `run --trace-messages FILE` of the first OUT wrote")
    arguments = parser.parse_args()
    for outdir in arguments.outdirs:
        if not is_result(outdir):
            what = "holds no results of a run" if os.path.isdir(outdir) else "is no directory"
            print(f"report.py: {outdir!r} {what}; give what `steelyard run --out` wrote to", file=sys.stderr)
            sys.exit(3)
    runs = [read_run(o, arguments.messages if i == 0 else None) for i, o in enumerate(arguments.outdirs)]
    path = arguments.output or os.path.join(arguments.outdirs[0], "report.html")
    try:
        replace_file(path, page(runs))
    except OSError as e:
        fail(f"cannot write {path}: {e.strerror}")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
