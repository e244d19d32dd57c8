#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test_simulated.py PROGRAM SOURCE: 16 ranks of a simulated cluster end in the state, and balance to the LBE, of a real
run."""
import json
import os
import subprocess
import sys
import tempfile

SKIP = 77
DECKS = {
    "tiny.yaml": ["run.steps=60", "balance.every=20"],
    "strip_t1.yaml": ["run.steps=40", "balance.every=10", "output.every=20"],
}


def summary(command, out):
    done = subprocess.run(command + ["--out", out, "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    with open(os.path.join(out, "summary.json")) as f:
        return json.load(f)


def schedules(simulate, deck, folder):
    """Every way to send messages (comm:) ends in one state, on nodes of 6 ranks."""
    hashes = set()
    for order in ("plain", "near_first", "far_first"):
        for aggregate in ("none", "process", "node", "auto"):
            for overlap in ("none", "links", "full"):
                settings = [
                    "run.steps=12",
                    "balance.every=5",
                    "balance.clock=work",
                    "balance.migrate=always",
                    f"comm.order={order}",
                    f"comm.aggregate={aggregate}",
                    f"comm.overlap={overlap}",
                ]
                options = [o for s in settings for o in ("--set", s)]
                result = summary(
                    [simulate, "16", deck, *options], os.path.join(folder, f"{order}_{aggregate}_{overlap}")
                )
                assert result["messages"]["nodes"] == 3, result["messages"]
                hashes.add(result["state_hash"])
    assert len(hashes) == 1, hashes


def main():
    program, source = sys.argv[1:]
    if not os.access(os.path.join(source, "build-smpi", "steelyard"), os.X_OK):
        print("skipped: there is no build-smpi/steelyard; docs/simulation.md says how to build it")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        for deck, settings in DECKS.items():
            path = os.path.join(source, "inputs", deck)
            options = [o for s in settings + ["balance.processes=16", "balance.clock=work"] for o in ("--set", s)]
            real = summary([program, "run", path, *options], os.path.join(folder, "real_" + deck))
            simulated = summary(
                [os.path.join(source, "scripts", "simulate.sh"), "16", path, *options],
                os.path.join(folder, "simulated_" + deck),
            )
            assert simulated["simulated"] is True and simulated["platform"]["platform"] == "tianhe1a", simulated
            assert simulated["ranks"] == 16 and simulated["wall_seconds"] > 0, simulated
            for key in ("state_hash", "overall_lbe", "energy_last", "particles", "steps"):
                assert simulated[key] == real[key], (deck, key, simulated[key], real[key])
            print(f"{deck}: {real['state_hash']}, {simulated['wall_seconds']:.6f} simulated seconds")
        schedules(os.path.join(source, "scripts", "simulate.sh"), os.path.join(source, "inputs", "tiny.yaml"), folder)


main()
