"""What a notebook shows: every result as a table, every text escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

import extremal as ex
from extremal.optimize import Design

P0, P1 = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]
LABELS = ["<b>never</b>", "once & twice", "often"]


class Balanced(HTMLParser):
    """Refuses tags that are closed in another order than they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _design() -> Design:
    return ex.design(ex.LDP(1), ex.KL(P0, P1), inputs=LABELS)


def _estimate(by: Any = None) -> Any:
    m = ex.randomized_response(LABELS, 1)
    return ex.estimate_frequencies(m.privatize(LABELS * 20), m, by=by)


def _crosstab() -> Any:
    m = ex.randomized_response(LABELS, 1)
    reports = {"a": m.privatize(LABELS * 20), "b": m.privatize(LABELS * 20)}
    import pandas as pd

    return ex.estimate_crosstab(pd.DataFrame(reports), {"a": m, "b": m})


SHOWN = {
    "mechanism": lambda: _design().mechanism,
    "design": _design,
    "verification": lambda: ex.verify(_design()),
    "estimate": _estimate,
    "strata": lambda: _estimate(by=["<i>"] * 30 + ["south"] * 30),
    "difference": lambda: _estimate().difference(_estimate()),
    "crosstab": _crosstab,
    "comparison": lambda: ex.compare([ex.KL(P0, P1), ex.MutualInformation(P0)], epsilon=1),
    "tradeoff": lambda: ex.tradeoff(ex.LDP, ex.KL(P0, P1), [1, 2]),
    "distortions": lambda: ex.studies.distortion_tradeoff(P0, [0.1, 0.3]),
    "leakage": lambda: ex.studies.equal_leakage(P0, [0.5]),
    "information": lambda: ex.tradeoff(ex.LDP, ex.MutualInformation(P0), [1.0]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_shows_a_table_with_everything_escaped(name: str) -> None:
    text = SHOWN[name]()._repr_html_()
    parser = Balanced()
    parser.feed(text)
    assert not parser.open
    assert parser.seen <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "pre"}
    assert {"table", "pre"} & parser.seen


def test_the_table_of_a_design_says_what_its_summary_says() -> None:
    d = _design()
    shown = d._repr_html_()
    assert f"{d.value:.12g}" in shown
    assert "verified exactly" in shown
    assert "&lt;b&gt;never" in shown


def test_the_table_of_a_verification_has_a_verdict_for_each_claim() -> None:
    proved = ex.verify(_design())
    for shown in (proved._repr_html_(), str(proved)):
        verdicts = [
            line.split()[:2] for line in shown.splitlines() if line.startswith(("privacy", "value", "optimality"))
        ]
        assert [name for name, _ in verdicts] == ["privacy", "value", "optimality"]
        assert all(said.startswith("proved") for _, said in verdicts)


def test_many_strata_are_counted_and_those_left_out_are_named() -> None:
    m = ex.randomized_response(3, 1)
    by = [i // 2 for i in range(300)] + ["alone"]
    shown = ex.estimate_frequencies(m.privatize([0] * 301), m, by=by)._repr_html_()
    assert "250 more: use to_frame()" in shown
    assert "alone" in shown


def test_printed_headers_are_the_same_in_every_table() -> None:
    shown = str(ex.tradeoff(ex.LDP, ex.MutualInformation(P0), [1.0]))
    assert shown.split("\n")[2].split()[0] == "ε"
    assert "randomised response" in shown
    assert "ε" in str(ex.studies.distortion_tradeoff(P0, [0.3])).split("\n")[0]
