#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The time of a rank's core for a nonblocking message, and for copying its bytes into MPI's buffers and out of them.

Measured on two ranks of this machine, in some seconds. scripts/simulate/platform.py charges these costs on a simulated
cluster. Writes results/message_costs/summary.json.
"""
import os

from common import call, mpiexec
from studies import build, options_of


def main():
    options_of(__doc__).parse_args()
    build("bench_message_costs")
    path = "results/message_costs/summary.json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    call([*mpiexec(2), "build/bench/bench_message_costs", path])
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
