"""README, tutorial and how-to pages, pasted literally in an empty directory: every output they show is what comes out.

A `python` block is run alone; a `console` block line by line after its `$`; a `text` block is what the one before it
printed, word for word, and number for number up to what another machine's arithmetic may change.
`python tests/documentation/test_pasted.py PAGE …` writes the outputs that are shown anew.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("start/tutorial", "howto/choose", "howto/contribute", "howto/survey", "howto/telemetry", "howto/theory")
NOTIONS = ("notions/pml", "notions/lip", "notions/metric")
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in (*NAMES, *NOTIONS))]
PARTLY = (
    "before/plan",
    "design/workloads",
    "estimate/change",
    "estimate/hypothesis_tests",
    "estimate/regression",
    "release/every_day",
)
HASH = re.compile(r"\b(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}\b")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
BLOCK = re.compile(r"```(python|console)\n(.*?)```(?:\n\n```text\n(.*?)```)?", flags=re.S)


def _printed_by_python(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "block", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def _printed_by_console(code: str) -> str:
    from extremal.cli import main

    printed = io.StringIO()
    for line in code.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if line.startswith("$ extremal"):
            with contextlib.redirect_stdout(printed):
                main(words[1:])
    return printed.getvalue()


PRINTED = {"python": _printed_by_python, "console": _printed_by_console}


def _plain(text: str | None) -> list[str]:
    return [line.rstrip() for line in (text or "").strip("\n").splitlines()]


def _same(line: str, other: str) -> bool:
    """The same words, and numbers that agree to a relative 1e-6 or are both below 1e-9.

    The hash of a mechanism that was found in floats is another where a library rounds otherwise.
    """
    line, other = HASH.sub("hash", line), HASH.sub("hash", other)
    numbers, others = NUMBER.findall(line), NUMBER.findall(other)
    return (
        NUMBER.sub("#", line).split() == NUMBER.sub("#", other).split()
        and len(numbers) == len(others)
        and all(
            math.isclose(float(a), float(b), rel_tol=1e-6, abs_tol=1e-9) for a, b in zip(numbers, others, strict=True)
        )
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_output_shown_is_what_comes_out(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert any(shown for _, _, shown in blocks), "the page shows no output"
    for kind, code, shown in blocks:
        printed, page_has = _plain(PRINTED[kind](code)), _plain(shown)
        same = not page_has or (len(printed) == len(page_has) and all(map(_same, printed, page_has)))
        assert same, (
            f"python tests/documentation/test_pasted.py {page.relative_to(ROOT)} shows anew what comes out:\n{code}"
            + "\n".join(printed)
        )


@pytest.mark.parametrize("name", PARTLY)
def test_what_other_pages_show_is_part_of_what_comes_out(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They leave out what a figure of chance would change, or what comes after."""
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    showing = [(kind, code, _plain(shown)) for kind, code, shown in blocks if shown]
    assert showing
    for kind, code, page_has in showing:
        printed = _plain(PRINTED[kind](code))
        starts = range(len(printed) - len(page_has) + 1)
        parts = (printed[i : i + len(page_has)] for i in starts)
        assert any(all(map(_same, part, page_has)) for part in parts), code + "\n".join(printed)


def test_a_wrong_number_or_word_is_noticed() -> None:
    assert _same("value  8.30622288928 (95%)", "value  8.30622288929 (95%)")
    assert _same("gap  2.1e-16 relative", "gap  1.9e-16 relative")
    assert not _same("value  8.306 (95%)", "value  8.307 (95%)")
    assert not _same("optimality  proved", "optimality  refuted")
    assert not _same("reports  4", "reports  4 5")


def _rewritten(page: Path) -> None:
    def with_output(found: re.Match[str]) -> str:
        kind, code, shown = found.groups()
        printed = "\n".join(_plain(PRINTED[kind](code)))
        return f"```{kind}\n{code}```" + (f"\n\n```text\n{printed}\n```" if shown is not None else "")

    page.write_text(BLOCK.sub(with_output, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    pages = [Path(name).resolve() for name in sys.argv[1:]]
    for one in pages:
        os.chdir(tempfile.mkdtemp())
        _rewritten(one)
