"""The whole privacy of a mechanism under (ε,δ)-LDP: the smallest δ at every ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.plotting import COLOURS, figure
from extremal.privacy import LDP
from extremal.tables import aligned, as_frame, number


@dataclass(frozen=True)
class PrivacyProfile:
    """ε ↦ δ(ε) = max_{x,x'} Σ_y (Q(y|x) − e^ε Q(y|x'))⁺ of a mechanism (KOV eq 23); `str()` is a table.

    Attributes:
        mechanism: whose profile it is.
        level: the ε from which on δ = 0; infinite if some report rules out an input.

    Made by `ex.theory.privacy_profile`.

    >>> import extremal as ex
    >>> profile = ex.theory.privacy_profile(ex.randomized_response(2, 1))
    >>> profile.delta(1), profile.delta(0.5) > 0
    (0.0, True)
    """

    mechanism: Mechanism
    level: float

    def delta(self, epsilon: Any) -> float:
        """The smallest δ at ε, rounded up so that (ε,δ)-LDP holds."""
        return LDP(0).delta_at(self.mechanism, epsilon)

    def epsilon(self, delta: Any) -> float:
        """The smallest ε at δ, rounded up; infinite if none will do."""
        return LDP(0, delta).level(self.mechanism)

    def grid(self) -> list[float]:
        """Some ε from 0 to where δ is 0, or to 3 if it never is."""
        stop = _shown(self)
        return [float(e) for e in np.linspace(0, stop, 13)]

    def to_frame(self, epsilons: Sequence[float] | None = None) -> Any:
        """A data frame: ε, δ."""
        chosen = self.grid() if epsilons is None else list(epsilons)
        return as_frame({"ε": chosen, "δ": [self.delta(e) for e in chosen]})

    def __str__(self) -> str:
        return aligned(["ε", "δ"], [[number(e, 4), number(self.delta(e))] for e in self.grid()])

    def plot(self, *others: PrivacyProfile, labels: Sequence[str] = ()) -> Any:
        """δ against ε, for this mechanism and others; a matplotlib figure."""
        drawn, axis = figure()
        everything = (self, *others)
        stop = 1.2 * max((_shown(p) for p in everything if math.isfinite(p.level)), default=_shown(self))
        for i, profile in enumerate(everything):
            grid = np.linspace(0, stop, 121)
            name = labels[i] if i < len(labels) else f"mechanism {i + 1}"
            style = ("-", "--", ":", "-.")[i % 4]
            axis.plot(grid, [profile.delta(float(e)) for e in grid], color=COLOURS[i % 8], linestyle=style, label=name)
        axis.set(xlabel="ε (nats)", ylabel="smallest δ", ylim=(0, None), xlim=(0, stop))
        axis.legend(frameon=False)
        return drawn


def _shown(profile: PrivacyProfile) -> float:
    """The largest ε worth showing."""
    return (profile.level or 1.0) if math.isfinite(profile.level) else 3.0


def privacy_profile(mechanism: Mechanism) -> PrivacyProfile:
    """δ as a function of ε, with its inverse, a table and a picture.

    Guarantee: every value is rounded up in integer arithmetic, so that the mechanism is (ε, δ(ε))-LDP.

    Reference: KOV eq 23; B. Balle, G. Barthe, M. Gaboardi, Privacy Profiles and Amplification by Subsampling (2020).

    >>> import extremal as ex
    >>> profile = privacy_profile(ex.randomized_response(3, 1))
    >>> profile.level, round(profile.delta(0), 6), profile.delta(1), round(profile.epsilon(0.1), 6)
    (1.0, 0.364175, 0.0, 0.809353)
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter("a profile is that of a mechanism", parameter="mechanism", value=mechanism)
    level = LDP(0).level(mechanism)
    return PrivacyProfile(mechanism, level)
