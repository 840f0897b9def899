"""What a regression returns: coefficients with their covariance, in the words of statsmodels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.regression.likelihood import Likelihood
from extremal.exact.weights import Floats
from extremal.tables import aligned, number


@dataclass(frozen=True, eq=False)
class RegressionResult:
    """A fitted regression.

    Attributes:
        formula: as given.
        model: in words.
        names: of the parameters, in order; those of the distribution of a privatised covariate come last.
        values: the maximum-likelihood estimates.
        covariance: of the estimates.
        llf: the log-likelihood at the maximum (of the reports, so comparable between models for the same reports).
        n: number of rows.
        notes: sentences on what was assumed.
    """

    formula: str
    model: str
    names: list[str]
    values: Floats
    covariance: Floats
    llf: float
    n: int
    notes: tuple[str, ...]
    likelihood: Likelihood = field(repr=False)
    design_of: Any = field(repr=False)
    weighted: bool = False

    @cached_property
    def params(self) -> Any:
        """Coefficients by name, a pandas Series."""
        return self._series(self.values)

    @property
    def standard_error(self) -> Floats:
        """Standard errors, in the order of `names`."""
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def bse(self) -> Any:
        """Standard errors by name, a pandas Series."""
        return self._series(self.standard_error)

    @property
    def tvalues(self) -> Any:
        """Coefficient over standard error, by name."""
        return self._series(self.values / self.standard_error)

    @property
    def pvalues(self) -> Any:
        """Two-sided p-values of a coefficient of 0, by name."""
        from scipy.special import ndtr

        return self._series(2 * ndtr(-np.abs(self.values / self.standard_error)))

    def conf_int(self, alpha: float = 0.05) -> Any:
        """Intervals of confidence 1 − alpha, a pandas DataFrame (as statsmodels has it)."""
        import pandas

        low, high = self.interval(1 - alpha).T
        return pandas.DataFrame({0: low, 1: high}, index=self.names)

    def interval(self, level: float = 0.95) -> Floats:
        """Intervals, one row for each parameter."""
        from scipy.special import ndtri

        if not 0 < level < 1:
            raise InvalidParameter("level must lie strictly between 0 and 1", parameter="level", value=level)
        half = float(ndtri((1 + level) / 2)) * self.standard_error
        return np.stack([self.values - half, self.values + half], axis=1)

    def cov_params(self) -> Any:
        """The covariance matrix by name, a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.covariance, index=self.names, columns=self.names)

    @property
    def aic(self) -> float:
        """2·(number of parameters) − 2·llf."""
        return 2 * len(self.names) - 2 * self.llf

    @property
    def bic(self) -> float:
        """log(n)·(number of parameters) − 2·llf."""
        return math.log(self.n) * len(self.names) - 2 * self.llf

    def predict(self, frame: Any = None) -> Floats:
        """Probabilities of the true categories (rows × categories), or expected values, for the rows of `frame`.

        For a privatised covariate `frame` holds *true* values, not reports. None: the rows that were fitted, when no
        covariate was privatised.
        """
        beta, _ = self.likelihood.split(self.values)
        if frame is None:
            if self.likelihood.hidden is not None:
                raise InvalidParameter(
                    "a prediction needs the true value of a covariate that was privatised",
                    parameter="frame",
                    value=None,
                    hint="Give a frame with the values to predict for.",
                )
            return self.likelihood.family.mean(beta, self.likelihood.designs[0])
        return self.likelihood.family.mean(beta, self.design_of(frame))

    def compare(self, smaller: RegressionResult) -> tuple[float, int, float]:
        """Likelihood-ratio test of a model nested in this one: (statistic, degrees of freedom, p-value)."""
        from scipy.stats import chi2

        freedom = len(self.names) - len(smaller.names)
        if self.weighted or smaller.weighted:
            raise InvalidParameter(
                "likelihood ratios have no χ² limit with survey weights", parameter="weights", hint="Use pvalues."
            )
        if freedom <= 0 or smaller.n != self.n:
            raise InvalidParameter(
                "the model to compare with must be nested: the same rows, fewer parameters",
                parameter="smaller",
                value=smaller.formula,
            )
        statistic = max(0.0, 2 * (self.llf - smaller.llf))
        return statistic, freedom, float(chi2.sf(statistic, freedom))

    def summary(self) -> str:
        """A table as statsmodels prints it: coefficient, standard error, z, p, interval."""
        rows = []
        for name, value, error, (low, high), p in zip(
            self.names, self.values, self.standard_error, self.interval(), self.pvalues, strict=True
        ):
            rows.append(
                [name, f"{value:.4f}", f"{error:.4f}", f"{value / error:.3f}", f"{p:.3f}", f"{low:.3f}", f"{high:.3f}"]
            )
        head = [
            f"{self.model}: {self.formula}",
            f"{self.n} rows, log-likelihood {number(self.llf, 7)}, AIC {number(self.aic, 7)}",
        ]
        table = aligned(["", "coef", "std err", "z", "P>|z|", "[0.025", "0.975]"], rows, left=1)
        return "\n".join([*head, table, *self.notes])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"RegressionResult({self.formula!r}, n={self.n}, llf={self.llf:.6g})"

    def _series(self, values: Floats) -> Any:
        import pandas

        return pandas.Series(values, index=self.names)
