"""f-information: how far the joint law of value and report is from independence, in any f-divergence.

I_f(X;Y) = Σ_y P(y) Σ_x p(x)·f(Q(y|x)/P(y)) is a sum over reports of a sublinear function of their columns, for every
convex f (GSO Definition 4 names it as such), so the lift vectors of PML and the staircases of LDP solve it. KL gives
mutual information, χ² the squared correlation of every pair of features at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extremal.exact import as_prior
from extremal.utility import ChiSquared, Divergence, Sublinear
from extremal.utility.utility import Floats


def f_information(prior: Any, divergence: Callable[[Any, Any], Divergence] = ChiSquared) -> Sublinear:
    """I_f as a utility, for `ex.design` under PML or LDP with a small alphabet (14 and 16 inputs).

    Guarantee: like every function from outside it is optimised over all extreme columns, and reported as unverified.

    Args:
        prior: the distribution of the value.
        divergence: which f, a class such as `ex.ChiSquared`, or a function of two distributions.

    Reference: GSO Definition 4.

    >>> import extremal as ex
    >>> m, prior = ex.randomized_response(3, 1), [0.5, 0.3, 0.2]
    >>> abs(f_information(prior, ex.KL)(m) - ex.MutualInformation(prior)(m)) < 1e-15
    True
    """
    weights = as_prior(prior).values
    f = divergence(prior, prior)

    def worth(columns: Floats) -> Floats:
        marginal = weights @ columns
        safe = np.where(marginal > 0, marginal, 1.0)
        independent = np.broadcast_to(safe, columns.shape)
        values = f.perspective(columns, independent, columns - independent)
        return np.where(marginal > 0, weights @ values, 0.0)

    return Sublinear(len(weights), worth)
