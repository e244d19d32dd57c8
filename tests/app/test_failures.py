# SPDX-License-Identifier: MIT
"""An error of one rank ends the job.

Groups: parents, unlike_ranks, agreed_errors (--tool COMPILER), faults (--binary steelyard_faults).
docs/reliability.md lists what each part covers.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest

from program import DECK, HANG_SECONDS, QUICK, SOURCE, checkpoints, command, end_of, environment, fresh, once
from program import options, processes_of, run, run_words, settings, start, summary, under_way, wait_until, written


ONWARD = dict(**QUICK, run__steps=3000, output__every=20)


@pytest.mark.group("parents")
def test_outlives_a_shell(tmp):
    """A run in the background of a shell that ends goes on to its last step."""
    out = tmp / "shell"
    line = " ".join(f"'{w}'" for w in command(0, *run_words(out, **ONWARD)))
    waiting = f"until [ -s {out}/thermo.csv ]; do sleep 0.02; done"
    words = ["sh", "-c", f"{line} </dev/null >/dev/null 2>&1 & {waiting}"]
    subprocess.run(words, env=environment(), timeout=HANG_SECONDS, check=True)
    assert wait_until((out / "summary.json").exists, 60), "the run ended with the shell that started it"
    assert summary(out)["steps"] == 3000


def test_outlives_a_thread(tmp):
    """The same where a thread started the run and ended."""
    started = []
    thread = threading.Thread(target=lambda: started.append(under_way(0, tmp, **ONWARD)))
    thread.start()
    thread.join()
    end_of(started[0], "a run that a thread started", 0)


def parent_of(process):
    with open(f"/proc/{process}/stat") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


def long_run(out, ranks):
    return under_way(ranks, out, **QUICK, output__every=20)


@pytest.mark.parametrize("ranks", (1, 2, 3))
def test_launcher_goes(tmp, ranks):
    """The process that started the ranks is killed: a checkpoint, and no process is left."""
    process = long_run(tmp, ranks)
    (parent,) = {parent_of(p) for p in processes_of(tmp)}
    os.kill(parent, signal.SIGKILL)
    assert wait_until(lambda: not processes_of(tmp), 28), "the ranks outlive their launcher"
    end_of(process, "mpiexec without its proxy")
    assert len(checkpoints(tmp)) == 1


@pytest.mark.skipif(not options.full, reason="it takes 40 s")
def test_no_end_without_launcher(tmp):
    """A rank that can't reach its checkpoint, because another one stands still, is killed after 30 s."""
    out = tmp / "stuck"
    process = long_run(out, 2)
    ranks = processes_of(out)
    proxy = parent_of(ranks[0])
    os.kill(ranks[1], signal.SIGSTOP)
    os.kill(proxy, signal.SIGKILL)
    time.sleep(20)
    assert ranks[0] in processes_of(out), "a rank was killed before its 30 s were over"
    assert wait_until(lambda: ranks[0] not in processes_of(out), 25), "a rank without launcher is not killed after 30 s"
    os.kill(ranks[1], signal.SIGCONT)
    assert wait_until(lambda: not processes_of(out), 60), "a rank that stood still outlives its launcher"
    end_of(process, "mpiexec without its proxy")


ELSEWHERE = "mkdir -p elsewhere; cd elsewhere"
FROM_FILE = settings(load__kind="checkpoint", load__file="here.h5")
first = once(ranks=2, **QUICK, run__steps=4, checkpoint__every=4)


@pytest.mark.group("unlike_ranks")
@pytest.mark.parametrize("ranks", (2, 3))
@pytest.mark.parametrize(
    "rank_1, code, says, command, more",
    [
        (ELSEWHERE, 3, "rank 1: here.h5", "predict", ["--machine", "{tmp}/machine.yaml", *FROM_FILE]),
        (ELSEWHERE, 3, "here.h5", "partition", FROM_FILE),
        (ELSEWHERE, 3, "rank 1: here.h5: this rank sees no such file", "run", ["--restart", "here.h5"]),
        ("export STEELYARD_ISA=none", 2, "rank 1: STEELYARD_ISA", "run", []),
    ],
)
def test_unlike_ranks(first, tmp, ranks, rank_1, code, says, command, more):
    """Ranks that see another file system, another processor, another machine: one line and the right code, no hang."""
    shutil.copy(first / "checkpoint_4.h5", tmp / "here.h5")
    (tmp / "machine.yaml").write_text("costs: deck\n")
    script = written(tmp / "apart.sh", f'#!/bin/sh\n[ "$PMI_RANK" = 1 ] && {{ {rank_1}; }}\nexec "$@"\n')
    os.chmod(script, 0o755)
    words = [command, first / "deck.yaml", *(m.format(tmp=tmp) for m in more), "--out", tmp / "out", "--quiet"]
    process = start(ranks, words=[options.mpiexec, "-n", ranks, script, options.binary, *words], cwd=tmp)
    end_of(process, rank_1, code, says)


COMMON = ["run", DECK, "--out", "out", "--quiet", *settings(**QUICK)]


@pytest.mark.parametrize(
    "other", [[*COMMON, *settings(run__steps=7)], [*COMMON, *settings(system__seed=9)], ["check", DECK], ["--help"]]
)
def test_unlike_commands(tmp, other):
    """A launcher can give each rank a command line of its own: one line, no hang, no result of two decks."""
    parts = [options.mpiexec, "-n", 1, options.binary, *COMMON, ":", "-n", 1, options.binary, *other]
    end_of(start(2, words=parts, cwd=tmp), other, 2, "command line: it is not the same on all ranks")
    assert not (tmp / "out").exists()


def error_types():
    """All classes of exceptions of the product, with their headers."""
    found, bases = {}, {"std::runtime_error", "std::logic_error", "std::exception", "std::invalid_argument"}
    texts, templates = {}, set()
    for room in ("app", "balance", "comm", "gpu", "md", "predict"):
        for path in glob.glob(f"{room}/**/*.[hc]pp", root_dir=SOURCE, recursive=True):
            with open(os.path.join(SOURCE, path)) as f:
                texts[path] = f.read()
    before = -1
    while before != len(found):
        before = len(found)
        for path, text in texts.items():
            for m in re.finditer(r"(?:struct|class) (\w+)(?: final)? : (?:public )?([\w:]+)[ ,{<]", text):
                name, base = m.groups()
                if base in bases:
                    space = re.findall(r"^namespace (\w+) {", text[: m.start()], re.M)[-1]
                    found[f"{space}::{name}"] = path
                    bases |= {name, f"{space}::{name}"}
                    if re.search(r"template <.*>\n$", text[: m.start()]):
                        templates.add(f"{space}::{name}")
    return {name: path for name, path in found.items() if name not in templates}


def compiled(tmp, headers, lines):
    """The compiler's messages about these lines; empty if it takes them."""
    includes = "".join(f'#include "{h}"\n' for h in sorted({"comm/agreed.hpp", *headers}))
    (tmp / "source.cpp").write_text(includes + "\n".join(["#line 1", *lines, ""]))
    words = [options.tool, "-std=c++20", "-fsyntax-only", f"-I{SOURCE}", tmp / "source.cpp"]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=HANG_SECONDS)
    assert (done.returncode == 0) == (done.stderr == ""), f"the compiler: {done.returncode} {done.stderr}"
    return done.stderr


KNOWN = {f"app::{name}Error" for name in ("Run", "Usage", "Input", "Output", "Deck")}
KNOWN |= {"comm::ReadError", "comm::WriteError", "md::SimulationError", "gpu::Error", "balance::Infeasible"}


@pytest.mark.group("agreed_errors")
@pytest.mark.parametrize("threads", ("abc", "0", "-1", "99999", "1.5,2"))
def test_threads(tmp, threads):
    """Of a run a rank may have 1 to 4096, and the first number of a list counts."""
    variables = dict(OMP_NUM_THREADS=threads)
    got, text = run(2, *run_words(tmp / "out"), variables=variables)
    line = f"steelyard: error: OMP_NUM_THREADS: '{threads.partition(',')[0]}' is no number of threads from 1 to 4096"
    assert got == 2 and line in text and not (tmp / "out").exists(), text


def test_agreed_errors(tmp):
    """An error that all ranks throw is made by a reduction: no type of exception has another way."""
    types = error_types()
    assert KNOWN <= set(types), f"types of exceptions are not found: {types}"
    headers = set(types.values())
    by_reduction = [
        f"void f{i}(const comm::Communicator& all, const {t}& e) {{ comm::require(all, false, [&] {{ return e; }}); }}"
        for i, t in enumerate(types)
    ]
    said = compiled(tmp, headers, by_reduction)
    assert said == "", f"errors that are agreed on do not compile: {said}"
    claims = [f"void f{i}(const {t}& e) {{ throw comm::Agreed<{t}>(e, 2); }}" for i, t in enumerate(types)]
    claims += [f"void g{i}(const {t}& e) {{ throw comm::Agreed<{t}>{{e, 2}}; }}" for i, t in enumerate(types)]
    claims.append("struct Claim : comm::ThrownByAll { Claim() : comm::ThrownByAll(2) {} };")
    said = compiled(tmp, headers, claims)
    for number, line in enumerate(claims, start=1):
        refused = re.search(rf"source\.cpp:{number}:\d+: error: .*private", said)
        assert refused is not None, f"this compiles, or fails for another reason: {line}\n{said}"


# Functions of comm/ that act on a communicator: members of these classes, and whatever is given one.
COLLECTIVE = re.compile(
    r"^comm::(Communicator|Reduction|Exchange|FileReader|FileWriter|FrameFile|FieldSeriesReader)::|Communicator const&"
)
# Those that must not throw, or that no command of the program calls.
EXEMPT = {
    r"::~": "destructors do not throw",
    r"^comm::Reduction::Reduction\(comm::Reduction&&\)$": "does not throw",
    r"^comm::(Descriptor::close|Session::end)\(": "destructors call them",
    r"^comm::FrameFile::forget\(": "of a file that vanished; nothing collective is in it",
    r"::in_pieces_of\(": "a copy, for tests; the compiler sees that it does not throw",
    r"^comm::(Session::Session|launched)\(": "before MPI there is no job to end",
    r"^comm::from_mpi\(": "for programs that bring an MPI communicator",
    r"^comm::(fatal|print_error|end_job|thrown_by_all)\(": "the ways out",
    r"^comm::(now|cpu_seconds|thread_cpu_seconds|thread_clock_resolution|simulated_\w+|compute)\(": "clocks",
}


def symbols(*more):
    words = ["nm", "--defined-only", *more, options.binary]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def functions_of_comm():
    """The functions that comm/ defines: names by symbols. If a function has several symbols (constructors), the
    first."""
    found, places = {}, set()
    for plain, shown in zip(symbols(), symbols("-C")):
        place, kind, symbol = plain.split()
        name = shown.split(maxsplit=2)[2]
        if kind == "T" and name.startswith("comm::") and place not in places:
            places.add(place)
            found[symbol] = name
    return found


OFTEN = {f"output__{name}every": n for name, n in (("", 4), ("trajectory_", 2), ("fields_", 4), ("loads_", 2))}
OFTEN |= dict(run__steps=8, checkpoint__every=4, balance__every=4, balance__clock="work", balance__migrate="always")
OFTEN |= dict(balance__speeds="measured", comm__aggregate="node")


def scenarios(tmp):
    """Commands that together call all of comm/: name -> arguments. Each has a directory of its own."""
    first, quick = os.path.join(tmp, "first"), settings(**QUICK)
    fields = settings(load__kind="dataset", load__file=f"{first}/fields_4.h5", load__dataset="/particles")
    base = settings(**QUICK, **OFTEN)
    (tmp / "machine.yaml").write_text("costs: deck\n")
    return {
        "run": ["run", DECK, *base, "--trace-messages", tmp / "trace.csv", "--force"],
        "restart": ["run", DECK, *base, *settings(run__steps=12), "--restart", "auto"],
        "partition": ["partition", DECK, *quick, *fields, "--force"],
        "replay": ["replay", f"{first}/loads.h5", "--force", *settings(balance__processes=4)],
        "predict": ["predict", DECK, *quick, "--machine", tmp / "machine.yaml", "--force"],
        "measure": ["predict", DECK, *quick, "--force"],
    }


def calls_of(tmp, name, arguments):
    """For each symbol that a command calls: a rank (1, or else 0), the number of calls, the first call from each
    place."""
    log = os.path.join(tmp, f"calls_{name}")
    end_of(start(2, *arguments, variables={"CALLS": log}), f"{name} without a fault", 0)
    names = dict(line.split()[::-2] for line in symbols())  # symbol -> place; the system may name another of them
    first = {place: symbol for symbol, place in reversed(names.items())}
    calls = {}
    for rank in (0, 1):
        with open(f"{log}.{rank}") as f:
            calls |= {first[names[words[0]]]: [rank, *map(int, words[1:])] for words in map(str.split, f)}
    return calls


def fault(tmp, arguments, rank, symbol, call, kind, what):
    """This call on a rank throws: the job ends, with one line and the code of that error.

    It does so at once, but where MPI_Abort hangs, as it does now and then, an alarm ends the rank 10 s later.
    """
    mark = tmp / "mark"
    mark.unlink(missing_ok=True)
    process = start(2, *arguments, variables={"FAULT": f"{rank} {symbol} {call} {kind} {mark}"})
    wait_until(lambda: mark.exists() or process.poll() is not None, 60)
    text = end_of(process, what, *((4, "memory: not enough") if kind == "memory" else (1, "on purpose")))
    assert mark.exists(), f"{what}: the fault was not made"
    return text


@pytest.mark.group("faults")
def test_faults(tmp):
    names = functions_of_comm()
    wanted = {s: n for s, n in names.items() if options.full or COLLECTIVE.search(n)}
    wanted = {s: n for s, n in wanted.items() if not any(re.search(pattern, n) for pattern in EXEMPT)}
    assert len(wanted) > 30, f"functions of comm/ are not found: {sorted(wanted.values())}"
    out, first, commands, calls = tmp / "out", tmp / "first", scenarios(tmp), {}

    def prepared(name):
        fresh(out)
        for trace in tmp.glob("*.csv"):
            trace.unlink()
        if name == "restart":
            shutil.copytree(first, out)
        return [*commands[name], "--out", out, "--quiet"]

    for name in commands:
        calls[name] = calls_of(tmp, name, prepared(name))
        if name == "run":
            shutil.copytree(out, first)
    done, slowest = 0, 0.0
    for i, (symbol, function) in enumerate(sorted(wanted.items())):
        name = next((n for n in commands if symbol in calls[n]), None)
        missing = f"no command here calls {function}: add one, or say in EXEMPT why not"
        assert name is not None or not COLLECTIVE.search(function), missing
        rank, count, *places = calls[name][symbol] if name else (0, 0)
        for call in places if options.full or not name else [(count + 1) // 2]:
            kind = "memory" if (i + call) % 2 else "error"
            begin = time.monotonic()
            what = f"{name}: call {call} of {count} of {function}, {kind}"
            fault(tmp, prepared(name), rank, symbol, call, kind, what)
            slowest = max(slowest, time.monotonic() - begin)
            done += 1
    print(f"{done} faults in {len(wanted)} functions; the slowest job took {slowest:.1f} s")


def test_a_sample_fails(tmp):
    """An error in the engine that one rank of `steelyard predict` runs alone is known to all ranks."""
    arguments = scenarios(tmp)["predict"]
    symbol = next(s for s, name in functions_of_comm().items() if name.startswith("comm::Exchange::start("))
    for kind in ("memory", "error"):
        out = fresh(os.path.join(tmp, "out"))
        text = fault(tmp, [*arguments, "--out", out, "--quiet"], 1, symbol, 1, kind, f"a sample that fails, {kind}")
        assert "error: rank 1: " in text, f"the rank that failed is not named: {text!r}"
