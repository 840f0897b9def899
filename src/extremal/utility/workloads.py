"""The workloads that have names: shares, distribution functions, ranges, means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import as_count, in_order
from extremal.problem import WorkloadGoal
from extremal.utility.utility import Floats, registered
from extremal.utility.workload import Workload, source_of


@registered
class Frequencies(Workload):
    """n × the total mean squared error of the shares themselves.

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Args:
        prior: probabilities, an int k, or an `ex.SourceClass`.
        items: positions of the inputs whose shares are wanted; all if not given.
        weights: how much each of them counts, positive; 1 if not given.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import extremal as ex
    >>> round(ex.Frequencies(10)(ex.subset_selection(10, 1)), 4)
    30.0041
    """

    name: ClassVar[str] = "Frequencies"

    def __init__(self, prior: Any, items: Sequence[int] | None = None, weights: Any = None) -> None:
        source = source_of(prior)
        chosen = (
            list(range(source.k)) if items is None else [as_count(x, f"items[{i}]", 0) for i, x in enumerate(items)]
        )
        if not chosen or len(set(chosen)) < len(chosen) or max(chosen) >= source.k:
            raise InvalidParameter(
                f"items must be different positions below {source.k}", parameter="items", value=chosen[:8]
            )
        scale = np.ones(len(chosen)) if weights is None else _numbers(weights, "weights", len(chosen))
        if (scale <= 0).any():
            raise InvalidParameter("weights must be positive", parameter="weights", value=scale[:8].tolist())
        self.items, self.weights = tuple(chosen), tuple(scale.tolist())
        matrix = np.zeros((len(chosen), source.k))
        matrix[np.arange(len(chosen)), chosen] = np.sqrt(scale)
        super().__init__(matrix, source)

    @property
    def symmetric(self) -> bool:
        """Whether every input counts alike."""
        return len(self.items) == self.k and len(set(self.weights)) == 1

    @cached_property
    def _stated(self) -> WorkloadGoal:
        return WorkloadGoal.of_shares(self.source, self.items, self.weights)

    def _content(self) -> dict[str, Any]:
        return {"items": list(self.items), "weights": [repr(w) for w in self.weights]}


@registered
class CDF(Workload):
    """n × the total mean squared error of the distribution function P(X ≤ t) of ordered inputs.

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Args:
        prior: probabilities, an int k, or an `ex.SourceClass`.
        thresholds: positions t, 0 ≤ t < k−1; all if not given. Nine deciles of 1,000 bins are as easy as ten bins.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import extremal as ex
    >>> round(ex.CDF(4)(ex.randomized_response(4, 1)), 4)
    6.9219
    """

    name: ClassVar[str] = "CDF"

    def __init__(self, prior: Any, thresholds: Sequence[int] | None = None) -> None:
        source = source_of(prior)
        chosen = (
            range(source.k - 1)
            if thresholds is None
            else [as_count(t, f"thresholds[{i}]", 0) for i, t in enumerate(thresholds)]
        )
        if not len(chosen) or len(set(chosen)) < len(chosen) or max(chosen) >= source.k - 1:
            raise InvalidParameter(
                f"thresholds must be different positions below {source.k - 1}", parameter="thresholds", value=thresholds
            )
        self.thresholds = tuple(chosen)
        super().__init__(
            (np.arange(source.k)[None, :] <= np.asarray(self.thresholds)[:, None]).astype(np.float64), source
        )

    @cached_property
    def _stated(self) -> WorkloadGoal:
        return WorkloadGoal.of_thresholds(self.source, self.thresholds)

    def _content(self) -> dict[str, Any]:
        return {"thresholds": None if len(self.thresholds) == self.k - 1 else list(self.thresholds)}


@registered
class Ranges(Workload):
    """n × the total mean squared error of P(a ≤ X ≤ b) over all k(k+1)/2 ranges a ≤ b of ordered inputs.

    With prefix sums c_0 = 0, c_1, …, c_k the ranges are the differences c_j − c_i, and Σ_{i<j}(c_j − c_i)² = (k+1)Σc² −
    (Σc)²: `rows` is √(k+1)·(I − β11ᵀ) times the prefix sums, β = (1 − 1/√(k+1))/k, so that nothing of size k² × k is
    listed.

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import extremal as ex
    >>> round(ex.Ranges(4)(ex.randomized_response(4, 1)), 4)
    20.7656
    """

    name: ClassVar[str] = "Ranges"

    def __init__(self, prior: Any) -> None:
        source = source_of(prior)
        k = source.k
        prefix = np.tril(np.ones((k, k)))
        mixed = prefix - (1 - 1 / math.sqrt(k + 1)) / k * prefix.sum(axis=0)
        super().__init__(math.sqrt(k + 1) * mixed, source)

    @cached_property
    def _stated(self) -> WorkloadGoal:
        return WorkloadGoal.of_ranges(self.source)

    def _content(self) -> dict[str, Any]:
        return {}


@registered
class Mean(Workload):
    """n × the mean squared error of the mean Σ p(x)·value(x).

    Guarantee: attained by `ex.estimate_workload` when the prior is right; no unbiased estimate from the same reports
    has less.

    Args:
        values: one finite number for each input, not all equal.
        prior: probabilities, an `ex.SourceClass`, or None for equally likely inputs.

    Reference: F. Pukelsheim, Optimal Design of Experiments (1993), on the information matrix;
    docs/design/index.md.

    >>> import math
    >>> import extremal as ex
    >>> one_bit = ex.Mechanism.from_partition([0, 1], ex.LDP(1))
    >>> round(ex.Mean([0, 1])(one_bit), 6), round((math.tanh(0.5) * 2) ** -2, 6)
    (1.170674, 1.170674)
    """

    name: ClassVar[str] = "Mean"

    def __init__(self, values: Any, prior: Any = None) -> None:
        numbers = _numbers(values, "values", None)
        source = source_of(numbers.size if prior is None else prior)
        if np.ptp(numbers) == 0:
            raise InvalidParameter(
                "values must differ: the mean of a constant is known", parameter="values", value=numbers[:4].tolist()
            )
        super().__init__(numbers[None, :], source)

    @property
    def values(self) -> Floats:
        """The number that each input stands for."""
        return np.asarray(self.rows[0])

    def _content(self) -> dict[str, Any]:
        return {"values": [repr(v) for v in self.values.tolist()]}


def _numbers(values: Any, parameter: str, size: int | None) -> Floats:
    given: Any = None if isinstance(values, Mapping) else in_order(values, parameter)
    try:
        array = np.asarray([float(v) for v in given])
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"{parameter} must be a sequence of numbers",
            parameter=parameter,
            value=values,
            hint="One for each answer: a scale from 0 to 4 has range(5).",
        ) from None
    wanted = "at least two" if size is None else str(size)
    if (
        (size is not None and array.size != size)
        or array.size < (2 if size is None else 1)
        or not np.isfinite(array).all()
    ):
        raise InvalidParameter(
            f"{parameter} must be {wanted} finite numbers", parameter=parameter, value=array[:8].tolist()
        )
    return array
