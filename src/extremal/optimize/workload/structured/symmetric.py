"""All inputs alike: subset selection, or a block design of the same size.

For the shares themselves, every input equally likely and equally important, the best columns are patterns of one size
d, the one that makes ((e^ε−1)d + k)²/(d(k−d)) least; all d-subsets, or any family in which all pairs of inputs occur
equally often, attain the optimum (Ye and Barg 2018). It is also the least worst value over every class of priors that
holds the uniform one: there the gradient of F in the prior is constant, and F is concave.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.certificate import Dual, Listed, Squares
from extremal.mechanism import Mechanism
from extremal.optimize.workload.structured.blocks import block_design
from extremal.privacy import LDP

UNIT = 1 << 80  # of Z's diagonal in the proof


def best_size(k: int, ratio: float) -> int:
    """The d that makes ((e^ε−1)d + k)²/(d(k−d)) least, next to k/(e^ε+1)."""
    centre = k / (ratio + 1)
    candidates = {min(k - 1, max(1, d)) for d in (int(centre), int(centre) + 1)}
    return min(candidates, key=lambda d: (((ratio - 1) * d + k) / ratio) ** 2 / (d * (k - d)))


def symmetric_mechanism(k: int, privacy: LDP, inputs: Any) -> tuple[Mechanism, str]:
    """The mechanism with the fewest reports that attains the optimum, and what it is called."""
    size = best_size(k, float(np.exp(privacy.epsilon)))
    if size == 1:
        return Mechanism.from_partition(range(k), privacy, inputs=inputs), "closed form: randomised response"
    sets = block_design(k, size)
    if sets is not None:
        return Mechanism.from_cover(
            k, sets, privacy, inputs=inputs
        ), f"closed form: block design of {len(sets)} sets of {size}"
    return Mechanism.from_subsets(k, size, privacy, inputs=inputs), f"closed form: subset selection of size {size}"


def symmetric_proof(k: int) -> Squares:
    """Z = I − 11ᵀ/k and α = 0: every column's price is reached at the best size."""
    return Squares(((),), Dual((), Listed()), (UNIT,), (0,) * k)
