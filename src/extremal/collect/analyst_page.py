"""The analyst's page: what a study knows so far, as HTML that needs no script.

Bars are drawn as SVG with attributes only, so that the page's policy allows no inline style; every number stands in a
table, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from extremal.collect.results import EstimatedNumber, QuestionResult, Results
from extremal.tables import number

WIDTH, HEIGHT = 220, 14  # of a bar in pixels
SHOWN_DAYS = 14  # the last ones
SHOWN_LINES = 60  # answers of a question
EMPTY = "<p>No report yet.</p>"


def analyst_page(results: Results) -> str:
    """The whole page."""
    study = results.study
    parts = [
        f"<h1>{escape(study.title)}</h1>",
        _head(results),
        *(_question(question) for question in results.questions),
        _days(results),
        _rejects(results),
        _downloads(),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(study.title)}: results so far</title>\n"
        '<link rel="stylesheet" href="/files/analyst.css">\n</head>\n<body>\n<main>\n'
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _head(results: Results) -> str:
    asked = results.study.questionnaire
    spent, made = results.invitations
    facts = [
        ("people who reported", f"{results.n:,}"),
        ("privacy", f"{asked.said_level()} per person, verified exactly"),
        ("precision", precision_said(results)),
        ("state", _state(results)),
    ]
    if results.study.invited:
        facts.append(("invitations", f"{spent:,} of {made:,} used"))
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    return f"<dl>{rows}</dl>"


def precision_said(results: Results) -> str:
    """What is reached, and when the goal will be, in a sentence."""
    goal = f"±{number(100 * results.study.precision, 3)} points"
    if results.needed is None:
        return f"no plan is made for {goal}"
    if results.n >= results.needed:
        return f"{goal} for every question: reached ({results.needed:,} people needed)"
    day = results.reached_on
    when = f"; at the rate of the last days this is reached on {day.isoformat()}" if day else ""
    return f"{goal} for every question: {results.n:,} of about {results.needed:,} people{when}"


def _state(results: Results) -> str:
    if results.closed:
        return f"closed on {results.closed}"
    until = results.study.until
    return "open" if until is None else f"open until {until.isoformat()}"


def _question(question: QuestionResult) -> str:
    title = f"<h2>{escape(question.text)}</h2>"
    if not question.lines:
        return f"<section>{title}<p>Too few reports for an estimate: {question.n:,}.</p></section>"
    shown = question.lines[:SHOWN_LINES]
    rows = "".join(_row(line, question.shares, shown) for line in shown)
    left = len(question.lines) - len(shown)
    more = f"<p>{left:,} more are in the download.</p>" if left else ""
    width = _said(question.half_width, question.shares, sign=False)
    said = f"<p>{question.n:,} people were asked; widest 95% interval: ±{escape(width)}.</p>"
    head = "<tr><th>Answer</th><th>Estimate</th><th>95% interval</th><th></th></tr>"
    return f"<section>{title}{said}<table>{head}{rows}</table>{more}</section>"


def _row(line: EstimatedNumber, shares: bool, lines: tuple[EstimatedNumber, ...]) -> str:
    interval = f"{_said(line.low, shares)} to {_said(line.high, shares)}"
    return (
        f'<tr><th scope="row">{escape(line.name)}</th><td>{_said(line.estimate, shares)}</td>'
        f"<td>{interval}</td><td>{_bar(line, shares, lines)}</td></tr>"
    )


def _said(value: float, shares: bool, sign: bool = True) -> str:
    if not math.isfinite(value):
        return "unbounded"
    return f"{round(100 * value, 1) + 0.0:.1f}{'%' if sign else ' points'}" if shares else number(value, 4)


def _bar(line: EstimatedNumber, shares: bool, lines: tuple[EstimatedNumber, ...]) -> str:
    """The estimate as a bar and the interval as a line across; shares from 0 to 1, others over what is shown."""
    low = min(0.0, *(one.low for one in lines)) if not shares else 0.0
    high = max(one.high for one in lines) if not shares else min(1.0, 1.1 * max(one.high for one in lines))
    scale = WIDTH / ((high - low) or 1.0)

    def place(value: float) -> str:
        return f"{min(max((value - low) * scale, 0.0), float(WIDTH)):.1f}"

    middle = HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">'
        f'<rect class="track" x="0" y="3" width="{WIDTH}" height="{HEIGHT - 6}"/>'
        f'<rect class="bar" x="{place(0.0)}" y="3" width="{place(max(line.estimate, low))}" height="{HEIGHT - 6}"/>'
        f'<line class="interval" x1="{place(line.low)}" x2="{place(line.high)}" y1="{middle}" y2="{middle}"/></svg>'
    )


def _days(results: Results) -> str:
    if not results.by_day:
        return EMPTY
    last = list(results.by_day.items())[-SHOWN_DAYS:]
    rows = _pairs((day.isoformat(), f"{people:,}") for day, people in last)
    return f"<section><h2>People by day</h2><table>{rows}</table></section>"


def _rejects(results: Results) -> str:
    if not results.rejects:
        return "<section><h2>Refused uploads</h2><p>None.</p></section>"
    rows = _pairs((reason, f"{times:,}") for reason, times in results.rejects.items())
    return f"<section><h2>Refused uploads, by reason</h2><table>{rows}</table></section>"


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in rows)


def _downloads() -> str:
    links = " ".join(f'<a href="/api/export/{kind}">{kind.upper()}</a>' for kind in ("csv", "jsonl"))
    return (
        f"<section><h2>Download</h2><p>All reports: {links}. Estimates: "
        '<a href="/api/results">JSON</a>. Parquet: extremal collect export.</p></section>'
    )
