"""Every Python block of the README and the docs runs as pasted, alone, and every link between pages leads somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Every page is run by make test-all; by make test what a newcomer meets first.
FIRST = {ROOT, ROOT / "docs" / "start", ROOT / "docs" / "howto"}
BLOCKS = [
    pytest.param(
        block,
        id=f"{page.relative_to(ROOT)}-{number}",
        marks=[] if page.parent in FIRST else [pytest.mark.slow],
    )
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S), 1)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_runs_as_pasted(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.slow
def test_the_survey_of_make_run_fits_a_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["survey.py"])
    runpy.run_path(str(ROOT / "examples" / "survey.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 120
    assert sum("proved" in line for line in lines) >= 3
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["survey.png"]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_the_readme_works_at_any_epsilon(epsilon: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.S)
    assert block is not None
    code, changed = re.subn(r"^epsilon = 2 ", f"epsilon = {epsilon} ", block[1], flags=re.M)
    assert changed == 1
    assert len([line for line in code.splitlines() if line]) <= 20
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "block", "exec"), {"__name__": "__main__"})
