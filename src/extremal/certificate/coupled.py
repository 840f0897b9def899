"""(ε,δ)-LDP: a dual vector and prices of the coupling constraints, against every ray of the arrangement.

With E ≥ e^ε rational, every (ε,δ)-LDP mechanism has Σ_y (Q(y|x) − E·Q(y|z))⁺ ≤ δ for all x ≠ z. So for any α and β ≥ 0

    Σ_y μ(q_y) ≤ Σα + δ·Σβ + Σ_y g(q_y),      g(q) = μ(q) − α·q − Σ β_xz·(q_x − E·q_z)⁺.

On each cell of the arrangement {q_x = E·q_z} the last sum is linear, so g is sublinear there and is at most what the
extreme rays of the cell give. Those have entries E^0, E^−1, …, E^−L on a support, without a gap: one entry alone, or at
least two levels (`_levels` lists them, by its own code). Beyond six inputs there are too many: divergences of one pair
are proved by `Lines`; for the rest `Revealed` bounds what any mechanism is worth by what the inputs are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from flint import arb, fmpq

from extremal.certificate.dual import _dual_vector, _mixture
from extremal.certificate.enclosures import Weighing, largest, of_vectors, ratio_above, rational, upper
from extremal.certificate.proof import Multipliers, Numbers, Proof
from extremal.certificate.refused import Refused
from extremal.exact import Prior
from extremal.privacy import LDP, Notion
from extremal.utility import Utility

MOST_INPUTS = 6
MOST_REVEALED = 5_000


def _levels(k: int) -> Iterator[tuple[int, ...]]:
    """Levels 1, 2, … without a gap on a support, 0 off it; one entry alone, or at least two levels."""
    for level in product(range(k + 1), repeat=k):
        used = set(level) - {0}
        if used == set(range(1, len(used) + 1)) and (len(used) > 1 or level.count(1) == 1):
            yield level


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
        if type(privacy) is not LDP or utility.k > MOST_INPUTS:
            raise Refused(
                f"coupled rays prove (ε,δ)-LDP for at most {MOST_INPUTS} inputs", parameter="k", value=utility.k
            )
        (whole, common), mix = _dual_vector(self.alpha, utility), _mixture(self.mix, utility)
        beta = [(x, z, rational(b)) for _, x, z, b in self.prices]
        if any(b < 0 or x == z or not (0 <= x < utility.k and 0 <= z < utility.k) for x, z, b in beta):
            raise Refused("prices are ≥ 0, of two different rows", parameter="prices", value=len(beta))
        top = ratio_above(privacy.exponential)
        high, low = int(top.p), int(top.q)
        weighing = Weighing(utility, of_vectors)

        def excess(level: Sequence[int]) -> Any:
            depth = max(level)
            ray = [high ** (depth - i) * low ** (i - 1) if i else 0 for i in level]
            worth = sum((w * v for w, v in zip(mix, weighing.values(ray), strict=True) if w), arb(0))
            paid = fmpq(sum(a * r for a, r in zip(whole, ray, strict=True)), common)
            for x, z, b in beta:
                over = ray[x] * low - high * ray[z]
                if over > 0:
                    paid += b * fmpq(over, low)
            return (worth - arb(paid)) / sum(ray)

        total = fmpq(sum(whole), common) + rational(privacy.exact_delta) * sum((b for _, _, b in beta), fmpq(0))
        return upper(arb(total) + utility.k * largest(map(excess, _levels(utility.k))))


def _of_unit_vectors(prior: Prior) -> tuple[Any, int]:
    """What `Weighing` gathers when a column is the unit vector of an input, given by its number."""
    weights, total = prior.weights, prior.total
    return lambda x: [(1, weights[x]), (0, total - weights[x])], total


@dataclass(frozen=True)
class Revealed(Proof):
    """OPT ≤ what the inputs themselves are worth: a mechanism is a random function of its input, whatever the notion.

    Σ_y μ(q_y) ≤ Σ_y Σ_x q_y(x)·μ(e_x) = Σ_x μ(e_x), because μ is sublinear. Fields: mix, as for `Rays`.
    """

    kind: ClassVar[str] = "inputs revealed"
    mix: Numbers = ()

    def _bound(self, privacy: Notion, utility: Utility) -> Fraction | float:
        if utility.k > MOST_REVEALED:
            raise Refused(f"unit vectors are listed for at most {MOST_REVEALED}", parameter="k", value=utility.k)
        mix = _mixture(self.mix, utility)
        weighing = Weighing(utility, _of_unit_vectors)
        total = arb(0)
        for x in range(utility.k):
            total += sum((w * v for w, v in zip(mix, weighing.values(x), strict=True) if w), arb(0))
        return upper(total)
