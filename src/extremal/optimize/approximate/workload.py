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
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from extremal.certificate import Proof, Squares
from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.approximate.solve import (
    REVEAL,
    best_plain_design,
    listed_columns,
    revealing,
    without_delta,
)
from extremal.optimize.approximate.truncated import truncated
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.table import SIZES
from extremal.optimize.workload.inequality import best_inequality
from extremal.optimize.workload.interior import CouplingLimits, OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import Coordinates, all_sets
from extremal.optimize.workload.mechanisms import balanced, reduced
from extremal.optimize.workload.merging import Merged, coarsened, denominator_of, merged
from extremal.optimize.workload.notes import Precision
from extremal.optimize.workload.proofs import coupled_columns, revealed_inputs
from extremal.privacy import LDP
from extremal.privacy.cones.coupled import couplings, rays, refuse_many
from extremal.tables import number
from extremal.utility import Workload

MATRIX_SECONDS = 30.0  # of the processor for the matrix inequality
ROUNDING = 1e-12  # relative to the largest: couplings below are 0


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
    """The best that was found, never worse than revealing with probability δ, and what is proved."""
    k, possible = groups.prior.size, bool(groups.prior.all())
    varies = sum(map(bool, utility.source.member().weights)) > 1  # inputs that tell nothing prove no bound but 0
    exact, made, proofs = False, [], tuple[Proof, ...]((revealed_inputs(utility),) if varies else ())
    if possible and k <= SIZES.coupled_rays and not problem.out_of_time:
        with suppress(np.linalg.LinAlgError, PrivacyViolation):  # one input is so rare that floats do not hold it
            found = _over(rays(k, privacy.epsilon), groups, privacy)
            made.append((found.mechanism(groups, problem, privacy), "rays of the (ε,δ) arrangement, interior point"))
            exact, proofs = True, (found.proof(utility, groups),)
    elif possible and not problem.out_of_time:
        few = coarsened(groups.rows, groups.prior, SIZES.coupled_rays)
        spread = Merged(few.group[groups.group], few.prior, few.rows)
        if privacy.epsilon:
            proofs = (*proofs, _matrix(problem, utility, privacy, groups))
        with suppress(np.linalg.LinAlgError):
            proofs = (*proofs, _over(rays(few.prior.size, privacy.epsilon), few, privacy).proof(utility, spread))
        if k <= SIZES.coupled_mixed and not problem.out_of_time:
            columns = np.hstack([np.where(all_sets(k), 1.0, math.exp(-privacy.epsilon)), np.eye(k)])
            with suppress(np.linalg.LinAlgError, PrivacyViolation):
                mixed = _over(columns, groups, privacy)
                made.append((mixed.mechanism(groups, problem, privacy), "staircase patterns and single inputs, mixed"))
    plain = best_plain_design(problem, privacy) if privacy.epsilon else None
    columns = np.ones((utility.k, 1)) if plain is None else listed_columns(plain, privacy)
    revealed = Mechanism.from_matrix(revealing(columns, privacy), privacy, inputs=problem.inputs)
    made.append((revealed, REVEAL))
    if not exact and plain is not None:  # where sets are too many to be listed and revealed, they may be better alone
        made.append((plain.mechanism.claiming(privacy), f"{plain.method}, without δ"))
        proofs += truncated(plain.certificate.proofs, without_delta(privacy), utility) if possible else ()
    mechanism, method = min(made, key=lambda one: utility(one[0]))
    notes = (
        ()
        if exact
        else ("the bound is that of a matrix inequality or of a coarser question: it is loose unless δ is small",)
    )
    more = (RevealedPeople(utility, revealed, mechanism), Precision(utility, mechanism))
    return Solution(mechanism, math.nan, method, proofs, (*notes, *more))


def _matrix(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Proof:
    """The matrix inequality of ε-LDP, which δ weakens by δ times its prices."""
    left = problem.seconds_left
    seconds = MATRIX_SECONDS if left is None else min(MATRIX_SECONDS, left / 3)
    bound = best_inequality(Coordinates(groups.prior, groups.rows), privacy.epsilon, seconds)
    return bound.proof(privacy, utility, groups.groups)


def _many(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    """Too many inputs to decide the claim of another mechanism: the best ε-mechanism, and by how much δ may beat it."""
    proof = _matrix(problem, utility, privacy, groups)
    found = best_plain_design(problem, privacy)
    mechanism = found.mechanism.claiming(privacy)
    notes = ("revealing is left out for so many inputs: this mechanism satisfies the claim without its δ",)
    return Solution(mechanism, math.nan, found.method, (proof,), (*notes, Precision(utility, mechanism)))


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

    def proof(self, utility: Workload, groups: Merged) -> Squares:
        prices = np.zeros(self.coordinates.k * (self.coordinates.k - 1))
        prices[self.pairs] = self.design.prices
        return coupled_columns(self.coordinates, self.design, prices, denominator_of(utility, groups), groups.groups)

    def mechanism(self, groups: Merged, problem: Problem, privacy: LDP) -> Mechanism:
        points = self.coordinates.points(self.lifts - 1)
        theta = balanced(self.lifts, reduced(points, self.design.theta, self.coordinates.guarded, self.limited))
        matrix = self.lifts[:, theta > 0] * theta[theta > 0]
        matrix /= matrix.sum(axis=1, keepdims=True)
        return Mechanism.from_matrix(matrix[groups.group], privacy, inputs=problem.inputs)


def _over(columns: Floats, groups: Merged, privacy: LDP) -> _Found:
    """The best design on these columns. At ε = 0 many are the same, and the limits of (x, z) and (z, x) are one: rows
    sum to one, so what x has in excess of z is what z has in excess of x."""
    k, columns = columns.shape[0], np.unique(columns, axis=1)
    mass = groups.prior @ columns
    limited = couplings(columns, privacy.epsilon) / mass
    limited[limited < ROUNDING * limited.max()] = 0.0
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
