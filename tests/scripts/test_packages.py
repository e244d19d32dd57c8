# SPDX-License-Identifier: MIT
"""Checks that scripts/setup.sh names every Debian package that a build and the scripts use.

A package that somebody installed for another purpose hides that the list lacks it. So the test asks for the packages of
the files that were used. Headers come from the compiler's dependency files, libraries from the links, programs from
CMake's cache, and modules from the imports of the Python sources. Each package must be in the list, or a listed one
must depend on it.
"""
import ast
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import pytest

from program import HANG_SECONDS, SOURCE, options

BUILD = os.path.dirname(options.binary)
# ASKED: options of setup.sh for packages of the default tests. WHERE_FOUND: options for programs that CMake may find.
ASKED = ["--format", "--browser"]
WHERE_FOUND = ["--bench", "--slow", "--slurm", "--sanitize", "--simulate", "--bare", "--arm"]
# setup.sh does not install compilers for devices, because Debian does not have them.
FOREIGN = ("/usr/local/cuda", "/opt/")
# Modules that a script can do without, and says so.
OPTIONAL = {"MDAnalysis", "ParaView", "paraview", "xdist"}
TARGETS = ("steelyard", "replay_messages", "test_engine")


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_SECONDS).stdout.splitlines()


def listed(kind):
    asked = ASKED + (WHERE_FOUND if kind is programs else [])
    return set(lines(os.path.join(SOURCE, "scripts/setup.sh"), *asked, "--names"))


class Installed:
    """The packages of this machine: which of them has a file, and which others each depends on."""

    def __init__(self):
        self.owner = {}
        for name in glob.glob("/var/lib/dpkg/info/*.list"):
            package = os.path.basename(name)[: -len(".list")].split(":")[0]
            with open(name) as f:
                for path in f.read().splitlines():
                    self.owner[path] = package
        self.needs, self.provided, self.always = {}, {}, set()
        form = "${Package}\t${Essential}\t${Priority}\t${Depends}, ${Pre-Depends}\t${Provides}\n"
        for row in lines("dpkg-query", "-W", "-f", form):
            package, essential, priority, depends, provides = row.split("\t")
            self.needs[package] = [re.findall(r"(?:^|\|) *([a-z0-9.+-]+)", group) for group in depends.split(",")]
            if essential == "yes" or priority == "required":
                self.always.add(package)
            for name in re.findall(r"[a-z0-9.+-]+(?= *(?:\(|,|$))", provides):
                self.provided.setdefault(name, set()).add(package)

    def package_of(self, path):
        """The package that the file came with, or None."""
        for name in (path, os.path.realpath(path)):
            for form in (name, name.removeprefix("/usr"), "/usr" + name):
                if form in self.owner:
                    return self.owner[form]
        return None

    def closure(self, packages):
        """The packages, all that they depend on, and what every Debian has."""
        found, open_ones = set(), list(packages | self.always)
        while open_ones:
            package = open_ones.pop()
            if package in found:
                continue
            found.add(package)
            for alternatives in self.needs.get(package, []):
                there = [name for name in alternatives if name in self.needs]
                open_ones += there[:1] or [p for name in alternatives for p in sorted(self.provided.get(name, []))][:1]
        return found


def headers():
    return set(re.findall(r"^    (/.*)$", "\n".join(lines("ninja", "-C", BUILD, "-t", "deps")), re.M))


def libraries():
    inputs = {p for t in TARGETS for p in lines("ninja", "-C", BUILD, "-t", "inputs", t) if p.startswith("/")}
    return inputs | set(re.findall(r"=> (/.+) \(0x", "\n".join(lines("ldd", options.binary))))


def programs():
    """The programs that CMake found, and the interpreters and launchers of scripts."""
    with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
        found = re.findall(r"^[^#/\n][^=\n]*:(?:FILEPATH|INTERNAL|STRING)=(/\S*/bin/\S+)$", f.read(), re.M)
    found += [shutil.which(name) for name in ("bash", "ctest", "mpiexec.mpich", "gpmetis", "graphchk", "chromedriver")]
    return {path for path in found if path and os.path.isfile(path)}


def imports(path):
    with open(path) as f:
        for node in ast.walk(ast.parse(f.read())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield node.module.split(".")[0]


def modules():
    """The files of the modules outside Python's own library that scripts and tests import."""
    folders = ("scripts", "tests", "python", "examples")
    sources = [p for folder in folders for p in glob.glob(f"{SOURCE}/{folder}/**/*.py", recursive=True)]
    ours = {os.path.basename(p)[:-3] for p in sources} | {os.path.basename(os.path.dirname(p)) for p in sources}
    names = {name for path in sources for name in imports(path)} - ours - set(sys.stdlib_module_names) - OPTIONAL
    specs = {name: importlib.util.find_spec(name) for name in names}
    missing = sorted(name for name, spec in specs.items() if spec is None)
    assert not missing, f"modules that are imported and not installed: {missing}"
    return {spec.origin for spec in specs.values()}


def unlisted(files, packages, installed):
    """package or path: one of its files, for what is neither listed nor comes with what is listed."""
    allowed, wrong = installed.closure(packages), {}
    for path in sorted(files):
        if path.startswith((SOURCE + "/", BUILD + "/", *FOREIGN)):
            continue
        package = installed.package_of(path)
        if package not in allowed:
            wrong.setdefault(package or path, path)
    return wrong


@pytest.fixture(scope="module")
def installed():
    if not shutil.which("dpkg-query") or not os.path.exists(os.path.join(BUILD, "build.ninja")):
        pytest.skip("needs Debian's package manager and a build by ninja")
    return Installed()


@pytest.mark.parametrize(
    "kind, some",
    [(headers, ["libcli11-dev", "nlohmann-json3-dev"]), (libraries, ["libmetis-dev"])]
    + [(programs, ["ninja-build"]), (modules, ["python3-pytest"])],
)
def test_packages(installed, kind, some):
    """All packages in use are listed; one that the list lacks is found."""
    files, packages = kind(), listed(kind)
    assert len(files) > 3, f"only {files} were found"
    assert unlisted(files, packages, installed) == {}
    assert all(package in unlisted(files, packages - {package}, installed) for package in some)
