"""Every example of the gallery runs as a script, draws its picture, and is a page and a notebook."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_example_runs_and_draws(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    left = runpy.run_path(str(path), run_name="__main__")
    drawn = tmp_path / f"{path.stem}.png"
    assert drawn.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert left["figure"].axes
    assert all((axis.get_xlabel() and axis.get_ylabel()) or axis.get_yticklabels() for axis in left["figure"].axes)
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_example_is_a_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    title, rule = text.split("\n")[1:3]
    assert rule == "=" * len(title)
    assert "# %%" in text
    assert re.search(r"^figure$", text, flags=re.M), "a notebook shows its last expression"


def test_there_are_examples_for_every_reader() -> None:
    rooms = {path.parent.name for path in EXAMPLES}
    assert rooms == {"surveys", "telemetry", "comparing", "theory"}
    assert len(EXAMPLES) >= 15
    assert len({path.stem for path in EXAMPLES}) == len(EXAMPLES)
