# SPDX-License-Identifier: MIT
"""The common part of the scripts: errors in one line, runs of programs, and files of results."""
import argparse
import contextlib
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys

# The checkout. Links to this file, and copies in the place of links, lie in other folders of it.
ROOT = next((str(p) for p in pathlib.Path(__file__).resolve().parents if (p / "CMakeLists.txt").is_file()), ".")


def parser_of(doc):
    """The parser of a script whose docstring is its help."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def fail(what):
    """Prints one line on standard error, which names the error and a remedy, and ends with exit code 2."""
    print(f"{os.path.basename(sys.argv[0])}: {what}", file=sys.stderr)
    sys.exit(2)


def note(what):
    """Prints one line on standard error, and goes on."""
    print(f"{os.path.basename(sys.argv[0])}: note: {what}", file=sys.stderr)


def require_other(path, *read):
    """Refuses to write a file that is read."""
    if os.path.exists(path) and any(os.path.samefile(path, name) for name in read if os.path.exists(name)):
        fail(f"cannot write {path}: it is what is read; choose another name")


@contextlib.contextmanager
def replacing(path):
    """The name under which a file is written. It is called `path` when it is whole."""
    unfinished = path + ".tmp"
    try:
        yield unfinished
        os.replace(unfinished, path)
    except OSError as e:
        fail(f"cannot write {path}: {reason(e)}; choose another name")
    finally:
        with contextlib.suppress(OSError):
            os.remove(unfinished)


def mpiexec(ranks, *options):
    """The words that start a program on so many ranks, with the launcher of the MPI that we build with."""
    return [shutil.which("mpiexec.mpich") or "mpiexec", *options, "-n", str(ranks)]


def words(settings):
    """The words of a command line for "key.path=value", ..."""
    return [word for setting in settings for word in ("--set", setting)]


def call(command, threads=1, environment=None, **options):
    """Runs a command with so many threads a rank (None: as many as it takes by itself). If it fails, the script prints
    a line and ends with its exit code. `environment` adds to the environment, `options` are
    subprocess.run's."""
    command = [str(word) for word in command]
    variables = dict(
        os.environ, **({} if threads is None else {"OMP_NUM_THREADS": str(threads)}), **(environment or {})
    )
    done = subprocess.run(command, env=variables, text=True, **options)
    if done.returncode != 0:
        print(f"{done.stderr or ''}{' '.join(command)}: exit code {done.returncode}", file=sys.stderr)
        sys.exit(done.returncode if done.returncode > 0 else 1)
    return done


def draw(name, path, *outdirs, options=()):
    """Has report.py draw one picture of results into a PNG file."""
    script = os.path.join(ROOT, "scripts", "report.py")
    call([sys.executable, script, *outdirs, "--pictures", "png", "--only", name, *options, "--output", path])


def read_json(path, keys=(), advice=""):
    """A JSON file that must have these keys; else one line that ends in the advice."""
    return read(path, lambda f: [json.load(f)] * 2, keys, "", advice)


def read_csv(path, columns=(), advice=""):
    """The rows of a CSV file that must have these columns; else one line that ends in the advice."""

    def rows(f):
        table = csv.DictReader(f)
        return list(table), table.fieldnames

    return read(path, rows, columns, "column ", advice)


def read(path, load, names, kind, advice):
    """The first of two values that load() returns for a file; the second one must hold the names."""
    advice = advice and f"; {advice}"
    try:
        with open(path) as f:
            found, held = load(f)
    except (OSError, ValueError) as e:
        fail(f"cannot read {path}: {reason(e)}{advice}")
    missing = [name for name in names if not isinstance(held, (dict, list)) or name not in held]
    if missing:
        fail(f"{path} has no {kind}{missing[0]}{advice}")
    return found


def reason(error):
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not in that format"


def require_writable(path):
    """Ends with one line if a file of results cannot be written. For scripts that measure first."""
    there = os.path.lexists(path)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "a"):
            pass
    except OSError as e:
        fail(f"cannot write {path}: {reason(e)}; choose another name")
    if not there:
        os.remove(path)


def write_json(path, content):
    """Writes a file of results, makes its directory, and says where it is."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        json.dump(content, f, indent=1)
        f.write("\n")
    print(f"wrote {path}")


def write_csv(path, rows):
    """Writes dictionaries as rows. Its columns are all of their keys."""
    with open(path, "w", newline="") as f:
        table = csv.DictWriter(f, list(dict.fromkeys(key for r in rows for key in r)), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
