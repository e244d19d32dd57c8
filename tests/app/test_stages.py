# SPDX-License-Identifier: MIT
"""The job scripts of scripts/jobs in a plain shell: launchers, threads, stages, tasks."""
import os

import pytest

from program import DECK, HANG_SECONDS, SOURCE, checkpoints, decisions, environment, hash_of, ok_run, options, rows
from program import script as run_script
from program import summary

SRUN = """#!/bin/sh
printf "%s\\n" "$*" "$OMP_NUM_THREADS" >"{seen}"
while [ "${{1#-}}" != "$1" ]; do case $1 in -n) shift;; esac; shift; done
exec "$@"
"""


def job(stage, ranks, code=0, script="collision", **variables):
    """A stage of a job that ends with this exit code."""
    variables = environment() | variables | dict(STAGE=str(stage), RANKS=str(ranks), BINARY=options.binary)
    done = run_script(f"jobs/{script}.sh", env=variables, cwd=SOURCE, timeout=HANG_SECONDS)
    assert done.returncode == code, f"stage {stage} of {script}, {variables}: {done.returncode} {done.stderr}"
    return done


@pytest.mark.parametrize(
    "variables, expected",
    [
        (dict(), ("--mpi=pmi2 -n 3", "1")),
        (dict(THREADS="2", SLURM_CPUS_PER_TASK="3"), ("--mpi=pmi2 -n 3", "2")),
        (dict(SLURM_CPUS_PER_TASK="3"), ("--mpi=pmi2 -n 3", "3")),
        (dict(PBS_NODEFILE="hosts", NCPUS="24"), ("--mpi=pmi2 -n 3", "4")),
        (dict(PBS_NODEFILE="hosts", NCPUS="4"), ("--mpi=pmi2 -n 3", "1")),
        (dict(LAUNCHER="srun -n 5 -v"), ("-n 5 -v", "1")),
    ],
)
def test_launcher_and_threads(tmp, variables, expected):
    folder, seen, hosts = tmp / "fake launcher.d", tmp / "seen", tmp / "hosts"
    folder.mkdir()
    (folder / "srun").write_text(SRUN.format(seen=seen))
    os.chmod(folder / "srun", 0o755)
    hosts.write_text("a\n" * 6 + "b\n" * 6)
    if "PBS_NODEFILE" in variables:
        variables = variables | dict(PBS_NODEFILE=str(hosts))
    path = dict(PATH=f"{folder}:{os.environ['PATH']}", OUT=str(tmp / "small"), NAME="launched", SETTINGS="run.steps=0")
    job(1, 3, FIRST=DECK, SECOND=DECK, **dict(LAUNCHER="srun --mpi=pmi2") | path | variables)
    arguments, threads = seen.read_text().splitlines()
    assert (arguments.split(options.binary)[0].strip(), threads) == expected


def test_second_stage(tmp):
    """It starts from the last checkpoint of the first, and warns of a first stage that is not finished."""
    small = dict(FIRST=DECK, SECOND=DECK, OUT=str(tmp))
    job(1, 2, **small, SETTINGS="run.steps=20 checkpoint.every=20")
    first = tmp / "stage1"
    done = job(2, 2, **small, SETTINGS="run.steps=30")
    assert f"stage 2 starts from {first}/checkpoint_20.h5, step 20\n" in done.stdout and "warning" not in done.stderr
    deck = first / "deck.yaml"
    deck.write_text(deck.read_text().replace("  steps: 20 ", "  steps: 40 "))
    said = job(2, 2, **small, NAME="early", SETTINGS="run.steps=30").stderr
    assert said == (
        "collision.sh: warning: stage 1 has not reached its last step, 40; finish it first, unless you want this\n"
    )


def test_collision(tmp):
    """t = 1 and a checkpoint, then another dt from there; the checkpoint in restarts/ leads to the same state."""
    job(2, 2, 3, OUT=str(tmp))  # without stage 1
    job(3, 2, 2, OUT=str(tmp))  # no such stage
    job(1, 8, OUT=str(tmp))
    assert checkpoints(tmp / "stage1") == [1000]
    job(2, 8, OUT=str(tmp), STEPS="1100", DT="0.0001")
    last = rows(tmp / "stage2").splitlines()[-1].split(",")
    assert last[0] == "1100" and abs(float(last[1]) - 1.01) < 1e-9
    deck, restart = (os.path.join(SOURCE, name) for name in ("inputs/strip_t1.yaml", "restarts/strip_t1.h5"))
    ok_run(tmp / "again", ranks=3, deck=deck, restart=restart, run__steps=1100, run__dt=0.0001)
    assert hash_of(tmp / "again") == hash_of(tmp / "stage2")


def test_load_models(tmp):
    """The experiment on load models, small: one process a rank, real clocks, a task of each kind."""
    small = dict(script="load_models", DECK="inputs/strip.yaml", FIRST_STEPS="60", OUT=str(tmp))
    job(1, 8, **small)
    hashes = set()
    for task, name in (("14", "test2_r1"), ("12", "test2_a1"), ("15", "test2_none"), ("6", "test1_r1")):
        job(2, 8, **small, TASK=task, STEPS="40")
        s = summary(tmp / name)
        assert s["steps"] == 100 and s["processes"] == 8 and s["clock"] == "wall", f"task {task}: {s}"
        assert len(decisions(tmp / name)) >= 7
        if name.startswith("test2"):
            hashes.add(s["state_hash"])
    assert len(hashes) == 1, "the models' runs end in different states"
    job(2, 8, 2, **small, TASK="20")  # no such task
    job(2, 8, 2, **small, TASK="18")  # exact, by the wall clock
    for task, name, clock in (("17", "test2_r1_ahead", "wall"), ("18", "test1_exact", "work")):
        job(2, 8, **small, TASK=task, STEPS="10", CLOCK=clock)
        assert {r["model"] for r in decisions(tmp / name)} == {name.split("_", 1)[1]}
