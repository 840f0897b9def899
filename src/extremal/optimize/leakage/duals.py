"""Dual vectors of the search, in the box, as those of a proof, about columns.

The search bounds μ(λ(y)) ≤ α·y + const on {0 ≤ y ≤ 1, p·y = b}, λ = base + step·y. Because p·λ = 1, with M = b·Σα +
const this is

    μ(λ) ≤ β·λ,   β = (α − p·Σα)/step + M·p,   Σβ = M.

At small ε the entries of β are much larger than M, so that they are formed in rationals and keep 40 digits. Multiples
of p in α change nothing; a multiplier ν of the box becomes M + (ν − Σα)/step.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from extremal.exact import Prior
from extremal.optimize.problem import shortened
from extremal.privacy.cones.lift import Floats, LiftBox

Numbers = tuple[Fraction, ...]


def rounded(numbers: Iterable[Fraction]) -> Numbers:
    """Rationals as the decimals that proofs hold."""
    return tuple(shortened(number) for number in numbers)


def dual_vector(prior: Prior, box: LiftBox, alpha: Floats, bound: float, free: Floats | None = None) -> Numbers:
    """β for all inputs.

    Args:
        prior, box: those of the notion.
        alpha: in the box, one for each input of positive probability.
        bound: M.
        free: what revealing each input is worth, for those of probability 0; 0 if not given.
    """
    values = [Fraction(float(a)) for a in alpha]
    total, step, most = sum(values, Fraction(0)), Fraction(box.step), Fraction(bound)
    found = [Fraction(0)] * len(prior) if free is None else [Fraction(float(v)) for v in free]
    for x, a in zip(box.support.tolist(), values, strict=True):
        p = prior.fraction(x)
        found[x] = (a - p * total) / step + most * p
    return rounded(found)
