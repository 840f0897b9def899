"""Shared by all tests: reference values, programs of the system, and a Hypothesis profile that is the same everywhere.

A test that needs a program asks for it by the fixture of its name. It is then marked `system`, which `make test` leaves
out, and skipped where the program is absent. A test that starts one of them without asking fails.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "extremal",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("extremal")


@pytest.fixture(scope="session")
def reference() -> dict[str, dict[str, Any]]:
    """Independent values to 30 digits, by case id (tests/data/README.md)."""
    content = json.loads((Path(__file__).parent / "data" / "fixtures.json").read_text())
    return {case["id"]: case for case in content["cases"]}


PROGRAMS = {"java", "node", "chromium", "rscript", "postgresql"}
STARTED = {*PROGRAMS, "Rscript", "chromium-browser", "google-chrome", "spark-submit"}
_of_the_system = False  # whether the test that runs is marked so


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if PROGRAMS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.system)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global _of_the_system
    _of_the_system = item.get_closest_marker("system") is not None
    return (yield)


def _refuse_programs(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and not _of_the_system and Path(str(arguments[0])).name in STARTED:
        raise RuntimeError(f"only tests marked `system` start {arguments[0]}: ask for the fixture of its name")


sys.addaudithook(_refuse_programs)


def _version(program: str, option: str) -> int:
    """The major version that a program prints; 0 when it is absent, or only says how to install it."""
    if shutil.which(program) is None:
        return 0
    done = subprocess.run([program, option], capture_output=True, text=True, check=False)
    found = re.search(r"\d+", done.stdout + done.stderr) if done.returncode == 0 else None
    return int(found[0]) if found else 0


@pytest.fixture(scope="session")
def java() -> str:
    """Spark's Java."""
    if _version("java", "-version") < 17:
        pytest.skip("SPARK IS NOT TESTED: Java 17 is not installed")
    return "java"


@pytest.fixture(scope="session")
def node() -> list[str]:
    """How to start Node; before version 19 its generator needs a flag."""
    version = _version("node", "--version")
    if version < 18:
        pytest.skip("THE DEVICE'S SCRIPT IS NOT TESTED: Node 18 is not installed")
    return ["node"] if version >= 19 else ["node", "--experimental-global-webcrypto"]


@pytest.fixture(scope="session")
def chromium() -> str:
    """A browser."""
    for program in ("chromium", "chromium-browser", "google-chrome"):
        if _version(program, "--version"):
            return program
    pytest.skip("NOT TESTED IN A BROWSER: there is no Chromium")


@pytest.fixture(scope="session")
def rscript() -> str:
    """R with its package jsonlite."""
    if not _version("Rscript", "--version"):
        pytest.skip("THE READER IN R IS NOT TESTED: R is not installed")
    asked = ["Rscript", "-e", "library(jsonlite)"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip("THE READER IN R IS NOT TESTED: R has no jsonlite")
    return "Rscript"


@pytest.fixture(scope="session")
def postgresql() -> str:
    """A database server's programs."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")) and shutil.which("initdb") is None:
        pytest.skip("COLLECTING IN POSTGRESQL IS NOT TESTED: it is not installed")
    return "postgresql"


PACKAGES = ("playwright-core@1", "axe-core@4", "pyodide@314", "survey-core@3")
"""They drive a browser, judge a page, run Python in one, show a form; installed beside the build, never committed."""


@pytest.fixture(scope="session")
def npm(node: list[str]) -> Path:
    """The folder of npm's packages, installed once, whichever of the tests' processes comes first."""
    import fcntl  # not on Windows

    folder = Path(__file__).parents[1] / "out" / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all((folder / "node_modules" / name.partition("@")[0]).is_dir() for name in PACKAGES):
            command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", *PACKAGES]
            try:
                subprocess.run([*command, "--prefix", str(folder)], check=True, capture_output=True, timeout=300)
            except (OSError, subprocess.SubprocessError):
                pytest.skip("PAGES ARE NOT TESTED IN A BROWSER: npm cannot install what drives it")
    return folder / "node_modules"
