"""Every extreme ray of the columns that are admissible for all priors of a class, in rational arithmetic (small
alphabets).

The cone is {q ≥ 0, q_x ≤ e^ε·p_v·q for every input x that can occur and every extreme prior p_v}; e^ε is rounded up,
which only enlarges the cone, so that a bound over its rays is a bound for the notion. Rays are found by double
description: inequalities are added one at a time, each new ray combines one on either side of the new plane, adjacent
by the combinatorial test (Fukuda and Prodon 1996).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.errors import TooLarge
from extremal.exact import Prior
from extremal.privacy.pml import PML
from extremal.sources import SourceClass

MOST_INPUTS = 6  # beyond, the rays of a class are too many to list
MOST_PRIORS = 160  # extreme ones
MOST_RAYS = 6_000  # a minute: each new plane compares all pairs on its two sides
_BITS = 48  # of the upper bound on e^ε: relative 4e-15

Floats = npt.NDArray[np.float64]
Ray = tuple[int, ...]
Edge = tuple[Ray, int]  # with the set of planes that it lies on, as a bit mask


def few_enough(source: SourceClass) -> bool:
    """Whether rays are listed for this class."""
    return source.k <= MOST_INPUTS and len(source.vertices()) <= MOST_PRIORS


def rays(privacy: PML) -> list[Ray]:
    """The extreme rays as integer vectors.

    Raises:
        TooLarge: there are too many.
    """
    priors, k = privacy.source.vertices(), privacy.source.k
    if not few_enough(privacy.source):
        raise TooLarge(
            "rays are listed for few inputs and few extreme priors", parameter="k, priors", value=(k, len(priors))
        )
    _, upper = privacy.exponential.bounds(_BITS)
    top = Fraction(upper, 1 << _BITS)
    occurring = [x for x, possible in enumerate(privacy.source.support()) if possible]
    planes = [_plane(prior, x, top) for prior in priors for x in occurring]
    found: list[Edge] = [(tuple(int(i == x) for i in range(k)), (1 << k) - 1 - (1 << x)) for x in range(k)]
    for number, plane in enumerate(planes, start=k):
        found = _cut(found, plane, number, k)
        if len(found) > MOST_RAYS:
            raise TooLarge("the class has too many extreme columns", parameter="rays", value=len(found))
    return [ray for ray, _ in found]


def _plane(prior: Prior, x: int, top: Fraction) -> Ray:
    """Coefficients of e^ε·p·q − q_x ≥ 0, as integers."""
    coefficients = [top * prior.fraction(i) - (1 if i == x else 0) for i in range(len(prior))]
    common = math.lcm(*(c.denominator for c in coefficients))
    return tuple(int(c * common) for c in coefficients)


def _cut(found: list[Edge], plane: Ray, number: int, k: int) -> list[Edge]:
    """The rays of the cone cut by one more plane."""
    heights = [sum(a * b for a, b in zip(plane, ray, strict=True)) for ray, _ in found]
    on = 1 << number
    touching = [(ray, mask | on) if h == 0 else (ray, mask) for (ray, mask), h in zip(found, heights, strict=True)]
    if min(heights) >= 0:
        return touching
    kept = [edge for edge, h in zip(found, heights, strict=True) if h > 0]
    kept += [edge for edge, h in zip(touching, heights, strict=True) if h == 0]
    return kept + list(_crossing(found, heights, on, k))


def _crossing(found: list[Edge], heights: list[int], on: int, k: int) -> Iterator[Edge]:
    """New rays: each between two adjacent ones on either side of the plane."""
    masks = [mask for _, mask in found]
    for i in (i for i, h in enumerate(heights) if h > 0):
        for j in (j for j, h in enumerate(heights) if h < 0):
            shared = masks[i] & masks[j]
            if _adjacent(shared, masks, k):
                yield _on_the_plane(found[i][0], heights[i], found[j][0], heights[j]), shared | on


def _adjacent(shared: int, masks: list[int], k: int) -> bool:
    """Whether two rays span an edge: on enough common planes, and no third ray lies on all of these."""
    return shared.bit_count() >= k - 2 and sum(mask & shared == shared for mask in masks) <= 2


def _on_the_plane(above: Ray, height: int, below: Ray, depth: int) -> Ray:
    """Where the edge between two rays meets the plane, in lowest terms."""
    mixed = [height * b - depth * a for a, b in zip(above, below, strict=True)]
    common = math.gcd(*mixed)
    return tuple(m // common for m in mixed)


def as_columns(found: list[Ray]) -> Floats:
    """Rays as float columns, each with largest entry 1."""
    return np.array([[float(Fraction(entry, max(ray))) for entry in ray] for ray in found]).T
