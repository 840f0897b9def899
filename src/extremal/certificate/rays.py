"""Any sum of column values under metric privacy, checked ray by ray (small alphabets).

For any α and any mixture λ of the utilities: OPT ≤ 1·α + max over extreme rays r of (Σλμ(r) − α·r)·k/(1·r), or 1·α if
that is negative. The rays are listed again here; near-rays count too, which only weakens the bound. Column values are
computed in floats and enlarged.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.certificate.metric_rays import extreme_rays
from extremal.certificate.refused import Refused
from extremal.privacy import MetricPrivacy, Notion
from extremal.utility import SumOfColumns, Utility, WorstCase

VALUE_ERROR = 1e-13  # relative to the largest column value; evaluation is accurate to about 1e-15
NEAR = 1e-9  # inequalities may be off by this much, relatively: no ray is missed to rounding


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The upper bound that the dual vector proves."""
    if not isinstance(privacy, MetricPrivacy):
        raise Refused("rays are listed for metric privacy", parameter="privacy", value=privacy)
    parts = utility.utilities if isinstance(utility, WorstCase) else (utility,)
    alpha, mix = np.array([float(a) for a in proof["alpha"]]), np.array([float(w) for w in proof["mix"]])
    if (
        alpha.shape != (utility.k,)
        or mix.shape != (len(parts),)
        or not np.isfinite(alpha).all()
        or (mix < 0).any()
        or not mix.sum() > 0
    ):
        raise Refused("the dual vector must have one finite entry for each input", parameter="alpha", value=alpha.shape)
    columns = extreme_rays(privacy, NEAR)
    values = np.array([part.column_values(columns) for part in parts if isinstance(part, SumOfColumns)])
    error = VALUE_ERROR * (float(np.abs(values).max()) + float(np.abs(alpha).sum()))
    excess = (mix / mix.sum() @ values - alpha @ columns + error) * utility.k / columns.sum(axis=0)
    return float(math.fsum(alpha) + max(0.0, float(excess.max())) + error)
