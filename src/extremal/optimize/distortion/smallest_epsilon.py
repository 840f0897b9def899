"""The smallest ε within a given Hamming distortion (KSS Definition 4), exactly, for any class of sources.

With u = e^−ε and t = 1 − D the game of `hamming` becomes one linear program: ε is too small as long as some
prior p of the class has p(T) ≤ t·(1 + (|T|−1)u) for every set T. So e^−ε* = min u over (p, u) with these inequalities,
unless ε* = 0: that is so when constant rows suffice, every prior of the class having a symbol of probability at least
t. The program is solved in its dual, whose columns are the sets T (for an ordered class the Charnes–Cooper form of KSS
eq 9 with the ordering that is missing there, erratum H2), and its optimal basis is solved again in rationals. ε* may
fall to 0 by a jump (at D^(M−1) for an ordered class).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np

from extremal.certificate import Level, Proof
from extremal.errors import InvalidParameter
from extremal.exact import Prior, level_of_ratio, solve_exactly
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures.response import RandomizedResponse
from extremal.optimize.design import Design, finished
from extremal.optimize.distortion.hamming import (
    MOST_ROUNDS,
    Set,
    from_diagonal,
    over_growing_class,
    suffixes,
    theorem_1,
    truth_proof,
    under_one_prior,
)
from extremal.optimize.problem import Solution, shortened
from extremal.privacy import LDP
from extremal.solver import Answer, LinearProgram
from extremal.sources import SourceClass, as_source
from extremal.utility import LevelAtDistortion

EXACT_ROWS = 24  # priors up to which the optimal basis is solved in rationals
LARGEST_EPSILON = 100.0  # beyond, weights of 2^−62 hold no report but the truth
JUST_BELOW = Fraction(1, 10**40)  # relative: of the ratio that is proved, below the one that suffices
LEVEL_DIGITS = 120  # of its proof: at e^100 the distortion exceeds D by the eightieth digit
_TRIES = 16  # each asks for at least eight times as much slack
FINEST = Fraction(1, 1 << 60)  # a step of the truth that weights can tell
INSIDE = Fraction(1, 10**25)  # how far a prior is moved from the boundary of its class
_AS_GOOD = Fraction(1, 1 << 46)  # a prior that breaks the truth by less is one that the solver knew


def smallest_epsilon(source_class: Any, distortion: Any, inputs: Any = None) -> Design:
    """The smallest ε at which some ε-LDP mechanism keeps the worst-case Hamming distortion within D, and such a
    mechanism.

    ε*(P, D) = min over Q with max_{p∈P} Σ p(x)(1−Q(x|x)) ≤ D of the level of Q (KSS Definition 4).

    Guarantee: the mechanism is LDP at `value` and its distortion at most D, both decided in integers, and no ε below
    `lower_bound` suffices: one prior of the class proves it, in rationals.

    Args:
        source_class: a prior or an `ex.SourceClass`.
        distortion: D, the largest probability of a false report, 0 ≤ D ≤ 1.
        inputs: labels.

    Raises:
        InvalidParameter: no finite ε suffices (D = 0), or it is above 100.

    Reference: Kalantari, Sankar, Sarwate, The Optimal Differential Privacy Mechanism under Hamming Distortion for
    Universal Memoryless Source Classes (2016), which has bounds; the exact value is with the corrections H1–H8 of
    docs/reference/errata.md.

    >>> import extremal as ex
    >>> d = ex.smallest_epsilon(ex.SourceClass.ordered([[0.45, 0.45, 0.1], [0.6, 0.2, 0.2]]), 0.45)
    >>> round(d.value, 6), bool(ex.verify(d))
    (0.663294, True)
    """
    source = as_source(source_class, "source_class")
    utility = LevelAtDistortion(source, distortion)
    if source.symmetric:
        return finished(utility, _symmetric(source, utility, inputs))
    return finished(utility, _for_class(source, utility, inputs))


def _symmetric(source: SourceClass, utility: LevelAtDistortion, inputs: Any) -> Solution:
    """KSS Theorem 1: log((M−1)(1−D)/D), 0 from D = (M−1)/M on."""
    k, truth = source.k, 1 - utility.distortion
    if truth * k <= 1:
        found = _constant_rows([Fraction(1, k)] * k, inputs)
        if utility.worst_distortion(found.mechanism) <= utility.distortion:
            return found
    _refuse_infinite(truth)
    return theorem_1(source, _response_within(k, utility.distortion, inputs), partial(_level_proof, utility))


def _response_within(k: int, distortion: Fraction, inputs: Any) -> Mechanism:
    """Randomised response whose report is false with probability at most D, in integers: the truth is rounded up."""
    low = math.floor(distortion * DENOMINATOR) // (k - 1)
    labels = Labels(range(k) if inputs is None else inputs, "inputs")
    made = Mechanism(RandomizedResponse(k, low, DENOMINATOR - (k - 1) * low), None, labels, labels)
    return made.claiming(LDP(_finite(LDP(0).level(made))))


def _constant_rows(row: list[Fraction], inputs: Any) -> Solution:
    """Every input reports by the same row; that no ε is below 0 needs no proof."""
    return Solution(from_diagonal(row, LDP(0), inputs), 0.0, "constant rows")


@dataclass(frozen=True)
class _ForHull:
    """The best diagonal for the hull of some priors of the class.

    Attributes:
        diagonal: how often each symbol is reported truly.
        mix: the weights of the priors that prove it; None for constant rows, which need no proof.
        needed: the probability of the truth below which another prior breaks it.
    """

    diagonal: list[Fraction]
    mix: list[Fraction] | None
    needed: Fraction

    @classmethod
    def of(cls, priors: list[Prior], truth: Fraction) -> _ForHull:
        constant, inside = _constant_game(priors)
        if min(_expected(p, constant) for p in priors) >= truth:
            return cls(constant, None, truth)
        _refuse_infinite(truth)
        mix, diagonal = _least_ratio(priors, truth)
        # On the boundary the likeliest symbol may have probability 1 − D exactly: a little inside.
        moved = [(1 - INSIDE) * a + INSIDE * b for a, b in zip(mix, inside, strict=True)]
        return cls(diagonal, moved, truth - _AS_GOOD)


def _for_class(source: SourceClass, utility: LevelAtDistortion, inputs: Any) -> Solution:
    truth = 1 - utility.distortion

    def solve_for(priors: list[Prior]) -> tuple[_ForHull, list[Fraction]]:
        found = _ForHull.of(priors, truth)
        return found, [-x for x in found.diagonal]

    def breaks(found: _ForHull, _: Any, worst: Prior, __: Any) -> bool:
        return _expected(worst, found.diagonal) < found.needed

    found, priors = over_growing_class(source, [1] * source.k, solve_for, breaks)
    if found.mix is not None:
        mechanism = _within(utility, priors, found.diagonal, inputs)
        proof = under_one_prior(source, priors, found.mix, partial(_level_proof, utility))
        return _reached(utility, mechanism, (proof,))
    constant = _constant_rows(found.diagonal, inputs)
    if utility.worst_distortion(constant.mechanism) <= utility.distortion:
        return constant
    # its probabilities are no multiples of 2^-62: a little more than a constant meets D
    diagonal = _least_ratio(priors, truth + FINEST)[1]
    return _reached(utility, _within(utility, priors, diagonal, inputs), ())


def _level_proof(utility: LevelAtDistortion, prior: Prior) -> Level:
    """No ε below ln min (n−1)(1−D)/(S_n−1+D) over n with S_n > 1−D suffices for a prior, S_n the sum of its n largest
    probabilities: just below that ratio the truth is reported with probability below 1−D."""
    truth = 1 - utility.distortion
    likeliest = sorted(prior.weights, reverse=True)
    sums = [Fraction(total, prior.total) for total in itertools.accumulate(likeliest)]
    enough = [n * truth / (total - truth) for n, total in enumerate(sums) if total > truth]
    ratio = shortened(min(enough, default=Fraction(1)) * (1 - JUST_BELOW), LEVEL_DIGITS)
    if sums[0] >= truth or ratio <= 1:
        ratio = Fraction(1)  # ε ≥ 0 needs no proof
    return Level(ratio, truth_proof(prior, ratio, LEVEL_DIGITS))


def _within(utility: LevelAtDistortion, priors: list[Prior], diagonal: list[Fraction], inputs: Any) -> Mechanism:
    """The mechanism of a diagonal. Weights are rounded: a little more truth is asked for until D is met exactly."""
    truth, slack = 1 - utility.distortion, Fraction(0)
    mechanism = _claiming(diagonal, inputs)
    for _ in range(_TRIES):
        excess = utility.worst_distortion(mechanism) - utility.distortion
        if excess <= 0:
            break
        slack = 8 * slack + 2 * excess + FINEST
        mechanism = _claiming(_least_ratio(priors, min(truth + slack, (truth + 1) / 2))[1], inputs)
    return mechanism


def _reached(utility: LevelAtDistortion, mechanism: Mechanism, proofs: tuple[Proof, ...]) -> Solution:
    reached = (
        f"worst-case distortion {float(utility.worst_distortion(mechanism)):.12g}, allowed "
        f"{float(utility.distortion):.12g}"
    )
    method = "linear program over sets of symbols, solved in rationals"
    return Solution(mechanism, 0.0, method, proofs, (reached,))


def _claiming(x: list[Fraction], inputs: Any) -> Mechanism:
    """The mechanism of a diagonal, claiming the level that its ratios max_i (X−x_i)/(1−x_i) have."""
    total = sum(x)
    ratio = max((total - v) / (1 - v) for v in set(x))
    return from_diagonal(x, LDP(_claimed(ratio)), inputs)


def _claimed(ratio: Fraction) -> float:
    return _finite(level_of_ratio(ratio.numerator, ratio.denominator))


def _finite(level: float) -> float:
    if level > LARGEST_EPSILON:
        raise InvalidParameter(
            "so little distortion needs an epsilon above 100",
            parameter="epsilon",
            value=level,
            hint="Allow more distortion.",
        )
    return level


def _refuse_infinite(truth: Fraction) -> None:
    if truth < 1:
        _claimed(max(truth / (1 - truth), Fraction(1)))  # e^ε* is at least this once ε* > 0, because S_n ≤ 1 and n ≥ 2
    else:
        raise InvalidParameter(
            "no finite epsilon keeps the distortion at 0",
            parameter="distortion",
            value=float(1 - truth),
            hint="A private report must sometimes be false: allow a positive distortion.",
        )


def _expected(prior: Prior, values: list[Fraction]) -> Fraction:
    return sum((w * v for w, v in zip(prior.weights, values, strict=True) if v), Fraction(0)) / prior.total


class _Game(Protocol):
    """A linear program over rationals: max x_0 s.t. 1 ≥ (or =) Σ first·x, x_0 ≤ Σ gain·x under each prior, x ≥ 0."""

    def first(self, j: int) -> Fraction: ...

    def gain(self, v: int, j: int) -> Fraction: ...


@dataclass(frozen=True)
class _Constants:
    """x: how often a constant report names each symbol. It is true with the symbol's probability."""

    priors: list[Prior]

    def first(self, j: int) -> Fraction:
        return Fraction(1)

    def gain(self, v: int, j: int) -> Fraction:
        return self.priors[v].fraction(j)


@dataclass(frozen=True)
class _Sets:
    """x: weights of sets T, see `_least_ratio`."""

    priors: list[Prior]
    sets: list[Set]
    truth: Fraction

    def first(self, j: int) -> Fraction:
        return Fraction(len(self.sets[j]) - 1, len(self.priors[0]) - 1)

    def gain(self, v: int, j: int) -> Fraction:
        prior = self.priors[v]
        inside = Fraction(sum(prior.weights[x] for x in self.sets[j]), prior.total)
        return (inside - self.truth) / (1 - self.truth)


def _rational(game: _Game, program: LinearProgram, answer: Answer) -> tuple[list[Fraction], list[Fraction]]:
    """The optimal vertex and its duals in rationals: its basis solved again, or the floats as they are when that
    fails."""
    columns, rows = program.basis()
    x, duals = [Fraction(float(v)) for v in answer.x], [Fraction(float(y)) for y in answer.duals]
    if len(duals) > EXACT_ROWS or len(columns) != len(rows):
        return x, duals
    square = [[_entry(game, i, j) for j in columns] for i in rows]
    transposed = [list(column) for column in zip(*square, strict=True)]
    primal = solve_exactly(square, [Fraction(int(i == 0)) for i in rows])
    dual = solve_exactly(transposed, [Fraction(int(j == 0)) for j in columns])
    if primal is None or dual is None or min(primal) < 0:
        return x, duals
    return _scattered(columns, primal, len(x)), _scattered(rows, dual, len(duals))


def _entry(game: _Game, i: int, j: int) -> Fraction:
    """The coefficient of x_j in row i: the first row, then one for each prior."""
    if j == 0:
        return Fraction(0 if i == 0 else -1)
    return game.first(j - 1) if i == 0 else game.gain(i - 1, j - 1)


def _scattered(places: list[int], values: list[Fraction], size: int) -> list[Fraction]:
    found = [Fraction(0)] * size
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return found


def _constant_game(priors: list[Prior]) -> tuple[list[Fraction], list[Fraction]]:
    """The constant report that is true most often in the worst case, and the mixture of priors that keeps it down;
    exact where possible."""
    k = len(priors[0])
    if len(priors) == 1 or all(_sorted(p) for p in priors):  # ordered: always report the first symbol
        best = max(range(k), key=lambda i: min(p.fraction(i) for p in priors))
        worst = min(range(len(priors)), key=lambda v: priors[v].fraction(best))
        return _unit(best, k), _unit(worst, len(priors))
    values = np.array([p.values for p in priors])
    program = LinearProgram([1.0, *np.zeros(len(priors))], [1.0, *np.full(len(priors), np.inf)])
    program.add(np.vstack([[0.0], -np.ones((len(priors), 1))]), np.array([1.0]))
    program.add(np.vstack([np.ones(k), values]), np.zeros(k))
    primal, dual = _rational(_Constants(priors), program, program.solve())
    return _normalised(primal[1:]), _normalised([-y for y in dual[1:]])


def _unit(at: int, size: int) -> list[Fraction]:
    return [Fraction(int(i == at)) for i in range(size)]


def _sorted(prior: Prior) -> bool:
    return all(a >= b for a, b in itertools.pairwise(prior.weights))


def _least_ratio(priors: list[Prior], truth: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """(mixture of priors, diagonal) with the smallest e^ε at which the truth is told with probability `truth` under
    each prior.

    max τ s.t. Σ θ_T (p(T) − t)/D ≥ τ for each prior, Σ θ_T (|T|−1)/(k−1) ≤ 1; e^−ε = τ·D/(t(k−1)), duals are the
    mixture. Coefficients relative to D: the sums p(T) − t would cancel.
    """
    k, lost = len(priors[0]), 1 - truth
    program, sets, answer = _generated_sets(priors, float(lost))
    primal, dual = _rational(_Sets(priors, sets, truth), program, answer)
    theta, u = primal[1:], primal[0] * lost / (truth * (k - 1))
    scale = sum(w * (1 + (len(members) - 1) * u) for w, members in zip(theta, sets, strict=True))
    diagonal = [Fraction(0)] * k
    for weight, members in zip(theta, sets, strict=True):
        for i in members if weight else ():
            diagonal[i] += weight / scale
    return _normalised([-y for y in dual[1:]]), diagonal


def _generated_sets(priors: list[Prior], lost: float) -> tuple[LinearProgram, list[Set], Answer]:
    """The program of `_least_ratio` in floats, with the sets T that matter: for given duals the best ones are made of
    the likeliest symbols."""
    values = np.array([p.values for p in priors])
    k = values.shape[1]
    sizes = np.arange(k) / (k - 1)
    program = LinearProgram([-np.inf, *np.zeros(len(priors))], [1.0, *np.full(len(priors), np.inf)])
    program.add(np.vstack([[0.0], -np.ones((len(priors), 1))]), np.array([1.0]))
    sets: list[Set] = []

    def add(members: Set) -> None:
        outside = np.setdiff1d(np.arange(k), members)
        gains = 1 - values[:, outside].sum(axis=1) / lost
        program.add(np.r_[sizes[len(members) - 1], gains][:, None], np.zeros(1))
        sets.append(members)

    add(tuple(range(k)))
    for _ in range(MOST_ROUNDS):
        answer = program.solve()
        mix = np.maximum(-answer.duals[1:], 0)
        order, beyond = suffixes(mix / mix.sum() @ values)
        excess = 1 - beyond / lost - answer.duals[0] * sizes
        per_size = np.divide(excess, sizes, out=np.full(k, -1.0), where=sizes > 0)
        best = {int(np.argmax(excess)), int(np.argmax(per_size))}
        fresh = {tuple(sorted(order[: n + 1].tolist())) for n in best if excess[n] > 0}.difference(sets)
        if not fresh:
            break
        for members in sorted(fresh):
            add(members)
    return program, sets, answer


def _normalised(weights: list[Fraction]) -> list[Fraction]:
    kept = [max(w, Fraction(0)) for w in weights]
    whole = sum(kept)
    return [w / whole for w in kept]
