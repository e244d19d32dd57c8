# SPDX-License-Identifier: MIT
"""Runs of the program, and their results as arrays by name."""
import csv
import glob
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import numpy as np


def texts_of(settings):
    """`key.path=value` of a dictionary of settings."""

    def plain(value):
        return value.tolist() if hasattr(value, "tolist") else str(value)

    return [f"{key}={json.dumps(value, default=plain)}" for key, value in settings.items()]


def array_of(texts):
    for kind in (int, float):
        try:
            return np.array([kind(text) for text in texts], dtype=kind)
        except (ValueError, OverflowError):
            pass
    return np.array(texts, dtype=str)


def columns_of(text):
    """The columns of a CSV text, {name: array}. A last line without an end is left out."""
    head, *rows = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]))
    return {name: array_of(values) for name, values in zip(head, zip(*rows) if rows else [()] * len(head))}


class Run:
    """The results of a run. Each table is an attribute: `run.balance` has the columns of balance.csv, {name: array}. A
    restart goes on with the tables, so they tell of all starts. summary: of the last start. starts: the steps of all.
    """

    def __init__(self, out):
        self.out = os.fspath(out)
        if not os.path.isfile(os.path.join(self.out, "run.json")):
            raise FileNotFoundError(f"{self.out}: it holds no results of a run; give the directory behind --out")

    @staticmethod
    def text(*path):
        with io.open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()

    def __getattr__(self, name):
        path = os.path.join(self.out, f"{name}.csv") if not name.startswith("_") else ""
        if not os.path.isfile(path):
            raise AttributeError(f"there is no {name}; there are {', '.join(dir(self))}")
        vars(self)[name] = columns_of(self.text(path))
        return vars(self)[name]

    def __dir__(self):
        tables = [os.path.basename(path)[:-4] for path in glob.glob(os.path.join(glob.escape(self.out), "*.csv"))]
        return ["deck", "fields", "starts", "steps", "summary", *sorted(tables)]

    summary = property(lambda self: json.loads(self.text(self.out, "summary.json")), doc="summary.json")
    deck = property(lambda self: self.text(self.out, "deck.yaml"), doc="the effective deck")

    @property
    def starts(self):
        """The steps at which the program started, at first and by restarts."""
        return [start["step"] for start in json.loads(self.text(self.out, "run.json"))["starts"]]

    @property
    def steps(self):
        """The steps of the cell fields."""
        return sorted(
            int(found[1]) for name in os.listdir(self.out) if (found := re.fullmatch(r"fields_(\d+)\.h5", name))
        )

    def fields(self, step):
        """The cell fields of a step: {name: array [ny, nx] or [nz, ny, nx]}."""
        import h5py  # not needed for tables

        with h5py.File(os.path.join(self.out, f"fields_{step}.h5"), "r") as file:
            return {name: values[()] for name, values in file.items() if isinstance(values, h5py.Dataset)}


def open(out):
    """The results in an output directory, also of a run that goes on."""
    return Run(out)


def run(deck, out, ranks=1, set=(), *, options=(), program=None, mpiexec=None):
    """Runs a deck with the program, and returns open(out). Ctrl-C ends the run, with a checkpoint.

    set: {"section.key": value}.  options: further words of the command line, such as ["--force"].
    Throws RuntimeError with the words of the program if it ends with another code than 0.
    """
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../steelyard")
    program = program or (beside if os.path.isfile(beside) else shutil.which("steelyard") or "steelyard")
    command = [mpiexec or shutil.which("mpiexec.mpich") or "mpiexec", "-n", str(ranks), program, "run", deck]
    command += ["--out", out, *(word for text in texts_of(dict(set)) for word in ("--set", text)), *options]
    words = []
    # In a session of its own, so that Ctrl-C does not end the launcher before the ranks have their checkpoint.
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as job:
        try:
            for line in job.stderr:
                words.append(line)
                sys.stderr.write(line)
            code = job.wait()
        except BaseException:
            job.send_signal(signal.SIGINT)
            job.stderr.close()
            job.wait()
            raise
    if code != 0:
        said = [line for line in words if line.startswith("steelyard:")] or words[-3:]
        raise RuntimeError(f"exit code {code}: {''.join(said).strip()}")
    return open(out)
