# SPDX-License-Identifier: MIT
"""From a run to a figure: run_to_figure.py [OUT]. The marks %% begin the cells of a notebook."""
# %% A collision on two ranks, which writes the cost of each cell every five steps.
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import steelyard  # noqa: E402

source = pathlib.Path(__file__).resolve().parents[2]
out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/python")
settings = {"run.steps": 300, "output.loads_every": 5}
run = steelyard.run(source / "inputs/tiny.yaml", out / "run", 2, settings, options=["--force"])
print(f"{run.summary['particles']} particles, {run.summary['wall_seconds']:.1f} s")

# %% The loads, balanced again on 24 processes, by four contenders.
compare = ["a1", dict(name="rcb", model="r1", partition="rcb"), dict(name="fixed", model="r1", partition="none")]
found = steelyard.replay(out / "run/loads.h5", 24, criterion="every", compare=compare)
print(found)

# %% The LBE of each over time, and the owners of all cells at the end.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
for name, lbe in found.lbe.items():
    rows = found[name]
    left.plot(rows["step"], 100 * rows["lbe"], label=f"{name}: {100 * lbe:.1f} %")
left.set(xlabel="step", ylabel="LBE, %", title="load balance efficiency")
left.legend()
right.imshow(found.owners["r1"][-1], origin="lower", cmap="tab20", interpolation="nearest")
right.set(xlabel="x, cells", ylabel="y, cells", title="processes at the end")
figure.savefig(out / "figure.png", dpi=120, bbox_inches="tight")
print(out / "figure.png")
