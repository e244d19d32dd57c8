# SPDX-License-Identifier: MIT
"""Benchpark experiment: strong scaling of a collision. Every number of ranks must give the same state hash."""
from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.programming_model import ProgrammingModel, ProgrammingModelType
from benchpark.scaling import Scaling, ScalingMode


class Steelyard(
    Experiment, ProgrammingModel(ProgrammingModelType.Mpionly, ProgrammingModelType.Openmp), Scaling(ScalingMode.Strong)
):
    variant("workload", default="collision", description="a deck, compared with its expected result")
    variant("version", default="main", values=("main", "latest"), description="version of the program")

    def compute_applications_section(self):
        test = self.spec.satisfies("exec_mode=test")
        self.add_experiment_variable("deck", "tiny" if test else "slab")
        self.add_experiment_variable("steps", 300 if test else 8000)
        self.add_experiment_variable("particles", 20142 if test else 117004, True)
        self.add_experiment_variable("settings", "--set balance.every=20")
        self.add_experiment_variable("n_ranks", 1 if test else 8, True)
        if self.spec.satisfies("+openmp"):
            self.add_experiment_variable("n_threads_per_proc", 2, True)
        self.set_required_variables(
            n_resources="{n_ranks}", process_problem_size="{particles}/{n_ranks}", total_problem_size="{particles}"
        )
        self.register_scaling_config(
            {
                ScalingMode.Strong: {
                    "n_ranks": lambda var, itr, dim, factor: var.val(dim) * factor,
                    "particles": lambda var, itr, dim, factor: var.val(dim),
                }
            }
        )

    def compute_package_section(self):
        self.add_package_spec(self.name, [f"steelyard{self.determine_version()}"])
