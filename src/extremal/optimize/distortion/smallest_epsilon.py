"""The smallest ε within a given Hamming distortion (KSS Definition 4), exactly, for any class of sources.

With u = e^−ε and t = 1 − D the game of `optimize/hamming.py` becomes one linear program: ε is too small as long as some
prior p of the class has p(T) ≤ t·(1 + (|T|−1)u) for every set T. So e^−ε* = min u over (p, u) with these inequalities,
unless ε* = 0: that is so when constant rows suffice, every prior of the class having a symbol of probability at least
t. The program is solved in its dual, whose columns are the sets T (for an ordered class the Charnes–Cooper form of KSS
eq 9 with the ordering that is missing there, erratum H2), and its optimal basis is solved again in rationals. ε* may
fall to 0 by a jump (at D^(M−1) for an ordered class).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Prior, level_of_ratio, solve_exactly
from extremal.mechanism import Mechanism
from extremal.optimize.design import Design, finished
from extremal.optimize.distortion.hamming import (
    MOST_ROUNDS,
    Set,
    from_diagonal,
    mixture,
    prior_proof,
    response,
    suffixes,
)
from extremal.optimize.problem import Solution
from extremal.privacy import LDP
from extremal.solver import LinearProgram
from extremal.sources import SourceClass, as_source
from extremal.utility import LevelAtDistortion

EXACT_ROWS = 24  # priors up to which the optimal basis is solved in rationals
LARGEST_EPSILON = 100.0
_TRIES = 6


def smallest_epsilon(source_class: Any, distortion: Any, inputs: Any = None) -> Design:
    """The smallest ε at which some ε-LDP mechanism keeps the worst-case Hamming distortion within D, and such a
    mechanism.

    ε*(P, D) = min over Q with max_{p∈P} Σ p(x)(1−Q(x|x)) ≤ D of the level of Q (KSS Definition 4).

    Guarantee: the mechanism is LDP at `value`, decided in integers, its distortion is at most D (exactly, or within
    2^-48 where D can only be met on the boundary), and no ε below `lower_bound` suffices: one prior of the class proves
    it, in rationals.

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
    truth = 1 - utility.distortion
    if source.symmetric:
        return finished(utility, _symmetric(source.k, truth, inputs))
    priors = source.first_priors([1] * source.k)
    while True:
        solution, found = solved_over(source, priors, utility, truth, inputs)
        if found is None:
            return finished(utility, solution)
        priors.append(found)


def _symmetric(k: int, truth: Fraction, inputs: Any) -> Solution:
    """KSS Theorem 1: log((M−1)(1−D)/D), 0 from D = (M−1)/M on."""
    if truth * k <= 1:
        return Solution(
            from_diagonal([Fraction(1, k)] * k, LDP(0), inputs),
            0.0,
            "constant rows",
            ({"kind": "hamming", "zero": True},),
        )
    _refuse_infinite(truth)
    ratio = (k - 1) * truth / (1 - truth)
    mechanism = response(k, LDP(_claimed(ratio)), inputs)
    return Solution(
        mechanism, 0.0, "randomised response (KSS Theorem 1)", ({"kind": "hamming", "prior": [f"1/{k}"] * k},)
    )


def solved_over(
    source: SourceClass, priors: list[Prior], utility: LevelAtDistortion, truth: Fraction, inputs: Any
) -> tuple[Solution, Prior | None]:
    """The solution for the hull of `priors`, and a prior of the class that breaks it (None: solved)."""
    constant, inside = _constant_game(priors)
    if min(_expected(p, constant) for p in priors) >= truth:
        worst = source.extreme_prior([-q for q in constant])
        if worst not in priors and _expected(worst, constant) < truth:
            return _nothing(), worst
        mechanism = from_diagonal(constant, LDP(0), inputs)
        return Solution(mechanism, 0.0, "constant rows", ({"kind": "hamming", "zero": True},)), None
    _refuse_infinite(truth)
    slack, needed = Fraction(0), truth
    for _ in range(_TRIES):
        mix, x = _least_ratio(priors, needed)
        if slack == 0:
            worst = source.extreme_prior([-v for v in x])
            if worst not in priors and _expected(worst, x) < truth - Fraction(1, 1 << 46):
                return _nothing(), worst
            proof = prior_proof(source, priors, mix) | {"inside": mixture(source, priors, inside)}
        mechanism = _claiming(x, inputs)
        excess = utility.worst_distortion(mechanism) - utility.distortion
        if excess <= 0:
            break
        slack = (
            8 * slack + 2 * excess + Fraction(1, 1 << 60)
        )  # the weights are rounded: ask for a little more truth, so that D is met exactly
        needed = min(truth + slack, (truth + 1) / 2)
    reached = (
        f"worst-case distortion {float(utility.worst_distortion(mechanism)):.12g}, allowed "
        f"{float(utility.distortion):.12g}"
    )
    return Solution(
        mechanism, 0.0, "linear program over sets of symbols, solved in rationals", (proof,), (reached,)
    ), None


def _nothing() -> Solution:
    """Stands for a solution that a further prior makes void."""
    return Solution(Mechanism.from_weights([[1], [1]], 1), 0.0, "")


def _claiming(x: list[Fraction], inputs: Any) -> Mechanism:
    """The mechanism of a diagonal, claiming the level that its ratios max_i (X−x_i)/(1−x_i) have."""
    total = sum(x)
    ratio = max((total - v) / (1 - v) for v in set(x))
    return from_diagonal(x, LDP(_claimed(ratio)), inputs)


def _claimed(ratio: Fraction) -> float:
    level = level_of_ratio(ratio.numerator, ratio.denominator)
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


def _constant_game(priors: list[Prior]) -> tuple[list[Fraction], list[Fraction]]:
    """The constant report that is true most often in the worst case, and the mixture of priors that keeps it down;
    exact where possible."""
    if len(priors) == 1 or all(_sorted(p) for p in priors):  # ordered: always report the first symbol
        best = max(range(len(priors[0])), key=lambda i: min(Fraction(p.weights[i], p.total) for p in priors))
        worst = min(range(len(priors)), key=lambda v: Fraction(priors[v].weights[best], priors[v].total))
        return [Fraction(int(i == best)) for i in range(len(priors[0]))], [
            Fraction(int(v == worst)) for v in range(len(priors))
        ]
    values = np.array([p.values for p in priors])
    program = LinearProgram([1.0, *np.zeros(len(priors))], [1.0, *np.full(len(priors), np.inf)])
    program.add(np.vstack([[0.0], -np.ones((len(priors), 1))]), np.array([1.0]))
    program.add(np.vstack([np.ones(values.shape[1]), values]), np.zeros(values.shape[1]))
    answer = program.solve()

    def entry(i: int, j: int) -> Fraction:
        if j == 0:
            return Fraction(0 if i == 0 else -1)
        return Fraction(1) if i == 0 else priors[i - 1].fraction(j - 1)

    right = [Fraction(1), *[Fraction(0)] * len(priors)]
    primal, dual = _rational(program, entry, right, answer.x, answer.duals, [0])
    return _normalised(primal[1:]), _normalised([-y for y in dual[1:]])


def _sorted(prior: Prior) -> bool:
    return bool((np.diff(prior.values) <= 0).all()) and all(
        a >= b for a, b in zip(prior.weights, prior.weights[1:], strict=False)
    )


def _least_ratio(priors: list[Prior], truth: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """(mixture of priors, diagonal) with the smallest e^ε at which the truth is told with probability `truth` under
    each prior.

    max τ s.t. Σ θ_T (p(T) − t)/D ≥ τ for each prior, Σ θ_T (|T|−1)/(k−1) ≤ 1; e^−ε = τ·D/(t(k−1)), duals are the
    mixture. Coefficients relative to D: the sums p(T) − t would cancel.
    """
    k, lost = len(priors[0]), 1 - truth
    values = np.array([p.values for p in priors])
    sets: list[Set] = [tuple(range(k))]
    program = LinearProgram([-np.inf, *np.zeros(len(priors))], [1.0, *np.full(len(priors), np.inf)])
    program.add(np.vstack([[0.0], -np.ones((len(priors), 1))]), np.array([1.0]))

    def gains(members: Set) -> list[float]:
        outside = np.setdiff1d(np.arange(k), members)
        return [1 - float(v[outside].sum()) / float(lost) for v in values]

    program.add(np.array([[1.0], *[[g] for g in gains(sets[0])]]), np.zeros(1))
    sizes = np.arange(k) / (k - 1)
    for _ in range(MOST_ROUNDS):
        answer = program.solve()
        mix = np.maximum(-answer.duals[1:], 0)
        mix = mix / mix.sum()
        order, beyond = suffixes(mix @ values)
        excess = 1 - beyond / float(lost) - answer.duals[0] * sizes
        added = False
        for best in {
            int(np.argmax(excess)),
            int(np.argmax(np.where(sizes > 0, excess / np.maximum(sizes, 1e-300), -1))),
        }:
            chosen = tuple(sorted(order[: best + 1].tolist()))
            if chosen not in sets and excess[best] > 0:
                sets.append(chosen)
                program.add(np.array([[sizes[best]], *[[g] for g in gains(chosen)]]), np.zeros(1))
                added = True
        if not added:
            break
    masses: dict[tuple[int, int], Fraction] = {}

    def entry(i: int, j: int) -> Fraction:
        if j == 0:
            return Fraction(0 if i == 0 else -1)
        members = sets[j - 1]
        if i == 0:
            return Fraction(len(members) - 1, k - 1)
        if (i, j) not in masses:
            masses[i, j] = (
                Fraction(sum(priors[i - 1].weights[x] for x in members), priors[i - 1].total) - truth
            ) / lost
        return masses[i, j]

    right = [Fraction(1), *[Fraction(0)] * len(priors)]
    primal, dual = _rational(program, entry, right, answer.x, answer.duals, [0])
    theta, u = primal[1:], primal[0] * lost / (truth * (k - 1))
    scale = sum(w * (1 + (len(members) - 1) * u) for w, members in zip(theta, sets, strict=True))
    x = [Fraction(0)] * k
    for weight, members in zip(theta, sets, strict=True):
        for i in members if weight else ():
            x[i] += weight / scale
    return _normalised([-y for y in dual[1:]]), x


def _rational(
    program: LinearProgram, entry: Any, right: list[Fraction], x: Any, duals: Any, objective: list[int]
) -> tuple[list[Fraction], list[Fraction]]:
    """The optimal vertex and its duals in rationals: its basis solved again, or the floats as they are when that
    fails."""
    columns, rows = program.basis()
    rough = [Fraction(float(v)) for v in x], [Fraction(float(y)) for y in duals]
    if len(right) > EXACT_ROWS or len(columns) != len(rows):
        return rough
    square = [[entry(i, j) for j in columns] for i in rows]
    primal = solve_exactly(square, [right[i] for i in rows])
    dual = solve_exactly(
        [list(column) for column in zip(*square, strict=True)], [Fraction(int(j in objective)) for j in columns]
    )
    if primal is None or dual is None or min(primal) < 0:
        return rough
    exact_x, exact_duals = [Fraction(0)] * len(rough[0]), [Fraction(0)] * len(rough[1])
    for j, value in zip(columns, primal, strict=True):
        exact_x[j] = value
    for i, value in zip(rows, dual, strict=True):
        exact_duals[i] = value
    return exact_x, exact_duals


def _normalised(weights: list[Fraction]) -> list[Fraction]:
    kept = [max(w, Fraction(0)) for w in weights]
    whole = sum(kept)
    return [w / whole for w in kept]
