"""The quantities of the Hamming paper for ordered classes: D^(l), the bounds on ε*, and where they are tight.

x_i = Q(i|i), D_i = 1 − x_i, M symbols, P_1 ≥ … ≥ P_M for every prior once the symbols are rearranged (KSS Definition
7). Classes closed under rearrangement (Definition 6, one orbit or a union of orbits) have Theorem 1, and both bounds
agree. `printed` is what KSS print, for comparison; ε* itself is `ex.smallest_epsilon`. Errata H2–H5: eq 9 needs D_1 ≤
D_2 ≤ … and, with l symbols left out, the budget D − Σ_{i>M−l} P_i of each prior; then it is exact. Eq 8 holds, and 1 −
D in place of 1 − (D − D^(l)) tightens it. Theorem 3 holds up to (M−1)·D^(1).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Prior, as_fraction, log_of_ratio
from extremal.solver import LinearProgram, SolverFailed
from extremal.sources import as_source

UpperForm = Literal["printed", "tightened"]
LowerForm = Literal["printed", "ordered", "corrected"]


def thresholds(source_class: Any) -> list[Fraction]:
    """D^(0) … D^(M−1): D^(l) is the largest total probability of the l least likely symbols (KSS eq 7).

    Below D^(l) no mechanism can leave l symbols unreported (KSS Lemma 3); from D^(M−1) on ε* = 0 (Lemma 5).

    >>> [float(d) for d in thresholds([0.5, 0.3, 0.2])]
    [0.0, 0.2, 0.5]
    """
    priors = _ordered(source_class)
    k = len(priors[0])
    return [max(Fraction(sum(p.weights[k - left :]) if left else 0, p.total) for p in priors) for left in range(k)]


def upper_bound(source_class: Any, distortion: Any, form: UpperForm = "tightened") -> float:
    """An ε that suffices for the distortion D: min over l with D^(l) < D of log((M−1−l)(1−d)/(D−D^(l))).

    Printed (KSS eq 8, 11): d = D − D^(l). Tightened (erratum H4): d = D, which the mechanism `ex.hamming` with
    d = (D−D^(l))/(1−D^(l)) reaches; for a single prior it is ε* itself.

    >>> round(upper_bound([0.5, 0.3, 0.2], 0.45, "printed"), 6), round(upper_bound([0.5, 0.3, 0.2], 0.45), 6)
    (0.893818, 0.788457)
    """
    d = _distortion(distortion)
    if _of_orbits(source_class):
        return _symmetric(source_class, d)
    levels = thresholds(source_class)
    k = len(levels)
    if d >= levels[-1]:
        return 0.0
    candidates = []
    for left, level in enumerate(levels[:-1]):
        if level < d:
            kept = 1 - (d - level) if form == "printed" else 1 - d
            candidates.append((k - 1 - left) * kept / (d - level))
    return _log(min(candidates)) if candidates else math.inf


def lower_bound(source_class: Any, distortion: Any, form: LowerForm = "corrected") -> float:
    """No ε below this suffices for the distortion D: min over l of KSS eq 9, each a linear-fractional program.

    Printed: eq 9 and 12 as they stand. Ordered: with D_1 ≤ D_2 ≤ … added (erratum H2). Corrected: also with the budget
    of each prior (erratum H3); then it equals ε*.

    >>> round(lower_bound([0.5, 0.3, 0.2], 0.1, "printed"), 6), round(lower_bound([0.5, 0.3, 0.2], 0.1), 6)
    (2.302585, 2.890372)
    """
    d = _distortion(distortion)
    if _of_orbits(source_class):
        return _symmetric(source_class, d)
    priors, levels = _ordered(source_class), thresholds(source_class)
    if d >= levels[-1]:
        return 0.0
    within = [left for left, level in enumerate(levels[:-1]) if level <= d]
    return min(left_out_bound(priors, d, left, form) for left in within)


def left_out_bound(priors: list[Prior], distortion: Fraction, left: int, form: LowerForm) -> float:
    """KSS eq 9 with l = `left` symbols never reported: log of min Σ_{j≥2} x_j/(1−x_1), by the Charnes–Cooper
    transformation."""
    n = len(priors[0]) - left
    largest = max(Fraction(sum(p.weights[n:]), p.total) for p in priors)
    rows, lower, upper = [np.r_[-1.0, np.zeros(n - 1), 1.0]], [1.0], [1.0]  # s − z_1 = 1
    for p in priors:  # Σ P_i (s − z_i) ≤ budget·s
        budget = distortion - (Fraction(sum(p.weights[n:]), p.total) if form == "corrected" else largest)
        rows.append(np.r_[-p.values[:n], float(Fraction(sum(p.weights[:n]), p.total) - budget)])
        lower, upper = [*lower, -np.inf], [*upper, 0.0]
    unit = np.eye(n + 1)
    if form == "printed":  # z_i ≤ s
        rows.extend(unit[i] - unit[n] for i in range(n))
    else:  # s ≥ z_1 ≥ z_2 ≥ …
        rows.extend([unit[0] - unit[n], *(unit[i + 1] - unit[i] for i in range(n - 1))])
    added = len(rows) - len(lower)
    program = LinearProgram([*lower, *[-np.inf] * added], [*upper, *[0.0] * added])
    program.add(np.array(rows), np.r_[0.0, -np.ones(n - 1), 0.0])
    try:
        ratio = -program.solve().value
    except SolverFailed:
        return math.inf  # no diagonal within the budget has x_1 < 1
    return math.log(ratio) if ratio > 0 else -math.inf


def regime(source_class: Any, distortion: Any) -> str:
    """The statement that gives ε* at D, in words.

    >>> regime([0.5, 0.3, 0.2], 0.1), regime([0.5, 0.3, 0.2], 0.45)
    ('Theorem 3: log((M−1)(1−D)/D)', 'between the bounds of Theorem 2')
    """
    source, d = as_source(source_class, "source_class"), _distortion(distortion)
    k, formula = source.k, "log((M−1)(1−D)/D)"
    if _of_orbits(source):
        return f"Theorem 1: {formula}" if d * k < k - 1 else "Theorem 1: 0"
    levels = thresholds(source)
    if d >= levels[-1]:
        return "Lemma 5: 0"
    if d < levels[1]:
        return f"Theorem 3: {formula}"
    if any(p.weights[0] == p.weights[-1] for p in _ordered(source)):
        return f"Theorem 4: {formula}"
    return f"Theorem 3, extended: {formula}" if d <= (k - 1) * levels[1] else "between the bounds of Theorem 2"


def _of_orbits(source_class: Any) -> bool:
    """Whether every rearrangement of a prior of the class is in the class: KSS Definition 6, one orbit or several."""
    source = as_source(source_class, "source_class")
    if source.symmetric:
        return True
    listed = {(p.weights, p.total) for p in source.priors}
    if source.listed is None or len(listed) < 2:
        return False
    return all(
        ((*w[:i], w[i + 1], w[i], *w[i + 2 :]), total) in listed for w, total in listed for i in range(len(w) - 1)
    )


def _symmetric(source_class: Any, d: Fraction) -> float:
    """KSS Theorem 1: log((M−1)(1−D)/D), 0 from D = (M−1)/M on; both bounds at once."""
    k = as_source(source_class, "source_class").k
    if d * k >= k - 1:
        return 0.0
    return _log((k - 1) * (1 - d) / d) if d else math.inf


def _ordered(source_class: Any) -> list[Prior]:
    """The priors with the symbols from the likeliest on: one order for all of them (KSS Definition 7)."""
    source = as_source(source_class, "source_class")
    if source.single is not None or source.listed is not None:
        priors = source.priors[:1] if source.single is not None else source.priors
        order = sorted(range(source.k), key=lambda x: sum(p.fraction(x) for p in priors), reverse=True)
        rearranged = [Prior([p.fraction(x) for x in order]) for p in priors]
        if all(a >= b for p in rearranged for a, b in zip(p.weights, p.weights[1:], strict=False)):
            return rearranged
    raise InvalidParameter(
        "the bounds of the paper are for classes of one order: some rearrangement makes every prior non-increasing",
        parameter="source_class",
        value=source,
        hint="ex.smallest_epsilon takes any class.",
    )


def _distortion(distortion: Any) -> Fraction:
    d = as_fraction(distortion, "distortion")
    if not 0 <= d <= 1:
        raise InvalidParameter("distortion must lie between 0 and 1", parameter="distortion", value=distortion)
    return d


def _log(ratio: Fraction) -> float:
    if ratio <= 0:
        return -math.inf
    return (
        log_of_ratio(ratio.numerator, ratio.denominator)
        if ratio >= 1
        else -log_of_ratio(ratio.denominator, ratio.numerator)
    )
