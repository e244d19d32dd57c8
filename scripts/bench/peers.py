# SPDX-License-Identifier: MIT
"""Programs beside ours in vs_lammps.py: how each one is built, and how it runs a case.

Cutoff, density, temperature, lattice and time step are the same, and no program shifts the potential. What differs:
* Skin and rebuilds. Peers have a skin of 0.3. They rebuild lists of the melt every 20 steps without a check. LAMMPS
  rebuilds the other lists when a particle has moved 0.15. Our skin is tuned, and a rebuild is never late.
* Arithmetic. LAMMPS's opt, omp and `intel double` compute in doubles, as MD-Bench does for `double`. `intel mixed` has
  pairs in single precision and sums in doubles. `intel single` has all forces in single precision, and MD-Bench for
  `mixed` its positions and velocities too. Ours has pairs in single precision for `mixed`, and exact sums in both.
* Lists. LAMMPS has each pair once, or twice with `newton off`. MD-Bench has it once (half) or twice (full). Ours has it
  twice.
* Velocities. Each program draws its own.
"""
import functools
import glob
import itertools
import os
import re
import shutil
import subprocess
import time
from typing import Callable, NamedTuple

from common import call, fail, mpiexec, read_json, write_json
from studies import PINNED, taken_by_us

# Without -faligned-new, g++ places the buffers of `intel double` against their alignment, and runs end in a signal.
NATIVE_FLAGS = "-O3 -march=native -ffast-math -faligned-new"
MODES = {"mixed": ("mixed", "single"), "double": ("double",)}  # of the package INTEL, by our precision
QUIET = dict(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # options of call(), which prints errors if one ends it
# Parameters of MD-Bench, as in lammps/melt.in. Steps and the size of the box come from the case.
MELT = "rho 0.8442\ntemp 1.44\ndt 0.005\ncutforce 2.5\nskin 0.3\nreneigh_every 20\n"


class Peer(NamedTuple):
    """A program beside ours."""

    title: str
    variants: dict  # name: function of a case, which returns atom-steps per second, of CPU time on one core
    build: dict  # source, compiler and flags
    has: Callable = lambda case: True  # whether the program has a case


def shorter(case, times):
    """The case with so many times fewer steps."""
    return case._replace(warm=max(1, case.warm // times), steps=max(1, case.steps // times))


def trial(peer, case):
    """{variant: rate} of the better of two runs with a quarter of the steps. A single variant is not run."""
    short, turns = shorter(case, 4), 2 if len(peer.variants) > 1 else 0
    return {name: max((run(short) for _ in range(turns)), default=None) for name, run in peer.variants.items()}


def openmpi(ranks):
    """The words that start Debian's LAMMPS on so many ranks."""
    return ["mpiexec.openmpi", "--allow-run-as-root", "-n", ranks]


def lammps(case, program="lmp", words=("-sf", "opt"), start=openmpi, **more):
    """Atom-steps per second of LAMMPS.

    words: Those of its command line that choose the style.  start: Function of ranks, returns the launcher's words.
    more: Variables of its input.
    """
    ranks, command = case.lammps_ranks, [program, *words, "-log", "none"]
    command += ["-in", f"scripts/bench/lammps/{case.kind}.in"]
    for name, value in dict(case.sizes, **more, warm=case.warm, steps=case.steps).items():
        command += ["-var", name, value]
    text = call([*(start(ranks) if ranks > 1 else PINNED), *command], stdout=subprocess.PIPE).stdout
    loop = re.findall(r"Loop time of ([\d.eE+-]+) on \d+ procs for \d+ steps with (\d+) atoms", text)[-1]
    use = float(re.findall(r"([\d.]+)% CPU use", text)[-1]) / 100
    return int(loop[1]) * case.steps / (float(loop[0]) * (use if ranks == 1 else 1))


def about(program):
    """The version of a LAMMPS, and the words of its help, among them the names of all styles."""
    text = call([program, "-h"], stdout=subprocess.PIPE).stdout
    return re.search(r"Simulator - (.*)|$", text)[1], text.split()


def debian():
    """LAMMPS as Debian builds it. Its one style there is also that of the runs with `fix balance`."""
    return Peer("Debian's LAMMPS", {"opt": lammps}, {"source": about("lmp")[0]})


def native(folder, flags, precision):
    """LAMMPS from Debian's source, built for this machine in `folder`, with each style of lj/cut that it has.

    Inputs have `neigh_modify one 500`, because with the default of 2000 a number of INTEL overflows at a million atoms.
    """
    build = built_lammps(folder, flags)
    program = os.path.join(folder, "build", "lmp")
    styles = {"opt": ["-sf", "opt"], "omp": ["-sf", "omp"]}
    for mode, newton in itertools.product(MODES[precision], ("on", "off")):
        words = ["-sf", "intel", "-pk", "intel", "0", "mode", mode, "-var", "newton", newton]
        styles[f"intel {mode}, newton {newton}"] = words
    there = about(program)[1]
    runs = {
        name: functools.partial(lammps, program=program, words=words, start=mpiexec)
        for name, words in styles.items()
        if "lj/cut/" + words[1] in there
    }
    return Peer("native LAMMPS", runs, build)


def built_lammps(folder, flags):
    """The record of the build in `folder`. LAMMPS is built if none there has these flags and is of this processor."""
    record, build = os.path.join(folder, "build.json"), os.path.join(folder, "build")
    wanted = {"flags": flags, "processor": processor()}
    if os.path.exists(record) and wanted.items() <= read_json(record).items():
        return read_json(record)
    for program in ("apt-get", "dpkg-source", "cmake", "ninja", "mpicxx.mpich"):
        if not shutil.which(program):
            fail(f"{program} is not here; on Debian 12, scripts/setup.sh --bench installs it")
    if os.path.exists(folder) and not os.path.exists(record) and os.listdir(folder):
        fail(f"{folder} has no whole build of LAMMPS; remove it, or give another folder by --native-build")
    print(f"builds LAMMPS in {folder}, which takes ten minutes or more", flush=True)
    source, version = debian_source(folder)
    shutil.rmtree(build, ignore_errors=True)
    packages = [f"-DPKG_{name}=on" for name in ("OPT", "OPENMP", "INTEL")]
    off = [f"-DWITH_{name}=off" for name in ("JPEG", "PNG", "GZIP", "FFMPEG")]
    compiler = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=mpicxx.mpich", f"-DCMAKE_CXX_FLAGS_RELEASE={flags}"]
    parts = [*packages, *off, "-DBUILD_MPI=on", "-DBUILD_OMP=on"]
    call(["cmake", "-S", os.path.join(source, "cmake"), "-B", build, "-G", "Ninja", *compiler, *parts], **QUIET)
    call(["nice", "cmake", "--build", build, "--target", "lmp"], **QUIET)
    compiler = call(["mpicxx.mpich", "--version"], stdout=subprocess.PIPE).stdout.splitlines()[0]
    write_json(record, dict(wanted, source=f"lammps {version} of Debian 12", compiler=compiler))
    return read_json(record)


def debian_source(folder):
    """The place and the version of Debian's source of LAMMPS, which is fetched from where this system has its packages.
    Lists of apt lie in `folder` too, so those of the system stay as they are."""
    apt, source = os.path.abspath(os.path.join(folder, "apt")), os.path.join(folder, "source")
    os.makedirs(os.path.join(apt, "lists", "partial"), exist_ok=True)
    targets = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    archive = call(targets, stdout=subprocess.PIPE).stdout.splitlines()[0]
    with open(os.path.join(apt, "sources.list"), "w") as f:
        f.write(f"deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {archive}\n")
    places = [f"Dir::Etc::sourcelist={apt}/sources.list", "Dir::Etc::sourceparts=-"]
    places += [f"Dir::State::lists={apt}/lists", f"Dir::Cache={apt}"]
    command = ["apt-get", "-qq", *(word for place in places for word in ("-o", place))]
    call([*command, "update"], **QUIET)
    call([*command, "source", "--download-only", "lammps"], cwd=folder, **QUIET)
    dsc = max(glob.glob(os.path.join(folder, "*.dsc")), key=os.path.getmtime)
    shutil.rmtree(source, ignore_errors=True)
    call(["dpkg-source", "--no-check", "-x", dsc, source], **QUIET)
    with open(dsc) as f:
        return source, re.search(r"^Version: (\S+)", f.read(), re.MULTILINE)[1]


def processor():
    """Family and model of the processor, and the name that the host gives it."""
    with open("/proc/cpuinfo") as f:
        found = dict(re.findall(r"^(cpu family|model|model name)\s*: (.*)$", f.read(), re.MULTILINE))
    return f"{found.get('model name')}, family {found.get('cpu family')}, model {found.get('model')}"


def md_bench(folder, precision):
    """MD-Bench from its source in `folder`, built there with each of its kernels and widths of vectors."""
    if not os.path.isfile(os.path.join(folder, "config.mk")):
        fail(f"{folder} has no config.mk; give a checkout of MD-Bench (github.com/RRZE-HPC/MD-Bench)")
    kind, variants = {"mixed": "SP", "double": "DP"}[precision], {}
    with open("/proc/cpuinfo") as f:
        widths = ["AVX2", "AVX512"] if "avx512f" in f.read().split() else ["AVX2"]
    place = os.path.abspath(os.path.join(folder, "build"))
    options = ["TOOLCHAIN=GCC", f"DATA_TYPE={kind}", "ENABLE_MPI=false", "ONE_ATOM_TYPE=true", "SORT_ATOMS=true"]
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, "melt.par"), "w") as f:
        f.write(MELT)
    for width in widths:
        for scheme in ("clusterpair", "verletlist"):
            tag = f"steelyard-{scheme}-{width}-{kind}"
            words = [f"SIMD={width}", f"OPT_SCHEME={scheme}", f"TAG={tag}", *options]
            call(["nice", "make", "-C", folder, *words], **QUIET)
            for lists in ("half", "full"):
                program = [f"../MDBench-{tag}", "-p", "melt.par", "-half", int(lists == "half")]
                variants[f"{scheme} {width} {lists}"] = functools.partial(md_bench_rate, place, program)
    git = ["git", "--git-dir", os.path.join(folder, ".git"), "rev-parse", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    build = {"commit": commit, "options": options, "processor": processor()}
    return Peer("MD-Bench", variants, build, lambda c: c.kind == "melt" and c.ranks * c.threads == 1)


def md_bench_rate(place, program, case):
    """Atom-steps per CPU second of MD-Bench. Its program has no warm-up of its own, so a run of the warm-up alone is
    taken off a run of all steps. Both are the program's own seconds, without its set-up, times the use of the core."""
    n, seconds = case.sizes["n"], []
    command = [*PINNED, *program, "-nx", n, "-ny", n, "-nz", n]
    for steps in (case.warm, case.warm + case.steps):
        processor_seconds, start = taken_by_us(), time.monotonic()
        text = call([*command, "-n", steps], cwd=place, stdout=subprocess.PIPE).stdout
        use = (taken_by_us() - processor_seconds) / (time.monotonic() - start)
        seconds.append(use * float(re.search(r"TOTAL ([\d.]+)s", text)[1]))
    resolution = 0.01  # of what the program prints
    return 4 * n**3 * case.steps / max(seconds[1] - seconds[0], resolution)
