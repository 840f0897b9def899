"""What `make test` leaves out is what needs a program of the system or long; `make test-all` leaves nothing out."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def _recipe(target: str) -> str:
    """The lines of a target and of those that it names."""
    found = re.search(rf"^{target}:(.*)\n((?:\t.*\n)*)", MAKEFILE, flags=re.M)
    return "" if found is None else found[2] + "".join(map(_recipe, found[1].split()))


@pytest.mark.parametrize("program", ["java", "node", "chromium", "Rscript"])
def test_a_test_that_starts_a_program_without_asking_for_it_fails(program: str) -> None:
    with pytest.raises(RuntimeError, match="only tests marked `system` start"):
        subprocess.run([program, "--version"], capture_output=True, check=False)


def test_who_asks_for_a_program_is_marked() -> None:
    files = ["tests/release/test_device.py", "tests/release/engines/test_spark.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not system", *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert "test_device" in done.stdout
    assert "test_spark" not in done.stdout


def test_every_tier_checks_style_and_types() -> None:
    for tier in ("quick", "test", "test-all"):
        assert "ruff check" in _recipe(tier)
        assert "mypy" in _recipe(tier)


def test_only_test_all_installs_programs_and_it_leaves_no_test_out() -> None:
    assert "SHORT := -m 'not slow and not system'\n" in MAKEFILE
    for tier in ("quick", "test"):
        runs = [line for line in _recipe(tier).splitlines() if "$(PYTEST)" in line]
        assert runs
        assert all("$(SHORT)" in line for line in runs)
        assert "tests/system" not in _recipe(tier)
    whole = _recipe("test-all")
    assert "tests/system" in whole
    assert [line.split() for line in whole.splitlines() if "$(PYTEST)" in line] == [
        ["$(PYTEST)", "--cov", "--cov-report=", "$(OF_CORE)"],
        ["$(PYTEST)", "$(OF_THE_REST)"],
    ]
    assert "make test-all" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_there_are_two_marks_and_both_say_who_runs_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    marks = project["tool"]["pytest"]["ini_options"]["markers"]
    assert [mark.split(":")[0] for mark in marks] == ["slow", "system"]
    assert all("make test-all" in mark for mark in marks)
