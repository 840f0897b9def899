"""What was decided, in words: the mechanism by its hash, its inputs, the goal with its numbers, how good the bound is.

A verdict is worth nothing without its subject: "proved" must say what. Long lists are abridged, and named by the
SHA-256 of their JSON, so that two people can tell whether they speak of the same numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from math import isinf
from typing import Any

from extremal.certificate.certificate import Statement
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_text

LONGEST = 90  # characters of a list, or of labels, that is written out
SHOWN = 2  # entries of a longer one
DIGITS = 16  # of a hash that is shown
SMALLEST_SHARE = 1e-4  # of what is shown in per cent
TIGHT = 1e-6  # the largest relative gap that is called optimal


def about(mechanism: Mechanism, digest: str | None, utility: Statement | None) -> tuple[tuple[str, str], ...]:
    """The subject of a verdict, as pairs of a heading and a text; `digest` is the hash that a mechanism file states."""
    inputs = mechanism.input_labels.to_json()
    labels = f"0..{mechanism.k - 1}"
    if isinstance(inputs, list):
        labels = _listed(inputs, partial(json.dumps, ensure_ascii=False))
    found = [
        ("mechanism", f"{mechanism.k} inputs, {count_text(mechanism.m)} reports, SHA-256 {digest or mechanism.hash}"),
        ("inputs", labels),
    ]
    return (*found, ("goal", described(utility.to_json()))) if utility is not None else tuple(found)


def described(value: Any) -> str:
    """What a file says of a goal, a source or a number; a field that is null has its usual meaning and is left out.

    >>> described({"utility": "KL", "p0": ["0.5", "0.5"], "p1": ["0.1", "0.9"]})
    'KL, p0 = (0.5, 0.5), p1 = (0.1, 0.9)'
    >>> described({"utility": "Hamming", "source": {"kind": "list", "priors": [["0.5", "0.5"]]}})
    'Hamming, prior = (0.5, 0.5)'
    >>> described({"utility": "Hamming", "source": {"kind": "list", "priors": [["2", "1"]]}})
    'Hamming, prior weights = (2, 1)'
    >>> described({"utility": "Hamming", "source": {"kind": "simplex", "k": 5}})
    'Hamming, source = [simplex, k = 5]'
    >>> described({"utility": "CDF", "source": {"kind": "simplex", "k": 5}, "thresholds": None})
    'CDF, source = [simplex, k = 5]'
    """
    if isinstance(value, dict):
        name = next((str(value[key]) for key in ("utility", "kind") if key in value), "")
        given = {key: part for key, part in value.items() if key not in ("utility", "kind") and part is not None}
        return ", ".join([name, *(f"{key} = {_inside(part)}" for key, part in map(_plain, given.items()))])
    return _listed(value, _inside) if isinstance(value, list) else str(value)


def _plain(field: tuple[str, Any]) -> tuple[str, Any]:
    """One prior is called so; a file holds it as a source with a list of one, in decimals or as whole weights."""
    match field:
        case "source", {"kind": "list", "priors": [prior]}:
            return ("prior weights" if all(text.isdecimal() for text in prior) else "prior"), prior
    return field


def _inside(value: Any) -> str:
    return f"[{described(value)}]" if isinstance(value, dict) else described(value)


def _listed(value: list[Any], write: Callable[[Any], str]) -> str:
    texts = list(map(write, value[: LONGEST + 1]))  # as many entries are too long a list, whatever they are
    whole = ", ".join(texts)
    if len(whole) <= LONGEST or len(texts) <= SHOWN:
        return f"({whole})"
    digest = hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    shown = ", ".join(text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…" for text in texts[:SHOWN])
    return f"({shown}, …: {len(value)} entries, SHA-256 {digest[:DIGITS]}…)"


def relative_gap(lower: float, upper: float) -> float:
    """(upper − lower)/|upper|; 0 when both are equal, infinite when the upper end says nothing."""
    if lower == upper:
        return 0.0
    return float("inf") if isinf(upper) or not upper else (upper - lower) / abs(upper)


def how_good(gap: float, interval: tuple[float, float]) -> str:
    """What a proved bound says about the mechanism: the optimum lies in the interval.

    >>> how_good(0.0, (0.25, 0.25))
    'optimal to the last digit, 0.25'
    >>> how_good(0.123, (0.877, 1.0))
    'within 12% of the optimum: bound proved, between 0.877 and 1.0'
    """
    lower, upper = interval
    if not gap:
        return f"optimal to the last digit, {lower!r}"
    between = f"between {lower!r} and {upper!r}"
    if gap <= TIGHT:
        return f"optimal to within {gap:.1e}, {between}"
    if gap < 1:
        share = f"{100 * gap:.2g}%" if gap >= SMALLEST_SHARE else f"{gap:.1e}"
        return f"within {share} of the optimum: bound proved, {between}"
    return f"bound proved, {between}, which does not tell how good the mechanism is"
