# SPDX-License-Identifier: MIT
"""Tests of `steelyard predict`, and of what a run says that balancing was worth.

Groups: predict_results predict_space predicted_and_measured predict_errors worth.
"""
import csv
import json
import os
import subprocess

import pytest

from program import HANG_SECONDS, DECK, SOURCE, command, environment, fresh, run, settings, summary

MACHINE = """costs: deck
ranks_per_node: 4
inside: {latency_seconds: 1.0e-6, bytes_per_second: 5.0e9}
between: {latency_seconds: 2.0e-6, bytes_per_second: 8.0e9}
message_seconds: 5.0e-7
"""
# More than 10^6 cells, and hardly a particle.
TOO_MANY = dict(system__box="[600, 300, 300]", run__steps=0)


def read(*path):
    with open(os.path.join(*path)) as f:
        return f.read()


def predict(out, *arguments, ranks=0, deck=DECK, **keys):
    code, text = run(ranks, "predict", deck, "--out", fresh(out), "--quiet", *arguments, *settings(**keys))
    assert code == 0 and text == "", f"predict {arguments} {keys} on {ranks} ranks: {code} {text}"
    return json.loads(read(out, "predict.json"))


def check_consistent(p):
    for f in p["forecasts"]:
        s = f["seconds"]
        terms = s["compute"] + s["imbalance"] + s["messages"] + s["bytes"] + s["rebalancing"]
        assert abs(terms - f["step_seconds"]) < 1e-9 * terms, f"terms of {f['ranks']} ranks add up to {terms}"
        assert min(s.values()) >= -1e-12 * terms, f"a negative term: {s}"
        assert f["low_seconds"] <= f["step_seconds"] <= f["high_seconds"], f"bounds {f}"
        assert abs(f["lbe"] - s["compute"] / (s["compute"] + s["imbalance"])) < 1e-9, "lbe"
        o = f["overlap_seconds"]
        more = 1 + 1e-12  # means of some forecasts, rounded
        assert o["none"] * more >= o["links"] and o["links"] * more >= o["full"] > 0, f"overlaps {o}"
        assert abs(o[p["overlap"]] / f["step_seconds"] - 1) < 1e-9, f"overlaps {o}"
    best = min(p["forecasts"], key=lambda f: f["step_seconds"])
    assert p["best_ranks"] == best["ranks"], "the best"


def test_predict_results(tmp):
    out, other, machine = (os.path.join(tmp, n) for n in ("out", "other", "machine.yaml"))
    with open(machine, "w") as f:
        f.write(MACHINE)
    given = ("--machine", machine, "--processes", "2,8,4")
    keys = dict(grid__skin=0.4, balance__every=20, balance__clock="work", balance__work__pair=5e-9)  # no default
    p = predict(out, *given, **keys)
    assert [f["ranks"] for f in p["forecasts"]] == [1, 2, 4, 8], "ranks"
    assert p["forecasts"][0]["seconds"]["communication"] < 1e-15, "one rank communicates"
    check_consistent(p)
    # With a machine file nothing is measured: the same on any number of ranks.
    assert predict(other, *given, ranks=2, **keys) == p, "2 ranks predict otherwise"
    # The written machine is the one that was read, whatever its name.
    with open(machine, "a") as f:
        f.write('name: "it\'s here"\n')
    assert predict(out, *given, **keys)["machine"] == "it's here", "name of the machine"
    p["machine"] = "it's here"
    assert (
        predict(other, "--machine", os.path.join(out, "machine.yaml"), "--processes", "2,4,8", **keys) == p
    ), "the written machine is another"
    points = [json.loads(line) for line in read(out, "extrap.jsonl").splitlines()]
    steps = {x["params"]["p"]: x["value"] for x in points if x["callpath"] == "step" and x["metric"] == "time"}
    assert steps == {f["ranks"]: f["step_seconds"] for f in p["forecasts"]}, f"points for Extra-P: {steps}"
    # The work of one rank is what a run counts, and halves where nothing but the number of ranks changes.
    assert (
        run(0, "run", DECK, "--out", fresh(other), "--quiet", *settings(**dict(keys, balance__every=1, run__steps=1)))[
            0
        ]
        == 0
    ), "run"
    with open(os.path.join(other, "balance.csv")) as f:
        counted = float(list(csv.DictReader(f))[0]["max_seconds"])
    assert (
        abs(p["forecasts"][0]["seconds"]["compute"] / counted - 1) < 0.01
    ), f"compute {p['forecasts'][0]['seconds']['compute']} of {counted}"
    for f in p["forecasts"]:
        assert (
            abs(f["seconds"]["compute"] * f["ranks"] / p["forecasts"][0]["seconds"]["compute"] - 1) < 1e-6
        ), "work is lost"
    # Balancing makes loads equal, and costs something.
    without = predict(other, *given, **dict(keys, balance__every=0))
    for a, b in list(zip(p["forecasts"], without["forecasts"]))[1:]:
        assert (
            a["lbe"] > b["lbe"] and a["seconds"]["rebalancing"] > 0 and b["seconds"]["rebalancing"] == 0
        ), f"balancing: {a} {b}"
    # A run that ends with its first partition is predicted with it, a long one with those that know loads, and others
    # with both, by their steps.
    blind = dict(keys, balance__every=3, balance__constants__start="uniform")
    lbe = {n: predict(other, *given, **dict(blind, run__steps=n))["forecasts"][3]["lbe"] for n in (2, 3, 4, 5, 400)}
    assert lbe[2] < 0.85 and lbe[3] < 0.85, f"LBE {lbe} before the first balancing"
    assert lbe[400] > 0.9, f"LBE {lbe} of a long run"
    assert lbe[3] < lbe[4] - 0.001 and lbe[4] < lbe[5] < lbe[400] - 0.01, f"LBE {lbe} of short runs"
    # All lengths ten times as large.
    large = predict(other, *given, "--scale", "10", **keys)
    assert large["particles"] == 100 * p["particles"], "particles"
    assert (
        abs(large["forecasts"][3]["seconds"]["compute"] / p["forecasts"][3]["seconds"]["compute"] - 100) < 1e-6
    ), "scaled work"
    assert abs(large["forecasts"][3]["bytes_a_rank"] / p["forecasts"][3]["bytes_a_rank"] - 10) < 0.01, "scaled bytes"
    assert large["forecasts"][3]["efficiency"] > p["forecasts"][3]["efficiency"], "a larger problem scales better"
    asked(other, given, keys)
    # A grid of fewer than 16 cells, with the default numbers of ranks: one.
    few = os.path.join(tmp, "few.yaml")
    with open(few, "w") as f:
        f.write(
            "system: {box: [8, 8], slabs: [{lower: [1, 1], upper: [7, 7], lattice: hexagonal, density: 0.3}]}\n"
            "run: {dt: 0.001, steps: 5}\n"
        )
    small = predict(other, "--machine", machine, deck=few)
    assert small["cells"] < 16 and [f["ranks"] for f in small["forecasts"]] == [1], small
    # Patches that are so wide that only few ranks have one: the default list ends there, and nobody is blamed.
    wide = predict(
        other, "--machine", machine, **dict(keys, balance__partition__min_width=16, balance__partition__kind="rcb")
    )
    assert 1 < wide["forecasts"][-1]["ranks"] < 32, wide
    # This machine, measured.
    here = predict(other, "--processes", "2", ranks=2)
    assert here["calibrated"] and 0.5 < here["fitted"] < 2, f"calibration: {here['fitted']}"
    assert "measured inside a node" in here["messages"], here["messages"]
    check_consistent(here)
    assert 0 < here["forecasts"][1]["seconds"]["communication"] < here["forecasts"][1]["step_seconds"], "communication"


@pytest.mark.group("predict_results")
@pytest.mark.parametrize(
    "scale, processes, ranks", [("2", "1,190,200,300", 200), ("1", "1,200", None), ("9", "1,190", None)]
)
def test_predict_results_of_coarse_cells(tmp, scale, processes, ranks):
    """Where a scaled deck has few cells a rank, a note says that the imbalance is theirs."""
    machine = os.path.join(tmp, "cluster.yaml")
    with open(machine, "w") as f:
        f.write("costs: deck\n")
    command = ["predict", DECK, "--out", fresh(os.path.join(tmp, "out")), "--machine", machine, "--scale", scale]
    code, text = run(0, *command, "--processes", processes, *settings(run__steps=4))
    assert code == 0 and ("too coarse" in text) == (ranks is not None), text
    assert ranks is None or f"from {ranks} ranks on" in text and "5824 cells" in text, text


def test_predict_space(tmp):
    """Three dimensions: ghosts are those that a run sends, and twice the length is 8 times the work and 4 times the
    bytes."""
    out, other, machine = (os.path.join(tmp, n) for n in ("out", "other", "machine.yaml"))
    with open(machine, "w") as f:
        f.write(MACHINE)
    for name, change in (("melt", dict(system__slabs__0__cells="[8, 9, 10]")), ("collision_3d", {})):
        deck = os.path.join(SOURCE, "inputs", name + ".yaml")
        keys = dict(change, grid__skin=0.3, balance__clock="work", run__steps=1)
        given = ("--machine", machine, "--processes", "2,3")
        p = predict(out, *given, deck=deck, **keys)
        check_consistent(p)
        # The first plan of ghosts, even where counts look further than ghosts come from.
        for every in (0, 1):
            p = predict(out, *given, deck=deck, **dict(keys, balance__every=every, balance__partition__kind="none"))
            for f in p["forecasts"][1:]:
                file = os.path.join(tmp, "trace.csv")
                code, text = run(
                    f["ranks"],
                    "run",
                    deck,
                    *("--out", fresh(other), "--force", "--quiet", "--trace-messages", file),
                    *settings(**keys, balance__every=every, balance__partition__kind="none"),
                )
                assert code == 0, f"a traced run: {code} {text}"
                with open(file) as rows:
                    traced = [r for r in csv.DictReader(rows) if r["kind"] == "ghosts"]
                sent = sum(int(r["bytes"]) for r in traced if r["plan"] == traced[0]["plan"])
                assert sent > 0 and abs(f["bytes_a_rank"] * f["ranks"] / sent - 1) < 0.03, f"{name}: {f} sends {sent}"
        large = predict(other, *given, "--scale", "2", deck=deck, **keys)
        p = predict(out, *given, deck=deck, **keys)
        assert large["particles"] == 8 * p["particles"] and large["cells"] == 8 * p["cells"], f"{name}: {large}"
        for a, b in zip(p["forecasts"], large["forecasts"]):
            assert abs(b["seconds"]["compute"] / a["seconds"]["compute"] - 8) < 1e-6, f"{name}: scaled work {b}"
            assert abs(b["bytes_a_rank"] - 4 * a["bytes_a_rank"]) <= 0.01 * b["bytes_a_rank"], f"{name}: scaled bytes"
    code, text = run(
        2, "predict", deck, "--out", fresh(other), "--machine", machine, "--scale", "1e4", *settings(**TOO_MANY)
    )
    assert code == 2 and text.count("\n") == 1 and "--scale" in text and "use a smaller scale" in text, text


def asked(out, given, keys):
    """Numbers of ranks for an efficiency and for a time, recommended ones, and the method's error."""

    def of(p, ranks):
        return [f for f in p["forecasts"] if f["ranks"] == ranks][0]

    p = predict(out, *given, "--efficiency", "0.7", **keys)
    found = p["asked"]["ranks"]
    assert p["asked"]["efficiency"] == 0.7 and of(p, found)["efficiency"] >= 0.7, p["asked"]
    assert all(f["efficiency"] < 0.7 for f in p["forecasts"] if f["ranks"] >= 2 * found), p["forecasts"]
    assert of(p, p["recommended_ranks"])["efficiency"] >= 0.7, p["recommended_ranks"]
    steps = 300
    seconds = steps * of(p, found)["step_seconds"] * 1.0001
    t = predict(out, *given, "--time", seconds, **keys)
    assert 1 < t["asked"]["ranks"] <= found and of(t, t["asked"]["ranks"])["step_seconds"] * steps <= seconds, t
    assert predict(out, *given, "--time", "1e-9", **keys)["asked"]["ranks"] is None, "a time that nothing reaches"
    for f in p["forecasts"]:
        error = (f["high_seconds"] - f["low_seconds"]) / 2 / f["step_seconds"]
        assert abs(error - (0.15 if f["seconds"]["rebalancing"] > 0 else 0.1)) < 1e-9, f"the method's error: {error}"
    code, _ = run(0, "predict", DECK, "--out", fresh(out), *given, *settings(**keys))
    assert code == 0, "a prediction with its table"


def test_predicted_and_measured(tmp):
    out, ran = (os.path.join(tmp, n) for n in ("out", "ran"))
    p = predict(out, "--processes", "1,2", run__steps=20)
    file = os.path.join(out, "predict.json")
    for ranks in (1, 2):
        done = subprocess.run(
            command(ranks, "run", DECK, "--out", fresh(ran), "--prediction", file, *settings(run__steps=20)),
            env=environment(),
            timeout=HANG_SECONDS,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert done.returncode == 0, f"run beside a prediction: {done.returncode}"
        s = summary(ran)
        predicted, measured = s["prediction"]["predicted"], s["prediction"]["measured"]
        forecast = [f for f in p["forecasts"] if f["ranks"] == ranks][0]
        assert (
            s["prediction"]["file"] == file and predicted["step_seconds"] == forecast["step_seconds"]
        ), f"predicted: {predicted}"
        for key in ("compute", "imbalance", "rebalancing", "communication"):
            assert predicted[key] == forecast["seconds"][key], f"{key}: {predicted}"
        assert abs(measured["step_seconds"] / (s["wall_seconds"] / 20) - 1) < 1e-12, f"measured: {measured}"
        assert abs(measured["compute"] / (s["useful_seconds"]["mean"] / 20) - 1) < 1e-12, f"computing: {measured}"
        parts = sum(measured[key] for key in ("compute", "imbalance", "rebalancing", "communication"))
        assert min(measured.values()) >= 0 and abs(parts / measured["step_seconds"] - 1) < 1e-9, f"parts: {measured}"
        assert (
            f"predicted {predicted['step_seconds']:.4g} s a step, measured {measured['step_seconds']:.4g}"
            in done.stdout
        ), done.stdout
    none, empty = os.path.join(tmp, "none.json"), os.path.join(tmp, "empty.json")
    with open(empty, "w") as f:
        f.write('{"particles": ')
    negative, huge = os.path.join(tmp, "negative.json"), os.path.join(tmp, "huge.json")
    zero, threads = os.path.join(tmp, "zero.json"), os.path.join(tmp, "threads.json")
    for path, key, value in (
        (negative, "communication", -1),
        (huge, "compute", 1e300),
        (zero, "step_seconds", 0),
        (threads, "threads", 3),
    ):
        wrong = json.loads(read(file))
        (
            wrong["forecasts"][1]["seconds"]
            if key.startswith("com")
            else wrong["forecasts"][1]
            if key == "step_seconds"
            else wrong
        )[key] = value
        with open(path, "w") as f:
            json.dump(wrong, f)
    assert p["threads"] == 1, f"threads: {p.get('threads')}"
    done = subprocess.run(
        command(2, "run", DECK, "--out", fresh(ran), "--prediction", threads, *settings(run__steps=20)),
        env=environment(),
        timeout=HANG_SECONDS,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert "s a step for 3 threads a rank, measured" in done.stdout, f"predicted for other threads: {done.stdout}"
    link = os.path.join(tmp, "link")
    os.symlink(file, link)
    assert (
        run(2, "run", DECK, "--out", fresh(ran), "--quiet", "--prediction", link, *settings(run__steps=1))[0] == 0
    ), "a link to a prediction"
    assert run(2, "run", DECK, "--out", fresh(ran), "--quiet", "--prediction", file, *settings(run__steps=0))[
        0
    ] == 0 and "prediction" not in summary(ran), "no step, and a time of it"
    # Names of files need not be UTF-8.
    strange = os.fsdecode(os.fsencode(tmp) + b"/\xff.json")
    os.link(file, strange)
    assert run(2, "run", DECK, "--out", fresh(ran), "--quiet", "--prediction", strange, *settings(run__steps=1))[
        0
    ] == 0 and summary(ran)["prediction"]["file"].endswith("\ufffd.json"), "a name that is not UTF-8"
    for path, ranks, code, what in (
        (file, 3, 3, "says nothing of 3 ranks"),
        (none, 2, 3, "can't open the prediction"),
        (negative, 2, 3, "-1 seconds for 2 ranks"),
        (zero, 2, 3, "0 seconds a step for 2 ranks"),
        (huge, 2, 3, "1e+300 seconds for 2 ranks"),
        (tmp, 2, 3, "it is a directory"),
        (empty, 2, 3, "no predict.json"),
        (DECK, 0, 3, "no predict.json"),
        ("", 2, 2, "--prediction is empty"),
    ):
        got, text = run(ranks, "run", DECK, "--out", fresh(ran), "--prediction", path)
        assert (
            got == code
            and text.count("\n") == 1
            and text.startswith("steelyard: error: ")
            and "; " in text
            and what in text
        ), f"{path} on {ranks} ranks: {got} {text}"
        assert not os.path.exists(os.path.join(ran, "deck.yaml")), f"{path}: results were written"
    got, text = run(0, "run", os.path.join(SOURCE, "inputs/liquid.yaml"), "--out", fresh(ran), "--prediction", file)
    assert got == 3 and "give the prediction of this deck" in text, f"another deck: {got} {text}"


def test_predict_errors(tmp):
    out, machine = os.path.join(tmp, "out"), os.path.join(tmp, "machine.yaml")
    with open(machine, "w") as f:
        f.write("costs: deck\nmessage_second: 1\n")
    bad = os.path.join(tmp, "bad.yaml")
    with open(bad, "w") as f:
        f.write("inside: {latency_seconds: -1}\n")
    cluster = os.path.join(tmp, "cluster.yaml")
    with open(cluster, "w") as f:
        f.write("costs: deck\n")
    limit = (
        "--set",
        "balance.every=5",
        "--set",
        "balance.partition.max_particles_per_process=11000",
        "--machine",
        cluster,
    )
    for arguments in (
        ("--processes", "2,4"),
        ("--processes", "24", "--scale", "3"),
    ):  # the single rank that is beside them needs no limit
        code, text = run(
            2, "predict", DECK, "--out", fresh(os.path.join(tmp, "limited")), "--quiet", *limit, *arguments
        )
        assert code == 0, f"a limit of particles, {arguments}: {code} {text}"
    eager, free, nanoseconds = (os.path.join(tmp, n) for n in ("eager.yaml", "free.yaml", "nanoseconds.yaml"))
    for path, text in (
        (eager, "costs: deck\neager_bytes: 0\n"),
        (free, "compute: {cell: 0, particle: 0, candidate: 0, pair: 0}\n"),
        (nanoseconds, "compute: {pair: 0.7}\n"),
    ):
        with open(path, "w") as f:
            f.write(text)
    for arguments, code, what in (
        ((DECK, "--processes", "0"), 2, "--processes"),
        ((DECK, "--processes", "2,,3"), 2, "--processes"),
        ((DECK, "--processes", "2,x"), 2, "--processes"),
        ((DECK, "--processes", "1000000"), 2, "use fewer"),
        ((DECK, "--scale", "0.5"), 2, "--scale"),
        ((DECK, "--efficiency", "0"), 2, "--efficiency"),
        ((DECK, "--efficiency", "1.1"), 2, "--efficiency"),
        ((DECK, "--efficiency", "nan"), 2, "--efficiency"),
        ((DECK, "--time", "-1"), 2, "--time"),
        ((DECK, "--time", "10", "--efficiency", "0.5"), 2, "--efficiency"),
        ((DECK, "--time", "10", "--set", "run.steps=0"), 2, "the deck makes no steps"),
        ((DECK, "--scale", "nan"), 2, "--scale"),
        ((DECK, "--machine", os.path.join(tmp, "none.yaml")), 3, "none.yaml"),
        ((DECK, "--machine", machine), 3, "machine.yaml:2:1: unknown key"),
        ((DECK, "--machine", bad), 3, "bad.yaml:1:27: inside.latency_seconds"),
        ((DECK, "--machine", DECK), 3, "a deck, not a machine file"),
        ((DECK, "--set", "load.kind=uniform"), 2, "a prediction needs particles"),
        ((DECK, "--machine", ""), 2, "--machine is empty"),
        ((DECK, "--processes", ""), 2, "--processes is empty"),
        (
            (
                DECK,
                "--machine",
                cluster,
                "--processes",
                "2,4",
                "--set",
                "balance.every=5",
                "--set",
                "balance.partition.max_particles_per_process=100",
            ),
            2,
            (
                "max_particles_per_process: no cut keeps 2 processes within 100 particles; the smallest limit that"
                " works is 10"
            ),
        ),
        (
            (
                DECK,
                "--machine",
                cluster,
                "--processes",
                "4",
                "--scale",
                "3",
                "--set",
                "balance.every=5",
                "--set",
                "balance.partition.max_particles_per_process=11000",
            ),
            2,
            (
                "max_particles_per_process: no cut keeps 4 processes within 11000 particles; the smallest limit that"
                " works is 4"
            ),
        ),
        ((DECK, "--machine", eager), 3, "eager_bytes"),
        ((DECK, "--machine", free), 3, "nothing costs anything"),
        ((DECK, "--machine", nanoseconds), 3, "compute.pair"),
    ):
        for ranks in (0, 2):
            got, text = run(ranks, "predict", *arguments, "--out", out)
            assert (
                got == code
                and text.count("\n") == 1
                and text.startswith("steelyard: error: ")
                and "; " in text
                and what in text
            ), f"{arguments} on {ranks} ranks: {got} {text}"
            assert not os.path.exists(os.path.join(out, "predict.json")), f"{arguments}: wrote a prediction"
    # Results that are there are kept.
    quick = [DECK, "--out", out, "--processes", "1", "--quiet"]
    assert run(0, "predict", *quick)[0] == 0, "predict"
    code, text = run(2, "predict", *quick)
    assert code == 2 and "holds results already" in text, f"a second prediction: {code} {text}"
    code, text = run(
        2, "run", DECK, "--out", os.path.join(tmp, "exact"), *settings(balance__model="exact", balance__every=5)
    )
    assert code == 2 and "only counted work knows" in text, f"exact by the wall clock: {code} {text}"


def test_worth(tmp):
    """The gain that a run reports, against runs made with true loads and without balancing."""
    start = ("--restart", os.path.join(SOURCE, "restarts/strip_t1.h5"))
    deck = os.path.join(SOURCE, "inputs/strip_t1.yaml")
    common = dict(
        balance__every=5,
        balance__clock="work",
        balance__processes=4,
        balance__migrate="always",
        balance__partition__cut="cells",
        output__every=0,
    )

    def of(name, **keys):
        out = os.path.join(tmp, name)
        assert run(2, "run", deck, *start, "--out", fresh(out), "--quiet", *settings(**common, **keys))[0] == 0, name
        with open(os.path.join(out, "balance.csv")) as f:
            slowest = sum(float(r["max_seconds"]) for r in csv.DictReader(f))
        return summary(out)["worth"], slowest

    for dt, steps in (("1e-13", 1300), ("1e-3", 1100)):
        common["run__steps"] = steps
        none = of("none", run__dt=dt, balance__partition__kind="none")
        assert abs(none[0]["saved"]) < 1e-12, f"no balancing saved {none[0]['saved']}"
        for model in ("a1", "particle_count"):
            said, slowest = of(model, run__dt=dt, balance__model=model)
            assert said["of"] == "compute" and said["net"]["of"] == "virtual processes", said
            assert abs(said["net"]["saved"] - said["saved"]) < 1e-9, f"net of virtual processes: {said}"
            assert (
                abs(said["saved"] - (1 - slowest / none[1])) < 1e-9
            ), f"{model} dt {dt}: saved {said['saved']}, truly {1 - slowest / none[1]}"
            exact = of("exact", run__dt=dt, balance__model="exact")
            # The run with true loads starts from the first partition as all do, and moves on between two balancings.
            frozen = dt == "1e-13"
            truly = 1 - exact[1] / slowest
            assert abs(said["perfect_saves"] - truly) < (
                0.01 if frozen else 0.03
            ), f"{model} dt {dt}: perfect balance {said['perfect_saves']}, truly {truly}"
            assert slowest >= exact[1] * (1 - 1e-9) or not frozen, f"{model} is better than exact"
    # Also where some processes are slower than others.
    common["run__steps"] = 1100
    slow = dict(balance__work__slow__fraction=0.25, balance__work__slow__speed=0.4)
    none, (said, slowest) = of("none_slow", balance__partition__kind="none", **slow), of("slow", **slow)
    assert (
        abs(none[0]["saved"]) < 1e-12 and abs(said["saved"] - (1 - slowest / none[1])) < 1e-9
    ), f"slow processes: saved {none[0]['saved']} and {said['saved']}, truly {1 - slowest / none[1]}"
