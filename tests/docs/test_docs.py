#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Checks README and docs, and runs their commands: test_docs.py BUILD MPIEXEC SOURCE [--full].

Every command must have an entry in commands.py. They run in a copy of the source tree, page after page, in the order
of the text. Without --full long runs are shortened and slow commands are left out. Links, deck keys, options, scripts
and names STEELYARD_... in the text must exist.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from commands import COMMANDS, OTHER_OPTIONS

problems = []


def problem(page, line, what):
    problems.append(f"{page}:{line}: {what}")


def read(name):
    with open(name) as f:
        return f.read()


def blocks(lines):
    """(number of the first line, language or "indented", lines) of the code blocks of a page."""
    i = 0
    while i < len(lines):
        start, fence = i, re.match(r" {0,3}```+(\w*)", lines[i])
        i += 1
        if fence:
            while i < len(lines) and not lines[i].lstrip().startswith("```"):
                i += 1
            yield start + 2, fence[1], lines[start + 1 : i]
            i += 1
        elif re.match(r"    \S", lines[start]) and (start == 0 or re.match(r"\s*$|#", lines[start - 1])):
            while i < len(lines) and lines[i].startswith("    "):
                i += 1
            yield start + 1, "indented", [line[4:] for line in lines[start:i]]


def entry_of(command, used):
    for number, entry in enumerate(COMMANDS):
        if re.match(entry[1], command):
            used.add(number)
            return entry


def commands_of(page, lines, used):
    """The commands of a page, Python blocks and those in inline code among them: (line, text, entry). And its inline
    code."""
    commands, prose = [], list(lines)

    def add(line, command):
        command = re.sub(r"(^|\s)#\s.*$", "", command).strip()
        entry = entry_of(command, used)
        if entry:
            commands.append((line, command, entry))
        elif command:
            problem(page, line, f"`{command}` is in no group: give it an entry in tests/docs/commands.py")

    for first, language, block in blocks(lines):
        prose[first - 1 : first + len(block) - 1] = [""] * len(block)
        if language == "":
            problem(page, first - 1, "a block without a language: write ```sh for commands, ```text for other text")
        elif language == "python":
            code = "\n".join(block)
            commands.append(
                (
                    first,
                    "python3: " + block[0],
                    ("slow" if re.search("MDAnalysis|paraview", code) else "quick", code, {}, {}),
                )
            )
        elif language in ("sh", "bash") or language == "indented" and (entry_of(block[0], used) or [""])[0] != "text":
            start, joined = first, ""
            for line, row in enumerate(block, first):
                start = start if joined else line
                joined += row.rstrip().removesuffix("\\").strip() + " "
                if not row.rstrip().endswith("\\") or row is block[-1]:
                    add(start, joined)
                    joined = ""
    code = []
    for found in re.finditer(r"`([^`\n]+(\n[^`\n]+)*)`", re.sub("(?m)^ *```.*$", "", "\n".join(prose))):
        line = 1 + found.string.count("\n", 0, found.start())
        code.append((line, " ".join(found[1].split())))
        if re.match("build/steelyard [^<]*$", code[-1][1]):
            add(*code[-1])
    return sorted(commands, key=lambda c: c[0]), code


def check_links(page, lines):
    for line, row in enumerate(lines, 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", row)):
            if not re.match(r"[a-z]+:", target):
                path, _, anchor = target.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if not os.path.exists(path):
                    problem(page, line, f"the link {target} leads to nothing")
                elif anchor:
                    headings = re.findall(r"^#+ (.*)$", read(path), re.M)  # GitHub's anchors:
                    if anchor not in {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}:
                        problem(page, line, f"{path} has no section #{anchor}")


def keys_of(*arguments):
    """The dotted names of all keys in the effective deck that `steelyard check` prints; slabs without their numbers."""
    names, above = set(), []
    for row in subprocess.check_output(["build/steelyard", "check", *arguments], text=True).splitlines():
        key = re.match(r"([ -]*)(\w+):", row)
        if key:
            above = [a for a in above if a[0] < len(key[1])] + [(len(key[1]), key[2])]
            names.add(".".join(name for _, name in above))
    return names


def check_names(spans, source):
    """Deck keys, options, scripts and STEELYARD_... names exist in spans: (page, line, inline code or command)."""
    others = (
        "system.potential.kind=mie",
        "load.kind=uniform",
        "load={kind: dataset, file: a.h5}",
    )  # keys that not all decks have
    keys = keys_of("inputs/tiny.yaml").union(*(keys_of("inputs/tiny.yaml", "--set", s) for s in others))
    sections = "|".join({name for key in keys for name in key.split(".")[:-1]})
    scripts = {s for _, _, code in spans for s in re.findall(r"scripts/[\w/]+\.sh", code) if os.path.exists(s)}
    helps = {
        p: execute([*p.split(), "--help"], 60)[0]
        for p in ["build/steelyard " + c for c in ("run", "partition", "predict", "info", "check", "")]
        + ["build/replay_messages"]
        + sorted(scripts)
    }
    for page, line, code in spans:
        for name in re.findall(rf"(?<![\w./<>-])((?:{sections})(?:\.\w+)+)", code):
            plain = re.sub(r"\.\d+\b", "", name)
            if not re.search(r"\.(csv|json|h5|yaml|cpp|hpp)$", name) and not any(
                ("." + k).endswith("." + plain) for k in keys
            ):
                problem(page, line, f"no deck has a key {name}")
        named = re.findall(r"scripts/[\w/*.]*\w", code)
        problems.extend(f"{page}:{line}: there is no {script}" for script in named if not glob.glob(script))
        texts = [helps[s] for s in named if s in helps] or helps.values()
        for option in re.findall(r"(?<!\S)-[a-zA-CE-Z]\b|(?<!\S)--[a-z][a-z-]+", code):
            ours = code.startswith("-") or named or "steelyard" in code.split(" ")[0]
            if ours and option not in OTHER_OPTIONS and not any(re.search(rf"(?<![\w-]){option}\b", t) for t in texts):
                problem(page, line, f"no --help names the option {option}")
        for name in re.findall(r"STEELYARD_[A-Z_]+", code):
            if name not in source:
                problem(page, line, f"nothing in the source is called {name}")


def execute(command, timeout):
    """Exit code and output of a shell command; None after the time limit, which ends all that it started."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", STEELYARD_SETUP="skip", HOME=os.getcwd())
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=timeout)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0], None


def copy_tree(source, build, scratch):
    """Copies the files of the checkout and returns their names; scripts/build.sh of the copy builds nothing."""
    found = subprocess.run(["git", "-C", source, "ls-files", "-z"], stdout=subprocess.PIPE, text=True)
    listed = (
        found.stdout.split("\0")
        if found.returncode == 0
        else [  # an unpacked archive
            os.path.relpath(os.path.join(folder, n), source)
            for folder, _, names in os.walk(source)
            if not re.search(r"/(build|out|results|\.git)", folder)
            for n in names
        ]
    )
    tracked = [name for name in listed if os.path.isfile(os.path.join(source, name))]
    for name in tracked:
        os.makedirs(os.path.dirname(os.path.join(scratch, name)), exist_ok=True)
        shutil.copy2(os.path.join(source, name), os.path.join(scratch, name))
    os.symlink(build, os.path.join(scratch, "build"))
    with open(os.path.join(scratch, "scripts/build.sh"), "w") as f:  # its --help alone is left
        f.write(read(os.path.join(source, "scripts/build.sh")).partition("scripts/setup.sh\n")[0] + "exit 0\n")
    return tracked


def main():
    full = sys.argv[4:] == ["--full"]
    build, mpiexec, source = (os.path.abspath(shutil.which(a) or a) for a in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as scratch:
        tracked = copy_tree(source, build, scratch)
        os.chdir(scratch)
        commands, spans, used = [], [], set()
        for page in sorted(
            (name for name in tracked if name.endswith(".md")), key=lambda name: (name != "README.md", name)
        ):
            lines = read(page).splitlines()
            check_links(page, lines)
            if page != "CHANGELOG.md":  # it may name what is no more
                of_page, code = commands_of(page, lines, used)
                commands += [(page, *c) for c in of_page]
                spans += [(page, *c) for c in code] + [(page, *c[:2]) for c in of_page]
        for entry in [e for number, e in enumerate(COMMANDS) if number not in used]:
            problems.append(
                f"tests/docs/commands.py: no command starts with {entry[1]!r} any more: remove the entry, or mend it"
            )
        check_names(
            spans, "".join(read(n) for n in tracked if re.search(r"(\.(cpp|hpp|in|sh|cmake)|CMakeLists\.txt)$", n))
        )
        for page, line, command, (group, pattern, *replacements) in commands:
            if group == "quick" or group == "slow" and full:
                run = (
                    ["pvpython" if "paraview" in pattern else sys.executable, "-c", pattern]
                    if command.startswith("python3: ")
                    else ["/bin/bash", "-c", command]
                )
                for old, new in [r for pairs in replacements[: 1 if full else 2] for r in pairs.items()]:
                    if old != "$" and old not in run[2]:
                        problem(page, line, f"commands.py replaces {old!r}, which is not in `{command}`")
                    run[2] = run[2] + new if old == "$" else run[2].replace(old, new)
                run[2] = re.sub(r"\bmpiexec\.mpich\b", mpiexec, run[2])
                start = time.monotonic()
                output, code = execute(run, 2400 if full else 60)
                print(f"{time.monotonic() - start:6.1f} s  {page}:{line}: {command}", flush=True)
                if code != 0:
                    problem(
                        page,
                        line,
                        (
                            f"`{run[2]}` ended with"
                            f" {'the time limit' if code is None else f'exit code {code}'}:\n{output[-2000:]}"
                        ),
                    )
    if problems:
        sys.exit("\n".join(problems + [f"{len(problems)} problems"]))


if __name__ == "__main__":
    main()
