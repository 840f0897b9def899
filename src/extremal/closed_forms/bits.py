"""Reports of randomised bits or buckets: unary encoding, local hashing, and the Bloom filter of RAPPOR."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from extremal.errors import InvalidParameter, called_as
from extremal.exact import as_count
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_and_labels
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures.bits import optimised_bits, symmetric_bits
from extremal.mechanism.structures.bloom import BloomBits
from extremal.mechanism.structures.chosen_sets import HashedSets, hashed_inside
from extremal.privacy import LDP

MOST_BUCKETS = 1 << 20  # half of the 2^21 − 9 values of a hash, so that every bucket has at least two of them


@called_as("ex.unary_encoding(k, epsilon, optimised=False)")
def unary_encoding(k: int | Sequence[Any], epsilon: Any, optimised: bool = True, inputs: Any = None) -> Mechanism:
    """Report k independent bits; the bit of the true answer is more likely to be 1.

    With a = P(1 | the truth's bit) and b = P(1 | any other bit), a(1−b) ≤ e^ε·b(1−a). Optimised: a = ½, b = 1/(e^ε+1),
    n·Var ≈ 4e^ε/(e^ε−1)² for a rare answer. Symmetric (basic RAPPOR): b = 1−a = 1/(e^(ε/2)+1), n·Var ≈
    e^(ε/2)/(e^(ε/2)−1)².

    Guarantee: ε-LDP, decided on integers over 2^62; the 2^k reports are never listed. A report is a tuple of ⌈k/8⌉
    bytes, the first answer in the highest bit (`numpy.packbits`).

    Args:
        k: number of inputs, or their labels.
        epsilon: nats, above 0.
        optimised: the least variance for rare answers; else the symmetric one.
        inputs: labels.

    Reference: Wang, Blocki, Li and Jha, Locally Differentially Private Protocols for Frequency Estimation, USENIX
    Security 2017; Erlingsson, Pihur and Korolova, RAPPOR, CCS 2014.

    >>> m = unary_encoding(100, 1)
    >>> len(m.privatize([0, 99])[1]), m.privacy.level(m)
    (13, 1.0)
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
    refuse_no_epsilon(notion)
    structure = (optimised_bits if optimised else symmetric_bits)(count, notion.exponential)
    return Mechanism.from_structure(structure, notion, inputs, BitLabels(count))


def refuse_no_epsilon(notion: LDP) -> None:
    """Raise at ε = 0, where every report is as good as none."""
    if not notion.epsilon:
        raise InvalidParameter(
            "epsilon must be positive: at 0 a report says nothing", parameter="epsilon", value=notion.epsilon
        )


def local_hashing(k: int | Sequence[Any], epsilon: Any, buckets: int | None = None, inputs: Any = None) -> Mechanism:
    """Report a random hash function and, through randomised response, the bucket of the answer under it.

    h(x) = ((a·u + b) mod P) mod g with u = (x + 1,234,567)³ and (a, b) uniform modulo the prime P = 2^21 − 9; Q(h, v |
    x) ∝ e^ε if v = h(x), else 1. The optimised g is next to e^ε + 1, where n·Var ≈ 4e^ε/(e^ε−1)² for a rare answer,
    whatever k.

    Guarantee: ε-LDP whatever the hash functions are: it is the randomised response on g buckets, decided on integers.
    Two answers collide with probability Σ(share of a bucket)², known exactly, so that the estimates are unbiased. A
    report is one whole number, (a·P + b)·g + v, below 2^53 for g ≤ 2,048.

    Args:
        k: number of inputs, or their labels, at most 2^21 − 9.
        epsilon: nats, above 0.
        buckets: g; the optimised one if not given.
        inputs: labels.

    Reference: Wang, Blocki, Li and Jha, USENIX Security 2017 (optimised local hashing); Bassily and Smith, STOC 2015.

    >>> m = local_hashing(1_000_000, 1)
    >>> m.structure.buckets, m.privacy.level(m), type(m.privatize(7))
    (4, 1.0, <class 'int'>)
    """
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
    refuse_no_epsilon(notion)
    best = round(math.exp(min(notion.epsilon, 20.0))) + 1
    g = min(MOST_BUCKETS, best) if buckets is None else as_count(buckets, "buckets", 2)
    return Mechanism.from_structure(HashedSets(count, hashed_inside(g, notion.exponential), g), notion, inputs)


def bloom_filter(
    k: int | Sequence[Any],
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
        k: number of inputs, or their labels.
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
    (count, inputs), notion = count_and_labels(k, inputs, epsilon), LDP(epsilon)
    refuse_no_epsilon(notion)
    start = BloomBits(count, bits, hashes, cohorts, DENOMINATOR // 2 + 1, DENOMINATOR // 2)
    if not start.difference:
        raise InvalidParameter("some inputs must set different bits", parameter="bits", value=bits, hint="Use more.")
    other = notion.exponential.least_low(DENOMINATOR, power=2 * start.difference)
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
    wanted = notion.exponential.least_low(kept.denominator, power=2 * kept.difference)  # over 2^124
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
