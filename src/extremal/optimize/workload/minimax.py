"""The least worst value over a class of priors: a saddle point.

g(p) = min over mechanisms of F(Q, p) is concave in p; at its maximum over the class the mechanism that is best for p is
best in the worst case wherever g is smooth: F(Q, ·) is concave, and its gradient at p, which is g's, points nowhere
further into the class. So g is maximised by mixing vertices of the class, each step an optimal design; the mechanism's
own worst prior is then found independently, and the gap between g(p) and that worst value is what is certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from extremal.optimize.workload.interior import OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import Coordinates, Floats, Sets, all_sets, staircase_deviations
from extremal.sources import SourceClass
from extremal.utility.worst_prior import centre_of, reweighted

ROUNDS = 40
CLOSE = 1e-7  # relative: no vertex of the class promises more
STEPS = 40  # of sequential quadratic programming between two vertices


@dataclass(frozen=True, eq=False)
class Saddle:
    """A worst prior as a mixture of vertices, and the best design at it."""

    prior: Floats
    coordinates: Coordinates
    found: OptimalDesign
    sets: Sets
    promised: float


def saddle(
    rows: Floats,
    source: SourceClass,
    epsilon: float,
    out_of_time: Callable[[], bool],
    tell: Callable[[str, float], None],
) -> Saddle:
    """Maximise g over the class; small alphabets, all patterns."""
    growth, sets = math.expm1(epsilon), all_sets(source.k)

    def solved(prior: Floats) -> tuple[Coordinates, OptimalDesign, Floats]:
        coordinates = Coordinates(prior, rows)
        deviations = staircase_deviations(sets, prior, growth)
        found = optimal_design(coordinates.points(deviations), coordinates.guarded, 1e-9)
        return coordinates, found, _gradient(coordinates, found, deviations, rows)

    corners, weights = [centre_of(source)], np.array([1.0])
    reached: list[Saddle] = []
    for _ in range(ROUNDS):
        prior = np.asarray(weights @ np.array(corners))
        coordinates, found, gradient = solved(prior)
        linear, corner = source.worst_case(gradient)
        promised = max(0.0, linear - float(gradient @ prior)) / found.value
        tell("worst prior", promised)
        reached.append(Saddle(prior, coordinates, found, sets, promised))
        if promised <= CLOSE or out_of_time():
            break
        corners.append(corner)
        scale, table = found.value, np.array(corners)

        def negative(w: Floats, scale: float = scale, table: Floats = table) -> tuple[float, Floats]:
            _, design, slope = solved(np.asarray(w @ table) / w.sum())
            return -design.value / scale, -(table @ slope - float(w @ table @ slope)) / scale

        weights = reweighted(negative, np.append(weights, 0.0), STEPS, 1e-12, 1e-10)
        used = weights > 0
        corners, weights = [c for c, u in zip(corners, used, strict=True) if u], weights[used]
    return min(reached, key=lambda one: one.promised)


def _gradient(coordinates: Coordinates, found: OptimalDesign, deviations: Floats, rows: Floats) -> Floats:
    """∂F/∂p at fixed mechanism, up to a constant: Σ_y Q(y|x)|t_y|², Q(y|x) = θ_y(1 + D_y(x)), t_y = A_c Z D_y."""
    decoder = (rows - (rows @ coordinates.prior)[:, None]) @ coordinates.covariance(found.inverse)
    squares = ((decoder @ deviations) ** 2).sum(axis=0)
    return np.asarray((1 + deviations) @ (found.theta * squares))
