"""The best (ε,δ)-LDP mechanism: a linear program over the rays of `privacy/cones/coupled`.

max Σ θ_r μ(r) s.t. Σ θ_r r = 1, Σ θ_r (r_x − e^ε·r_z)⁺ ≤ δ for every ordered pair, θ ≥ 0. KOV treats two inputs
(Theorem 19: the quaternary mechanism) and leaves more open; here the program is exact for up to 6. At most k² outputs
are used. With more inputs, divergences of one pair are bounded by chords (`chords`), within a few percent of what
revealing gains, and all else gets the mechanism that reveals the input with probability δ, with the bound of ε-LDP and
what δ adds to it (`truncated`), which is loose unless δ is small. What a report may exclude is worth infinitely much to
some divergences, however small its probability: then the value is infinite, or, in a worst case, such a part costs
nothing and the others decide.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from extremal.certificate import Chords, Dual, Listed, Proof
from extremal.errors import PrivacyViolation, TooLarge
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.optimize.approximate.chords import NO_TIME, BoundedMechanism, between_chords, transported
from extremal.optimize.approximate.truncated import truncated
from extremal.optimize.infinite import parts_of
from extremal.optimize.problem import Problem, Solution, decimal, decimals
from extremal.optimize.revealed import of_inputs
from extremal.optimize.table import SIZES
from extremal.optimize.workload.structured.blocks import restricted_design
from extremal.privacy import LDP
from extremal.privacy.cones.coupled import couplings, rays, refuse_many
from extremal.solver import LinearProgram, SolverFailed
from extremal.tables import number
from extremal.utility import Divergence, Utility

if TYPE_CHECKING:
    from extremal.optimize.design import Design

CLOSED = 1e-9  # relative: a smaller gap is rounding
FLAT = 0.1  # 1 − e^−ε below which most columns count as nearly constant
EXCLUDING = 2.0**-50  # how much of the mechanism goes to reports that make a part of a worst case infinite
REVEAL = "reveal with probability δ, else the best ε-mechanism"
FINE = 1e-3  # of the largest ray's value: an optimum below is solved for in its own units


def solve(problem: Problem, privacy: LDP, utility: Utility) -> Solution:
    """(ε,δ)-LDP with δ > 0, any sum of sublinear column values or the worst case of several."""
    refuse_many(utility.k, SIZES.coupled)
    worth = np.array([part.column_values(np.eye(utility.k)).sum() for part in parts_of(utility)])
    if not np.isfinite(worth).any() or (worth.size == 1 and not np.isfinite(worth).all()):
        return _infinite(problem, privacy)
    listed = _solved(problem, privacy) if utility.k <= SIZES.coupled_rays else None
    if listed is None:
        return _many(problem, privacy, worth)
    reached = utility(listed.mechanism)
    if listed.bound - reached <= CLOSED * abs(listed.bound) or not utility.verifiable:
        return listed
    other = _many(problem, privacy, worth)  # where δ is next to nothing floats do not hold the program
    best = listed if reached >= utility(other.mechanism) else other
    bound = min(listed.bound, other.bound)
    return Solution(best.mechanism, bound, best.method, listed.proofs + other.proofs, listed.notes)


def _many(problem: Problem, privacy: LDP, worth: Floats) -> Solution:
    """More inputs than rays can be listed for: chords for a divergence of one pair; else, and where that is better,
    revealing with probability δ, with what the inputs are worth for a bound."""
    utility = problem.utility
    if isinstance(utility, Divergence) and privacy.epsilon and utility.verifiable and utility.pair.difference.any():
        found = _one_pair(problem, privacy, utility)
        if found is not None:
            return found
    plain = best_plain_design(problem, privacy) if privacy.epsilon else None
    mechanism, method = _revealed(problem, privacy, plain)
    proofs: tuple[Proof, ...] = (of_inputs(utility),) if utility.verifiable else ()
    if plain is not None and proofs:
        proofs += truncated(plain.certificate.proofs, without_delta(privacy), utility)
    loose = "the bound is that of δ = 0 and (k − 1)δ times what the inputs are worth: loose unless δ is small"
    return Solution(mechanism, float(worth.min()), method, proofs, (loose,))


def _revealed(problem: Problem, privacy: LDP, plain: Design | None) -> tuple[Mechanism, str]:
    """The mechanism that reveals with probability δ, or the best ε-mechanism alone where rounding makes that better."""
    columns = np.ones((problem.utility.k, 1)) if plain is None else listed_columns(plain, privacy)
    made = [] if plain is None else [(plain.mechanism.claiming(privacy), f"{plain.method}, without δ")]
    mechanism = rounded(revealing(columns, privacy), privacy, problem)
    made += [] if mechanism is None else [(mechanism, REVEAL)]
    return max(made, key=lambda one: problem.utility(one[0]))


def _one_pair(problem: Problem, privacy: LDP, utility: Divergence) -> Solution | None:
    """Revealing with transported prices, and where inputs are few chords with coupled columns as well, whichever is
    better; None when nothing is proved."""
    plain = best_plain_design(problem, privacy)
    made, method = _revealed(problem, privacy, plain)
    reached, found = utility(made), list[BoundedMechanism]()
    for proof in plain.certificate.proofs:
        if isinstance(proof, Dual) and isinstance(proof.reason, Chords):
            alpha = np.array(proof.alpha, dtype=np.float64)
            bound, priced = transported(plain.mechanism.matrix, alpha, privacy, utility)
            found.append(BoundedMechanism(made, reached, bound, priced))
    if SIZES.coupled_rays < utility.k <= SIZES.coupled_chords and not any(one.closed for one in found):
        more = between_chords(problem, privacy, utility)
        found += [] if more is None else [more]
    if not found:
        return None
    best = max(found, key=lambda one: one.value)
    mechanism = best.mechanism if best.value > reached else made
    method = method if mechanism is made else "chords of f, with coupled columns"
    proofs = tuple(one.proof for one in found)  # which is better is decided exactly
    bound = min(one.bound for one in found)
    return Solution(mechanism, bound, method, proofs, (RevealOrStaircase(utility, privacy, mechanism),))


def _solved(problem: Problem, privacy: LDP) -> Solution | None:
    """The program over all rays; None when there was no time for it, or floats do not hold its answer."""
    columns, parts = rays(problem.utility.k, privacy.epsilon), parts_of(problem.utility)
    values = np.array([part.column_values(columns) for part in parts])
    finite = np.isfinite(values).all(axis=1)
    try:
        best, bounding = _best(columns, values[finite], privacy, problem)
    except SolverFailed:
        return None
    matrix = columns[:, best.used] * best.weights[best.used]
    matrix /= matrix.sum(axis=1, keepdims=True)
    if not finite.all():
        matrix = np.hstack([(1 - EXCLUDING) * matrix, EXCLUDING * revealing(np.ones((columns.shape[0], 1)), privacy)])
    mechanism = rounded(matrix, privacy, problem) or _constant(problem, privacy)
    mix = np.zeros(len(parts))
    mix[finite] = bounding.mix
    proof = Dual(decimals(bounding.alpha), Listed(), decimals(mix) if len(parts) > 1 else (), bounding.prices)
    proofs = (proof,) if problem.utility.verifiable else ()
    notes = (RevealOrStaircase(problem.utility, privacy, mechanism),)
    method = "linear program over the rays of the (ε,δ) arrangement"
    return Solution(mechanism, bounding.bound(columns, values[finite], privacy), method, proofs, notes)


@dataclass(frozen=True, eq=False)
class _Vertex:
    """A vertex of the program and its duals: of the rows of inputs, of the pairs, and of the utilities."""

    weights: Floats
    alpha: Floats
    beta: Floats
    mix: Floats

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.weights > 0)

    @property
    def prices(self) -> tuple[tuple[int, int, Fraction], ...]:
        k = self.alpha.size
        pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
        return tuple((x, z, decimal(b)) for (x, z), b in zip(pairs, self.beta.tolist(), strict=True) if b > 0)

    def repriced(self, columns: Floats, values: Floats, privacy: LDP, seconds: float | None) -> _Vertex:
        """The same with the least Σβ for its α, by a program of its own: δ·β is nothing next to α, and lost beside it.

        Raises:
            SolverFailed: there is no time.
        """
        coupled = couplings(columns, privacy.epsilon)
        used = coupled.any(axis=0)
        owed = (self.mix @ values - self.alpha @ columns)[used]
        program = LinearProgram(np.full(len(coupled), -np.inf), np.ones(len(coupled)))
        program.add(coupled[:, used], owed)
        return replace(self, beta=np.maximum(program.polished(program.solve(seconds)).duals, 0.0))

    def bound(self, columns: Floats, values: Floats, privacy: LDP) -> float:
        """1·α + δ·Σβ + k·max over rays, as the proof says; what a user's function is left with."""
        slack = self.mix @ values - self.alpha @ columns - self.beta @ couplings(columns, privacy.epsilon)
        most = float((slack / columns.sum(axis=0)).max())
        return float(self.alpha.sum() + privacy.delta * self.beta.sum() + self.alpha.size * most)


def _best(columns: Floats, values: Floats, privacy: LDP, problem: Problem) -> tuple[_Vertex, _Vertex]:
    """The program; where δ and ε are small the optimum is far below the value of a ray: then it is solved again in its
    units. The vertex of the better value, and that of the better bound.

    Raises:
        SolverFailed: there is no time.
    """
    scale = float(np.abs(values).max()) or 1.0
    found, value = _vertex(columns, values, privacy, scale, problem.seconds_left)
    tried = [found]
    with suppress(SolverFailed):
        if 0 < value < FINE * scale:
            found, value = _vertex(columns, values, privacy, value, problem.seconds_left)
            tried.insert(0, found)
        if found.bound(columns, values, privacy) > (1 + CLOSED) * value:
            tried += [vertex.repriced(columns, values, privacy, problem.seconds_left) for vertex in tried]
    return found, min(tried, key=lambda vertex: vertex.bound(columns, values, privacy))


def _vertex(
    columns: Floats, values: Floats, privacy: LDP, scale: float, seconds: float | None
) -> tuple[_Vertex, float]:
    """One row for each utility: t ≤ Σ θ·value, t the difference of two variables; one utility has a row too, so that
    the scale counts. Pairs are in units of δ; where ε is small, rows of inputs but the first say how far they are from
    it, in units of ε: most columns are nearly constant then."""
    k, several = columns.shape[0], values.shape[0]
    pairs, turned = k * (k - 1), np.eye(k)
    step, inputs = -math.expm1(-privacy.epsilon), columns
    if 0 < step < FLAT:
        turned[1:] /= step
        turned[1:, 0] = -1 / step
        inputs = np.vstack([columns[:1], (columns[1:] - columns[0]) / step])
    goals = np.vstack([np.zeros((k + pairs, 2)), np.outer(np.ones(several), [-1.0, 1.0])])
    coupled = couplings(columns, privacy.epsilon) / privacy.delta
    matrix = np.hstack([np.vstack([inputs, coupled, values / scale]), goals])
    target = np.concatenate([[1.0], np.zeros(k - 1)]) if 0 < step < FLAT else np.ones(k)
    high = np.concatenate([target, np.ones(pairs), np.full(several, np.inf)])
    low = np.concatenate([target, np.full(pairs, -np.inf), np.zeros(several)])
    gains = np.concatenate([np.zeros(columns.shape[1]), [1.0, -1.0]])
    program = LinearProgram(low, high)
    program.add(matrix, gains)
    answer = program.polished(program.solve(seconds))
    duals = answer.duals
    mix = np.maximum(-duals[k + pairs :], 0)
    alpha, beta = duals[:k] @ turned, np.maximum(duals[k : k + pairs], 0) / privacy.delta
    return _Vertex(answer.x[:-2], alpha * scale, beta * scale, mix / mix.sum()), answer.value * scale


def _constant(problem: Problem, privacy: LDP) -> Mechanism:
    return Mechanism.from_matrix(np.ones((problem.utility.k, 1)), privacy, inputs=problem.inputs)


def _infinite(problem: Problem, privacy: LDP) -> Solution:
    """Revealing the input with probability δ makes the value infinite: nothing is left to prove."""
    k, revealed = problem.utility.k, math.floor(privacy.exact_delta * DENOMINATOR)
    weights = np.hstack([np.full((k, 1), DENOMINATOR - revealed), revealed * np.eye(k, dtype=np.int64)])
    mechanism = Mechanism.from_weights(weights, DENOMINATOR, privacy, inputs=problem.inputs)
    said = "the value is infinite: with probability δ a report may name an input that one hypothesis excludes"
    return Solution(mechanism, math.inf, said)


def best_plain_design(problem: Problem, privacy: LDP) -> Design:
    """The best ε-LDP design, ε > 0."""
    from extremal.optimize.design import design

    left = problem.seconds_left
    return design(without_delta(privacy), problem.utility, time_limit=None if left is None else left or NO_TIME)


def without_delta(privacy: LDP) -> LDP:
    return LDP.from_json({**privacy.to_json(), "delta": "0"})


def best_plain(problem: Problem, privacy: LDP) -> Floats:
    """The best ε-LDP mechanism; at level 0 the constant one."""
    if not privacy.epsilon:
        return np.ones((problem.utility.k, 1))
    return listed_columns(best_plain_design(problem, privacy), privacy)


def listed_columns(plain: Design, privacy: LDP) -> Floats:
    """The matrix of an ε-LDP design; of one that is too large to be listed, a design nearly as good."""
    found = plain.mechanism
    try:
        return found.matrix
    except TooLarge:  # subset selection of many inputs: the sets of a projective geometry are nearly as good
        sets = restricted_design(found.k, math.expm1(privacy.epsilon))
        return Mechanism.from_cover(found.k, sets, without_delta(privacy)).matrix


def revealing(plain: Floats, privacy: LDP) -> Floats:
    """The mechanism that reveals the input with probability δ, and else does what an ε-LDP mechanism does."""
    return np.hstack([(1 - privacy.delta) * plain, privacy.delta * np.eye(plain.shape[0])])


def rounded(matrix: Floats, privacy: LDP, problem: Problem) -> Mechanism | None:
    """The mechanism in exact weights; None where floats were too far from private."""
    try:
        return Mechanism.from_matrix(matrix, privacy, inputs=problem.inputs)
    except PrivacyViolation:
        return None


@dataclass(frozen=True, eq=False)
class RevealOrStaircase:
    """How much better the optimum is than revealing with probability δ and else the best ε-mechanism."""

    utility: Utility
    privacy: LDP
    mechanism: Mechanism

    def sentence(self) -> str:
        reached = self.utility(revealing(best_plain(Problem(self.privacy, self.utility), self.privacy), self.privacy))
        best = self.utility(self.mechanism)
        share = f" ({number(100 * reached / best, 5)}% of this)" if best and np.isfinite(best) else ""
        return f"revealing with probability δ, else the best ε-mechanism: {number(reached)}{share}"
