"""Mutual information between the input and its report."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.exact import Prior, as_prior
from extremal.problem import InformationGoal
from extremal.utility.functions import entropy_excess
from extremal.utility.reading import Reading
from extremal.utility.utility import Floats, SumOfColumns, registered


@registered
class MutualInformation(SumOfColumns):
    """I(X;Y) = Σ_xy p(x) Q(y|x) log(Q(y|x)/P_Y(y)) in nats (KOV eq 5).

    μ(q) = Σ_x p(x) q(x) log(q(x)/p·q). Accurate at any ε: with q(x) = (p·q)(1+δ_x) and Σ p δ = 0 it is (p·q) Σ
    p(x)·((1+δ)log(1+δ) − δ).

    Guarantee: the value is computed from the integer weights; `ex.verify` encloses it in exact arithmetic.

    Args:
        prior: the distribution of the input; zeros are allowed. Floats are read as the decimals they print as, more
            than 4,096 of them as binary numbers.

    >>> import extremal as ex
    >>> round(ex.MutualInformation([1/3, 1/3, 1/3])(ex.randomized_response(3, 1)), 12)
    0.123284459502
    """

    name = "MutualInformation"
    unit = "nats"

    def __init__(self, prior: Any) -> None:
        self.prior: Prior = as_prior(prior)
        self.k = len(self.prior)

    def _values(self, reading: Reading) -> Floats:
        mass, excess = reading.spread(self.prior.values)
        mean = (mass * excess).sum(axis=0)
        marginal = reading.base + mean
        with np.errstate(invalid="ignore", divide="ignore"):
            scale = np.where(marginal > 0, marginal, 1.0)
            lifts = entropy_excess((excess - mean) / scale, (reading.base + excess) / scale)
        return np.asarray(np.where(marginal > 0, marginal * (mass * lifts).sum(axis=0), 0.0))

    def problem(self) -> InformationGoal:
        return InformationGoal(self.prior)

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "prior": self.prior.to_json()}

    def __repr__(self) -> str:
        return f"MutualInformation({self.prior!r})"
