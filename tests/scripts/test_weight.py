# SPDX-License-Identifier: MIT
"""The weight of a made-up repository, as scripts/weight.py prints it."""
import shutil
import subprocess

import pytest

import weight
from program import script

CODE = """// struct Commented { int no; };
#define MACRO struct Macro { int no; };
namespace room {
class Cell final : public Box<int> {
public:
    Cell(int a, Zones zones = {}) : a_{a}, box_(a) {
        struct Inner { int x, y; };
    }
    int a() const { return a_; }
    bool operator<(const Cell& o) const;

private:
    static int count_;
    enum { left, right } side_ = left;
    int a_ = 0, b_{1};
    std::function<void(int)> act_;
    double (*price_)(int);
    std::map<int, std::array<int, 2>> kept_;  // int comment_;
    const char* text_ = "{ int no; ";
};
enum class Kind { one, two };
template <typename T>
T largest(const std::vector<T>& values)
{
    const auto more = [](T a) {
        return a;
    };
    for (T v : values) {
        if (v > '{') return v;
    }
    return {};
}
const std::vector<int> table = make({
    {1, 2},
});
}  // namespace room
"""
FILES = {
    "balance/cell.hpp": CODE,
    "balance/grid/box.cpp": "int x;\n" * 301,
    "python/package/x.py": "x\n" * 4,
    "tests/balance/test_box.cpp": "a\nb\n",
    "tests/test_x.py": "x\n",
    "tests/data.csv": "1\n2\n3\n",
    "scripts/x.py": "y",  # no line feed, no line
    "scripts/build.sh": "a\n" * 7,
    "docs/page.md": "x" * 1500,
    "docs/nested/page.md": "not counted",
    "README.md": "r" * 500,
}


def commit(folder, files, name):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    who = ["-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", name], ["tag", name]):
        subprocess.run(["git", *words], cwd=folder, check=True)


@pytest.fixture
def repository(tmp):
    if not shutil.which("git"):
        pytest.skip("there is no git here")
    commit(tmp, FILES, "first")
    commit(tmp, {"balance/more.cu": "int y;\n", "app/é.cpp": "int z;\n"}, "second")
    return tmp


def test_pieces():
    functions, members = weight.pieces_of(CODE)
    assert sorted(functions) == [(1, "Cell::a"), (3, "Cell::Cell"), (11, "largest")]
    assert members == {("class", "Cell"): 7, ("struct", "Cell::Inner"): 2}


def test_table(repository):
    text = script("weight.py", "--root", repository, "--largest", "2", "first", "second", check=True).stdout
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    assert head == ["", "first", "second"]
    lines = CODE.count("\n")
    assert rows[:11] == [
        ["product C++, lines (files)", f"{lines + 301} (2)", f"{lines + 303} (4)"],
        ["product Python, lines (files)", *["4 (1)"] * 2],
        ["tests C++, lines (files)", *["2 (1)"] * 2],
        ["tests Python, lines (files)", *["1 (1)"] * 2],
        ["tests other, lines (files)", *["3 (1)"] * 2],
        ["scripts Python, lines (files)", *["0 (1)"] * 2],
        ["scripts sh, lines (files)", *["7 (1)"] * 2],
        ["scripts other, lines (files)", *["0 (0)"] * 2],
        ["docs and README, KB (files)", *["2.0 (2)"] * 2],
        ["product files over 300 lines", "1", "1"],
        ["product functions over 60 lines", "0", "0"],
    ]
    found = {row[0]: row[2] for row in rows}
    assert found["1. largest file, lines"] == "301 `balance/grid/box.cpp`"
    assert found["1. largest function, lines"] == "11 `largest balance/cell.hpp`"
    assert found["1. largest class, data members"] == "7 `Cell balance/cell.hpp`"
    assert found["1. largest struct, data members"] == "2 `Cell::Inner balance/cell.hpp`"
    assert found["1. largest folder, entries"] == "3 `balance`" and found["2. largest class, data members"] == ""


def test_no_directory(tmp_path):
    done = script("weight.py", "--root", tmp_path / "none")
    assert done.returncode == 2 and "is no directory" in done.stderr and "Traceback" not in done.stderr


def test_unknown_commit(repository):
    done = script("weight.py", "--root", repository, "third")
    assert done.returncode == 2 and "third" in done.stderr and len(done.stderr.splitlines()) < 4, done.stderr
