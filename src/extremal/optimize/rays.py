"""The program over listed extreme rays of a cone: the oracle for small alphabets and for user functions.

max Σ θ_r μ(r) s.t. Σ θ_r r = 1, θ ≥ 0 (KOV Theorem 4 for LDP, GSO Theorem 5 with erratum P5 for lift vectors). With
several utilities in the worst case, one row more for each. Which rays there are is for `privacy/cones` to say.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.certificate import Dual, Listed, Proof
from extremal.errors import InvalidParameter, TooLarge
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.infinite import infinite, parts_of
from extremal.optimize.problem import KEPT, Problem, Solution, constant, decimals
from extremal.optimize.table import SIZES
from extremal.privacy import LDP, PML, MaximalLeakage, MetricPrivacy
from extremal.privacy.cones.metric import metric_rays, tree_edges
from extremal.privacy.cones.staircase import patterns
from extremal.solver import LinearProgram
from extremal.utility import ConvexUtility, Utility

_FLAT = 1e-3  # rows of the program that differ by less are told apart by their differences
_REGULAR = 1e-9  # smaller determinants, of columns with largest entry 1, are 0
_NEGATIVE = -1e-12  # a weight of a vertex that is not below this is 0 but for rounding


def solve(problem: Problem, privacy: LDP, utility: Utility) -> Solution:
    """ε-LDP, with any sum of sublinear column values or the worst case of several."""
    if not privacy.epsilon:
        return replace(constant(problem), proofs=nothing(problem))
    if utility.k > SIZES.patterns:
        raise InvalidParameter(
            f"{utility.name} is solved by enumerating 2^k patterns, for at most {SIZES.patterns} inputs",
            parameter="k",
            value=utility.k,
            hint="f-divergences, information and distortion have methods without enumeration.",
        )
    columns = patterns(utility.k, privacy.epsilon)
    return _over(problem, columns, "enumeration of all staircase patterns")


def over_metric(problem: Problem, privacy: MetricPrivacy, _: Utility) -> Solution:
    """Metric privacy, with any such goal. Rays have entries down to e^−εd; where a report can be infinite, the groups
    of related inputs are told apart."""
    if not privacy.epsilon:
        return replace(constant(problem), proofs=nothing(problem))
    return infinite(problem, lambda rest: _over_metric(rest, privacy)) or _over_metric(problem, privacy)


def _over_metric(problem: Problem, privacy: MetricPrivacy) -> Solution:
    columns, tree = metric_rays(privacy), tree_edges(privacy)
    return _over(problem, columns, "listed extreme rays", () if tree is None else tuple(tree))


def over_sets(problem: Problem, privacy: MaximalLeakage, utility: Utility) -> Solution:
    """Maximal leakage: columns are multiples of indicators of sets, and the multiples sum to at most e^ε."""
    if utility.k > SIZES.patterns:
        raise InvalidParameter(
            f"under maximal leakage all sets are listed, for at most {SIZES.patterns} inputs",
            parameter="k",
            value=utility.k,
        )
    columns = np.hstack([patterns(utility.k, 1.0) == 1, np.ones((utility.k, 1))]).astype(np.float64)
    values = _finite(utility, [part.column_values(columns) for part in parts_of(utility)])[0]
    top = math.exp(privacy.epsilon)
    ones = np.ones(utility.k)
    program = LinearProgram(np.append(ones, 0.0), np.append(ones, top))
    program.add(np.vstack([columns, np.ones(columns.shape[1])]), values)
    answer = program.solve()
    alpha, used = answer.duals[:-1], answer.x > KEPT
    if not privacy.epsilon:  # only the constant report is left; prices below −max μ say so
        alpha = np.full(utility.k, -2 * float(values.max()))
    matrix = columns[:, used] * answer.x[used]
    mechanism = Mechanism.from_matrix(matrix / matrix.sum(axis=1, keepdims=True), privacy, inputs=problem.inputs)
    excess = float((values - alpha @ columns).max())
    bound = float(alpha.sum()) + excess * (top if excess > 0 else 1.0)
    return Solution(mechanism, bound, "enumeration of all sets", (Dual(decimals(alpha), Listed()),))


def nothing(problem: Problem) -> tuple[Proof, ...]:
    """The proof that no mechanism is worth anything, at level 0."""
    zeros = decimals(np.zeros(problem.utility.k))
    return (Dual(zeros, Listed()),) if problem.utility.k <= SIZES.patterns else ()


def over_nested(problem: Problem, privacy: PML) -> Solution:
    """PML for a class of priors that the least probabilities of sets decide."""
    return _over(problem, nested_columns(privacy), "enumeration of the extreme columns of the class")


def nested_columns(privacy: PML) -> Floats:
    """The extreme columns where the least p(S) of all sets S decide the class, g(S): 1 on S and f on the rest of T, for
    all S ⊂ T with g(S) < e^−ε ≤ g(T).

    On the columns of one order q_1 ≥ … ≥ q_k the least mean is linear, Σ (q_i − q_{i+1}) g({1..i}), so that the cone is
    one half-space of a simplicial cone with the indicators of the sets {1..i} as rays: its rays are those inside, and
    where the half-space cuts an edge.
    """
    k = privacy.source.k
    bits = np.array(list(itertools.product((0.0, 1.0), repeat=k)))
    low = np.array([float(privacy.source.least_share(np.flatnonzero(row).tolist()) or 0) for row in bits])
    share = math.exp(-privacy.epsilon)
    inside = low >= share
    inside[-1] = True  # the whole, also at ε = 0
    found = []
    for larger in np.flatnonzero(inside):
        inner = np.flatnonzero(~inside & (bits <= bits[larger]).all(axis=1))
        f = (share - low[inner]) / (low[larger] - low[inner])
        found.append(bits[inner] + f[:, None] * (bits[larger] - bits[inner]))
    columns = np.vstack(found)
    return np.asarray((columns / columns.max(axis=1, keepdims=True)).T)


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


def convex(problem: Problem, privacy: LDP, utility: ConvexUtility) -> Solution:
    """A convex utility under ε-LDP, over every vertex of the staircase program, for few inputs.

    The mixtures θ ≥ 0 of staircase patterns with Σθ_T S_T = 1 form a polytope, a convex function is largest at one of
    its vertices (KOV Theorem 21), and a vertex has at most k patterns: all sets of k patterns are tried. The utility is
    the user's function, so the bound is what is believed, and nothing is verified.
    """
    if not privacy.epsilon:
        return constant(problem)
    k, epsilon = utility.k, privacy.epsilon
    if k > SIZES.convex:
        raise TooLarge(
            f"a convex utility is maximised over all vertices, for at most {SIZES.convex} inputs",
            parameter="k",
            value=k,
            hint="If it is a sum over reports, ex.Sublinear serves more.",
        )
    columns, step = patterns(k, epsilon), -math.expm1(-epsilon)
    chosen = np.array(list(itertools.combinations(range(columns.shape[1]), k)))
    squares = columns.T[chosen].transpose(0, 2, 1)
    squares = squares[np.abs(np.linalg.det(squares)) > _REGULAR * step ** (k - 1)]
    weights = np.linalg.solve(squares, np.ones((len(squares), k, 1)))[..., 0]
    feasible = weights.min(axis=1) >= _NEGATIVE
    best = np.ones((k, 1))
    reached = utility.of_matrix(best)
    for square, theta in zip(squares[feasible], np.maximum(weights[feasible], 0.0), strict=True):
        matrix = (square * theta)[:, theta > 0]
        matrix /= matrix.sum(axis=1, keepdims=True)
        value = utility.of_matrix(matrix)
        if value > reached:
            best, reached = matrix, value
    mechanism = Mechanism.from_matrix(best, problem.privacy, inputs=problem.inputs)
    return Solution(mechanism, reached, "every vertex of the staircase program", notes=("unverified (user function)",))
