# SPDX-License-Identifier: MIT
"""What the scripts share: errors in one line, runs of programs, and files of results."""
import csv
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def fail(what):
    """One line on standard error that says what is wrong and what helps, and exit code 2."""
    print(f"{os.path.basename(sys.argv[0])}: {what}", file=sys.stderr)
    sys.exit(2)


def mpiexec(ranks):
    """The words that start a program on so many ranks, with the launcher of the MPI that we build with."""
    return [shutil.which("mpiexec.mpich") or "mpiexec", "-n", str(ranks)]


def settings(*keys):
    """Words of a command line for "key.path=value", ..."""
    return [word for key in keys for word in ("--set", key)]


def run(command, threads=1, **options):
    """A program with so many threads a rank, in the source tree; what it says where it fails is passed on, with its
    exit code. `options` are subprocess.run's; `environment` adds to the environment."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), **options.pop("environment", {}))
    options = dict(dict(cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), **options)
    done = subprocess.run([str(word) for word in command], env=environment, **options)
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr or ''}", file=sys.stderr)
        sys.exit(done.returncode if done.returncode > 0 else 1)
    return done


def read_json(path, keys=(), advice=""):
    """A JSON file that must have these keys; else one line that ends in the advice."""
    try:
        with open(path) as f:
            found = json.load(f)
    except (OSError, ValueError) as e:
        fail(f"cannot read {path}: {reason(e)}{advice and '; '}{advice}")
    missing = [k for k in keys if not isinstance(found, dict) or k not in found]
    if missing:
        fail(f"{path} has no {missing[0]}{advice and '; '}{advice}")
    return found


def read_csv(path, columns=(), advice=""):
    """The rows of a CSV file that must have these columns; else one line that ends in the advice."""
    try:
        with open(path) as f:
            table = csv.DictReader(f)
            rows, head = list(table), table.fieldnames or []
    except (OSError, ValueError) as e:
        fail(f"cannot read {path}: {reason(e)}{advice and '; '}{advice}")
    missing = [c for c in columns if c not in head]
    if missing:
        fail(f"{path} has no column {missing[0]}{advice and '; '}{advice}")
    return rows


def reason(error):
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not in that format"


def write_json(path, content):
    """Writes a file of results, makes its directory, and says where it is."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        json.dump(content, f, indent=1)
        f.write("\n")
    print(f"wrote {path}")
