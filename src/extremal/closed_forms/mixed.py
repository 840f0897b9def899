"""The better of the binary mechanism and randomised response: two closed forms that together are never far off.

The binary mechanism is optimal for strong privacy and randomised response for weak (KOV Theorems 5, 8, 12, 14, with
the conditions of errata E1, E3 and E6); between them neither need be, and the better of the two is what KOV suggest
for every ε (Sections 3.4 and 4.4). How far off it may be is seen in `extremal reproduce kov-fig4 kov-fig7`; `ex.design`
has no such gap.
"""

from __future__ import annotations

from typing import Any

from extremal.closed_forms.binary import binary, binary_for_information
from extremal.closed_forms.randomized_response import randomized_response
from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.utility import Divergence, MutualInformation, Utility


def better_of_two(utility: Utility, epsilon: Any, inputs: Any = None) -> Mechanism:
    """The binary mechanism or randomised response, whichever has the larger utility; ε-LDP.

    Guarantee: exactly ε-LDP, as both are; U = max(U(binary), U(randomised response)).

    Args:
        utility: a divergence of two hypotheses, or mutual information.
        epsilon: nats.
        inputs: labels; 0..k−1 if not given.

    Raises:
        InvalidParameter: another utility: the binary mechanism is made from two hypotheses or one prior.

    Reference: Kairouz, Oh, Viswanath, JMLR 17 (2016), Sections 3.4 and 4.4.

    >>> import extremal as ex
    >>> u = ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    >>> better_of_two(u, 0.5).m, better_of_two(u, 5).m
    (2, 3)
    """
    if isinstance(utility, Divergence):
        two = binary(utility.pair.p0, utility.pair.p1, epsilon, divergence=lambda *_: utility, inputs=inputs)
    elif isinstance(utility, MutualInformation):
        two = binary_for_information(utility.prior, epsilon, inputs=inputs)
    else:
        raise InvalidParameter(
            "the binary mechanism needs two hypotheses or a prior",
            parameter="utility",
            value=type(utility).__name__,
            hint="ex.KL(p0, p1) or ex.MutualInformation(prior).",
        )
    response = randomized_response(utility.k, epsilon, inputs=inputs)
    return max((two, response), key=utility)
