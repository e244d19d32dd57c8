# SPDX-License-Identifier: MIT
"""Checks README and docs, and runs their commands.

Every command must have an entry in commands.py. They run in a copy of the source tree, page after page, in the order
of the text. Without --full long runs are shortened and slow commands are left out. Links, deck keys, options, scripts
and names STEELYARD_... in the text must exist.

Groups: text; commands_1 to commands_4, each with some of the pages.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from commands import COMMANDS, OTHER_OPTIONS
from program import HANG_SECONDS, SOURCE, options


def read(name):
    with open(os.path.join(SOURCE, name)) as f:
        return f.read()


def tracked():
    """The files of the checkout, or of an unpacked archive; also where there is no git."""
    listing = ["git", "-C", SOURCE, "ls-files", "-z"]
    found = shutil.which("git") and subprocess.run(listing, stdout=subprocess.PIPE, text=True)
    if found and found.returncode == 0:
        names = found.stdout.split("\0")
    else:
        paths = (os.path.join(folder, n) for folder, _, files in os.walk(SOURCE) for n in files)
        names = [os.path.relpath(p, SOURCE) for p in paths if not re.search(r"/(build|out|results|\.git)", p)]
    return [name for name in names if os.path.isfile(os.path.join(SOURCE, name))]


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


def commands_of(lines, used):
    """The content of a page, as three lists: commands and Python blocks, also those in inline code (line, text, entry);
    inline code (line, text); problems (line, text)."""
    commands, problems, prose = [], [], list(lines)

    def add(line, command):
        command = re.sub(r"(^|\s)#\s.*$", "", command).strip()
        entry = entry_of(command, used)
        if entry:
            commands.append((line, command, entry))
        elif command:
            problems.append((line, f"`{command}` is in no group: give it an entry in tests/docs/commands.py"))

    for first, language, block in blocks(lines):
        prose[first - 1 : first + len(block) - 1] = [""] * len(block)
        if language == "":
            problems.append((first - 1, "a block without a language: write ```sh for commands, ```text for other text"))
        elif language == "python":
            code = "\n".join(block)
            commands.append(
                (first, "python3: " + block[0], ("slow" if "MDAnalysis" in code else "quick", code, {}, {}))
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
    return sorted(commands, key=lambda c: c[0]), code, problems


def broken_links(page):
    """(line, what is wrong) of the links of a page to files and sections."""
    for line, row in enumerate(read(page).splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", row)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(SOURCE, path)):
                yield line, f"the link {target} leads to nothing"
            elif anchor:
                headings = re.findall(r"^#+ (.*)$", read(path), re.M)  # GitHub's anchors:
                if anchor not in {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}:
                    yield line, f"{path} has no section #{anchor}"


def keys_of(folder, *arguments):
    """The dotted names of all keys in the effective deck that `steelyard check` prints; slabs without their numbers."""
    names, above = set(), []
    for row in subprocess.check_output(["build/steelyard", "check", *arguments], text=True, cwd=folder).splitlines():
        key = re.match(r"([ -]*)(\w+):", row)
        if key:
            above = [a for a in above if a[0] < len(key[1])] + [(len(key[1]), key[2])]
            names.add(".".join(name for _, name in above))
    return names


def known_keys(folder):
    """The keys of all decks."""
    others = ("system.potential.kind=mie", "load.kind=uniform", "load={kind: dataset, file: a.h5}")  # not in all decks
    keys = keys_of(folder, "inputs/tiny.yaml").union(*(keys_of(folder, "inputs/tiny.yaml", "--set", s) for s in others))
    # No deck here names a file of particles, or what acts on them besides each other.
    for section in ("system.from", "system.walls", "system.thermostat"):
        rows = read("docs/deck.md").partition(f"## {section}\n")[2].partition("\n## ")[0]
        keys |= {section} | {f"{section}.{name}" for name in re.findall(r"^\| `(\w+)`", rows, re.M)}
    keys |= {"system.gravity"} | keys_of(folder, "inputs/droplet.yaml")
    # The example of an output adds a key of its own.
    return keys | {f"output.{n}_every" for *_, code in SPANS for n in re.findall(r'^add\((\w+), "steps between', code)}


def helps_of(folder):
    """The help of each program and script of the text."""
    pattern = r"scripts/(?:[\w/]+\.sh|(?:(?:bench|reproduce)/\w+|report|expected|(?:export|import)_\w+|weight)\.py)"
    scripts = {
        s for *_, code in SPANS for s in re.findall(pattern, code) if os.access(os.path.join(SOURCE, s), os.X_OK)
    }
    commands = ["build/steelyard " + c for c in ("run", "partition", "predict", "replay", "info", "check", "")]
    programs = [*commands, "build/replay_messages", *sorted(scripts)]
    return {p: execute([*p.split(), "--help"], 60, folder)[0] for p in programs}


def unknown_names(folder, source):
    """(page, line, what is wrong) of keys, options, scripts and STEELYARD_... names in inline code and commands."""
    keys, helps = known_keys(folder), helps_of(folder)
    sections = "|".join({name for key in keys for name in key.split(".")[:-1]})
    for page, line, code in SPANS:
        for name in re.findall(rf"(?<![\w./<>-])((?:{sections})(?:\.\w+)+)", code):
            plain = re.sub(r"\.\d+\b", "", name)
            is_file = re.search(r"\.(csv|json|h5|yaml|cpp|hpp|py|pdf)$", name)
            if not is_file and not any(("." + k).endswith("." + plain) for k in keys):
                yield page, line, f"no deck has a key {name}"
        named = re.findall(r"scripts/[\w/*.]*\w", code)
        yield from (
            (page, line, f"there is no {script}") for script in named if not glob.glob(os.path.join(SOURCE, script))
        )
        texts = [helps[s] for s in named if s in helps] or helps.values()
        for option in re.findall(r"(?<!\S)-[a-zA-CE-Z]\b|(?<!\S)--[a-z][a-z-]+", code):
            ours = code.startswith("-") or named or "steelyard" in code.split(" ")[0]
            if ours and option not in OTHER_OPTIONS and not any(re.search(rf"(?<![\w-]){option}\b", t) for t in texts):
                yield page, line, f"no --help names the option {option}"
        for name in re.findall(r"STEELYARD_[A-Z_]+", code):
            if name not in source:
                yield page, line, f"nothing in the source is called {name}"


def execute(command, timeout, folder):
    """Output and exit code of a command in a folder; None after the time limit, which ends all that it started."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", STEELYARD_SETUP="skip", HOME=folder)
    streams = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    process = subprocess.Popen(command, **streams, env=environment, cwd=folder, start_new_session=True)
    try:
        return process.communicate(timeout=timeout)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0], None


def parse():
    """Commands (page, line, text, entry), inline code (page, line, text), and problems."""
    commands, spans, problems, used = [], [], [], set()
    for page in PAGES:
        if page == "CHANGELOG.md":  # it may name what is no more
            continue
        of_page, code, wrong = commands_of(read(page).splitlines(), used)
        commands += [(page, *c) for c in of_page]
        spans += [(page, *c) for c in code] + [(page, *c[:2]) for c in of_page]
        problems += [f"{page}:{line}: {what}" for line, what in wrong]
    unused = [entry[1] for number, entry in enumerate(COMMANDS) if number not in used]
    problems += [
        f"commands.py: no command starts with {start!r} any more: remove the entry, or mend it" for start in unused
    ]
    return commands, spans, problems


FILES = tracked()
PAGES = sorted((name for name in FILES if name.endswith(".md")), key=lambda name: (name != "README.md", name))
FOUND, SPANS, PROBLEMS = parse()
RUN = [c for c in FOUND if c[3][0] in ("quick", "slow")]
# By output directory: the command that makes it.
PERFORMED = set()  # commands that have succeeded, in the copy that all of a process use
MAKERS = {out: c for c in reversed(RUN) for out in re.findall(r"--out (out/\w+)", c[2])}


def groups():
    """page: the group of its commands; each next page goes to the group that has fewest commands."""
    sizes, group = [0] * 4, {}
    pages = {page: sum(c[0] == page for c in RUN) for page in PAGES}
    for page in sorted(pages, key=pages.get, reverse=True):
        least = sizes.index(min(sizes))
        sizes[least] += pages[page]
        group[page] = f"commands_{least + 1}"
    return group


GROUP = groups()


@pytest.fixture(scope="module")
def copy():
    """A copy of the checkout, in which all commands run; its scripts/build.sh builds nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            shutil.copy2(os.path.join(SOURCE, name), os.path.join(folder, name))
        os.symlink(os.path.dirname(os.path.abspath(options.binary)), os.path.join(folder, "build"))
        with open(os.path.join(folder, "scripts/build.sh"), "w") as f:  # its --help alone is left
            f.write(read("scripts/build.sh").partition("scripts/setup.sh\n")[0] + "exit 0\n")
        yield folder


@pytest.mark.group("text")
def test_every_command_has_an_entry():
    assert not PROBLEMS


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    assert not list(broken_links(page))


def test_sizes_of_the_files_to_read_first():
    rows = re.findall(r"^\| `([\w/.]+)` \| (\d+) \|", read("docs/architecture.md"), re.M)
    assert len(rows) >= 12
    for path, said in rows:
        assert abs(read(path).count("\n") / int(said) - 1) < 0.5, f"{path} has other than {said} lines"


def test_names(copy):
    code = r"(\.(cpp|hpp|in|sh|cmake)|CMakeLists\.txt)$"
    assert not list(unknown_names(copy, "".join(read(n) for n in FILES if re.search(code, n))))


def perform(copy, command, entry):
    """Runs a command, after those of other pages that make what it reads and is not there. Nothing
    that has succeeded runs twice."""
    if command in PERFORMED:
        return
    _, pattern, *replacements = entry
    for out in re.findall(r"(?<!--out )\bout/\w+", command):
        maker = MAKERS.get(out, (None, None, command))
        if maker[2] != command and not os.path.exists(os.path.join(copy, out)):
            perform(copy, *maker[2:])
    words = ["/bin/bash", "-c", command]
    if command.startswith("python3: "):
        words = [sys.executable, "-c", "import sys\nsys.path.insert(0, 'build/python')\n" + pattern]
    for old, new in [r for pairs in replacements[: 1 if options.full else 2] for r in pairs.items()]:
        assert old == "$" or old in words[2], f"commands.py replaces {old!r}, which is not in `{command}`"
        words[2] = words[2] + new if old == "$" else words[2].replace(old, new)
    words[2] = re.sub(r"\bmpiexec\.mpich\b", shutil.which(options.mpiexec), words[2])
    output, code = execute(words, 2400 if options.full else HANG_SECONDS, copy)
    assert code == 0, f"`{words[2]}` ended with {'the time limit' if code is None else code}:\n{output[-2000:]}"
    PERFORMED.add(command)


@pytest.mark.parametrize(
    "command, entry", [pytest.param(*c[2:], id=f"{c[0]}:{c[1]}", marks=pytest.mark.group(GROUP[c[0]])) for c in RUN]
)
def test_command(copy, command, entry):
    if entry[0] == "slow" and not options.full:
        pytest.skip("only with --full")
    package = os.path.join(os.path.dirname(options.binary), "python/steelyard/_core*")
    if "import steelyard" in entry[1] + command and not glob.glob(package):
        pytest.skip("the Python package is not built")
    perform(copy, command, entry)
