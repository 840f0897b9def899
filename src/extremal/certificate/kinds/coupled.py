"""(ε,δ)-LDP: a dual vector and prices of the coupling constraints, against every ray of the arrangement.

With E ≥ e^ε rational, every (ε,δ)-LDP mechanism has Σ_y (Q(y|x) − E·Q(y|z))⁺ ≤ δ for all x ≠ z. So for any α and β ≥ 0

    Σ_y μ(q_y) ≤ Σα + δ·Σβ + Σ_y g(q_y),      g(q) = μ(q) − α·q − Σ β_xz·(q_x − E·q_z)⁺.

On each cell of the arrangement {q_x = E·q_z} the last sum is linear, so g is sublinear there and is at most what the
extreme rays of the cell give. Those have entries E^0, E^−1, …, E^−L on a support, without a gap: one entry alone, or at
least two levels (`_levels` lists them, by its own code). Beyond six inputs there are too many: divergences of one pair
are proved by `Lines`; for the rest `Revealed` bounds what any mechanism is worth by what the inputs are.

For a workload (`certificate.kinds.workload`) the same rays bound tr(GJ), G = ZWZ: qᵀGq/(p·q) is sublinear as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq

from extremal.certificate.arithmetic.cones import refuse_many
from extremal.certificate.arithmetic.enclosures import of_vectors, ratio_above, rational, upper
from extremal.certificate.arithmetic.whole import congruent, largest_quotient
from extremal.certificate.kinds.dual import best_of_rays, dual_vector, worth_of
from extremal.certificate.kinds.workload import RATIO_BITS, exact_problem, symmetric, upper_ratio
from extremal.certificate.proof import Counts, Multipliers, Numbers, Proof, Table, Wholes
from extremal.certificate.refused import Refused
from extremal.exact import Prior
from extremal.privacy import LDP, Notion
from extremal.utility import Utility, Workload

MOST_INPUTS = 6
MOST_REVEALED = 5_000


def _levels(k: int) -> Iterator[tuple[int, ...]]:
    """Levels 1, 2, … without a gap on a support, 0 off it; one entry alone, or at least two levels."""
    for level in product(range(k + 1), repeat=k):
        used = set(level) - {0}
        if used == set(range(1, len(used) + 1)) and (len(used) > 1 or level.count(1) == 1):
            yield level


def _rays(k: int, high: int, low: int) -> Iterator[list[int]]:
    """The rays for E = high/low."""
    refuse_many("coupled rays", k, MOST_INPUTS)
    for level in _levels(k):
        yield [high ** (max(level) - i) * low ** (i - 1) if i else 0 for i in level]


@dataclass(frozen=True)
class Coupled(Proof):
    """OPT ≤ Σα + δΣβ + k·max over rays r of (Σ mix·μ(r) − α·r − Σβ_xz(r_x − E·r_z)⁺)/(1·r), of either sign.

    Fields: alpha, one number an input. prices (0, x, z, β): β ≥ 0 for the constraint of rows x and z. mix, as for
    `Rays`.
    """

    kind: ClassVar[str] = "coupled rays"
    alpha: Numbers
    prices: Multipliers = ()
    mix: Numbers = ()

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        if type(privacy) is not LDP:
            raise Refused("coupled rays prove (ε,δ)-LDP", parameter="privacy", value=privacy)
        alpha, k, top = dual_vector(self.alpha, utility), utility.k, ratio_above(privacy.exponential)
        beta = [(x, z, rational(b)) for _, x, z, b in self.prices]
        if any(b < 0 or x == z or not (0 <= x < k and 0 <= z < k) for x, z, b in beta):
            raise Refused("prices are ≥ 0, of two different rows", parameter="prices", value=len(beta))

        def paid(ray: Sequence[int]) -> Any:
            over = ((b, ray[x] - top * ray[z]) for x, z, b in beta)
            return sum((b * more for b, more in over if more > 0), alpha.along(ray))

        total = alpha.total + rational(privacy.exact_delta) * sum((b for _, _, b in beta), fmpq(0))
        worth = worth_of(self.mix, utility, of_vectors)
        return best_of_rays(total, k, _rays(k, int(top.p), int(top.q)), worth, paid)


def _of_unit_vectors(prior: Prior) -> tuple[Any, int]:
    """What is gathered when a column is the unit vector of an input, given by its number."""
    weights, total = prior.weights, prior.total
    return lambda x: [(1, weights[x]), (0, total - weights[x])], total


@dataclass(frozen=True)
class Revealed(Proof):
    """OPT ≤ what the inputs themselves are worth: a mechanism is a random function of its input, whatever the notion.

    Σ_y μ(q_y) ≤ Σ_y Σ_x q_y(x)·μ(e_x) = Σ_x μ(e_x), because μ is sublinear. For a workload the information of a report
    is at most that of the input, J ⪯ diag(1/p), so that tr(ZWZ·J) ≤ Σ_x (ZWZ)_xx/p_x for Z = diag(p) − ppᵀ, whose rows
    are 0 where p is. Fields: mix, as for `Rays`.
    """

    kind: ClassVar[str] = "inputs revealed"
    mix: Numbers = ()

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        if utility.k > MOST_REVEALED:
            raise Refused(f"unit vectors are listed for at most {MOST_REVEALED}", parameter="k", value=utility.k)
        if isinstance(utility, Workload):
            return _of_the_inputs(self.mix, utility)
        return upper(sum(map(worth_of(self.mix, utility, _of_unit_vectors), range(utility.k)), arb(0)))


def _of_the_inputs(mix: Numbers, utility: Utility) -> Fraction:
    """The least cost of a workload when the inputs themselves are reported."""
    if mix:
        raise Refused("a workload has no parts to mix", parameter="len(mix)", value=len(mix))
    problem = exact_problem(utility, ())
    w, total = problem.weights, problem.total
    z = -np.outer(w, w)  # over total²
    z[np.diag_indices(problem.k)] += w * total
    slope = congruent(z, problem.gram)  # over total⁴
    level = sum((Fraction(int(slope[x, x]) * total, int(w[x])) for x in range(problem.k) if w[x]), Fraction(0))
    return problem.bound_by(z, slope, level)


@dataclass(frozen=True)
class CoupledColumns(Proof):
    """A workload under (ε,δ)-LDP: every ray of the arrangement listed.

    For any α, β ≥ 0 and

        t = max over rays of (rᵀGr/(p·r) − α·r − Σ β_xz·(r_x − E·r_z)⁺)/(p·r)

    rows that sum to one and coupling constraints give tr(GJ) ≤ Σα + δΣβ + t, the c of `certificate.kinds.workload`.
    Merging inputs is allowed: averages of rows keep (ε,δ)-LDP, since (q_x − E·q_z)⁺ is convex in both.

    Fields: z, the lower triangle of the leading block of Z; alpha, one number an input, and prices, β for each ordered
    pair of inputs in lexicographic order, in the units of ZWZ; groups, for merged inputs the group of each, else empty.
    """

    kind: ClassVar[str] = "coupled columns"
    z: Table
    alpha: Wholes
    prices: Wholes
    groups: Counts = ()

    def _bound(self, privacy: Any, utility: Utility) -> Fraction:
        problem = exact_problem(utility, self.groups)
        k, high, low = problem.k, upper_ratio(privacy, coupled=True), 1 << RATIO_BITS
        if len(self.alpha) != k or len(self.prices) != k * (k - 1) or any(b < 0 for b in self.prices):
            raise Refused(f"there must be {k} numbers alpha and a price ≥ 0 for each pair", parameter="prices", value=k)
        z = symmetric(self.z, k)
        slope = congruent(z, problem.gram)
        scaled, prices = low * slope, [low * a for a in self.alpha]
        priced = [(x, y, b) for (x, y), b in zip(permutations(range(k), 2), self.prices, strict=True) if b]

        def excess(ray: list[int]) -> tuple[int, int]:
            paid = sum(b * max(0, ray[x] * low - high * ray[y]) for x, y, b in priced)
            return problem.excess(scaled, prices, ray, paid)

        most = largest_quotient(map(excess, _rays(k, high, low))) * problem.total / low
        return problem.bound_by(z, slope, sum(self.alpha) + privacy.exact_delta * sum(self.prices) + most)
