#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries the examples of docs/extend.md: extend_example.py BUILD_FOLDER [--check] [--out DIR]

The page adds a load model, a criterion, a partitioner, a controller, an order of messages and an output. The script
takes the files out of the page, compiles them and the lists that name them, and links the program anew. Then it runs
the page's comparison of models. Collisions with the other examples must not change the state hash. The output must
write the same rows after a restart.

The script prints the overall LBE of each model, as the page shows it. With --check it fails if the page shows other
figures. The times are counted work, so the figures are the same on every machine.
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

from common import ROOT, call, mpiexec, read_json, words as setting_words

EXAMPLES = [  # as example() takes them
    ("pairs", "balance/model/pairs.cpp", "balance/model/load_model.cpp"),
    ("columns", "balance/partition/columns.cpp", "balance/partition/partition.cpp"),
    ("tenth", "balance/criterion/tenth.cpp", "balance/criterion/criterion.cpp"),
    ("patient", "balance/zone/patient.cpp", "balance/zone/controller.cpp"),
    ("large_first", "comm/large_first.cpp", "comm/schedule.hpp", ("comm/schedule.cpp", "app/deck/table_machine.cpp")),
    (
        "crowding",
        "app/output/series/crowding.cpp",
        "app/deck/outputs.hpp",
        ("app/output/series/series.cpp", "app/deck/table.cpp"),
        'add(crowding, "steps between rows of crowding.csv; 0: never")',
    ),
]


def stop(what):
    sys.exit(f"extend_example.py: {what}")


def commands(build, *options):
    """The commands by which ninja makes the program, as text."""
    return call(["ninja", "-C", build, "-t", "commands", *options, "steelyard"], stdout=subprocess.PIPE).stdout


def link_command(build):
    """The command that links the program, by its words."""
    last = commands(build, "-s").strip().splitlines()[-1]
    return shlex.split(last.replace(": && ", "").replace(" && :", ""))


def unit_of(build, source):
    """The compilation, an entry of compile_commands.json, that a source of the program is a part of."""
    path = os.path.join(ROOT, source)
    program = commands(build)
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
    return stop(f"{build} does not compile {source}")


def example(folder, page, name, file, table, users=(), entry=None):
    """Puts an example into the folder: its file, and the table with a new line at the end of its list.

    file: Its name on the page.  table: The file with the list.  entry: The line, if it is not `add(name)`.
    users: The sources to compile anew, if the table is a header.
    Returns the sources to compile anew.
    """
    entry = entry or f"add({name})"
    code = re.search(rf"`({re.escape(file)})`[^\n]*(?:\n[^\n]+)*:\n\n```cpp\n(.*?)```", page, re.S)
    if not code or f"`{entry}`" not in page or table not in page:
        stop(f"docs/extend.md no longer shows {file} and its line in {table} in the form that this script looks for")
    with open(os.path.join(ROOT, table)) as f:
        listed = f.read()
    last = re.search(r"    add\(\w+[^()]*\)\n", listed)
    if not last:
        stop(f"{table} no longer has a list that ends with a line add(...)")
    if entry not in listed:  # else the reader has added it
        listed = listed[: last.end() - 1] + f" \\\n    {entry}\n" + listed[last.end() :]
    for path, text in ((table, listed), (file, code.group(2))):
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w") as f:
            f.write(text)
    return users or (table,)


def file_for(folder, path):
    """A file in `folder` for the one at `path`. Its name is the whole path, because names repeat in other libraries."""
    return os.path.join(folder, os.path.relpath(path, "/").replace("/", "_"))


def with_files_of(folder, unit, added):
    """The sources of a compilation, in which the files in `folder` take the place of those of the same names; `added`
    are compiled with them."""
    added = [os.path.join(folder, file) for file in added]
    if not unit["file"].endswith(".cxx"):
        ours = os.path.join(folder, os.path.relpath(unit["file"], ROOT))
        return [ours if os.path.exists(ours) else unit["file"]] + added
    with open(unit["file"]) as f:
        text = f.read() + "".join(f'#include "{path}"\n' for path in added)
    for path in re.findall(r'#include "(.*)"', text):
        ours = os.path.join(folder, os.path.relpath(path, ROOT))
        if os.path.exists(ours):
            text = text.replace(f'"{path}"', f'"{ours}"')
    result = file_for(folder, unit["file"])
    with open(result, "w") as f:
        f.write(text)
    return [result]


def compile_in(folder, unit, source):
    """Compiles `source` as the build compiles `unit`, with the headers in `folder` before all others; returns the
    object."""
    words = shlex.split(unit["command"])
    words.insert(next(i for i, word in enumerate(words) if word.startswith("-I")), "-I" + folder)
    result = file_for(folder, source) + ".o"
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
    words, binary = link_command(build), os.path.join(folder, "steelyard")
    at = words.index("-o")  # objects before libraries: what they define is not taken from there
    call(words[:at] + objects + ["-o", binary] + words[at + 2 :], cwd=build)
    return binary


class Runs:
    """Runs of the program with the files of the page, each in a directory of its own in `folder`."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def run(self, words, name, ranks=0):
        """Runs a deck, on several ranks if there are any, and returns its summary."""
        out = os.path.join(self.folder, name)
        launcher = mpiexec(ranks) if ranks else []
        call([*launcher, self.binary, "run", *words, "--out", out, "--quiet"], cwd=ROOT)
        return read_json(os.path.join(out, "summary.json"))

    def collision(self, name, settings, ranks=0):
        """Runs 100 steps of the small collision with these settings, and returns the state hash."""
        settings = ["run.steps=100", "balance.every=20", "balance.clock=work", *settings]
        return self.run(["inputs/tiny.yaml", *setting_words(settings)], name, ranks)["state_hash"]

    def text(self, name, file):
        with open(os.path.join(self.folder, name, file)) as f:
            return f.read()

    def rows(self, name, file):
        return list(csv.DictReader(self.text(name, file).splitlines()))


def models(runs, page, out):
    """Runs the page's comparison of models into `out`, and returns the overall LBE of each model as the page's
    table."""
    command = re.search(r"    build/steelyard run (inputs/strip_t1\.yaml .*?compare=[^']*')", page, re.S)
    if not command:
        stop("docs/extend.md no longer shows the run of the model pairs in the form that this script looks for")
    words = shlex.split(command.group(1).replace("\\\n", " "))
    at = words.index("--out")
    summary = runs.run(words[:at] + words[at + 2 :], out)
    lbe = sorted(((v, m) for m, v in summary["overall_lbe_measured"].items()), reverse=True)
    head, values = [f"`{m}`" for _, m in lbe], [f"{100 * v:.1f}" for v, _ in lbe]
    return f"| {' | '.join(head)} |\n{'|---' * len(lbe)}|\n| {' | '.join(values)} |\n"


def partitions(runs):
    """The state hashes with the partitioner `columns` and with one of the program."""
    settings = ["balance.processes=8", "balance.criterion=every", "balance.partition.kind="]
    return {kind: runs.collision(kind, [*settings[:-1], settings[-1] + kind]) for kind in ("columns", "chain")}


def criterion(runs):
    """The state hash with the criterion `tenth`. It must balance if a loss is seen, and only then."""
    compared = "balance.compare=[{model: r1, criterion: tenth}]"
    settings = ["balance.every=5", "balance.processes=8", "balance.constants.start=uniform", compared]
    state = runs.collision("tenth", settings)
    rows = [row for row in runs.rows("tenth", "balance.csv") if row["model"] == "r1/tenth"]
    asked = {row["decision"] for row in rows if float(row["lost_seconds"]) > 0}
    print("what the criterion decided where it saw a loss:", asked)
    if not asked or asked - {"moved", "kept: same"} or len(asked) == len(rows):
        stop(f"the criterion tenth of docs/extend.md decided {asked}")
    return {"tenth": state}


def controller(runs):
    """The state hash with the controller `patient`. It must find the best share of an accelerator 4 x as fast."""
    settings = ["accelerator.backend=host", "accelerator.controller=patient", "accelerator.every=10"]
    state = runs.collision("patient", [*settings, "accelerator.speed=[4.0]"])
    shares = [float(row["next_share"]) for row in runs.rows("patient", "zones.csv")]
    print("shares that the controller wanted:", shares)
    # From the deck's share, within a strip of cells, to that of an accelerator 4 x as fast.
    if abs(shares[0] - 0.5) > 0.05 or abs(shares[-1] - 0.8) > 0.05:
        stop("the controller patient of docs/extend.md does not find the best share")
    return {"patient": state}


def order(runs):
    """The state hash with the order of messages `large_first`, on three ranks."""
    return {"large_first": runs.collision("order", ["comm.aggregate=none", "comm.order=large_first"], 3)}


def output(runs):
    """Runs with the output `crowding`. A run that a restart continues must write the rows of a whole run."""
    deck = ["inputs/tiny.yaml", *setting_words(["output.crowding_every=20", "checkpoint.every=30"])]
    runs.run([*deck, *setting_words(["run.steps=100"])], "whole")
    runs.run([*deck, *setting_words(["run.steps=60"])], "continued")
    runs.run([*deck, *setting_words(["run.steps=100"]), "--restart", "auto"], "continued")
    whole, continued = (runs.text(name, "crowding.csv") for name in ("whole", "continued"))
    print(whole, end="")
    if whole != continued or whole.count("\n") != 7 or ",0\n" in whole:
        stop(f"the output crowding of docs/extend.md wrote {[whole, continued]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_FOLDER")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", help="output directory of the run of the model (default: a temporary one)")
    arguments = parser.parse_args()
    with open(os.path.join(ROOT, "docs/extend.md")) as f:
        page = f.read()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(program_with(arguments.build, folder, page, EXAMPLES), folder)
        table = models(runs, page, os.path.abspath(arguments.out) if arguments.out else "pairs")
        print(table, end="")
        hashes = {**partitions(runs), **criterion(runs), **controller(runs), **order(runs)}
        print("state hashes:", hashes)
        if len(set(hashes.values())) != 1:
            stop("an example of docs/extend.md changes the trajectory")
        output(runs)
    if arguments.check and table not in page:
        stop("docs/extend.md shows other figures; put these into it")


if __name__ == "__main__":
    main()
