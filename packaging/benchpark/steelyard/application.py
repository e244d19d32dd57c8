# SPDX-License-Identifier: MIT
"""Ramble application: one deck, its state hash in the table of expected results, and the figure of merit."""
from ramble.appkit import (
    ExecutableApplication,
    executable,
    figure_of_merit,
    required_package,
    success_criteria,
    tags,
    workload,
    workload_variable,
)

INPUTS = "{steelyard_path}/share/steelyard/inputs"


class Steelyard(ExecutableApplication):
    """Molecular dynamics with dynamic load balancing"""

    name = "steelyard"

    tags("molecular-dynamics", "load-balancing", "mini-app", "mpi", "c++", "openmp")

    required_package("steelyard", package_manager="spack*")

    executable(
        "run",
        "{steelyard_path}/bin/steelyard run "
        + INPUTS
        + "/{deck}.yaml --out out --force --set run.steps={steps} --set run.precision=mixed {settings}",
        use_mpi=True,
    )
    # Prints the row of the table with the state hash of the run, and fails if there is none.
    executable(
        "compare",
        'grep "^{deck},.*,{steps},mixed,$(sed -n \'s/.*"state_hash": "\\(.*\\)".*/\\1/p\' out/summary.json)," '
        + INPUTS
        + "/expected.csv",
        use_mpi=False,
    )
    workload("collision", executables=["run", "compare"])
    workload_variable("deck", default="tiny", description="deck in share/steelyard/inputs", workloads=["collision"])
    workload_variable("steps", default="300", description="steps with a row in expected.csv", workloads=["collision"])
    workload_variable("settings", default="", description="more options of steelyard run", workloads=["collision"])

    figure_of_merit("FOM", fom_regex=r"FOM: (?P<fom>[0-9.e+]+) atom-steps/s", group_name="fom", units="atom-steps/s")
    success_criteria("state hash", mode="string", match=r"^[\w/]+,\d+,\d+,mixed,[0-9a-f]+,")
