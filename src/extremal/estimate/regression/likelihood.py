"""The log-likelihood of a regression in which the outcome, a covariate or both were privatised.

A privatised covariate X is summed out: L_i = log Σ_x ω_x(W_i)·Q(y_i|x)·f(outcome_i | D_i(x)), D_i(x) the design with x
in place of the report and ω the distribution of X given the public covariates W, a multinomial logit that is fitted
along; that part, and so the coefficient, is identified because Q is known. With r the distribution of X given all that
was seen of i, the score is the mean under r of the scores given x, and the second derivatives follow from Louis's
identity (1982): mean of the second derivatives plus the covariance of the scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from extremal.estimate.regression.outcomes import FLOOR, OutcomeFamily, ProportionalOdds, logit_hessian, with_baseline
from extremal.exact.weights import Floats, Indices


@dataclass(frozen=True, eq=False)
class Hidden:
    """A privatised covariate.

    Attributes:
        seen: n × k, Q(y_i|x).
        given: W, the public covariates that its distribution may depend on (n × columns).
        names: of its parameters.
    """

    seen: Floats
    given: Floats
    names: list[str]

    def predictors(self, before: int) -> Iterator[Floats]:
        """As of a family; `before` parameters stand in front."""
        width = self.given.shape[1]
        for x in range(self.seen.shape[1] - 1):
            found = np.zeros((len(self.given), before + len(self.names)))
            found[:, before + x * width : before + (x + 1) * width] = self.given
            yield found


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Σ_i w_i·log P(what was seen of i).

    Attributes:
        family: the outcome given the design.
        designs: one design (n × P), or one for each value of the hidden covariate.
        weights: n, mean 1.
        hidden: the privatised covariate, or None.
    """

    family: OutcomeFamily
    designs: list[Floats]
    weights: Floats
    hidden: Hidden | None = None

    @property
    def names(self) -> list[str]:
        return [*self.family.names, *(self.hidden.names if self.hidden else [])]

    def start(self) -> Floats:
        return np.append(self.family.start(), np.zeros(len(self.hidden.names) if self.hidden else 0))

    def allows(self, theta: Floats) -> bool:
        return bool(np.isfinite(theta).all()) and self.family.allows(self.split(theta)[0])

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """(parameters of the outcome, those of the hidden covariate)."""
        size = len(theta) - (len(self.hidden.names) if self.hidden else 0)
        return theta[:size], theta[size:]

    def rows(self, theta: Floats) -> tuple[Floats, Floats]:
        """The log-likelihood of each row, without its weight, and its scores."""
        beta, gamma = self.split(theta)
        if self.hidden is None:
            return self.family.log_density(beta, self.designs[0])
        logs, posterior, chances, scores = self._mixture(self.hidden, beta, gamma)
        slopes = np.einsum("nx,xnp->np", posterior, scores)
        spread = (posterior - chances)[:, 1:, None] * self.hidden.given[:, None, :]
        return logs, np.hstack([slopes, spread.reshape(len(slopes), -1)])

    def value(self, theta: Floats) -> float:
        return float(self.weights @ self.rows(theta)[0])

    def gradient(self, theta: Floats) -> Floats:
        return np.asarray(self.weights @ self.rows(theta)[1])

    def information(self, theta: Floats) -> Floats:
        """Minus the matrix of second derivatives."""
        beta, gamma = self.split(theta)
        if self.hidden is None:
            return -self.family.hessian(beta, self.designs[0], self.weights)
        _, posterior, chances, scores = self._mixture(self.hidden, beta, gamma)
        mean = np.einsum("nx,xnp->np", posterior, scores)
        size = len(beta)
        found = np.zeros((len(theta), len(theta)))
        width = self.hidden.given.shape[1]
        for x, design in enumerate(self.designs):
            shares = self.weights * posterior[:, x]
            away = scores[x] - mean
            found[:size, :size] += self.family.hessian(beta, design, shares) + away.T @ (shares[:, None] * away)
            if x:
                columns = slice(size + (x - 1) * width, size + x * width)
                found[:size, columns] = away.T @ (shares[:, None] * self.hidden.given)
                found[columns, :size] = found[:size, columns].T
        found[size:, size:] = logit_hessian(posterior, chances, self.hidden.given, self.weights)
        return -found

    @property
    def terms(self) -> int:
        """How many coefficients an outcome's predictor has, its constant included."""
        return int(self.designs[0].shape[1]) + isinstance(self.family, ProportionalOdds)

    def answers(self, theta: Floats) -> Floats:
        """The chances of each true answer of the privatised column, given all that was seen but its report (n × k)."""
        beta, gamma = self.split(theta)
        if self.hidden is None:
            return self.family.mean(beta, self.designs[0])
        unseen = replace(self.hidden, seen=np.ones_like(self.hidden.seen))
        return self._mixture(unseen, beta, gamma)[1]

    def seeing(self, probabilities: Floats) -> Likelihood:
        """The same if everybody had made the report with these probabilities given each true answer."""
        seen = np.tile(probabilities, (len(self.weights), 1))
        if self.hidden is not None:
            return replace(self, hidden=replace(self.hidden, seen=seen))
        return replace(self, family=replace(self.family, observed=seen))  # type: ignore[type-var]

    def within(self, rows: Indices) -> Likelihood:
        """Of these rows alone."""
        family = replace(self.family, observed=self.family.observed[rows])  # type: ignore[type-var]
        hidden = self.hidden
        if hidden is not None:
            hidden = replace(hidden, seen=hidden.seen[rows], given=hidden.given[rows])
        return Likelihood(family, [design[rows] for design in self.designs], self.weights[rows], hidden)

    def averaged(self) -> Likelihood:
        """The same if everybody had the mean covariates."""

        def mean(values: Floats) -> Floats:
            return np.tile(np.average(values, axis=0, weights=self.weights), (len(values), 1))

        hidden = None if self.hidden is None else replace(self.hidden, given=mean(self.hidden.given))
        return replace(self, designs=[mean(design) for design in self.designs], hidden=hidden)

    def predictors(self) -> Iterator[Floats]:
        """Every linear predictor as a linear map of all parameters."""
        beta, gamma = self.split(self.start())
        for design in self.designs:
            for block in self.family.predictors(design):
                yield np.hstack([block, np.zeros((len(block), len(gamma)))])
        if self.hidden is not None:
            yield from self.hidden.predictors(len(beta))

    def _mixture(self, hidden: Hidden, beta: Floats, gamma: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Log-likelihoods (n), r (n × k), ω (n × k) and the scores given x (k × n × P)."""
        parts = [self.family.log_density(beta, design) for design in self.designs]
        chances = with_baseline(gamma, hidden.given)
        logs = np.stack([part[0] for part in parts], axis=1) + np.log(np.maximum(chances * hidden.seen, FLOOR))
        top = logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs - top)
        total = posterior.sum(axis=1, keepdims=True)
        return (top + np.log(total))[:, 0], posterior / total, chances, np.stack([part[1] for part in parts])
