#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The weight of the checkout as a Markdown table: lines, files, kilobytes of the pages, and the largest pieces.

Each COMMIT is a column. Files come from git's store, so nothing is checked out, and changes that are not committed do
not count. Lines are line feeds, as wc counts them, with comments and blanks.

  product C++    .cpp, .hpp and .cu in app, balance, comm, md, gpu, predict, tools and python
  product Python .py in the same folders
  tests, scripts by ending; "other": files with other endings, data among them
  docs           docs/*.md and README.md, in 1000 bytes
  function       of product C++: lines from the first of its head to the closing brace
  class, struct  of product C++: data members that are not static
  folder         files and folders directly in it

Functions and members are found by scanning braces, after comments, strings and preprocessor lines are blanked. A body
is that of a function if there is a parenthesis before the brace and no "=" before that parenthesis. A data member is a
statement directly in a class, with a type and without such a parenthesis; "int a, b" is two. Code that macros write is
not seen, and branches of #if with unequal braces confuse the count of their file.
"""
import collections
import os
import re
import subprocess

from common import ROOT, fail, parser_of
from studies import markdown_head, markdown_row

PRODUCT = ("app", "balance", "comm", "md", "gpu", "predict", "tools", "python")
CPP = dict.fromkeys((".cpp", ".hpp", ".cu"), "C++")
ENDINGS = {"tests": {**CPP, ".py": "Python"}, "scripts": {".py": "Python", ".sh": "sh"}}
KINDS = ["product C++", "product Python", "tests C++", "tests Python", "tests other"]
KINDS += ["scripts Python", "scripts sh", "scripts other"]
BLANKED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
    re.S | re.M,
)
NO_MEMBER = re.compile(r"(using|typedef|friend|static|enum|class|struct|union|template|extern|constexpr static)\b")


def git(root, *words, **options):
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, **options)
    return done.stdout if done.returncode == 0 else fail(f"git {words[0]}: {done.stderr.decode().strip()}")


def files_of(root, commit):
    """{path: bytes} of the files of a commit, without links and submodules."""
    rows = [row.split(b"\t") for row in git(root, "ls-tree", "-rz", "--full-tree", commit).split(b"\0")[:-1]]
    blobs = [(os.fsdecode(path), head.split()[2]) for head, path in rows if head.startswith(b"100")]
    stored, at, found = git(root, "cat-file", "--batch", input=b"".join(b + b"\n" for _, b in blobs)), 0, {}
    for path, _ in blobs:  # a line that ends in the size, so many bytes, a line feed
        begin = stored.index(b"\n", at) + 1
        size = int(stored[at:begin].split()[2])
        found[path], at = stored[begin : begin + size], begin + size + 1
    return found


def kind_of(path):
    """One of KINDS, "docs", or None."""
    folder, ending = path.split("/")[0], os.path.splitext(path)[1]
    if folder in PRODUCT and (ending in CPP or ending == ".py"):
        return "product C++" if ending in CPP else "product Python"
    if folder in ENDINGS and "/" in path:
        return f"{folder} {ENDINGS[folder].get(ending, 'other')}"
    return "docs" if path == "README.md" or re.fullmatch(r"docs/[^/]*\.md", path) else None


def simple(head):
    """A head or statement without the arguments of templates, attributes and the signs of operators."""
    head = re.sub(r"\boperator\s*(\(\s*\)|[^\w\s(]+)", "operator_", re.sub(r"\[\[.*?\]\]|\balignas\(.*?\)", "", head))
    before = None
    while before != head:
        before, head = head, re.sub(r"<[^<>;{}]*>", "", head)
    return re.sub(r"^\s*(template\s*(requires[^;{]*\n)?\s*)+", "", head).strip()


def members_in(statement):
    """The number of data members that a statement of a class declares."""
    statement = re.sub(r"^\s*enum\b[^{}]*\{\}", "", statement)  # a member may follow
    names = re.split(r"[={]", simple(statement))[0].replace("(*", "")
    if "(" in names.partition(")")[0] or NO_MEMBER.match(names) or not names:
        return 0
    return 1 + re.sub(r"\{[^{}]*\}|\([^()]*\)|\[[^][]*\]|=[^,]*", "", simple(statement)).count(",")


def body_of(head, inside):
    """The kind and the name of the body that a brace opens after this head."""
    text = simple(head)
    found = re.match(r"(class|struct|union)\b(?:\s+final)?\s*((?:\w+::)*\w*)[^()=]*$", text)
    if found:
        return found[1], found[2] or "(unnamed)"
    if re.search(r"\bnamespace\b[\w:\s]*$|\bextern\s*$", text):
        return "namespace", ""
    before, parenthesis, _ = text.partition("(")
    # A brace is an argument inside of parentheses, and after a name in a list of initialisers.
    argument = (
        text.count("(") > text.count(")")
        or re.search(r"\)\s*(noexcept\s*)?:(?!:).*[\w,>]\s*$", text, re.S)
        and not text.endswith(")")
    )
    if inside not in ("function", "block") and parenthesis and "=" not in before and not argument:
        return "function", re.split(r"[\s*&]+", before.strip())[-1]
    return ("block" if inside in ("function", "block") else "value"), ""


def pieces_of(text):
    """Of C++: [(lines, name)] of functions, and {(class or struct, name): data members}."""
    text = BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    functions, members, stack = [], collections.Counter(), [("namespace", "", 0)]
    head, line, first = "", 1, 1  # text since the last statement, line of this character, line of the head's begin
    for part in re.findall(r"[^{};:\n]+|.|\n", text):
        kind = stack[-1][0]
        if part == "\n":
            line += 1
            head += part
        elif part == "{":
            opened, name = ("value", "") if kind == "value" else body_of(head, kind)
            names = [n for k, n, *_ in stack if n and k != "function"] + [name]
            stack.append((opened, name, first, head))
            if opened in ("class", "struct"):
                members["class" if opened == "class" else "struct", "::".join(names)] += 0
            head = ""
        elif part == "}" and len(stack) > 1:
            closed, name, begin, before = stack.pop()
            if closed == "function":
                owners = [n for _, n, *_ in stack if n]
                functions.append((line - begin + 1, "::".join(owners + [name])))
            head = before + "{}" if closed == "value" else ""
        elif part == ";":
            if kind in ("class", "struct"):
                names = [n for k, n, *_ in stack if n and k != "function"]
                members[kind, "::".join(names)] += members_in(head)
            head = ""
        elif part == ":" and re.fullmatch(r"\s*(public|private|protected)\s*", head):
            head = ""
        else:
            if not head.strip():
                first = line
            head += part
    return functions, members


def largest(pieces, number):
    """Cells with the largest of [(size, name)]."""
    cells = [f"{size} `{name}`" for size, name in sorted(pieces, key=lambda p: (-p[0], p[1]))[:number]]
    return cells + [""] * (number - len(cells))


def column(root, commit, number):
    """{name of the row: cell} of a commit."""
    files, lines, counts, cells = files_of(root, commit), collections.Counter(), collections.Counter(), {}
    product, functions, members, entries = [], [], [], collections.defaultdict(set)
    for path, content in files.items():
        kind, parts = kind_of(path), path.split("/")
        lines[kind] += len(content) if kind == "docs" else content.count(b"\n")
        counts[kind] += 1
        for depth in range(1, len(parts)):
            entries["/".join(parts[:depth])].add(parts[depth])
        if kind == "product C++":
            product.append((content.count(b"\n"), path))
            of_file, classes = pieces_of(content.decode(errors="replace"))
            functions += [(size, f"{name} {path}") for size, name in of_file]
            members += [(size, name[0], f"{name[1]} {path}") for name, size in classes.items()]
    for kind in KINDS:
        cells[f"{kind}, lines (files)"] = f"{lines[kind]} ({counts[kind]})"
    cells["docs and README, KB (files)"] = f"{lines['docs'] / 1000:.1f} ({counts['docs']})"
    cells["product files over 300 lines"] = sum(size > 300 for size, _ in product)
    cells["product functions over 60 lines"] = sum(size > 60 for size, _ in functions)
    pieces = {"file, lines": product, "function, lines": functions}
    for kind in ("class", "struct"):
        pieces[f"{kind}, data members"] = [(size, name) for size, of, name in members if of == kind]
    pieces["folder, entries"] = [(len(names), folder) for folder, names in entries.items()]
    for what, found in pieces.items():
        for i, cell in enumerate(largest(found, number), 1):
            cells[f"{i}. largest {what}"] = cell
    return cells


def main():
    parser = parser_of(__doc__)
    parser.add_argument("commits", nargs="*", default=["HEAD"], metavar="COMMIT", help="default: HEAD")
    parser.add_argument("--root", default=ROOT, help="the checkout (default: that of this script)")
    parser.add_argument("--largest", type=int, default=5, help="how many of the largest pieces (default: 5)")
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.root):
        parser.error(f"--root: {arguments.root} is no directory")
    columns = [column(arguments.root, commit, arguments.largest) for commit in arguments.commits]
    print(markdown_head(["", *arguments.commits]))
    for name in columns[0]:
        print(markdown_row([name, *(cells[name] for cells in columns)]))


if __name__ == "__main__":
    main()
