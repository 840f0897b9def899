"""Every extreme ray of the columns that are admissible for all priors of a class, in rational arithmetic (small
alphabets).

The cone is {q ≥ 0, q_x ≤ e^ε·p_v·q for every input x that can occur and every extreme prior p_v}; e^ε is rounded up,
which only enlarges the cone, so that a bound over its rays is a bound for the notion.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from extremal.errors import TooLarge
from extremal.exact.polytope import Ray, extreme_rays
from extremal.exact.weights import Floats
from extremal.privacy.pml import PML
from extremal.sources import SourceClass

MOST_INPUTS = 6  # beyond, the rays of a class are too many to list
MOST_PRIORS = 160  # extreme ones
_BITS = 48  # of the upper bound on e^ε: relative 4e-15


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
    planes = [[int(z == x) - top * p.fraction(z) for z in range(k)] for p in priors for x in occurring]
    return extreme_rays(k, planes)


def as_columns(found: list[Ray]) -> Floats:
    """Rays as float columns, each with largest entry 1."""
    return np.array([[float(Fraction(entry, max(ray))) for entry in ray] for ray in found]).T
