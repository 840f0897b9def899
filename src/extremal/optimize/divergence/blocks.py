"""The linear program of chords under metric privacy: one column of the mechanism for each chord, for any metric or on a
tree.

For any metric its inequalities are added as they are broken, and their multipliers go into the proof. On a tree columns
are generated, priced exactly from leaves to root: for given duals the best column of a chord grows or shrinks by e^{εd}
along each edge, whichever its subtree is worth. e^{εd} is kept as mantissa and exponent, so that ε·d may be of any
size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from extremal.certificate import Dual
from extremal.exact.weights import Indices
from extremal.optimize.divergence.cover import LIGHTEST, Cover, Floats, Multiplier
from extremal.optimize.problem import GAIN, Problem, decimal
from extremal.optimize.search import Columns, Limits, Master, Priced, Pricing, generate
from extremal.privacy import MetricPrivacy
from extremal.privacy.cones.metric import Edge
from extremal.solver import TIME_LIMIT, Answer, SolverFailed, SparseProgram
from extremal.utility import Divergence

_BROKEN = 1e-11  # an inequality that is off by less is left to from_matrix, which mends it exactly
MAGNIFIED = 1e4  # the solver's tolerance on duals is absolute: a larger objective makes it smaller
_ROUNDING = 4e-16  # two roundings of a float
_MARGINS = (0.0, 1e-14, 1e-12, 1e-10)  # relative to the largest line


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
        program.require([(i, x, y) for i in range(program.blocks) for x, y in self.pairs])
        answer = program.program.solved(program.broken, lambda: problem.seconds_left)
        q = program.columns(answer)
        flows = program.flows(answer)
        self.pairs = sorted({*self.pairs, *((x, y) for _, x, y, _ in flows)})
        proof = cover.proof(self.utility, -answer.duals[: program.k] * program.size, flows, ())
        return q[q.max(axis=1) > LIGHTEST].T, -answer.value * program.size, proof


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

    def broken(self, answer: Answer) -> bool:
        """Add the inequalities that are off and not yet there; whether there are any."""
        q = self.columns(answer)
        excess = self.shrink[None, :, :] * q[:, :, None] - q[:, None, :]
        known = set(self.present)
        found = [(i, x, y) for i, x, y in np.argwhere(excess > _BROKEN * self.sigma).tolist()]
        fresh = [place for place in found if place not in known]
        if fresh:
            self.require(fresh)
        return bool(fresh)

    def flows(self, answer: Answer) -> list[Multiplier]:
        """Multipliers of e^{εd}·q(y) ≥ q(x) for the inequalities that bind."""
        duals = answer.duals[self.k :] * self.size / self.sigma
        bind = [(place, float(f)) for place, f in zip(self.present, duals, strict=True) if f > 0]
        return [(i, x, y, decimal(f * float(self.shrink[x, y]))) for (i, x, y), f in bind if self.shrink[x, y] > 0]


class TreeBlocks:
    """Column generation with exact pricing on a tree; rays are kept between grids of chords."""

    def __init__(self, privacy: MetricPrivacy, utility: Divergence, edges: list[Edge]) -> None:
        self.privacy, self.utility, self.edges = privacy, utility, edges
        self.exponents = {x: privacy.epsilon * float(privacy.distances[above, x]) for above, x in edges}
        self.rays = np.ones((1, privacy.k))

    def solve(self, cover: Cover, problem: Problem) -> tuple[Floats, float, Dual]:
        """Columns, value and proof.

        Raises:
            SolverFailed: there is no time left for the first program.
        """
        lines = cover.lines(self.utility)
        pricing = RaysOfTree(self, lines)
        # The first columns set the scale of the objective: the constant one alone is worth nothing.
        if len(self.rays) == 1:
            self.rays = np.vstack([self.rays, np.unique(self.best_rays(lines)[0], axis=1).T])
        every = np.ones(self.privacy.k)
        master = Master(every, every)
        master.add(*pricing.worth(self.rays))
        if not master.solve(problem.seconds_left):
            raise SolverFailed("the linear program must be solved in time", parameter="status", value=TIME_LIMIT)
        nothing = Priced.nothing(self.privacy.k)
        generate(master, pricing, nothing, Limits.of(problem, "column generation on a tree"), share=0.0)
        master.polish()
        self.rays = master.columns
        rays, weights = master.mixture()
        alpha, bound = self._safe(lines, master.point * pricing.size, master.value * pricing.size)
        proof = cover.proof(self.utility, alpha, [], tuple(self.edges))
        return (rays * weights[:, None]).T, bound, proof

    def _safe(self, lines: Floats, alpha: Floats, value: float) -> tuple[Floats, float]:
        """α raised a little where that makes the bound smaller: what is missing at an input counts e^{εd} at the
        root."""
        slacks = np.array([0.0, *(abs(value) * 10.0**-n for n in range(16, 5, -1))])
        raised = alpha[:, None] + slacks / self.privacy.k
        raised[self.edges[0][0]] = alpha[self.edges[0][0]]
        doubt = _ROUNDING * (np.abs(lines)[:, None, :] + np.abs(raised)[:, :, None])  # exact lines differ by rounding
        left = lines[:, None, :] - raised[:, :, None] + doubt
        excess = self.best_rays(left.reshape(len(alpha), -1))[2].reshape(slacks.size, -1).max(axis=1)
        bounds = raised.sum(axis=0) + excess
        best = int(np.argmin(bounds))
        return raised[:, best], float(bounds[best])

    def best_rays(self, gains: Floats) -> tuple[Floats, Floats, Floats]:
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


class RaysOfTree(Pricing):
    """The rays that gain most on any of some lines, the values in units of the largest line."""

    def __init__(self, blocks: TreeBlocks, lines: Floats) -> None:
        self.blocks, self.most = blocks, blocks.privacy.k
        self.size = float(np.abs(lines).max()) or 1.0
        self.lines = lines / self.size

    def worth(self, rays: Floats) -> Columns:
        return rays, (rays @ self.lines).max(axis=1)

    def price(self, point: Floats, gap: float, best: float) -> Priced:
        """Gains that are rounding count e^{εd} at the root and would hide all others, so they are also sought with a
        little less at every input."""
        gains = self.lines - point[:, None]
        rays = self.blocks.best_rays(np.hstack([gains - margin for margin in _MARGINS]))[0].T
        rays = np.unique(rays[(rays @ gains).max(axis=1) > GAIN], axis=0)
        return Priced(point, *self.worth(rays))


@dataclass(frozen=True, eq=False)
class Scaled:
    """Numbers mantissa·2^exponent that no float can hold."""

    mantissa: Floats
    exponent: npt.NDArray[np.int64]

    @classmethod
    def of(cls, values: Floats) -> Scaled:
        mantissa, exponent = np.frexp(values)
        return cls(mantissa, np.where(mantissa == 0, -(1 << 40), exponent.astype(np.int64)))

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
