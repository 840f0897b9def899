"""Slow and simple: the extreme lift vectors by two independent enumerations, and the optimum over them. For tests and
audits.

`algorithm_1` is GSO's Algorithm 1 as reconstructed (errata P2–P4, P7); `plain_vertices` tries every active set. Neither
shares code with the solvers.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

from extremal.solver import LinearProgram
from extremal.utility import SumOfColumns

Floats = npt.NDArray[np.float64]

SAME = 1e-10  # vertices nearer than this are one
FITS = 1e-12  # slack in deciding whether a fractional entry fits, for vertices that are degenerate


def region_of(prior: Floats, epsilon: float) -> int:
    """The privacy region, 1..N (erratum P2: N itself is needed)."""
    sums = np.cumsum(np.sort(prior)[::-1])
    return int(sum(epsilon >= -math.log(min(1.0, total)) - 1e-15 for total in sums))


def algorithm_1(prior: Floats, epsilon: float) -> Floats:
    """The extreme lift vectors, one a row: for l = 1..region, every J of N − l + 1 inputs with P(J) ≥ e^−ε, every j in
    J.

    λ_i = e^ε on J∖j and λ_j = (1 − e^ε·P(J∖j))/p_j, kept when it is not negative; 0 elsewhere.
    """
    n, e, found = prior.size, math.exp(epsilon), []
    for length in range(1, region_of(prior, epsilon) + 1):
        for members in itertools.combinations(range(n), n - length + 1):
            total = float(prior[list(members)].sum())
            if total < 1 / e - FITS:
                continue
            for j in members:
                entry = (1 - e * (total - prior[j])) / prior[j]
                if -FITS <= entry <= e + FITS:
                    lift = np.zeros(n)
                    lift[list(members)] = e
                    lift[j] = min(max(entry, 0.0), e)
                    found.append(lift)
    return _distinct(found)


def plain_vertices(prior: Floats, epsilon: float, low: float = 0.0) -> Floats:
    """The vertices of {low ≤ λ ≤ e^ε, p·λ = 1} by trying every pattern of ends and every free entry."""
    n, e, found = prior.size, math.exp(epsilon), []
    for j in range(n):
        for pattern in itertools.product((low, e), repeat=n - 1):
            lift = np.insert(np.array(pattern), j, 0.0)
            entry = (1 - float(lift @ prior)) / prior[j]
            if low - FITS <= entry <= e + FITS:
                lift[j] = min(max(entry, low), e)
                found.append(lift)
    return _distinct(found)


def optimum(utility: SumOfColumns, lifts: Floats) -> float:
    """max Σ θ·μ(λ) s.t. Σ θ·λ = 1, θ ≥ 0: GSO Theorem 5 with what erratum P5 adds."""
    program = LinearProgram(np.ones(lifts.shape[1]), np.ones(lifts.shape[1]))
    program.add(lifts.T, utility.column_values(lifts.T))
    return program.solve().value


def _distinct(found: list[Floats]) -> Floats:
    array = np.array(found)
    _, first = np.unique(np.round(array / SAME), axis=0, return_index=True)
    return array[np.sort(first)]
