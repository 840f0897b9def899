"""Functions of the frequencies, by the delta method: Var g(p̂) ≈ ∇gᵀ Cov ∇g; exact for linear functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.intervals.levels import checked_level, quantile
from extremal.exact.weights import Floats

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate
    from extremal.estimate.results.fit import Fit

_STEP = 1e-6  # of the numerical gradient: half of the digits of a float, for functions of numbers between 0 and 1
_ZERO_SUM = 1e-9  # relative: a contrast's coefficients are decimals that people type


@dataclass(frozen=True)
class FunctionEstimate:
    """A function of the frequencies: `estimate` at the estimated ones, `centre` at the sign-free ones, with its
    `standard_error`. Limits of linear functions are those of `FrequencyEstimate.interval`, exact where the count behind
    them is binomial; ratios have Fieller's; others are centre ± z·s.e."""

    estimate: float
    centre: float
    standard_error: float
    limits: Callable[[float], tuple[float, float]] | None = field(default=None, repr=False, compare=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence limits (low, high)."""
        if self.limits is not None:
            return self.limits(checked_level(level))
        reach = quantile(level) * self.standard_error
        return self.centre - reach, self.centre + reach

    @property
    def shown(self) -> float:
        """The estimate, moved into its 95% interval."""
        low, high = self.interval()
        return min(max(self.estimate, low), high)

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"{self.shown:.6g} ± {self.standard_error:.3g} (95% interval {low:.6g} to {high:.6g})"


def _limits(fit: Fit, coefficients: Floats, scale: float, level: float) -> tuple[float, float]:
    low, high = (fit.limits(coefficients[None, :], level)[0] * scale).tolist()
    return float(low), float(high)


def _fieller(fit: Fit, a: Floats, b: Floats, level: float) -> tuple[float, float]:
    """The r with |(a − rb)·p̂| ≤ z·s.e.(a − rb), cut to the range of a ratio whose denominator adds up frequencies."""
    centre = fit.combinations.of_rows(fit.centre)
    top, bottom = float(a @ centre), float(b @ centre)
    (aa, ab), (_, bb) = fit.covariance(np.stack([a, b])).tolist()
    q = quantile(level) ** 2
    square, half, constant = bottom**2 - q * bb, top * bottom - q * ab, top**2 - q * aa
    least, most = -np.inf, np.inf
    if (b >= 0).all() and (a[b == 0] == 0).all():
        least, most = float((a[b > 0] / b[b > 0]).min()), float((a[b > 0] / b[b > 0]).max())
    if square <= 0:  # the denominator may be zero for all that is known
        return least, most
    reach = np.sqrt(max(half**2 - square * constant, 0.0))
    low, high = (half - reach) / square, (half + reach) / square
    return float(np.clip(low, least, most)), float(np.clip(high, least, most))


def linear(result: FrequencyEstimate, coefficients: Mapping[Any, float] | Iterable[float]) -> FunctionEstimate:
    a = _coefficients(result, coefficients)
    return _linear(result, a)


def mean(result: FrequencyEstimate, values: Mapping[Any, float] | Iterable[float] | None) -> FunctionEstimate:
    if values is None:
        if not all(isinstance(label, int) for label in result.inputs):
            raise InvalidParameter(
                "a mean needs a number for each input",
                parameter="values",
                value=None,
                hint="Give values in the order of result.inputs.",
            )
        values = [float(label) for label in result.inputs if isinstance(label, int)]
    elif isinstance(values, Mapping) and len(values) < len(result.inputs):
        missing = next(label for label in result.inputs if label not in values)
        raise InvalidParameter(
            "a mean needs a number for each input",
            parameter="missing",
            value=missing,
            hint="Use linear for partial sums.",
        )
    return _linear(result, _coefficients(result, values))


def total(
    result: FrequencyEstimate, population: float, values: Mapping[Any, float] | Iterable[float] | None
) -> FunctionEstimate:
    if not (np.isfinite(population) and population > 0):
        raise InvalidParameter("population must be a positive number", parameter="population", value=population)
    one = mean(result, values)
    return FunctionEstimate(
        one.estimate * population,
        one.centre * population,
        one.standard_error * population,
        partial(_times, one, population),
    )


def _times(one: FunctionEstimate, scale: float, level: float) -> tuple[float, float]:
    low, high = one.interval(level)
    return low * scale, high * scale


def contrast(result: FrequencyEstimate, coefficients: Mapping[Any, float] | Iterable[float]) -> FunctionEstimate:
    a = _coefficients(result, coefficients)
    if abs(a.sum()) > _ZERO_SUM * np.abs(a).sum():
        raise InvalidParameter(
            "the coefficients of a contrast must sum to zero",
            parameter="sum",
            value=float(a.sum()),
            hint="Use linear for other combinations.",
        )
    return _linear(result, a)


def ratio(result: FrequencyEstimate, numerator: Any, denominator: Any) -> FunctionEstimate:
    a, b = _group(result, numerator), _group(result, denominator)
    below = float(b @ result.centre)
    if below == 0 or float(b @ result.estimate) == 0:
        raise InvalidParameter(
            "the denominator must not be estimated as zero", parameter="denominator", value=denominator
        )
    value = float(a @ result.centre) / below
    gradient = (a - value * b) / below
    return FunctionEstimate(
        float(a @ result.estimate) / float(b @ result.estimate),
        value,
        _error(result, gradient),
        partial(_fieller, result.fit, a, b),
    )


def function(
    result: FrequencyEstimate, of: Callable[[Floats], float], gradient: Callable[[Floats], Any] | None
) -> FunctionEstimate:
    at = result.centre
    if gradient is not None:
        slope = np.asarray(gradient(at.copy()), dtype=np.float64)
        if slope.shape != at.shape:
            raise InvalidParameter(
                f"the gradient must have {at.size} entries", parameter="gradient.shape", value=slope.shape
            )
    else:
        slope = np.array([_difference(of, at, x) for x in range(at.size)])
    value = float(of(at.copy()))
    if not (np.isfinite(value) and np.isfinite(slope).all()):
        raise InvalidParameter("the function must be finite and smooth at the estimate", parameter="value", value=value)
    return FunctionEstimate(float(of(result.estimate.copy())), value, _error(result, slope))


def _difference(of: Callable[[Floats], float], at: Floats, x: int) -> float:
    up, down = at.copy(), at.copy()
    up[x] += _STEP
    down[x] -= _STEP
    return (float(of(up)) - float(of(down))) / (2 * _STEP)


def _linear(result: FrequencyEstimate, a: Floats) -> FunctionEstimate:
    limits = partial(_limits, result.fit, a, 1.0)
    return FunctionEstimate(float(a @ result.estimate), float(a @ result.centre), _error(result, a), limits)


def _error(result: FrequencyEstimate, gradient: Floats) -> float:
    return float(np.sqrt(result.fit.variances(gradient[None, :])[0]))


def _group(result: FrequencyEstimate, group: Any) -> Floats:
    """A label, a list of labels, or coefficients by label."""
    if isinstance(group, Mapping):
        return _coefficients(result, group)
    return _coefficients(result, dict.fromkeys(group if isinstance(group, (list, set, frozenset)) else [group], 1.0))


def _coefficients(result: FrequencyEstimate, given: Mapping[Any, float] | Iterable[float]) -> Floats:
    if isinstance(given, Mapping):
        where = {(type(label), label): x for x, label in enumerate(result.inputs)}
        a = np.zeros(len(result.inputs))
        for label, value in given.items():
            plain = label.item() if isinstance(label, np.generic) else label
            if (type(plain), plain) not in where:
                raise UnknownLabel("coefficients must be for estimated inputs", parameter="label", value=label)
            a[where[type(plain), plain]] = value
    else:
        a = np.asarray(list(given), dtype=np.float64)
    if a.shape != (len(result.inputs),):
        raise InvalidParameter(
            f"there must be {len(result.inputs)} numbers, one for each input", parameter="shape", value=a.shape
        )
    if not np.isfinite(a).all():
        raise InvalidParameter("the numbers must be finite", parameter="coefficients", value=a[:8].tolist())
    return a
