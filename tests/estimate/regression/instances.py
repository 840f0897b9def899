"""Fifty regressions of every kind, with their log-likelihoods written down a second time, from the definitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

import extremal as ex

Values = np.ndarray
KINDS = ("binary", "multinomial", "ordered", "linear with a hidden covariate", "both privatised")


@dataclass(frozen=True)
class Instance:
    """A regression to fit, its log-likelihood as a function of the parameters, and the parameters behind the data."""

    formula: str
    frame: pd.DataFrame
    mechanism: dict[str, ex.Mechanism]
    family: str | None
    log_likelihood: Callable[[Values], float]
    truth: Values


def logistic(u: Values) -> Values:
    return np.asarray(1 / (1 + np.exp(-u)))


def reported(generator: np.random.Generator, m: ex.Mechanism, x: Values) -> Values:
    """Reports of inputs given by position (a simulation: seeded)."""
    cumulative = np.cumsum(m.matrix, axis=1)[x]
    return np.minimum((generator.random((len(x), 1)) > cumulative).sum(axis=1), m.m - 1)


def instance(number: int) -> Instance:
    """The kinds take turns; ε, sample size and coefficients are drawn."""
    generator = np.random.default_rng([2_024, number])
    n = int(generator.integers(1_500, 3_000))
    z = generator.normal(size=n)
    m2 = ex.randomized_response(2, float(generator.uniform(1.5, 3)))
    m3 = ex.randomized_response(3, float(generator.uniform(2, 3.5)))
    kind = KINDS[number % len(KINDS)]
    b = generator.uniform(-0.8, 0.8, size=4)
    if kind == "binary":
        y = reported(generator, m2, (generator.random(n) < logistic(b[0] + b[1] * z)).astype(int))

        def binary(t: Values) -> float:
            p = logistic(t[0] + t[1] * z)
            return float(np.log((1 - p) * m2.matrix[0, y] + p * m2.matrix[1, y]).sum())

        return Instance("y ~ z", pd.DataFrame({"y": y, "z": z}), {"y": m2}, None, binary, b[:2])
    if kind == "multinomial":

        def shares(t: Values) -> Values:
            e = np.exp(np.stack([0 * z, t[0] + t[1] * z, t[2] + t[3] * z], axis=1))
            return np.asarray(e / e.sum(axis=1, keepdims=True))

        x = (generator.random((n, 1)) > np.cumsum(shares(b), axis=1)).sum(axis=1)
        y = reported(generator, m3, np.minimum(x, 2))

        def multinomial(t: Values) -> float:
            return float(np.log((shares(t) * m3.matrix[:, y].T).sum(axis=1)).sum())

        return Instance("y ~ z", pd.DataFrame({"y": y, "z": z}), {"y": m3}, None, multinomial, b)
    if kind == "ordered":
        truth = np.array([b[0], -0.7, 0.8])
        latent = b[0] * z + generator.logistic(size=n)
        y = reported(generator, m3, (latent > -0.7).astype(int) + (latent > 0.8))

        def ordered(t: Values) -> float:
            low, high = logistic(t[1] - t[0] * z), logistic(t[2] - t[0] * z)
            return float(np.log((np.stack([low, high - low, 1 - high], axis=1) * m3.matrix[:, y].T).sum(axis=1)).sum())

        return Instance("y ~ z", pd.DataFrame({"y": y, "z": z}), {"y": m3}, "ordered", ordered, truth)
    share = logistic(b[2] + 0.5 * z)
    x = (generator.random(n) < share).astype(int)
    seen = reported(generator, m2, x)
    if kind == "linear with a hidden covariate":
        y = b[0] + (1 + b[1]) * x + 0.5 * z + 0.8 * generator.normal(size=n)

        def linear(t: Values) -> float:
            p = logistic(t[4] + t[5] * z)
            total = np.zeros(n)
            for v, w in ((0, 1 - p), (1, p)):
                error = (y - t[0] - t[1] * v - t[2] * z) / np.exp(t[3])
                total += w * m2.matrix[v, seen] * np.exp(-(error**2) / 2) / np.exp(t[3]) / np.sqrt(2 * np.pi)
            return float(np.log(total).sum())

        truth = np.array([b[0], 1 + b[1], 0.5, np.log(0.8), b[2], 0.5])
        return Instance("y ~ x + z", pd.DataFrame({"y": y, "x": seen, "z": z}), {"x": m2}, None, linear, truth)
    y = reported(generator, m2, (generator.random(n) < logistic(b[0] + (1 + b[1]) * x + 0.5 * z)).astype(int))

    def both(t: Values) -> float:
        p, total = logistic(t[3] + t[4] * z), np.zeros(n)
        for v, w in ((0, 1 - p), (1, p)):
            q = logistic(t[0] + t[1] * v + t[2] * z)
            total += w * m2.matrix[v, seen] * ((1 - q) * m2.matrix[0, y] + q * m2.matrix[1, y])
        return float(np.log(total).sum())

    truth = np.array([b[0], 1 + b[1], 0.5, b[2], 0.5])
    return Instance("y ~ x + z", pd.DataFrame({"y": y, "x": seen, "z": z}), {"y": m2, "x": m2}, None, both, truth)
