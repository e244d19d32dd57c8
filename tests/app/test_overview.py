# SPDX-License-Identifier: MIT
"""map.csv and ranks.csv: what they hold is what cell fields hold, on any ranks, over restarts, and never too much."""
import csv
import os
from collections import Counter, defaultdict

import h5py
import pytest

from program import collide, documented_keys, summary

EXACT = dict(
    run__steps=112,
    grid__skin=0.3,
    balance__every=16,
    balance__clock="work",
    balance__criterion="every",
    balance__processes=8,
    output__every=56,
)


def go(out, ranks, dimensions, **keys):
    collide(dimensions, out, ranks=ranks, **EXACT | keys)


def frames(out, name="map.csv"):
    """{step: rows}."""
    found = defaultdict(list)
    with open(os.path.join(out, name), newline="") as f:
        for row in csv.DictReader(f):
            found[int(row["step"])].append({k: float(v) if k == "load" else int(float(v)) for k, v in row.items()})
    return dict(found)


def text(out, name="map.csv"):
    with open(os.path.join(out, name)) as f:
        return f.read()


@pytest.mark.group("overview")
@pytest.mark.parametrize("dimensions", (2, 3))
def test_map_is_that_of_the_fields(tmp_path, dimensions):
    """Particles, owners and loads of blocks, on any ranks, and after a restart on others."""
    for ranks in (1, 2, 3, 4, 7):
        go(tmp_path / str(ranks), ranks, dimensions, output__fields_every=16)
        assert text(tmp_path / str(ranks)) == text(tmp_path / "1"), f"{ranks} ranks"
    found = frames(tmp_path / "2")
    assert list(found) == list(range(0, 113, 16))
    for step, rows in found.items():
        with h5py.File(tmp_path / "2" / f"fields_{step}.h5") as f:
            particles, owner = f["particles"][:], f["owner"][:]
            load = f["load"][:] if "load" in f else None
        total = 0
        for row in rows:
            block = tuple(slice(row[f"{x}0"], row[f"{x}1"]) for x in "zyx"[3 - dimensions :])
            total += particles[block].size
            assert row["particles"] == particles[block].sum()
            owners = Counter(owner[block].flat)
            assert owners[row["owner"]] == max(owners.values()) and row["zone"] == 0
            if step >= 32:  # the first balancing has nothing to learn from; empty cells cost too, but not in fields
                assert row["load"] >= 0.999 * load[block].sum() - 1e-12
                if particles[block].all():
                    assert row["load"] == pytest.approx(load[block].sum(), rel=1e-3)
        assert total == particles.size
    # Killed after its checkpoint, and continued on other ranks: what came after it comes anew.
    out = tmp_path / "again"
    go(out, 4, dimensions, output__fields_every=16, checkpoint__every=64)
    for name in ("checkpoint_112.h5", "summary.json"):
        os.remove(out / name)
    go(out, 3, dimensions, restart="auto", output__fields_every=16)
    assert [list(r.values())[7:] for r in frames(out)[112]] == [list(r.values())[7:] for r in found[112]]
    assert list(frames(out)) == list(found)
    starts = {step: {r["start"] for r in rows} for step, rows in frames(out, "ranks.csv").items()}
    assert starts == {step: {0} if step <= 64 else {1} for step in found}
    sizes = {step: len(rows) for step, rows in frames(out, "ranks.csv").items()}
    assert sizes == {step: 4 if step <= 64 else 3 for step in found}


@pytest.mark.group("overview")
@pytest.mark.parametrize("dimensions", (2, 3))
def test_particles_on_accelerators_are_in_the_map(tmp_path, dimensions):
    """Those of their blocks, at steps at which nobody asks for the whole state."""
    fixed = dict(balance__processes=2, accelerator__share=0.4)
    if dimensions == 3:
        fixed["system__box"] = "[54, 54, 54]"  # blocks of more than a cell
    for backend in ("none", "host"):
        go(tmp_path / backend, 2, dimensions, accelerator__backend=backend, **fixed)
    plain, found = (frames(tmp_path / backend) for backend in ("none", "host"))
    assert any(row["zone"] for row in found[16]) and len(found) > 4
    for step, rows in found.items():
        assert sum(row["particles"] for row in rows) == summary(str(tmp_path / "host"))["particles"], f"step {step}"
        assert [row["particles"] for row in rows] == [row["particles"] for row in plain[step]], f"step {step}"


@pytest.mark.group("overview")
def test_ranks_add_up_to_the_summary(tmp_path):
    """Seconds, messages and particles of the ranks, in the last frame, are no more than in the summary, and grow."""
    go(tmp_path, 3, 2, output__fields_every=8)
    with open(tmp_path / "ranks.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    last = [r for r in rows if r["step"] == rows[-1]["step"]]
    s = summary(str(tmp_path))
    of_others = {"simulated", "platform", "speeds", "accelerator", "prediction"}
    assert s.keys() | of_others == documented_keys(), "docs/output.md has to have the keys of summary.json"
    assert [r["rank"] for r in last] == ["0", "1", "2"] and rows[-1]["step"] == "112"
    assert sum(int(r["particles"]) for r in last) == s["particles"]
    for phase in ("forces", "neighbours", "ghosts", "migration", "balancing"):
        values = [float(r[phase]) for r in last]
        assert 0 < max(values) <= s["seconds"][phase]["max"] + 1e-5
        assert max(values) > 0.5 * s["seconds"][phase]["max"], f"{phase} is that of the run"
    assert max(int(r["messages"]) for r in last) <= s["messages"]["sent"]["max"]
    for rank in "012":
        walls = [float(r["wall_seconds"]) for r in rows if r["rank"] == rank]
        assert walls == sorted(walls) and len(set(walls)) == len(walls)


@pytest.mark.group("overview")
def test_never_too_much_and_no_change(tmp_path):
    """Frames are thinned out while the run goes on; without them there are no files; the trajectory is the same."""
    long = dict(run__steps=3000, balance__every=500)
    go(tmp_path / "few", 2, 2, **long, output__map_frames=2)
    go(tmp_path / "none", 2, 2, **long, output__map_frames=0)
    for name in ("map.csv", "ranks.csv"):
        steps = list(frames(tmp_path / "few", name))
        assert 1 <= len(steps) <= 2 and steps[0] == 0, "every other one made room"
        assert not os.path.exists(tmp_path / "none" / name)
    assert len({summary(str(tmp_path / d))["state_hash"] for d in ("few", "none")}) == 1
    # A file that was cut short is continued from its whole rows; one of other columns is put aside.
    out = tmp_path / "spoilt"
    go(out, 2, 2, run__steps=64, checkpoint__every=64)
    whole = text(out)
    with open(out / "map.csv", "w") as f:
        f.write(whole[:-5])
    with open(out / "ranks.csv", "w") as f:
        f.write("a,b\n1,2\n")
    go(out, 3, 2, restart="auto", checkpoint__every=112)
    assert text(out).startswith(whole[: whole.rstrip().rindex("\n") + 1])
    assert text(out / "previous_1", "ranks.csv") == "a,b\n1,2\n"
    assert {r["start"] for rows in frames(out, "ranks.csv").values() for r in rows} == {1}
    # A restart without frames leaves the old ones. A restart with fewer frames keeps as many as it may.
    before = [text(out, name) for name in ("map.csv", "ranks.csv")]
    go(out, 2, 2, restart="auto", run__steps=136, checkpoint__every=136, output__map_frames=0)
    assert [text(out, name) for name in ("map.csv", "ranks.csv")] == before and len(frames(out)) >= 6
    go(out, 2, 2, restart="auto", run__steps=200, output__map_frames=4)
    assert 1 <= len(frames(out)) <= 4 and list(frames(out))[0] == 0
