# SPDX-License-Identifier: MIT
"""Reads results that may be unfinished, cut short, or no results at all: what can't be used is said, and left out."""
import csv
import json
import math
import os


class Notes(list):
    """Sentences on what a directory lacks."""

    def add(self, name, what):
        self.append(f"{name}: {what}.")


def read_text(folder, name, most=262144):
    """The text of a file, or None; bytes that are no UTF-8 are replaced."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
            return f.read(most)
    except OSError:
        return None


def read_json(folder, name, notes):
    """What a JSON file holds, a dictionary; empty, with a note, where it can't be read, without one where it is not
    there."""
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return {}
    try:
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
    except (OSError, ValueError, RecursionError):
        notes.add(name, "it is no JSON file that can be read, and is left out")
        return {}
    if not isinstance(found, dict):
        notes.add(name, "it is not what the program writes, and is left out")
        return {}
    return found


def value_of(text):
    """A number as the file has it, None for one that is not finite, and the text for a word."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else None


def read_table(folder, name, notes, columns, words=()):
    """The columns of a CSV file, {name: values}: those named have to be there, and hold numbers but for `words`. An
    unfinished last row is dropped. None where there is no such file, or it is another one; a note says so."""
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return None
    try:
        with open(path, encoding="utf-8-sig", newline="") as f:
            text = f.read()
    except (OSError, ValueError):
        notes.add(name, "it cannot be read, and is left out")
        return None
    lines = text.splitlines()
    head = next(csv.reader(lines[:1]), [])
    missing = [c for c in columns if c not in head]
    if missing or len(set(head)) < len(head):
        what = f"it has no column {missing[0]}" if missing else "it names a column twice"
        notes.add(name, f"{what}, so it is not what the program writes, and is left out")
        return None
    if len(lines) > 1 and not text.endswith("\n"):
        lines.pop()
        notes.add(name, "its last row is unfinished, and is left out")
    rows, foreign = [], 0
    places = [(i, c in words) for i, c in enumerate(head) if c in columns]
    for cells in csv.reader(line for line in lines[1:] if line.strip()):
        values = [value_of(cell) for cell in cells]
        good = len(values) == len(head) and all(word or not isinstance(values[i], str) for i, word in places)
        if good:
            rows.append(values)
        else:
            foreign += 1
    if foreign:
        notes.add(name, f"{foreign} of its rows are not of its columns, and are left out")
    table = {c: [row[i] for row in rows] for i, c in enumerate(head)}
    for word in words:
        table[word] = ["" if v is None else str(v) for v in table.get(word, [])]
    return table


def few(found, most, name, notes):
    """All of a list, or, with a note, every so many of them, so that a page stays small however long the run."""
    every = -(-len(found) // most)
    if every > 1:
        notes.append(f"{name}: of {len(found):,} steps one in {every} is shown.")
    return found[::every] if every > 1 else found


def groups(table, key="step"):
    """(value, first row, row behind the last one) of each run of rows that share the value of a column."""
    values, begin, found = table[key], 0, []
    for i in range(1, len(values) + 1):
        if i == len(values) or values[i] != values[begin]:
            found.append((values[begin], begin, i))
            begin = i
    return found
