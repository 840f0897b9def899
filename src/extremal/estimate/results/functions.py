"""Functions of the frequencies: sums, means, ratios, anything smooth, the distribution function and its quantiles.

Standard errors are by the delta method, Var g(p̂) ≈ ∇gᵀ Cov ∇g: exact for linear functions.

F(x) = Σ_{z ≤ x} p_z is linear in the frequencies, so it has an unbiased estimate and limits of its own; under
randomised response a sum of frequencies is as binomial as a single one, and they are exact. Limits are made monotone,
which can only narrow them where monotonicity is known to hold: F is at least every earlier lower limit and at most
every later upper one. For one x at a time that keeps nothing from holding when all hold together, so it is done for
`simultaneous` limits only.

A quantile's interval holds the inputs that the limits of F do not exclude (Woodruff 1952): from the first x whose upper
limit reaches q to the one after the last whose lower limit does not. It misses only if F's limits miss at the quantile
or at the input before it, each on one side: with probability 1 − level.

Reference: Woodruff, JASA 47 (1952), 635–646.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.columns.lists import plain
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.intervals.levels import checked_level, each
from extremal.estimate.reports.degrees import Degrees, reach
from extremal.estimate.results import plot
from extremal.estimate.results.fit import Fit
from extremal.estimate.results.tabled import Tabled, as_frame, head, interval_name, pandas
from extremal.exact import in_order, pandas_index
from extremal.exact.weights import Floats
from extremal.mechanism.labels import Label
from extremal.mechanism.structures.structure import refuse_large
from extremal.tables import wrapped

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate

_STEP = 1e-6  # of the numerical gradient: half of the digits of a float, for functions of numbers between 0 and 1
_ZERO_SUM = 1e-9  # relative: a contrast's coefficients are decimals that people type
_MOST_AXES = 500  # inputs: evaluations of a function, two for each
_TANGENT = "Limits are those of the function's tangent at the estimate: rough where it bends within them."
_BENT = "Limits are those of the function's tangent at the estimate, with what its bend adds: rough for few reports."
_REACHED = 1e-12  # of a share: what rounding may take from a sum of frequencies that is q


@dataclass(frozen=True)
class FunctionEstimate(Tabled):
    """A function of the frequencies: `estimate` at the estimated ones, `centre` at the sign-free ones, with its
    `standard_error`. Limits of linear functions are those of `FrequencyEstimate.interval`, exact where the count behind
    them is binomial; ratios hold the r for which the numerator less r times the denominator may be zero
    (`intervals.ratios`); others are those of the tangent with what the bend adds. `about` says what it is, `n` of how
    many reports, `sample` how the respondents were drawn, `note` what else a reader should know."""

    estimate: float
    centre: float
    error: float
    limits: Callable[[float], tuple[float, float]] | None = field(default=None, repr=False, compare=False)
    degrees: Degrees | None = field(default=None, repr=False)
    about: str = "function"
    n: int = 0
    sample: str = ""
    note: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """`note`, if there is one."""
        return (self.note,) if self.note else ()

    @property
    def standard_error(self) -> float:  # type: ignore[override]  # one number, and so are `shown` and the limits
        """Of `centre`."""
        return self.error

    @property
    def labels(self) -> tuple[str]:
        """What it is, as the only row of a table."""
        return (self.about,)

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return self.about

    @property
    def covariance(self) -> Floats:
        """Its variance, as a matrix."""
        return np.array([[self.standard_error**2]])

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> tuple[float, float]:  # type: ignore[override]
        """Confidence limits (low, high); of one number they are simultaneous as they are."""
        if self.limits is not None:
            return self.limits(checked_level(level))
        half = reach(checked_level(level), self.degrees) * self.standard_error
        return self.centre - half, self.centre + half

    @property
    def shown(self) -> float:  # type: ignore[override]
        """The estimate, moved into its 95% interval."""
        low, high = self.interval()
        return min(max(self.estimate, low), high)

    def _keys(self) -> dict[str, list[Any]]:
        return {"statistic": [self.about]}

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"{self.shown:.6g} ± {self.error:.3g} (95% interval {low:.6g} to {high:.6g})"

    __str__ = __repr__


class Functions:
    """What can be asked of estimated frequencies: the part of `FrequencyEstimate` that makes functions of them."""

    n: int
    estimate: Floats
    centre: Floats
    fit: Fit

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words; `LinearEstimate` says it."""
        return ""

    @property
    def inputs(self) -> tuple[Label, ...]:
        """What was estimated: the labels, in order (or combinations of them, with merge=True)."""
        return self.fit.combinations.names

    def linear(self, coefficients: Mapping[Any, float] | Iterable[float]) -> FunctionEstimate:
        """Σ a_x p_x, with coefficients in the order of `inputs` or by label (0 where a mapping does not name them)."""
        return self._linear(coefficients, "linear function")

    def _linear(self, coefficients: Mapping[Any, float] | Iterable[float], about: str) -> FunctionEstimate:
        a = self._coefficients(coefficients)
        limits = partial(_limits, self.fit, a)
        value, centre = float(a @ self.estimate), float(a @ self.centre)
        return FunctionEstimate(value, centre, self._error(a), limits, None, about, self.n, self.sample)

    def mean(self, values: Mapping[Any, float] | Iterable[float] | None = None) -> FunctionEstimate:
        """The mean of a number attached to each input; the labels themselves if they are numbers."""
        if values is None:
            if not all(isinstance(label, int) for label in self.inputs):
                raise InvalidParameter(
                    "a mean needs a number for each input",
                    parameter="values",
                    value=None,
                    hint="Give values in the order of result.inputs.",
                )
            values = [float(label) for label in self.inputs if isinstance(label, int)]
        elif isinstance(values, Mapping) and len(values) < len(self.inputs):
            raise InvalidParameter(
                "a mean needs a number for each input",
                parameter="missing",
                value=next(label for label in self.inputs if label not in values),
                hint="Use linear for partial sums.",
            )
        return self._linear(in_order(values, "values", self.inputs), "mean")

    def total(self, population: float, values: Mapping[Any, float] | Iterable[float] | None = None) -> FunctionEstimate:
        """The mean times the size of the population."""
        if not (np.isfinite(population) and population > 0):
            raise InvalidParameter("population must be a positive number", parameter="population", value=population)
        if population < self.n:
            raise InvalidParameter(
                "a population must be at least as large as its sample",
                parameter="population",
                value=population,
                hint=f"There are {self.n} reports.",
            )
        one = self.mean(values)

        def limits(level: float) -> tuple[float, float]:
            low, high = one.interval(level)
            return low * population, high * population

        value, centre, error = (part * population for part in (one.estimate, one.centre, one.error))
        return FunctionEstimate(value, centre, error, limits, None, "total", self.n, self.sample)

    def contrast(self, coefficients: Mapping[Any, float] | Iterable[float]) -> FunctionEstimate:
        """Σ a_x p_x with coefficients that sum to zero, such as {"yes": 1, "no": −1}."""
        a = self._coefficients(coefficients)
        if abs(a.sum()) > _ZERO_SUM * np.abs(a).sum():
            raise InvalidParameter(
                "the coefficients of a contrast must sum to zero",
                parameter="sum",
                value=float(a.sum()),
                hint="Use linear for other combinations.",
            )
        return self._linear(a, "contrast")

    def ratio(self, numerator: Any, denominator: Any) -> FunctionEstimate:
        """A ratio of two sums; each is a label, a list of labels, or coefficients by label."""
        a, b = self._group(numerator), self._group(denominator)
        top, bottom = float(a @ self.centre), float(b @ self.centre)
        if bottom == 0 or float(b @ self.estimate) == 0:
            raise InvalidParameter(
                "the denominator must not be estimated as zero", parameter="denominator", value=denominator
            )
        bounds = -np.inf, np.inf
        if (b >= 0).all() and (a[b == 0] == 0).all():  # a mean of ratios
            bounds = float((a[b > 0] / b[b > 0]).min()), float((a[b > 0] / b[b > 0]).max())
        return FunctionEstimate(
            float(a @ self.estimate) / float(b @ self.estimate),
            top / bottom,
            self._error((a - top / bottom * b) / bottom),
            partial(self.fit.ratio_limits, np.stack([a, b]), bounds),
            about="ratio",
            n=self.n,
            sample=self.sample,
        )

    def function(
        self, of: Callable[[Floats], float], gradient: Callable[[Floats], Any] | None = None
    ) -> FunctionEstimate:
        """Any smooth function of the frequencies; the gradient is taken numerically if not given.

        Limits are centre ± z·s.e. of the function's tangent, with what its bend adds: ½Σb_j² + (½Σb_j)², b_j the second
        difference over a standard deviation along each principal axis of the estimate. That is what is left where the
        tangent is flat, as of Σp² near equal frequencies.
        """
        at = self.centre
        if gradient is not None:
            slope = np.asarray(in_order(gradient(at.copy()), "gradient", self.inputs), dtype=np.float64)
            if slope.shape != at.shape:
                raise InvalidParameter(
                    f"the gradient must have {at.size} entries", parameter="gradient.shape", value=slope.shape
                )
        else:
            slope = np.array([_difference(of, at, x) for x in range(at.size)])
        value = float(of(at.copy()))
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            raise InvalidParameter(
                "the function must be finite and smooth at the estimate", parameter="value", value=value
            )
        bend, error = self._bend(of, value), self._error(slope)
        return FunctionEstimate(
            float(of(self.estimate.copy())),
            value,
            error,
            partial(self._curved_limits, slope, value, error, bend or 0.0),
            self.fit.degrees,
            n=self.n,
            sample=self.sample,
            note=_TANGENT if bend is None else _BENT,
        )

    def _curved_limits(
        self, slope: Floats, value: float, error: float, bend: float, level: float
    ) -> tuple[float, float]:
        """Around a value: as far as those of the tangent, with a bend, which grows with the variance."""
        half, far = float(self.fit.half(slope[None, :], level)[0]), reach(level, self.fit.degrees)
        grown = half / (far * error) if error > 0 else 1.0
        whole = float(np.hypot(half, far * bend * grown**2))
        return value - whole, value + whole

    def _bend(self, of: Callable[[Floats], float], value: float) -> float | None:
        """The error of a function that its tangent leaves out; None where inputs are many, or the function ends."""
        at = self.centre
        if at.size > _MOST_AXES:
            return None
        sizes, axes = np.linalg.eigh(self.fit.covariance(None))
        steps = (axes * np.sqrt(np.maximum(sizes, 0.0))).T
        try:
            with np.errstate(all="ignore"):
                second = np.array([float(of(at + step)) + float(of(at - step)) - 2 * value for step in steps])
        except (ValueError, ArithmeticError):  # a logarithm of less than nothing
            return None
        found = float(np.sqrt(second @ second / 2 + second.sum() ** 2 / 4))
        return found if np.isfinite(found) else None

    def _error(self, gradient: Floats) -> float:
        return float(np.sqrt(self.fit.variances(gradient[None, :])[0]))

    def _group(self, group: Any) -> Floats:
        """A label, a list of labels, or coefficients by label."""
        if isinstance(group, Mapping) or pandas_index(group) is not None:
            return self._coefficients(group)
        return self._coefficients(dict.fromkeys(group if isinstance(group, (list, set, frozenset)) else [group], 1.0))

    def _coefficients(self, given: Mapping[Any, float] | Iterable[float]) -> Floats:
        if isinstance(given, Mapping):
            where = {(type(label), label): x for x, label in enumerate(self.inputs)}
            a = np.zeros(len(self.inputs))
            for label, value in given.items():
                key = (type(plain(label)), plain(label))
                if key not in where:
                    raise UnknownLabel("coefficients must be for estimated inputs", parameter="label", value=label)
                a[where[key]] = value
        else:
            a = np.asarray(list(in_order(given, "coefficients", self.inputs)), dtype=np.float64)
        if a.shape != (len(self.inputs),):
            raise InvalidParameter(
                f"there must be {len(self.inputs)} numbers, one for each input", parameter="shape", value=a.shape
            )
        if not np.isfinite(a).all():
            raise InvalidParameter("the numbers must be finite", parameter="coefficients", value=a[:8].tolist())
        return a


def _limits(fit: Fit, coefficients: Floats, level: float) -> tuple[float, float]:
    low, high = fit.limits(coefficients[None, :], level)[0].tolist()
    return float(low), float(high)


def _difference(of: Callable[[Floats], float], at: Floats, x: int) -> float:
    up, down = at.copy(), at.copy()
    up[x] += _STEP
    down[x] -= _STEP
    return (float(of(up)) - float(of(down))) / (2 * _STEP)


@dataclass(frozen=True)
class QuantileEstimate:
    """The input at quantile `q`, and the inputs from `low` to `high` that the reports do not exclude at `level`.

    Labels have no standard error; the rest is as every result has it, at `level` where no other is asked for.
    """

    q: float
    estimate: Label
    low: Label
    high: Label
    level: float
    cdf: CDFEstimate = field(repr=False, compare=False)

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"quantile {self.q:g}"

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.cdf.n

    @property
    def nobs(self) -> int:
        """`n`, by the name that statsmodels gives it."""
        return self.n

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words."""
        return self.cdf.sample

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the reports, in sentences."""
        return self.cdf.notes

    @property
    def params(self) -> Any:
        """The input, a pandas Series."""
        return pandas().Series([self.estimate], index=[self.title])

    def interval(self, level: float | None = None, simultaneous: bool = False) -> tuple[Label, Label]:
        """The first and the last input that the reports do not exclude; of one quantile simultaneous as it is."""
        found = self._at(level)
        return found.low, found.high

    def conf_int(self, alpha: float | None = None) -> Any:
        """`interval(1 − alpha)`, a pandas DataFrame (as statsmodels has it)."""
        limits = self.interval(None if alpha is None else 1 - alpha)
        return pandas().DataFrame([limits], index=[self.title], columns=[0, 1])

    def to_frame(self, level: float | None = None, simultaneous: bool = False, library: str = "pandas") -> Any:
        """A data frame with one row; `library` is "pandas", "polars" or "pyarrow"."""
        found = self._at(level)
        row = {"statistic": self.title, "shown": found.estimate, "low": found.low, "high": found.high}
        return as_frame({name: [value] for name, value in row.items()}, library)

    def summary(self, level: float | None = None, simultaneous: bool = False) -> str:
        """With the head of every summary."""
        notes = [wrapped(f"Note: {note}") for note in self.notes]
        return "\n".join([f"{head(f'Estimate: {self.title}', self.n, self.sample)}: {self._at(level)!r}", *notes])

    def _at(self, level: float | None) -> QuantileEstimate:
        return self if level is None else self.cdf.quantile(self.q, level)

    def __repr__(self) -> str:
        return f"{self.estimate!r} ({100 * self.level:.4g}% interval {self.low!r} to {self.high!r})"


class CDFEstimate(Tabled):
    """The estimated distribution function over the inputs in their order, from `FrequencyEstimate.cdf()`."""

    column = "cdf"

    def __init__(self, result: FrequencyEstimate) -> None:
        self.result = result
        self.inputs = result.inputs
        self.n = result.n
        refuse_large(len(self.inputs), len(self.inputs), "the distribution function")

    @property
    def labels(self) -> tuple[Label, ...]:
        """The inputs."""
        return self.inputs

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return "distribution function"

    @property
    def estimate(self) -> Floats:
        """Cumulative sums of the method's estimate: unbiased by default, then not always between 0 and 1."""
        return np.cumsum(self.result.estimate)

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words."""
        return self.result.sample

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the reports, in sentences."""
        return self.result.fit.notes

    def shown_within(self, limits: Floats) -> Floats:
        """Monotone, and inside these limits where a monotone function is: cumulative sums of the plausible frequencies,
        moved into them.

        Limits of single points need not be monotone; made so (a lower limit at least every earlier one, an upper limit
        at most every later one) they hold a monotone function unless two of them contradict each other.
        """
        low = np.maximum.accumulate(limits[:, 0])
        high = np.maximum(np.minimum.accumulate(limits[::-1, 1])[::-1], low)
        moved = np.clip(np.cumsum(self.result.candidate[1]), low, high)
        return np.asarray(np.clip(np.maximum.accumulate(moved), 0.0, 1.0))

    @property
    def standard_error(self) -> Floats:
        """Of each cumulative sum of the sign-free frequencies."""
        error = np.sqrt(np.maximum(self.result.fit.variances(self._rows), 0.0))
        error[-1] = 0.0
        return error

    @property
    def covariance(self) -> Floats:
        """Of the cumulative sums of the sign-free frequencies."""
        return self.result.fit.covariance(self._rows)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Limits of each F(x); `simultaneous`: a band that holds the whole function."""
        count = len(self.inputs) - 1
        limits = self.result.fit.limits(self._rows, each(level, max(count, 1) if simultaneous else 1))
        if simultaneous:
            limits[:, 0] = np.maximum.accumulate(limits[:, 0])
            limits[:, 1] = np.minimum.accumulate(limits[::-1, 1])[::-1]
        return limits

    def quantile(self, q: float = 0.5, level: float = 0.95) -> QuantileEstimate:
        """The first input with F(x) ≥ q, and Woodruff's interval."""
        if not 0 < q < 1:
            raise InvalidParameter("q must lie between 0 and 1", parameter="q", value=q, hint="The median is 0.5.")
        limits = self.interval(level)
        low = self._first(limits[:, 1], q)
        excluded = np.flatnonzero(limits[:, 0] < q)  # F may still be below q there
        high = int(excluded[-1]) + 1 if excluded.size else 0
        at = min(max(self._first(self.shown, q), low), high)
        return QuantileEstimate(q, self.inputs[at], self.inputs[low], self.inputs[high], level, self)

    def plot(self, level: float = 0.95, simultaneous: bool = False, ax: Any = None) -> Any:
        """Steps with a band: a matplotlib figure, new or that of the given Axes."""
        limits = self.interval(level, simultaneous)
        kind = interval_name(level, simultaneous)
        return plot.plot_steps(self.inputs, self.shown_within(limits), limits, self.head, kind, ax)

    @property
    def _rows(self) -> Floats:
        return np.tri(len(self.inputs))

    @staticmethod
    def _first(values: Floats, q: float) -> int:
        reached = np.flatnonzero(values >= q - _REACHED)
        return int(reached[0]) if reached.size else len(values) - 1
