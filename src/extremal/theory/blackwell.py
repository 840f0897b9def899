"""Blackwell's order: whether one mechanism can imitate another, with a witness for either answer, checked in rationals.

m₁ dominates m₂ when some post-processing W turns the reports of m₁ into those of m₂: Q₁W = Q₂ (KOV Section 5, Theorem
20). Then m₁ is at least as good for every decision, whatever the prior and the losses. If there is none, some gain g(x,
y) is worth more with m₂ than with any post-processing of m₁:

    Σ_xy g(x,y)·Q₂(y|x)  >  Σ_z max_y Σ_x g(x,y)·Q₁(z|x).

A linear program proposes W or g. Then floats are left: W is rounded to integer weights and the distance of Q₁W from Q₂,
the deficiency, is computed in rationals; the inequality for g is evaluated in rationals. Mechanisms have weights
rounded to 2^-62, so a relation that holds for the formulas may fail for the integers in the 18th digit: `dominates` is
true up to a stated deficiency of 2^-40, and `exact` says whether it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.errors import TooLarge
from extremal.exact import solve_exactly
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import refuse_other_inputs
from extremal.solver import LinearProgram, SolverFailed

TOLERANCE = Fraction(1, 1 << 40)
"""The largest deficiency, in total variation, up to which a mechanism counts as dominated."""

LARGEST_PROGRAM = 1 << 22  # entries of the linear program
EXACT_UP_TO = 64  # unknowns of the rational solution
_UNITS = 64  # of 2^-62: what rounding may move a weight by

Matrix = list[list[Fraction]]


@dataclass(frozen=True)
class Separation:
    """A gain that separates: worth more with the second mechanism than with any post-processing of the first.

    Attributes:
        gain: g(x, y), exact; x an input, y a report of the second mechanism.
        first, second: the best expected total Σ_x with either, exact; second > first.

    Made by `ex.theory.dominates`.

    Reference: the easy half of D. Blackwell (1953): a better experiment is better for every gain.

    >>> import extremal as ex
    >>> test = ex.theory.dominates(ex.randomized_response(2, 1), ex.randomized_response(2, 2)).test
    >>> test.second > test.first
    True
    """

    gain: tuple[tuple[Fraction, ...], ...]
    first: Fraction
    second: Fraction

    @property
    def margin(self) -> float:
        return float(self.second - self.first)


@dataclass(frozen=True)
class Dominance:
    """Whether one mechanism can imitate another; truthy iff it can.

    Attributes:
        map: the post-processing W, a `Mechanism` from the first one's reports to the second one's; None if there is
            none. Its inputs are numbered where the reports are tuples.
        rational: W as it was checked, in rationals; `map` is it, rounded to integer weights.
        deficiency: the largest total variation between a row of Q₁W and of Q₂, exact; None without a map.
        test: a `Separation` when there is no map.

    Made by `ex.theory.dominates`.

    Reference: D. Blackwell, Equivalent Comparisons of Experiments (1953); KOV Section 2.2.

    >>> import extremal as ex
    >>> found = ex.theory.dominates(ex.randomized_response(3, 2), ex.randomized_response(3, 1))
    >>> bool(found), found.test is None
    (True, True)
    """

    map: Mechanism | None
    rational: tuple[tuple[Fraction, ...], ...] | None
    deficiency: Fraction | None
    test: Separation | None

    @property
    def exact(self) -> bool:
        """Whether Q₁W = Q₂ holds in every digit of the integer weights."""
        return self.deficiency == 0

    def __bool__(self) -> bool:
        return self.map is not None

    def __str__(self) -> str:
        if self.map is not None:
            return "dominates, " + ("exactly" if self.exact else f"up to {float(self.deficiency or 0):.1e}")
        return f"does not dominate: a test is worth {self.test.margin:.3g} more" if self.test else "undecided"


@dataclass(frozen=True)
class Equivalence:
    """Whether two mechanisms can imitate each other; truthy iff both directions hold.

    Made by `ex.theory.equivalent`; each direction is a `Dominance`. Reference: KOV Section 2.2.

    >>> import extremal as ex
    >>> bool(ex.theory.equivalent(ex.randomized_response(2, 1), ex.randomized_response(2, 2)))
    False
    """

    forward: Dominance
    backward: Dominance

    def __bool__(self) -> bool:
        return bool(self.forward) and bool(self.backward)


def dominates(first: Mechanism, second: Mechanism) -> Dominance:
    """Decide whether the reports of `first` can be post-processed into those of `second`, with a witness.

    Guarantee: a map comes with its exact deficiency, at most 2^-40; a separating test is verified in rationals. What
    the linear program said plays no part in either.

    Args:
        first, second: mechanisms with the same inputs, in the same order.

    Raises:
        SolverFailed: neither witness could be made (mechanisms that differ by 1e-12 to 1e-9).

    Reference: D. Blackwell, Equivalent Comparisons of Experiments, Ann. Math. Stat. 24 (1953); KOV Theorem 20.

    >>> import extremal as ex
    >>> strong, weak = ex.randomized_response(3, 2), ex.randomized_response(3, 1)
    >>> found = dominates(strong, weak)
    >>> bool(found), found.map.matrix.round(3).tolist()[0], bool(dominates(weak, strong))
    (True, [0.69, 0.155, 0.155], False)
    """
    refuse_other_inputs(second.inputs, first.inputs, "second.inputs")
    k, m1, m2 = first.k, first.m, second.m
    if (k * m2 + m1) * (m1 * m2 + 2 * k * m2) > LARGEST_PROGRAM:
        raise TooLarge("the linear program has too many entries", parameter="k, m₁, m₂", value=(k, m1, m2))
    program = _imitation(first.matrix, second.matrix)
    answer = program.solve()
    exact1, exact2 = _rational(first), _rational(second)
    separation = _separation(-answer.duals[: k * m2].reshape(k, m2), exact1, exact2)
    if separation is not None and separation.second - separation.first > TOLERANCE * k:
        return Dominance(None, None, None, separation)
    for proposal in (_vertex(program, exact1, exact2), answer.x[: m1 * m2].reshape(m1, m2)):
        if proposal is not None:
            made = _mapped(proposal, first, second, exact1, exact2)
            if made is not None:
                return made
    if separation is not None:
        return Dominance(None, None, None, separation)
    raise SolverFailed("the two mechanisms are too close to tell", parameter="residual", value=-answer.value)


def equivalent(first: Mechanism, second: Mechanism) -> Equivalence:
    """Whether each mechanism can imitate the other: the same for every decision (KOV Section 2.2).

    Guarantee: both post-processings are checked in rationals.

    >>> import extremal as ex
    >>> m = ex.Mechanism.from_matrix([[0.2, 0.4, 0.4], [0.1, 0.2, 0.7]])
    >>> bool(equivalent(m, canonical_form(m))), canonical_form(m).m
    (True, 2)
    """
    return Equivalence(dominates(first, second), dominates(second, first))


def canonical_form(mechanism: Mechanism) -> Mechanism:
    """The mechanism with proportional outputs merged, those of a likelier set of inputs first (KOV Section 2.2).

    Proportional reports say the same; merging them changes no utility and no level. Columns count as proportional when
    they are so up to the rounding of their weights, 64 units of 2^-62. Outputs are ordered by decreasing direction
    (column over its sum, compared lexicographically) and numbered from 0.

    Guarantee: worth the same for every utility, and as private, up to the rounding of weights.

    >>> import extremal as ex
    >>> canonical_form(ex.Mechanism.from_matrix([[0.2, 0.4, 0.4], [0.1, 0.2, 0.7]])).matrix.round(6).tolist()
    [[0.6, 0.4], [0.3, 0.7]]
    """
    columns = [[int(w) for w in column] for column in mechanism.weights.T]
    merged: list[list[int]] = []
    order = sorted(columns, key=lambda c: [Fraction(w, sum(c)) for w in c], reverse=True)
    for column in order:
        place = next((i for i, other in enumerate(merged) if _proportional(column, other)), None)
        if place is None:
            merged.append(column)
        else:
            merged[place] = [a + b for a, b in zip(merged[place], column, strict=True)]
    weights = np.array(merged, dtype=object).T
    return Mechanism.from_weights(weights, mechanism.denominator, mechanism.privacy, mechanism.inputs)


def _proportional(first: list[int], second: list[int]) -> bool:
    a, b = sum(first), sum(second)
    return all(abs(x * b - y * a) <= _UNITS * (a + b) for x, y in zip(first, second, strict=True))


def _imitation(q1: Floats, q2: Floats) -> LinearProgram:
    """The post-processing W of q1 nearest to q2: rows of Q₁W + surplus − lack = Q₂, then the sums of W's rows."""
    (k, m1), m2 = q1.shape, q2.shape[1]
    right = np.r_[q2.ravel(), np.ones(m1)]
    rows = np.zeros((k * m2 + m1, m1 * m2 + 2 * k * m2))
    for z in range(m1):
        for y in range(m2):
            rows[y : k * m2 : m2, z * m2 + y] = q1[:, z]
            rows[k * m2 + z, z * m2 + y] = 1.0
    rows[: k * m2, m1 * m2 : m1 * m2 + k * m2] = np.eye(k * m2)
    rows[: k * m2, m1 * m2 + k * m2 :] = -np.eye(k * m2)
    program = LinearProgram(right, right)
    program.add(rows, np.r_[np.zeros(m1 * m2), -np.ones(2 * k * m2)])
    return program


def _rational(mechanism: Mechanism) -> Matrix:
    return [[Fraction(int(w), mechanism.denominator) for w in row] for row in mechanism.weights]


def _separation(proposal: Any, q1: Matrix, q2: Matrix) -> Separation | None:
    """The gain evaluated exactly; None when it does not separate."""
    scale = float(np.abs(proposal).max())
    if not scale > 0:
        return None
    gain = [[Fraction(round(float(g) / scale * (1 << 40)), 1 << 40) for g in row] for row in proposal]
    k, m2 = len(gain), len(gain[0])
    second = sum((gain[x][y] * q2[x][y] for x in range(k) for y in range(m2)), Fraction(0))
    first = sum(
        (
            max(sum((gain[x][y] * q1[x][z] for x in range(k)), Fraction(0)) for y in range(m2))
            for z in range(len(q1[0]))
        ),
        Fraction(0),
    )
    return Separation(tuple(map(tuple, gain)), first, second) if second > first else None


def _vertex(program: LinearProgram, q1: Matrix, q2: Matrix) -> Matrix | None:
    """The optimal basis solved in rationals: W without any error, when the integers allow it."""
    m1, m2 = len(q1[0]), len(q2[0])
    columns, rows = program.basis()
    if len(columns) != len(rows) or len(columns) > EXACT_UP_TO:
        return None
    right = [q2[r // m2][r % m2] if r < len(q1) * m2 else Fraction(1) for r in rows]
    solved = solve_exactly([[_entry(q1, m2, r, c) for c in columns] for r in rows], right)
    if solved is None or any(v < 0 for v in solved):
        return None
    return _post_processing(dict(zip(columns, solved, strict=True)), m1, m2)


def _entry(q1: Matrix, m2: int, row: int, column: int) -> Fraction:
    """One entry of the program of `_imitation`, exact."""
    fits, maps = len(q1) * m2, len(q1[0]) * m2  # rows of the first kind, columns of the first kind
    if row >= fits:
        return Fraction(int(column < maps and column // m2 == row - fits))
    x, y = divmod(row, m2)
    if column < maps:
        return q1[x][column // m2] if column % m2 == y else Fraction(0)
    return Fraction((column - maps == row) - (column - maps - fits == row))


def _post_processing(values: dict[int, Fraction], m1: int, m2: int) -> Matrix | None:
    """W of the basic variables; None if one of the others is used, or a row does not sum to 1."""
    if any(v for c, v in values.items() if c >= m1 * m2):
        return None
    rows = [[values.get(z * m2 + y, Fraction(0)) for y in range(m2)] for z in range(m1)]
    return rows if all(sum(row) == 1 for row in rows) else None


def _mapped(proposal: Any, first: Mechanism, second: Mechanism, q1: Matrix, q2: Matrix) -> Dominance | None:
    if isinstance(proposal, list):
        matrix, exact = np.array(proposal, dtype=object), proposal
    else:
        matrix, exact = proposal / proposal.sum(axis=1, keepdims=True), None
    names = None if any(isinstance(y, tuple) for y in first.outputs) else first.outputs  # inputs are never tuples
    made = Mechanism.from_matrix(matrix, None, names, second.outputs)
    post = exact if exact is not None else _aligned(made, second)
    worst = Fraction(0)
    for row, wanted in zip(q1, q2, strict=True):
        reached = [sum((q * post[z][y] for z, q in enumerate(row)), Fraction(0)) for y in range(len(wanted))]
        worst = max(worst, sum((abs(a - b) for a, b in zip(reached, wanted, strict=True)), Fraction(0)) / 2)
    return Dominance(made, tuple(map(tuple, post)), worst, None) if worst <= TOLERANCE else None


def _aligned(made: Mechanism, second: Mechanism) -> Matrix:
    """The rows of W over all reports of the second mechanism; those never used have been dropped by rounding."""
    place = {label: y for y, label in enumerate(made.outputs)}
    rows = _rational(made)
    return [[row[place[label]] if label in place else Fraction(0) for label in second.outputs] for row in rows]
