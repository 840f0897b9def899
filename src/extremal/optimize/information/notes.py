"""What a person wants to know beside the optimum: the limit for any prior, and how far the two classical mechanisms
are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from extremal.closed_forms.balance import balanced_subset
from extremal.exact import Prior
from extremal.optimize.problem import Line, lines_of
from extremal.tables import number
from extremal.utility.curve import InformationCurve

EXACT_BALANCE = 32  # symbols for which the balanced set is searched exactly: a tenth of a second


@dataclass(frozen=True, eq=False)
class Notes:
    """Lines for `Design.summary`, made when one is asked for: the capacity-like limit, randomised response, one bit
    about the most balanced set."""

    prior: Prior
    curve: InformationCurve
    reached: float

    @cached_property
    def lines(self) -> tuple[str, ...]:
        support, curve, reached = self.prior.values[self.prior.values > 0], self.curve, self.reached
        entropy = -math.fsum((support * np.log(support)).tolist())
        balance = balanced_subset(self.prior, EXACT_BALANCE)
        closest = "closest to 1/2" if balance.proven else "close to 1/2"
        imbalance = float(balance.imbalance)
        where = f"off by {number(imbalance / 2, 2)}" if imbalance else "exactly half"
        response, one_bit = curve.response(support), curve.binary(float(balance.probability))
        return (
            (
                f"of entropy    {number(entropy)} nats; no report at this ε carries more than {number(curve.limit)}, "
                "whatever the prior"
            ),
            f"randomised response keeps {number(response)} ({_share(response, reached)})",
            (
                f"one bit keeps {number(one_bit)} ({_share(one_bit, reached)}); its {len(balance.members)} inputs have "
                f"P(T) {closest}: {where}"
            ),
        )


def notes(prior: Prior, curve: InformationCurve, reached: float) -> tuple[Line, ...]:
    return lines_of(Notes(prior, curve, reached), 3)


def _share(value: float, reached: float) -> str:
    return f"{100 * value / reached:.4g}% of this design" if reached else "nothing to keep"
