#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A load series for balancers of one's own: the collision of load_models.py, test 2, coarsened to patches.

The experiment runs from t = 1 to t = 2 and records the cost of every cell every 5 steps (counted work). The cells of
each patch are summed. results/load_series/ then holds the series and a README about it. steelyard replay reads the
series.

  (default):  1140 x 1140 cells in patches of 5 x 5 (228 x 228), 5.46 million particles, for 2400 processes. Some 15
              minutes and 2 GB of disk.
  --quick:    A strip of 1140 x 114 cells, for 240 processes. A minute.

The processes' times are sums over their patches; no time was measured.
"""
import re

from common import mpiexec
from plotting import h5py, np
from studies import build, options_of, steelyard

OUT, BLOCK = "results/load_series", 5  # cells of a patch along each axis
README = """# {name}: a load series

Two softened slabs collide in two dimensions ({particles:,} particles, {deck} of Steelyard, seed 42);
their load is drawn into a narrow zone, which spreads from one entry to the next. scripts/reproduce/load_series.py of
Steelyard made it.

{name}.h5 is an HDF5 file with datasets of [t, ny, nx] = {shape}:

| name | meaning |
|---|---|
| load | seconds that a step costs in the patch, by counted work: {costs} |
| particles | particles in the patch |
| step [t] | time step, from {first} to {last}; dt = {dt} |

A patch is {block} x {block} cells of 2.5 sigma. The experiment shares the cells among {processes} processes and
balances at every entry. All axes are periodic. Times of processes are sums of loads over patches; nothing was measured.
At first the dearest patch costs {largest:.1f} times the mean of all.

    steelyard replay {name}.h5 --out out/{name} --set balance.processes={processes}
"""


def coarsened(source, target, block):
    """Sums over patches of block x block cells; the last ones along an axis may be smaller."""

    def sums(field):
        for axis in (0, 1):
            field = np.add.reduceat(field, np.arange(0, field.shape[axis], block), axis=axis)
        return field

    with h5py.File(source) as cells, h5py.File(target, "w") as patches:
        patches.attrs.update({k: cells.attrs[k] for k in ("boundary", "box")})
        for name in ("load", "particles"):
            field = cells[name]
            shape = (len(field), *(-(-n // block) for n in field.shape[1:]))
            kind = field.dtype if name == "load" else "i8"
            made = patches.create_dataset(name, shape, kind, chunks=(1, *shape[1:]), compression="gzip", shuffle=True)
            for t in range(len(field)):
                made[t] = sums(field[t].astype(kind))
        for name in ("step", "time"):
            patches[name] = cells[name][:]
        load, steps, particles = patches["load"], patches["step"], int(patches["particles"][0].sum())
        largest = float(load[0].max() / load[0].mean())
        return dict(shape=list(load.shape), first=steps[0], last=steps[-1], particles=particles, largest=largest)


def main():
    parser = options_of(__doc__)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    build("steelyard")
    name, processes = ("lbe240", 240) if arguments.quick else ("lbe2400", 2400)
    deck, cells, first = f"inputs/{name}.yaml", f"{OUT}/cells_{name}", f"{OUT}/first_{name}"
    plain, how = ["balance.every=0", "balance.compare=[]"], dict(start=mpiexec(2), keep=True)
    steelyard("run", deck, out=first, settings=[*plain, "run.steps=1000", "checkpoint.every=1000"], **how)
    series = [*plain, "run.steps=2000", "run.dt=1e-3", "output.loads_every=5", "output.fields_every=0"]
    steelyard("run", deck, "--restart", f"{first}/checkpoint_1000.h5", out=cells, settings=series, **how)
    found = coarsened(f"{cells}/loads.h5", f"{OUT}/{name}.h5", BLOCK)
    with open(deck) as f:
        costs = re.search(r"work: \{(.*)\}", f.read()).group(1)
    values = dict(name=name, deck=deck, processes=processes, block=BLOCK, dt=1e-3, costs=costs, **found)
    with open(f"{OUT}/README_{name}.md", "w") as f:
        f.write(README.format(**values))
    print(f"wrote {OUT}/{name}.h5\nwrote {OUT}/README_{name}.md")


if __name__ == "__main__":
    main()
