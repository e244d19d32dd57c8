#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries the examples of docs/extend.md: extend_example.py BUILD_FOLDER [--check]

The page adds a load model, a criterion, a partitioner, a controller, an order of messages and an output. The script
takes the files out of the page, compiles them and the lists that name them, and links the program anew. Then it runs
the page's comparison of models. Collisions with the other examples must not change the state hash. The output must
write the same rows after a restart.

The script prints the overall LBE of each model, as the page shows it. With --check it fails if the page shows other
figures. The times are counted work, so the figures are the same on every machine.
"""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from common import ROOT, call, fail, mpiexec, read_csv, read_json, words
from studies import markdown_head, markdown_row, options_of, steelyard

EXAMPLES = [  # file on the page, file with the list that names it, and what else example() takes
    ("balance/model/pairs.cpp", "balance/model/load_model.cpp"),
    ("balance/partition/columns.cpp", "balance/partition/partition.cpp"),
    ("balance/criterion/tenth.cpp", "balance/criterion/criterion.cpp"),
    ("balance/zone/patient.cpp", "balance/zone/controller.cpp"),
    ("comm/large_first.cpp", "comm/schedule.hpp", ("comm/schedule.cpp", "app/deck/table_machine.cpp")),
    (
        *("app/output/series/crowding.cpp", "app/deck/outputs.hpp"),
        ("app/output/series/series.cpp", "app/deck/table.cpp"),
        'add(crowding, "steps between rows of crowding.csv; 0: never")',
    ),
]


def read(path):
    return pathlib.Path(path).read_text()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pathlib.Path(path).write_text(text)


def commands(build, *options):
    """The commands by which ninja makes the program, as text."""
    return call(["ninja", "-C", build, "-t", "commands", *options, "steelyard"], stdout=subprocess.PIPE).stdout


def unit_of(build, program, source):
    """The compilation, an entry of compile_commands.json, that a source of the program is a part of. program: the
    commands that make it."""
    path = os.path.join(ROOT, source)
    for entry in read_json(os.path.join(build, "compile_commands.json")):
        command = shlex.split(entry["command"])
        if f" -o {command[command.index('-o') + 1]} " not in program:  # of a library that is not the program's
            continue
        together = entry["file"].endswith(".cxx")  # sources that are compiled together
        if f'"{path}"' in read(entry["file"]) if together else os.path.samefile(entry["file"], path):
            return entry
    return fail(f"{build} does not compile {source}")


def example(folder, page, file, table, users=(), entry=None):
    """Puts an example into the folder: its file, and the table with a new line at the end of its list.

    file: Its name on the page.  table: The file with the list.  entry: The line, by default add(NAME).
    users: The sources to compile anew, if the table is a header.
    Returns the sources to compile anew.
    """
    entry = entry or f"add({os.path.basename(file)[:-4]})"
    code = re.search(rf"`({re.escape(file)})`[^\n]*(?:\n[^\n]+)*:\n\n```cpp\n(.*?)```", page, re.S)
    if not code or f"`{entry}`" not in page or table not in page:
        fail(f"docs/extend.md no longer shows {file} and its line in {table} in the form that this script looks for")
    listed = read(table)
    last = re.search(r"    add\(\w+[^()]*\)\n", listed)
    if not last:
        fail(f"{table} no longer has a list that ends with a line add(...)")
    if entry not in listed:  # else the reader has added it
        listed = listed[: last.end() - 1] + f" \\\n    {entry}\n" + listed[last.end() :]
    write(os.path.join(folder, table), listed)
    write(os.path.join(folder, file), code.group(2))
    return users or (table,)


def compile_in(folder, number, unit, added):
    """Compiles the sources of `unit` together with `added`, as the build does. Files in `folder` take the place of
    those of the same names. Returns the object."""
    source, result = (os.path.join(folder, f"{number}.{ending}") for ending in ("cpp", "o"))
    text = read(unit["file"]) if unit["file"].endswith(".cxx") else f'#include "{unit["file"]}"\n'
    text += "".join(f'#include "{ROOT}/{file}"\n' for file in added)
    for path in re.findall(r'#include "(.*)"', text):
        ours = os.path.join(folder, os.path.relpath(path, ROOT))
        text = text.replace(f'"{path}"', f'"{ours}"') if os.path.exists(ours) else text
    write(source, text)
    command = shlex.split(unit["command"])
    command.insert(next(i for i, word in enumerate(command) if word.startswith("-I")), "-I" + folder)
    for option, value in (("-o", result), ("-c", source), ("-MF", result + ".d"), ("-MT", result)):
        if option in command:
            command[command.index(option) + 1] = value
    call(command + ["-O0"], cwd=unit["directory"])  # a third of the time; no figure depends on it
    return result


def program_with(build, folder, page):
    """The program with the files that the page shows."""
    program, units = commands(build), {}  # by source of the compilation: the compilation, and the files added to it
    for shown in EXAMPLES:
        for n, source in enumerate(example(folder, page, *shown)):
            unit = unit_of(build, program, source)
            units.setdefault(unit["file"], (unit, []))[1].extend([shown[0]] if n == 0 else [])
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # a compilation that fails ends the script
        objects = list(pool.map(lambda job: compile_in(folder, job[0], *job[1]), enumerate(units.values())))
    link, binary = commands(build, "-s").strip().splitlines()[-1], os.path.join(folder, "steelyard")
    command = shlex.split(link.replace(": && ", "").replace(" && :", ""))
    at = command.index("-o")  # objects before libraries: what they define is not taken from there
    call(command[:at] + objects + ["-o", binary] + command[at + 2 :], cwd=build)
    return binary


class Runs:
    """Runs of the program with the files of the page, each in a directory of its own in `folder`."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def collision(self, name, settings, start=()):
        """Runs 100 steps of the small collision with these settings, and returns the state hash."""
        settings = ["run.steps=100", "balance.every=20", "balance.clock=work", *settings]
        how = dict(out=os.path.join(self.folder, name), settings=settings, start=start, binary=self.binary)
        return steelyard("run", "inputs/tiny.yaml", **how)["state_hash"]

    def rows(self, name, file):
        return read_csv(os.path.join(self.folder, name, file))


def models(runs, page):
    """Runs the page's comparison of models. Returns the overall LBE of each model as the page's table."""
    command = re.search(r"    build/steelyard (run inputs/strip_t1\.yaml .*?compare=[^']*')", page, re.S)
    if not command:
        fail("docs/extend.md no longer shows the run of the model pairs in the form that this script looks for")
    arguments = shlex.split(command.group(1).replace("\\\n", " "))
    at = arguments.index("--out")
    out = os.path.join(runs.folder, "pairs")
    summary = steelyard(*arguments[:at], *arguments[at + 2 :], out=out, binary=runs.binary)
    lbe = sorted(((v, m) for m, v in summary["overall_lbe_measured"].items()), reverse=True)
    return markdown_head([f"`{m}`" for _, m in lbe]) + "\n" + markdown_row([f"{100 * v:.1f}" for v, _ in lbe]) + "\n"


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
        fail(f"the criterion tenth of docs/extend.md decided {asked}")
    return {"tenth": state}


def controller(runs):
    """The state hash with the controller `patient`. It must find the best share of an accelerator 4 x as fast."""
    settings = ["accelerator.backend=host", "accelerator.controller=patient", "accelerator.every=10"]
    state = runs.collision("patient", [*settings, "accelerator.speed=[4.0]"])
    shares = [float(row["next_share"]) for row in runs.rows("patient", "zones.csv")]
    print("shares that the controller wanted:", shares)
    # From the deck's share, within a strip of cells, to that of an accelerator 4 x as fast.
    if abs(shares[0] - 0.5) > 0.05 or abs(shares[-1] - 0.8) > 0.05:
        fail("the controller patient of docs/extend.md does not find the best share")
    return {"patient": state}


def order(runs):
    """The state hash with the order of messages `large_first`, on three ranks."""
    return {"large_first": runs.collision("order", ["comm.aggregate=none", "comm.order=large_first"], mpiexec(3))}


def output(runs):
    """Runs with the output `crowding`. A run that a restart continues must write the rows of a whole run."""

    def run(name, steps, *options):
        settings = words(["output.crowding_every=20", "checkpoint.every=30", f"run.steps={steps}"])
        out = os.path.join(runs.folder, name)
        call([runs.binary, "run", "inputs/tiny.yaml", *settings, *options, "--out", out, "--quiet"])
        return read(os.path.join(out, "crowding.csv"))

    whole, _, continued = run("whole", 100), run("continued", 60), run("continued", 100, "--restart", "auto")
    print(whole, end="")
    if whole != continued or whole.count("\n") != 7 or ",0\n" in whole:
        fail(f"the output crowding of docs/extend.md wrote {[whole, continued]}")


def main():
    parser = options_of(__doc__)
    parser.add_argument("build", metavar="BUILD_FOLDER")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    page = read("docs/extend.md")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(program_with(arguments.build, folder, page), folder)
        table = models(runs, page)
        print(table, end="")
        hashes = {**partitions(runs), **criterion(runs), **controller(runs), **order(runs)}
        print("state hashes:", hashes)
        if len(set(hashes.values())) != 1:
            fail("an example of docs/extend.md changes the trajectory")
        output(runs)
    if arguments.check and table not in page:
        fail("docs/extend.md shows other figures; put these into it")


if __name__ == "__main__":
    main()
