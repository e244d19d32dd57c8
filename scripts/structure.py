#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the calls from app/balancing into the library balance in one balancing: each is a way down and back up again.

The count is one of the text. Callers are the functions of load_balancer.cpp and measure.cpp that
LoadBalancer::collect_times() and ::balance() reach. Called functions are those that balance/ defines in a .cpp. Needs
universal-ctags. scripts/weight.py counts lines, members and functions.
"""
import argparse
import collections
import glob
import os
import re
import shutil
import subprocess

from common import ROOT, fail

ROUND = ("app/balancing/load_balancer.cpp", "app/balancing/measure.cpp")
PLANS = {"Owners", "FieldPlan"}  # constructors that work


def tags(root):
    """(name, kind, file, first line, last line) of each definition in the library and in the files of ROUND."""
    found = glob.glob(os.path.join(root, "balance/**/*.[ch]pp"), recursive=True)
    files = [os.path.relpath(path, root) for path in found]
    options = "-f - --language-force=C++ --kinds-C++=cfs --fields=+neK --sort=no -L -".split()
    text = "\n".join([*sorted(files), *ROUND])
    done = subprocess.run(["ctags", *options], cwd=root, input=text, stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        name, file, rest = line.split("\t", 2)
        kind, *fields = rest.split(';"\t', 1)[1].split("\t")
        values = dict(f.split(":", 1) for f in fields if ":" in f)
        yield name, kind, file, int(values["line"]), int(values.get("end", values["line"]))


def body(root, file, first, last):
    with open(os.path.join(root, file)) as f:
        text = "".join(f.readlines()[first - 1 : last])
    return re.sub(r"//[^\n]*", "", text)


def returns(root, found):
    """Names of the library's functions that one balancing calls, one for each call in the text."""
    library = {n for n, kind, file, *_ in found if kind == "function" and re.match(r"balance/.*\.cpp$", file)}
    classes = {n for n, kind, file, *_ in found if kind in ("class", "struct") and file.startswith("balance/")}
    own = collections.defaultdict(list)
    for name, kind, file, first, last in found:
        if kind == "function" and file in ROUND:
            own[name].append(body(root, file, first, last))
    reached, todo, calls = set(), ["collect_times", "balance"], []
    while todo:
        name = todo.pop()
        if name in reached:
            continue
        reached.add(name)
        for text in own[name]:
            calls += re.findall(r"\bbalance::(\w+)\s*[({]", text)
            calls += re.findall(r"\bbalance::(Owners|FieldPlan)\s+\w+[({]", text)
            todo += [n for n in re.findall(r"(?<!::)\b(\w+)\s*\(", text.split("{", 1)[-1]) if n in own]
    return [c for c in calls if c in library - classes or c in PLANS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=ROOT, help="another checkout, to compare")
    root = parser.parse_args().root
    if not shutil.which("ctags"):
        fail("there is no ctags here; install universal-ctags")
    if not all(os.path.exists(os.path.join(root, file)) for file in ROUND):
        fail(f"{root} is no checkout of Steelyard: it lacks {' or '.join(ROUND)}")
    calls = returns(root, list(tags(root)))
    print(f"returns from balance/ in one balancing: {len(calls)} ({', '.join(calls)})")


if __name__ == "__main__":
    main()
