"""The only file that knows HiGHS.

Linear programs max c·x s.t. row bounds, x ≥ 0, that grow by columns. Columns are scaled by their largest entry and the objective by its
largest coefficient before they are handed over, presolve is off and the primal simplex is asked for a vertex: unscaled, HiGHS was 51%
low on these programs at ε = 1e-3. Answers are proposals: every caller recomputes what it claims from the numbers returned here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import ExtremalError

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-10  # the smallest that HiGHS accepts


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
            ("primal_feasibility_tolerance", TOLERANCE),
            ("dual_feasibility_tolerance", TOLERANCE),
        ):
            self._solver.setOptionValue(option, value)
        self._solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
        self._optimal = highspy.HighsModelStatus.kOptimal
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
        for j in range(columns.shape[1]):
            rows = np.flatnonzero(columns[:, j]).astype(np.int32)
            values = columns[rows, j] / sizes[j]
            self._solver.addCol(float(costs[j] / sizes[j] / self._scale), 0.0, self._infinity, len(rows), rows, values)

    def solve(self, time_limit: float | None = None) -> Answer:
        """An optimal vertex of what was added so far.

        Raises:
            SolverFailed: there is none.
        """
        if time_limit is not None:
            self._solver.setOptionValue("time_limit", max(0.01, time_limit))
        self._solver.run()
        status = self._solver.getModelStatus()
        if status != self._optimal:
            raise SolverFailed(
                "the linear program must have an optimal vertex", parameter="status", value=self._solver.modelStatusToString(status)
            )
        solution = self._solver.getSolution()
        matrix, costs = np.hstack(self._columns), np.concatenate(self._costs)
        sizes = np.abs(matrix).max(axis=0)
        sizes[sizes == 0] = 1.0
        x = np.maximum(np.asarray(solution.col_value), 0.0) / sizes
        activity = matrix @ x
        residual = float(np.maximum(np.maximum(self._lower - activity, activity - self._upper), 0.0).max(initial=0.0))
        return Answer(x, np.asarray(solution.row_dual) * self._scale, float(costs @ x), residual)


def interior_point(
    gains: Floats, equal: tuple[Any, Floats], below: tuple[Any, Floats], seconds: float | None = None
) -> tuple[Floats, Floats] | None:
    """max gains·x s.t. A x = b, C x ≤ d, x ≥ 0 for sparse A and C, by an interior-point method: (x, duals of A), or None when it fails.

    For programs too large for the simplex method. The answer is accurate to about 1e-8 and no vertex: a start, never a result.
    """
    from scipy.optimize import linprog

    options = {} if seconds is None else {"time_limit": max(0.01, seconds)}
    answer = linprog(
        -gains, A_ub=below[0], b_ub=below[1], A_eq=equal[0], b_eq=equal[1], bounds=(0, None), method="highs-ipm", options=options
    )
    return (answer.x, -answer.eqlin.marginals) if answer.status == 0 else None
