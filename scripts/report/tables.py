# SPDX-License-Identifier: MIT
"""Reads results that may be unfinished, cut short, or no results at all: what can't be used is said, and left out."""
import csv
import json
import math
import os
import re
import stat


class Notes(list):
    """Sentences on what a directory lacks."""

    def add(self, name, what):
        self.append(f"{name}: {what}.")


def open_regular(path, **how):
    """Opens a regular file, or what a link leads to. OSError for all else: a pipe is not waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path!r} is no regular file")
    return open(handle, **how)


def read_text(folder, name, most=262144):
    """The text of a file, or None; bytes that are no UTF-8 are replaced."""
    try:
        with open_regular(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
            return f.read(most)
    except OSError:
        return None


def number_of(text):
    """A number as a file has it; None for one that is not finite, or that no counter of the program can hold. Throws
    ValueError for a word."""
    if len(text) <= 20 and "." not in text:  # Python refuses to read integers of thousands of digits
        try:
            number = int(text)
            return number if abs(number) < 2**63 else None
        except ValueError:
            pass
    number = float(text)
    return number if math.isfinite(number) and abs(number) < 2.0**1000 else None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_count(value):
    """Whether it is an integer that is not negative, and that a browser has exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def read_json(folder, name, notes):
    """The content of a JSON file, a dictionary. If the file cannot be read, the dictionary is empty, with a note. If
    there is no file, the dictionary is empty, without a note."""
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return {}
    try:
        with open_regular(path, encoding="utf-8") as f:
            found = json.load(f, parse_int=number_of, parse_float=number_of, parse_constant=lambda _: None)
    except (OSError, ValueError, RecursionError):
        notes.add(name, "it is no JSON file that can be read, and is left out")
        return {}
    if not isinstance(found, dict):
        notes.add(name, "it is not what the program writes, and is left out")
        return {}
    return found


def value_of(text):
    """As number_of(), and the text for a word."""
    try:
        return number_of(text)
    except ValueError:
        return text


def read_table(folder, name, notes, columns, words=(), counts=("step",), unfinished="row"):
    """The columns of a CSV file, {name: values}, or None if there is no such file, or it is another one.

    columns: These have to be there and hold numbers, except those in `words`.  counts: These hold integers >= 0.
    Other columns have None in the place of a text that is no number.
    Steps ascend. Rows that differ are dropped. If the last line has no end, its row is dropped. With "frame" all rows
    of its step are dropped. Notes say what is left out.
    """
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return None
    try:
        with open_regular(path, encoding="utf-8-sig", newline="") as f:
            text = f.read()
        lines = text.splitlines()
        head = next(csv.reader(lines[:1]), [])
        cut = len(lines) > 1 and not text.endswith("\n")
        table = list(csv.reader(line for line in lines[1 : len(lines) - cut] if line.strip()))
    except (OSError, ValueError, csv.Error):
        notes.add(name, "it cannot be read, and is left out")
        return None
    missing = [c for c in columns if c not in head]
    if missing or len(set(head)) < len(head):
        what = f"it has no column {missing[0]}" if missing else "it names a column twice"
        notes.add(name, f"{what}, so it is not what the program writes, and is left out")
        return None
    if cut:
        notes.add(name, f"its last {unfinished} is unfinished, and is left out")
    rows, foreign, step, at = [], 0, 0, head.index("step") if "step" in columns else None
    places = [(i, c in counts) for i, c in enumerate(head) if c in columns and c not in words]
    for cells in table:
        values = [str(cell) if c in words else value_of(cell) for c, cell in zip(head, cells)]
        good = len(cells) == len(head) and all(
            is_count(values[i]) if whole else not isinstance(values[i], str) for i, whole in places
        )
        if good and (at is None or values[at] >= step):
            step = step if at is None else values[at]
            rows.append(values)
        else:
            foreign += 1
    if foreign:
        notes.add(name, f"{foreign} of its rows are not of its columns, and are left out")
    if cut and unfinished == "frame":
        rows = [row for row in rows if row[at] < step]
    return {
        c: [None if isinstance(row[i], str) and c not in words else row[i] for row in rows] for i, c in enumerate(head)
    }


def few(found, most, name, notes):
    """All of a list, or, with a note, every so many of them, so that a page stays small however long the run."""
    every = -(-len(found) // most)
    if every > 1:
        notes.append(f"{name}: of {len(found):,} steps one in {every} is shown.")
    return found[::every] if every > 1 else found


def groups(table):
    """(step, first row, row behind the last one) of each run of rows of one step."""
    values, begin, found = table["step"], 0, []
    for i in range(1, len(values) + 1):
        if i == len(values) or values[i] != values[begin]:
            found.append((values[begin], begin, i))
            begin = i
    return found


def list_of(deck, key):
    """The words of a list in the effective deck; none where it does not say."""
    found = re.search(rf"^\s*{key}:\s*\[([^\]\n]*)\]", deck or "", re.M)
    return [word.strip() for word in found[1].split(",")] if found else []


def switched_off(deck, section, key):
    """Whether the effective deck has 0 for a key."""
    return re.search(rf"^{section}:[^\n]*\n(?:[ #][^\n]*\n)*?  {key}: *0 *(#.*)?$", deck, re.M) is not None
