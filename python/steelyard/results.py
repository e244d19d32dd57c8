# SPDX-License-Identifier: MIT
"""Runs of the program, and their results as arrays by name."""
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import numpy as np


def texts_of(settings):
    """`key.path=value` of a dictionary of settings."""

    def plain(value):
        if hasattr(value, "tolist"):
            return value.tolist()
        raise ValueError(f"{value!r} is no name and no number; give one, or an object (docs/python.md)")

    return [f"{key}={json.dumps(value, default=plain)}" for key, value in settings.items()]


def columns_of(text):
    """The columns of a CSV text, {name: array}. A last line without an end is left out."""
    head, *rows = csv.reader(text[: text.rfind("\n") + 1].splitlines())
    return {name: array_of(values) for name, values in zip(head, zip(*rows) if rows else [()] * len(head))}


def array_of(texts):
    for kind in (int, float):
        try:
            return np.array([kind(text) for text in texts], dtype=kind)
        except ValueError:
            pass
    return np.array(texts)


class Run:
    """The results in an output directory. Each table, JSON file and deck is an attribute, read when first asked for:
    `run.balance` has the columns of balance.csv, {name: array}, `run.summary` is the dictionary of summary.json. A
    restart goes on with the tables, so they tell of all starts."""

    READERS = {".csv": columns_of, ".json": json.loads, ".yaml": str}

    def __init__(self, out):
        self.out = os.fspath(out)
        if not os.path.isfile(os.path.join(out, "run.json")):
            raise FileNotFoundError(f"{out}: it holds no results; give the directory behind --out")

    def __getattr__(self, name):
        if not name.startswith("_"):
            for ending, read in self.READERS.items():
                if os.path.isfile(path := os.path.join(self.out, name + ending)):
                    return vars(self).setdefault(name, read(pathlib.Path(path).read_text("utf-8")))
        raise AttributeError(f"{name}: no such result; there are {', '.join(dir(self))}")

    def __dir__(self):
        files = map(os.path.splitext, sorted(os.listdir(self.out)))
        return ["fields", *(name for name, ending in files if ending in self.READERS)]

    def fields(self, step=None):
        """The cell fields of a step: {name: array [ny, nx] or [nz, ny, nx]}. Without a step: all steps with fields."""
        if step is None:
            return sorted(int(step) for step in re.findall(r"fields_(\d+)\.h5", " ".join(os.listdir(self.out))))
        if step not in (steps := self.fields()):
            raise ValueError(f"step {step} has no fields; there are those of {steps}")
        import h5py  # not needed for tables

        with h5py.File(os.path.join(self.out, f"fields_{step}.h5"), "r") as file:
            return {name: values[()] for name, values in file.items()}


def open(out):
    """The results in an output directory, also of a run that goes on."""
    return Run(out)


def run(deck, out, ranks=1, set=(), *, options=(), program=None, mpiexec=None):
    """Runs a deck with the program, and returns open(out). Ctrl-C ends the run, with a checkpoint. Throws RuntimeError
    with the program's words. set: {"section.key": value}. options: words of the command line, as ["--force"]."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../steelyard")  # in a build
    program = program or (beside if os.path.isfile(beside) else "steelyard")
    command = [mpiexec or shutil.which("mpiexec.mpich") or "mpiexec", "-n", str(ranks), program, "run", deck]
    command += ["--out", out, *(word for text in texts_of(dict(set)) for word in ("--set", text)), *options]
    words = []
    # In a session of its own, so Ctrl-C does not end the launcher before the ranks have written their checkpoint.
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as job:
        try:
            for line in job.stderr:
                words.append(line)
                sys.stderr.write(line)
        except KeyboardInterrupt:
            job.send_signal(signal.SIGINT)
            job.communicate()
            raise
    if job.returncode != 0:
        said = [line for line in words if line.startswith("steelyard: error")] or words[-3:]
        raise RuntimeError(f"exit code {job.returncode}: {''.join(said).strip()}")
    return open(out)
