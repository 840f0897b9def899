"""What a person wants to know beside the optimum: the limit for any prior, and how far the two classical mechanisms
are."""

from __future__ import annotations

import math

import numpy as np

from extremal.closed_forms.balance import balanced_subset
from extremal.exact import Prior
from extremal.tables import number
from extremal.utility.curve import InformationCurve

EXACT_BALANCE = 32  # symbols for which the balanced set is searched exactly: a tenth of a second


def notes(prior: Prior, curve: InformationCurve, reached: float) -> tuple[str, ...]:
    """Lines for `Design.summary`: the capacity-like limit, randomised response, one bit about the most balanced set."""
    support = prior.values[prior.values > 0]
    entropy = -math.fsum((support * np.log(support)).tolist())
    balance = balanced_subset(prior, EXACT_BALANCE)
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


def _share(value: float, reached: float) -> str:
    return f"{100 * value / reached:.4g}% of this design" if reached else "nothing to keep"
