# SPDX-License-Identifier: MIT
"""Follows runs that go on: has the page written anew whenever they have written more, until they have ended.

A run holds locks on its directory and on .steelyard.lock in it. However the process ends, the system removes its locks.
So a lock shows that the run goes on. This program asks for the locks as a reader, for a moment. A run that starts
meanwhile tries again. On file systems without locks a run goes on until there is a summary.json.
"""
import fcntl
import os
import signal
import threading
import time

from .run import RESULTS, is_result

SHARE = 0.1  # of a core, for pages, at most


def is_locked(path):
    """Whether a process has locked a file or a directory; None where that can't be known."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(handle)


def goes_on(folder):
    """Whether a run is writing to a directory."""
    locked = [is_locked(path) for path in (folder, os.path.join(folder, ".steelyard.lock"))]
    if True in locked or False in locked:
        return True in locked
    return is_result(folder) and not os.path.exists(os.path.join(folder, "summary.json"))


def state_of(paths):
    """A value that changes whenever one of these files does."""

    def one(path):
        try:
            s = os.stat(path)
        except OSError:
            return None
        return s.st_ino, s.st_size, s.st_mtime_ns

    return [one(path) for path in paths]


def watch(outdirs, files, every, write, say):
    """Calls write(seconds, going) for a page whenever the results in `outdirs` or one of `files` have changed. Looks
    for changes every so many seconds. Writes the page once more when no run goes on.

    seconds: The page is to be read anew after this time, None for the last one.
    going: For each directory whether its run goes on.  say: Prints a line.
    Returns the exit code: 0, 3 if the results have gone, or 128 + the number of the signal that ended the watch.
    """
    stopped, signals = threading.Event(), []
    for number in (signal.SIGINT, signal.SIGTERM):  # a page that is being written becomes whole first
        signal.signal(number, lambda n, _: (signals.append(n), stopped.set()))
    paths = [os.path.join(o, name) for o in outdirs for name in RESULTS] + files
    seen, waiting, rest = None, False, 0  # rest: the time before which no other page of a run that goes on is written
    while not signals:
        going = [goes_on(o) for o in outdirs]  # asked before the files are read, which then are whole where it says no
        missing = [o for o in outdirs if not is_result(o)]
        now = state_of(paths)
        if missing and seen:
            say(f"{missing[0]!r} holds no results any more; the page is that of before")
            return 3
        if missing and not waiting:
            say(f"waits for a run to write its first result in {missing[0]!r}; Ctrl-C ends this")
            waiting = True
        elif not missing and not any(going):
            path = write(None, going)
            killed = [o for o in outdirs if not os.path.exists(os.path.join(o, "summary.json"))]
            why = f": {killed[0]!r} has no summary.json, so it was killed or failed" if killed else ""
            say(f"wrote {path}; no run goes on any more{why}")
            return 0
        elif not missing and now != seen and time.monotonic() >= rest:
            begin = time.monotonic()
            path = write(1.5 * every, going)
            end = time.monotonic()
            rest = end + (end - begin) / SHARE
            if not seen:
                say(f"wrote {path}, and writes it anew while the run goes on; Ctrl-C ends this")
            seen = now
        stopped.wait(every)
    if seen:
        write(None, [goes_on(o) for o in outdirs])
    return 128 + signals[0]
