#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does what docs/extend.md tells to do to add a load model, a criterion, a partitioner, a controller, an order of
messages and an output: extend_example.py BUILD_FOLDER [--check] [--out DIR]

Takes the files out of the page, compiles them and the lists that name them, links the program anew with all, and runs
the page's comparison of models, a collision with the partitioner, which must not change the state hash, and one with
the output, whose rows a restart must continue. Prints the overall LBE of each model, as the page shows it; with --check
it fails where the page shows something else. The times are counted work, so the figures are the same on every machine.
"""
import argparse
import csv
import os
import re
import shlex
import subprocess
import sys
import tempfile

from concurrent.futures import ThreadPoolExecutor

from common import call, mpiexec, read_json

EXAMPLES = [  # as example() takes them
    ("pairs", "balance/model/pairs.cpp", "balance/model/load_model.cpp"),
    ("columns", "balance/partition/columns.cpp", "balance/partition/partition.cpp"),
    ("tenth", "balance/criterion/tenth.cpp", "balance/criterion/criterion.cpp"),
    ("patient", "balance/zone/patient.cpp", "balance/zone/controller.cpp"),
    ("large_first", "comm/large_first.cpp", "comm/schedule.hpp", ("comm/schedule.cpp", "app/deck/table_machine.cpp")),
    (
        "crowding",
        "app/output/crowding.cpp",
        "app/deck/outputs.hpp",
        ("app/output/series.cpp", "app/deck/table.cpp"),
        'add(crowding, "steps between rows of crowding.csv; 0: never")',
    ),
]
SOURCE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def commands(build, target):
    """The command that makes a target, by its words."""
    lines = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", "-s", target], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    return shlex.split(lines.strip().splitlines()[-1].replace(": && ", "").replace(" && :", ""))


def unit_of(build, source):
    """The compilation, an entry of compile_commands.json, that a source of the program is a part of."""
    path = os.path.join(SOURCE, source)
    program = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", "steelyard"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for entry in read_json(os.path.join(build, "compile_commands.json")):
        words = shlex.split(entry["command"])
        if f" -o {words[words.index('-o') + 1]} " not in program:  # of a library that is not the program's
            continue
        if os.path.samefile(entry["file"], path):
            return entry
        if entry["file"].endswith(".cxx"):  # sources that are compiled together
            with open(entry["file"]) as f:
                if f'"{path}"' in f.read():
                    return entry
    return sys.exit(f"extend_example.py: {build} does not compile {source}")


def example(folder, page, name, file, table, users=(), entry=None):
    """Puts the file that the page shows under `file` into the folder, and `table` with a line at the end of its list.
    users: if the table is a header, the sources that take more from it than the names of what was there before.
    entry: the line, if it is not `add(name)`. Returns the sources to compile anew.
    """
    entry = entry or f"add({name})"
    code = re.search(rf"`({re.escape(file)})`[^\n]*(?:\n[^\n]+)*:\n\n```cpp\n(.*?)```", page, re.S)
    if not code or f"`{entry}`" not in page or table not in page:
        sys.exit(
            f"extend_example.py: docs/extend.md no longer shows {file} and its line in {table} in the form that this"
            " script looks for"
        )
    with open(os.path.join(SOURCE, table)) as f:
        listed = f.read()
    last = re.search(r"    add\(\w+[^()]*\)\n", listed)
    if not last:
        sys.exit(f"extend_example.py: {table} no longer has a list that ends with a line add(...)")
    if entry not in listed:  # else the reader has added it
        listed = listed[: last.end() - 1] + f" \\\n    {entry}\n" + listed[last.end() :]
    for path, text in ((table, listed), (file, code.group(2))):
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w") as f:
            f.write(text)
    return users or (table,)


def with_files_of(folder, unit, added):
    """The sources of a compilation, in which the files in `folder` take the place of those of the same names; `added`
    are compiled with them."""
    added = [os.path.join(folder, file) for file in added]
    if not unit["file"].endswith(".cxx"):
        ours = os.path.join(folder, os.path.relpath(unit["file"], SOURCE))
        return [ours if os.path.exists(ours) else unit["file"]] + added
    with open(unit["file"]) as f:
        text = f.read() + "".join(f'#include "{path}"\n' for path in added)
    for path in re.findall(r'#include "(.*)"', text):
        ours = os.path.join(folder, os.path.relpath(path, SOURCE))
        if os.path.exists(ours):
            text = text.replace(f'"{path}"', f'"{ours}"')
    result = os.path.join(
        folder, os.path.relpath(unit["file"], "/").replace("/", "_")
    )  # names repeat in other libraries
    with open(result, "w") as f:
        f.write(text)
    return [result]


def compile_in(folder, unit, source):
    """Compiles `source` as the build compiles `unit`, with the headers in `folder` before all others; returns the
    object."""
    words = shlex.split(unit["command"])
    words.insert(next(i for i, word in enumerate(words) if word.startswith("-I")), "-I" + folder)
    result = os.path.join(folder, os.path.relpath(source, "/").replace("/", "_") + ".o")
    words[words.index("-o") + 1], words[words.index("-c") + 1] = result, source
    for option, value in (("-MF", result + ".d"), ("-MT", result)):
        if option in words:
            words[words.index(option) + 1] = value
    call(words + ["-O0"], cwd=unit["directory"])  # a third of the time; no figure depends on it
    return result


def program_with(build, folder, page, examples):
    """The program with the files that the page shows."""
    units, added = {}, {}
    for shown in examples:
        for n, source in enumerate(example(folder, page, *shown)):
            unit = unit_of(build, source)
            units[unit["file"]] = unit
            added.setdefault(unit["file"], []).extend([shown[1]] if n == 0 else [])
    jobs = [(folder, u, s) for name, u in units.items() for s in with_files_of(folder, u, added[name])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # a compilation that fails ends the script
        objects = list(pool.map(compile_in, *zip(*jobs)))
    words, binary = commands(build, "steelyard"), os.path.join(folder, "steelyard")
    at = words.index("-o")  # objects before libraries: what they define is not taken from there
    call(words[:at] + objects + ["-o", binary] + words[at + 2 :], cwd=build)
    return binary


def tiny(settings):
    """The words that run the small collision with these settings."""
    return ["inputs/tiny.yaml"] + [word for s in settings for word in ("--set", s)]


def run(binary, words, out, ranks=0):
    """Runs a deck, on several ranks if there are any, and returns its summary."""
    launcher = mpiexec(ranks) if ranks else []
    call(launcher + [binary, "run"] + words + ["--out", out, "--quiet"], cwd=SOURCE)
    return read_json(os.path.join(out, "summary.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_FOLDER")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", help="output directory of the run of the model (default: a temporary one)")
    arguments = parser.parse_args()
    with open(os.path.join(SOURCE, "docs/extend.md")) as f:
        page = f.read()
    command = re.search(r"    build/steelyard run (inputs/strip_t1\.yaml .*?compare=[^']*')", page, re.S)
    if not command:
        sys.exit(
            "extend_example.py: docs/extend.md no longer shows the run of the model pairs in the form that this script"
            " looks for"
        )
    with tempfile.TemporaryDirectory() as folder:
        binary = program_with(arguments.build, folder, page, EXAMPLES)
        words = shlex.split(command.group(1).replace("\\\n", " "))
        at = words.index("--out")
        summary = run(binary, words[:at] + words[at + 2 :], arguments.out or os.path.join(folder, "pairs"))
        collision = ["run.steps=100", "balance.every=20", "balance.clock=work"]
        partitions = collision + ["balance.processes=8", "balance.criterion=every", "balance.partition.kind="]
        hashes = {
            kind: run(binary, tiny(partitions[:-1] + [partitions[-1] + kind]), os.path.join(folder, kind))["state_hash"]
            for kind in ("columns", "chain")
        }
        out = os.path.join(folder, "tenth_run")
        compared = [
            "balance.processes=8",
            "balance.constants.start=uniform",
            "balance.compare=[{model: r1, criterion: tenth}]",
        ]
        hashes["tenth"] = run(binary, tiny(collision + ["balance.every=5"] + compared), out)["state_hash"]
        with open(os.path.join(out, "balance.csv")) as f:
            rows = [row for row in csv.DictReader(f) if row["model"] == "r1/tenth"]
        asked = {row["decision"] for row in rows if float(row["lost_seconds"]) > 0}
        zones = ["accelerator.backend=host", "accelerator.controller=patient", "accelerator.every=10"]
        out = os.path.join(folder, "patient_run")
        hashes["patient"] = run(binary, tiny(collision + zones + ["accelerator.speed=[4.0]"]), out)["state_hash"]
        with open(os.path.join(out, "zones.csv")) as f:
            shares = [float(row["next_share"]) for row in csv.DictReader(f)]
        order = ["comm.aggregate=none", "comm.order=large_first"]
        hashes["large_first"] = run(binary, tiny(collision + order), os.path.join(folder, "order"), 3)["state_hash"]
        crowded, once = [], "inputs/tiny.yaml --set output.crowding_every=20 --set checkpoint.every=30 --set run.steps="
        for name, steps in (("whole", [100]), ("continued", [60, 100])):
            for n, last in enumerate(steps):
                out = os.path.join(folder, name)
                run(binary, shlex.split(once + str(last)) + (["--restart", "auto"] if n else []), out)
            with open(os.path.join(out, "crowding.csv")) as f:
                crowded.append(f.read())
    lbe = sorted(((v, m) for m, v in summary["overall_lbe_measured"].items()), reverse=True)
    shown = (
        "| "
        + " | ".join(f"`{m}`" for _, m in lbe)
        + " |\n"
        + "|---" * len(lbe)
        + "|\n| "
        + " | ".join(f"{100 * v:.1f}" for v, _ in lbe)
        + " |\n"
    )
    print(shown, end="")
    print("state hashes:", hashes)
    print("what the criterion decided where it saw a loss:", asked)
    print("shares that the controller wanted:", shares)
    if len(set(hashes.values())) != 1:
        sys.exit("extend_example.py: an example of docs/extend.md changes the trajectory")
    if not asked or asked - {"moved", "kept: same"} or len(asked) == len(rows):
        sys.exit(f"extend_example.py: the criterion tenth of docs/extend.md decided {asked}")
    # From the deck's share, within a strip of cells, to that of an accelerator 4 x as fast.
    if abs(shares[0] - 0.5) > 0.05 or abs(shares[-1] - 0.8) > 0.05:
        sys.exit("extend_example.py: the controller patient of docs/extend.md does not find the best share")
    print(crowded[0], end="")
    if crowded[0] != crowded[1] or crowded[0].count("\n") != 7 or ",0\n" in crowded[0]:
        sys.exit(f"extend_example.py: the output crowding of docs/extend.md wrote {crowded}")
    if arguments.check and shown not in page:
        sys.exit("extend_example.py: docs/extend.md shows other figures; put these into it")


if __name__ == "__main__":
    main()
