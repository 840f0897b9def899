"""f-divergences under ε-LDP: sort by likelihood ratio, partition into blocks, randomise the block. Exact, for millions
of symbols.

Small alphabets: Dinkelbach's method on all partitions, O(k²). Large ones: the polygon around the Lorenz curve, refined
where it matters, O(k) memory. Equal likelihood ratios are merged. The answer is an integer mechanism; the bound comes
from two independent proofs (see docs/design/index.md).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from flint import fmpq

from extremal.certificate import Chords, Dual, Order, Proof
from extremal.closed_forms import randomized_response
from extremal.closed_forms.forms import curve_values
from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.optimize.divergence.binned import solve as solve_bins
from extremal.optimize.divergence.dual import dual_vector
from extremal.optimize.divergence.lorenz import BlockValue, Indices, Lorenz, LorenzCurve
from extremal.optimize.divergence.paths import best_partition, best_with_outputs
from extremal.optimize.divergence.polygon import Outcome, proving_edges
from extremal.optimize.divergence.polygon import solve as solve_polygon
from extremal.optimize.problem import (
    FurtherProofs,
    Problem,
    Solution,
    constant,
    decimal,
    decimals,
    nearest_decimal,
    no_further_proofs,
    shortened,
)
from extremal.optimize.table import SIZES
from extremal.privacy import LDP, Notion
from extremal.tables import number
from extremal.utility import Divergence, HockeyStick

NOTHING_TO_TELL = "constant mechanism: there is nothing to tell apart"
ALL_PARTITIONS_UP_TO = 300  # ratios: below this the full program is faster than the polygon
FEW_RATIOS = 8  # whose cells are not worth joining for a shorter proof
POLYGON_TOLERANCE = 1e-13  # of the search itself; the proof loses a little more
BINS_TOLERANCE = 1e-12  # of the proof by ratios
BEYOND = Fraction(1, 10**25)  # of what lies between ratios: how far outside of a bin's ratios its ends lie
SMALLEST_END, LARGEST_END = Decimal("1e-200"), Decimal("1e200")  # for ratios that are 0 or infinite
UNIT = 1e-15  # relative: rounding of a number that a few operations made
COMPARED_UP_TO = 100_000  # inputs: the closed forms are compared below this
DENSE_UP_TO = 500  # inputs: and those that are dense matrices below this


def equal_hypotheses(problem: Problem, _: Notion, utility: Divergence) -> Solution:
    """P₀ = P₁: all reports are worth nothing."""
    proof = Dual((Fraction(0),) * utility.k, Chords((Fraction(1),)))
    return replace(constant(problem, NOTHING_TO_TELL), bound=0.0, proofs=(proof,))


def solve(problem: Problem, privacy: LDP, utility: Divergence) -> Solution:
    """Any f-divergence under pure ε-LDP."""
    if utility.pair.binary and utility.verifiable and problem.proofs in (None, (Order.kind,)):
        found = _by_bins(problem, privacy, utility)
        if found is not None:
            return found
    lorenz, value = Lorenz.of(utility), BlockValue.of(utility, privacy.epsilon)
    outcome = search(problem, lorenz, value)
    if outcome.worth <= 0:
        return _nothing_to_tell(problem, utility)
    cuts, method, notes = _within_budget(problem, lorenz, value, outcome)
    mechanism = _mechanism(problem, privacy, lorenz, cuts)
    proofs, further = _proofs(problem, utility, lorenz, value, outcome)
    compared = ClosedForms(utility, privacy.epsilon, mechanism)
    return Solution(mechanism, outcome.bound, method, proofs, (*notes, compared), further)


def _by_bins(problem: Problem, privacy: LDP, utility: Divergence) -> Solution | None:
    """Millions of symbols, without sorting them; None where that gains nothing or does not close the gap."""
    value = BlockValue.of(utility, privacy.epsilon)
    if not 0 < value.step < 1:
        return None
    found = solve_bins(utility, value, privacy.epsilon, POLYGON_TOLERANCE, lambda: problem.out_of_time)
    if found is None or not 0 < found[1].worth < math.inf:
        return None
    curve, outcome = found
    edges = proving_edges(curve, value, outcome.worth, outcome.cuts, BINS_TOLERANCE, outcome.edges)
    proof = Order(decimal(outcome.worth), decimals(curve.ends(edges)))
    cuts, method, notes = _within_budget(problem, curve, value, outcome)
    mechanism = Mechanism.from_partition(curve.blocks(cuts), privacy, inputs=problem.inputs)
    compared = ClosedForms(utility, privacy.epsilon, mechanism)
    return Solution(mechanism, outcome.bound, method, (proof,), (*notes, compared))


def _within_budget(
    problem: Problem, curve: LorenzCurve, value: BlockValue, outcome: Outcome
) -> tuple[Indices, str, list[str]]:
    """The cuts, how they were found, and what a budget of reports costs."""
    most, count = problem.max_outputs, outcome.cuts.size - 1
    if most is None or count <= most:
        return outcome.cuts, _method(problem.utility.k, outcome), []
    worth, cuts = _with_budget(curve, value, outcome, most)
    method = f"sorted partition with at most {most} reports (layered dynamic program)"
    return cuts, method, [f"the budget costs {1 - worth / outcome.worth:.2%} of the optimum with {count} reports"]


def search(problem: Problem, lorenz: Lorenz, value: BlockValue) -> Outcome:
    """The best partition of the sorted symbols, and a bound."""
    if lorenz.n <= ALL_PARTITIONS_UP_TO:
        worth, cuts, gap = best_partition(value, lorenz.nodes)
        everything = np.arange(lorenz.n + 1, dtype=np.intp)
        edges = everything
        if worth > 0 and lorenz.n > FEW_RATIOS:
            edges = proving_edges(lorenz, value, worth, cuts, POLYGON_TOLERANCE, everything)
        return Outcome(worth, worth + max(gap, 0.0) / (1 + value.low), cuts, edges)
    return solve_polygon(lorenz, value, POLYGON_TOLERANCE, lambda: problem.out_of_time)


def _nothing_to_tell(problem: Problem, utility: Divergence) -> Solution:
    """P₀ = P₁, ε = 0, or f linear where reports can be: every mechanism is worth nothing, so the constant one is
    optimal."""
    kink = (utility.exact if isinstance(utility, HockeyStick) else None) or Fraction(1)  # f is linear from 1 to there
    inside = kink if kink == 1 else shortened(kink * (1 - BEYOND if kink > 1 else 1 + BEYOND))
    proof = Dual((Fraction(0),) * utility.k, Chords((inside,)))
    return replace(constant(problem, NOTHING_TO_TELL), bound=0.0, proofs=(proof,))


def cells(lorenz: Lorenz, edges: Indices) -> tuple[tuple[int, int], ...]:
    """The first and the last symbol of each bin."""
    first = lorenz.order[np.searchsorted(lorenz.group, edges[:-1], side="left")]
    last = lorenz.order[np.searchsorted(lorenz.group, edges[1:] - 1, side="left")]
    return tuple(zip(first.tolist(), last.tolist(), strict=True))


def ends_of(p0: Prior, p1: Prior, bins: tuple[tuple[int, int], ...]) -> tuple[Fraction, ...]:
    """Numbers around the likelihood ratios of each bin, so close that the proof loses nothing: beyond them by little of
    what lies between the ratios."""
    masses = {x: (p0.fraction(x), p1.fraction(x)) for x in set(itertools.chain(*bins))}
    ratios = {x: fmpq(a.numerator * b.denominator, a.denominator * b.numerator) for x, (a, b) in masses.items() if b}
    apart = sorted({*ratios.values(), fmpq(1)})
    beyond = min((1 - a / b for a, b in itertools.pairwise(apart)), default=fmpq(1)) * fmpq(*BEYOND.as_integer_ratio())
    found = []
    with localcontext(prec=len(str(int(1 / beyond))) + 3):
        for symbols in bins:
            for x, side in zip(symbols, (1 - beyond, 1 + beyond), strict=True):
                end = nearest_decimal(ratios[x] * side) if x in ratios else LARGEST_END
                found.append(min(max(end, SMALLEST_END), LARGEST_END))
    return tuple(Fraction(end) for end, _ in itertools.groupby(sorted(found)))


def _with_budget(lorenz: LorenzCurve, value: BlockValue, outcome: Outcome, most: int) -> tuple[float, Indices]:
    """The best partition into at most `most` blocks, cutting at the nodes that matter."""
    where = outcome.edges if outcome.edges.size - 1 < lorenz.n else np.arange(lorenz.n + 1)
    worth, cuts = best_with_outputs(value, lorenz.nodes.at(where), most)
    return worth, where[cuts].astype(np.intp)


def _mechanism(problem: Problem, privacy: LDP, lorenz: Lorenz, cuts: Indices) -> Mechanism:
    if cuts.size < 3:
        return constant(problem).mechanism
    if cuts.size - 1 == problem.utility.k:
        return randomized_response(problem.utility.k, privacy.epsilon, inputs=problem.inputs)
    blocks = np.zeros(problem.utility.k, dtype=np.intp)
    blocks[lorenz.order] = np.searchsorted(cuts, lorenz.group, side="right") - 1
    return Mechanism.from_partition(blocks, privacy, inputs=problem.inputs)


def _method(inputs: int, outcome: Outcome) -> str:
    blocks = outcome.cuts.size - 1
    if outcome.bound > outcome.worth * (1 + 1e-9):
        return "sorted partition (polygon bound not closed)"
    if blocks == inputs:
        return "randomised response, proven optimal here"
    if blocks == 2:
        return "binary mechanism (one cut in likelihood ratio), proven optimal here"
    return f"sorted partition into {blocks} blocks"


def _proofs(
    problem: Problem, utility: Divergence, lorenz: Lorenz, value: BlockValue, outcome: Outcome
) -> tuple[tuple[Proof, ...], FurtherProofs]:
    """The proofs that the bound comes from, and those that are made when the certificate is asked for."""
    if not utility.verifiable:
        return (), no_further_proofs
    ends = ends_of(utility.pair.p0, utility.pair.p1, cells(lorenz, outcome.edges))
    if not math.isfinite(outcome.worth):  # beyond floats
        return (Order(Fraction(0), ends),), no_further_proofs
    wanted = (Order.kind,) if problem.proofs is None else problem.proofs
    order = (Order(decimal(outcome.worth), ends),)
    if lorenz.n < 2:
        return order, no_further_proofs
    by_chords = ByChords(utility, lorenz, value, outcome, problem.tolerance * outcome.worth)
    if Chords.kind in wanted:
        return (order if Order.kind in wanted else ()) + (by_chords.proof()[0],), no_further_proofs
    return order, by_chords if problem.proofs is None and utility.k <= SIZES.certified_chords else no_further_proofs


@dataclass(frozen=True, eq=False)
class ByChords:
    """The proof that does not rest on the theorem, made when it is called for.

    Unasked it is kept where it proves as much: at very small ε the digits of α do not suffice.
    """

    utility: Divergence
    lorenz: Lorenz
    value: BlockValue
    outcome: Outcome
    tolerance: float

    def __call__(self) -> tuple[Proof, ...]:
        proof, left = self.proof()
        return (proof,) if left <= self.tolerance / 2 else ()

    def proof(self) -> tuple[Dual, float]:
        """It, and about how much it is above the value."""
        worth, cuts = self.outcome.worth, self.outcome.cuts
        dual = dual_vector(self.utility, self.lorenz, self.value, worth, cuts, self.tolerance / 4)
        rounding = UNIT * float(np.abs(dual.alpha).sum())
        return Dual(decimals(dual.alpha), Chords(dual.nodes)), dual.left + rounding


@dataclass(frozen=True, eq=False)
class ClosedForms:
    """What the closed forms reach of the value of a mechanism; evaluated when the sentence is asked for."""

    utility: Divergence
    epsilon: float
    mechanism: Mechanism

    def sentence(self) -> str:
        best = self.utility(self.mechanism)
        if not self.epsilon or not best or not np.isfinite(best) or self.utility.k > COMPARED_UP_TO:
            return ""
        values = curve_values(self.utility, LDP(self.epsilon), DENSE_UP_TO)
        reached = sorted(((v / best, name) for name, v in values.items() if v is not None), reverse=True)
        return "closed forms reach these shares of the optimum: " + ", ".join(
            f"{name} {number(v, 4)}" for v, name in reached
        )
