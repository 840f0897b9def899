"""The privacy that a mechanism reaches within a given distortion: what the Hamming paper minimises."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from extremal.errors import InvalidParameter
from extremal.exact import as_fraction, decimal_text
from extremal.mechanism import Mechanism
from extremal.privacy import LDP
from extremal.problem import LevelGoal
from extremal.sources import SourceClass, as_source
from extremal.utility.distortion import Hamming
from extremal.utility.utility import Utility, registered


@registered
class LevelAtDistortion(Utility):
    """The smallest ε of a mechanism whose worst-case Hamming distortion is at most D, a cost; infinite above D (KSS
    Definition 4).

    Guarantee: both are decided on the integer weights.

    Args:
        prior_or_class: a prior, or an `ex.SourceClass`.
        distortion: D, 0 ≤ D ≤ 1.

    >>> import extremal as ex
    >>> LevelAtDistortion([0.5, 0.3, 0.2], 0.3)(ex.hamming(3, 0.3))
    1.540445040947149
    """

    name: ClassVar[str] = "LevelAtDistortion"
    is_cost: ClassVar[bool] = True
    unit = "nats"

    def __init__(self, prior_or_class: Any, distortion: Any) -> None:
        self.source: SourceClass = as_source(prior_or_class)
        self.k = self.source.k
        self.distortion = as_fraction(distortion, "distortion")
        if not 0 <= self.distortion <= 1:
            raise InvalidParameter("distortion must lie between 0 and 1", parameter="distortion", value=distortion)

    def __call__(self, mechanism: Mechanism | Any) -> float:
        if not isinstance(mechanism, Mechanism) or mechanism.k != self.k:
            raise InvalidParameter(
                f"{self.name} takes a mechanism with {self.k} inputs", parameter="mechanism", value=mechanism
            )
        if self.worst_distortion(mechanism) > self.distortion:
            return math.inf
        return LDP(0).level(mechanism)

    def worst_distortion(self, mechanism: Mechanism) -> Fraction:
        """max_p Σ p(x)(1 − Q(x|x)), exactly."""
        lost = [mechanism.denominator - truth for truth in Hamming(self.source).truth_weights(mechanism)]
        worst = self.source.extreme_prior(lost)
        return Fraction(
            sum(w * v for w, v in zip(worst.weights, lost, strict=True)), worst.total * mechanism.denominator
        )

    def problem(self) -> LevelGoal:
        return LevelGoal(self.source, self.distortion)

    def to_json(self) -> dict[str, Any]:
        return {"utility": self.name, "source": self.source.to_json(), "distortion": decimal_text(self.distortion)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Utility:
        return cls(SourceClass.from_json(content["source"]), content["distortion"])

    def __repr__(self) -> str:
        return f"{self.name}({self.source!r}, {float(self.distortion):g})"
