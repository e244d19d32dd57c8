#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""read_sources.py BUILD: has clang read each source of a configured build alone, with warnings as errors.

Nothing is compiled. Because every source is read alone, one that lacks an include is found. Sources of balance/, comm/
and md/ get stricter warnings: names that hide others, and conversions that lose a part of a number.
"""
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRICT = ["-Wshadow-all", "-Wconversion", "-Wno-sign-conversion"]


def command_of(entry):
    words = shlex.split(entry["command"])
    output = words.index("-o")
    words[output : output + 2] = []
    folder = os.path.relpath(entry["file"], ROOT).split(os.sep)[0]
    return words + ["-fsyntax-only", "-Werror"] + (STRICT if folder in ("balance", "comm", "md") else [])


def read(entry):
    done = subprocess.run(command_of(entry), cwd=entry["directory"], capture_output=True, text=True, timeout=600)
    if done.returncode:
        print(done.stderr, end="", flush=True)
    return done.returncode == 0


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as f:
        entries = json.load(f)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        fine = list(pool.map(read, entries))
    print(f"{sum(fine)} of {len(entries)} sources are as they should be")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
