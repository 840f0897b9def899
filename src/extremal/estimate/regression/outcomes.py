"""How an outcome depends on a linear predictor: the three families, each as log-densities and their scores.

A family sees D (n×P, the design), the outcome and parameters θ, and gives log f(outcome_i | D_i; θ) with its derivative
for each row. For a categorical outcome that was privatised, f is the probability of the *report*, Σ_c Q(y_i|c)·π_c(D_i):
the likelihood goes through the mechanism, which is what a fit on the raw reports gets wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from extremal.exact.weights import Floats

FLOOR = 1e-300
"""Probabilities below this are taken for it: log would be −∞ and a step of the search is refused long before."""


class Family(Protocol):
    """An outcome's distribution given the design."""

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
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

    def mean(self, theta: Floats, design: Floats) -> Floats:
        """The prediction: probabilities of the categories (n × C), or the expected value (n)."""
        ...


def softmax(eta: Floats) -> Floats:
    """Rows of probabilities proportional to e^η."""
    moved = np.exp(eta - eta.max(axis=1, keepdims=True))
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Polytomous:
    """log π_c/π_0 = D·β_c for each category c > 0 (binary: ordinary logistic regression).

    Attributes:
        seen: n × C, the probability Q(y_i|c) of what was seen given each category; 0 and 1 for a public outcome.
        categories: names, the first is the baseline.
        terms: names of the columns of the design.
    """

    seen: Floats
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
        eta = design @ theta.reshape(len(self.categories) - 1, -1).T
        return softmax(np.hstack([np.zeros((len(eta), 1)), eta]))

    def log_density(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        chances = self.mean(theta, design)
        joint = self.seen * chances
        total = np.maximum(joint.sum(axis=1), FLOOR)
        slopes = (joint / total[:, None] - chances)[:, 1:]  # d log f / dη_c
        return np.log(total), (slopes[:, :, None] * design[:, None, :]).reshape(len(design), -1)


@dataclass(frozen=True, eq=False)
class Ordered:
    """P(category ≤ c) = 1/(1 + e^{D·β − τ_c}), τ increasing: proportional odds. The design has no intercept.

    Attributes:
        seen, categories, terms: as for `Polytomous`; categories from the lowest to the highest.
    """

    seen: Floats
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

    def _cumulative(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        """P(category ≤ c) with 0 and 1 at the ends, and its derivative in τ_c − D·β."""
        beta, cuts = theta[: len(self.terms)], theta[len(self.terms) :]
        inner = 0.5 * (1 + np.tanh((cuts[None, :] - (design @ beta)[:, None]) / 2))
        edge = np.zeros((len(design), 1))
        return np.hstack([edge, inner, edge + 1]), np.hstack([edge, inner * (1 - inner), edge])

    def mean(self, theta: Floats, design: Floats) -> Floats:
        return np.asarray(np.diff(self._cumulative(theta, design)[0], axis=1))

    def log_density(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        cumulative, density = self._cumulative(theta, design)
        total = np.maximum((self.seen * np.diff(cumulative, axis=1)).sum(axis=1), FLOOR)
        by_cut = density[:, 1:-1] * (self.seen[:, :-1] - self.seen[:, 1:]) / total[:, None]  # d log f / dτ_c
        return np.log(total), np.hstack([-by_cut.sum(axis=1, keepdims=True) * design, by_cut])


@dataclass(frozen=True, eq=False)
class Linear:
    """outcome = D·β + σ·N(0, 1); the last parameter is log σ.

    Attributes:
        outcome: n numbers.
        terms: names of the columns of the design.
    """

    outcome: Floats
    terms: list[str]

    @property
    def names(self) -> list[str]:
        return [*self.terms, "log(scale)"]

    def start(self) -> Floats:
        return np.append(np.zeros(len(self.terms)), math.log(max(float(self.outcome.std()), FLOOR)))

    def allows(self, theta: Floats) -> bool:
        return bool(np.isfinite(theta).all() and abs(theta[-1]) < 300)

    def mean(self, theta: Floats, design: Floats) -> Floats:
        return np.asarray(design @ theta[:-1])

    def log_density(self, theta: Floats, design: Floats) -> tuple[Floats, Floats]:
        scale = math.exp(float(theta[-1]))
        error = (self.outcome - design @ theta[:-1]) / scale
        slopes = np.hstack([(error / scale)[:, None] * design, (error**2 - 1)[:, None]])
        return -0.5 * error**2 - theta[-1] - 0.5 * math.log(2 * math.pi), slopes
