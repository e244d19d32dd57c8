# SPDX-License-Identifier: MIT
"""Fixtures of the tests of reports."""
import os

import pytest

from pages import Browser, Runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="scripts/setup.sh --browser installs it")
    from selenium.webdriver.chrome.service import Service

    if not os.path.exists("/usr/bin/chromedriver"):
        pytest.skip("there is no Chromium here; scripts/setup.sh --browser installs it")
    wanted = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        wanted.add_argument(argument)
    wanted.binary_location = "/usr/bin/chromium"
    wanted.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=wanted)
    yield Browser(driver)
    driver.quit()
