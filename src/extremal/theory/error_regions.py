"""Error regions: all pairs of error probabilities of tests between two hypotheses on a report, exactly.

A test says 0 or 1 after seeing the report. P_MD is the probability of saying 0 under hypothesis 1, P_FA that of saying
1 under hypothesis 0; the pairs (P_MD, P_FA) of all randomised tests form the error region (KOV Section 5). It is a
convex polygon, symmetric about (½, ½), whose lower boundary is a chain from (0, 1) to (1, 0): one edge for each
likelihood ratio among the reports. Everything here is rational, so inclusion of one region in another is decided, not
estimated.

R_{ε,δ} is the set of pairs that (ε,δ)-LDP allows. The two inequalities that KOV print, P_FA + e^ε P_MD ≥ 1 − δ and its
mirror image, contain (1, 1), which no test reaches; the complementary ones P_FA + e^ε P_MD ≤ e^ε + δ and its mirror
image make it the region of the quaternary mechanism (erratum E12). A mechanism with two inputs is (ε,δ)-LDP iff its
region lies inside (Theorem 19), and one experiment can simulate another iff its region contains the other's (Theorem
20, Blackwell).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Exponential, as_prior
from extremal.mechanism import Mechanism
from extremal.plotting import colours_of, figure
from extremal.privacy import LDP

Point = tuple[float, float]
Corner = tuple[Fraction, Fraction]
_LARGEST = 1 << 20  # inputs × outputs of exact arithmetic

ROUNDING = Fraction(1, 1 << 48)
"""Two experiments are compared up to this: weights are integers over 2^62, so equal edges differ by about 2^-60."""


class ErrorRegion(ABC):
    """A convex set of pairs (P_MD, P_FA), symmetric about (½, ½).

    Made by `ex.theory.error_region` (of a mechanism) and `ex.theory.error_region_of` (of ε and δ).

    Reference: KOV Section 5 and Theorem 19, with erratum E12.

    >>> import extremal as ex
    >>> allowed, reached = ex.theory.error_region_of(1, 0), ex.theory.error_region(ex.randomized_response(2, 1))
    >>> allowed.contains(reached)
    True
    """

    @property
    @abstractmethod
    def lower(self) -> list[Point]:
        """Corners of the lower boundary from (0, 1) to (1, 0), as floats."""

    @property
    def vertices(self) -> list[Point]:
        """Corners of the region, anticlockwise from (0, 1), as floats."""
        below = self.lower
        return below + [(1 - a, 1 - b) for a, b in below[1:-1]]

    @abstractmethod
    def lies_above(self, weight0: Fraction, weight1: Fraction, level: Fraction) -> bool:
        """Whether weight0·P_MD + weight1·P_FA ≥ level everywhere in the region, exactly, for weights ≥ 0."""

    @abstractmethod
    def contains(self, other: ErrorRegion, tolerance: Fraction | None = None) -> bool:
        """Whether `other` lies inside this region, decided in rationals.

        Args:
            other: another region.
            tolerance: how far outside a point may lie, in both error probabilities. Not given: 0 for R_{ε,δ}, so that
                a claim is never stretched, and 2^-48 for the region of an experiment, whose weights are rounded.
        """

    def plot(self, *others: ErrorRegion, labels: Sequence[str] = ()) -> Any:
        """This region and others, like KOV Figures 9 and 10; a matplotlib figure."""
        drawn, axis = figure(5.4, 5.0)
        regions = (self, *others)
        names = [labels[i] if i < len(labels) else str(region) for i, region in enumerate(regions)]
        for region, name, colour in zip(regions, names, colours_of(names), strict=True):
            corners = region.vertices
            axis.fill(*zip(*corners, strict=True), color=colour, alpha=0.12)
            axis.plot(*zip(*[*corners, corners[0]], strict=True), color=colour, marker="o", markersize=3, label=name)
        axis.set(xlabel="missed detection: says 0 under hypothesis 1", ylabel="false alarm: says 1 under hypothesis 0")
        axis.set_aspect("equal")
        axis.legend(frameon=False, fontsize=8, loc="upper right")
        return drawn


@dataclass(frozen=True)
class Polygon(ErrorRegion):
    """The region of an experiment, by its exact corners.

    Attributes:
        corners: the lower boundary from (0, 1) to (1, 0); convex, no three on a line.
        name: for legends.
    """

    corners: tuple[Corner, ...]
    name: str = "error region"

    @property
    def lower(self) -> list[Point]:
        return [(float(a), float(b)) for a, b in self.corners]

    def lies_above(self, weight0: Fraction, weight1: Fraction, level: Fraction) -> bool:
        return all(weight0 * a + weight1 * b >= level for a, b in self.corners)

    def contains(self, other: ErrorRegion, tolerance: Fraction | None = None) -> bool:
        slack = ROUNDING if tolerance is None else tolerance
        # Both are symmetric and reach from (0,1) to (1,0): `other` lies inside iff it lies above every edge.
        for (a, b), (c, d) in pairwise(self.corners):
            weight0, weight1 = b - d, c - a
            if not other.lies_above(weight0, weight1, weight0 * (a - slack) + weight1 * (b - slack)):
                return False
        return True

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class PrivacyRegion(ErrorRegion):
    """R_{ε,δ}: P_FA + e^ε·P_MD ≥ 1 − δ, e^ε·P_FA + P_MD ≥ 1 − δ and their complements (KOV Section 5, erratum E12).

    Attributes:
        privacy: the notion, an `ex.LDP`.
    """

    privacy: LDP

    @property
    def _delta(self) -> Fraction:
        return self.privacy.exact_delta

    @property
    def lower(self) -> list[Point]:
        rest, low = float(1 - self._delta), math.exp(-self.privacy.epsilon)
        knee = rest * low / (1 + low)
        outer = [(0.0, 1.0), (0.0, rest)] if self._delta else [(0.0, 1.0)]
        middle = [(knee, knee)] if self.privacy.epsilon else []
        return outer + middle + [(b, a) for a, b in reversed(outer)]

    def lies_above(self, weight0: Fraction, weight1: Fraction, level: Fraction) -> bool:
        rest = 1 - self._delta
        if min(weight0, weight1) * rest < level:  # the corners (1−δ, 0) and (0, 1−δ)
            return False
        # The knee: (w₀ + w₁)·(1−δ)/(1 + e^ε) ≥ level  ⇔  e^ε·level ≤ (w₀ + w₁)(1−δ) − level.
        room = (weight0 + weight1) * rest - level
        return level <= 0 or not _exceeds(self.privacy.exponential, level, room)

    def contains(self, other: ErrorRegion, tolerance: Fraction | None = None) -> bool:
        slack = tolerance or Fraction(0)
        if isinstance(other, PrivacyRegion):
            return self._contains_notion(other)
        if not isinstance(other, Polygon):
            raise InvalidParameter("regions are compared with regions", parameter="other", value=other)
        rest = 1 - self._delta
        # a + e^ε·b ≥ 1 − δ and its mirror image at every corner of the lower boundary.
        return all(
            _reaches(self.privacy.exponential, rest - a - slack, b + slack)
            and _reaches(self.privacy.exponential, rest - b - slack, a + slack)
            for a, b in other.corners
        )

    def _contains_notion(self, other: PrivacyRegion) -> bool:
        mine, theirs = 1 - self._delta, 1 - other._delta
        if theirs < mine:
            return False
        first, second = self.privacy.exponential, other.privacy.exponential
        if first == second or mine == 0:
            return True
        bits = 160
        while True:  # theirs·(1 + E₁) ≥ mine·(1 + E₂); equality is impossible for different exponents (Lindemann)
            (low1, high1), (low2, high2), one = first.bounds(bits), second.bounds(bits), 1 << bits
            if theirs * (one + low1) >= mine * (one + high2):
                return True
            if theirs * (one + high1) < mine * (one + low2):
                return False
            if first.ratio is not None and second.ratio is not None:
                return theirs * (1 + first.ratio) >= mine * (1 + second.ratio)
            bits *= 2

    def __str__(self) -> str:
        delta = f", δ = {self.privacy.delta:g}" if self._delta else ""
        return f"ε = {self.privacy.epsilon:.4g}{delta}"


def _reaches(exponential: Exponential, wanted: Fraction, amount: Fraction) -> bool:
    """wanted ≤ e^ε·amount, exactly, for amount ≥ 0."""
    return exponential.at_least(wanted.numerator * amount.denominator, amount.numerator * wanted.denominator)


def _exceeds(exponential: Exponential, amount: Fraction, limit: Fraction) -> bool:
    """e^ε·amount > limit, exactly, for amount > 0."""
    if exponential.ratio is not None:
        return exponential.ratio * amount > limit
    return exponential.at_least(limit.numerator * amount.denominator, amount.numerator * limit.denominator)


def error_region(mechanism: Mechanism, p0: Any = None, p1: Any = None) -> Polygon:
    """The error region of a mechanism with two inputs, or of the reports under p0 and p1 for any number of inputs.

    Without p0 and p1 the hypotheses are the two inputs (KOV Section 5); with them they are the distributions M₀ = P₀Q
    and M₁ = P₁Q of a report (the experiment in the proof of KOV Theorem 5, Figure 10).

    Guarantee: corners are exact rationals of the integer weights and of the decimals of p0 and p1.

    >>> import extremal as ex
    >>> region = error_region(ex.quaternary(1, 0.1))
    >>> [(round(a, 6), round(b, 6)) for a, b in region.lower]
    [(0.0, 1.0), (0.0, 0.9), (0.242047, 0.242047), (0.9, 0.0), (1.0, 0.0)]
    >>> error_region_of(1, 0.1).contains(region), error_region_of(0.9, 0.1).contains(region)
    (True, False)
    """
    if (p0 is None) != (p1 is None):
        raise InvalidParameter("give both p0 and p1, or neither", parameter="p1", value=p1)
    if p0 is None and mechanism.k != 2:
        raise InvalidParameter(
            "the error region of a mechanism is defined for two inputs",
            parameter="mechanism.k",
            value=mechanism.k,
            hint="Give p0 and p1: the region of the reports under the two distributions.",
        )
    if mechanism.k * mechanism.m > _LARGEST:
        raise TooLarge("inputs times outputs must stay below 2^20", parameter="k × m", value=mechanism.k * mechanism.m)
    weights = mechanism.weights.astype(object)
    if p0 is None:
        rows = [(list(weights[0]), mechanism.denominator), (list(weights[1]), mechanism.denominator)]
    else:
        priors = [as_prior(p, name, inputs=mechanism.input_labels) for name, p in (("p0", p0), ("p1", p1))]
        rows = [
            (
                [sum(w * int(q) for w, q in zip(p.weights, column, strict=True)) for column in weights.T],
                p.total * mechanism.denominator,
            )
            for p in priors
        ]
    return region_of_pair(*rows)


def region_of_pair(first: tuple[list[int], int], second: tuple[list[int], int]) -> Polygon:
    """The region of two distributions of reports, each as integers and their sum."""
    (row0, total0), (row1, total1) = first, second
    reports = [(int(a), int(b)) for a, b in zip(row0, row1, strict=True) if a or b]
    # From saying 1 always (0, 1) on, say 0 first where hypothesis 0 is relatively likeliest.
    reports.sort(key=lambda r: Fraction(r[0], r[0] * total1 + r[1] * total0), reverse=True)
    corners: list[Corner] = [(Fraction(0), Fraction(1))]
    missed, alarm = 0, total0
    for i, (a, b) in enumerate(reports):
        missed, alarm = missed + b, alarm - a
        nxt = reports[i + 1] if i + 1 < len(reports) else None
        if nxt is None or a * nxt[1] != b * nxt[0]:  # equal ratios are one edge
            corners.append((Fraction(missed, total1), Fraction(alarm, total0)))
    return Polygon(tuple(corners))


def error_region_of(epsilon: Any, delta: Any = 0) -> PrivacyRegion:
    """R_{ε,δ}, the errors that every test must make on the report of an (ε,δ)-LDP mechanism (KOV Theorem 19).

    Guarantee: `contains` is decided exactly, also against e^ε.

    >>> [(round(a, 6), round(b, 6)) for a, b in error_region_of(1, 0.1).vertices][:3]
    [(0.0, 1.0), (0.0, 0.9), (0.242047, 0.242047)]
    """
    return PrivacyRegion(LDP(epsilon, delta))
