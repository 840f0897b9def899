"""Two levels, as RAPPOR has them (Erlingsson, Pihur, Korolova 2014): a permanent report, stored and never shown, and
for each ask a fresh instantaneous report about it.

Whoever sees one instantaneous report learns at most `once`; whoever sees all of them, however many, at most `forever`,
since all are made of the permanent one. Both are decided on integers. Where the permanent report is a word of bits
(unary encoding), the instantaneous mechanism has the inputs 0 and 1 and is applied to each bit, as in the paper.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.exact.exponential import level_of_ratio
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import IndependentBits
from extremal.privacy import LDP
from extremal.release.privatize import privatize_column


class TwoLevels:
    """A permanent report, kept, and an instantaneous one about it each time somebody asks.

    One report satisfies `once`-LDP, and any number of them together `forever`-LDP. Both levels are decided on integers:
    `once` on the products of the weights, over 2^124.

    Guarantee: the levels are those of the mechanisms, decided in integers.

    Args:
        permanent: a mechanism that claims pure LDP.
        instantaneous: a mechanism whose inputs are the permanent one's outputs; for reports that are words of bits one
            with inputs and outputs 0, 1, which is applied to each bit. It needs no claim.

    Reference: Erlingsson, Pihur, Korolova, RAPPOR, CCS 2014.

    >>> import extremal as ex
    >>> two = TwoLevels(ex.randomized_response(2, 2), ex.randomized_response(2, 1))
    >>> two.forever, round(two.once, 4), two.once < two.forever
    (2.0, 0.7353, True)
    >>> rappor = TwoLevels(ex.unary_encoding(8, 2, optimised=False), ex.randomized_response(2, "1.1"))
    >>> rappor.forever, round(rappor.once, 4)
    (2.0, 0.9422)
    """

    def __init__(self, permanent: Mechanism, instantaneous: Mechanism) -> None:
        cost(permanent)
        self._bits = isinstance(permanent.structure, IndependentBits)
        wanted = (0, 1) if self._bits else permanent.outputs
        if instantaneous.inputs != wanted or (self._bits and instantaneous.outputs != wanted):
            raise InvalidParameter(
                "the instantaneous mechanism must take the permanent one's outputs as its inputs",
                parameter="instantaneous.inputs",
                value=instantaneous.inputs,
                hint="For each bit: 0 and 1, and the same outputs." if self._bits else f"Those are {wanted[:6]!r}.",
            )
        self.permanent, self.instantaneous = permanent, instantaneous

    def about(self, permanent: Label) -> Label:
        """A fresh instantaneous report about a permanent one."""
        if not self._bits:
            made: Label = privatize_column(self.instantaneous, [permanent])[0]
            return made
        bits = np.unpackbits(np.array(permanent, dtype=np.uint8), count=self.permanent.structure.r)
        drawn = privatize_column(self.instantaneous, bits.astype(np.int64))
        return tuple(np.packbits(np.asarray(drawn, dtype=np.uint8)).tolist())

    @cached_property
    def once(self) -> float:
        """The smallest ε of one report, rounded up so that LDP holds there."""
        if self._bits:
            own, other = self._ones
            whole = DENOMINATOR**2
            a, b = own * (whole - other), other * (whole - own)
            return level_of_ratio(max(a, b), min(a, b))
        rows = self.permanent.distinct_rows().astype(object) @ self.instantaneous.weights.astype(object)
        used = rows[:, rows.max(axis=0) > 0]
        largest, smallest = used.max(axis=0), used.min(axis=0)
        if not smallest.all():
            return float("inf")
        a, b = max(zip(largest, smallest, strict=True), key=lambda pair: Fraction(int(pair[0]), int(pair[1])))
        return level_of_ratio(int(a), int(b))

    @cached_property
    def _ones(self) -> tuple[int, int]:
        """The weights of a 1, over 2^124, in the bit of the truth and in any other."""
        structure: Any = self.permanent.structure
        (_, from_zero), (_, from_one) = self.instantaneous.weights.tolist()
        own, other = (w * from_one + (DENOMINATOR - w) * from_zero for w in (structure.own, structure.other))
        return own, other

    @property
    def forever(self) -> float:
        """The smallest ε of all reports together, however many, rounded up so that LDP holds there."""
        return LDP(0).level(self.permanent)

    @cached_property
    def together(self) -> Mechanism:
        """The mechanism from value to one instantaneous report, weights rounded to 2^-62: what estimates need."""
        if not self._bits:
            return self.permanent.then(self.instantaneous)
        own, other = (round(Fraction(weight, DENOMINATOR)) for weight in self._ones)
        structure: Any = self.permanent.structure
        bits = IndependentBits(structure.r, own, other)
        return Mechanism.from_structure(bits, None, self.permanent.inputs, BitLabels(structure.r))


def cost(mechanism: Any) -> Fraction:
    """The ε that a report costs: the claim's own rational, or an upper bound when e^ε is the rational.

    Raises:
        PrivacyViolation: no pure LDP is claimed, so that nothing can be added up.
    """
    claim = mechanism.privacy
    if not isinstance(claim, LDP) or claim.exact_delta:
        raise PrivacyViolation(
            "a memory adds up ε, which needs a mechanism that claims LDP without δ",
            parameter="mechanism.privacy",
            value=claim,
            hint="mechanism.claiming(ex.LDP(epsilon)) decides such a claim.",
        )
    exponent, ratio = claim.exponential.exponent, claim.exponential.ratio
    if exponent is not None or ratio is None:
        return exponent or Fraction(0)
    # The level holds for the decimal that it prints as, which may lie above the double.
    return Fraction(repr(level_of_ratio(ratio.numerator, ratio.denominator)))
