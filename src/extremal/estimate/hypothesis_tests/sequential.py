"""Stop as soon as the reports decide: Wald's sequential probability ratio test, with levels that hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.hypothesis_tests.likelihood_ratio import log_ratios, marginals, refuse_same
from extremal.estimate.hypothesis_tests.reports import coded, refuse_uncountable, significance
from extremal.estimate.results.tabled import head
from extremal.mechanism import Mechanism
from extremal.tables import number


class SequentialTest:
    """A running test of p0 against p1; feed it reports with `update` until `decision` is not None.

    S_n = Σ log M₁(y)/M₀(y). H₀ is rejected when S_n ≥ log(1/α), accepted when S_n ≤ log β.

    Guarantee: P₀(reject) ≤ α and P₁(accept) ≤ β. Under H₀ e^{S_n} is a non-negative martingale of mean at most 1, so it
    ever reaches 1/α with probability at most α (Ville 1939); the other side likewise. So it may be looked at
    after every report. Wald's own thresholds log((1−β)/α) and log(β/(1−α)) are a little closer and hold only up to
    overshoot; these hold.

    Attributes:
        n: reports used so far; those after the decision are not counted.
        statistic: S_n.
        decision: None, 0 (p0 accepted) or 1 (p0 rejected).
    """

    def __init__(self, mechanism: Mechanism, p0: Any, p1: Any, alpha: float, beta: float) -> None:
        self.alpha, self.beta = significance(alpha), significance(beta, "beta")
        self.mechanism = mechanism
        refuse_uncountable(mechanism)
        self._first, self._second = marginals(mechanism, p0, p1)
        self._ratios = log_ratios(self._first, self._second)
        self._excluded = (self._first == 0) & (self._second == 0)
        refuse_same(self._ratios)
        self.upper, self.lower = -math.log(self.alpha), math.log(self.beta)
        self.n, self.statistic = 0, 0.0
        self.decision: int | None = None

    def update(self, reports: Any) -> int | None:
        """Take further reports in the order in which they came; returns the decision, or None to go on."""
        values = reports if hasattr(reports, "__len__") and not isinstance(reports, (str, tuple)) else [reports]
        if self.decision is not None or not len(values):
            return self.decision
        codes = coded(values, self.mechanism)
        if self._excluded[codes].any():
            raise InvalidParameter(
                "the reports must be possible under one of the hypotheses",
                parameter=f"reports[{int(np.argmax(self._excluded[codes]))}]",
                hint="Give every input that may occur a positive probability.",
            )
        with np.errstate(invalid="ignore"):  # ∞ − ∞ comes only after the decision
            path = self.statistic + np.cumsum(self._ratios[codes])
        out = np.flatnonzero((path >= self.upper) | (path <= self.lower))
        used = int(out[0]) + 1 if out.size else len(path)
        self.n, self.statistic = self.n + used, float(path[used - 1])
        if out.size:
            self.decision = int(self.statistic >= self.upper)
        return self.decision

    def expected_n(self, under: int = 0) -> float:
        """About how many reports it takes under H₀ (0) or H₁ (1): threshold over drift (Wald 1945), no overshoot."""
        probabilities = self._second if under else self._first
        used = probabilities > 0
        drift = float(probabilities[used] @ self._ratios[used])
        return max(1.0, (self.upper if under else self.lower) / drift)

    def summary(self) -> str:
        """Where the test stands."""
        state = {None: "undecided", 0: "p0 is accepted", 1: "p0 is rejected"}[self.decision]
        return (
            f"{head('Test: sequential', self.n)}: {state}\n"
            f"  log-likelihood ratio {number(self.statistic, 6)} between {number(self.lower, 6)} and "
            f"{number(self.upper, 6)}\n"
            f"  false rejection at most {self.alpha:g}, false acceptance at most {self.beta:g}"
        )

    __str__ = summary

    def __repr__(self) -> str:
        return f"SequentialTest(n={self.n}, decision={self.decision})"


def sequential_test(mechanism: Mechanism, p0: Any, p1: Any, alpha: float = 0.05, beta: float = 0.05) -> SequentialTest:
    """Start a sequential probability ratio test of `p0` against `p1`; see `SequentialTest`.

    Guarantee: both error probabilities are at most alpha and beta, whenever it stops.

    Reference: A. Wald, *Sequential tests of statistical hypotheses* (1945).

    >>> import extremal as ex
    >>> running = ex.sequential_test(ex.randomized_response(2, 2), [0.9, 0.1], [0.1, 0.9])
    >>> running.update([1, 1, 1, 1, 1, 1]), running.n
    (1, 3)
    """
    return SequentialTest(mechanism, p0, p1, alpha, beta)
