# SPDX-License-Identifier: MIT
"""scripts/report.py: its pages and findings for results that are cut short, foreign or long."""
import json
import os
import resource
import subprocess
import sys

import pytest

from pages import data_of, made, report
from program import HANG_SECONDS, SOURCE


@pytest.mark.group("refusals")
def test_results_that_are_cut_short_or_foreign(runs, tmp_path):
    """A page is made of what is there, and says what is missing."""
    whole = data_of(made(runs["plane"]))[0]
    out = tmp_path / "out"
    for name, spoil, gone, words in (
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
    ):
        out.mkdir(exist_ok=True)
        for each in os.listdir(runs["plane"]):
            if os.path.isfile(runs["plane"] / each):
                (out / each).write_bytes((runs["plane"] / each).read_bytes())
        (out / name).write_text(spoil((out / name).read_text()))
        found = data_of(made(out))[0]
        assert words is None or any(n.startswith(words) for n in found["notes"]), (name, found["notes"])
        for part in ("thermo", "map", "balance", "ranks"):
            assert bool(found[part]) == (part != gone), f"{part} of a run with a spoilt {name}"
        if words and words.startswith("thermo.csv: its last"):
            assert found["thermo"]["step"] == whole["thermo"]["step"][:-1]
        if name != "thermo.csv":
            assert found["thermo"] == whole["thermo"]
    alone = data_of(made(runs["alone"]))[0]
    assert not any("balance.csv" in n for n in alone["notes"]), "a run without balancing has none"
    # Results of an older version, or of a run that was killed at once.
    for each in os.listdir(out):
        if each != "thermo.csv" and os.path.isfile(out / each):
            os.unlink(out / each)
    found = data_of(made(out))[0]
    assert not found["finished"] and found["thermo"] and not found["map"] and len(found["notes"]) >= 4


@pytest.mark.group("findings")
def test_frames_that_end_early(runs, tmp_path):
    """The page says what part of a run its frames tell of, and judges ranks by the sums of the whole run then."""
    for each in ("summary.json", "map.csv", "ranks.csv", "run.json", "deck.yaml"):
        (tmp_path / each).write_bytes((runs["alone"] / each).read_bytes())
    rows = "".join(f"{s},0,{r},0,9,{s},{0.9 * s},0,0\n" for s in (0, 50) for r in (0, 1))
    (tmp_path / "ranks.csv").write_text("step,start,rank,node,particles,wall_seconds,forces,neighbours,ghosts\n" + rows)
    phases = {"forces": {"min": 1, "mean": 3, "max": 6}, "ghosts": {"min": 1, "mean": 4, "max": 6}}
    for steps, judged in ((50, False), (60, False), (100, True)):
        summary = {"steps": steps, "wall_seconds": 10, "seconds": phases}
        (tmp_path / "summary.json").write_text(json.dumps(summary))
        (found,) = data_of(made(tmp_path))
        said = " ".join(f["text"] for f in found["findings"])
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


@pytest.mark.group("refusals")
def test_no_result_and_no_room(runs, tmp_path):
    """No result: one line and code 3. A page that cannot be written leaves the old one as it was."""
    for folder in (tmp_path, tmp_path / "nowhere"):
        done = report(folder)
        assert done.returncode == 3 and done.stderr.count("\n") == 1 and str(folder) in done.stderr
    assert report(runs["plane"], tmp_path).returncode == 3
    (tmp_path / "thermo.csv").write_text("")
    assert report(tmp_path).returncode == 3, "an empty file is no result"
    # Only regular files are replaced, and those that links lead to.
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "page").write_text("old")
    os.symlink("page", tmp_path / "link")
    for there in (tmp_path / "pipe", tmp_path, "/dev/null"):
        done = report(runs["plane"], "--output", there)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "no regular file" in done.stderr
    assert (tmp_path / "pipe").is_fifo() and not os.path.isfile("/dev/null")
    made(runs["plane"], "--output", tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and data_of(tmp_path / "page")
    # Names that cannot be shown, and an output that nobody can write to.
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
    page = runs["plane"] / "report.html"
    made(runs["plane"])
    with open(page, "rb") as reader:  # whoever reads the old page while there is a new one
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
        cells = "".join(f"{s},{x},0,0,{x + 1},1,1,1,{load},0\n" for s in (0, 100) for x, load in enumerate(loads))
        (tmp_path / "map.csv").write_text("step,x0,y0,z0,x1,y1,z1,particles,load,owner\n" + cells)
        if speeds:
            rows = "".join(f"100,{p},{s},1,1\n" for p, s in enumerate(speeds))
            (tmp_path / "resources.csv").write_text("step,resource,speed,load,seconds\n" + rows)
        return " ".join(f["text"] for f in data_of(made(tmp_path))[0]["findings"])

    assert found([0.9] * 4, [0.05] * 4) == "Nothing stands out."
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
    assert "A tenth of the box carries 52 % of the load at step 100." in found(
        [0.9] * 4, [0.05] * 4, [10] * 2 + [1.02] * 18
    )
    assert "Process 1 runs on a slow processor, at 0.50 of the" in found([0.9] * 4, [0.05] * 4, speeds=[1, 0.5, 1, 1])
    assert "Process 1 runs on a slow processor, at 0.75 of" in found([0.9] * 2, [0.05] * 2, speeds=[1.14, 0.86])
    assert "Processes 1 and 2 run on slow processors, down to 0.25" in found(
        [0.9] * 4, [0.05] * 4, speeds=[1, 0.5, 0.25, 1, 1]
    )


@pytest.mark.group("findings")
def test_what_takes_the_rest_of_a_step(tmp_path):
    """The phase is named, unless it is messages. The rest of output on simulated ranks counts as messages."""
    names = ("forces", "neighbours", "accelerator", "ghosts", "migration", "balancing", "output")

    def found(simulated=False, **phases):
        rows = "".join(
            f"{s},0,{r},0,9,{s},{','.join(str(s * phases.get(n, 0)) for n in names)}\n" for s in (0, 50) for r in (0, 1)
        )
        (tmp_path / "ranks.csv").write_text(f"step,start,rank,node,particles,wall_seconds,{','.join(names)}\n{rows}")
        texts = []
        for steps in (50, 100):  # by frames of ranks, and by the sums of the whole run
            summary = {"steps": steps, "wall_seconds": steps, "simulated": simulated}
            summary["seconds"] = {n: dict.fromkeys(("min", "mean", "max"), v * steps) for n, v in phases.items()}
            (tmp_path / "summary.json").write_text(json.dumps(summary))
            texts.append(" ".join(f["text"] for f in data_of(made(tmp_path))[0]["findings"]))
        assert texts[0] == texts[1]
        return texts[0]

    output = found(forces=0.3, ghosts=0.05, output=0.6, other=0.05)
    assert "; output takes most of the rest: output 600 ms, ghosts 50 ms, other 50 ms a step." in output
    assert "late" not in output
    output = found(True, forces=0.3, ghosts=0.05, output=0.6, other=0.05)
    assert output.endswith(" Messages are late or particles are few for so many ranks.")
    assert "share cores" in found(forces=0.3, ghosts=0.6, other=0.1)
    assert "balancing takes most of the rest" in found(forces=0.3, balancing=0.6, ghosts=0.05, other=0.05)
    assert found(forces=0.3, neighbours=0.3, accelerator=0.3, ghosts=0.05, other=0.05) == "Nothing stands out."


@pytest.mark.group("findings")
def test_balancing_that_is_off_or_worth_it(tmp_path):
    """Problems come before what is good; a dense zone is named only where balancing does not even it out."""
    cells = "".join(f"0,{x},0,0,{x + 1},1,1,1,{10 if x < 2 else 1},0\n" for x in range(20))
    (tmp_path / "map.csv").write_text("step,x0,y0,z0,x1,y1,z1,particles,load,owner\n" + cells)

    def found(model="r1", lbe=0.9, every=50, processes=4, **net):
        head = "step,model,driver,lbe,lbe_model,mean_seconds,max_seconds,decision\n"
        (tmp_path / "balance.csv").write_text(head + f"50,{model},1,{lbe},1,1,1,moved\n" * (every > 0))
        (tmp_path / "deck.yaml").write_text(f"balance:\n  every: {every}   # steps\n")
        summary = {"processes": processes, "steps": 50, "overall_lbe": {model: lbe}, "worth": {"net": net}}
        (tmp_path / "summary.json").write_text(json.dumps(summary))
        return [(f["kind"], f["text"]) for f in data_of(made(tmp_path))[0]["findings"]]

    dense = "A tenth of the box carries 53 % of the load at step 0."
    net = dict(of="run", seconds=1.0, without_seconds=2.0, saved=0.5)
    gain = ("good", "Balancing made this run 50 % shorter: 1 s instead of about 2 s, balancing itself included.")
    assert found(**net) == [gain]
    low, zone, last = found(lbe=0.5, **net)
    assert low[0] == "problem" and low[1].startswith("LBE is 50 %: the mean process") and zone == ("problem", dense)
    assert last == gain
    off, zone = found("none", 0.5)
    assert off[0] == "problem" and zone == ("problem", dense)
    assert off[1].startswith("Balancing is off (balance.partition.kind: none): each process")
    assert "LBE is 50 %" in off[1]
    (off, zone) = found(every=0)
    assert off == ("note", "Balancing is off (balance.every: 0): each process keeps its part of the box.")
    assert zone == ("note", dense)
    assert found(every=0, processes=1) == [("good", "Nothing stands out.")]
    assert found(**{**net, "of": "virtual processes"}) == [
        (
            "good",
            "Balancing makes the computing of the busiest process 50 % shorter than in the even partition of the start:"
            " 1 s instead of 2 s in the whole run, without what balancing itself takes.",
        )
    ]
    assert [kind for kind, _ in found(**{**net, "saved": -0.1})] == ["problem"]
    assert [kind for kind, _ in found(**{**net, "saved": -0.01})] == ["note"]


@pytest.mark.group("findings")
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
    cells = "".join(f"0,{x},0,0,{x + 1},1,1,1,{load},0\n" for x, load in enumerate(loads))
    (tmp_path / "map.csv").write_text("step,x0,y0,z0,x1,y1,z1,particles,load,owner\n" + cells)
    (tmp_path / "summary.json").write_text('{"processes": 2, "steps": 0}')
    found = [f["text"] for f in data_of(made(tmp_path))[0]["findings"] if "of the box" in f["text"]]
    assert found == ([text] if text else [])


@pytest.mark.group("findings")
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
    (tmp_path / "summary.json").write_text(json.dumps({"particles": 50, "steps": 300, "first_step": starts[-1]}))
    (tmp_path / "timing.csv").write_text("step,wall_seconds\n" + "".join(f"{a},{b}\n" for a, b in rows))
    names = ("starts", "wall_seconds", "atom_steps_per_second")
    assert data_of(made(tmp_path))[0]["all_starts"] == (dict(zip(names, found)) if found else None)


@pytest.mark.group("findings")
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
    (tmp_path / "summary.json").write_text(json.dumps({"steps": 2000, "first_step": 1000, "worth": {"net": net}}))
    assert text in " ".join(f["text"] for f in data_of(made(tmp_path))[0]["findings"])
