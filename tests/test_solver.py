"""Linear programs: what is done when the simplex method goes in circles, or time is up."""

from __future__ import annotations

import numpy as np
import pytest

from extremal import solver
from extremal.solver import LinearProgram, SolverFailed


def program() -> LinearProgram:
    generator = np.random.default_rng(0)
    matrix, costs, inside = generator.random((30, 400)), generator.random(400), generator.random(400)
    made = LinearProgram(matrix @ inside, matrix @ inside)
    made.add(matrix, costs)
    return made


@pytest.mark.parametrize("iterations", [0, 5])
def test_a_program_that_takes_too_many_steps_is_solved_another_way(
    iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = program().solve().value
    monkeypatch.setattr(solver, "LEAST_ITERATIONS", iterations)
    monkeypatch.setattr(solver, "ITERATIONS_EACH", 0)
    slow = program()
    found = slow.polished(slow.solve())
    assert found.value == pytest.approx(best, rel=1e-10)
    assert found.residual < 1e-12


def test_no_time_is_a_failure_that_is_named() -> None:
    generator = np.random.default_rng(0)
    made = LinearProgram(np.ones(150), np.ones(150))
    made.add(np.where(generator.random((150, 8_000)) < 0.5, 0.1, 0.9), generator.random(8_000))
    with pytest.raises(SolverFailed, match="Time limit"):
        made.solve(0.0)
