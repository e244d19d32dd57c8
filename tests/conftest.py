# SPDX-License-Identifier: MIT
"""Options and fixtures of the tests in Python.

ctest calls them group by group. By hand: python3 -m pytest tests/app/test_restarts.py --group restarts
"""
import pathlib
import tempfile

import pytest

import program

SKIPPED = 77  # what ctest takes for "not run"


def pytest_addoption(parser):
    options = program.options
    parser.addoption("--binary", default=options.binary, help="the program steelyard")
    parser.addoption("--mpiexec", default=options.mpiexec, help="the launcher of its MPI")
    parser.addoption("--tool", help="the helper program of a test: test_tool, replay_messages")
    parser.addoption("--full", action="store_true", help="the long form of a test")
    parser.addoption("--other", action="append", default=[], help="another build, with the same hashes (one_hash)")
    parser.addoption("--seeds", default=options.seeds, help="random decks: the first seed and their number")
    parser.addoption("--group", help="only the tests of this group")


def pytest_configure(config):
    config.addinivalue_line("markers", "group(name): the group of a test and of those after it in its file")
    for name in vars(program.options):
        setattr(program.options, name, config.getoption(name))


def set_groups(items):
    """Tests of a group stand together in their file: the first one has the mark, or gives the group its name."""
    file, group = None, None
    for item in items:
        mark = item.get_closest_marker("group")
        if mark:
            group = mark.args[0]
        elif item.path != file:
            group = item.originalname.removeprefix("test_")
        item.group, file = group, item.path


def pytest_collection_modifyitems(config, items):
    set_groups(items)
    wanted = config.getoption("group")
    if wanted:
        config.hook.pytest_deselected(items=[i for i in items if i.group != wanted])
        items[:] = [i for i in items if i.group == wanted]


def pytest_sessionfinish(session, exitstatus):
    """A session that skipped everything says so by its exit code."""
    passed = session.config.pluginmanager.get_plugin("terminalreporter").stats.get("passed")
    if exitstatus == pytest.ExitCode.OK and not passed:
        session.exitstatus = SKIPPED


@pytest.fixture
def tmp():
    """A directory of the test's own, which is removed after it."""
    with tempfile.TemporaryDirectory() as folder:
        yield pathlib.Path(folder)
