"""The pages in a browser: one report whatever happens, for everybody, and no request to another origin."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from scipy.stats import chi2

import extremal as ex
from extremal.collect.store import Store
from extremal.collect.study import FILE
from support.servers import serving
from support.studies import study_in, uploads

SCRIPT = Path(__file__).parent / "pages.mjs"
SELDOM = 1e-6  # of a chi-square that is refused
REPORTS = 100_000


def _asked() -> ex.Questionnaire:
    return ex.Questionnaire.within(
        3,
        {"smokes": ["no", "yes"], "party": ["left", "centre", "right"], "days": range(6)},
        texts={"smokes": "Have you smoked in the last week?", "party": ("Which party?", ["Left", "Centre", "Right"])},
        title="Health in our town",
    )


class Pages:
    """A study that is served, and a browser."""

    def __init__(self, npm: Path, node: list[str], chromium: str, folder: Path) -> None:
        self.npm, self.node, self.chromium, self.folder = npm, node, chromium, folder

    def study(self, **options: Any) -> Any:
        made, _, store = study_in(self.folder / "study", _asked(), **options)
        store.engine.dispose()
        return made

    def flow(self, name: str, link: str = "/", picture: str = "", before: int = 0) -> dict[str, Any]:
        with serving(self.folder / "study") as (_, address):
            if before:
                httpx.post(f"{address}/api/reports", json=uploads(_asked(), before))
            command = [*self.node, str(SCRIPT), str(self.npm), self.chromium, address, link, name, picture]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        found: dict[str, Any] = json.loads(done.stdout)
        assert found["elsewhere"] == []
        assert found["problems"] == []
        return found

    def stored(self) -> int:
        with Store.opened(self.folder / "study" / FILE) as store:
            assert store.check().sound
            return store.tallied()


@pytest.fixture
def pages(npm: Path, node: list[str], chromium: str, tmp_path: Path) -> Pages:
    return Pages(npm, node, f"/usr/bin/{chromium}", tmp_path)


def test_one_report_whatever_happens(pages: Pages) -> None:
    """Answer, lose the network, retry, reload, second tab, both tabs at once, reload."""
    pages.study()
    found = pages.flow("once")
    assert found["same"]
    assert found["bodies"] == 1
    assert found["after"].startswith("These reports were sent")
    assert not found["sendable"]
    assert pages.stored() == 1


def test_the_keyboard_is_enough(pages: Pages) -> None:
    pages.study()
    assert pages.flow("keyboard")["focused"] == "review-head"
    assert pages.stored() == 1


def test_an_open_question_is_marked(pages: Pages) -> None:
    pages.study()
    found = pages.flow("unanswered")
    assert (found["marked"], found["posts"]) == (1, 0)


def test_another_language(pages: Pages) -> None:
    pages.study()
    assert pages.flow("language")["button"] == "Meine Antworten zufällig verändern"


def test_a_changed_questionnaire_is_not_asked(pages: Pages) -> None:
    pages.study()
    found = pages.flow("forged")
    assert (found["asked"], found["posts"]) == (0, 0)


def test_an_invitation_is_typed(pages: Pages) -> None:
    made = pages.study(invitations=2)
    assert pages.flow("invited", made.codes[1])["posts"] == 2
    assert pages.stored() == 1


def test_a_garbled_code_in_the_link_can_be_typed(pages: Pages) -> None:
    made = pages.study(invitations=1)
    assert pages.flow("garbled", made.codes[0])["posts"] == 2
    assert pages.stored() == 1


def test_the_analysts_link_works_from_a_mail(pages: Pages) -> None:
    made = pages.study()
    assert "Health in our town" in pages.flow("mail", f"/analyst/{made.token}")["head"]


def test_no_serious_finding_of_axe(pages: Pages, tmp_path: Path) -> None:
    made = pages.study(consent="You may stop at any time.\n\nQuestions: study@example.org")
    found = pages.flow("axe", f"/analyst/{made.token}", str(tmp_path), before=300)
    assert found["found"] == []


def _expected(asked: ex.Questionnaire, reports: list[tuple[Any, ...]]) -> np.ndarray[Any, Any]:
    """The probability of each record of reports when everybody gives the first answer, from the integers."""
    from fractions import Fraction

    from extremal.mechanism.structures.joint import COIN

    assert asked.joint is not None
    structure, names = asked.joint.structure, list(asked.questions)
    totals: dict[tuple[Any, ...], Fraction] = {}
    for assignment in structure.assignments:
        parts: dict[tuple[Any, ...], Fraction] = {(None,) * len(names): Fraction(assignment.weight, COIN)}
        for block in assignment.blocks:
            parts = _with_block(asked, structure, block, parts)
        for record, p in parts.items():
            totals[record] = totals.get(record, Fraction(0)) + p
    assert sum(totals.values()) == 1
    return np.array([float(totals.get(record, Fraction(0))) for record in reports])


def _with_block(asked: ex.Questionnaire, structure: Any, block: Any, parts: dict[Any, Any]) -> dict[Any, Any]:
    """Under one coin: all questions of the block by chance, or all of them with the truth."""
    from fractions import Fraction

    from extremal.mechanism.structures.joint import COIN, Kind

    found: dict[Any, Any] = {}
    for truthful, weight in ((True, Fraction(block.coin, COIN)), (False, 1 - Fraction(block.coin, COIN))):
        branch = {record: p * weight for record, p in parts.items()}
        for j, f in zip(block.questions, block.families, strict=True):
            family = structure.families[j][f]
            rows = family.truth() if truthful else family.base()
            labels = asked.joint.reports(j, Kind(f, block.coin, 0))  # type: ignore[union-attr]
            chances = [Fraction(float(p)).limit_denominator(1000) for p in np.atleast_2d(rows)[0]]
            branch = {
                (*record[:j], label, *record[j + 1 :]): p * chance
                for record, p in branch.items()
                for label, chance in zip(labels, chances, strict=True)
                if chance
            }
        for record, p in branch.items():
            found[record] = found.get(record, 0) + p
    return found


def _statistic(counts: dict[tuple[Any, ...], int], expected: np.ndarray[Any, Any]) -> float:
    observed = np.array(list(counts.values()), dtype=float)
    assert (expected > 0).all(), "a report that the questionnaire never makes"
    pearson = float((((observed - observed.sum() * expected) ** 2) / (observed.sum() * expected)).sum())
    return float(chi2.sf(pearson, len(counts) - 1))


@pytest.mark.slow
def test_reports_of_the_page_have_the_probabilities_of_the_integers(pages: Pages) -> None:
    pages.study()
    found = pages.flow("many", str(REPORTS))["counts"]
    counts = {tuple(tuple(x) if isinstance(x, list) else x for x in json.loads(key)): n for key, n in found.items()}
    assert sum(counts.values()) == REPORTS
    expected = _expected(_asked(), list(counts))
    assert expected.sum() == pytest.approx(1)
    assert _statistic(counts, expected) > SELDOM
    tilted = dict(counts)
    first, second = list(tilted)[:2]
    moved = tilted[first] // 5
    tilted[first], tilted[second] = tilted[first] - moved, tilted[second] + moved
    assert _statistic(tilted, expected) < SELDOM
