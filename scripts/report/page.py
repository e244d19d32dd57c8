# SPDX-License-Identifier: MIT
"""The page: one file that holds its data, its style and all scripts, and asks nobody for anything.

Texts of a run are never part of the page's HTML. They are in a compressed piece of JSON, which the page unpacks and
shows as text. The policy in the page's head lets a browser run only the page's own scripts, known by their digests, and
load nothing from anywhere.
"""
import base64
import errno
import hashlib
import html
import json
import os
import tempfile
import zlib

from .lines import LINE_STYLES, axis_of

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ("uplot/uPlot.iife.min.js", "parts.js", "charts.js", "map.js", "sections.js", "page.js")
STYLES = ("uplot/uPlot.min.css", "page.css")


def part(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return f.read()


def packed(runs, reload=None):
    """The runs as the page unpacks them."""
    spans = [(steps[0], steps[-1]) for steps in (run["balance"][0]["step"] for run in runs if run["balance"])]
    axis = spans and axis_of(spans)  # of the runs that balance, in one plot
    data = {"runs": runs, "reload": reload, "styles": LINE_STYLES, "axis": axis}
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode()


def page(runs, reload=None):
    """The HTML of a report. reload: seconds after which a browser reads it anew."""
    scripts = [part(name) for name in SCRIPTS]
    digests = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{d}'" for d in digests)
    fields = {
        "@POLICY@": f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:",
        "@TITLE@": html.escape("Steelyard: " + ", ".join(run["name"] for run in runs)),
        "@STYLE@": "\n".join(part(name) for name in STYLES),
        "@DATA@": packed(runs, reload),
        "@SCRIPTS@": "\n".join(f"<script>{s}</script>" for s in scripts),
    }
    text = part("page.html")
    pieces = []
    for field, value in fields.items():  # in their order in the page, so that none is looked for in another's value
        before, text = text.split(field, 1)
        pieces += [before, value]
    return "".join(pieces) + text


def replace_file(path, text):
    """Gives a file, or the one that a link leads to, its new content at once: there is the old one or this one, at any
    moment. OSError, also where it is a device, a pipe or a directory."""
    path = os.path.realpath(path)
    if os.path.lexists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "it is there, and is no regular file")
    handle, unfinished = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".report.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            f.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(unfinished, 0o666 & ~mask)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
