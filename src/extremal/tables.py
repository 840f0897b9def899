"""Tables for people: aligned text for a terminal, HTML for a notebook, and data frames."""

from __future__ import annotations

import importlib
import math
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from extremal.errors import MissingDependency

WIDEST = 100  # characters of a line


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 0) -> str:
    """Right-aligned columns two spaces apart; the first `left` columns are left-aligned.

    Where a line would be longer than a hundred characters, the words of the headings stand below each other.

    >>> print(aligned(["name", "ε"], [["a", "1"], ["bb", "10"]], left=1))
    name   ε
    a      1
    bb    10
    """
    widest = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    heads = [list(header)] if sum(widest) + 2 * len(widest) - 2 <= WIDEST else _stacked(header)
    table = [*heads, *map(list, rows)]
    widths = [max(len(row[j]) for row in table) for j in range(len(header))]
    sides = [str.ljust if j < left else str.rjust for j in range(len(header))]
    lines = ("  ".join(side(cell, w) for side, cell, w in zip(sides, row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)


def _stacked(header: Sequence[str]) -> list[list[str]]:
    """The words of each heading below each other, the last ones in one line."""
    words = [heading.split() for heading in header]
    tallest = max(map(len, words))
    return [list(line) for line in zip(*([""] * (tallest - len(w)) + w for w in words), strict=True)]


def wrapped(sentence: str, first: str = "", further: str = "") -> str:
    """A sentence in lines of at most 100 characters: `first` stands before the first, `further` before the others.

    >>> print(wrapped("ε adds up over reports, " * 5, "- ", "  "))
    - ε adds up over reports, ε adds up over reports, ε adds up over reports, ε adds up over reports, ε
      adds up over reports,
    """
    return textwrap.fill(
        sentence,
        WIDEST,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def shortened(label: object, width: int) -> str:
    """A label as text of at most so many letters.

    >>> shortened("a long answer", 8), shortened(1, 8)
    ('a long …', '1')
    """
    text = str(label)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def html(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "", below: Sequence[str] = ()) -> str:
    """The same for a notebook: a table with a caption above it and sentences below; all text is escaped.

    >>> html(["name", "ε"], [["<a>", "1"]])
    "<table><thead><tr><th scope='col'>name</th><th scope='col'>ε</th></tr></thead><tbody><tr><th scope='row'>&lt;a&gt;</th><td>1</td></tr></tbody></table>"
    """  # noqa: E501
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr><th scope='row'>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
        for row in rows
    )
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in below)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{sentences}"


def preformatted(text: str) -> str:
    """Text whose columns are aligned already, for a notebook.

    >>> preformatted("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def heading(name: str) -> str:
    """A column's name as a printed table shows it; data frames keep the name itself.

    >>> heading("epsilon"), heading("randomized_response")
    ('ε', 'randomised response')
    """
    return name.replace("epsilon", "ε").replace("_", " ").replace("randomized", "randomised")


def number(value: float | None, digits: int = 6) -> str:
    """A number as a table shows it; a dash when there is none.

    >>> number(0.123456789), number(14546.68, 2), number(1.5e9, 3), number(None)
    ('0.123457', '15000', '1.5e+09', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e7 else text


def how_many(count: int) -> str:
    """A number of reports as a table shows it.

    >>> how_many(4950), how_many(10**9), how_many(1 << 4000)
    ('4950', '1e+09', 'huge')
    """
    return str(count) if count < 10**7 else f"{count:.2g}" if count < 10**300 else "huge"


def outward(value: float, up: bool, digits: int = 4) -> str:
    """A bound as a table shows it: rounded to some digits, up or down, so that what is said still holds.

    >>> outward(0.999999, up=False), outward(0.048551, up=True), outward(0.05, up=True), outward(0.0, up=True)
    ('0.9999', '0.04856', '0.05', '0')
    """
    if not math.isfinite(value) or not value:
        return number(value, digits)
    exact = Fraction(value)
    unit = Fraction(10) ** (math.floor(math.log10(abs(value))) - digits + 1)
    near = round(exact / unit)
    if abs(exact / unit - near) < Fraction(1, 10**6):  # 0.05 is not a float, and still 0.05
        return number(float(near * unit), digits)
    return number(float((math.ceil(exact / unit) if up else math.floor(exact / unit)) * unit), digits)


def as_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas data frame, or a polars one when only that is installed."""
    for library in ("pandas", "polars"):
        try:
            return importlib.import_module(library).DataFrame(dict(columns))
        except ImportError:
            continue
    raise MissingDependency("a data frame needs pandas or polars", hint="pip install 'extremal[frames]'")
