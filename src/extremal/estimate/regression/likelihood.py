"""The log-likelihood of a regression in which the outcome, a covariate or both were privatised, and its maximum.

A privatised covariate X is summed out: L_i = log Σ_x ω_x(W_i)·Q(y_i|x)·f(outcome_i | D_i(x)), D_i(x) the design with x
in place of the report and ω the distribution of X given the public covariates W, a multinomial logit that is fitted
along. Scores are analytic; the matrix of second derivatives is their central difference, accurate to about 1e-9. The
search is Newton's method with a damping that is raised until the likelihood rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from extremal.errors import NotIdentified
from extremal.estimate.regression.outcomes import FLOOR, Family, softmax
from extremal.exact.weights import Floats

MOST_STEPS = 200
TOLERANCE = 1e-10
"""Newton decrement per report at which the search stops: the log-likelihood is then within about this of its maximum."""
DIFFERENCE = 1e-5  # step of the central differences: truncation and rounding are both about 1e-10 there
WORST_CONDITION = 1e10
"""Scaled information matrices beyond this count as singular: a direction in which the likelihood is flat to 10 digits."""
FARTHEST = 25.0
"""A predictor beyond ±25 has probabilities of 1e-11: the data separate, and the maximum is at infinity."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """A privatised covariate.

    Attributes:
        seen: n × k, Q(y_i|x).
        given: W, the public covariates that its distribution may depend on (n × columns).
    """

    seen: Floats
    given: Floats

    @property
    def size(self) -> int:
        """Number of parameters of its distribution."""
        return (self.seen.shape[1] - 1) * self.given.shape[1]

    def chances(self, gamma: Floats) -> Floats:
        """ω, n × k."""
        eta = self.given @ gamma.reshape(self.seen.shape[1] - 1, -1).T
        return softmax(np.hstack([np.zeros((len(eta), 1)), eta]))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Σ_i w_i·log P(what was seen of i).

    Attributes:
        family: the outcome given the design.
        designs: one design (n × P), or one for each value of the hidden covariate.
        weights: n, mean 1.
        hidden: the privatised covariate, or None.
    """

    family: Family
    designs: list[Floats]
    weights: Floats
    hidden: Hidden | None = None

    def start(self) -> Floats:
        return np.append(self.family.start(), np.zeros(self.hidden.size if self.hidden else 0))

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """(parameters of the outcome, those of the hidden covariate)."""
        size = len(theta) - (self.hidden.size if self.hidden else 0)
        return theta[:size], theta[size:]

    def rows(self, theta: Floats) -> tuple[Floats, Floats]:
        """The log-likelihood of each row, without its weight, and its scores."""
        beta, gamma = self.split(theta)
        parts = [self.family.log_density(beta, design) for design in self.designs]
        if self.hidden is None:
            return parts[0]
        chances = self.hidden.chances(gamma)
        logs = np.stack([part[0] for part in parts], axis=1) + np.log(np.maximum(chances * self.hidden.seen, FLOOR))
        top = logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs - top)
        total = posterior.sum(axis=1, keepdims=True)
        posterior = posterior / total
        slopes = sum(posterior[:, [x]] * part[1] for x, part in enumerate(parts))
        spread = ((posterior - chances)[:, 1:, None] * self.hidden.given[:, None, :]).reshape(len(posterior), -1)
        return (top + np.log(total))[:, 0], np.hstack([slopes, spread])

    def value(self, theta: Floats) -> float:
        return float(self.weights @ self.rows(theta)[0])

    def gradient(self, theta: Floats) -> Floats:
        return np.asarray(self.weights @ self.rows(theta)[1])

    def information(self, theta: Floats) -> Floats:
        """Minus the matrix of second derivatives."""
        columns = []
        for i in range(len(theta)):
            step = DIFFERENCE * max(1.0, abs(float(theta[i])))
            ahead, behind = theta.copy(), theta.copy()
            ahead[i] += step
            behind[i] -= step
            columns.append((self.gradient(behind) - self.gradient(ahead)) / (2 * step))
        found = np.array(columns)
        return np.asarray((found + found.T) / 2)


def maximised(likelihood: Likelihood, names: list[str]) -> tuple[Floats, Floats]:
    """The maximiser and the information there.

    Raises:
        NotIdentified: the likelihood is flat in some direction, or rises for ever (separation).
    """
    theta = likelihood.start()
    value, damping = likelihood.value(theta), 1e-3
    n = len(likelihood.weights)
    for _ in range(MOST_STEPS):
        gradient, information = likelihood.gradient(theta), likelihood.information(theta)
        scale = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-12 * n))
        while True:
            lifted = information / np.outer(scale, scale) + damping * np.eye(len(theta))
            sizes, directions = np.linalg.eigh(lifted)
            step = directions @ ((directions.T @ (gradient / scale)) / np.maximum(np.abs(sizes), 1e-8)) / scale
            ahead = theta + step
            reached = likelihood.value(ahead) if likelihood.family.allows(likelihood.split(ahead)[0]) else -np.inf
            if reached >= value or damping > 1e8:
                break
            damping = max(damping * 8, 1e-6)
        decrement = float(gradient @ step)
        if damping > 1e8:
            break
        theta, value, damping = ahead, reached, damping / 10 if damping > 1e-12 else 0.0
        if decrement <= TOLERANCE * n:
            break
    information = likelihood.information(theta)
    _refuse_flat(likelihood, theta, information, names)
    return theta, information


def _refuse_flat(likelihood: Likelihood, theta: Floats, information: Floats, names: list[str]) -> None:
    beta, _ = likelihood.split(theta)
    scale = np.sqrt(np.maximum(np.diag(information), 0.0))
    flat = [name for name, s in zip(names, scale, strict=True) if not s > 1e-7 * max(float(scale.max()), 1e-300)]
    if not flat:
        sizes, directions = np.linalg.eigh(information / np.outer(scale, scale))
        if sizes[0] <= float(sizes[-1]) / WORST_CONDITION:
            weights = np.abs(directions[:, 0])
            flat = [names[i] for i in np.argsort(-weights)[:4] if weights[i] > 0.05]
    far = float(np.abs(beta).max()) * float(max(np.abs(design).max() for design in likelihood.designs))
    if flat and far > FARTHEST:
        raise NotIdentified(
            "the data separate: the likelihood keeps rising as coefficients grow",
            parameter="formula",
            value=", ".join(flat),
            hint="Leave the term out, or merge categories that are never seen together.",
        )
    if flat:
        raise NotIdentified(
            "the reports do not determine these coefficients",
            parameter="formula",
            value=", ".join(flat),
            hint="Columns that add up to another one, a mechanism that merges categories, or too little data.",
        )
