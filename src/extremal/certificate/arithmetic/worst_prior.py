"""The largest cost of a workload over a class of priors, enclosed.

At any prior p of the class the cost F(p) is a lower bound. For an upper bound keep the decoder that is best at p: with
t its values, b its bias, s(v) what it averages to under a prior v, every other prior has

    F(v) ≤ F(p) + Σ_i |b_i|² + g·(v − p),      g(x) = Σ_i Σ_y Q(y|x)t_iy² − 2·Σ_i s_i(p)·(Qt_i)(x)

because Σ_y m_y t² is linear in the prior and −s² concave. A linear function is largest at a vertex, exactly. Where p
comes from does not matter: it is looked for in floats among mixtures of vertices, and how good it is shows in the
width of the enclosure.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from extremal.certificate.arithmetic.doubles import worst_mixture
from extremal.certificate.arithmetic.enclosures import lower, upper
from extremal.certificate.arithmetic.variance import BITS, Channel, Cost, ExactWorkload, around, cost_at
from extremal.certificate.refused import NotKnown
from extremal.exact import Prior
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload

KNOWN = (Workload, Frequencies, CDF, Ranges, Mean)
MOST_INPUTS = 1000  # of a class


def workload_cost(utility: Any, view: Any) -> tuple[Fraction | float, Fraction | float]:
    """Rationals around n × the total mean squared error; infinite both when a statistic is not identified.

    Raises:
        NotKnown: a user's class, or a mechanism too large to invert.
    """
    if type(utility) not in KNOWN or view.k != utility.k:
        raise NotKnown("the kernel has no rule for this cost", parameter="utility", value=utility.name)
    workload, channel = ExactWorkload.of(utility), Channel(view)
    if utility.prior is not None:
        return around(cost_at(channel, workload, utility.prior))
    if utility.k > MOST_INPUTS:
        raise NotKnown(f"a class has at most {MOST_INPUTS} inputs here", parameter="k", value=utility.k)
    return _over_class(channel, workload, utility.source)


def _over_class(channel: Channel, workload: ExactWorkload, source: Any) -> tuple[Any, Any]:
    uniform = Prior([Fraction(1, source.k)] * source.k)
    if source.admits(uniform):
        exchangeable = _exchangeable(channel, workload.gram)
        if exchangeable:  # by symmetry the slope at the uniform prior is constant, and F is concave
            return around(cost_at(channel, workload, uniform))

    def known(prior: Prior) -> tuple[Cost, list[Any]]:
        found = cost_at(channel, workload, prior, slope=True)
        return found, _slope(channel, found)

    prior = worst_mixture(known, source)
    with ctx.workprec(BITS):
        found, slope = known(prior)
        low, high = around(found)
        above = [upper(g) for g in slope]
        if inf in above:
            raise NotKnown("the slope of the cost is not enclosed", parameter="utility")
        best = source.extreme_prior(above)
        rise = sum((best.fraction(x) * a for x, a in enumerate(above)), Fraction(0)) - sum(
            (prior.fraction(x) * lower(g) for x, g in enumerate(slope)), Fraction(0)
        )
        return low, high + max(rise, Fraction(0)) + upper(found.bias)


def _exchangeable(channel: Channel, gram: Any) -> bool:
    """All subsets of a size, or all single inputs, are reports, and every input counts alike."""
    first = next(iter(channel.view.columns()))
    pairs = gram - np.diag(np.diagonal(gram))
    alike = len(set(np.diagonal(gram).tolist())) == 1 and not pairs.any()
    return bool(alike and channel.r == channel.view.k and first.orbit and not first.bound and not first.within)


def _slope(channel: Channel, found: Cost) -> list[Any]:
    """g for each input."""
    unit = fmpq(1, channel.view.denominator)
    rows = []
    for g in range(channel.r):
        line = sum((int(w) * s for w, s in zip(channel.weights[g], found.squares, strict=True) if w), arb(0))
        rows.append(line * unit - 2 * found.moved[g])
    return rows if channel.view.row_of is None else [rows[g] for g in channel.view.row_of.tolist()]
