"""Every field of a proof, damaged: numbers that are wrong, extreme or of another type, lists of another length."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from extremal.exact import decimal_text
from support.proofs.comparison import Content

MOST_PLACES = 3  # of a list that are looked at: entries of one list are treated alike
HUGE = 1 << 40  # a count that no list can be as long as
REASONS: tuple[Content, ...] = (
    {"kind": "listed", "tree": [], "revealed": False},
    {"kind": "listed", "tree": [], "revealed": True},
    {"kind": "chords", "nodes": ["1"], "multipliers": [], "tree": [], "trees": []},
    {"kind": "sets", "choices": ["0.5"], "trees": [[0]]},
    {"kind": "matrix", "d": [1, 1, 1], "n": [], "blocks": [], "scale": 0},
    {"kind": "truncated", "reason": {"kind": "listed", "tree": [], "revealed": False}},
)
"""Put where another reason stands."""


def damaged(draw: random.Random, proof: Content) -> Iterator[tuple[str, Content]]:
    """(what was done, the proof with that one change), for every field of it and of what is nested in it."""
    for path in _places(draw, proof):
        for said, change in _changes(draw, _at(proof, path)):
            spoiled = copy.deepcopy(proof)
            _at(spoiled, path[:-1])[path[-1]] = change
            yield f"{'.'.join(map(str, path))}: {said}", spoiled
        if isinstance(path[-1], str):
            spoiled = copy.deepcopy(proof)
            del _at(spoiled, path[:-1])[path[-1]]
            yield f"{'.'.join(map(str, path))}: missing", spoiled
    yield "a field too many", {**copy.deepcopy(proof), "other": 1}


def _at(content: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        content = content[step]
    return content


def _places(draw: random.Random, content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(content, dict):
        for name in content:
            yield (*path, name)
            yield from _places(draw, content[name], (*path, name))
    elif isinstance(content, list):
        chosen = (
            range(len(content))
            if len(content) <= MOST_PLACES
            else sorted(draw.sample(range(len(content)), MOST_PLACES))
        )
        for i in chosen:
            yield (*path, i)
            yield from _places(draw, content[i], (*path, i))


def _changes(draw: random.Random, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool):
        yield from (("turned", not value), ("no flag", 1))
    elif isinstance(value, int):
        for other in {0, 1, -1, -2, value + 1, value - 1, -value, 2 * value, HUGE, -HUGE}:
            yield str(other), other
        yield from (("a string", str(value)), ("a truth value", True))
    elif isinstance(value, str):
        yield from _strings(draw, value)
    elif isinstance(value, list):
        yield from (("empty", []), ("no list", None))
        if value:
            yield from (("shorter", value[:-1]), ("longer", [*value, copy.deepcopy(value[-1])]))
            yield "turned round", value[::-1]
    elif isinstance(value, dict) and value.get("kind") in {reason["kind"] for reason in REASONS}:
        yield from ((f"another reason, {reason['kind']}", copy.deepcopy(reason)) for reason in REASONS)


def _strings(draw: random.Random, value: str) -> Iterator[tuple[str, str]]:
    """Other kinds, or other numbers: nearby, of the other sign, extreme, or none."""
    try:
        number = Fraction(value)
    except ValueError:
        yield from (("an unknown kind", "theorem"), ("another kind", "dual"), ("another kind", "listed"))
        return
    near = number * (1 + Fraction(draw.choice((-1, 1)), 10 ** draw.randint(1, 12)))
    for other in (Fraction(0), -number, near, number / 2, 2 * number, Fraction(10) ** 300, -(Fraction(10) ** -300)):
        whole = value.lstrip("-").isdigit()
        yield f"{float(other):.3g}", str(round(other)) if whole else decimal_text(other)
    for text in ("nan", "inf", "1/2", "", "1e401", "1" * 401, "0x1"):
        yield f"{text[:5]!r}", text
