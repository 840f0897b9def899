"""The dual of the full 2^k program, checked pattern by pattern (KOV Theorem 4; small alphabets).

For any α, and any mixture λ of the utilities: OPT ≤ 1·α + max_T (Σλμ(S_T) − α·S_T)·k/(1·S_T). Column values are
computed in floats and enlarged by `VALUE_ERROR`, relatively to their terms, which is far above their rounding error;
the rest is rounded outward.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.certificate.refused import Refused
from extremal.privacy import LDP, Notion
from extremal.utility import SumOfColumns, Utility, WorstCase

MOST_INPUTS = 16
VALUE_ERROR = 1e-13  # relative to the largest column value; evaluation is accurate to about 1e-15


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The upper bound that the dual vector proves."""
    k = utility.k
    if not isinstance(privacy, LDP) or privacy.delta or k > MOST_INPUTS:
        raise Refused("patterns are enumerated for ε-LDP and at most 16 inputs", parameter="k", value=k)
    parts = utility.utilities if isinstance(utility, WorstCase) else (utility,)
    alpha, mix = np.array([float(a) for a in proof["alpha"]]), np.array([float(w) for w in proof["mix"]])
    if (
        alpha.shape != (k,)
        or mix.shape != (len(parts),)
        or not np.isfinite(alpha).all()
        or (mix < 0).any()
        or not mix.sum() > 0
    ):
        raise Refused("the dual vector must have one finite entry for each input", parameter="alpha", value=alpha.shape)
    mix = mix / mix.sum()
    low = math.exp(-privacy.epsilon)
    masks = np.arange(1, 2**k - 1)
    inside = ((masks[None, :] >> np.arange(k)[:, None]) & 1) == 1
    columns = np.where(inside, 1.0, low)
    values = np.array([part.column_values(columns) for part in parts if isinstance(part, SumOfColumns)])
    combined = mix @ values
    cost = alpha @ columns
    error = VALUE_ERROR * (np.abs(values).max() + np.abs(alpha).sum())
    excess = (combined - cost + error) * k / columns.sum(axis=0)
    return float(math.fsum(alpha) + excess.max() + error)
