"""The program over listed extreme rays of a cone: the oracle for small alphabets and for user functions.

max Σ θ_r μ(r) s.t. Σ θ_r r = 1, θ ≥ 0 (KOV Theorem 4 for LDP, GSO Theorem 5 with erratum P5 for lift vectors). With
several utilities in the worst case, one row more for each. Which rays there are is for `privacy/cones` to say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.certificate import Dual, Listed, Proof
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.optimize.infinite import infinite, parts_of
from extremal.optimize.problem import Problem, Solution, constant, decimals
from extremal.privacy import LDP, PML, MetricPrivacy
from extremal.privacy.cones import prior_class
from extremal.privacy.cones.metric import extreme_rays, tree_edges
from extremal.privacy.cones.staircase import MOST_INPUTS, patterns
from extremal.solver import LinearProgram
from extremal.utility import SumOfColumns, Utility, WorstCase

Floats = npt.NDArray[np.float64]

KEPT = 1e-13  # of the largest weight: what is below is rounding of a vertex
_FLAT = 1e-3  # rows of the program that differ by less are told apart by their differences
_SLACK = 1e-12  # relative: by how much a ray of a general metric may miss an inequality


def solve(problem: Problem) -> Solution | None:
    """ε-LDP or metric privacy, with any sum of sublinear column values or the worst case of several."""
    match problem.privacy, problem.utility, problem.max_outputs:
        case LDP(delta=0, epsilon=0) | MetricPrivacy(epsilon=0), SumOfColumns() | WorstCase(), None:
            return replace(constant(problem), proofs=nothing(problem))
        case LDP(delta=0), SumOfColumns() | WorstCase(), None:
            return _over_patterns(problem)
        case MetricPrivacy() as privacy, SumOfColumns() | WorstCase(), None:
            return over_metric(problem, privacy)
        case _:
            return None


def _over_patterns(problem: Problem) -> Solution:
    utility = problem.utility
    if utility.k > MOST_INPUTS:
        raise InvalidParameter(
            f"{utility.name} is solved by enumerating 2^k patterns, for at most {MOST_INPUTS} inputs",
            parameter="k",
            value=utility.k,
            hint="f-divergences, information and distortion have methods without enumeration.",
        )
    columns = patterns(utility.k, problem.privacy.epsilon)
    return _over(problem, columns, "enumeration of all staircase patterns")


def over_metric(problem: Problem, privacy: MetricPrivacy) -> Solution:
    """Rays have entries down to e^−εd; where a report can be infinite, the groups of related inputs are told apart."""
    return infinite(problem, lambda rest: _over_metric(rest, privacy)) or _over_metric(problem, privacy)


def _over_metric(problem: Problem, privacy: MetricPrivacy) -> Solution:
    columns, tree = extreme_rays(privacy, _SLACK), tree_edges(privacy)
    return _over(problem, columns, "listed extreme rays", () if tree is None else tuple(tree))


def nothing(problem: Problem) -> tuple[Proof, ...]:
    """The proof that no mechanism is worth anything, at level 0."""
    return (Dual(decimals(np.zeros(problem.utility.k)), Listed()),) if problem.utility.k <= MOST_INPUTS else ()


def over_class(problem: Problem, privacy: PML) -> Solution:
    """PML for a class of priors.

    Raises:
        TooLarge: there are too many inputs, extreme priors or rays to list.
    """
    columns = prior_class.as_columns(prior_class.rays(privacy))
    return _over(problem, columns, "enumeration of the extreme columns of the class")


def _mixed(best: BestMixture) -> tuple[Fraction, ...]:
    return decimals(best.mix) if best.mix.size > 1 else ()


def _over(problem: Problem, columns: Floats, method: str, tree: tuple[tuple[int, int], ...] = ()) -> Solution:
    """The best mechanism whose columns are listed."""
    values = _finite(problem.utility, [part.column_values(columns) for part in parts_of(problem.utility)])
    best = best_mixture(columns, values)
    matrix = (columns * best.weights)[:, best.used]
    mechanism = Mechanism.from_matrix(
        matrix / matrix.sum(axis=1, keepdims=True), problem.privacy, inputs=problem.inputs
    )
    proof = Dual(decimals(best.alpha), Listed(tree), _mixed(best))
    return Solution(mechanism, best.bound(columns, values), method, (proof,))


def _finite(utility: Utility, values: list[Floats] | list[list[float]]) -> Floats:
    found = np.array(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise InvalidParameter(
            "the utility must be finite for every admissible report", parameter="utility", value=utility
        )
    return found


@dataclass(frozen=True, eq=False)
class BestMixture:
    """A vertex of the program and its duals.

    Attributes:
        weights: θ, one for each column.
        alpha: the duals of the rows, one for each input.
        mix: the duals of the utilities, which sum to 1.
    """

    weights: Floats
    alpha: Floats
    mix: Floats

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """The columns that have a weight."""
        return np.asarray(self.weights > KEPT * self.weights.max())

    def bound(self, columns: Floats, values: Floats) -> float:
        """No mixture of these columns is worth more: 1·α + k·max (Σ mix·μ(r) − α·r)/(1·r)."""
        slack = (self.mix @ values - self.alpha @ columns) / columns.sum(axis=0)
        return float(self.alpha.sum() + columns.shape[0] * slack.max())


def best_mixture(columns: Floats, values: Floats, rest: Floats | None = None) -> BestMixture:
    """max over θ ≥ 0, Σ θ·column = 1, of the least over utilities of Σ θ·value + rest.

    Args:
        columns: one a column.
        values: of each column (columns) to each utility (rows).
        rest: what each utility has in any case; 0 if not given.
    """
    (k, count), several = columns.shape, values.shape[0]
    rows, turned = _told_apart(columns)
    sides = turned.sum(axis=1)
    if several == 1:
        program = LinearProgram(sides, sides)
        program.add(rows, values[0])
        answer = program.solve()
        return BestMixture(answer.x, answer.duals @ turned, np.ones(1))
    # Maximise t with Σ θ·value + rest − t ≥ 0 for each utility; t is the difference of two variables: it may be < 0.
    scale = float(np.abs(values).max()) or 1.0
    floor = np.zeros(several) if rest is None else -rest / scale
    program = LinearProgram([*sides, *floor], [*sides, *np.full(several, np.inf)])
    program.add(np.vstack([rows, values / scale]), np.zeros(count))
    program.add(np.vstack([np.zeros((k, 2)), np.outer(np.ones(several), [-1.0, 1.0])]), np.array([1.0, -1.0]))
    answer = program.solve()
    mix = np.maximum(-answer.duals[k:], 0)
    return BestMixture(answer.x[:-2], answer.duals[:k] @ turned * scale, mix / mix.sum())


def _told_apart(columns: Floats) -> tuple[Floats, Floats]:
    """The rows of the program, and the matrix that makes them of the columns'.

    At a small ε all rows are nearly the same, and what differs is lost in the solver's tolerance. Then they are the
    first one, and how far the others are from it in units of the largest such distance.
    """
    turned, apart = np.eye(columns.shape[0]), columns - columns[0]
    unit = float(np.abs(apart).max())
    if not 0 < unit < _FLAT * float(columns.min()):
        return columns, turned
    turned[1:] /= unit
    turned[1:, 0] = -1 / unit
    return np.vstack([columns[:1], apart[1:] / unit]), turned
