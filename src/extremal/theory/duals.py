"""The dual vectors in closed form that the paper's proofs rest on (KOV eq 39, 40, 45–50).

The staircase program max Σθ_T μ(S_T) s.t. Σθ_T S_T = 1 has the dual min Σα s.t. α·S_T ≥ μ(S_T) for every set T: any
feasible α proves that no ε-LDP mechanism is worth more than Σα.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.exact import Exponential
from extremal.utility.pair import Pair
from extremal.utility.utility import Floats, SumOfColumns


def total_variation_dual(p0: Any, p1: Any, epsilon: Any) -> Floats:
    """α = ½·tanh(ε/2)·|P₀ − P₁|: feasible at every ε, and its sum is what the binary mechanism reaches (KOV Theorem 6).

    Guarantee: a proof that no ε-LDP mechanism keeps more total variation, in floats.

    >>> round(float(total_variation_dual([0.5, 0.3, 0.2], [0.1, 0.2, 0.7], 1).sum()), 6)
    0.231059
    """
    return np.abs(Pair(p0, p1).difference) * math.tanh(Exponential(epsilon).epsilon / 2) / 2


def response_dual(utility: SumOfColumns, epsilon: Any) -> Floats:
    """The only α that is tight on all single-symbol patterns: its sum is the value of randomised response, which is
    therefore optimal iff this α is feasible (KOV eq 45–48; for any utility of this form).

    α_i = [(e^ε + k − 2)·μ_i − Σ_{l≠i} μ_l]/((e^ε − 1)(e^ε + k − 1)), μ_i the worth of the pattern that is high on i
    alone.

    Guarantee: feasible or not, its sum is the value of randomised response, in floats.

    >>> import extremal as ex
    >>> u = ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    >>> bool(abs(response_dual(u, 3).sum() - u(ex.randomized_response(3, 3))) < 1e-14)
    True
    """
    level = Exponential(epsilon).epsilon
    if not level:
        raise InvalidParameter("the dual vector needs a positive epsilon", parameter="epsilon", value=epsilon)
    k, low = utility.k, math.exp(-level)
    columns = np.full((k, k), low)
    np.fill_diagonal(columns, 1.0)  # patterns divided by e^ε, so that nothing overflows
    worth = utility.column_values(columns)
    spread = (1 + (k - 2) * low) * worth - low * (worth.sum() - worth)
    return np.asarray(spread / (-math.expm1(-level) * (1 + (k - 1) * low)))
