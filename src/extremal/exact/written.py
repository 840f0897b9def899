"""Texts and fields of files: what the writer writes, and nothing else.

A file that states a thing twice, or in a form that the writer would not choose, can be read in two ways: one reader
decides the one claim, another shows the other. So every object of a file has exactly its fields, and every number has
one text: `docs/reference/mechanism_file.md`, section Grammar. Anything else is malformed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction
from typing import Any

from extremal.errors import ExtremalError, MalformedFile
from extremal.exact.numbers import as_fraction, decimal_text

LONGEST_RATIONAL = 1000  # characters: reading takes time that grows with their square, and a file may hold many
DECIMAL = re.compile(r"(?!-0\Z)-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")
WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_QUOTIENT = re.compile(r"-?[1-9][0-9]*/[1-9][0-9]*")


def refuse_other_fields(content: Any, fields: Collection[str], what: str) -> None:
    """Raise unless `content` is an object with these fields and no others.

    >>> refuse_other_fields({"epsilon": "1", "ratio": "9"}, ["epsilon"], "a level")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    extremal.errors.MalformedFile: a level must have the field epsilon and no other
    """
    if not isinstance(content, dict):
        raise MalformedFile(f"{what} must be an object", parameter="type", value=type(content).__name__)
    if set(content) == set(fields):
        return
    missing, other = sorted(set(fields) - set(content)), sorted(set(content) - set(fields))
    raise MalformedFile(
        f"{what} must have the fields {', '.join(fields)} and no others",
        parameter="missing" if missing else "unexpected",
        value=(missing or other)[:6],
    )


def level_field(content: Any) -> str:
    """The one of `epsilon` and `ratio` by which an object states a level."""
    return "ratio" if isinstance(content, dict) and "ratio" in content else "epsilon"


def written_fraction(text: Any, parameter: str) -> Fraction:
    """The rational that a text stands for.

    >>> written_fraction("0.1", "epsilon"), written_fraction("1/3", "epsilon")
    (Fraction(1, 10), Fraction(1, 3))

    Raises:
        MalformedFile: no rational, or not the text that the writer has for it ("1.0", "2/4", "1_0", " 1", "1e3").
    """
    if isinstance(text, str) and len(text) <= LONGEST_RATIONAL and _is_rational(text):
        return as_fraction(text, parameter)
    raise MalformedFile(
        f"{parameter} must be a decimal or a fraction in its shortest form, of at most {LONGEST_RATIONAL:,} characters",
        parameter=parameter,
        value=str(text)[:60],
        hint='Files hold "0.1" and "1/3".',
    )


def _is_rational(text: str) -> bool:
    """Whether the writer has this text for what it stands for."""
    if DECIMAL.fullmatch(text) is None and _QUOTIENT.fullmatch(text) is None:
        return False
    try:
        return decimal_text(as_fraction(text, "number")) == text
    except ExtremalError:
        return False


def written_double(text: Any, parameter: str) -> float:
    """The double that a text stands for: the text is what `repr` writes; infinities are `inf` and `-inf`.

    >>> written_double("0.25", "value"), written_double("-inf", "value")
    (0.25, -inf)

    Raises:
        MalformedFile: no double, NaN, or another text of it ("0.250", "1_0", more digits than the double has).
    """
    try:
        number = float(text) if isinstance(text, str) and text.isascii() else None
    except ValueError:
        number = None
    if number is None or repr(number) != text or text == "nan":
        raise MalformedFile(
            f"{parameter} must be a double as it prints", parameter=parameter, value=str(text)[:60], hint="As 0.25."
        )
    return number
