#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does what docs/extend.md tells to do to add the load model `pairs`: extend_example.py BUILD_FOLDER [--check] [--out DIR]

Takes the model's file out of the page, compiles it and the list of models that names it, links the program anew with both, and runs
the comparison of the page. Prints the overall LBE of each model, as the page shows it; with --check it fails where the page
shows something else. The times are counted work, so the figures are the same on every machine.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def commands(build, target):
    """The command that makes a target, by its words."""
    lines = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", target], check=True, stdout=subprocess.PIPE, text=True).stdout
    return shlex.split(lines.strip().splitlines()[-1].replace(": && ", "").replace(" && :", ""))


def compile_in(build, folder, source, target):
    """Compiles `source` as the build folder compiles `target`; returns the object."""
    words = commands(build, target)
    result = os.path.join(folder, os.path.basename(source) + ".o")
    words[words.index("-o") + 1], words[words.index("-c") + 1] = result, source
    for option, value in (("-MF", result + ".d"), ("-MT", result)):
        words[words.index(option) + 1] = value
    subprocess.run(words, cwd=build, check=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_FOLDER")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", help="output directory of the run (default: a temporary one)")
    arguments = parser.parse_args()
    with open(os.path.join(SOURCE, "docs/extend.md")) as f:
        page = f.read()
    code = re.search(r"`(balance/model/pairs\.cpp)`:\n\n```cpp\n(.*?)```", page, re.S)
    line = re.search(r"`STEELYARD_MODELS` of `(balance/model/load_model\.cpp)`: `(add\(pairs\))`", page)
    run = re.search(r"    build/(steelyard run inputs/strip_t1\.yaml .*?compare=[^']*')", page, re.S)
    if not (code and line and run):
        sys.exit("extend_example.py: docs/extend.md no longer shows the file, the line or the run of the model pairs in the form that this script looks for")
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            path = os.path.join(folder, os.path.basename(name))
            with open(path, "w") as f:
                f.write(text)
            return path

        with open(os.path.join(SOURCE, line.group(1))) as f:
            table = f.read()
        last = "    add(r1)\n"
        if last not in table:
            sys.exit(f"extend_example.py: {line.group(1)} no longer ends its list of models with r1")
        of_list = "balance/CMakeFiles/steelyard_balance.dir/model/load_model.cpp.o"
        objects = [compile_in(arguments.build, folder, write("load_model.cpp", table.replace(last, f"    add(r1) \\\n    {line.group(2)}\n")), of_list),
                   compile_in(arguments.build, folder, write(code.group(1), code.group(2)), of_list)]
        words, binary = commands(arguments.build, "steelyard"), os.path.join(folder, "steelyard")
        at = words.index("-o")  # objects before libraries: what they define is not taken from there
        subprocess.run(words[:at] + objects + ["-o", binary] + words[at + 2:], cwd=arguments.build, check=True)
        out = arguments.out or os.path.join(folder, "out")
        words = shlex.split(run.group(1).replace("\\\n", " "))
        words[words.index("--out") + 1] = out
        subprocess.run([binary] + words[1:] + ["--quiet"], cwd=SOURCE, check=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
        with open(os.path.join(out, "summary.json")) as f:
            summary = json.load(f)
    lbe = sorted(((v, m) for m, v in summary["overall_lbe_measured"].items()), reverse=True)
    shown = "| " + " | ".join(f"`{m}`" for _, m in lbe) + " |\n" + "|---" * len(lbe) + "|\n| " + " | ".join(f"{100 * v:.1f}" for v, _ in lbe) + " |\n"
    print(shown, end="")
    if arguments.check and shown not in page:
        sys.exit("extend_example.py: docs/extend.md shows other figures; put these into it")


if __name__ == "__main__":
    main()
