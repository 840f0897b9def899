"""What one report discloses of two inputs, in the units that accountants compose: (ε, δ), Rényi orders, trade-offs.

For a pair of inputs with rows u and v all three are read from the law of the likelihood ratio u/v, which is kept in
integers: δ(ε) = Σ(u − e^ε v)⁺, the Rényi divergence D_α = log(Σ u^α v^(1−α))/(α − 1), and the least probability of a
miss at a given probability of a false alarm, a convex polygon (Neyman, Pearson). A mechanism has the worst of its
pairs. Everything is rounded to the safe side: δ, ε and D_α up, the trade-off down.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from extremal.errors import InvalidParameter
from extremal.exact import as_fraction
from extremal.mechanism import Mechanism
from extremal.plotting import colours_of, figure
from extremal.privacy import LDP
from extremal.tables import aligned, as_frame, number
from extremal.theory.composition import Loss, pair_loss

ORDERS = (1.25, 1.5, 2, 3, 4, 6, 8, 16, 32, 64)
"""Rényi orders that an accountant of a few hundred reports chooses among."""

FALSE_ALARMS = tuple(i / 20 for i in range(21))
"""Of a trade-off that is written out."""

_BITS = 128  # of sums of powers: 53 are kept


@dataclass(frozen=True)
class PrivacyProfile:
    """What a mechanism discloses of two inputs: δ(ε) = max_{x,x'} Σ_y (Q(y|x) − e^ε Q(y|x'))⁺ (KOV eq 23), Rényi
    divergences and the trade-off of errors; `str()` is a table.

    Attributes:
        mechanism: whose profile it is.
        level: the ε from which on δ = 0; infinite if some report rules out an input.

    Made by `ex.theory.privacy_profile`.

    >>> import extremal as ex
    >>> profile = ex.theory.privacy_profile(ex.randomized_response(2, 1))
    >>> profile.delta(1), profile.delta(0.5) > 0
    (0.0, True)
    >>> round(profile.renyi(2), 6), round(profile.tradeoff(0.1), 6)
    (0.735326, 0.728172)
    """

    mechanism: Mechanism
    level: float

    def delta(self, epsilon: Any) -> float:
        """The smallest δ at ε, rounded up so that (ε,δ)-LDP holds."""
        return LDP(0).delta_at(self.mechanism, epsilon)

    def epsilon(self, delta: Any) -> float:
        """The smallest ε at δ, rounded up; infinite if none will do."""
        return LDP(0, delta).level(self.mechanism)

    def renyi(self, order: Any) -> float:
        """The largest Rényi divergence D_α(Q_x‖Q_z) of two inputs, rounded up; order 1 is KL, infinity the level.

        The mechanism is (α, renyi(α))-Rényi private, and n reports are (α, n·renyi(α)).
        """
        if order == math.inf:
            return self.level
        alpha = as_fraction(order, "order")
        if alpha <= 0:
            raise InvalidParameter("the order must be positive", parameter="order", value=order)
        return max((_renyi(loss, total, alpha) for loss, total in self._losses), default=0.0)

    def tradeoff(self, false_alarm: Any) -> float:
        """The least probability of a miss of any test between two inputs at this probability of a false alarm, rounded
        down: the mechanism is f-differentially private with this f."""
        alarm = as_fraction(false_alarm, "false_alarm")
        if not 0 <= alarm <= 1:
            raise InvalidParameter("a probability lies from 0 to 1", parameter="false_alarm", value=false_alarm)
        least = min((_miss(loss, total, alarm) for loss, total in self._losses), default=1 - alarm)
        return max(0.0, math.nextafter(float(least), -math.inf)) if Fraction(float(least)) > least else float(least)

    @cached_property
    def _losses(self) -> list[tuple[Loss, int]]:
        """The law of the likelihood ratio of every ordered pair of different rows, each once."""
        rows = self.mechanism.distinct_rows()
        found: dict[Any, tuple[Loss, int]] = {}
        for u, v in itertools.permutations(rows, 2):
            loss = pair_loss(u, v)
            found.setdefault(frozenset(loss.items()), (loss, self.mechanism.denominator))
        return list(found.values())

    def to_json(self, orders: Sequence[Any] = ORDERS) -> dict[str, Any]:
        """What other accountants take: (ε, δ) pairs, Rényi orders with their ε, points of the trade-off function."""
        return {
            "level": self.level,
            "epsilon_delta": [[e, self.delta(e)] for e in self.grid()],
            "renyi": [[float(a), self.renyi(a)] for a in orders],
            "tradeoff": [[a, self.tradeoff(a)] for a in FALSE_ALARMS],
        }

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
        names = [labels[i] if i < len(labels) else f"mechanism {i + 1}" for i in range(len(everything))]
        grid = [float(e) for e in np.linspace(0, stop, 121)]
        for i, (profile, name, colour) in enumerate(zip(everything, names, colours_of(names), strict=True)):
            style = ("-", "--", ":", "-.")[i % 4]
            axis.plot(grid, [profile.delta(e) for e in grid], color=colour, linestyle=style, label=name)
        axis.set(xlabel="ε (nats)", ylabel="smallest δ", ylim=(0, None), xlim=(0, stop))
        axis.legend(frameon=False)
        return drawn


def _shown(profile: PrivacyProfile) -> float:
    """The largest ε worth showing."""
    return (profile.level or 1.0) if math.isfinite(profile.level) else 3.0


def privacy_profile(mechanism: Mechanism) -> PrivacyProfile:
    """Compute δ as a function of ε, with its inverse, a table and a picture.

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


def _renyi(loss: Loss, total: int, alpha: Fraction) -> float:
    """D_α of one pair from the law of its ratio, rounded up."""
    if alpha >= 1 and any(not b for _, b in loss):
        return math.inf
    with ctx.workprec(_BITS):
        order = arb(fmpq(alpha.numerator, alpha.denominator))
        if alpha == 1:
            value = sum((arb(a * s) * (arb(a) / b).log() for (a, b), s in loss.items() if a), arb(0)) / total
        else:
            terms = ((s * ((arb(a).log() - arb(b).log()) * order).exp() * b) for (a, b), s in loss.items() if a and b)
            value = (sum(terms, arb(0)) / total).log() / (order - 1)
        return max(0.0, math.nextafter(float(value.upper()), math.inf))


def _miss(loss: Loss, total: int, alarm: Fraction) -> Fraction:
    """The least miss at a false alarm of one pair: reports are given up from the largest v/u on (Neyman, Pearson)."""
    left, caught = alarm * total, Fraction(0)
    for (a, b), s in sorted(
        loss.items(), key=lambda item: Fraction(item[0][0], item[0][1]) if item[0][1] else math.inf
    ):
        share = min(Fraction(1), left / (a * s)) if a else Fraction(1)
        left, caught = left - share * a * s, caught + share * b * s
        if share < 1:
            break
    return 1 - caught / total
