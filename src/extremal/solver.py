"""The only file that knows HiGHS.

Linear programs max c·x s.t. row bounds, x ≥ 0, that grow by columns. Columns are scaled by their largest entry and the
objective by its largest coefficient before they are handed over, presolve is off and the primal simplex is asked for a
vertex: unscaled, HiGHS was 51% low on these programs at ε = 1e-3. Answers are proposals: every caller recomputes what
it claims from the numbers returned here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import ExtremalError

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-10  # the smallest that HiGHS accepts
CORRECTIONS = 3  # of a vertex, at most
LEAST_ITERATIONS, ITERATIONS_EACH = 20_000, 20  # of the simplex method, for each row and column: more is a cycle
TIME_LIMIT = "Time limit reached"  # HiGHS's word for it


class SolverFailed(ExtremalError, RuntimeError):
    """The linear program has no optimal vertex: infeasible, unbounded, or out of time."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An optimal vertex.

    Attributes:
        x: the columns' weights, in the order they were added.
        duals: one for each row, in the units of the caller (not scaled).
        value: c·x.
        residual: how far the rows are from their bounds, at most.
    """

    x: Floats
    duals: Floats
    value: float
    residual: float


class SparseProgram:
    """min c·x subject to lower ≤ A x ≤ upper, x ≥ 0, solved again and again as rows arrive.

    >>> program = SparseProgram([1.0, 2.0])
    >>> program.add(np.array([0, 0]), np.array([0, 1]), np.array([1.0, 1.0]), [1.0], [np.inf])
    >>> program.solve().x.tolist()
    [1.0, 0.0]
    """

    def __init__(self, costs: Any) -> None:
        import highspy

        self._costs = np.asarray(costs, dtype=np.float64)
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            # The least that HiGHS allows; smaller entries, e^−εd at large distances, count as 0.
            ("small_matrix_value", 1e-12),
            ("primal_feasibility_tolerance", TOLERANCE),
            ("dual_feasibility_tolerance", TOLERANCE),
        ):
            self._solver.setOptionValue(option, value)
        self._optimal, self._error = highspy.HighsModelStatus.kOptimal, highspy.HighsStatus.kError
        states = highspy.HighsModelStatus
        self._doubtful = (states.kUnknown, states.kInfeasible, states.kUnbounded, states.kUnboundedOrInfeasible)
        n, none = self._costs.size, np.array([], dtype=np.int32)
        infinite = np.full(n, highspy.kHighsInf)
        self._solver.addCols(n, self._costs, np.zeros(n), infinite, 0, np.zeros(n, dtype=np.int32), none, np.array([]))

    def add(self, rows: Any, columns: Any, values: Any, lower: Any, upper: Any) -> None:
        """Append rows given by their entries (row number within this batch in ascending order, column, value)."""
        lower, upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        starts = np.searchsorted(rows, np.arange(lower.size)).astype(np.int32)
        entries = np.asarray(columns, dtype=np.int32), np.asarray(values, dtype=np.float64)
        if self._solver.addRows(lower.size, lower, upper, len(entries[0]), starts, *entries) == self._error:
            raise SolverFailed(
                "every row of the linear program must name a column once", parameter="rows", value=lower.size
            )

    def solve(self, time_limit: float | None = None) -> Answer:
        """An optimal vertex of what was added so far; `duals` are those of the rows, `residual` is not computed.

        Raises:
            SolverFailed: there is none.
        """
        if time_limit is not None:
            # HiGHS counts from the first run.
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + max(0.01, time_limit))
        self._solver.run()
        for option, value in (("presolve", "off"), ("simplex_strategy", 4), ("solver", "ipm")):
            # Coefficients from e^−εd to e^εd: another way often sees through them.
            if self._solver.getModelStatus() in self._doubtful:
                self._solver.setOptionValue(option, value)
                self._solver.clearSolver()
                self._solver.run()
        _refuse_unsolved(self._solver, self._optimal)
        solution = self._solver.getSolution()
        x = np.maximum(np.asarray(solution.col_value), 0.0)
        return Answer(x, np.asarray(solution.row_dual), float(self._costs @ x), 0.0)

    def solved(self, broken: Callable[[Answer], bool], seconds: Callable[[], float | None]) -> Answer:
        """An optimal vertex of a program whose rows are added as they are broken.

        Args:
            broken: adds the rows that an answer breaks, and says whether there were any.
            seconds: for one solution.

        Raises:
            SolverFailed: there is none.
        """
        while True:
            answer = self.solve(seconds())
            if not broken(answer):
                return answer


class LinearProgram:
    """max c·x subject to lower ≤ A x ≤ upper, x ≥ 0, solved again and again as columns arrive.

    >>> program = LinearProgram([1.0, 1.0], [1.0, 1.0])
    >>> program.add(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.array([1.0, 1.0, 3.0]))
    >>> program.solve().x.tolist()
    [0.0, 0.0, 1.0]
    """

    def __init__(self, lower: Any, upper: Any) -> None:
        import highspy

        self._infinity = highspy.kHighsInf
        self._lower, self._upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("simplex_strategy", 4),
            ("small_matrix_value", 1e-12),
            ("primal_feasibility_tolerance", TOLERANCE),
            ("dual_feasibility_tolerance", TOLERANCE),
        ):
            self._solver.setOptionValue(option, value)
        self._solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        states = highspy.HighsModelStatus
        self._optimal = states.kOptimal
        self._doubtful = (states.kUnknown, states.kNotset, states.kSolveError, states.kIterationLimit)
        empty = np.array([], dtype=np.int32)
        for low, high in zip(self._lower, self._upper, strict=True):
            self._solver.addRow(float(low), float(high), 0, empty, np.array([]))
        self._columns: list[Floats] = []
        self._costs: list[Floats] = []
        self._scale = 0.0

    def add(self, columns: Floats, costs: Floats) -> None:
        """Append columns (rows × n) with their objective coefficients."""
        columns = np.asarray(columns, dtype=np.float64)
        self._columns.append(columns)
        self._costs.append(np.asarray(costs, dtype=np.float64))
        if not self._scale:
            self._scale = float(np.abs(costs).max()) or 1.0
        sizes = np.abs(columns).max(axis=0)
        sizes[sizes == 0] = 1.0
        scaled = (columns / sizes).T
        where = np.nonzero(scaled)
        starts = np.searchsorted(where[0], np.arange(scaled.shape[0])).astype(np.int32)
        objective = np.asarray(costs, dtype=np.float64) / sizes / self._scale
        count, infinite = scaled.shape[0], np.full(scaled.shape[0], self._infinity)
        self._solver.addCols(
            count, objective, np.zeros(count), infinite, where[0].size, starts, where[1].astype(np.int32), scaled[where]
        )

    def basis(self) -> tuple[list[int], list[int]]:
        """(basic columns, rows that hold with equality) of the last vertex: equally many, and their square system
        determines it."""
        basic = self._solver.getBasis()
        columns = [j for j, status in enumerate(basic.col_status) if int(status) == 1]
        rows = [i for i, status in enumerate(basic.row_status) if int(status) != 1]
        return columns, rows

    def solve(self, time_limit: float | None = None) -> Answer:
        """An optimal vertex of what was added so far.

        Raises:
            SolverFailed: there is none, or no time is left.
        """
        if time_limit is not None:  # HiGHS counts from the first run on
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + max(0.01, time_limit))
        size = len(self._lower) + sum(columns.shape[1] for columns in self._columns)
        self._solver.setOptionValue("simplex_iteration_limit", LEAST_ITERATIONS + ITERATIONS_EACH * size)
        self._solver.run()
        for option, value, usual in (("simplex_strategy", 1, 4), ("solver", "ipm", "simplex")):
            if self._solver.getModelStatus() in self._doubtful:  # the primal simplex gave up or went in circles:
                self._solver.setOptionValue(option, value)  # once more from scratch, by the dual one or from within
                self._solver.clearSolver()
                self._solver.run()
                self._solver.setOptionValue(option, usual)
        _refuse_unsolved(self._solver, self._optimal)
        solution = self._solver.getSolution()
        matrix, costs = np.hstack(self._columns), np.concatenate(self._costs)
        sizes = np.abs(matrix).max(axis=0)
        sizes[sizes == 0] = 1.0
        x = np.maximum(np.asarray(solution.col_value), 0.0) / sizes
        activity = matrix @ x
        residual = float(np.maximum(np.maximum(self._lower - activity, activity - self._upper), 0.0).max(initial=0.0))
        return Answer(x, np.asarray(solution.row_dual) * self._scale, float(costs @ x), residual)

    def polished(self, answer: Answer) -> Answer:
        """The same vertex, from the square system of its basis: the solver meets rows and reduced costs to 1e-10 only.

        Corrections are made as long as they help; x and duals are then good to rounding, if the basis is optimal.
        """
        basic, tight = self.basis()
        matrix, costs = np.hstack(self._columns), np.concatenate(self._costs)
        sides = np.where(np.isfinite(self._upper), self._upper, self._lower)
        square, x, duals = matrix[np.ix_(tight, basic)], np.zeros_like(answer.x), np.zeros_like(answer.duals)
        x[basic] = np.maximum(_corrected(square, sides[tight], answer.x[basic]), 0.0)
        duals[tight] = _corrected(square.T, costs[basic], answer.duals[tight])
        activity = matrix @ x
        residual = float(np.maximum(np.maximum(self._lower - activity, activity - self._upper), 0.0).max(initial=0.0))
        return Answer(x, duals, float(costs @ x), residual)


def _refuse_unsolved(solver: Any, optimal: Any) -> None:
    status = solver.getModelStatus()
    if status != optimal:
        raise SolverFailed(
            "the linear program must have an optimal vertex",
            parameter="status",
            value=solver.modelStatusToString(status),
        )


def _corrected(square: Floats, wanted: Floats, found: Floats) -> Floats:
    """A better solution of a square system, by least squares on what is left."""
    for _ in range(CORRECTIONS):
        rest = wanted - square @ found
        better = found + np.linalg.lstsq(square, rest, rcond=None)[0]
        if np.abs(wanted - square @ better).max(initial=0.0) >= np.abs(rest).max(initial=0.0):
            break
        found = better
    return found


def interior_point(
    gains: Floats, equal: tuple[Any, Floats], below: tuple[Any, Floats], seconds: float | None = None
) -> tuple[Floats, Floats] | None:
    """max gains·x s.t. A x = b, C x ≤ d, x ≥ 0 for sparse A and C, by an interior-point method: (x, duals of A), or
    None when it fails.

    For programs too large for the simplex method. The answer is accurate to about 1e-8 and no vertex: a start, never a
    result.
    """
    from scipy.optimize import linprog

    options = {} if seconds is None else {"time_limit": max(0.01, seconds)}
    answer = linprog(
        -gains,
        A_ub=below[0],
        b_ub=below[1],
        A_eq=equal[0],
        b_eq=equal[1],
        bounds=(0, None),
        method="highs-ipm",
        options=options,
    )
    return (answer.x, -answer.eqlin.marginals) if answer.status == 0 else None
