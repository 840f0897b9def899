"""Mutual information under ε-LDP: the best mechanism, with a certified gap from the first moment on.

Closed forms when they are proven optimal (constant, randomised response, uniform prior); otherwise two bounds without
search, mixtures to compare with them, and column generation until the gap is closed (`columns`), on merged symbols
when there are many (`large`). Interrupted or out of time, the best so far is returned with its proof.
KOV Theorems 4, 12–14; see docs/design/information.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from extremal.certificate import Concave, Proof
from extremal.closed_forms.balance import balanced_subset
from extremal.exact import Prior
from extremal.exact.weights import Indices
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.structure import LARGEST_DENSE
from extremal.optimize.information.bounds import affine, convex, fluid, fluid_contact
from extremal.optimize.information.columns import EXACT_NODES, LP_SECONDS, PATIENCE, ColumnGeneration, Prices, feasible
from extremal.optimize.information.large import alternating, best_window, blocks, circulant, coarsened, two_rings
from extremal.optimize.information.mixture import SetMixture, from_counts
from extremal.optimize.information.packing import packing
from extremal.optimize.information.pricing import BestSets, Counts
from extremal.optimize.information.response import response_is_optimal
from extremal.optimize.information.trees import proof_by_search
from extremal.optimize.problem import Line, Problem, Remark, Solution, constant, lines_of
from extremal.optimize.table import SIZES
from extremal.privacy import LDP
from extremal.tables import number
from extremal.utility import MutualInformation
from extremal.utility.curve import Floats, InformationCurve, log_excess

FEW = 3.0  # symbols to a set on average: below, merging would lose too much
COARSE, COARSEST = 120, 12  # super-symbols beyond: for columns, for prices
COARSE_EFFORT = (1000, 3)  # nodes of a level and patience, when only columns are wanted
_AIM = 0.5  # of the tolerance: what is aimed at, so that rounding and the checker's margins stay within it
_FINEST = 2e-13  # relative: finer gaps are rounding
_NEARLY_UNIFORM = 1e-2  # relative gap of windows below which a prior is treated as nearly uniform
_LOOSE = 1e-4  # relative
CROWDED = 20.0  # symbols to a set of the contact's mass: beyond, the fluid bound is tight
RESPONSE = Fraction(0)  # the contact that stands for randomised response in a proof
_SMALL = 12  # symbols: closed to rounding always, it takes no time
EXACT_BALANCE = 32  # symbols for which the balanced set is searched exactly: a tenth of a second


@dataclass
class _Best:
    """The best mechanism and the best bound so far; either can be replaced at any moment."""

    problem: Problem
    lower: float = 0.0
    make: Callable[[], Mechanism] | None = None
    method: str = ""
    upper: float = np.inf
    proof: Proof | None = None
    interrupted: bool = False

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    def propose(self, value: float, method: str, make: Callable[[], Mechanism]) -> None:
        if value > self.lower or self.make is None:
            self.lower, self.method, self.make = value, method, make

    def bound(self, value: float, proof: Proof) -> None:
        if value < self.upper:
            self.upper, self.proof = value, proof


def solve(problem: Problem, privacy: LDP, utility: MutualInformation) -> Solution:
    """Mutual information under pure LDP, any number of reports."""
    prior = utility.prior
    support = np.flatnonzero(prior.values > 0)
    if not privacy.epsilon or support.size == 1:
        found = constant(problem, "constant mechanism: there is nothing to report")
        return replace(found, bound=0.0, proofs=(Concave(Fraction(1)),))
    task = _Task(problem, privacy, utility, support)
    best = _Best(problem)
    task.first(best)
    try:
        task.improve(best)
    except KeyboardInterrupt:
        best.interrupted = True
    mechanism = best.make() if best.make is not None else task.response()
    proofs = () if best.proof is None else (best.proof,)
    remarks: tuple[str | Remark, ...] = notes(prior, task.curve, best.lower)
    if best.interrupted:
        remarks = ("interrupted: this is the best so far", *remarks)
    elif best.gap > problem.tolerance:
        remarks = (
            "out of time: this is the best so far" if problem.out_of_time else "the gap stayed above the tolerance",
            *remarks,
        )
    return Solution(mechanism, best.upper, best.method, proofs, remarks)


def _groups(prior: Prior, support: Indices) -> Indices:
    """Symbols of equal probability share a group; groups by decreasing probability."""
    if prior.binary is not None:
        return np.unique(-prior.binary[support], return_inverse=True)[1].astype(np.intp)
    weights = [prior.weights[x] for x in support.tolist()]
    position = {w: g for g, w in enumerate(sorted(set(weights), reverse=True))}
    return np.array([position[w] for w in weights], dtype=np.intp)


class _Task:
    """One problem, on the symbols of positive probability.

    Args:
        support: their positions among all inputs; those of equal weight are grouped.
    """

    def __init__(self, problem: Problem, privacy: LDP, utility: MutualInformation, support: Indices) -> None:
        self.problem, self.privacy, self.utility, self.support = problem, privacy, utility, support
        self.prior = prior = utility.prior.values[support]
        self.curve = InformationCurve(privacy.epsilon)
        self.group_of = _groups(utility.prior, support)
        self.count = np.bincount(self.group_of).astype(np.int64)
        self.mass = np.empty(self.count.size)
        self.mass[self.group_of] = prior
        self.contact = fluid_contact(prior, self.curve) / self.curve.c
        self.aim = _FINEST if prior.size <= _SMALL else max(_FINEST, _AIM * problem.tolerance)

    def seconds(self) -> float:
        """For one master program."""
        left = self.problem.seconds_left
        return LP_SECONDS if left is None else min(LP_SECONDS, left)

    def rows(self, row_of: Indices) -> Indices:
        """Rows of all inputs from those of the support; inputs that never occur report like the first of it."""
        everyone = np.full(self.problem.utility.k, row_of[0], dtype=np.intp)
        everyone[self.support] = row_of
        return everyone

    def response(self) -> Mechanism:
        return Mechanism.from_partition(
            self.rows(np.arange(self.support.size)), self.privacy, inputs=self.problem.inputs
        )

    def windows(self, d: int) -> Mechanism:
        k = self.support.size
        if self.count.size == 1 and k == self.problem.utility.k:
            return Mechanism.from_windows(k, d, self.privacy, inputs=self.problem.inputs)
        row_of = np.empty(k, dtype=np.intp)
        row_of[alternating(self.prior)] = np.arange(k)
        return Mechanism.from_windows(k, d, self.privacy).spread(self.rows(row_of), self.problem.inputs)

    def mixture(self, mixture: SetMixture) -> Callable[[], Mechanism]:
        whole = replace(mixture, row_of=self.rows(mixture.row_of))
        return lambda: whole.mechanism(self.privacy, self.problem.inputs)

    def enough(self, best: _Best) -> bool:
        """Whether to stop between steps: within the tolerance as it will be checked, or out of time."""
        return best.gap <= max(self.aim, 0.9 * self.problem.tolerance) or self.problem.out_of_time

    def first(self, best: _Best) -> None:
        """What costs nothing: the fluid bound, and randomised response with its own proof when it is optimal."""
        best.bound(*fluid(self.prior, self.curve))
        best.propose(self.curve.response(self.prior), "randomised response", self.response)
        if response_is_optimal(self.prior / self.prior.sum(), self.privacy.epsilon):
            best.method = "randomised response, proven optimal"
            best.upper, best.proof = best.lower, Concave(RESPONSE)

    def improve(self, best: _Best) -> None:
        """Step by step, until the gap is closed or time is up."""
        if best.gap <= 0 and best.proof == Concave(RESPONSE):
            return
        crowded = self._packed if self.many else self._next
        packed = self._packed if self.count.size > SIZES.symbols and not self.many else self._next
        for step in (crowded, self._windows, self._nearly_uniform, packed, self._circulant):
            if step(best):
                return
        few = self.contact * self.prior.size < FEW and self.count.size <= SIZES.symbols_of_small_sets
        if self.count.size <= SIZES.symbols or few:
            self._generate(best, self.mass, self.count, self.group_of, "column generation")
        else:
            self._coarse(best)

    @property
    def many(self) -> bool:
        """Whether there are so many symbols, all small, that a packing design is tried before anything else."""
        return (
            self.prior.size > SIZES.crowded_symbols
            and self.contact * self.prior.size > CROWDED
            and self.count.size > SIZES.symbols
        )

    def _next(self, _: _Best) -> bool:
        return False

    def _windows(self, best: _Best) -> bool:
        """Windows of one length, with the affine bound; whether that is enough: small problems are closed to
        rounding."""
        best.bound(*affine(self.prior, self.curve))
        d, value = best_window(self.prior, self.curve)
        uniform = self.count.size == 1
        method = f"windows of {d} of {self.prior.size} symbols" + (", proven optimal" if uniform else "")
        best.propose(value, method, lambda: self.windows(d))
        self.problem.progress("closed forms", best.gap)
        return uniform or best.gap <= self.aim or self.problem.out_of_time

    def _packed(self, best: _Best) -> bool:
        """A packing design on rows of symbols; whether that is enough."""
        stop, upper = (lambda: self.problem.out_of_time), log_excess(self.contact * self.curve.c)
        design = packing(self.prior, self.curve, self.contact, upper, self.aim, stop)
        return self._enough_with(best, design, "packing design on rows of symbols")

    def _circulant(self, best: _Best) -> bool:
        """A circulant design on groups of symbols, where there are too many for a search; whether that is enough."""
        if self.count.size <= SIZES.symbols:
            return False
        design = circulant(self.prior, self.curve, self.contact)
        fitting = design if design is not None and design.fits else None
        return self._enough_with(best, fitting, "circulant design on groups of symbols")

    def _enough_with(self, best: _Best, design: SetMixture | None, method: str) -> bool:
        if design is not None:
            best.propose(design.value(self.prior, self.curve), method, self.mixture(design))
        self.problem.progress(method, best.gap)
        return self.enough(best)

    def _nearly_uniform(self, best: _Best) -> bool:
        """Where windows are nearly optimal: two lengths at once, and a bound that prices both; whether that is
        enough."""
        if self.count.size <= _SMALL or best.gap >= _NEARLY_UNIFORM:
            return False
        best.bound(*convex(self.prior, self.curve))
        if self.prior.size**2 <= LARGEST_DENSE:
            self._enough_with(best, two_rings(self.prior, self.curve), "windows of two lengths")
        return self._enough_with(best, blocks(self.prior, self.curve), "randomised response on blocks")

    def _generate(
        self,
        best: _Best,
        mass: Floats,
        count: Counts,
        row_of: Indices,
        method: str,
        effort: tuple[int, int] = (EXACT_NODES, PATIENCE),
    ) -> ColumnGeneration:
        whole = row_of is self.group_of  # otherwise its prices are about other symbols
        run = ColumnGeneration(
            self.curve, mass, count, best.upper if whole or effort == COARSE_EFFORT else np.inf, self.aim, *effort
        )
        try:
            run.run(lambda: self.problem.out_of_time, self.problem.progress, self.seconds)
        finally:  # also when interrupted
            found = run.found
            made = from_counts(found.columns, found.weights, row_of, count)
            if made.fits:
                best.propose(made.value(self.prior, self.curve), method, self.mixture(made))
            if whole and found.dual is not run.fluid:
                self._prove(best, found.dual, self.group_of)
        return run

    def _coarse(self, best: _Best) -> None:
        """Column generation on super-symbols: a few, for their prices, then many, for their columns."""
        waiting: list[tuple[Prices, Indices, Floats]] = []
        for rows, effort in ((COARSEST, (EXACT_NODES, PATIENCE)), (COARSE, COARSE_EFFORT)):
            # How symbols are merged is a choice.
            row_of = coarsened(self.prior, self.contact, rows, np.random.default_rng(0))
            mass = np.asarray(np.bincount(row_of, weights=self.prior), dtype=np.float64)
            if mass.size > rows + COARSE:
                continue
            run = self._generate(
                best, mass, np.ones(mass.size, dtype=np.int64), row_of, "column generation on merged symbols", effort
            )
            waiting.append((run.found.dual, row_of, mass))
            # Merging loses little, so it is the bound that is loose.
            if run.found.dual.bound < (1 - _LOOSE) * best.upper:
                self._spread(best, *waiting.pop())
            if self.enough(best):
                return
        for dual in waiting:
            self._spread(best, *dual)

    def _spread(self, best: _Best, dual: Prices, row_of: Indices, mass: Floats) -> None:
        """Prices of super-symbols as prices of all: merged symbols in proportion to their probability, at one price for
        each unit of it."""
        merged = np.bincount(row_of) > 1
        prices = dual.prices.copy()
        prices[merged] = prices[merged].sum() * mass[merged] / mass[merged].sum()
        everyone = Prices(dual.value, prices[row_of] * self.prior / mass[row_of], 0.0)
        pricing = BestSets(self.curve, self.prior, np.ones(self.prior.size, dtype=np.int64))
        raised, _ = feasible(pricing, everyone, self.aim, best.upper, COARSE_EFFORT[0])
        if raised is not None:
            self._prove(best, raised, np.arange(self.prior.size))
        self.problem.progress("prices of all symbols", best.gap)

    def _prove(self, best: _Best, dual: Prices, group_of: Indices) -> None:
        """A tree for prices: α = a/c, raised along the prior until it sums to the bound."""
        alpha = np.zeros(self.problem.utility.k)
        alpha[self.support] = dual.prices[group_of] / self.curve.c
        alpha[self.support] += max(0.0, dual.bound - float(alpha.sum())) * self.prior
        proof = proof_by_search(self.utility, self.privacy, alpha, best.upper)
        if proof is not None:
            best.bound(float(sum(proof.alpha)), proof)


@dataclass(frozen=True, eq=False)
class InformationNotes:
    """Lines for `Design.summary`, made when one is asked for: the capacity-like limit, randomised response, one bit
    about the most balanced set."""

    prior: Prior
    curve: InformationCurve
    reached: float

    @cached_property
    def lines(self) -> tuple[str, ...]:
        support, curve, reached = self.prior.values[self.prior.values > 0], self.curve, self.reached
        entropy = -math.fsum((support * np.log(support)).tolist())
        balance = balanced_subset(self.prior, EXACT_BALANCE)
        closest = "closest to 1/2" if balance.proven else "close to 1/2"
        imbalance = float(balance.imbalance)
        where = f"off by {number(imbalance / 2, 2)}" if imbalance else "exactly half"
        response, one_bit = curve.response(support), curve.binary(float(balance.probability))
        return (
            (
                f"of entropy    {number(entropy)} nats; no report at this ε carries more than {number(curve.limit)}, "
                "whatever the prior"
            ),
            f"randomised response keeps {number(response)} ({_share(response, reached)})",
            (
                f"one bit keeps {number(one_bit)} ({_share(one_bit, reached)}); its {len(balance.members)} inputs have "
                f"P(T) {closest}: {where}"
            ),
        )


def notes(prior: Prior, curve: InformationCurve, reached: float) -> tuple[Line, ...]:
    return lines_of(InformationNotes(prior, curve, reached), 3)


def _share(value: float, reached: float) -> str:
    return f"{100 * value / reached:.4g}% of this design" if reached else "nothing to keep"
