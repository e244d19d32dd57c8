# SPDX-License-Identifier: MIT
"""ReFrame check of an installed steelyard: a deck on some ranks has the state hash of inputs/expected.csv. Its figure
of merit is the performance. -S ranks=64 -S deck=slab and the site's configuration choose the size and the environment.
"""
import csv
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import performance_function, run_before, sanity_function, variable

INPUTS = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../inputs"))


@rfm.simple_test
class SteelyardCheck(rfm.RunOnlyRegressionTest):
    deck = variable(str, value="tiny")
    ranks = variable(int, value=2)
    descr = "Steelyard: state hash and figure of merit"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    executable = "steelyard"

    @run_before("run")
    def take_the_longest_run_in_the_table(self):
        with open(os.path.join(INPUTS, "expected.csv")) as table:
            rows = [row for row in csv.DictReader(table) if (row["deck"], row["precision"]) == (self.deck, "mixed")]
        row = max(rows, key=lambda r: int(r["steps"]))
        self.expected = row["state_hash"]
        self.num_tasks = self.ranks
        settings = [f"run.steps={row['steps']}", "run.precision=mixed", "balance.every=20"]
        self.executable_opts = ["run", os.path.join(INPUTS, f"{self.deck}.yaml"), "--out", "out", "--force"]
        self.executable_opts += [word for setting in settings for word in ("--set", setting)]

    @sanity_function
    def state_hash_is_as_expected(self):
        found = sn.extractsingle(r'"state_hash": "(\w+)"', "out/summary.json", 1)
        return sn.assert_eq(found, self.expected)

    @performance_function("atom-steps/s")
    def fom(self):
        return sn.extractsingle(r"FOM: (\S+) atom-steps/s", self.stdout, 1, float)
