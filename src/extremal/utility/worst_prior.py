"""The prior of a class at which a mechanism estimates worst.

F(Q, p) = tr(A_c V(p)⁺ A_cᵀ) is concave in p, with gradient ∂F/∂p(x) = Σ_y Q(y|x)·|T_y|² − 2·(Ap)·a_x up to a constant,
T the best decoder at p (the square of what a report is decoded to, on average). So for any p of the class F(Q, ·) ≤
F(Q, p) + max_v ∂F·(v − p), a linear problem that every class answers: a bound that holds wherever the search stops. The
search adds the vertex that answers it to those it mixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.sources import SourceClass
from extremal.utility.fisher import Fisher, squared_influence

ROUNDS = 200  # of the search: mostly below ten, 140 for a hull of twelve priors of six inputs
CLOSE = 1e-10  # relative: the search ends when the bound is this close to the value


@dataclass(frozen=True, eq=False)
class WorstPrior:
    """Attributes: prior, where the value is attained; value, a bound for the whole class; attained, F at `prior`."""

    prior: Floats
    value: float
    attained: float


def worst_prior(
    information: Callable[[Floats], Fisher], mechanism: Mechanism | Any, rows: Floats, source: SourceClass
) -> WorstPrior:
    """Maximise F over the class by mixing its vertices; the bound is from the last gradient."""
    start = centre_of(source)
    corners, weights = [start], np.array([1.0])
    best = WorstPrior(start, np.inf, -np.inf)
    for _ in range(ROUNDS):
        prior = np.asarray(weights @ np.array(corners))
        fisher = information(prior)
        found = fisher.decoded(rows)
        if found is None or not np.isfinite(found[1]):
            return WorstPrior(prior, np.inf, np.inf)
        decoder, value = found
        gradient = squared_influence(mechanism, fisher, decoder)
        linear, corner = source.worst_case(gradient)
        bound = value + max(0.0, linear - float(gradient @ prior))
        if bound < best.value:
            best = WorstPrior(prior, bound, value)
        if bound <= value * (1 + CLOSE):
            break
        corners.append(corner)
        table, grown = np.array(corners), np.append(weights, 0.0)
        scale = max(1e-300, value)

        def negative(w: Floats, scale: float = scale, table: Floats = table) -> tuple[float, Floats]:
            fisher = information(w @ table)
            found = fisher.decoded(rows)
            if found is None:  # F is concave: not identified only by rounding, and no way to go
                return 0.0, np.zeros(w.size)
            return -found[1] / scale, -(table @ squared_influence(mechanism, fisher, found[0])) / scale

        weights = reweighted(negative, grown, 60, 1e-14, 1e-12)
        used = weights > 0
        corners, weights = [c for c, u in zip(corners, used, strict=True) if u], weights[used]
    return best


def centre_of(source: SourceClass) -> Floats:
    """A prior inside the class: where to start."""
    k = source.k
    uniform = np.full(k, 1 / k)
    if uniform in source:
        return uniform
    ends = [source.worst_case(np.eye(k)[x])[1] for x in range(k)]
    return np.asarray(np.mean(ends, axis=0))


def reweighted(
    negative: Callable[[Floats], tuple[float, Floats]], weights: Floats, steps: int, tolerance: float, least: float
) -> Floats:
    """Mix the corners found so far a little better: a few steps of sequential quadratic programming on the weights.

    Args:
        negative: weights ↦ what is to be made small, and its gradient.
        weights: of the corners now; a new one has none yet.
        steps, tolerance: when to stop.
        least: smaller weights are none.
    """
    from scipy.optimize import minimize

    total = {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(w.size)}
    answer = minimize(
        negative,
        0.9 * weights + 0.1 / weights.size,
        jac=True,
        bounds=[(0, 1)] * weights.size,
        constraints=[total],
        method="SLSQP",
        options={"maxiter": steps, "ftol": tolerance},
    )
    mixed = np.maximum(np.asarray(answer.x), 0.0)
    mixed[mixed < least] = 0.0
    return np.asarray(mixed / mixed.sum())
