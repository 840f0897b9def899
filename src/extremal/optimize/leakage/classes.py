"""PML for every prior of a class: the best mechanism over the extreme columns of the class.

Balls and all permutations of a prior have columns that pairs of nested sets list, for few inputs. Other classes, and
larger ones, by cutting planes: the cone starts with the inequalities of one prior, is cut by those that the columns of
the best mixture break most, and double description keeps its rays. When none is broken the mixture is admissible, and
the best of the whole class: the proof lists the rays that the inequalities used so far leave, which are few beside all.

Where that is too much, the best of some mechanisms that hold for the whole class: the mixture and the design for one
prior, with as much of a constant in each report as makes it admissible; the design for one prior at a smaller ε; the
one under LDP, which is private for every prior. The bound is then that of the larger cone, or of one prior alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import expm1

import numpy as np

from extremal.certificate import Dual, Listed, OnePrior
from extremal.errors import ExtremalError, TooLarge
from extremal.exact import Prior, bisected, polytope
from extremal.exact.weights import Floats, Indices
from extremal.mechanism import Mechanism
from extremal.optimize.infinite import infinite, parts_of
from extremal.optimize.leakage import solve as one_prior
from extremal.optimize.problem import Problem, Solution, constant, decimals
from extremal.optimize.rays import BestMixture, best_mixture, over_nested
from extremal.optimize.table import SIZES, solved
from extremal.privacy import LDP, PML
from extremal.solver import SolverFailed
from extremal.sources import SourceClass
from extremal.utility import Utility

NEAR = 1e-4  # relative: closer to the largest ε at which a one-prior design holds for a class is not worth a design
SMALLEST = 2.0**-24  # of ε: what a class allows below this is taken for nothing
LOOSE = 1e-7  # gap of the designs on the way
MOST_TRIED = 6  # priors of a class whose bounds are compared: a design each
SHARE = 0.95  # of the steps that the kernel allows: it rounds e^ε otherwise, and may count a few more
RATIO_BITS = 64  # after the point, of e^ε: as in the kernel, whose double description then goes the same way

Name = tuple[int, int]
"""(x, v): q_x ≤ e^ε·p_v·q, v the number of an extreme prior."""


def solve(problem: Problem, privacy: PML, _: Utility) -> Solution:
    """PML for a class of several priors, any sum over columns or the worst of several."""
    found = infinite(problem, lambda rest: _finite(rest, privacy)) or _finite(problem, privacy)
    said = (
        f"holds for every prior of {privacy.source!r}: the largest leakage over the class is "
        f"{privacy.level(found.mechanism):.6g}"
    )
    return replace(found, notes=(said,))


def _finite(problem: Problem, privacy: PML) -> Solution:
    if not privacy.epsilon:
        return constant(problem)
    source, relaxed = privacy.source, None
    few = source.k <= (SIZES.nested_columns if source.listed is None else SIZES.class_columns)
    if few and source.least_share(()) is not None:
        return over_nested(problem, privacy)
    if few:
        with suppress(TooLarge):  # too many rays already for one prior
            relaxed = _cut(problem, ClassCone(privacy))
    if relaxed is not None and relaxed.admissible:
        mechanism = Mechanism.from_matrix(relaxed.matrix, privacy, inputs=problem.inputs)
        return Solution(mechanism, relaxed.bound, "enumeration of the extreme columns of the class", (relaxed.proof,))
    return _best_of_some(problem, privacy, relaxed)


# -- cutting planes --


class ClassCone:
    """{q ≥ 0, q_x ≤ e^ε·p_v·q}, of the inequalities (x, v) that were asked for; e^ε is rounded up, so that a bound over
    its rays is a bound for the notion.

    Attributes:
        names: the inequalities so far, in their order.

    Raises:
        TooLarge: the rays are too many.
    """

    def __init__(self, privacy: PML) -> None:
        source = privacy.source
        self.priors = source.vertices()
        self._values = np.array([prior.values for prior in self.priors])
        self._top = Fraction(privacy.exponential.bounds(RATIO_BITS)[1], 1 << RATIO_BITS)
        self._occurs = np.flatnonzero(source.support())
        self._cone = polytope.CutCone(source.k, SHARE)
        self.names: list[Name] = []
        for x in self._occurs.tolist():
            self.cut((x, 0))

    @property
    def columns(self) -> Floats:
        """The rays, one a column."""
        return polytope.as_columns(self._cone.rays)

    def plane(self, name: Name) -> list[Fraction]:
        """An inequality as plane·q ≤ 0."""
        x, v = name
        return [int(z == x) - self._top * self.priors[v].fraction(z) for z in range(self._cone.k)]

    def cut(self, name: Name) -> None:
        """Add an inequality.

        Raises:
            TooLarge: the rays are too many; nothing was added.
        """
        self._cone.cut(self.plane(name))
        self.names.append(name)

    def broken(self, chosen: Indices) -> list[Name]:
        """For each of some rays the inequality that it breaks most, decided exactly; each once."""
        found: dict[Name, None] = {}
        for ray in (self._cone.rays[i] for i in chosen.tolist()):
            x = max(self._occurs.tolist(), key=lambda z: ray[z])
            v = int(np.argmin(self._values @ np.array([float(Fraction(q, sum(ray))) for q in ray])))
            if sum(a * q for a, q in zip(self.plane((x, v)), ray, strict=True)) > 0:
                found[x, v] = None
        return list(found)


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The best mixture over a cone that holds that of the class.

    Attributes:
        matrix: its rows, which sum to 1.
        bound, proof: no mechanism of the class is worth more.
        admissible: whether it lies in the class, but for rounding.
    """

    matrix: Floats
    bound: float
    proof: Dual
    admissible: bool


def _cut(problem: Problem, cone: ClassCone) -> Relaxed | None:
    """Cut by the inequalities that the best mixture breaks, until there are none, the rays are too many or time is up;
    None when nothing was found before."""
    found, room = None, True
    while True:
        chosen, better = _over(problem, cone)
        found = better or found
        broken = cone.broken(chosen)
        if not broken and better is not None:
            return replace(better, admissible=True)
        if not (broken and room) or problem.out_of_time:
            return found
        room = all(_added(problem, cone, name) for name in broken)
        problem.progress("inequalities of the class", 1.0)


def _over(problem: Problem, cone: ClassCone) -> tuple[Indices, Relaxed | None]:
    """The rays of the best mixture, and the mixture; those that are worth ∞, and None, while there are any."""
    columns, names = cone.columns, tuple(cone.names)
    values = np.array([part.column_values(columns) for part in parts_of(problem.utility)])
    endless = np.flatnonzero(~np.isfinite(values).all(axis=0))
    if not endless.size:
        with suppress(SolverFailed):
            best = best_mixture(columns, values)
            return np.flatnonzero(best.used), _relaxed(best, columns, values, names)
    return endless, None


def _added(problem: Problem, cone: ClassCone, name: Name) -> bool:
    """Whether there was time and room for an inequality more."""
    with suppress(TooLarge):
        if not problem.out_of_time:
            cone.cut(name)
            return True
    return False


def _relaxed(best: BestMixture, columns: Floats, values: Floats, names: tuple[Name, ...]) -> Relaxed:
    matrix = (columns * best.weights)[:, best.used]
    mix = decimals(best.mix) if best.mix.size > 1 else ()
    proof = Dual(decimals(best.alpha), Listed(names), mix)
    return Relaxed(matrix / matrix.sum(axis=1, keepdims=True), best.bound(columns, values), proof, admissible=False)


# -- what holds for a class all the same --


def _best_of_some(problem: Problem, privacy: PML, relaxed: Relaxed | None) -> Solution:
    """The best mechanism found that holds for the class, and the best bound."""
    found = list(_without_search(problem, privacy))
    if relaxed is not None:
        found.append(_mended(problem, privacy, relaxed.matrix))
        mechanism = max(found, key=problem.utility)
        return Solution(mechanism, relaxed.bound, "extreme columns of a larger cone, mended", (relaxed.proof,))
    outer, proofs = _least_bound(problem, privacy)
    found += [_mended(problem, privacy, outer.mechanism.matrix), _shrunk(problem, privacy, outer.mechanism)]
    mechanism = max(found, key=problem.utility)
    return Solution(mechanism, outer.bound, "design for one prior of the class at a smaller ε, or mended", proofs)


def _without_search(problem: Problem, privacy: PML) -> Iterator[Mechanism]:
    """The constant mechanism, and the best under LDP: a report of that leaks no more than ε under any prior."""
    yield constant(problem).mechanism
    local = LDP.from_json({"notion": LDP.name, **privacy.exponential.to_json(), "delta": "0"})
    with suppress(ExtremalError):  # a goal that no method is known for
        yield solved(replace(problem, privacy=local)).mechanism.claiming(privacy)


def _mended(problem: Problem, privacy: PML, matrix: Floats) -> Mechanism:
    """Columns with as much of a constant as makes them admissible, scaled so that rows sum to 1."""
    occurs = np.flatnonzero(privacy.source.support())
    least = np.array([-privacy.source.worst_case(-column)[0] for column in matrix.T])
    missing = (matrix[occurs].max(axis=0) - least) / expm1(privacy.epsilon) - least
    whole = matrix + np.maximum(missing, 0.0)
    rows = whole / whole.sum(axis=1, keepdims=True)
    with suppress(ExtremalError):  # at a small ε floats may not tell
        return Mechanism.from_matrix(rows, privacy, inputs=problem.inputs)
    return constant(problem).mechanism


def _least_bound(problem: Problem, privacy: PML) -> tuple[Solution, tuple[OnePrior, ...]]:
    """The design for the prior of the class that leaves least, and what it proves for the class."""
    found: list[tuple[Solution, tuple[OnePrior, ...]]] = []
    priors = _some_priors(privacy.source)
    each = None if problem.seconds_left is None else problem.seconds_left / (len(priors) + 1)  # one for what follows
    for prior in priors:
        single, end = privacy.under(prior), None if each is None else time.monotonic() + each
        solution = one_prior.solve(replace(problem, privacy=single, deadline=end), single, problem.utility)
        weights = tuple(Fraction(w) for w in prior.weights)
        found.append((solution, tuple(OnePrior(weights, (), proof) for proof in solution.proofs)))
    return min(found, key=lambda one: one[0].bound)


def _some_priors(source: SourceClass) -> list[Prior]:
    """A few priors of a class: some of a list; another shape's own."""
    return [source.member()] if source.listed is None else list(dict.fromkeys(source.listed))[:MOST_TRIED]


def _shrunk(problem: Problem, privacy: PML, outer: Mechanism) -> Mechanism:
    """That of the largest ε′ ≤ ε whose design for one prior still holds for the class, by halving."""
    if privacy.holds(outer):
        return outer.claiming(privacy)
    prior = privacy.source.member()
    best = {0.0: constant(problem).mechanism}

    def holds(epsilon: float) -> bool:
        smaller = PML(epsilon, prior)
        loose = replace(problem, privacy=smaller, tolerance=max(problem.tolerance, LOOSE))
        tried = one_prior.solve(loose, smaller, problem.utility).mechanism
        if privacy.holds(tried):
            best[epsilon] = tried.claiming(privacy)
        return epsilon in best

    def middle(above: float, below: float) -> float:
        """Ends the halving where nothing is gained by it, or by time once there is something."""
        enough = above - below < NEAR * above or above < SMALLEST * privacy.epsilon
        return below if enough or (problem.out_of_time and below > 0) else (above + below) / 2

    return best[bisected(holds, privacy.epsilon, 0.0, between=middle)]
