"""Two hypotheses that are not known exactly: the pair that is hardest to tell apart.

For two balls in total variation that do not meet there is a least favourable pair (Huber and Strassen): mass is moved
from where the likelihood ratio P₀/P₁ is largest, and to where it is smallest, until the ratio is flat at both ends,

    r* = c' where P₀/P₁ < c',   c'' where P₀/P₁ > c'',   P₀/P₁ between,
    c' = (P₀(A) + ρ₀)/(P₁(A) − ρ₁),  A = {P₀/P₁ < c'},   c'' = (P₀(B) − ρ₀)/(P₁(B) + ρ₁),  B = {P₀/P₁ > c''}.

It is least favourable for the best private mechanism too, for every f. That mechanism is randomised response on blocks
in order of r*, so the derivative of D_f(p₀Q‖p₁Q) by p₀(x) is f'(t) of the block of x, up to constants: it does not fall
with r*. Within its ball p₀* has taken all that it may from the top block and given it to the bottom one, so no p₀ has a
smaller linear part; by the same reason no p₁. D_f is convex in (p₀, p₁): the value at (p₀*, p₁*) is the least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Prior, as_prior
from extremal.sources import SourceClass
from extremal.utility.combinations import WorstCase
from extremal.utility.divergence import Divergence
from extremal.utility.divergences import KL

Ball = tuple[Prior, Fraction]
Pairs = list[tuple[Fraction, Fraction]]


def RobustDivergence(  # noqa: N802 - reads as the utility it makes
    class0: Any, class1: Any, divergence: Callable[..., Divergence] = KL
) -> Divergence | WorstCase:
    """The divergence of two hypotheses that may be any of two classes, at worst.

    Finite lists: `WorstCase` over all pairs of listed distributions (these, and not their mixtures). Balls in total
    variation, `ex.SourceClass.ball(P, ρ)`, and single distributions: the divergence of the least favourable pair. The
    mechanism that `ex.design` finds for it under ε-LDP is worth at least as much for every pair of the two balls, and
    none is worth more at worst; `p0` and `p1` of what is returned are that pair.

    Guarantee: `ex.design` finds the best worst case with a bound.

    Args:
        class0, class1: a distribution, a list of distributions, or a ball.
        divergence: a class such as `ex.KL`, or a function of two priors.

    Raises:
        InvalidParameter: the balls meet, so that nothing tells them apart; a hull or another shape; a list and a ball.

    Reference: Huber, Strassen, Minimax tests and the Neyman–Pearson lemma for capacities, Annals of Statistics 1, 1973.

    >>> import extremal as ex
    >>> u = ex.RobustDivergence(ex.SourceClass.ball([0.7, 0.3], "0.1"), ex.SourceClass.ball([0.2, 0.8], "0.1"))
    >>> u.p0.tolist(), u.p1.tolist()
    ([0.6, 0.4], [0.3, 0.7])
    >>> len(ex.RobustDivergence([[0.7, 0.3], [0.6, 0.4]], [[0.2, 0.8]]).utilities)
    2
    """
    lists = [_listed(given) for given in (class0, class1)]
    if lists[0] is not None and lists[1] is not None and max(map(len, lists)) > 1:  # type: ignore[arg-type]
        return WorstCase([divergence(p, q) for p in lists[0] for q in lists[1]])
    return divergence(*least_favourable(_ball(class0, "class0"), _ball(class1, "class1")))


def _listed(given: Any) -> list[Prior] | None:
    """The members of a finite list of distributions, a single one included; None for a class."""
    if isinstance(given, SourceClass):
        return None
    rows = isinstance(given, (list, tuple, np.ndarray)) and len(given) > 0
    if rows and isinstance(given[0], (Sequence, Prior, np.ndarray)) and not isinstance(given[0], str):
        return [as_prior(p, f"distributions[{i}]") for i, p in enumerate(given)]
    return [as_prior(given)]


def _ball(given: Any, parameter: str) -> Ball:
    if not isinstance(given, SourceClass):
        listed = _listed(given)
        if listed is not None and len(listed) == 1:
            return listed[0], Fraction(0)
    elif given.kind == "ball":
        return given.priors[0], given.radius  # type: ignore[attr-defined]
    raise InvalidParameter(
        "both must be lists of distributions, or both balls in total variation (or single distributions)",
        parameter=parameter,
        value=given,
        hint="Mixtures of a list, and inequalities: ex.theory.robust_design(epsilon, class0, class1).",
    )


def least_favourable(first: Ball, second: Ball) -> tuple[Prior, Prior]:
    """The pair of two balls that is hardest to tell apart, exactly.

    Raises:
        InvalidParameter: the balls meet, or are about different symbols.
    """
    (centre0, radius0), (centre1, radius1) = first, second
    as_prior(centre1, "class1", len(centre0))
    p = [(centre0.fraction(x), centre1.fraction(x)) for x in range(len(centre0))]
    apart = sum((abs(a - b) for a, b in p), Fraction(0)) / 2
    if radius0 + radius1 and apart <= radius0 + radius1:
        raise InvalidParameter(
            "the balls must not meet: a distribution of both cannot be told from itself",
            parameter="radius",
            value=float(radius0 + radius1),
            hint=f"The centres are {float(apart):g} apart in total variation.",
        )
    if not radius0 + radius1:
        return centre0, centre1

    def by_ratio(x: int, z: int) -> int:
        return _sign(p[x], p[z])

    order = sorted((x for x, (a, b) in enumerate(p) if a + b), key=cmp_to_key(by_ratio))
    swapped = [(b, a) for a, b in p]
    top = _flattened(order[::-1], swapped, radius1, radius0)
    moved = dict(enumerate(p)) | _flattened(order, p, radius0, radius1) | {x: (a, b) for x, (b, a) in top.items()}
    first, second = zip(*moved.values(), strict=True)
    return Prior(list(first)), Prior(list(second))


def _flattened(order: list[int], p: Pairs, gain: Fraction, loss: Fraction) -> dict[int, tuple[Fraction, Fraction]]:
    """The entries at the lower end, moved until the ratio is flat there."""
    ratio, end = _flat(order, p, gain, loss)
    shares = {x: (ratio * p[x][1] - p[x][0]) / (gain + ratio * loss) for x in end}
    return {x: (p[x][0] + gain * share, p[x][1] - loss * share) for x, share in shares.items()}


def _flat(order: list[int], p: Pairs, gain: Fraction, loss: Fraction) -> tuple[Fraction, list[int]]:
    """(c, A): the ratio at which the lower end is flat, A = {ratio < c}, the first so many in order of ratio."""
    a = b = Fraction(0)
    for count, x in enumerate(order):
        if b > loss:
            level = (a + gain) / (b - loss)
            if p[x][0] >= level * p[x][1]:
                return level, order[:count]
        a, b = a + p[x][0], b + p[x][1]
    return (a + gain) / (b - loss), order


def _sign(p: tuple[Fraction, Fraction], q: tuple[Fraction, Fraction]) -> int:
    difference = p[0] * q[1] - q[0] * p[1]
    return (difference > 0) - (difference < 0)
