"""What a regression returns: coefficients with their covariance, in the words of statsmodels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.hypothesis_tests.reports import significance
from extremal.estimate.intervals.levels import each
from extremal.estimate.regression.likelihood import Likelihood
from extremal.estimate.regression.outcomes import Linear
from extremal.estimate.reports.degrees import Degrees, reach
from extremal.estimate.results.tabled import Tabled, framed
from extremal.exact.weights import Floats
from extremal.tables import aligned, number


@dataclass(frozen=True, eq=False)
class RegressionResult(Tabled):
    """A fitted regression.

    Attributes:
        formula: as given.
        model: in words.
        names: of the parameters, in order; those of the distribution of a privatised covariate come last.
        values: the maximum-likelihood estimates.
        spread: the covariance of the estimates.
        llf: the log-likelihood at the maximum (of the reports, so comparable between models for the same reports).
        n: number of rows.
        assumed: sentences on what was assumed.
        drawn_as: how the respondents were drawn, in a few words; empty for a simple sample.
        degrees: how well units show each variance, where they are few enough to matter.
    """

    formula: str
    model: str
    names: list[str]
    values: Floats
    spread: Floats
    llf: float
    n: int
    assumed: tuple[str, ...]
    likelihood: Likelihood = field(repr=False)
    design_of: Any = field(repr=False)
    drawn_as: str = ""
    degrees: Degrees | None = None

    column = "coef"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(self.names)

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"{self.model}: {self.formula}"

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words; empty for a simple sample."""
        return self.drawn_as

    @property
    def estimate(self) -> Floats:
        """The maximum-likelihood estimates."""
        return self.values

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was assumed, and on coefficients that units are too few for."""
        return self.assumed if self.degrees is None else (*self.assumed, *_too_few(self.names, self.degrees))

    @property
    def covariance(self) -> Floats:
        """Of the estimates."""
        return self.spread

    @property
    def standard_error(self) -> Floats:
        """Standard errors, in the order of `names`."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def tvalues(self) -> Any:
        """Coefficient over standard error, by name."""
        return self.params / self.bse

    @property
    def pvalues(self) -> Any:
        """Two-sided p-values of a coefficient of 0, by name."""
        from scipy.special import ndtr, stdtr

        tails = -np.abs(self.tvalues)
        if self.degrees is None:
            return 2 * ndtr(tails)
        return 2 * stdtr(self.degrees.number, tails * np.sqrt(self.degrees.seen))

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Intervals, one row for each parameter; `simultaneous` by Bonferroni."""
        half = reach(each(level, len(self.names) if simultaneous else 1), self.degrees) * self.standard_error
        return np.stack([self.values - half, self.values + half], axis=1)

    @property
    def aic(self) -> float:
        """2·(number of parameters) − 2·llf."""
        return 2 * len(self.names) - 2 * self.llf

    @property
    def bic(self) -> float:
        """log(n)·(number of parameters) − 2·llf."""
        return math.log(self.n) * len(self.names) - 2 * self.llf

    def predict(self, frame: Any = None) -> Any:
        """Probabilities of the *true* categories, a DataFrame with a column for each, or expected values, a Series.

        For a privatised covariate `frame` holds true values, not reports. None: the rows that were fitted, when no
        covariate was privatised.
        """
        import pandas

        beta, _ = self.likelihood.split(self.values)
        if frame is None and self.likelihood.hidden is not None:
            raise InvalidParameter(
                "a prediction needs the true value of a covariate that was privatised",
                parameter="frame",
                value=None,
                hint="Give a frame with the values to predict for.",
            )
        design = self.likelihood.designs[0] if frame is None else self.design_of(frame)
        mean = self.likelihood.family.mean(beta, design)
        family = self.likelihood.family
        if isinstance(family, Linear):
            return pandas.Series(mean)
        return pandas.DataFrame(mean, columns=family.categories)  # type: ignore[attr-defined]

    def compare(self, smaller: RegressionResult, alpha: float = 0.05) -> TestResult:
        """Likelihood-ratio test of a model nested in this one: does it lose more than chance explains?

        Guarantee: for large n the statistic is χ² if the smaller model holds (Wilks 1938). To test the coefficient of a
        privatised covariate, fit the smaller model with the same `mechanism=` and a formula without the covariate, so
        that both are likelihoods of the same reports.

        Raises:
            InvalidParameter: other data, not nested, or survey weights, with which the limit is not χ².
        """
        from scipy.special import chdtrc

        if self.drawn_as or smaller.drawn_as:
            raise InvalidParameter(
                "likelihood ratios have no χ² limit with survey weights or clusters",
                parameter="sample",
                hint="Use pvalues.",
            )
        freedom = len(self.names) - len(smaller.names)
        refuse_not_nested(self.likelihood, smaller.likelihood, freedom, smaller.formula)
        statistic = max(0.0, 2 * (self.llf - smaller.llf))
        return TestResult(
            f"{smaller.formula} holds, within {self.formula}",
            statistic,
            freedom,
            float(chdtrc(freedom, statistic)),
            significance(alpha),
            "limiting χ² distribution",
            self.n,
        )

    def summary(self, level: float = 0.95, simultaneous: bool = False) -> str:
        """A table as statsmodels prints it: coefficient, standard error, z (Student's t with few clusters), p,
        interval."""
        rows = []
        for name, value, error, (low, high), p in zip(
            self.names, self.values, self.standard_error, self.interval(level, simultaneous), self.pvalues, strict=True
        ):
            rows.append(
                [name, *(number(v, 4) for v in (value, error)), f"{value / error:.3f}", f"{p:.3f}"]
                + [number(v, 4) for v in (low, high)]
            )
        likelihood = f"log-likelihood {number(self.llf, 7)}, AIC {number(self.aic, 7)}"
        z = "z" if self.degrees is None else "t"
        table = aligned(["", "coef", "std err", z, f"P>|{z}|", *self._ends(level)], rows, left=1)
        return framed(self.head, [*table.split("\n"), likelihood], list(self.notes))

    def _keys(self) -> dict[str, list[Any]]:
        return {"term": list(self.names)}

    @staticmethod
    def _ends(level: float) -> list[str]:
        return [f"[{(1 - level) / 2:.4g}", f"{(1 + level) / 2:.4g}]"]

    def __repr__(self) -> str:
        return f"RegressionResult({self.formula!r}, n={self.n}, llf={self.llf:.6g})"


def _too_few(names: list[str], degrees: Degrees) -> tuple[str, ...]:
    few = [name for name, number in zip(names, degrees.number, strict=True) if not number >= 1]
    if not few:
        return ()
    return (f"units are too few for intervals and p-values of {', '.join(few)}: no degrees of freedom are left",)


def refuse_not_nested(larger: Likelihood, smaller: Likelihood, freedom: int, formula: str) -> None:
    """Raise unless both are for the same data and the smaller one's designs lie in the span of the larger one's."""
    if not _same_data(larger, smaller):
        raise InvalidParameter(
            "the models to compare must be for the same data: the same outcome, the same privatised columns",
            parameter="smaller",
            value=formula,
            hint="To leave a privatised covariate out of the formula, keep it in mechanism=.",
        )
    pairs = [(np.vstack(larger.designs), np.vstack(smaller.designs))]
    if larger.hidden is not None and smaller.hidden is not None:
        pairs.append((larger.hidden.given, smaller.hidden.given))
    if freedom <= 0 or not all(_spans(big, small) for big, small in pairs):
        raise InvalidParameter(
            "the model to compare with must be nested: its terms are combinations of this one's, and fewer",
            parameter="smaller",
            value=formula,
        )


def _same_data(one: Likelihood, other: Likelihood) -> bool:
    """Whether two models are for the same outcome and the same privatised columns."""
    if type(one.family) is not type(other.family) or not np.array_equal(one.family.observed, other.family.observed):
        return False
    if one.hidden is None or other.hidden is None:
        return one.hidden is other.hidden
    return np.array_equal(one.hidden.seen, other.hidden.seen)


def _spans(big: Floats, small: Floats) -> bool:
    """Whether the columns of `small` are combinations of those of `big`."""
    if not small.size:
        return True
    if not big.size:
        return False
    sizes = np.linalg.norm(big, axis=0)
    found = np.linalg.lstsq(big / np.where(sizes > 0, sizes, 1.0), small, rcond=None)[0]
    left = small - big / np.where(sizes > 0, sizes, 1.0) @ found
    return bool((np.linalg.norm(left, axis=0) <= 1e-8 * np.linalg.norm(small, axis=0)).all())
