#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""read_sources.py BUILD: has clang read each source of a configured build alone, with warnings as errors.

Nothing is compiled. Because every source is read alone, one that lacks an include is found. Sources of balance/, comm/
and md/ get stricter warnings: names that hide others, and conversions that lose a part of a number.
"""
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from common import ROOT, parser_of, read_json

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
    parser = parser_of(__doc__)
    parser.add_argument("build", metavar="BUILD")
    entries = read_json(os.path.join(parser.parse_args().build, "compile_commands.json"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        fine = list(pool.map(read, entries))
    print(f"{sum(fine)} of {len(entries)} sources are as they should be")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
