"""Unary encoding: one bit for each answer, each randomised on its own."""

from __future__ import annotations

from typing import Any

from extremal.errors import InvalidParameter
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.mechanism.bit_labels import BitLabels
from extremal.mechanism.structures.bits import optimised_bits, symmetric_bits
from extremal.privacy import LDP


def unary_encoding(k: int, epsilon: Any, optimised: bool = True, inputs: Any = None) -> Mechanism:
    """Report k independent bits, of which that of the true answer is likelier to be 1.

    With a = P(1 | the truth's bit) and b = P(1 | any other bit), a(1−b) ≤ e^ε·b(1−a). Optimised: a = ½, b = 1/(e^ε+1),
    n·Var ≈ 4e^ε/(e^ε−1)² for a rare answer. Symmetric (basic RAPPOR): b = 1−a = 1/(e^(ε/2)+1), n·Var ≈
    e^(ε/2)/(e^(ε/2)−1)².

    Guarantee: ε-LDP, decided on integers over 2^62; the 2^k reports are never listed. A report is a tuple of ⌈k/8⌉
    bytes, the first answer in the highest bit (`numpy.packbits`).

    Args:
        k: number of inputs.
        epsilon: nats, above 0.
        optimised: the least variance for rare answers; else the symmetric one.
        inputs: labels.

    Reference: Wang, Blocki, Li and Jha, Locally Differentially Private Protocols for Frequency Estimation, USENIX
    Security 2017; Erlingsson, Pihur and Korolova, RAPPOR, CCS 2014.

    >>> m = unary_encoding(100, 1)
    >>> len(m.privatize([0, 99])[1]), m.privacy.level(m)
    (13, 1.0)
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
    refuse_no_epsilon(notion)
    structure = (optimised_bits if optimised else symmetric_bits)(count, notion.exponential)
    return Mechanism.from_structure(structure, notion, inputs, BitLabels(count))


def refuse_no_epsilon(notion: LDP) -> None:
    """Raise at ε = 0, where every report is as good as none."""
    if not notion.epsilon:
        raise InvalidParameter(
            "epsilon must be positive: at 0 a report says nothing", parameter="epsilon", value=notion.epsilon
        )
