"""The division of a person's budget among the questions.

The best ε-LDP mechanism for the shares of k answers, in the worst case over them, is subset selection (Ye and Barg
2018); with sets of size d, n × the total variance of its estimates at equal shares, which is that worst case, is

    V_d(ε) = (k − 1)²(ku + d)² / (k·d(k − d)),   u = 1/(e^ε − 1),

convex and falling in ε for each d. A split minimises Σ w_j·V(ε_j) over ε_1 + … + ε_J = ε, V = min_d V_d. The minimum
over d is not quite convex, so the sizes are chosen by dynamic programming over a grid of the budget; for these sizes
the problem is convex and is solved by its multiplier: all w_j·V_d'(ε_j) are equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.closed_forms.set_systems import best_size_for_frequencies
from extremal.errors import InvalidParameter
from extremal.exact import as_count, as_fraction
from extremal.exact.bisection import bisected
from extremal.exact.exponential import LARGEST_EPSILON, SMALLEST_EPSILON
from extremal.exact.weights import Floats

SPLITS = ("equal", "variance")
GRID = 240  # cells of the budget in the first search
DIGITS = 6  # of the budget, to which a share is rounded
AGAIN = 8  # sizes may change when the levels do


def total_variance(k: int, epsilon: float, size: int | None = None) -> float:
    """n × the total variance of k estimated shares, all equal, by subset selection at ε; with the best size if none is
    given.

    >>> round(total_variance(10, 1.0), 4)
    30.0041
    """
    d = best_size_for_frequencies(k, epsilon) if size is None else size
    return (k - 1) ** 2 * (k / math.expm1(epsilon) + d) ** 2 / (k * d * (k - d))


def split_budget(
    epsilon: Any, sizes: Mapping[str, int], split: str = "equal", weights: Mapping[str, Any] | None = None
) -> dict[str, Fraction]:
    """The ε of each question, adding up to `epsilon` exactly.

    Args:
        epsilon: the budget of one person, nats.
        sizes: the number of answers of each question.
        split: "equal", or "variance": least weighted sum of the total variances of the shares of each question.
        weights: how much the variance of each question counts; 1 where not given.

    >>> split_budget(2, {"drugs": 2, "party": 2})
    {'drugs': Fraction(1, 1), 'party': Fraction(1, 1)}
    >>> {name: float(e) for name, e in split_budget(2, {"drugs": 2, "party": 8}, "variance").items()}
    {'drugs': 0.61655, 'party': 1.38345}
    """
    total = as_fraction(epsilon, "epsilon")
    counts = {name: as_count(k, f"sizes[{name!r}]", 2) for name, k in sizes.items()}
    if not counts:
        raise InvalidParameter("there must be at least one question", parameter="sizes", value=dict(sizes))
    if not SMALLEST_EPSILON * len(counts) <= total <= LARGEST_EPSILON:
        raise InvalidParameter(
            f"epsilon must lie between {float(SMALLEST_EPSILON * len(counts)):g} and {float(LARGEST_EPSILON):g}",
            parameter="epsilon",
            value=epsilon,
        )
    if split not in SPLITS:
        raise InvalidParameter(f"split must be one of {', '.join(SPLITS)}", parameter="split", value=split)
    scale = _weights(counts, weights, split)
    if split == "equal" or len(counts) == 1:
        return {name: total / len(counts) for name in counts}
    levels = _least(float(total), list(counts.values()), scale)
    return dict(zip(counts, _rounded(total, levels), strict=True))


def _weights(counts: Mapping[str, int], weights: Mapping[str, Any] | None, split: str) -> Floats:
    given = {} if weights is None else dict(weights)
    if given and split == "equal":
        raise InvalidParameter(
            "weights change nothing in an equal split", parameter="weights", value=given, hint='Use split="variance".'
        )
    strange = [name for name in given if name not in counts]
    if strange:
        raise InvalidParameter("weights must be for questions", parameter="weights", value=strange[0])
    scale = np.array([float(as_fraction(given.get(name, 1), f"weights[{name!r}]")) for name in counts])
    if (scale <= 0).any():
        raise InvalidParameter("weights must be positive", parameter="weights", value=given)
    return scale


def _least(total: float, ks: list[int], weights: Floats) -> Floats:
    """The levels of least weighted variance."""
    best = _by_grid(total, ks, weights)
    value = _cost(best, ks, weights)
    for _ in range(AGAIN):
        sizes = [best_size_for_frequencies(k, e) for k, e in zip(ks, best.tolist(), strict=True)]
        found = _for_sizes(total, np.array(ks), np.array(sizes), weights)
        cost = _cost(found, ks, weights)
        if not cost < value:
            break
        best, value = found, cost
    return best


def _cost(levels: Floats, ks: list[int], weights: Floats) -> float:
    return math.fsum(w * total_variance(k, e) for w, k, e in zip(weights.tolist(), ks, levels.tolist(), strict=True))


def _by_grid(total: float, ks: list[int], weights: Floats) -> Floats:
    """The best division of the budget into whole cells, at least one for each question."""
    cells = max(GRID, 6 * len(ks))
    unit = total / cells
    least = np.full(cells + 1, np.inf)  # of what was spent so far
    least[0] = 0.0
    chosen = []
    for k, w in zip(ks, weights.tolist(), strict=True):
        own = np.array([np.inf, *(w * total_variance(k, unit * c) for c in range(1, cells + 1))])
        after, pick = np.full(cells + 1, np.inf), np.zeros(cells + 1, dtype=np.int64)
        for spent in range(cells + 1):
            sums = least[: spent + 1] + own[spent::-1]
            pick[spent] = int(sums.argmin())
            after[spent] = sums[pick[spent]]
        least = after
        chosen.append(pick)
    levels, spent = np.zeros(len(ks)), cells
    for j in range(len(ks) - 1, -1, -1):
        before = int(chosen[j][spent])
        levels[j] = (spent - before) * unit
        spent = before
    return levels


def _for_sizes(total: float, ks: Any, sizes: Any, weights: Floats) -> Floats:
    """For fixed sizes the problem is convex: levels with equal slopes w·2C·k(ku + d)u(1 + u), by bisection."""
    scales = (2 * weights * (ks - 1) ** 2 / (sizes * (ks - sizes))).tolist()
    questions = list(zip(scales, ks.tolist(), sizes.tolist(), strict=True))

    def levels(slope: float) -> Floats:
        return np.array([_with_slope(slope, *question) for question in questions])

    # The logarithm of the slope: the sum of the levels falls with it.
    log_slope = bisected(lambda s: levels(math.exp(s)).sum() <= total, -600.0, 200.0)
    found = levels(math.exp(log_slope))
    return np.asarray(found * (total / found.sum()))


def _with_slope(slope: float, scale: float, k: int, size: int) -> float:
    """The ε at which a question's variance has this slope, by the logarithm of u."""

    def steep(log_u: float) -> bool:
        u = math.exp(log_u)
        return scale * (k * u + size) * u * (1 + u) > slope

    return math.log1p(math.exp(-bisected(steep, -300.0, 40.0)))


def _rounded(total: Fraction, levels: Floats) -> list[Fraction]:
    """Decimals that add up to the total: each rounded down, the rest to the largest."""
    unit = Fraction(10) ** (math.floor(math.log10(total)) - DIGITS + 1)
    rounded = [max(unit, math.floor(Fraction(e) / unit) * unit) for e in levels.tolist()]
    rounded[int(levels.argmax())] += total - sum(rounded, Fraction(0))
    return rounded
