"""Every Python block of the README and the docs runs as pasted, alone; what a newcomer meets first prints what the page
shows; every link between pages leads somewhere; the text has one spelling."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Every page is run by make test-all; by make test what a newcomer meets first.
FIRST = {ROOT, ROOT / "docs" / "start", ROOT / "docs" / "howto"}
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", flags=re.S)
BLOCKS = [
    pytest.param(
        block,
        shown if page.parent in FIRST else "",
        id=f"{page.relative_to(ROOT)}-{number}",
        marks=[] if page.parent in FIRST else [pytest.mark.slow],
    )
    for page in PAGES
    for number, (block, shown) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)
]


@pytest.mark.parametrize(("block", "shown"), BLOCKS)
def test_a_block_runs_as_pasted(
    block: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "__main__"})
    if shown:
        assert capsys.readouterr().out.strip() == shown.strip()


AMERICAN = re.compile(
    r"\b(?:un)?(?:random|privat|optim|minim|maxim|normal|general|summar|recogn|symmetr)iz(?:e[drs]?|ers|ing|ation)\b"
    r"|\b(?:colors?|behaviors?|neighbors?|centers?|labeled|analyzed?)\b",
    flags=re.I,
)
CODE = re.compile(r"```.*?```|`[^`]*`|\*[^*\n]*\*|^ {4}.*$|^Growth: .*$|→ .*$", flags=re.S | re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_text_is_in_british_spelling(page: Path) -> None:
    """Names in code follow `randomized`; titles of books, in italics, are as they were printed."""
    prose = CODE.sub("", page.read_text(encoding="utf-8"))
    assert AMERICAN.findall(prose) == []
    assert AMERICAN.findall(f"{prose} A randomized answer, in color.") == ["randomized", "color"]


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
