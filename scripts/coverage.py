#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines and branches of the product that tests run, as a Markdown table with a row for each folder.

The script builds in build-coverage/ with the compiler's counters. It then runs the tests without the labels slow, gpu,
smpi and arm. A line that decides has two branches, however many conditions it has, and however many copies templates
and callers make of it. A branch is taken if one of the copies takes it. Branches that only exceptions take do not
count. Processes that a signal ends leave no counts. Further options go to ctest. So `-L unit` runs the unit tests
alone, and `-E NAME` leaves tests out.
"""
import collections
import json
import multiprocessing.pool
import os
import pathlib
import subprocess
import sys

from common import ROOT, call, parser_of
from studies import markdown_head, markdown_row

BUILD = os.path.join(ROOT, "build-coverage")
# An inlined function has its branches once more in each caller, if inlining comes before the counters.
FLAGS = "-O1 -g1 --coverage -fprofile-update=atomic -fno-early-inlining"
NO_PRODUCT = ("tests", "bench", "examples", "..", os.path.basename(BUILD))


def build_and_test(options):
    settings = ("CMAKE_BUILD_TYPE=Coverage", f"CMAKE_CXX_FLAGS_COVERAGE={FLAGS}", "STEELYARD_CUDA=OFF")
    call(["cmake", "--preset", "default", "-B", BUILD, *(f"-D{s}" for s in settings)], cwd=ROOT)
    call(["cmake", "--build", BUILD], threads=None)
    call(["find", BUILD, "-name", "*.gcda", "-delete"])
    return subprocess.run(["ctest", "--test-dir", BUILD, "-j2", "-LE", "slow|gpu|smpi|arm", *options]).returncode


def gcov(notes):
    """What gcov writes of the sources of an object."""
    words = ["gcov", "--json-format", "--branch-probabilities", "--stdout", notes]
    return json.loads(call(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def counts():
    """{folder: [lines run, all lines, branches taken, all branches]}"""
    found = collections.Counter()  # how often each line of each file was run, and each of its branches taken
    with multiprocessing.pool.ThreadPool(2) as pool:
        for report in pool.imap_unordered(gcov, pathlib.Path(BUILD).rglob("*.gcno")):
            for file in report["files"]:
                path = os.path.relpath(os.path.join(report["current_working_directory"], file["file"]), ROOT)
                folder = path.split("/")[0]
                for line in file["lines"] if folder not in NO_PRODUCT else ():
                    branches = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                    for place, count in enumerate(branches):
                        found[folder, path, line["line_number"], 1 + place % 2] += count
                    found[folder, path, line["line_number"], 0] += line["count"]
    folders = collections.defaultdict(lambda: [0] * 4)
    for (folder, _, _, place), count in found.items():
        of = 0 if place == 0 else 2
        folders[folder][of] += count > 0
        folders[folder][of + 1] += 1
    return folders


parser = parser_of(__doc__)
parser.add_argument("--report", action="store_true", help="prints the table of tests that ran since the build")
options, of_ctest = parser.parse_known_args()
failed = 0 if options.report else build_and_test(of_ctest)
rows = counts()
print(markdown_head(["folder", "lines run", "of", "%", "branches taken", "of", "%"]))
groups = {name: [name] for name in sorted(rows)}
groups |= {"sum": [*rows], "without python": [name for name in rows if name != "python"]}
for group, names in groups.items():
    row = [sum(column) for column in zip(*(rows[name] for name in names))]
    share = [f"{100 * row[i] / max(1, row[i + 1]):.2f}" for i in (0, 2)]
    print(markdown_row([group, *row[:2], share[0], *row[2:], share[1]]))
sys.exit(failed)
