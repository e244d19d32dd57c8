# SPDX-License-Identifier: MIT
"""Spack recipe. docs/packaging.md has the commands."""
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import Executable, conflicts, depends_on, license, on_package_attributes, run_after, variant, version


class Steelyard(CMakePackage, CudaPackage):
    """Molecular-dynamics mini-app to study dynamic load balancing under MPI and OpenMP."""

    # The checkout that has this recipe: there is no public address yet.
    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
    tags = ["proxy-app"]

    license("MIT")

    version("main", branch="main")  # a release will add its tag

    variant("graphs", default=True, description="Partitions by METIS and Scotch, with numbers of 32 bits")

    depends_on("c", type="build")  # CMake's search for HDF5 compiles C
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10:")
    depends_on("hwloc@2:")
    depends_on("fmt@9:")
    depends_on("yaml-cpp@0.7:")
    depends_on("xxhash@0.8.1:")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("metis@5: ~int64~real64", when="+graphs")
    depends_on("scotch@7: ~int64", when="+graphs")
    depends_on("python@3.9:", type="run")  # report.py

    conflicts("%gcc@:11", msg="needs C++20: g++ 12 or newer")
    conflicts("%clang@:13", msg="needs C++20: clang 14 or newer")

    def cmake_args(self):
        args = [
            self.define("STEELYARD_TESTS", False),
            self.define("STEELYARD_CUDA", self.spec.satisfies("+cuda")),
            self.define_from_variant("STEELYARD_GRAPHS", "graphs"),
            self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx),
        ]
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    def test_selftest(self):
        """two decks with each set of kernels, and a restart"""
        Executable(self.prefix.bin.steelyard)("selftest")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        self.test_selftest()
