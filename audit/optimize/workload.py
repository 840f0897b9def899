"""Random workloads of any rank: none raises, every design verifies, its value is the mechanism's and within its bounds.

    python -m audit.optimize.workload [count] [first]

Statistics with dependent, constant and repeated rows, repeated columns, scales from 1e-9 to 1e9, priors with ties, 2 to
40 inputs, ε from 1e-3 to 50; every fifth with δ. Each design is held against NumPy alone: the value of its matrix; that
of randomised response and of subset selection, below which its lower bound must lie; and up to five inputs without δ
the program over all patterns in another solver (SLSQP), whose optimum must lie within the design's interval.
"""

from __future__ import annotations

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

import extremal as ex

SECONDS = 0.1  # of a search: what is found does not matter here
CLOSE = 1e-6  # relative: what floats lose, and what SLSQP leaves
LISTED = 5  # inputs
SINGULAR = 1e-9  # of the largest eigenvalue of the information: its inverse then says nothing


def instance(generator: np.random.Generator) -> tuple[ex.LDP, ex.Workload]:
    k = int(generator.integers(2, 41))
    rank = int(generator.integers(1, k + 1))
    rows = generator.normal(size=(int(generator.integers(1, k + 1)), rank)) @ generator.normal(size=(rank, k))
    if generator.random() < 0.3:
        rows = np.vstack([rows, rows[:1], np.ones((1, k))])
    if generator.random() < 0.3:
        rows = rows[:, generator.integers(0, k, k)]
    if not np.ptp(rows, axis=1).any():
        rows[0, 0] += 1
    prior = generator.dirichlet(np.full(k, generator.uniform(0.3, 5)))
    prior = np.full(k, 1 / k) if generator.random() < 0.3 else (prior + 1e-4) / (prior + 1e-4).sum()
    epsilon = round(math.exp(generator.uniform(math.log(1e-3), math.log(50))), 6)
    delta = 10 ** generator.uniform(-6, -1) if generator.random() < 0.2 else 0
    return ex.LDP(epsilon, delta), ex.Workload(rows * 10 ** generator.uniform(-9, 9), prior.tolist())


def cost(rows: np.ndarray, prior: np.ndarray, matrix: np.ndarray) -> float:
    """n × mean squared error by NumPy alone; not a number where the information is nearly singular."""
    used = matrix[:, matrix.any(axis=0)]
    deviations = used / (prior @ used) - 1
    excess = (deviations * (prior @ used)) @ deviations.T
    basis = np.linalg.svd(prior[None])[2][1:].T  # of p⊥
    inner, centred = basis.T @ excess @ basis, (rows - (rows @ prior)[:, None]) @ basis
    sizes = np.linalg.eigvalsh(inner)
    if sizes[0] <= SINGULAR * sizes[-1]:
        return math.nan
    return float(np.trace(centred @ np.linalg.solve(inner, centred.T)))


def known(rows: np.ndarray, prior: np.ndarray, epsilon: float) -> float:
    """The least cost of what anybody could take: all subsets of one size, as sets of neighbours on a circle."""
    k, found = prior.size, []
    for size in range(1, min(k, 5)):
        turns = np.array([np.roll(np.arange(k) < size, shift) for shift in range(k)])
        if math.gcd(size, k) == 1:  # else the shifts do not tell all inputs apart
            columns = np.where(turns.T, math.exp(epsilon), 1.0)
            found.append(cost(rows, prior, columns / columns.sum(axis=1, keepdims=True)))
    return min((value for value in found if math.isfinite(value)), default=math.inf)


def listed(rows: np.ndarray, prior: np.ndarray, epsilon: float) -> float:
    """The least cost over all patterns, as another solver finds it."""
    k = prior.size
    patterns = np.array(list(itertools.product((1.0, math.exp(epsilon)), repeat=k))[1:-1]).T
    scale = cost(rows, prior, np.eye(k))

    def function(theta: np.ndarray) -> float:
        value = cost(rows, prior, patterns * np.maximum(theta, 0.0) + 0.0)
        return math.log(value / scale) if math.isfinite(value) else 1e3

    start = np.full(patterns.shape[1], 1 / float(patterns[0].sum()))
    sums = {"type": "eq", "fun": lambda theta: patterns @ theta - 1, "jac": lambda _: patterns}
    options = {"maxiter": 60, "ftol": 1e-12}
    found = minimize(function, start, bounds=[(0, None)] * start.size, constraints=[sums], options=options)
    if not np.abs(patterns @ found.x - 1).max() < CLOSE / 10:
        return math.inf
    return cost(rows, prior, patterns * found.x)


def verified(found: ex.Design) -> bool:
    """`ex.verify`; with δ its parts, without the level at that δ, which would take most of the time."""
    privacy = found.mechanism.privacy
    if not privacy.delta:
        return bool(ex.verify(found))
    bounds = [proof.bound(privacy, found.utility) for proof in found.certificate.proofs]
    return privacy.holds(found.mechanism) and max(bounds) >= Fraction(found.lower_bound)


def wrong_about(privacy: ex.LDP, utility: ex.Workload, found: ex.Design) -> str:
    """What is wrong with a design; empty when nothing is."""
    near, rows, prior = utility(found.mechanism), utility.rows, np.array(utility.prior.values)
    if not verified(found):
        return "not verified"
    if not found.lower_bound <= found.value:
        return "bounds are crossed"
    if near != found.value and abs(near / found.value - 1) > 1e-4:
        return f"value {found.value!r}, {near!r} by the utility"
    own = cost(rows, prior, found.mechanism.matrix)
    if math.isfinite(own) and abs(own / found.value - 1) > 1e-4:
        return f"value {found.value!r}, {own!r} by NumPy"
    if found.lower_bound > known(rows, prior, privacy.epsilon) * (1 + CLOSE):
        return "a known mechanism is below the bound"
    if utility.k <= LISTED and not privacy.delta and privacy.epsilon >= 0.05:
        other = listed(rows, prior, privacy.epsilon)
        if math.isfinite(other) and not found.lower_bound * (1 - CLOSE) <= other:
            return f"SLSQP finds {other!r}, below the bound {found.lower_bound!r}"
        if math.isfinite(other) and found.value > other * (1 + 1e-4):
            return f"SLSQP finds {other!r}, better than {found.value!r}"
    return ""


def main(count: int, first: int = 0) -> int:
    bad = 0
    for seed in range(first, first + count):
        privacy, utility = instance(np.random.default_rng(seed))
        try:
            wrong = wrong_about(privacy, utility, ex.design(privacy, utility, time_limit=SECONDS))
        except Exception as error:  # whatever it is, it is a defect
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            bad += 1
            print(f"{seed}: k = {utility.k}, {utility.rows.shape[0]} rows, {privacy!r}: {wrong}", flush=True)
        if seed % 100 == 99:
            print(f"… {seed + 1}", flush=True)
    print(f"{count} workloads from {first} on, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:] or ["2000"])))
