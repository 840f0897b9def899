"""A mechanism for people: a table that fits a terminal, and the same in HTML for notebooks."""

from __future__ import annotations

from html import escape

from extremal.mechanism.mechanism import Mechanism
from extremal.tables import aligned

MOST_SHOWN = 10  # rows and columns of a table; the rest is counted
_WIDEST_LABEL = 18


def _cells(mechanism: Mechanism) -> tuple[list[str], list[list[str]]]:
    in_words = mechanism.structure.in_words()
    if in_words is not None:
        return ["report", "probability"], [[what, f"{probability:.6g}"] for what, probability in in_words]
    rows, columns = min(mechanism.k, MOST_SHOWN), min(mechanism.m, MOST_SHOWN)
    more = ["…"] if mechanism.m > columns else []
    header = ["input \\ report", *(_short(mechanism.output_labels[y]) for y in range(columns)), *more]
    body = []
    for x in range(rows):
        row = mechanism.structure.row(x if mechanism.row_of is None else int(mechanism.row_of[x]))
        body.append(
            [
                _short(mechanism.input_labels[x]),
                *(f"{w / mechanism.denominator:.6g}" for w in row[:columns].tolist()),
                *more,
            ]
        )
    if mechanism.k > rows:
        body.append([f"… {mechanism.k - rows} more", *("…" for _ in header[1:])])
    return header, body


def _short(label: object) -> str:
    text = str(label)
    return text if len(text) <= _WIDEST_LABEL else f"{text[: _WIDEST_LABEL - 1]}…"


def text_table(mechanism: Mechanism) -> str:
    return f"{mechanism!r}\n{aligned(*_cells(mechanism))}"


def html_table(mechanism: Mechanism) -> str:
    header, body = _cells(mechanism)
    head = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in header)
    rows = "".join(
        f"<tr><th scope='row'>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
        for row in body
    )
    caption = escape(repr(mechanism))
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
