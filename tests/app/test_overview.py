# SPDX-License-Identifier: MIT
"""map.csv and ranks.csv: what they hold is what cell fields hold, on any ranks, over restarts, and never too much."""
from collections import Counter, defaultdict

import pytest

from program import collide, datasets, documented_keys, hash_of, summary, table

EXACT = dict(run__steps=112, output__every=56, grid__skin=0.3, balance__every=16, balance__clock="work")
EXACT |= dict(balance__criterion="every", balance__processes=8)
TABLES = ("map.csv", "ranks.csv")


def go(out, ranks, dimensions, **keys):
    collide(dimensions, out, ranks=ranks, **EXACT | keys)


def frames(out, name="map.csv"):
    """{step: rows}."""
    found = defaultdict(list)
    for row in table(out, name):
        found[int(row["step"])].append({k: float(v) if k == "load" else int(float(v)) for k, v in row.items()})
    return dict(found)


def text(out, name="map.csv"):
    return (out / name).read_text()


@pytest.mark.parametrize("dimensions", (2, 3))
def test_map_is_that_of_the_fields(tmp_path, dimensions):
    """Particles, owners and loads of blocks, on any ranks, and after a restart on others."""
    for ranks in (1, 2, 3, 4, 7):
        go(tmp_path / str(ranks), ranks, dimensions, output__fields_every=16)
        assert text(tmp_path / str(ranks)) == text(tmp_path / "1"), f"{ranks} ranks"
    found, out = frames(tmp_path / "2"), tmp_path / "again"
    assert list(found) == list(range(0, 113, 16))
    for step, rows in found.items():
        fields, total = datasets(tmp_path / "2" / f"fields_{step}.h5"), 0
        particles = fields["particles"]
        for row in rows:
            block = tuple(slice(row[f"{x}0"], row[f"{x}1"]) for x in "zyx"[3 - dimensions :])
            owners = Counter(fields["owner"][block].flat)
            assert row["particles"] == particles[block].sum() and row["zone"] == 0
            assert owners[row["owner"]] == max(owners.values())
            total += particles[block].size
            if step >= 32:  # the first balancing has nothing to learn from; empty cells cost too, but not in fields
                load = fields["load"][block].sum()
                assert row["load"] >= 0.999 * load - 1e-12
                assert not particles[block].all() or row["load"] == pytest.approx(load, rel=1e-3)
        assert total == particles.size
    # Killed after its checkpoint, and continued on other ranks: what came after it comes anew.
    go(out, 4, dimensions, output__fields_every=16, checkpoint__every=64)
    for name in ("checkpoint_112.h5", "summary.json"):
        (out / name).unlink()
    go(out, 3, dimensions, restart="auto", output__fields_every=16)
    assert [list(r.values())[7:] for r in frames(out)[112]] == [list(r.values())[7:] for r in found[112]]
    assert list(frames(out)) == list(found)
    of_ranks = {step: (len(rows), {r["start"] for r in rows}) for step, rows in frames(out, "ranks.csv").items()}
    assert of_ranks == {step: (4, {0}) if step <= 64 else (3, {1}) for step in found}


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
        held = [row["particles"] for row in rows]
        assert sum(held) == summary(tmp_path / "host")["particles"], f"step {step}"
        assert held == [row["particles"] for row in plain[step]], f"step {step}"


def test_ranks_add_up_to_the_summary(tmp_path):
    """Seconds, messages and particles of the ranks, in the last frame, are no more than in the summary, and grow."""
    go(tmp_path, 3, 2, output__fields_every=8)
    last, s = table(tmp_path, "ranks.csv", step="112"), summary(tmp_path)
    of_others = {"simulated", "platform", "speeds", "accelerator", "auto", "prediction", "least_time"}
    assert s.keys() | of_others == documented_keys(), "docs/output.md has to have the keys of summary.json"
    assert [r["rank"] for r in last] == ["0", "1", "2"] and table(tmp_path, "ranks.csv")[-3:] == last
    assert sum(int(r["particles"]) for r in last) == s["particles"]
    for phase in ("forces", "neighbours", "ghosts", "migration", "balancing"):
        largest, said = max(float(r[phase]) for r in last), s["seconds"][phase]["max"]
        assert 0.5 * said < largest <= said + 1e-5, f"{phase} is that of the run"
    assert max(int(r["messages"]) for r in last) <= s["messages"]["sent"]["max"]
    for rank in "012":
        walls = [float(r["wall_seconds"]) for r in table(tmp_path, "ranks.csv", rank=rank)]
        assert walls == sorted(walls) and len(set(walls)) == len(walls)


def test_never_too_much_and_no_change(tmp_path):
    """Frames are thinned out while the run goes on; without them there are no files; the trajectory is the same."""
    few, none = tmp_path / "few", tmp_path / "none"
    for out, most in ((few, 2), (none, 0)):
        go(out, 2, 2, run__steps=3000, balance__every=500, output__map_frames=most)
    for name in TABLES:
        steps = list(frames(few, name))
        assert 1 <= len(steps) <= 2 and steps[0] == 0, "every other one made room"
        assert not (none / name).exists()
    assert hash_of(few) == hash_of(none)


def test_spoilt_files(tmp_path):
    """A file that was cut short is continued from its whole rows; one of other columns is put aside. A restart without
    frames leaves the old ones. A restart with fewer frames keeps as many as it may."""
    go(tmp_path, 2, 2, run__steps=64, checkpoint__every=64)
    whole = text(tmp_path)
    (tmp_path / "map.csv").write_text(whole[:-5])
    (tmp_path / "ranks.csv").write_text("a,b\n1,2\n")
    go(tmp_path, 3, 2, restart="auto", checkpoint__every=112)
    assert text(tmp_path).startswith(whole[: whole.rstrip().rindex("\n") + 1])
    assert text(tmp_path / "previous_1", "ranks.csv") == "a,b\n1,2\n"
    assert {r["start"] for r in table(tmp_path, "ranks.csv")} == {"1"}
    before = [text(tmp_path, name) for name in TABLES]
    go(tmp_path, 2, 2, restart="auto", run__steps=136, checkpoint__every=136, output__map_frames=0)
    assert [text(tmp_path, name) for name in TABLES] == before and len(frames(tmp_path)) >= 6
    go(tmp_path, 2, 2, restart="auto", run__steps=200, output__map_frames=4)
    assert 1 <= len(frames(tmp_path)) <= 4 and list(frames(tmp_path))[0] == 0
