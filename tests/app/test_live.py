# SPDX-License-Identifier: MIT
"""`run --live` through a pseudo-terminal: what stands on the screen is what the files hold, and however a run ends the
terminal is in order and what was printed can be read. Screens are those of pyte, an emulator of a terminal."""
import csv
import fcntl
import math
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import pytest

from program import HANG_SECONDS, COLLISIONS, DECK, command, environment, hash_of, settings, summary

try:
    import pyte
except ImportError:
    pyte = None
pytestmark = pytest.mark.skipif(pyte is None, reason="there is no pyte here; scripts/setup.sh installs it")

SHADES = " .:-=+*#%@"
COLOURS = dict(zip("121212 1c1c1c 5f005f 87005f af005f d7005f ff5f5f ff875f ffaf5f ffd787".split(), SHADES))
LONG = dict(run__steps=100000, output__every=500, balance__every=20)


class Terminal:
    """A program on a terminal. lines(): all that was printed, what has left the screen too."""

    def __init__(self, words, size=(100, 40), **variables):
        self.size, self.raw = size, b""
        self.screen = pyte.HistoryScreen(*(size if size[0] else (80, 24)), history=100000, ratio=0.1)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            e = {**environment(), "TERM": "xterm-256color", "NO_COLOR": "1", **variables}
            e.pop("COLORTERM", None)
            os.execvpe(words[0], [str(w) for w in words], e)

    def until(self, good, seconds=HANG_SECONDS):
        """Reads on until good() or the end of the program. Returns good()."""
        end = time.monotonic() + seconds
        while not good():
            assert time.monotonic() < end, "\n".join(self.lines())
            try:
                data = os.read(self.fd, 65536) if select.select([self.fd], [], [], 0.1)[0] else None
            except OSError:  # nobody has the terminal any more
                data = b""
            if data == b"":
                break
            self.raw += data or b""
            self.stream.feed(data or b"")
        return good()

    def drawn(self, pictures):
        """Waits until so many pictures were drawn; False where the run has ended before."""
        return self.until(lambda: len(re.findall(rb"\] +\d+ %", self.raw)) >= pictures)

    def waits_below(self, rows):
        """Whether the cursor stands at the begin of the line below the last picture on a screen of so many rows."""
        lines, cursor = self.lines()[-rows:], self.screen.cursor
        return cursor.x == 0 and 0 < cursor.y <= len(lines) and lines[cursor.y - 1] == self.pictures()[-1][-1]

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def end(self):
        """Waits for the end of the program. The exit code; the terminal is in order."""
        self.until(lambda: False, 120)
        os.close(self.fd)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        assert not self.screen.cursor.hidden and self.screen.cursor.attrs == self.screen.default_char
        assert not re.search(rb"\x1b\[\?|\x1b[^\[]", self.raw), "no mode of the terminal is changed"
        assert pyte.modes.DECAWM in self.screen.mode and self.screen.cursor.x == 0
        return code

    def lines(self):
        past = ["".join(row[x].data for x in range(max(row, default=-1) + 1)) for row in self.screen.history.top]
        return [line.rstrip() for line in [*past, *self.screen.display]]

    def pictures(self):
        """Pictures that can be seen, as lists of their lines."""
        found = []
        for line in self.lines():
            if re.match(r"\[#* *\] +\d+ %", line):
                found.append([])
            if found and not re.search(" of a cell.* at step", "".join(found[-1][3:])):
                found[-1].append(line)
        return found


def words(ranks, out, deck=DECK, *more, **values):
    return command(ranks, "run", deck, "--out", out, "--live", *more, *settings(**values))


def rows_of(out, name):
    with open(os.path.join(out, name), newline="") as f:
        return list(csv.DictReader(f))


def general(value, digits):
    """As the program prints a number."""
    return f"{float(value):.{digits}g}"


def map_of(out, columns, rows):
    """The lines of the map by the last frame of map.csv: cells as characters, and what stands below."""
    frame = rows_of(out, "map.csv")
    frame = [{k: float(v) for k, v in r.items()} for r in frame if r["step"] == frame[-1]["step"]]
    edges = [sorted({r[f"{a}0"] for r in frame}) for a in "xyz"]
    cells = [max(r[f"{a}1"] for r in frame) for a in "xyz"]
    at = {tuple(edges[i].index(r[f"{a}0"]) for i, a in enumerate("xyz")): r for r in frame}
    what = "particles" if any(math.isnan(r["load"]) for r in frame) else "load"
    n = [len(e) for e in edges]
    shape = 2 * cells[0] / cells[1]
    height = min(max(1, math.floor(columns / shape + 0.5)), rows)
    width = min(max(1, math.floor(height * shape + 0.5)), columns)

    def span(i, many, count):
        return range(i * count // many, max(i * count // many + 1, (i + 1) * count // many))

    def size(r):
        return math.prod(r[f"{a}1"] - r[f"{a}0"] for a in "xyz")

    value, owner = [], []
    for y in reversed(range(height)):
        value.append([]), owner.append([])
        for x in range(width):
            xs, ys = span(x, width, n[0]), span(y, height, n[1])
            found = [at[i, j, k] for i in xs for j in ys for k in range(n[2])]
            value[-1].append(sum(r[what] for r in found) / sum(map(size, found)))
            middle = [(s[0] + s[-1]) // 2 for s in (xs, ys)]
            owner[-1].append(at[(*middle, n[2] // 2)]["owner"])
    top = max(map(max, value))
    lines = ["".join(SHADES[math.ceil(min(v / top, 1) * 9)] for v in row) for row in value]
    left = [[x > 0 and row[x] != row[x - 1] for x in range(width)] for row in owner]
    below = [[y + 1 < height and owner[y][x] != owner[y + 1][x] for x in range(width)] for y in range(height)]
    if 2 * sum(a or b for r, s in zip(left, below) for a, b in zip(r, s)) > width * height:
        left = below = [[False] * width] * height
    mean = sum(r[what] for r in frame) / math.prod(cells)
    most = f"{general(top / mean, 3)} times the mean" if what == "load" else general(top, 3)
    along = ", mean along z," if cells[2] > 1 else ""
    return lines, left, below, f"{what} of a cell{along} at step {int(frame[0]['step'])}, at most {most}"


@pytest.mark.group("live_picture")
@pytest.mark.parametrize(
    "coloured, ranks, dimensions", [(0, 0, 2), (1, 1, 3), (1, 2, 2), (0, 3, 3), (0, 4, 2), (1, 7, 3)]
)
def test_last_picture_is_that_of_the_files(tmp_path, coloured, ranks, dimensions):
    """Numbers and map, in colours or without; the log stays whole, and the trajectory is the same."""
    c, out = COLLISIONS[dimensions], tmp_path / "out"
    values = {**c.small, "run__steps": 240, "balance__every": 20, "balance__clock": "work", "output__every": 40}
    t = Terminal(words(ranks, out, c.deck, **values), NO_COLOR="" if coloured else "1")
    assert t.end() == 0
    text = t.lines()
    (seen,) = t.pictures()
    balance = [r for r in rows_of(out, "balance.csv") if r["driver"] == "1"][-1]
    thermo = rows_of(out, "thermo.csv")[-1]
    assert seen[0] == f"[{'#' * 40}] 100 %  step 240/240"
    assert re.fullmatch(r"\d+\.\d\d M atom-steps/s  (.*)", seen[1])[1] == (
        f"LBE {100 * float(balance['lbe']):.2f} % at step {balance['step']}  {balance['decision']}"
    )
    assert seen[2] == (
        f"total {general(thermo['total'], 7)}  T {general(thermo['temperature'], 4)}"
        f"  p {general(thermo['pressure'], 4)}  at step 240"
    )
    shades, left, below, words_below = map_of(out, 99, 24)
    assert seen[-1] == words_below and len(seen) == 4 + len(shades)
    first = len(text) - t.screen.lines
    for y, row in enumerate(shades):
        place = text.index(seen[0]) + 3 + y - first
        line = t.screen.buffer[place] if place >= 0 else t.screen.history.top[place]
        cells = [line[x] for x in range(len(row))]
        if coloured:
            assert "".join(COLOURS[cell.bg] for cell in cells) == row
            assert [cell.data == "|" for cell in cells] == left[y]
        else:
            assert "".join(cell.data for cell in cells) == "".join("|" if bar else s for s, bar in zip(row, left[y]))
        assert [cell.underscore for cell in cells] == below[y]
    assert (b";48;5;" in t.raw) == bool(coloured) and (b"38;5;" in t.raw) == bool(coloured)
    # The log: header, the first step and the last one, the picture, the table.
    assert text[0].startswith("steelyard ") and sum(line.startswith("step 0/240") for line in text) == 1
    assert text.index(seen[0]) == 1 + [line.startswith("step 240/240") for line in text].index(True)
    assert any(line.startswith("  state hash " + hash_of(out)) for line in text)
    silent = words(0, tmp_path / "silent", c.deck, "--quiet", **values)
    silent.remove("--live")
    assert subprocess.run(silent, env=environment(), timeout=HANG_SECONDS).returncode == 0
    assert hash_of(tmp_path / "silent") == hash_of(out)


@pytest.mark.group("live_ends")
@pytest.mark.parametrize("ranks, way", [(0, "^C"), (2, "^C"), (0, "TERM"), (3, "TERM"), (2, "time")])
def test_stopped_early(tmp_path, ranks, way):
    """The picture stays, and what is said of the stop can be read below it."""
    limit = {"checkpoint__time_limit_seconds": 1.5} if way == "time" else {}
    t = Terminal(words(ranks, tmp_path / "out", **LONG, **limit))
    assert t.drawn(3)
    if way == "^C":
        os.write(t.fd, b"\x03")
    elif way == "TERM":
        os.kill(t.pid, signal.SIGTERM)
    assert t.end() == 75
    step = summary(str(tmp_path / "out"))["steps"]
    text = t.lines()
    end = text.index(f"steelyard: stopped early at step {step} of 100000, with a checkpoint; go on with --restart auto")
    shown = text.index(t.pictures()[-1][0])
    assert shown < end and len(t.pictures()) == 1 and len(t.pictures()[0]) > 10
    if way == "^C":
        assert any("^C" in line for line in text[shown:end])


@pytest.mark.group("live_ends")
def test_nothing_is_drawn_over_a_stop(tmp_path):
    """Though a picture is due when the signal is seen."""
    t = Terminal(
        words(0, tmp_path / "out", DECK, "--quiet", **{**LONG, "balance__every": 1}, balance__criterion="every")
    )
    assert t.drawn(3)
    os.kill(t.pid, signal.SIGSTOP)
    os.kill(t.pid, signal.SIGTERM)
    end = time.monotonic() + 1.2  # longer than the longest pause
    t.until(lambda: time.monotonic() > end)
    before = len(t.raw)
    os.kill(t.pid, signal.SIGCONT)
    assert t.end() == 75 and b"stopped early" in t.raw[before:]
    # The stop may have come in the middle of a picture, whose end is then drawn; no other one begins.
    assert not re.search(rb"\] +\d+ %", t.raw[before:]) and len(t.pictures()[0]) > 10


@pytest.mark.group("live_ends")
@pytest.mark.parametrize("ranks", (0, 2))
def test_errors_can_be_read(tmp_path, ranks):
    """What is said on standard error while the run goes on, and the error that ends it, are not drawn over."""
    t = Terminal(words(ranks, tmp_path / "out", **LONG))
    assert t.drawn(3)
    os.unlink(tmp_path / "out" / "timing.csv")
    lost = "timing.csv: was removed by another program"
    assert t.until(lambda: lost in "\n".join(t.lines()).replace("\n", ""))
    drawn = len(re.findall(rb"\] +\d+ %", t.raw))
    assert t.drawn(drawn + 3), "the run and its pictures go on"
    assert lost in "".join(t.lines()) and len(t.pictures()) == 2
    os.rename(tmp_path / "out", tmp_path / "elsewhere")
    assert t.end() == 5
    text = "".join(t.lines())
    assert lost in text and re.search("steelyard: error: .*was removed or replaced while the run wrote to it", text)
    assert len(t.pictures()) == 2 and all(len(picture) > 10 for picture in t.pictures())


@pytest.mark.group("live_ends")
def test_windows_that_change(tmp_path):
    """A window that becomes larger, smaller, too small, and large again."""
    t = Terminal(words(2, tmp_path / "out", **LONG), size=(60, 20))
    for size in ((60, 20), (110, 40), (50, 14), (20, 4), (90, 30)):
        t.resize(*size)
        t.raw = b""
        if size == (20, 4):
            t.until(lambda: t.raw.count(b"\x1b[J") >= 3)
            assert b"%" not in t.raw, "no picture fits"
            continue
        assert t.drawn(3)
        picture = t.pictures()[-1]
        assert len(picture) <= size[1] - 1 and all(len(line) < size[0] for line in picture)
        assert " of a cell at step" in picture[-1] and t.lines()[-2:] != picture[-2:]
        # What is on the screen is the log and this picture, nothing of it twice.
        below = t.lines()[-size[1] :]
        assert sum(bool(re.match(r"\[#* *\] +\d+ %", line)) for line in below) >= 1
        # The cursor waits below the picture, but for the moment in which the next one comes.
        assert t.until(lambda: t.waits_below(size[1]))
    os.kill(t.pid, signal.SIGTERM)
    assert t.end() == 75


@pytest.mark.group("live_elsewhere")
@pytest.mark.parametrize("ranks", (0, 2))
def test_without_a_terminal(tmp_path, ranks):
    """Into a file or a pipe go the plain lines of a log, and one that says why."""
    short = dict(run__steps=60, output__every=20)
    note = "--live: standard output is no terminal, so there is no picture"
    done = subprocess.run(words(ranks, tmp_path / "a", **short), env=environment(), capture_output=True, text=True)
    assert done.returncode == 0 and "\x1b" not in done.stdout and done.stderr == ""
    assert done.stdout.count(note) == 1 and "step 60/60" in done.stdout
    quiet = subprocess.run(
        words(ranks, tmp_path / "b", DECK, "--quiet", **short), env=environment(), capture_output=True
    )
    assert quiet.returncode == 0 and quiet.stdout == quiet.stderr == b""

    # There is a terminal, but the launcher's output does not go there; or it cannot do much, or nobody knows its size.
    def shell(name):
        return " ".join(f"'{w}'" for w in words(ranks, tmp_path / name, **short))

    t = Terminal(["sh", "-c", f"{shell('c')} > {tmp_path}/log; {shell('d')} | cat"])
    assert t.end() == 0 and b"\x1b" not in t.raw and t.raw.count(note.encode()) == 1
    assert (tmp_path / "log").read_text().count(note) == 1
    for kind in ("dumb", ""):
        t = Terminal(words(ranks, tmp_path / f"dumb{kind}", **short), TERM=kind)
        assert t.end() == 0 and not re.search(rb"\] +\d+ %|\x1b\[\d*A", t.raw)
        assert b"--live: the terminal cannot move its cursor (TERM), so there is no picture" in t.raw
    t = Terminal(words(ranks, tmp_path / "unknown", DECK, "--quiet", **short), size=(0, 0))
    assert t.end() == 0
    (seen,) = t.pictures()
    assert seen[0].endswith("] 100 %  step 60/60") and max(map(len, seen[3:-1])) > 60
    assert t.lines()[0].startswith("[") and t.lines()[t.screen.cursor.y :] == [""] * (24 - t.screen.cursor.y)
    # Without frames there are numbers alone.
    shutil.rmtree(tmp_path / "a")
    t = Terminal(words(ranks, tmp_path / "a", DECK, "--quiet", **short, output__map_frames=0))
    assert t.end() == 0 and len("".join(t.lines())) > 40 and b" of a cell" not in t.raw
