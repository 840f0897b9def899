"""How an outcome depends on linear predictors: the three families, each as log-densities and their derivatives.

A family sees D (n×P, the design), the outcome and parameters θ, and gives log f(outcome_i | D_i; θ) with its
derivatives for each row. For a categorical outcome that was privatised, f is the probability of the *report*,
Σ_c Q(y_i|c)·π_c(D_i): the likelihood goes through the mechanism, which is what a fit on the raw reports gets
wrong. All derivatives are formulas: nothing depends on the units of a covariate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from extremal.exact.weights import Floats

FLOOR = 1e-300
"""Probabilities below this are taken for it: log would be −∞, and no step of the search ends there."""


class OutcomeFamily(Protocol):
    """An outcome's distribution given the design."""

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        ...

    @property
    def observed(self) -> Floats:
        """What was seen of the outcome: two models are for the same data when it is the same."""
        ...

    def start(self) -> Floats:
        """Where the search starts."""
        ...

    def allows(self, theta: Floats) -> bool:
        """Whether θ is in the parameter space."""
        ...

    def log_density(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        """log f for each row (n), and its derivatives (n × parameters)."""
        ...

    def hessian(self, theta: Floats, design: Floats, weights: Floats) -> Floats:
        """Σ_i w_i times the second derivatives of log f_i."""
        ...

    def predictors(self, design: Floats) -> Iterator[Floats]:
        """Each predictor as a linear map of θ (n × parameters): probabilities are 0 or 1 where one is infinite."""
        ...

    def mean(self, theta: Floats, design: Floats) -> Floats:
        """The prediction: probabilities of the categories (n × C), or the expected value (n)."""
        ...


def softmax(eta: Floats) -> Floats:
    """Rows of probabilities proportional to e^η."""
    moved = np.exp(eta - eta.max(axis=1, keepdims=True))
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def with_baseline(theta: Floats, design: Floats) -> Floats:
    """Probabilities of a multinomial logit with the first category as baseline (n × C)."""
    eta = design @ theta.reshape(-1, design.shape[1]).T
    return softmax(np.hstack([np.zeros((len(eta), 1)), eta]))


def logit_hessian(posterior: Floats, chances: Floats, design: Floats, weights: Floats) -> Floats:
    """Σ w·[diag(r) − rrᵀ − diag(π) + ππᵀ] ⊗ DDᵀ without the baseline: second derivatives of log Σ_c q_c π_c."""
    r, pi = posterior[:, 1:], chances[:, 1:]
    count, width = r.shape[1], design.shape[1]
    found = np.zeros((count, width, count, width))
    for c in range(count):
        for d in range(c + 1):
            bend = pi[:, c] * pi[:, d] - r[:, c] * r[:, d] + (r[:, c] - pi[:, c] if c == d else 0.0)
            found[c, :, d, :] = design.T @ ((weights * bend)[:, None] * design)
            found[d, :, c, :] = found[c, :, d, :].T
    return found.reshape(count * width, count * width)


@dataclass(frozen=True, eq=False)
class Polytomous:
    """log π_c/π_0 = D·β_c for each category c > 0 (binary: ordinary logistic regression).

    Attributes:
        observed: n × C, the probability Q(y_i|c) of what was seen given each category; 0 and 1 for a public outcome.
        categories: names, the first is the baseline.
        terms: names of the columns of the design.
    """

    observed: Floats
    categories: list[str]
    terms: list[str]

    @property
    def names(self) -> list[str]:
        if len(self.categories) == 2:
            return list(self.terms)
        return [f"{c}: {t}" for c in self.categories[1:] for t in self.terms]

    def start(self) -> Floats:
        return np.zeros((len(self.categories) - 1) * len(self.terms))

    def allows(self, theta: Floats) -> bool:
        return bool(np.isfinite(theta).all())

    def mean(self, theta: Floats, design: Floats) -> Floats:
        return with_baseline(theta, design)

    def log_density(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        posterior, chances, total = self._posterior(theta, design)
        slopes = (posterior - chances)[:, 1:]  # d log f / dη_c
        return np.log(total), (slopes[:, :, None] * design[:, None, :]).reshape(len(design), -1)

    def hessian(self, theta: Floats, design: Floats, weights: Floats) -> Floats:
        posterior, chances, _ = self._posterior(theta, design)
        return logit_hessian(posterior, chances, design, weights)

    def predictors(self, design: Floats) -> Iterator[Floats]:
        width = design.shape[1]
        for c in range(len(self.categories) - 1):
            found = np.zeros((len(design), width * (len(self.categories) - 1)))
            found[:, c * width : (c + 1) * width] = design
            yield found

    def _posterior(self, theta: Floats, design: Floats) -> tuple[Floats, Floats, Floats]:
        """P(c | what was seen), P(c), and the probability of what was seen."""
        chances = self.mean(theta, design)
        joint = self.observed * chances
        total = np.maximum(joint.sum(axis=1), FLOOR)
        return joint / total[:, None], chances, total


@dataclass(frozen=True, eq=False)
class ProportionalOdds:
    """P(category ≤ c) = 1/(1 + e^{D·β − τ_c}), τ increasing: proportional odds. The design has no intercept.

    Attributes:
        observed, categories, terms: as for `Polytomous`; categories from the lowest to the highest.
    """

    observed: Floats
    categories: list[str]
    terms: list[str]

    @property
    def names(self) -> list[str]:
        cuts = [f"{a} | {b}" for a, b in zip(self.categories, self.categories[1:], strict=False)]
        return [*self.terms, *cuts]

    def start(self) -> Floats:
        shares = np.arange(1, len(self.categories)) / len(self.categories)
        return np.concatenate([np.zeros(len(self.terms)), np.log(shares / (1 - shares))])

    def allows(self, theta: Floats) -> bool:
        return bool(np.isfinite(theta).all() and (np.diff(theta[len(self.terms) :]) > 0).all())

    def mean(self, theta: Floats, design: Floats) -> Floats:
        return self._shares(theta, design)[0]

    def log_density(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        total, slopes, _ = self._bends(theta, design)
        return np.log(total), np.hstack([-slopes.sum(axis=1, keepdims=True) * design, slopes])

    def hessian(self, theta: Floats, design: Floats, weights: Floats) -> Floats:
        _, slopes, bends = self._bends(theta, design)
        width, cuts = design.shape[1], slopes.shape[1]
        found = np.zeros((width + cuts, width + cuts))
        for c in range(cuts):
            for d in range(cuts):
                weight = weights * ((bends[:, c] if c == d else 0.0) - slopes[:, c] * slopes[:, d])
                found[width + c, width + d] = weight.sum()
                found[width + c, :width] -= weight @ design
                found[:width, :width] += design.T @ (weight[:, None] * design)
        found[:width, width:] = found[width:, :width].T
        return found

    def predictors(self, design: Floats) -> Iterator[Floats]:
        for c in range(len(self.categories) - 1):
            found = np.zeros((len(design), design.shape[1] + len(self.categories) - 1))
            found[:, : design.shape[1]] = -design
            found[:, design.shape[1] + c] = 1.0
            yield found

    def _shares(self, theta: Floats, design: Floats) -> tuple[Floats, Floats, Floats]:
        """π (n × C), and P(category ≤ c), P(category > c) for the cuts (n × C−1), each without cancellation."""
        beta, cuts = theta[: len(self.terms)], theta[len(self.terms) :]
        u = cuts[None, :] - (design @ beta)[:, None]
        below, above = (1 / (1 + np.exp(np.minimum(sign * u, 700.0))) for sign in (-1.0, 1.0))
        # σ(b) − σ(a) = σ(b)·σ(−a)·(1 − e^{a−b}) for a < b
        inner = below[:, 1:] * above[:, :-1] * -np.expm1(-np.diff(u, axis=1))
        return np.hstack([below[:, :1], inner, above[:, -1:]]), below, above

    def _bends(self, theta: Floats, design: Floats) -> tuple[Floats, Floats, Floats]:
        """f, d log f/du_c and (d²f/du_c²)/f, u_c = τ_c − D·β."""
        shares, below, above = self._shares(theta, design)
        total = np.maximum((self.observed * shares).sum(axis=1), FLOOR)
        slopes = below * above * (self.observed[:, :-1] - self.observed[:, 1:]) / total[:, None]
        return total, slopes, slopes * (above - below)


@dataclass(frozen=True, eq=False)
class Linear:
    """outcome = D·β + σ·N(0, 1); the last parameter is log σ.

    Attributes:
        observed: n numbers.
        terms: names of the columns of the design.
    """

    observed: Floats
    terms: list[str]

    @property
    def names(self) -> list[str]:
        return [*self.terms, "log(scale)"]

    def start(self) -> Floats:
        return np.append(np.zeros(len(self.terms)), math.log(float(np.sqrt(np.mean(self.observed**2)))))

    def allows(self, theta: Floats) -> bool:
        return bool(np.isfinite(theta).all() and abs(theta[-1]) < 300)

    def mean(self, theta: Floats, design: Floats) -> Floats:
        return np.asarray(design @ theta[:-1])

    def log_density(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        error, scale = self._error(theta, design)
        slopes = np.hstack([(error / scale)[:, None] * design, (error**2 - 1)[:, None]])
        return -0.5 * error**2 - theta[-1] - 0.5 * math.log(2 * math.pi), slopes

    def hessian(self, theta: Floats, design: Floats, weights: Floats) -> Floats:
        error, scale = self._error(theta, design)
        wide = np.hstack([design / scale, (2 * error)[:, None]])
        found = -wide.T @ (weights[:, None] * wide)
        found[-1, -1] = -2 * float(weights @ error**2)
        return found

    def predictors(self, design: Floats) -> Iterator[Floats]:
        return iter(())

    def _error(self, theta: Floats, design: Floats) -> tuple[Floats, float]:
        scale = math.exp(float(theta[-1]))
        return (self.observed - design @ theta[:-1]) / scale, scale
