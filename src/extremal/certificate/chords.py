"""f-divergences under metric privacy, bounded through chords of f, in rationals.

Between nodes t_i ≤ M₀/M₁ ≤ t_{i+1} a convex f lies below its chord, so a column is worth at most c_i·q, c_i =
s_i(P₀−P₁) + (f_i − s_i(t_i−1))P₁, for the i of its own ratio. With any α: Σ_y μ(q_y) ≤ 1·α + Σ_y (c_{i(y)} − α)·q_y,
and what is left is bounded over the cone: on a tree by the best ray from the leaves to the root (each edge up or down,
e^{±εd}), otherwise by multipliers of the inequalities as in certificate/distortion.py. The nodes must cover all ratios
that a column can have: within e^{±ε·diameter} and within the range of P₀/P₁. Values of f at the nodes are computed in
floats and enlarged.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from extremal.certificate.distortion import Column, deficit, without_flows
from extremal.certificate.metric_rays import Edge, tree_edges
from extremal.certificate.refused import Refused
from extremal.exact import Exponential, as_fraction
from extremal.privacy import MetricPrivacy, Notion
from extremal.utility import Divergence, Utility

VALUE_ERROR = Fraction(1, 10**13)  # relative; f is accurate to about 1e-15
_BITS = 256


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The upper bound that nodes and dual vector prove."""
    if not isinstance(privacy, MetricPrivacy) or not isinstance(utility, Divergence):
        raise Refused("chords prove f-divergences under metric privacy", parameter="utility", value=utility.name)
    steps = [float(s) for s in proof["steps"]]  # t_i − 1
    if len(steps) < 2 or any(b <= a for a, b in itertools.pairwise(steps)) or not _covers(steps, privacy, utility):
        raise Refused("the nodes must increase and cover every ratio", parameter="steps", value=(steps[0], steps[-1]))
    alpha = [as_fraction(a, "alpha") for a in proof["alpha"]]
    if len(alpha) != utility.k:
        raise Refused("the dual vector must have one entry for each input", parameter="len(alpha)", value=len(alpha))
    columns = [[a - c for a, c in zip(alpha, chord, strict=True)] for chord in _chords(steps, utility)]
    edges = tree_edges(privacy)
    if edges is not None:
        lost = max([Fraction(0), *(-_least_on_tree(column, edges, privacy) for column in columns)])
    else:
        lost = deficit(without_flows(columns, proof["flows"], privacy))
    bound = sum(alpha, Fraction(0)) + lost
    nearest = float(bound)
    return nearest if Fraction(nearest) >= bound else math.nextafter(nearest, math.inf)


def _covers(steps: list[float], privacy: MetricPrivacy, utility: Divergence) -> bool:
    """Whether t_0 and t_n enclose every ratio: either end reaches e^{∓ε·diameter}, or the least or largest P₀/P₁."""
    p0, p1 = utility.pair.p0, utility.pair.p1
    low, high = 1 + Fraction(steps[0]), 1 + Fraction(steps[-1])
    pairs = [(a * p1.total, b * p0.total) for a, b in zip(p0.weights, p1.weights, strict=True) if a or b]
    below = all(a >= low * b for a, b in pairs)
    above = all(a <= high * b for a, b in pairs)
    if below and above:
        return True
    if not np.isfinite(privacy.distances).all():
        return False
    farthest = np.argwhere(privacy.distances == privacy.distances.max()).tolist()
    _, upper = Exponential.unchecked(max(privacy.exact_exponent(x, other) for x, other in farthest)).bounds(_BITS)
    widest = Fraction(upper, 1 << _BITS)
    return (below or low * widest <= 1) and (above or high >= widest)


def _chords(steps: list[float], utility: Divergence) -> list[Column]:
    """c_i for each interval, with the values of f rounded up."""
    p0, p1 = utility.pair.p0, utility.pair.p1
    difference = [p0.fraction(x) - p1.fraction(x) for x in range(utility.k)]
    base = [p1.fraction(x) for x in range(utility.k)]
    delta = np.array(steps)
    values = utility.excess(delta, 1 + delta)
    if not np.isfinite(values).all():
        raise Refused("f must be finite at the nodes", parameter="steps", value=(steps[0], steps[-1]))
    heights = [Fraction(float(v)) * (1 + VALUE_ERROR) for v in values]
    chords = []
    for (a, f), (b, g) in zip(
        zip(map(Fraction, steps), heights, strict=True),
        zip(map(Fraction, steps[1:]), heights[1:], strict=True),
        strict=False,
    ):
        slope = (g - f) / (b - a)
        chords.append([slope * d + (f - slope * a) * p for d, p in zip(difference, base, strict=True)])
    return chords


def _least_on_tree(g: Column, edges: list[Edge], privacy: MetricPrivacy) -> Fraction:
    """A lower bound on g·q over the cone with q = 1 at the root: children first, in integers over 2^bits rounded
    down."""
    value = [math.floor(v * (1 << _BITS)) for v in g]
    for above, x in reversed(edges):
        _, upper = Exponential.unchecked(privacy.exact_exponent(above, x)).bounds(_BITS)
        # the child may be e^{+εd} or e^{−εd} times its parent, whichever is smaller
        value[above] += value[x] * upper >> _BITS if value[x] < 0 else (value[x] << _BITS) // upper
    return Fraction(value[edges[0][0]], 1 << _BITS)
