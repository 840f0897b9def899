"""What a column is worth to a goal (§4): enclosed for values, from above for proofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from extremal.checker.goals import DivergenceLeaf, InformationLeaf, Weighted
from extremal.checker.numbers import INFINITE, ZERO, Bound, Interval, dot, ends, exp, ln, of_kind, root

Enclosed = Interval | float
"""An interval, or +∞."""


def _kl(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """M₀ ln(M₀/M₁) − g, g = M₀ − M₁."""
    if m0 == 0:
        return ends(m1)
    return INFINITE if m1 == 0 else m0 * ln(m0 / m1) - (m0 - m1)


def _reverse_kl(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    return _kl(m1, m0, _)


def _symmetric_kl(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """g ln(M₀/M₁)."""
    return INFINITE if m0 == 0 or m1 == 0 else (m0 - m1) * ln(m0 / m1)


def _total_variation(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    return ends(abs(m0 - m1) / 2)


def _chi_squared(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    return INFINITE if m1 == 0 else ends((m0 - m1) ** 2 / m1)


def _squared_hellinger(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """(√M₀ − √M₁)²."""
    return m0 + m1 - 2 * root(m0 * m1)


def _jensen_shannon(m0: Fraction, m1: Fraction, _: Fraction) -> Enclosed:
    """½[M₀ ln(M₀/M̄) + M₁ ln(M₁/M̄)], M̄ the mean."""
    mean = (m0 + m1) / 2
    parts = [m * ln(m / mean) for m in (m0, m1) if m]
    return sum(parts, ends(ZERO)) / Fraction(2)


def _alpha(m0: Fraction, m1: Fraction, a: Fraction) -> Enclosed:
    """M₁[(M₀/M₁)^a − 1 − a·g/M₁]/(a(a−1)), a ≠ 0, 1."""
    if m0 == 0:
        return ends(m1 / a) if a > 0 else INFINITE
    if m1 == 0:
        return ends(m0 / (1 - a)) if a < 1 else INFINITE
    ratio = m0 / m1
    power = ends(ratio**a.numerator) if a.denominator == 1 and abs(a) <= 9 else exp(a * ln(ratio))
    return (m1 * power - m1 - a * (m0 - m1)) / (a * (a - 1))


def _hockey_stick(m0: Fraction, m1: Fraction, gamma: Fraction) -> Enclosed:
    return ends(max(ZERO, m0 - gamma * m1 if gamma >= 1 else gamma * m1 - m0))


RULES: dict[str, Callable[[Fraction, Fraction, Fraction], Enclosed]] = {
    "KL": _kl,
    "ReverseKL": _reverse_kl,
    "SymmetricKL": _symmetric_kl,
    "TotalVariation": _total_variation,
    "ChiSquared": _chi_squared,
    "SquaredHellinger": _squared_hellinger,
    "JensenShannon": _jensen_shannon,
    "AlphaDivergence": _alpha,
    "HockeyStick": _hockey_stick,
}


def divergence(kind: str, m0: Fraction, m1: Fraction, parameter: Fraction) -> Enclosed:
    """M₁f(M₀/M₁); 0 at equal masses, both 0 included. Never below 0, for f ≥ 0 = f(1)."""
    if m0 == m1:
        return ends(ZERO)
    found = RULES[kind](m0, m1, parameter)
    return found if isinstance(found, float) else found.positive()


def information(m: Fraction, masses: Mapping[Fraction, Fraction]) -> Interval:
    """Σ_x p_x q_x ln(q_x/m), m = p·q: the same as m Σ p[(1+δ)ln(1+δ) − δ], for Σ pδ = 0.

    Args:
        m: p·q.
        masses: for each value of q the probability of the inputs that have it.
    """
    terms = [p * v * ln(v / m) for v, p in masses.items() if p and v]
    return sum(terms, ends(ZERO)).positive()


def mass_of_values(prior: Sequence[Fraction], q: Sequence[Fraction]) -> dict[Fraction, Fraction]:
    """For each value of q the probability of the inputs that have it."""
    found: dict[Fraction, Fraction] = {}
    for p, v in zip(prior, q, strict=True):
        found[v] = found.get(v, ZERO) + p
    return found


def worth(leaf: DivergenceLeaf | InformationLeaf, q: Sequence[Fraction]) -> Enclosed:
    """μ(q) of a leaf."""
    if isinstance(leaf, InformationLeaf):
        return information(dot(leaf.prior, q), mass_of_values(leaf.prior, q))
    return divergence(leaf.kind, dot(leaf.p0, q), dot(leaf.p1, q), leaf.parameter)


def above(leaves: Sequence[Weighted], q: Sequence[Fraction]) -> Bound:
    """A number above Σ weight·μ(q), weights positive."""
    found: Bound = ZERO
    for weight, leaf in leaves:
        part = worth(leaf, q)
        if isinstance(part, float):
            return INFINITE
        found += weight * part.high
    return found


class PairWorth:
    """A weighted sum of divergences between two hypotheses, in either direction: μ = b·f(a/b), a = P₀·q, b = P₁·q."""

    def __init__(self, leaves: Sequence[Weighted]) -> None:
        first = of_kind(leaves[0][1], DivergenceLeaf, "divergences of one pair")
        self.p0, self.p1 = first.p0, first.p1
        self.terms = [
            (weight, leaf.kind, leaf.parameter, (leaf.p0, leaf.p1) != (self.p0, self.p1))
            for weight, leaf in leaves
            if isinstance(leaf, DivergenceLeaf)
        ]

    @staticmethod
    def is_one(leaves: Sequence[Weighted]) -> bool:
        """Whether all are divergences between the two hypotheses of the first."""
        divergences = [leaf for _, leaf in leaves if isinstance(leaf, DivergenceLeaf)]
        pairs = {frozenset((leaf.p0, leaf.p1)) for leaf in divergences}
        return len(divergences) == len(leaves) > 0 and len(pairs) == 1

    def above(self, a: Fraction, b: Fraction) -> Bound:
        """A number above b·f(a/b); at b = 0 the slope of f at infinity, times a."""
        found: Bound = ZERO
        for weight, kind, parameter, turned in self.terms:
            part = divergence(kind, b, a, parameter) if turned else divergence(kind, a, b, parameter)
            if isinstance(part, float):
                return INFINITE
            found += weight * part.high
        return found


class PatternInformation:
    """φ(z) = z·h(c) − h(cz), h(d) = (1+d)ln(1+d) − d: the information of the pattern 1 + c on a set of mass z."""

    def __init__(self, ratio: Fraction) -> None:
        self.c = ratio - 1
        self.top = self.h(self.c)

    def h(self, d: Fraction) -> Interval:
        return (1 + d) * ln(1 + d) - d

    def __call__(self, z: Fraction) -> Interval:
        return z * self.top - self.h(self.c * z)

    def slope(self, z: Fraction) -> Interval:
        """φ'(z) = h(c) − c·ln(1+cz)."""
        return self.top - self.c * ln(1 + self.c * z)
