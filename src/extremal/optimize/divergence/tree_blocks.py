"""The linear program of chords where the metric is a tree: columns are generated, priced exactly from leaves to root.

For given duals the best column of a chord grows or shrinks by e^{εd} along each edge, whichever its subtree is worth.
e^{εd} is kept as mantissa and exponent, so that ε·d may be of any size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.certificate import Dual
from extremal.optimize.divergence.cover import KEPT, Cover, Floats
from extremal.optimize.problem import Problem
from extremal.privacy import MetricPrivacy
from extremal.privacy.cones.metric import Edge
from extremal.solver import LinearProgram, SolverFailed
from extremal.utility import Divergence

MOST_COLUMNS_ROUNDS = 2000
_PRICE = 1e-13  # a column that gains less, relatively to the largest value, is rounding
_ROUNDING = 4e-16
_MARGINS = (0.0, 1e-14, 1e-12, 1e-10)  # relative to the largest line


class TreeBlocks:
    """Column generation with exact pricing on a tree; columns are kept between rounds."""

    def __init__(self, privacy: MetricPrivacy, utility: Divergence, edges: list[Edge]) -> None:
        self.privacy, self.utility, self.edges = privacy, utility, edges
        self.exponents = {x: privacy.epsilon * float(privacy.distances[above, x]) for above, x in edges}
        self.rays = np.ones((privacy.k, 1))
        self.seen: set[bytes] = set()

    def solve(self, cover: Cover, problem: Problem) -> tuple[Floats, float, Dual]:
        lines = cover.lines(self.utility)
        program = LinearProgram(np.ones(self.privacy.k), np.ones(self.privacy.k))
        size = float(np.abs(lines).max()) or 1.0
        # The first columns set the scale of the objective: the constant one alone is worth nothing.
        if self.rays.shape[1] == 1:
            self.rays = np.hstack([self.rays, np.unique(self._best_rays(lines)[0], axis=1)])
        program.add(self.rays, (lines.T @ self.rays).max(axis=0) / size)
        answer = program.solve(problem.seconds_left)
        for _ in range(MOST_COLUMNS_ROUNDS):
            found = self._priced(lines / size - answer.duals[:, None])
            fresh = self._unseen(found)
            if not fresh.size or problem.out_of_time:
                break
            program.add(fresh, (lines.T @ fresh).max(axis=0) / size)
            try:
                answer = program.solve(problem.seconds_left)
            except SolverFailed:  # what it holds of earlier vertices may mislead it: once more with all columns anew
                program = LinearProgram(np.ones(self.privacy.k), np.ones(self.privacy.k))
                program.add(self.rays, (lines.T @ self.rays).max(axis=0) / size)
                answer = program.solve(problem.seconds_left)
        used = answer.x > KEPT * answer.x.max()
        chosen = (self.rays[:, : answer.x.size] * answer.x)[:, used]
        alpha, bound = self._safe(lines, answer.duals * size, answer.value * size)
        return chosen, bound, cover.proof(self.utility, alpha, [], tuple(self.edges))

    def _priced(self, gains: Floats) -> Floats:
        """The rays that gain most. Gains that are rounding count e^{εd} at the root and would hide all others, so they
        are also sought with a little less at every input."""
        found = self._best_rays(np.hstack([gains - margin for margin in _MARGINS]))[0]
        worth = (gains.T @ found).max(axis=0)
        best = np.argsort(-worth)[: self.privacy.k]
        return found[:, best[worth[best] > _PRICE]]

    def _safe(self, lines: Floats, alpha: Floats, value: float) -> tuple[Floats, float]:
        """α raised a little where that makes the bound smaller: what is missing at an input counts e^{εd} at the
        root."""
        slacks = np.array([0.0, *(abs(value) * 10.0**-n for n in range(16, 5, -1))])
        raised = alpha[:, None] + slacks / self.privacy.k
        raised[self.edges[0][0]] = alpha[self.edges[0][0]]
        doubt = _ROUNDING * (np.abs(lines)[:, None, :] + np.abs(raised)[:, :, None])  # exact lines differ by rounding
        left = lines[:, None, :] - raised[:, :, None] + doubt
        excess = self._best_rays(left.reshape(len(alpha), -1))[2].reshape(slacks.size, -1).max(axis=1)
        bounds = raised.sum(axis=0) + excess
        best = int(np.argmin(bounds))
        return raised[:, best], float(bounds[best])

    def _unseen(self, rays: Floats) -> Floats:
        """Those that were not added before; they are now."""
        fresh = [ray for ray in rays.T if ray.tobytes() not in self.seen]
        self.seen.update(ray.tobytes() for ray in fresh)
        unique = np.unique(np.array(fresh).T, axis=1) if fresh else np.zeros((rays.shape[0], 0))
        self.rays = np.hstack([self.rays, unique])
        return unique

    def _best_rays(self, gains: Floats) -> tuple[Floats, Floats, Floats]:
        """For each column of gains the ray with the largest total, from the leaves up and back down: the rays with
        largest entry 1, their totals, and the totals relative to the root."""
        total, grows = [Scaled.of(row) for row in gains], {}
        for above, x in reversed(self.edges):
            grows[x] = total[x].mantissa > 0
            signed = np.where(grows[x], self.exponents[x], -self.exponents[x])
            total[above] = total[above] + total[x].times_exp(signed)
        root = self.edges[0][0]
        logs = np.zeros_like(gains)
        for above, x in self.edges:
            logs[x] = logs[above] + np.where(grows[x], self.exponents[x], -self.exponents[x])
        largest = logs.max(axis=0)
        return np.exp(logs - largest), total[root].times_exp(-largest).floats(), total[root].floats()


@dataclass(frozen=True, eq=False)
class Scaled:
    """Numbers mantissa·2^exponent that no float can hold."""

    mantissa: Floats
    exponent: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: Floats) -> Scaled:
        mantissa, exponent = np.frexp(values)
        return cls(mantissa, np.where(mantissa == 0, -(1 << 40), exponent).astype(np.int64))

    def times_exp(self, log: Floats) -> Scaled:
        """Times e^log."""
        whole = np.floor(log / math.log(2))
        return Scaled(self.mantissa * np.exp(log - whole * math.log(2)), self.exponent + whole.astype(np.int64))

    def __add__(self, other: Scaled) -> Scaled:
        top = np.maximum(self.exponent, other.exponent)
        parts = (np.ldexp(part.mantissa, np.maximum(part.exponent - top, -1100)) for part in (self, other))
        mantissa, exponent = np.frexp(sum(parts))
        return Scaled(mantissa, np.where(mantissa == 0, -(1 << 40), top + exponent))

    def floats(self) -> Floats:
        """The nearest floats, at most about 1e300."""
        return np.asarray(np.ldexp(self.mantissa, np.clip(self.exponent, -1100, 1000)))
