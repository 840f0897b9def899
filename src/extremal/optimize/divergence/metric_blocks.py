"""The linear program of chords for any metric: its inequalities are added as they are broken, and their multipliers go
into the proof."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from extremal.certificate import Dual
from extremal.optimize.divergence.cover import KEPT, Cover, Floats, Multiplier
from extremal.optimize.problem import Problem, decimal
from extremal.privacy import MetricPrivacy
from extremal.solver import Answer, SparseProgram
from extremal.utility import Divergence

Indices = npt.NDArray[np.intp]

_BROKEN = 1e-11  # an inequality that is off by less is left to from_matrix, which mends it exactly
MAGNIFIED = 1e4  # the solver's tolerance on duals is absolute: a larger objective makes it smaller


class MetricBlocks:
    """One column of the mechanism for each chord; the inequalities of the metric are added as they are broken."""

    def __init__(self, privacy: MetricPrivacy, utility: Divergence) -> None:
        self.privacy, self.utility = privacy, utility
        order = np.argsort(privacy.distances, axis=1, kind="stable")
        near = {
            (x, int(y))
            for x in range(privacy.k)
            for y in order[x, :4]
            if y != x and math.isfinite(privacy.distances[x, y])
        }
        self.pairs = sorted(near | {(y, x) for x, y in near})

    def solve(self, cover: Cover, problem: Problem) -> tuple[Floats, float, Dual]:
        """Columns, value and proof; the pairs that bind are remembered for the next grid of chords."""
        program = _BlockProgram(self.privacy, cover.lines(self.utility))
        fresh = [(i, x, y) for i in range(program.blocks) for x, y in self.pairs]
        while fresh:
            program.require(fresh)
            answer = program.program.solve(problem.seconds_left)
            q = program.columns(answer)
            fresh = program.broken(q)
        flows = program.flows(answer)
        self.pairs = sorted({*self.pairs, *((x, y) for _, x, y, _ in flows)})
        proof = cover.proof(self.utility, -answer.duals[: program.k] * program.size, flows, ())
        return q[q.max(axis=1) > KEPT].T, -answer.value * program.size, proof


class _BlockProgram:
    """max Σ_i line_i·q_i s.t. Σ_i q_i = 1 and q_i in the cone.

    Columns are written q_i(x) = l_i + σ·r_i(x) with σ about ε·diameter: at small ε what matters is the deviation from
    constant columns. Variable l_i is number i·(k+1), r_i(x) number i·(k+1) + 1 + x.

    Attributes:
        sigma: σ.
        size: the objective is divided by this.
        shrink: e^{−εd}; an inequality is e^{−εd}·q(x) ≤ q(y), that is (1−e^{−εd})/σ·l − e^{−εd}·r(x) + r(y) ≥ 0.
        present: (i, x, y) of the inequalities so far, in the order of their rows.
    """

    def __init__(self, privacy: MetricPrivacy, lines: Floats) -> None:
        self.k, self.blocks = lines.shape
        apart = privacy.distances
        self.sigma = min(1.0, privacy.epsilon * float(apart[np.isfinite(apart)].max()))
        self.shrink, self._drop = np.exp(-privacy.epsilon * apart), -np.expm1(-privacy.epsilon * apart)
        costs = np.vstack([lines.sum(axis=0), self.sigma * lines])
        self.size = (float(np.abs(costs).max()) or 1.0) / MAGNIFIED
        self.program = SparseProgram(-(costs / self.size).T.ravel())
        self.present: list[tuple[int, int, int]] = []
        self._add_sums()

    def _constant(self, i: Indices) -> Indices:
        """The number of l_i."""
        return np.asarray(i * (self.k + 1))

    def _deviation(self, i: Indices, x: Indices | int) -> Indices:
        """The number of r_i(x)."""
        return np.asarray(i * (self.k + 1) + 1 + x)

    def _add_sums(self) -> None:
        """Rows Σ_i l_i + σ·r_i(x) = 1."""
        every = np.arange(self.blocks)
        places = [np.c_[self._constant(every), self._deviation(every, x)].ravel() for x in range(self.k)]
        rows, ones = np.repeat(np.arange(self.k), 2 * self.blocks), np.ones(self.k)
        self.program.add(rows, np.concatenate(places), np.tile([1.0, self.sigma], self.k * self.blocks), ones, ones)

    def require(self, inequalities: list[tuple[int, int, int]]) -> None:
        i, x, y = np.array(inequalities).T
        places = np.c_[self._constant(i), self._deviation(i, x), self._deviation(i, y)].ravel()
        values = np.c_[self._drop[x, y] / self.sigma, -self.shrink[x, y], np.ones(i.size)].ravel()
        rows = np.repeat(np.arange(i.size), 3)
        self.program.add(rows, places, values, np.zeros(i.size), np.full(i.size, np.inf))
        self.present += inequalities

    def columns(self, answer: Answer) -> Floats:
        """q_i as rows."""
        parts = answer.x.reshape(self.blocks, self.k + 1)
        return np.asarray(parts[:, :1] + self.sigma * parts[:, 1:])

    def broken(self, q: Floats) -> list[tuple[int, int, int]]:
        """Inequalities that are off and not yet there."""
        excess = self.shrink[None, :, :] * q[:, :, None] - q[:, None, :]
        known = set(self.present)
        found = [(i, x, y) for i, x, y in np.argwhere(excess > _BROKEN * self.sigma).tolist()]
        return [place for place in found if place not in known]

    def flows(self, answer: Answer) -> list[Multiplier]:
        """Multipliers of e^{εd}·q(y) ≥ q(x) for the inequalities that bind."""
        duals = answer.duals[self.k :] * self.size / self.sigma
        bind = [(place, float(f)) for place, f in zip(self.present, duals, strict=True) if f > 0]
        return [(i, x, y, decimal(f * float(self.shrink[x, y]))) for (i, x, y), f in bind if self.shrink[x, y] > 0]
