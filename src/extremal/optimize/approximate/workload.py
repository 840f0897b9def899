"""Estimation under (ε,δ)-LDP: the least n × mean squared error over the rays of `privacy/cones/coupled`.

The information of a report, J = Σ_y q_y q_yᵀ/(p·q_y), grows when a column is split into the rays of its cell, and the
coupling constraints do not change: so the best mechanism is a mixture θ of rays, and the program is that of
`optimize/workload` with a limit more for each ordered pair, Σ θ_r (r_x − e^ε·r_z)⁺ ≤ δ. It is solved for up to 6 inputs
(after merging those that no statistic tells apart) and proved by `squares`. With more, staircase patterns and
single inputs are mixed, or the best ε-mechanism is followed with probability 1 − δ and the input revealed else; beyond
40 the ε-mechanism stands alone. The bound is the best of the matrix inequality of ε-LDP and of its listed columns,
which tend to those of δ = 0 as δ does, of a coarser question, on inputs merged into 6 groups, and of the inputs
themselves.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from extremal.certificate import MOST_DIGITS, Dual, NotKnown, Proof, Squares, enclosure
from extremal.errors import InvalidParameter
from extremal.exact import decimal_text
from extremal.exact.weights import WEIGHT_BITS, Floats
from extremal.mechanism import Mechanism
from extremal.optimize.approximate.solve import (
    REVEAL,
    best_plain_design,
    listed_columns,
    revealing,
    rounded,
    without_delta,
)
from extremal.optimize.approximate.truncated import truncated
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.table import SIZES
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.interior import CouplingLimits, OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import Coordinates, all_sets
from extremal.optimize.workload.mechanisms import balanced, reduced, with_row_sums
from extremal.optimize.workload.merging import Merged, coarsened, denominator_of, merged
from extremal.optimize.workload.notes import Precision
from extremal.optimize.workload.proofs import coupled_columns, revealed_inputs
from extremal.privacy import LDP
from extremal.privacy.cones.coupled import couplings, rays, refuse_many
from extremal.tables import number
from extremal.utility import Workload

if TYPE_CHECKING:
    from extremal.optimize.design import Design

MATRIX_SECONDS = 30.0  # of the processor for the matrix inequality
ROUNDING = 1e-12  # relative to the largest of a pair: couplings below are 0
CLOSED = 1e-7  # relative: no bound gets nearer, by the ridge of what is not wanted
NAMED = 4  # units of weights: the least that names an input
LONGEST = 10 ** (MOST_DIGITS - 1)
IMPOSSIBLE = "an input of probability 0 keeps a row of its own; the bound is that of the problem without it"
LOOSE = "the bound is that of a matrix inequality or of a coarser question: it is loose unless δ is small"


@dataclass(frozen=True)
class Rarity:
    """Attributes: most, a share of δ: an input of a smaller probability is as good as one of probability 0. share, of
    δ: what it is named with, and twice what the others lose."""

    most: float
    share: float


RARE = (Rarity(2.0**-50, 2.0**-20), Rarity(2.0**-24, 2.0**-4))
"""As good as exact; and where floats do not hold what is less rare than that."""


def solve(problem: Problem, privacy: LDP, utility: Workload) -> Solution:
    """A workload under (ε,δ)-LDP with δ > 0."""
    if utility.prior is None:
        raise InvalidParameter(
            "with delta > 0 a workload is designed for one prior",
            parameter="prior",
            value=utility.source,
            hint="Use delta=0, or give one prior.",
        )
    groups = merged(utility.rows, utility.prior.values)
    if utility.k > SIZES.coupled and privacy.epsilon and groups.prior.all():
        return _many(problem, utility, privacy, groups)
    refuse_many(utility.k, SIZES.coupled)
    return _best(problem, utility, privacy, groups)


def _best(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    """The best that was found, never worse than revealing with probability δ, and the best that is proved."""
    likely, searched = _with_delta(problem, utility, privacy, groups)
    plain = best_plain_design(problem, privacy) if privacy.epsilon else None
    columns = np.ones((utility.k, 1)) if plain is None else listed_columns(plain, privacy)
    made, revealed = list(searched.made), rounded(revealing(columns, privacy), privacy, problem)
    if revealed is not None:
        made.append((revealed, REVEAL))
    if plain is not None:  # where sets are too many to be listed and revealed, they may be better alone
        made.append((plain.mechanism.claiming(privacy), f"{plain.method}, without δ"))
    mechanism, method = min(made, key=lambda one: likely.cost(utility, one[0]))
    loose = searched.bound < (1 - CLOSED) * likely.cost(utility, mechanism)
    proofs = searched.proofs
    if loose and plain is not None:
        proofs += _small_delta(problem, utility, privacy, likely, plain)
    more = (RevealedPeople(utility, revealed or mechanism, mechanism), Precision(utility, mechanism))
    return Solution(mechanism, math.nan, method, proofs, (*_said(groups, searched, loose), *more))


def _said(groups: Merged, searched: _Searched, loose: bool) -> tuple[str, ...]:
    """Why the bound may be loose."""
    if searched.exact and not loose:
        return ()
    return (LOOSE,) if groups.prior.all() else (IMPOSSIBLE,)


def _with_delta(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> tuple[Likely, _Searched]:
    """What programs with δ in them say; where they fail, with more inputs taken for rare. Without a program over all
    rays the inputs themselves are a bound, too, unless one of them is all that occurs."""
    for rarity in RARE:
        likely, searched = Likely.of(groups, privacy, rarity), _Searched()
        if likely.groups.prior.size > 1 and not problem.out_of_time:
            searched = _searched(problem, utility, privacy, likely)
        if searched.made or (likely.impossible and searched.exact) or problem.out_of_time:
            break
    if not searched.exact and sum(map(bool, utility.source.member().weights)) > 1:
        searched = replace(searched, proofs=(revealed_inputs(utility), *searched.proofs))
    return likely, searched


@dataclass(frozen=True, eq=False)
class _Searched:
    """What programs with δ in them have found.

    Attributes:
        made: mechanisms, and how each was found.
        proofs: of bounds; `bound` is the best in floats.
        exact: whether the program was over all rays.
    """

    made: tuple[tuple[Mechanism, str], ...] = ()
    proofs: tuple[Proof, ...] = ()
    bound: float = 0.0
    exact: bool = False


def _searched(problem: Problem, utility: Workload, privacy: LDP, likely: Likely) -> _Searched:
    """Over all rays where they are few; else over the rays of a coarser question, and over patterns and single
    inputs."""
    groups, k = likely.groups, likely.groups.prior.size
    made, bounded = tuple[tuple[Mechanism, str], ...](), tuple[Proof, ...]()
    if k <= SIZES.coupled_rays:
        with suppress(np.linalg.LinAlgError):  # one input is so rare that floats do not hold it
            found = _over(rays(k, privacy.epsilon), groups, likely.within)
            made = likely.mechanisms(found, problem, privacy, "rays of the (ε,δ) arrangement, interior point")
            proofs = found.proofs(utility, groups)
            return _Searched(made, proofs, found.design.bound if proofs else 0.0, bool(proofs))
        return _Searched()
    few = coarsened(groups.rows, groups.prior, SIZES.coupled_rays)
    spread = Merged(few.group[groups.group], few.prior, few.rows)
    bounded += _matrix(problem, utility, privacy, groups) if privacy.epsilon else ()
    with suppress(np.linalg.LinAlgError):
        bounded += _over(rays(few.prior.size, privacy.epsilon), few, privacy).proofs(utility, spread)
    if k <= SIZES.coupled_mixed and not problem.out_of_time:
        columns = np.hstack([np.where(all_sets(k), 1.0, math.exp(-privacy.epsilon)), np.eye(k)])
        with suppress(np.linalg.LinAlgError):
            mixed = _over(columns, groups, likely.within)
            made = likely.mechanisms(mixed, problem, privacy, "staircase patterns and single inputs, mixed")
    return _Searched(made, bounded)


def _small_delta(problem: Problem, utility: Workload, privacy: LDP, likely: Likely, plain: Design) -> tuple[Proof, ...]:
    """Bounds of ε-LDP, weakened by what δ is worth at most: they tend to those of δ = 0, whatever floats hold."""
    cut = () if likely.rare.any() else truncated(plain.certificate.proofs, without_delta(privacy), utility)
    proofs = tuple(filter(is_short, cut))
    if 1 < likely.groups.prior.size <= SIZES.coupled_rays:
        proofs += _matrix(problem, utility, privacy, likely.groups)
    return proofs


def _matrix(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> tuple[Proof, ...]:
    """The matrix inequality of ε-LDP, which δ weakens by δ times its prices."""
    left = problem.seconds_left
    seconds = MATRIX_SECONDS if left is None else min(MATRIX_SECONDS, left / 3)
    coordinates = Coordinates(groups.prior, groups.rows)
    bound = best_inequality(coordinates, privacy.epsilon, seconds, delta=privacy.delta)
    return (bound.proof(privacy, utility, groups.groups),)


def _many(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    """Too many inputs to decide the claim of another mechanism: the best ε-mechanism, and by how much δ may beat it."""
    proofs = _matrix(problem, utility, privacy, groups)
    found = best_plain_design(problem, privacy)
    mechanism = found.mechanism.claiming(privacy)
    notes = ("revealing is left out for so many inputs: this mechanism satisfies the claim without its δ",)
    return Solution(mechanism, math.nan, found.method, proofs, (*notes, Precision(utility, mechanism)))


@dataclass(frozen=True, eq=False)
class Likely:
    """A workload whose rarest inputs cost nothing: a report of next to no probability names each of them.

    Dropping the demand that estimates are right for them only lowers the optimum, so that a bound for the others, with
    the rare ones merged into the likeliest, is a bound. A mechanism for the others under a slightly smaller δ serves:
    a rare input does what the likeliest does, and with probability η is named.

    Attributes:
        groups: the inputs by what tells them apart, rare ones with the likeliest.
        rare: of each input, which rare group it is in, from 1; 0 for the others.
        within: the notion for the others.
        named: η.
        impossible: whether some have probability 0.
    """

    groups: Merged
    rare: npt.NDArray[np.intp]
    within: LDP
    named: float
    impossible: bool

    @classmethod
    def of(cls, groups: Merged, privacy: LDP, rarity: Rarity) -> Likely:
        """Those of probability far below δ are rare, when δ leaves something to name them with."""
        named = max(rarity.share * privacy.delta, NAMED * 2.0**-WEIGHT_BITS)
        rare = groups.prior <= rarity.most * privacy.delta
        if not rare.any() or 2 * named > privacy.delta / 2:
            return cls(groups, np.zeros(groups.group.size, dtype=np.intp), privacy, 0.0, False)
        numbers = np.where(rare, int(groups.prior.argmax()), np.arange(rare.size))
        of = np.unique(numbers, return_inverse=True)[1]
        mass = np.asarray(np.bincount(of, weights=groups.prior), dtype=np.float64)
        sums = np.array([np.bincount(of, weights=row * groups.prior) for row in groups.rows])
        joined = Merged(of[groups.group], mass, sums / mass)
        left = Fraction(repr(privacy.delta - 2 * named))  # (q − E(1 − η)q')⁺ ≤ (q − Eq')⁺ + 2ηq
        within = LDP.from_json({**privacy.to_json(), "delta": decimal_text(left)})
        return cls(joined, np.where(rare, np.cumsum(rare), 0)[groups.group], within, named, not groups.prior.all())

    def mechanisms(
        self, found: _Found, problem: Problem, privacy: LDP, method: str
    ) -> tuple[tuple[Mechanism, str], ...]:
        """The mechanism of a program, unless it cannot be made private. An input that the prior rules out keeps a row
        of its own: nobody could estimate its share where the prior is wrong."""
        if self.impossible:
            return ()
        matrix = found.matrix(self.within)[self.groups.group]
        if self.rare.any():
            names = np.arange(1, self.rare.max() + 1) == self.rare[:, None]
            matrix = np.hstack([np.where(self.rare[:, None] > 0, 1 - self.named, 1.0) * matrix, self.named * names])
        mechanism = rounded(matrix, privacy, problem)
        return () if mechanism is None else ((mechanism, method),)

    def cost(self, utility: Workload, mechanism: Mechanism) -> float:
        """What a mechanism costs; floats do not hold what a report that names a rare input tells."""
        if not self.rare.any():
            return utility(mechanism)
        try:
            return float(enclosure(utility, mechanism)[1])
        except NotKnown:
            return math.inf


@dataclass(frozen=True, eq=False)
class _Found:
    """The best design on given columns.

    Attributes:
        coordinates: of the merged inputs.
        lifts: the columns divided by their mass.
        limited: their couplings, a row for each ordered pair that has a limit.
        pairs: the numbers of those pairs.
        design: weights and multipliers.
    """

    coordinates: Coordinates
    lifts: Floats
    limited: Floats
    pairs: npt.NDArray[np.intp]
    design: OptimalDesign

    def proofs(self, utility: Workload, groups: Merged) -> tuple[Squares, ...]:
        """The proof, unless merging inputs of very different priors made its numbers too long for a file."""
        prices = np.zeros(self.coordinates.k * (self.coordinates.k - 1))
        prices[self.pairs] = self.design.prices
        denominator = denominator_of(utility, groups)
        proof = coupled_columns(self.coordinates, self.design, prices, denominator, groups.groups)
        return (proof,) if is_short(proof) else ()

    def matrix(self, privacy: LDP) -> Floats:
        """The mechanism in floats, a row for each group."""
        points = self.coordinates.points(self.lifts - 1)
        theta = balanced(self.lifts, reduced(points, self.design.theta, self.coordinates.guarded, self.limited))
        return with_row_sums(self.lifts[:, theta > 0] * theta[theta > 0], privacy.epsilon)


def is_short(proof: Proof) -> bool:
    """Whether a file may hold its numbers."""
    dual = proof.dual if isinstance(proof, Squares) else proof
    numbers = [*dual.alpha, *(price for *_, price in dual.prices)] if isinstance(dual, Dual) else []
    return all(abs(number) < LONGEST for number in numbers)


def _over(columns: Floats, groups: Merged, privacy: LDP) -> _Found:
    """The best design on these columns. At ε = 0 many are the same, and the limits of (x, z) and (z, x) are one: rows
    sum to one, so what x has in excess of z is what z has in excess of x."""
    k, columns = columns.shape[0], np.unique(columns, axis=1)
    mass = groups.prior @ columns
    limited = couplings(columns, privacy.epsilon) / mass
    limited[limited < ROUNDING * limited.max(axis=1, keepdims=True)] = 0.0
    pairs = np.array([i for i, (x, z) in enumerate(permutations(range(k), 2)) if privacy.epsilon or x < z])
    coordinates = Coordinates(groups.prior, groups.rows)
    points, limits = coordinates.points(columns / mass - 1), CouplingLimits(limited[pairs], privacy.delta)
    found = optimal_design(points, coordinates.guarded, limits=limits)
    return _Found(coordinates, columns / mass, limited[pairs], pairs, found)


@dataclass(frozen=True, eq=False)
class RevealedPeople:
    """How many more people the obvious mechanism needs: reveal with probability δ, else the best ε-mechanism."""

    workload: Workload
    revealed: Mechanism
    mechanism: Mechanism

    def sentence(self) -> str:
        reached, best = self.workload(self.revealed), self.workload(self.mechanism)
        more = f" ({number(100 * (reached / best - 1), 3)}% more people)" if math.isfinite(reached) else ""
        return f"revealing with probability δ, else the best ε-mechanism: {number(reached)}{more}"
