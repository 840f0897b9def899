"""The theorem of sorted partitions, with its dynamic program run again in outward-rounded arithmetic.

*What it assumes*: that for every f-divergence some optimal ε-LDP mechanism is randomised response on a partition of the
symbols into blocks contiguous in likelihood ratio (E. Ghazi, Sort, Partition, Randomize, arXiv 2606.07443, 2026). The
other proof of a divergence bound, `dual`, does not need this.

*What it checks*: a partition into L ≥ 2 blocks is worth Σμ(B)/(1+(L−1)s), s = e^−ε. For any V ≥ 0, if every path from
the first to the last node satisfies Σ(μ(B) − sV) ≤ V(1−s) + g, then no partition is worth more than V + g⁺/(1+s). The
nodes are those of the polygon around the Lorenz curve at the bin edges that the proof names: merging the symbols of a
bin into two at its extreme ratios makes the pair easier to tell apart, so the bound covers every partition of the
original.

*How it rounds*: each block gets an upper bound. μ as a function of (M₁, M₀−M₁) falls in M₁ and grows with |M₀−M₁|; as a
function of (M₀, M₁) below ratio 1 it falls in M₀ and grows in M₁. So the enclosures of the sums are put into the corner
that is worst, and f is taken `FUNCTION_ERROR` larger.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from extremal.certificate.refused import Refused
from extremal.exact.interval import up
from extremal.privacy import LDP, Notion
from extremal.utility import Divergence, Utility

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

FUNCTION_ERROR = 1e-13  # relative; the utilities' functions agree with 60-digit arithmetic to 1e-14
MOST_EDGES = 20_000  # the program below takes edges² steps
_EXACT_DIFFERENCES = 4096  # symbols up to which P₀ − P₁ is correctly rounded (utility/pair.py)


class _Curve(NamedTuple):
    """Nodes of a curve with absolute errors: P₀ from the left, P₁ from the right, P₀ − P₁ from the left."""

    left0: Floats
    right1: Floats
    gap: Floats
    error0: Floats
    error1: Floats
    error: Floats


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The upper bound on the divergence that the bins prove."""
    if not isinstance(privacy, LDP) or privacy.delta or not isinstance(utility, Divergence):
        raise Refused("this theorem is about f-divergences under ε-LDP", parameter="utility", value=utility.name)
    if utility.is_linear_within(privacy.exponential):
        # f is a straight line through f(1) = 0 on all ratios that ε allows: every private mechanism is worth
        # exactly 0
        return 0.0
    at = float(proof["at"])
    if not (math.isfinite(at) and at >= 0):
        raise Refused("the value to start from must be finite and not negative", parameter="at", value=proof["at"])
    curve = _polygon(utility, np.array(proof["edges"], dtype=np.intp))
    low = math.exp(-privacy.epsilon)
    low_up, low_down = float(up(low, 4)), low * (1 - 1e-15)
    gap = _longest_path(curve, utility, low_down, low_up, at) - at * (1 - low_up) * (1 - 1e-15)
    return float(up(at + max(float(up(gap)), 0.0) / (1 + low_down)))


def _sorted(utility: Divergence) -> tuple[Floats, Floats, Floats, Floats]:
    """(P₀, P₁, P₀−P₁, key) by increasing likelihood ratio; symbols that never occur are left out."""
    p0, p1, difference = utility.p0, utility.p1, utility.pair.difference
    total = p0 + p1
    used = total > 0
    p0, p1, difference, total = p0[used], p1[used], difference[used], total[used]
    key = np.where(difference > 0, 2 - p1 / total, p0 / total)
    order = np.argsort(key, kind="stable")
    return p0[order], p1[order], difference[order], key[order]


def _polygon(utility: Divergence, edges: Indices) -> _Curve:
    """The circumscribed polygon at the given bin edges, which count groups of equal ratio."""
    p0, p1, difference, key = _sorted(utility)
    start_of_group = np.concatenate(([0], np.flatnonzero(np.diff(key) > 0) + 1, [key.size]))
    n = start_of_group.size - 1
    if (
        edges.ndim != 1
        or not 2 <= edges.size <= MOST_EDGES
        or edges[0] != 0
        or edges[-1] != n
        or (np.diff(edges) <= 0).any()
    ):
        raise Refused(
            f"the edges must increase from 0 to the number of ratios, {n}", parameter="edges", value=edges[:6].tolist()
        )
    node = start_of_group[edges]  # where each edge lies among the sorted symbols
    left0, right1 = _sums(p0)[node], _sums(p1[::-1])[::-1][node]
    gap = _sums(difference)[node]
    gap[-1] = 0.0
    size = np.abs(difference) if p0.size <= _EXACT_DIFFERENCES else p0 + p1
    spread = np.minimum(_sums(size)[node], _sums(size[::-1])[::-1][node])
    share0, share1, tilt = p0 / (p0 + p1), p1 / (p0 + p1), difference / (p0 + p1)
    first, last = node[:-1], node[1:] - 1
    width = tilt[last] - tilt[first]
    mass = np.diff(left0) - np.diff(right1)
    wide = width > 0
    lower = np.clip(np.where(wide, (tilt[last] * mass - np.diff(gap)) / np.where(wide, width, 1.0), 0.0), 0.0, mass)
    between = (
        left0[:-1] + lower * share0[first],
        right1[1:] + (mass - lower) * share1[last],
        gap[:-1] + lower * tilt[first],
        spread[:-1] + mass,
    )
    order = np.argsort(np.concatenate([2 * np.arange(edges.size), 2 * np.flatnonzero(wide) + 1]), kind="stable")
    reals = (left0, right1, gap, spread)
    coordinates = [
        np.concatenate([real, fictitious[wide]])[order] for real, fictitious in zip(reals, between, strict=True)
    ]
    unit = 2.0**-50 + 3 * math.isqrt(p0.size) * 2.0**-63  # inputs are rounded once; see _sums for the rest
    left, right, height, extent = coordinates
    return _Curve(left, right, height, unit * left, unit * right, unit * extent)


def _sums(values: Floats) -> Floats:
    """Partial sums from 0 in 64-bit mantissas, in blocks of about √n: the error grows with √n, not with n."""
    block = max(1, math.isqrt(values.size))
    padded = np.zeros(-(-values.size // block) * block, dtype=np.longdouble)
    padded[: values.size] = values
    within = np.cumsum(padded.reshape(-1, block), axis=1)
    before = np.concatenate((np.zeros(1, dtype=np.longdouble), np.cumsum(within[:-1, -1])))
    return np.concatenate(([0.0], (within + before[:, None]).ravel()[: values.size].astype(np.float64)))


def _longest_path(curve: _Curve, utility: Divergence, low_down: float, low_up: float, at: float) -> float:
    """An upper bound on the longest path with edge weights μ − sV."""
    count = curve.left0.size
    charge = low_down * at * (1 - 1e-15)
    best = np.zeros(count)
    chunk = max(1, 400_000 // count)
    for first in range(1, count, chunk):
        last = min(count, first + chunk)
        values = _upper_values(curve, utility, low_down, low_up, first, last)
        for j in range(first, last):
            longest = math.nextafter(float((best[:j] + values[j - first, :j]).max()), math.inf)
            best[j] = math.nextafter(longest - charge, math.inf)
    return float(best[-1])


def _upper_values(curve: _Curve, utility: Divergence, low_down: float, low_up: float, first: int, last: int) -> Floats:
    """Upper bounds on μ of the blocks from every node to nodes first..last−1."""
    i, j = np.s_[None, :last], np.s_[first:last, None]
    step_down, step_up = (1 - low_up) * (1 - 1e-15), (1 - low_down) * (1 + 1e-15)
    error0, error1 = curve.error0[i] + curve.error0[j], curve.error1[i] + curve.error1[j]
    sum0, sum1 = curve.left0[j] - curve.left0[i], curve.right1[i] - curve.right1[j]
    difference = curve.gap[j] - curve.gap[i]
    size = step_up * (np.abs(difference) + curve.error[i] + curve.error[j])
    m1_down = low_down + step_down * np.maximum(sum1 - error1, 0.0)
    m1_up = low_up + step_up * np.maximum(sum1 + error1, 0.0)
    m0_down = low_down + step_down * np.maximum(sum0 - error0, 0.0)
    far_below = (difference < 0) & (size > m1_up / 2)
    m1 = np.where(far_below, m1_up, m1_down)
    gap = np.where(far_below, m0_down - m1_up, np.where(difference < 0, -np.minimum(size, m1_down), size))
    m0 = np.where(far_below, m0_down, m1 + gap)
    values = utility.perspective(m0, m1, gap)
    return np.asarray(values * (1 + FUNCTION_ERROR) + 1e-300)
