"""A mechanism for people: a table that fits a terminal, the same in HTML for notebooks, a heat map; and the page that
everything for those who are asked is printed on."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import TooLarge
from extremal.exact import as_prior
from extremal.exact.weights import Floats
from extremal.mechanism.labels import count_text
from extremal.plotting import figure
from extremal.tables import aligned, html, shortened

if TYPE_CHECKING:
    from extremal.mechanism.value import Mechanism

MOST_SHOWN = 10  # rows and columns of a table; the rest is counted
MOST_DRAWN = 128  # rows and columns of a heat map: beyond that a label is no longer readable
_WIDEST_LABEL = 18  # characters: ten columns of them are the widest table that a wide terminal shows


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
    return shortened(label, _WIDEST_LABEL)


def text_table(mechanism: Mechanism) -> str:
    return f"{mechanism!r}\n{aligned(*_cells(mechanism))}"


def html_table(mechanism: Mechanism) -> str:
    return html(*_cells(mechanism), caption=repr(mechanism))


def heat_map(mechanism: Mechanism, prior: Any = None) -> Any:
    """Inputs downwards, reports across, probabilities as colours and, while they can be read, as numbers."""
    rows, columns = mechanism.k, mechanism.m
    if rows > MOST_DRAWN or columns > MOST_DRAWN:
        raise TooLarge(
            f"a heat map shows at most {MOST_DRAWN} inputs and reports",
            parameter="inputs and reports",
            value=f"{rows} and {count_text(columns)}",
            hint="print(m) shows the first of them.",
        )
    numbers = rows <= MOST_SHOWN + 2 and columns <= MOST_SHOWN + 2
    width, height = (0.62, 0.42) if numbers else (0.24, 0.2)  # of a cell, inches
    drawn, axis = figure(width=2.6 + max(3.0, width * columns), height=1.7 + max(1.6, height * rows))
    matrix = mechanism.matrix
    image = axis.imshow(matrix, cmap="Blues", vmin=0.0, vmax=max(float(matrix.max()), 1e-300), aspect="auto")
    axis.grid(visible=False)
    axis.set_yticks(range(rows), _row_names(mechanism, prior))
    names = [_short(label) for label in mechanism.output_labels]
    turned = {"rotation": 40, "ha": "right"} if columns > 4 and max(map(len, names)) > 5 else {}
    axis.set_xticks(range(columns), names, **turned)
    if numbers:
        _write_numbers(axis, matrix)
    axis.set_xlabel("report")
    axis.set_ylabel("true value")
    drawn.colorbar(image, ax=axis, label="probability of the report", shrink=0.9)
    claim = "no claim" if mechanism.privacy is None else repr(mechanism.privacy)
    axis.set_title(f"{rows} inputs, {columns} reports, {claim}", fontsize="medium")
    return drawn


def _row_names(mechanism: Mechanism, prior: Any) -> list[str]:
    """The inputs, with their probabilities if there is a prior."""
    names = [_short(label) for label in mechanism.input_labels]
    if prior is None:
        return names
    shares = as_prior(prior, inputs=mechanism.input_labels).values
    return [f"{name} (prior {p:.3g})" for name, p in zip(names, shares, strict=True)]


def _write_numbers(axis: Any, matrix: Floats) -> None:
    """Each probability in its cell, white on dark cells."""
    half = 0.55 * float(matrix.max())
    for (x, y), value in np.ndenumerate(matrix):
        colour = "white" if value > half else "black"
        axis.text(y, x, f"{value:.3g}", ha="center", va="center", fontsize=8, color=colour)


def document(title: str, body: str) -> str:
    """One self-contained page; the body is HTML."""
    return _PAGE.format(title=escape(title), body=body)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
body {{ color: #1a1a1a; background: #fff; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #ccc; }}
th:first-child, td:first-child {{ text-align: left; }}
svg {{ max-width: 100%; height: auto; }}
code {{ overflow-wrap: anywhere; }}
@media print {{ body {{ margin: 0; max-width: none; }} h2 {{ break-after: avoid; }} tr {{ break-inside: avoid; }} }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""
