# SPDX-License-Identifier: MIT
"""Tests of `steelyard predict`, and of what a run says that balancing was worth."""
import json
import os

import pytest

from program import COLLISIONS, DECK, SOURCE, completed, fails_with, fresh, ok, ok_run, printed, run_words, settings
from program import summary, table, written

MACHINE = """costs: deck
ranks_per_node: 4
inside: {latency_seconds: 1.0e-6, bytes_per_second: 5.0e9}
between: {latency_seconds: 2.0e-6, bytes_per_second: 8.0e9}
message_seconds: 5.0e-7
"""


def predict(out, *arguments, ranks=0, deck=DECK, **keys):
    assert ok(ranks, "predict", deck, "--out", fresh(out), "--quiet", *arguments, *settings(**keys)) == ""
    return json.loads((out / "predict.json").read_text())


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return written(tmp_path_factory.mktemp("machine") / "machine.yaml", MACHINE)


@pytest.fixture
def cheap(tmp):
    """A machine file that takes all costs from the deck."""
    return written(tmp / "cluster.yaml", "costs: deck\n")


def check_consistent(p):
    more = 1 + 1e-12  # means of some forecasts, rounded
    for f in p["forecasts"]:
        s, o = f["seconds"], f["overlap_seconds"]
        terms = s["compute"] + s["imbalance"] + s["messages"] + s["bytes"] + s["rebalancing"]
        assert terms == pytest.approx(f["step_seconds"], rel=1e-9), f"terms of {f['ranks']} ranks"
        assert min(s.values()) >= -1e-12 * terms, f"a negative term: {s}"
        assert f["low_seconds"] <= f["step_seconds"] <= f["high_seconds"], f"bounds {f}"
        assert f["lbe"] == pytest.approx(s["compute"] / (s["compute"] + s["imbalance"]), abs=1e-9)
        assert o["none"] * more >= o["links"] and o["links"] * more >= o["full"] > 0, f"overlaps {o}"
        assert o[p["overlap"]] == pytest.approx(f["step_seconds"], rel=1e-9), f"overlaps {o}"
    assert p["best_ranks"] == min(p["forecasts"], key=lambda f: f["step_seconds"])["ranks"]


KEYS = dict(grid__skin=0.4, balance__every=20, balance__clock="work", balance__work__pair=5e-9)  # no default
SOME = ("--processes", "2,8,4")


@pytest.fixture(scope="module")
def known(machine):
    """A prediction for a machine file, and a function that makes others for it: with other words and keys."""

    def again(*words, out=machine.parent / "other", machine=machine, **keys):
        return predict(out, "--machine", machine, *SOME, *words, **KEYS | keys)

    return again(), again


@pytest.mark.group("predict_results")
def test_results(tmp, known):
    """With a machine file nothing is measured: the same on any number of ranks. The written machine is the one that was
    read, whatever its name, and Extra-P gets the same times."""
    p, again = known
    assert [f["ranks"] for f in p["forecasts"]] == [1, 2, 4, 8]
    assert p["forecasts"][0]["seconds"]["communication"] < 1e-15, "one rank communicates"
    check_consistent(p)
    assert again(ranks=2) == p, "2 ranks predict otherwise"
    named = written(tmp / "named.yaml", MACHINE + 'name: "it\'s here"\n')
    assert again(out=tmp / "named", machine=named) == p | dict(machine="it's here")
    read_back = again(out=tmp / "out", machine=tmp / "named/machine.yaml")
    assert read_back == p | dict(machine="it's here"), "the written machine is another"
    points = [json.loads(line) for line in (tmp / "out/extrap.jsonl").read_text().splitlines()]
    steps = {x["params"]["p"]: x["value"] for x in points if x["callpath"] == "step" and x["metric"] == "time"}
    assert steps == {f["ranks"]: f["step_seconds"] for f in p["forecasts"]}, f"points for Extra-P: {steps}"


def test_work(tmp, known):
    """The work of one rank is what a run counts, and halves where nothing but the number of ranks changes. Balancing
    makes loads equal, and costs something. All lengths ten times as large are a hundred times the work."""
    p, again = known
    one = p["forecasts"][0]["seconds"]["compute"]
    ok_run(tmp / "run", ranks=0, **KEYS | dict(balance__every=1, run__steps=1))
    assert one == pytest.approx(float(table(tmp / "run", "balance.csv")[0]["max_seconds"]), rel=0.01)
    assert all(f["seconds"]["compute"] * f["ranks"] == pytest.approx(one, rel=1e-6) for f in p["forecasts"])
    for a, b in list(zip(p["forecasts"], again(balance__every=0)["forecasts"]))[1:]:
        assert a["lbe"] > b["lbe"] and a["seconds"]["rebalancing"] > 0 and b["seconds"]["rebalancing"] == 0, (a, b)
    small, large = again(run__steps=0), again("--scale", "10", run__steps=0)
    a, b = (of["forecasts"][3] for of in (small, large))
    assert large["particles"] == 100 * p["particles"] and b["efficiency"] > a["efficiency"]
    assert b["seconds"]["compute"] / a["seconds"]["compute"] == pytest.approx(100, abs=1e-6)
    assert b["bytes_a_rank"] / a["bytes_a_rank"] == pytest.approx(10, rel=0.2)
    # In as many steps particles come a tenth as far, so loads hardly change.
    later = again("--scale", "10")["forecasts"][3]["seconds"]["compute"]
    assert later == pytest.approx(b["seconds"]["compute"], rel=0.005), later


def test_rebuilds(tmp):
    """By counted work each balancing rebuilds the neighbour lists, also if it keeps the partition. By the wall clock a
    part of the steps does, and their communication shows the cost. The overlap hides a part of a rebuild, and of
    nothing else in a balancing."""
    slab = "{lattice: hexagonal, cells: [64, 36], density: 0.8, temperature: 1}"
    deck = written(tmp / "even.yaml", f"system: {{box: fit, slabs: [{slab}]}}\nrun: {{dt: 0.002, steps: 1000000}}\n")
    words = ("--machine", written(tmp / "slow.yaml", MACHINE.replace("5.0e9", "1.0e6")), "--processes", "4")
    every, balancing, rebuild = 5, [], []
    for overlap in ("none", "full"):
        keys = dict(comm__overlap=overlap, balance__every=every, balance__criterion="never", balance__work__pair=1e-5)
        work, wall = (predict(tmp / "out", *words, deck=deck, balance__clock=c, **keys) for c in ("work", "wall"))
        counted, timed = (p["forecasts"][-1]["seconds"] for p in (work, wall))
        balancing.append(every * counted["rebalancing"])
        rebuild.append(work["steps_per_rebuild"] * (timed["communication"] - counted["communication"]))
    assert rebuild[0] > 1.2 * rebuild[1] > 0, rebuild
    assert balancing[0] - balancing[1] == pytest.approx(rebuild[0] - rebuild[1], rel=0.01)


def test_lengths_of_runs(known):
    """A run that ends with its first partition is predicted with it, a long run with partitions that know loads. Others
    are predicted with both, by their steps."""
    blind = dict(balance__every=3, balance__constants__start="uniform")
    lbe = {n: known[1](**blind, run__steps=n)["forecasts"][3]["lbe"] for n in (2, 3, 4, 5, 400)}
    assert lbe[2] < 0.85 and lbe[3] < 0.85 and lbe[400] > 0.9, lbe
    assert lbe[3] < lbe[4] - 0.001 and lbe[4] < lbe[5] < lbe[400] - 0.01, lbe


def test_asked(tmp, machine, known):
    """Numbers of ranks for an efficiency and for a time, recommended ones, and the method's error."""

    def of(p, ranks):
        return [f for f in p["forecasts"] if f["ranks"] == ranks][0]

    _, again = known
    p = again("--efficiency", "0.7")
    found, steps = p["asked"]["ranks"], 300
    assert p["asked"]["efficiency"] == 0.7 and of(p, found)["efficiency"] >= 0.7, p["asked"]
    assert all(f["efficiency"] < 0.7 for f in p["forecasts"] if f["ranks"] >= 2 * found), p["forecasts"]
    assert of(p, p["recommended_ranks"])["efficiency"] >= 0.7, p["recommended_ranks"]
    seconds = steps * of(p, found)["step_seconds"] * 1.0001
    t = again("--time", seconds)
    assert 1 < t["asked"]["ranks"] <= found and of(t, t["asked"]["ranks"])["step_seconds"] * steps <= seconds, t
    assert again("--time", "1e-9")["asked"]["ranks"] is None, "a time that nothing reaches"
    for f in p["forecasts"]:
        error = (f["high_seconds"] - f["low_seconds"]) / 2 / f["step_seconds"]
        assert error == pytest.approx(0.15 if f["seconds"]["rebalancing"] > 0 else 0.1, abs=1e-9)
    printed(0, "predict", DECK, "--out", fresh(tmp / "out"), "--machine", machine, *SOME, *settings(**KEYS))


def test_default_ranks(tmp, machine):
    """A grid of fewer than 16 cells has one rank by default. Where patches are so wide that only few ranks have one,
    the list ends there, and nobody is blamed."""
    slab = "{lower: [1, 1], upper: [7, 7], lattice: hexagonal, density: 0.3}"
    text = f"system: {{box: [8, 8], slabs: [{slab}]}}\nrun: {{dt: 0.001, steps: 5}}\n"
    few = written(tmp / "few.yaml", text)
    small = predict(tmp / "out", "--machine", machine, deck=few)
    assert small["cells"] < 16 and [f["ranks"] for f in small["forecasts"]] == [1], small
    wide = dict(KEYS, balance__partition__min_width=16, balance__partition__kind="rcb")
    assert 1 < predict(tmp / "out", "--machine", machine, **wide)["forecasts"][-1]["ranks"] < 32


def test_this_machine(tmp):
    here = predict(tmp / "out", "--processes", "2", ranks=2)
    assert here["calibrated"] and 0.5 < here["fitted"] < 2 and "measured inside a node" in here["messages"], here
    check_consistent(here)
    assert 0 < here["forecasts"][1]["seconds"]["communication"] < here["forecasts"][1]["step_seconds"]


@pytest.mark.parametrize(
    "scale, processes, ranks", [("2", "1,190,200,300", 200), ("1", "1,200", None), ("9", "1,190", None)]
)
def test_coarse_cells(tmp, cheap, scale, processes, ranks):
    """Where a rank has few cells of a scaled deck, a note says what is not known. The table has the imbalance of whole
    cells beside that of cut ones."""
    words = ["--machine", cheap, "--scale", scale, "--processes", processes, *settings(run__steps=4)]
    done = completed(0, "predict", DECK, "--out", tmp / "out", *words)
    assert ("is not known" in done.stderr) == (ranks is not None), done.stderr
    assert ranks is None or f"from {ranks} ranks on" in done.stderr and "of the deck's 5824 cells" in done.stderr
    assert (" grain\n" in done.stdout) == (scale != "1"), done.stdout


NOTED = {
    "accelerator": dict(accelerator__backend="host"),
    "from_step": dict(balance__every=10, balance__from_step=20),
    "auto": dict(balance="auto", balance__model="a1"),
}


@pytest.mark.parametrize("key", NOTED)
def test_what_does_not_count(tmp, cheap, key):
    """A note says which keys of a deck are not predicted."""
    words = ["--machine", cheap, "--processes", "2", *settings(run__steps=20, **NOTED[key])]
    lines = completed(2, "predict", DECK, "--out", tmp / "out", *words).stderr.splitlines()
    [line] = [line for line in lines if "not count in predictions" in line]
    assert key in line and ("a1" in line) == (key == "auto"), lines


def test_bases(tmp, machine):
    """From a deck and from one twice as long, a system is predicted alike, also on more ranks than the deck has cells.
    The deck's own cells are too coarse for so many ranks."""

    def base(length, scale):
        slabs = (([5, 8], [28, 28], 5), ([30, 10], [55, 30], -5))
        words = ", ".join(
            f"{{lower: {[length * x for x in lower]}, upper: {[length * x for x in upper]}, lattice: hexagonal, "
            f"density: 0.9, temperature: 0.5, velocity: [{v}, 0]}}"
            for lower, upper, v in slabs
        )
        deck = tmp / f"{length}.yaml"
        deck.write_text(
            f"system: {{box: {[60 * length, 36 * length]}, slabs: [{words}]}}\nrun: {{dt: 0.002, steps: 60}}\n"
        )
        more = ("--machine", machine, "--scale", scale, "--processes", "64,300")
        return predict(tmp / "out", *more, deck=deck, **KEYS)["forecasts"]

    for small, large in list(zip(base(1, 16), base(2, 8)))[1:]:
        assert small["step_seconds"] == pytest.approx(large["step_seconds"], rel=0.15), (small, large)
    assert small["seconds"]["imbalance"] < 0.5 * small["undivided_imbalance"], small


@pytest.mark.group("predict_space")
@pytest.mark.parametrize("name, change", [("melt", dict(system__slabs__0__cells="[8, 9, 8]")), ("collision_3d", {})])
def test_predict_space(tmp, machine, name, change):
    """Three dimensions: ghosts are those that a run sends. Twice the length is 8 times the work and, at other cuts, 4
    times the bytes; for a crystal that fills its box it is what a deck of twice the length gives."""
    deck, given = os.path.join(SOURCE, "inputs", name + ".yaml"), ("--machine", machine, "--processes", "2,3")
    keys = dict(change, grid__skin=0.3, balance__clock="work", run__steps=1)
    p, large = (predict(tmp / "out", *given, *more, deck=deck, **keys) for more in ((), ("--scale", "2")))
    check_consistent(p)
    assert large["particles"] == 8 * p["particles"] and large["cells"] == 8 * p["cells"], large
    for a, b in zip(p["forecasts"], large["forecasts"]):
        assert b["seconds"]["compute"] / a["seconds"]["compute"] == pytest.approx(8, abs=1e-6), f"scaled work {b}"
        assert b["bytes_a_rank"] == pytest.approx(4 * a["bytes_a_rank"], rel=0.25), "scaled bytes"
    if change:
        true = predict(tmp / "out", *given, deck=deck, **keys | dict(system__slabs__0__cells="[16, 18, 16]"))
        for a, b in zip(true["forecasts"], large["forecasts"]):
            for key in ("step_seconds", "bytes_a_rank"):
                assert b[key] == pytest.approx(a[key], rel=0.06), (key, a, b)
    # The first plan of ghosts, even where counts look further than ghosts come from.
    for every in (0, 1):
        keys |= dict(balance__every=every, balance__partition__kind="none")
        for f in predict(tmp / "out", *given, deck=deck, **keys)["forecasts"][1:]:
            words = ("--force", "--trace-messages", tmp / "trace.csv")
            ok_run(tmp / "run", *words, deck=deck, ranks=f["ranks"], **keys)
            traced = table(tmp, "trace.csv", kind="ghosts")
            sent = sum(int(r["bytes"]) for r in traced if r["plan"] == traced[0]["plan"])
            assert sent > 0 and f["bytes_a_rank"] * f["ranks"] == pytest.approx(sent, rel=0.03), f


def test_too_many_cells(tmp, machine):
    deck, few = COLLISIONS[3].deck, settings(system__box="[600, 300, 300]", run__steps=0)  # hardly a particle
    words = ["--out", tmp / "new", "--machine", machine, "--scale", "1e4", *few]
    fails_with(2, ("--scale", "use a smaller scale"), 2, "predict", deck, *words)


def beside(ran, prediction, ranks=2, steps=1):
    """The output of a run beside a prediction."""
    return printed(ranks, "run", DECK, "--out", fresh(ran), "--prediction", prediction, *settings(run__steps=steps))


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    """The file of a prediction, and its content."""
    out = tmp_path_factory.mktemp("predicted") / "out"
    return out / "predict.json", predict(out, "--processes", "1,2", run__steps=20)


def changed(path, prediction, key, value):
    """A prediction with another value of what it says of 2 ranks, or of all."""
    p = json.loads(json.dumps(prediction))
    forecast = p["forecasts"][1]
    {"step_seconds": forecast, "threads": p}.get(key, forecast["seconds"])[key] = value
    path.write_text(json.dumps(p))
    return path


@pytest.mark.group("predicted_and_measured")
@pytest.mark.parametrize("ranks", (1, 2))
def test_predicted_and_measured(tmp, predicted, ranks):
    file, p = predicted
    said, s = beside(tmp, file, ranks, 20), summary(tmp)
    foretold, measured = s["prediction"]["predicted"], s["prediction"]["measured"]
    forecast, keys = p["forecasts"][ranks - 1], ("compute", "imbalance", "rebalancing", "communication")
    assert forecast["ranks"] == ranks and p["threads"] == 1 and s["prediction"]["file"] == str(file)
    assert foretold["step_seconds"] == forecast["step_seconds"]
    assert {k: foretold[k] for k in keys} == {k: forecast["seconds"][k] for k in keys}
    assert measured["step_seconds"] == pytest.approx(s["wall_seconds"] / 20, rel=1e-12)
    assert measured["compute"] == pytest.approx(s["useful_seconds"]["mean"] / 20, rel=1e-12)
    assert min(measured.values()) >= 0 and sum(measured[k] for k in keys) == pytest.approx(measured["step_seconds"])
    assert f"predicted {foretold['step_seconds']:.4g} s a step, measured {measured['step_seconds']:.4g}" in said, said


def test_names_and_steps(tmp, predicted):
    """Other threads are named. Links are followed, names need not be UTF-8, and a run of no steps has no times."""
    file, p = predicted
    assert "s a step for 3 threads a rank, measured" in beside(tmp / "ran", changed(tmp / "t", p, "threads", 3))
    os.symlink(file, tmp / "link")
    beside(tmp / "ran", tmp / "link")
    beside(tmp / "ran", file, steps=0)
    assert "prediction" not in summary(tmp / "ran"), "no step, and a time of it"
    strange = os.fsdecode(os.fsencode(tmp) + b"/\xff.json")
    os.link(file, strange)
    beside(tmp / "ran", strange)
    assert summary(tmp / "ran")["prediction"]["file"].endswith("\ufffd.json")


def test_refused_predictions(tmp, predicted):
    file, p = predicted
    (tmp / "empty").write_text('{"particles": ')
    for path, ranks, code, says in (
        (file, 3, 3, "says nothing of 3 ranks"),
        (tmp / "none.json", 2, 3, "can't open the prediction"),
        (changed(tmp / "negative", p, "communication", -1), 2, 3, "-1 seconds for 2 ranks"),
        (changed(tmp / "zero", p, "step_seconds", 0), 2, 3, "0 seconds a step for 2 ranks"),
        (changed(tmp / "huge", p, "compute", 1e300), 2, 3, "1e+300 seconds for 2 ranks"),
        (tmp, 2, 3, "it is a directory"),
        (tmp / "empty", 2, 3, "no predict.json"),
        (DECK, 0, 3, "no predict.json"),
        ("", 2, 2, "--prediction is empty"),
    ):
        fails_with(code, says, ranks, *run_words(tmp / "ran", "--prediction", path))
        assert not (tmp / "ran/deck.yaml").exists(), f"{path}: results were written"
    words = run_words(tmp / "ran", "--prediction", file, deck=os.path.join(SOURCE, "inputs/liquid.yaml"))
    fails_with(3, "give the prediction of this deck", 0, *words)


LIMIT = "balance.partition.max_particles_per_process"
CLUSTER = ["--machine", "{tmp}/cluster.yaml", "--set", "balance.every=5", "--set"]
NO_CUT = "max_particles_per_process: no cut keeps {} processes within {} particles; the smallest limit that works is {}"
ERRORS = [
    (["--processes", "0"], 2, "--processes"),
    (["--processes", "2,,3"], 2, "--processes"),
    (["--processes", "2,x"], 2, "--processes"),
    (["--processes", "1000000"], 2, "use fewer"),
    (["--processes", ""], 2, "--processes is empty"),
    (["--scale", "0.5"], 2, "--scale"),
    (["--scale", "nan"], 2, "--scale"),
    (["--efficiency", "0"], 2, "--efficiency"),
    (["--efficiency", "1.1"], 2, "--efficiency"),
    (["--efficiency", "nan"], 2, "--efficiency"),
    (["--time", "-1"], 2, "--time"),
    (["--time", "10", "--efficiency", "0.5"], 2, "--efficiency"),
    (["--time", "10", "--set", "run.steps=0"], 2, "the deck makes no steps"),
    (["--machine", "{tmp}/key"], 3, "key:2:1: unknown key"),
    (["--machine", "{tmp}/negative"], 3, "negative:1:27: inside.latency_seconds"),
    (["--machine", "{tmp}/eager"], 3, "eager_bytes"),
    (["--machine", "{tmp}/free"], 3, "nothing costs anything"),
    (["--machine", "{tmp}/nanoseconds"], 3, "compute.pair"),
    (["--machine", ""], 2, "--machine is empty"),
    (["--set", "load.kind=uniform"], 2, "a prediction needs particles"),
    ([*CLUSTER, f"{LIMIT}=100", "--processes", "2,4"], 2, NO_CUT.format(2, 100, 10)),
    ([*CLUSTER, f"{LIMIT}=11000", "--processes", "4", "--scale", "3"], 2, NO_CUT.format(4, 11000, 4)),
]
MACHINES = dict(
    key="costs: deck\nmessage_second: 1\n",
    negative="inside: {latency_seconds: -1}\n",
    eager="costs: deck\neager_bytes: 0\n",
    free="compute: {cell: 0, particle: 0, candidate: 0, pair: 0}\n",
    nanoseconds="compute: {pair: 0.7}\n",
)


@pytest.mark.group("predict_errors")
@pytest.mark.parametrize("ranks", (0, 2))
@pytest.mark.parametrize("words, code, says", ERRORS)
def test_errors(tmp, cheap, ranks, words, code, says):
    for name, text in MACHINES.items():
        (tmp / name).write_text(text)
    fails_with(code, says, ranks, "predict", DECK, *(w.format(tmp=tmp) for w in words), "--out", tmp / "out")
    assert not (tmp / "out/predict.json").exists()


@pytest.mark.parametrize("words", [["--processes", "2,4"], ["--processes", "24", "--scale", "3"]])
def test_limit_of_particles(tmp, cheap, words):
    """The single rank that is beside them needs no limit."""
    more = (w.format(tmp=tmp) for w in [*CLUSTER, f"{LIMIT}=11000"])
    ok(2, "predict", DECK, "--out", tmp / "limited", "--quiet", *more, *words)


def test_exact_by_the_wall_clock(tmp):
    fails_with(2, "only counted work knows", 2, *run_words(tmp, balance__model="exact", balance__every=5))


WORTH = dict(balance__every=5, balance__clock="work", balance__processes=4, balance__migrate="always")
WORTH |= dict(balance__partition__cut="cells", output__every=0)


def worth_of(out, **keys):
    """The gain that a run reports, and the sum of the largest times."""
    deck, start = (os.path.join(SOURCE, name) for name in ("inputs/strip_t1.yaml", "restarts/strip_t1.h5"))
    ok_run(fresh(out), deck=deck, ranks=2, restart=start, **WORTH | keys)
    return summary(out)["worth"], sum(float(r["max_seconds"]) for r in table(out, "balance.csv"))


@pytest.mark.group("worth")
@pytest.mark.parametrize("dt, steps", (("1e-13", 1300), ("1e-3", 1100)))
def test_worth(tmp, dt, steps):
    """The gain that a run reports, against runs made with true loads and without balancing."""
    keys, frozen = dict(run__dt=dt, run__steps=steps), dt == "1e-13"
    none, without = worth_of(tmp, balance__partition__kind="none", **keys)
    assert abs(none["saved"]) < 1e-12, f"no balancing saved {none['saved']}"
    _, exact = worth_of(tmp, balance__model="exact", **keys)
    for model in ("a1", "particle_count"):
        said, slowest = worth_of(tmp, balance__model=model, **keys)
        assert said["of"] == "compute" and said["net"]["of"] == "virtual processes", said
        assert said["net"]["saved"] == pytest.approx(said["saved"], abs=1e-9), said
        assert said["saved"] == pytest.approx(1 - slowest / without, abs=1e-9), model
        # The run with true loads starts from the first partition as all do, and moves on between two balancings.
        assert said["perfect_saves"] == pytest.approx(1 - exact / slowest, abs=0.01 if frozen else 0.03), model
        assert slowest >= exact * (1 - 1e-9) or not frozen, f"{model} is better than exact"


def test_worth_of_slow_processes(tmp):
    slow = dict(run__steps=1100, balance__work__slow__fraction=0.25, balance__work__slow__speed=0.4)
    none, without = worth_of(tmp, balance__partition__kind="none", **slow)
    said, slowest = worth_of(tmp, **slow)
    assert abs(none["saved"]) < 1e-12 and said["saved"] == pytest.approx(1 - slowest / without, abs=1e-9)
