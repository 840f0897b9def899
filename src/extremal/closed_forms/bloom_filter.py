"""The randomised Bloom filter of RAPPOR, with its two levels."""

from __future__ import annotations

from typing import Any

from extremal.closed_forms.unary_encoding import refuse_no_epsilon
from extremal.errors import InvalidParameter
from extremal.exact import Exponential, as_count
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.bit_labels import BitLabels
from extremal.mechanism.structures.bloom import BloomBits
from extremal.privacy import LDP

_BITS = 192  # of e^ε where a search starts


def bloom_filter(
    k: int,
    epsilon: Any,
    once: Any = None,
    *,
    bits: int = 128,
    hashes: int = 2,
    cohorts: int = 8,
    inputs: Any = None,
) -> Mechanism:
    """Report a cohort and a Bloom filter of the answer in which every bit is randomised, once or twice.

    Permanent: every bit of the filter is kept with probability 1 − f/2 and inverted with f/2, f from ((2 − f)/f)^(2d) =
    e^ε, with d the most bits in which two answers differ (`hashes`, almost always). Instantaneous, with `once`: the
    kept bits are inverted again, for every report anew, so that one report alone is `once`-LDP and any number of them
    together are ε-LDP. `extremal.release.bloom` keeps a filter and reports it again.

    Guarantee: both levels decided on integers, over 2^62 and 2^124; the claim is that of one report. A report is a
    tuple of bytes: the number of the cohort, then the filter, the first bit the highest.

    Args:
        k: number of inputs.
        epsilon: nats, above 0; what all reports of a person together may tell.
        once: nats, above 0 and below `epsilon`; what one report may tell. None: the permanent filter itself is shown.
        bits: of the filter, at least twice `hashes`; `cohorts` × `bits` must reach k for all frequencies to be had.
        hashes: bits that an answer sets.
        cohorts: a power of two; two answers that set the same bits in one do not in another.
        inputs: labels.

    Reference: Erlingsson, Pihur and Korolova, RAPPOR, CCS 2014.

    >>> m = bloom_filter(50, 4, once=1)
    >>> m.privacy.level(m), LDP(4).level(permanent_filter(m)), len(m.privatize(7))
    (1.0, 4.0, 17)
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
    refuse_no_epsilon(notion)
    start = BloomBits(count, bits, hashes, cohorts, DENOMINATOR // 2 + 1, DENOMINATOR // 2)
    if not start.difference:
        raise InvalidParameter("some inputs must set different bits", parameter="bits", value=bits, hint="Use more.")
    other = _smallest(2 * start.difference, DENOMINATOR, notion.exponential)
    kept = BloomBits(count, bits, hashes, cohorts, DENOMINATOR - other, other)
    names = BitLabels(start.cohort_bits + bits)
    if once is None:
        return Mechanism.from_structure(kept, notion, inputs, names)
    shown = LDP(once)
    refuse_no_epsilon(shown)
    return Mechanism.from_structure(_shown(kept, shown), shown, inputs, names)


def permanent_filter(mechanism: Mechanism) -> Mechanism:
    """The mechanism of what is kept, without a claim: its level is that of any number of reports together."""
    structure = mechanism.structure
    if not isinstance(structure, BloomBits):
        raise InvalidParameter("the mechanism must be a Bloom filter", parameter="kind", value=structure.kind)
    names = BitLabels(structure.cohort_bits + structure.bits)
    return Mechanism.from_structure(structure.permanent, None, mechanism.input_labels.values, names)


def _shown(kept: BloomBits, notion: LDP) -> BloomBits:
    """The fewest inversions of kept bits with which one report meets the notion."""
    power = 2 * kept.difference
    wanted = _smallest(power, kept.denominator, notion.exponential)  # over 2^124
    # other + (own − other)·zero = wanted, in units of the two denominators
    zero = (wanted - kept.other * DENOMINATOR) // (kept.own - kept.other)
    if not 0 < zero < DENOMINATOR // 2:
        raise InvalidParameter(
            "once must be above 0 and below epsilon", parameter="once", value=notion.epsilon, hint="Or leave it out."
        )

    def meets(weight: int) -> bool:
        made = BloomBits(
            kept.r, kept.bits, kept.hashes, kept.cohorts, kept.own, kept.other, DENOMINATOR - weight, weight
        )
        a, b = made.shown
        return notion.exponential.at_least(
            (a * (made.denominator - b)) ** kept.difference, (b * (made.denominator - a)) ** kept.difference
        )

    zero = max(1, zero - 2)
    while not meets(zero):
        zero += 1
    return BloomBits(kept.r, kept.bits, kept.hashes, kept.cohorts, kept.own, kept.other, DENOMINATOR - zero, zero)


def _smallest(power: int, total: int, exponential: Exponential) -> int:
    """The smallest w with ((total − w)/w)^power ≤ e^ε."""
    lower, _ = exponential.bounds(_BITS)
    root = integer_root(lower << (_BITS * (power - 1)), power)
    weight = max(1, (total << _BITS) // (root + (1 << _BITS)) - 1)
    while not exponential.at_least((total - weight) ** power, weight**power):
        weight += 1
    return weight


def integer_root(number: int, power: int) -> int:
    """The largest whole number whose power is at most `number`.

    >>> integer_root(10**30, 3), integer_root(10**30 - 1, 3), integer_root(15, 4), integer_root(16, 4)
    (10000000000, 9999999999, 1, 2)
    """
    found = 1 << -(-number.bit_length() // power)  # not below the root: Newton falls towards it
    while True:
        closer = ((power - 1) * found + number // found ** (power - 1)) // power
        if closer >= found:
            return found
        found = closer
