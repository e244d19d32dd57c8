#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what the structure of the code is held to: structure.py [--root CHECKOUT] [--largest N]

  returns    calls from app/balancing into the library balance in one balancing: each is a way down and back up again.
             Counted in the text: functions that balance/ defines in a .cpp, where the functions of load_balancer.cpp
             and measure.cpp call them that LoadBalancer::collect_times() and ::balance() reach
  members    data members of the classes with the most; records (structs, whose members are there for all) apart
  files      C++ files of over 300 lines
  functions  of over 60 lines

Needs universal-ctags. The same script counts an older checkout (--root), to compare.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys

ROOMS = ("app", "balance", "comm", "gpu", "md", "predict")
ROUND = ("app/balancing/load_balancer.cpp", "app/balancing/measure.cpp")


def sources(root, endings=(".cpp", ".hpp", ".cu")):
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), root)


def tags(root, files):
    """(name, kind, file, first line, last line, scope, other fields) of each definition."""
    command = [
        "ctags",
        "-f",
        "-",
        "--language-force=C++",
        "--kinds-C++=cfms",
        "--fields=+neKsZa",
        "--sort=no",
        "-L",
        "-",
    ]
    done = subprocess.run(command, cwd=root, input="\n".join(files), stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        name, file, rest = line.split("\t", 2)
        fields = rest.split(';"\t', 1)[1].split("\t")
        values = dict(f.split(":", 1) for f in fields[1:] if ":" in f)
        first = int(values.get("line", 0))
        yield name, fields[0], file, first, int(values.get("end", first)), values.get("scope", ""), rest


def members(found):
    """Data members by class, and which names are classes, not structs."""
    count, classes = collections.Counter(), set()
    for name, kind, file, _, _, scope, text in found:
        if kind == "member" and scope and not re.search(r"\bstatic\b|\bconstexpr\b", text.split(';"')[0]):
            count[(scope.split(":", 1)[-1], file)] += 1
            if scope.startswith("class:"):
                classes.add(scope.split(":", 1)[-1])
    return count, classes


def body(root, file, first, last):
    with open(os.path.join(root, file)) as f:
        text = "".join(f.readlines()[first - 1 : last])
    return re.sub(r"//[^\n]*", "", text)


def returns(root, found):
    """Names of the library's functions that one balancing calls, one for each call in the text."""
    library = {n for n, kind, file, *_ in found if kind == "function" and re.match(r"balance/.*\.cpp$", file)}
    classes = {n for n, kind, file, *_ in found if kind in ("class", "struct") and file.startswith("balance/")}
    own = collections.defaultdict(list)
    for name, kind, file, first, last, _, _ in found:
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
    plans = {"Owners", "FieldPlan"}  # constructors that work
    return [c for c in calls if c in library - classes or c in plans]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    parser.add_argument("--largest", type=int, default=8, help="classes to print")
    options = parser.parse_args()
    if not shutil.which("ctags"):
        sys.exit("structure.py: there is no ctags here; install universal-ctags")
    root = os.path.normpath(options.root)
    files = list(sources(root))
    if not files:
        sys.exit(f"structure.py: {root} is no checkout of Steelyard: it has none of the folders {', '.join(ROOMS)}")
    found = list(tags(root, files))
    calls = returns(root, found)
    print(f"returns from balance/ in one balancing: {len(calls)} ({', '.join(calls)})")
    count, classes = members(found)
    for what, wanted in (("classes", True), ("records", False)):
        largest = [(n, owner, f) for (owner, f), n in count.most_common() if (owner in classes) == wanted]
        print(f"{what} with the most members:")
        for n, owner, file in largest[: options.largest]:
            print(f"  {n:3} {owner}  {file}")
    lines = {f: sum(1 for _ in open(os.path.join(root, f))) for f in files}
    print("files of over 300 lines:")
    for file, n in sorted(lines.items(), key=lambda item: -item[1]):
        if n > 300:
            print(f"  {n:3} {file}")
    print("functions of over 60 lines:")
    for name, kind, file, first, last, scope, _ in found:
        if kind == "function" and last - first + 1 > 60:
            print(f"  {last - first + 1:3} {scope.split(':', 1)[-1]}::{name}  {file}")


if __name__ == "__main__":
    main()
