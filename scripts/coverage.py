#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines and branches of the product that tests run, as a Markdown table with a row for each folder.

The script builds in build-coverage/ with the compiler's counters. It then runs the tests without the labels slow, gpu,
smpi and arm. Branches that only exceptions take do not count. Processes that a signal ends leave no counts. Further
options go to ctest. So `-L unit` runs the unit tests alone, and `-E NAME` leaves tests out.
"""
import json
import os
import subprocess
import sys

from common import ROOT, call, parser_of
from studies import markdown_head, markdown_row

BUILD = os.path.join(ROOT, "build-coverage")
FLAGS = "-O1 -g1 --coverage -fprofile-update=atomic"
NO_PRODUCT = os.path.join(ROOT, "(tests|bench|examples|build[^/]*)/")


def build_and_test(options):
    settings = ("CMAKE_BUILD_TYPE=Coverage", f"CMAKE_CXX_FLAGS_COVERAGE={FLAGS}", "STEELYARD_CUDA=OFF")
    call(["cmake", "--preset", "default", "-B", BUILD, *(f"-D{s}" for s in settings)], cwd=ROOT)
    call(["cmake", "--build", BUILD], threads=None)
    call(["find", BUILD, "-name", "*.gcda", "-delete"])
    return subprocess.run(["ctest", "--test-dir", BUILD, "-j2", "-LE", "slow|gpu|smpi|arm", *options]).returncode


def counts():
    """{folder: [lines run, all lines, branches taken, all branches]}"""
    summary = os.path.join(BUILD, "coverage.json")
    options = ["--exclude-throw-branches", "--exclude", NO_PRODUCT, "--json-summary", summary]
    call(["gcovr", "-j2", "--root", ROOT, *options, BUILD])
    folders = {}
    with open(summary) as f:
        for file in json.load(f)["files"]:
            row = [file[key] for key in ("line_covered", "line_total", "branch_covered", "branch_total")]
            name = file["filename"].split("/")[0]
            folders[name] = [a + b for a, b in zip(row, folders.get(name, [0] * 4))]
    return folders


parser = parser_of(__doc__)
parser.add_argument("--report", action="store_true", help="prints the table of tests that ran since the build")
options, of_ctest = parser.parse_known_args()
call([os.path.join(ROOT, "scripts/setup.sh"), "--coverage"])
failed = 0 if options.report else build_and_test(of_ctest)
rows = counts()
print(markdown_head(["folder", "lines run", "of", "%", "branches taken", "of", "%"]))
groups = {name: [name] for name in sorted(rows)} | {
    "sum": [*rows],
    "without python": [n for n in rows if n != "python"],
}
for group, names in groups.items():
    row = [sum(column) for column in zip(*(rows[name] for name in names))]
    share = [f"{100 * row[i] / max(1, row[i + 1]):.2f}" for i in (0, 2)]
    print(markdown_row([group, *row[:2], share[0], *row[2:], share[1]]))
sys.exit(failed)
