# SPDX-License-Identifier: MIT
"""scripts/report.py: its pages and findings for results that are cut short, foreign or long."""
import json
import os
import resource
import shutil
import subprocess
import sys

import pytest

from pages import data_of, made, report, sentences, shown_of
from program import DECK, HANG_SECONDS, SOURCE


MAP = "step,x0,y0,z0,x1,y1,z1,particles,load,owner\n"
SPOILT = (  # a file, what becomes of it, the part of the page that is gone with it, and a note
    ("thermo.csv", lambda t: t[:-7], None, "thermo.csv: its last row is unfinished"),
    ("thermo.csv", lambda t: "a;b\n1;2\n", "thermo", "thermo.csv: it has no column step"),
    ("thermo.csv", lambda t: t.replace("\n80,", "\nnan,x,"), None, "thermo.csv: 1 of its rows"),
    ("map.csv", lambda t: t[: len(t) // 2], None, "map.csv: its last frame is unfinished"),
    ("map.csv", lambda t: t.split("\n")[0] + "\n", "map", None),
    ("balance.csv", lambda t: "", "balance", "balance.csv: it has no column step"),
    ("ranks.csv", lambda t: "\0\0", "ranks", "ranks.csv: it has no column step"),
    ("summary.json", lambda t: t[:99], None, "summary.json: it is no JSON file"),
    ("summary.json", lambda t: "[" * 99999, None, "summary.json: it is no JSON file"),
    ("summary.json", lambda t: "[]", None, "summary.json: it is not what the program writes"),
    ("run.json", lambda t: '{"starts": 7}', None, None),
)


def summary_of(folder, **values):
    (folder / "summary.json").write_text(json.dumps(values))


def map_of(folder, *frames, loads):
    """A map of blocks in a row with these loads, at each of these steps."""
    cells = (f"{s},{x},0,0,{x + 1},1,1,1,{load},0\n" for s in frames for x, load in enumerate(loads))
    (folder / "map.csv").write_text(MAP + "".join(cells))


@pytest.mark.group("refusals")
@pytest.mark.parametrize("name, spoil, gone, words", SPOILT)
def test_results_that_are_cut_short_or_foreign(runs, tmp_path, name, spoil, gone, words):
    """A page is made of what is there, and says what is missing."""
    whole, out = shown_of(runs["plane"]), shutil.copytree(runs["plane"], tmp_path / "out")
    (out / name).write_text(spoil((out / name).read_text()))
    found = shown_of(out)
    assert words is None or any(n.startswith(words) for n in found["notes"]), (name, found["notes"])
    for part in ("thermo", "map", "balance", "ranks"):
        assert bool(found[part]) == (part != gone), f"{part} of a run with a spoilt {name}"
    if words and words.startswith("thermo.csv: its last"):
        assert found["thermo"]["step"] == whole["thermo"]["step"][:-1]
    assert name == "thermo.csv" or found["thermo"] == whole["thermo"]


def test_results_that_are_missing(runs, tmp_path):
    """A run without balancing has no table of it. An older version, or a kill at once, leaves little more than rows."""
    assert not any("balance.csv" in n for n in shown_of(runs["alone"])["notes"])
    shutil.copy(runs["alone"] / "thermo.csv", tmp_path)
    found = shown_of(tmp_path)
    assert not found["finished"] and found["thermo"] and not found["map"] and len(found["notes"]) >= 4


@pytest.mark.group("findings")
@pytest.mark.parametrize("steps, judged", ((50, False), (60, False), (100, True)))
def test_frames_that_end_early(runs, tmp_path, steps, judged):
    """The page says what part of a run its frames tell of, and judges ranks by the sums of the whole run then."""
    for each in ("map.csv", "run.json", "deck.yaml"):
        shutil.copy(runs["alone"] / each, tmp_path)
    rows = "".join(f"{s},0,{r},0,9,{s},{0.9 * s},0,0\n" for s in (0, 50) for r in (0, 1))
    (tmp_path / "ranks.csv").write_text("step,start,rank,node,particles,wall_seconds,forces,neighbours,ghosts\n" + rows)
    phases = {"forces": {"min": 1, "mean": 3, "max": 6}, "ghosts": {"min": 1, "mean": 4, "max": 6}}
    summary_of(tmp_path, steps=steps, wall_seconds=10, seconds=phases)
    found, said = shown_of(tmp_path), sentences(tmp_path)
    assert ("One rank computes forces 2.00 times as long" in said and "40 % of the time goes" in said) == judged
    assert any(n.endswith(f"ranks' times cover steps 0 to 50 of {steps}.") for n in found["notes"]) == (steps > 50)


@pytest.mark.group("refusals")
def test_pages_of_long_runs_stay_small(tmp_path):
    """If there are more balancings than a plot can show, every so many are shown; none is lost from the counts."""
    head = "step,model,driver,lbe,lbe_model,mean_seconds,max_seconds,decision\n"
    rows = (f"{20 * i},r1,1,0.{i},0.9,1,2,{'moved' if i % 3 == 0 else 'kept: gain'}\n" for i in range(50001))
    (tmp_path / "balance.csv").write_text(head + "".join(rows))
    rows = (f"{s},{p},1,1,0.5\n" for s in range(100) for p in range(8000))
    (tmp_path / "resources.csv").write_text("step,resource,speed,load,seconds\n" + "".join(rows))
    path = made(tmp_path)
    (run_,) = data_of(path)
    shown = run_["balance"][0]
    assert (shown["moved"], shown["kept"]) == (16667, 33334) and len(shown["step"]) == 16667
    assert shown["step"][:2] == [0, 60] and shown["lbe"][1] == 0.3
    assert len(run_["resources"]["step"]) == 50 and len(run_["resources"]["speed"][0]) == 8000
    assert sum("is shown" in n for n in run_["notes"]) == 2 and os.path.getsize(path) < 3e6


def test_no_result(runs, tmp_path):
    """One line and code 3, with pictures too."""
    for folder in (tmp_path, tmp_path / "nowhere", DECK):
        for more in ((), ("--pictures", "png", "--only", "map")):
            done = report(folder, *more)
            assert done.returncode == 3 and done.stderr.count("\n") == 1 and str(folder) in done.stderr
    assert report(runs["plane"], tmp_path).returncode == 3
    (tmp_path / "thermo.csv").write_text("")
    assert report(tmp_path).returncode == 3, "an empty file is no result"


def test_places_of_a_page(runs, tmp_path):
    """Only regular files are replaced, and those that links lead to."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "page").write_text("<!doctype html>old")
    os.symlink("page", tmp_path / "link")
    for there in (tmp_path / "pipe", tmp_path, "/dev/null"):
        done = report(runs["plane"], "--output", there)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "no regular file" in done.stderr
    assert (tmp_path / "pipe").is_fifo() and not os.path.isfile("/dev/null")
    made(runs["plane"], "--output", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and data_of(tmp_path / "page")


def test_odd_names_and_outputs(tmp_path):
    """Names that cannot be shown, and an output that nobody can write to."""
    odd = os.fsencode(tmp_path) + b"/caf\xe9\n1"
    os.mkdir(odd)
    with open(os.path.join(odd, b"thermo.csv"), "w") as f:
        f.write("step,kinetic,potential,total\n")
    command = [sys.executable, os.path.join(SOURCE, "scripts", "report.py"), odd]
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=plain, timeout=HANG_SECONDS)
    assert done.returncode == 0 and done.stdout.count(b"\n") == 1 and done.stderr == b""
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=HANG_SECONDS)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"No space left" in done.stderr
    assert subprocess.run(command, preexec_fn=lambda: os.close(1), timeout=HANG_SECONDS).returncode == 0


@pytest.mark.parametrize("option, name", [("--output", "thermo.csv"), ("--messages", "nofile.csv")])
def test_wrong_names_of_files(runs, option, name):
    """A page takes the place of a page alone, and messages that are not there are no page without messages."""
    path = runs["plane"] / name
    before = path.exists() and path.read_bytes()
    done = report(runs["plane"], option, path)
    assert done.returncode == 2 and name in done.stderr and not done.stdout, done
    assert (path.exists() and path.read_bytes()) == before


def test_page_that_is_replaced(runs):
    """A reader of the old page keeps it. A page that cannot be written leaves the old one as it was."""
    page = runs["plane"] / "report.html"
    made(runs["plane"])
    with open(page, "rb") as reader:
        begin = reader.read(1000)
        page.chmod(0o600)
        made(runs["plane"])
        assert begin + reader.read() == page.read_bytes() and os.fstat(reader.fileno()).st_nlink == 0
    before, there = page.read_bytes(), sorted(os.listdir(runs["plane"]))
    most = len(before) // 2
    done = report(runs["plane"], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    assert done.returncode == 2 and "cannot write" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert page.read_bytes() == before and sorted(os.listdir(runs["plane"])) == there


@pytest.mark.group("findings")
def test_planted_causes_are_found(tmp_path):
    """A slow rank, a dense zone and late messages each get a sentence, and an even run gets none of them."""
    head = "step,start,rank,node,particles,wall_seconds,forces,neighbours,ghosts,wait_seconds\n"

    def found(forces, ghosts, loads=(1,) * 20, speeds=None, particles=(9,) * 4, waits=(0,) * 4):
        rows = "".join(
            f"{s},0,{r},0,{particles[r]},{s},{s * f},0,{s * g},{s * waits[r]}\n"
            for s in (0, 50, 100)
            for r, (f, g) in enumerate(zip(forces, ghosts))
        )
        (tmp_path / "ranks.csv").write_text(head + rows)
        (tmp_path / "run.json").write_text('{"starts": [{"id": "0", "step": 0}]}')
        map_of(tmp_path, 0, 100, loads=loads)
        if speeds:
            rows = "".join(f"100,{p},{s},1,1\n" for p, s in enumerate(speeds))
            (tmp_path / "resources.csv").write_text("step,resource,speed,load,seconds\n" + rows)
        return sentences(tmp_path)

    even = [0.9] * 4, [0.05] * 4
    assert found(*even) == "Nothing stands out."
    slow = found([0.4, 0.4, 0.9, 0.4], [0.5, 0.5, 0.01, 0.5])
    assert slow.startswith("Rank 2 computes longest, 1.71 times the mean: the others wait for it.")
    assert "2.2 times as long there" in slow and "about what the differences" in slow and "is computing" not in slow
    two = found([0.6, 0.9], [0.35, 0.05], particles=(50, 49))
    assert "A particle takes 1.5 times as long there: the processor is slow" in two
    full = found([0.4, 0.4, 0.9, 0.4], [0.5, 0.5, 0.01, 0.5], particles=(4, 4, 9, 4))
    assert "It has more particles, not a slower processor." in full
    some = found([0.3, 0.8, 0.3, 0.9], [0.5, 0.1, 0.5, 0.1], particles=(3, 8, 0, 9))
    assert "Ranks 1 and 3 compute longest, up to 1.57 times the mean: the others wait for them." in some
    assert "They have more particles, not slower processors." in some
    late = found([0.5] * 4, [0.3, 0.4, 0.3, 0.3])
    assert late.startswith("Only 50 % of a step is computing, on all ranks alike; messages and waiting for them take")
    assert "rest: ghosts 325 ms, other 175 ms a step. Messages are late" in late and "computes longest" not in late
    assert late.endswith(" Ghosts take longest on rank 1.") and "longest" not in found([0.5] * 4, [0.3] * 4)
    sender = found([0.5] * 4, [0.3] * 4, waits=(0.25, 0.25, 0, 0.25), particles=(50_000,) * 4)
    assert " Messages are late or ranks share cores. Rank 2 is at its ghosts for 300 ms a step without wait" in sender
    assert sender.endswith("the others for 50 ms: they wait for its messages.")
    assert "without waiting" not in found([0.5] * 4, [0.3, 0.35, 0.3, 0.3], waits=(0.25, 0.3, 0.25, 0.25))
    assert "longest" not in found([0.5] * 4, [0.02, 0.04, 0.02, 0.02]), "a rank stands out by a fiftieth of the time"
    assert "is computing" not in found([0.7] * 4, [0.05] * 4)
    dense = found(*even, [10] * 2 + [1.02] * 18)
    assert "A tenth of the box carries 52 % of the load at step 100." in dense
    for speeds, said in (
        ([1, 0.5, 1, 1], "Process 1 runs on a slow processor, at 0.50 of the"),
        ([1.14, 0.86], "Process 1 runs on a slow processor, at 0.75 of"),
        ([1, 0.5, 0.25, 1, 1], "Processes 1 and 2 run on slow processors, down to 0.25"),
    ):
        assert said in found(*even, speeds=speeds)


def test_what_takes_the_rest_of_a_step(tmp_path):
    """The phase is named, unless it is messages. The rest of output on simulated ranks counts as messages."""
    names = ("forces", "neighbours", "accelerator", "ghosts", "migration", "balancing", "output")

    def found(simulated=False, **phases):
        rows = "".join(
            f"{s},0,{r},0,9,{s},{','.join(str(s * phases.get(n, 0)) for n in names)}\n" for s in (0, 50) for r in (0, 1)
        )
        (tmp_path / "ranks.csv").write_text(f"step,start,rank,node,particles,wall_seconds,{','.join(names)}\n{rows}")
        texts = set()
        for steps in (50, 100):  # by frames of ranks, and by the sums of the whole run
            seconds = {n: dict.fromkeys(("min", "mean", "max"), v * steps) for n, v in phases.items()}
            summary_of(tmp_path, steps=steps, wall_seconds=steps, simulated=simulated, seconds=seconds)
            texts.add(sentences(tmp_path))
        (text,) = texts
        return text

    output = dict(forces=0.3, ghosts=0.05, output=0.6, other=0.05)
    said = found(**output)
    assert "; output takes most of the rest: output 600 ms, ghosts 50 ms, other 50 ms a step." in said
    assert "late" not in said
    assert found(True, **output).endswith(" Messages are late or particles are few for so many ranks.")
    assert "share cores" in found(forces=0.3, ghosts=0.6, other=0.1)
    assert "balancing takes most of the rest" in found(forces=0.3, balancing=0.6, ghosts=0.05, other=0.05)
    assert found(forces=0.3, neighbours=0.3, accelerator=0.3, ghosts=0.05, other=0.05) == "Nothing stands out."


def test_balancing_that_is_off_or_worth_it(tmp_path):
    """Problems come before what is good; a dense zone is named only where balancing does not even it out."""
    map_of(tmp_path, 0, loads=[10] * 2 + [1] * 18)

    def found(model="r1", lbe=0.9, every=50, processes=4, least_time=None, **net):
        head = "step,model,driver,lbe,lbe_model,mean_seconds,max_seconds,decision\n"
        (tmp_path / "balance.csv").write_text(head + f"50,{model},1,{lbe},1,1,1,moved\n" * (every > 0))
        (tmp_path / "deck.yaml").write_text(f"balance:\n  every: {every}   # steps\n")
        more = dict(overall_lbe={model: lbe}, worth={"net": net}, least_time=least_time)
        summary_of(tmp_path, processes=processes, steps=50, **more)
        return [(f["kind"], f["text"]) for f in shown_of(tmp_path)["findings"]]

    dense = "A tenth of the box carries 53 % of the load at step 0."
    net = dict(of="run", seconds=1.0, without_seconds=2.0, saved=0.5)
    gain = ("good", "Balancing made this run 50 % shorter: 1 s instead of about 2 s, balancing itself included.")
    assert found(**net) == [gain]
    assert found(**net, least_time="least time: r1") == [("note", "Least time: r1."), gain]
    low, zone, last = found(lbe=0.5, **net)
    assert low[0] == "problem" and low[1].startswith("LBE is 50 %: the mean process") and zone == ("problem", dense)
    assert last == gain
    (kind, off), zone = found("none", 0.5)
    assert kind == "problem" and zone == ("problem", dense) and "LBE is 50 %" in off
    assert off.startswith("Balancing is off (balance.partition.kind: none): each process")
    off = ("note", "Balancing is off (balance.every: 0): each process keeps its part of the box.")
    assert found(every=0) == [off, ("note", dense)]
    assert found(every=0, processes=1) == [("good", "Nothing stands out.")]
    virtual = (
        "Balancing makes the computing of the busiest process 50 % shorter than in the even partition of the start:"
        " 1 s instead of 2 s in the whole run, without what balancing itself takes."
    )
    assert found(**{**net, "of": "virtual processes"}) == [("good", virtual)]
    assert [kind for kind, _ in found(**{**net, "saved": -0.1})] == ["problem"]
    assert [kind for kind, _ in found(**{**net, "saved": -0.01})] == ["note"]


@pytest.mark.parametrize(
    "loads, text",
    [
        ([1], None),
        ([3, 1], None),
        ([1] * 4, None),
        ([2, 1, 1, 1], None),
        ([7, 1, 1, 1], "The densest 25 % of the box carries 70 % of the load at step 0."),
        ([9, *[1] * 8], "The densest 11 % of the box carries 53 % of the load at step 0."),
        ([9, *[1] * 9], "A tenth of the box carries 50 % of the load at step 0."),
        ([9, 9, *[1] * 17], "The densest 11 % of the box carries 51 % of the load at step 0."),
    ],
)
def test_how_much_of_the_box_is_dense(loads, text, tmp_path):
    """The sentence names the part of the box that it counted, however few blocks the map has."""
    map_of(tmp_path, 0, loads=loads)
    summary_of(tmp_path, processes=2, steps=0)
    found = [f["text"] for f in shown_of(tmp_path)["findings"] if "of the box" in f["text"]]
    assert found == ([text] if text else [])


@pytest.mark.parametrize(
    "starts, rows, found",
    [
        # Steps and seconds of all starts in the directory, where there are several.
        ([0], [(0, 0), (300, 6)], None),
        ([0, 200], [(0, 0), (100, 2), (200, 4), (300, 8)], (2, 8, 300 * 50 / 8)),
        # A run that goes on in a new directory, once and twice.
        ([0, 200], [(200, 0), (300, 2)], None),
        ([0, 200, 250], [(210, 1), (250, 2), (300, 5)], (2, 5, 100 * 50 / 5)),
        ([0, 200], [], None),
    ],
)
def test_time_of_all_starts(starts, rows, found, tmp_path):
    """A run that was stopped and continued has the time of all its starts beside a run in one piece."""
    (tmp_path / "run.json").write_text(json.dumps({"starts": [{"id": "0", "step": s} for s in starts]}))
    summary_of(tmp_path, particles=50, steps=300, first_step=starts[-1])
    (tmp_path / "timing.csv").write_text("step,wall_seconds\n" + "".join(f"{a},{b}\n" for a, b in rows))
    names = ("starts", "wall_seconds", "atom_steps_per_second")
    assert shown_of(tmp_path)["all_starts"] == (dict(zip(names, found)) if found else None)


@pytest.mark.parametrize(
    "of, saved, text",
    [
        ("run", 0.5, "Balancing made the part of this run from step 1,000 on 50 % shorter: 1 s instead of about 2 s"),
        ("run", 0.0, "Balancing cost about as much time as it saved: the part of the run from step 1,000 on took 1 s."),
        ("virtual processes", 0.5, "1 s instead of 2 s in the steps from 1,000 on, without what balancing itself"),
    ],
)
def test_worth_of_a_restarted_run(of, saved, text, tmp_path):
    """Its seconds are those of the last start, and the sentence says so."""
    net = {"of": of, "seconds": 1.0, "without_seconds": 2.0, "saved": saved}
    summary_of(tmp_path, steps=2000, first_step=1000, worth={"net": net})
    assert text in sentences(tmp_path)


HEADS = {
    "map.csv": MAP,
    "ranks.csv": "step,start,rank,node,particles,wall_seconds,forces,neighbours,ghosts\n",
    "zones.csv": "step,rank,share,most_share,decision\n",
}
BLOCKS = "0,0,0,0,1,1,1,9,1,0\n0,1,0,0,2,1,1,9,1,0\n"
DIAGONAL = "".join(f"0,{i},{i},{i},{i + 1},{i + 1},{i + 1},9,1,0\n" for i in range(4000))


FOREIGN = (  # (file, what it holds below its head, note)
    ("ranks.csv", "nan,0,0,0,9,1,1,0,0\n9,0,0,0,9,1,1,0,0\n", "ranks.csv: 1 of its rows"),
    ("ranks.csv", "9,-1,0,0,9,1,1,0,0\n9,1.5,0,0,9,1,1,0,0\n", "ranks.csv: 2 of its rows"),
    ("ranks.csv", "-9,0,0,0,9,1,1,0,0\n", "ranks.csv: 1 of its rows"),
    ("ranks.csv", "9,0,0,a,b,1,c,d,e\n9,0,1,a,b,1,c,d,e\n", None),
    ("ranks.csv", f"9,0,0,0,9,{'9' * 400},1,0,0\n9,0,1,0,9,{'9' * 5000},1,0,0\n", None),
    ("ranks.csv", "9,0,0,0,9,1,1,0,0\n8,0,0,0,9,1,1,0,0\n", "ranks.csv: 1 of its rows"),
    ("map.csv", BLOCKS.replace("0,0,0,0", "nan,0,0,0"), "map.csv: 1 of its rows"),
    ("map.csv", BLOCKS.replace(",0\n", ",-1\n"), "map.csv: 2 of its rows"),
    ("map.csv", BLOCKS.replace(",0\n", ",999999999999\n"), "map.csv: its blocks of cells do not tile"),
    ("map.csv", BLOCKS.replace("2,1,1", "1,1,1"), "map.csv: its blocks of cells do not tile"),
    ("map.csv", DIAGONAL, "map.csv: its blocks of cells do not tile"),
    ("map.csv", BLOCKS[:-2], "map.csv: its last frame is unfinished"),
    ("map.csv", BLOCKS + "x" * 200000 + "\n", "map.csv: it cannot be read"),
    ("zones.csv", "9,0,0.5,high,x\n9,1,inf,high,x\n", None),
    ("summary.json", '{"steps": NaN, "seconds": Infinity, "ranks": 1e999, "wall_seconds": -Infinity}', None),
    ("summary.json", f'{{"steps": {"9" * 400}, "particles": {"9" * 5000}}}', None),
    ("summary.json", '{"ranks": "a", "steps": [], "command_line": 1, "energy_drift": "x"}', "summary.json: ranks,"),
    ("summary.json", '{"processes": 1e18, "overall_lbe": 7}', "summary.json: processes, overall_lbe are not"),
    ("deck.yaml", "box: [nan, inf, -1]\nboundary: [x]\n", None),
    ("map.csv", "DEVICE", "map.csv: it cannot be read"),
    ("partition.json", "FIFO", "partition.json: it is no JSON file"),
)


@pytest.mark.group("foreign")
@pytest.mark.parametrize("case", range(len(FOREIGN)))
def test_foreign_values(tmp_path, case):
    """No value of a file makes the script fail or wait: it is left out, with a note where rows or files go with it."""
    name, rows, note = FOREIGN[case]
    (tmp_path / "thermo.csv").write_text("step,kinetic,potential,total\n0,1,2,3\n")
    if rows == "FIFO":
        os.mkfifo(tmp_path / name)
    elif rows == "DEVICE":
        os.symlink("/dev/null", tmp_path / name)
    else:
        (tmp_path / name).write_text(HEADS.get(name, "") + rows)
    found = shown_of(tmp_path)
    assert found["thermo"]["step"] == [0]
    assert note is None or any(n.startswith(note) for n in found["notes"]), found["notes"]
    if name == "map.csv":
        assert not found["map"] or found["map"]["edges"][0] == [1, 2] and found["map"]["step"] == [0]
    assert not (found["summary"].get("steps") or found["summary"].get("processes"))


@pytest.mark.parametrize(
    "change", ({}, {"grid": ["8", 8, 1]}, {"grid": [10**15, 3, 1]}, {"speed": "x"}, {"node": None})
)
def test_foreign_partitions(tmp_path, change):
    """Only a grid and resources of numbers are a partition; one of very many cells is drawn at once."""
    resource = {"kind": "cpu", "node": 0, "speed": 1, "load": 8, "cells": 64, "boxes": [[0, 0, 0, 8, 8, 1]]}
    resource.update({k: v for k, v in change.items() if k != "grid"})
    grid = change.get("grid", [8, 8, 1])
    (tmp_path / "partition.json").write_text(json.dumps({"grid": grid, "resources": [resource]}))
    found = shown_of(tmp_path)
    assert bool(found["map"]) == (not change or grid[0] == 10**15)
    assert not found["map"] or 64 <= len(found["map"]["owner"][0]) <= 65536
