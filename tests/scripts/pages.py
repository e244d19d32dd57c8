# SPDX-License-Identifier: MIT
"""Runs of all kinds, their reports, and a browser to look at them."""
import base64
import json
import re
import time
import zlib

from program import COLLISIONS, DECK, HANG_SECONDS, checkpoints, kill, ok, ok_run, printed, run_words, script, settings
from program import start, wait_until

SMALL = dict(run__steps=240, output__every=40, balance__every=20, balance__clock="work", balance__processes=6)


def report(*arguments, **more):
    return script("report.py", *arguments, timeout=HANG_SECONDS, **more)


def made(*arguments):
    """The path of a page of results."""
    done = report(*arguments)
    assert done.returncode == 0, done.stderr
    return re.fullmatch("wrote (.*)\n", done.stdout)[1]


def data_of(path, part="runs"):
    """The data that the page unpacks."""
    with open(path, encoding="utf-8") as f:
        packed = re.search(r'id="data">([^<]*)</script>', f.read())[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))[part]


def shown_of(out):
    """The data of the only run on a page of its results."""
    (run,) = data_of(made(out))
    return run


def sentences(out):
    """The findings on that page."""
    return " ".join(f["text"] for f in shown_of(out)["findings"])


def steelyard(out, ranks, deck=DECK, *arguments, **values):
    ok_run(out, *arguments, deck=deck, ranks=ranks, **values)
    return out


def killed(out):
    """A run that is killed, and goes on with other ranks."""
    often = {**SMALL, "checkpoint__every": 80}
    process = start(0, *run_words(out, **often | dict(run__steps=100000)))
    wait_until(lambda: len(checkpoints(out)) >= 2 or process.poll() is not None)
    kill(process)
    return steelyard(out, 3, DECK, "--restart", "auto", **{**often, "run__steps": max(checkpoints(out)) + 240})


def partition(out):
    machine = settings(machine__nodes=3, machine__cores_per_cpu=3, machine__accelerators_per_node="[2, 0, 1]")
    printed(0, "partition", DECK, "--out", out, *machine)
    return out


def predicted(out):
    """A run beside what was predicted of it."""
    ok(0, "predict", DECK, "--out", f"{out}_before", "--processes", "1,2", "--quiet")
    return steelyard(out, 2, DECK, "--prediction", f"{out}_before/predict.json", run__steps=40, balance__every=20)


NESTED = dict(machine__nodes=2, machine__cpus_per_node=1, machine__cores_per_cpu=2, balance__partition__kind="nested")
RUNS = {  # what makes each kind of results
    "plane": lambda out: steelyard(out, 2, **SMALL, balance__compare="[a1]"),
    "space": lambda out: steelyard(out, 3, COLLISIONS[3].deck, **{**COLLISIONS[3].small, **SMALL}),
    "fixed": lambda out: steelyard(out, 2, **SMALL, balance__partition__kind="none"),
    "alone": lambda out: steelyard(out, 1, run__steps=40, balance__every=0),
    "virtual": lambda out: steelyard(out, 2, **{**SMALL, "run__steps": 60, "balance__processes": 2400}),
    "zones": lambda out: steelyard(out, 2, run__steps=60, accelerator__backend="host", balance__every=0),
    "nested": lambda out: steelyard(out, 4, **{**SMALL, **NESTED, "balance__processes": 4, "run__steps": 60}),
    "killed": killed,
    "partition": partition,
    "predicted": predicted,
}


class Runs(dict):
    """The output directory of each kind of results, made when it is asked for."""

    def __init__(self, folder):
        self.folder = folder

    def __missing__(self, name):
        self[name] = RUNS[name](self.folder / name)
        return self[name]


class Browser:
    """Chromium without a window, and what goes wrong in it."""

    def __init__(self, driver):
        self.driver = driver
        size = dict(width=1280, height=800, deviceScaleFactor=1, mobile=False)
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def run(self, script, *arguments):
        """Runs a script in the page and returns what it returns; once more, where the page was read anew meanwhile."""
        from selenium.common.exceptions import WebDriverException

        for _ in range(20):
            try:
                return self.driver.execute_script(script, *arguments)
            except WebDriverException as e:
                if "aborted by navigation" not in str(e) and "no such execution context" not in str(e):
                    raise
        raise AssertionError(f"the page was read anew each time that it was asked: {script}")

    def open(self, path):
        """Opens a page and waits until it is drawn. Returns the seconds that took."""
        self.driver.get_log("performance"), self.driver.get_log("browser")
        begin = time.monotonic()
        self.driver.get(f"file://{path}")
        while not self.run("return document.getElementById('main').dataset.ready"):
            late = time.monotonic() - begin > HANG_SECONDS
            assert not late, (self.run("return document.body.innerText")[:500], self.errors())
            time.sleep(0.02)
        took = time.monotonic() - begin
        self.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return took

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that the page asked for, but its own."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [url for url in asked[1:] if not url.startswith(("data:", "blob:"))], len(asked)

    def key(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def map(self):
        return self.run("return [...document.querySelectorAll('#map canvas')].map((c) => c.toDataURL()).join()")
