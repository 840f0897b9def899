"""Every extreme ray of the columns that are admissible for all priors of a class, in rational arithmetic (small
alphabets).

The cone is {q ≥ 0, q_x ≤ e^ε·p_v·q for every input x that can occur and every extreme prior p_v}; e^ε is rounded up,
which only enlarges the cone, so that a bound over its rays is a bound for the notion. Rays are found by double
description: inequalities are added one at a time, each new ray combines one on either side of the new plane, adjacent
by the combinatorial test (Fukuda and Prodon 1996).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from extremal.errors import TooLarge
from extremal.exact import Prior
from extremal.privacy.pml import PML
from extremal.sources import SourceClass

MOST_INPUTS = 6
MOST_PRIORS = 160  # extreme ones
MOST_RAYS = 6_000
_BITS = 48  # of the upper bound on e^ε: relative 4e-15

Floats = npt.NDArray[np.float64]
Ray = tuple[int, ...]


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
    found: list[tuple[Ray, int]] = [
        (tuple(int(i == x) for i in range(k)), sum(1 << i for i in range(k) if i != x)) for x in range(k)
    ]
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


def _cut(found: list[tuple[Ray, int]], plane: Ray, number: int, k: int) -> list[tuple[Ray, int]]:
    """The rays of the cone cut by one more plane; each ray carries the set of planes that it lies on, as a bit mask."""
    heights = [sum(a * b for a, b in zip(plane, ray, strict=True)) for ray, _ in found]
    if min(heights) >= 0:
        return [(ray, mask | (1 << number) if h == 0 else mask) for (ray, mask), h in zip(found, heights, strict=True)]
    above = [(ray, mask, h) for (ray, mask), h in zip(found, heights, strict=True) if h > 0]
    below = [(ray, mask, h) for (ray, mask), h in zip(found, heights, strict=True) if h < 0]
    kept = [(ray, mask) for ray, mask, _ in above]
    kept += [(ray, mask | (1 << number)) for (ray, mask), h in zip(found, heights, strict=True) if h == 0]
    masks = [mask for _, mask in found]
    for ray_a, mask_a, height_a in above:
        for ray_b, mask_b, height_b in below:
            shared = mask_a & mask_b
            if shared.bit_count() < k - 2 or sum(1 for mask in masks if mask & shared == shared) > 2:
                continue
            mixed = [height_a * b - height_b * a for a, b in zip(ray_a, ray_b, strict=True)]
            common = math.gcd(*mixed)
            kept.append((tuple(m // common for m in mixed), shared | (1 << number)))
    return kept


def as_columns(found: list[Ray]) -> Floats:
    """Rays as float columns, each with largest entry 1."""
    return np.array([[float(Fraction(entry, max(ray))) for entry in ray] for ray in found]).T
