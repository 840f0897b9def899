"""Local hashing: hash the answer to a few buckets, and randomise the bucket."""

from __future__ import annotations

import math
from typing import Any

from extremal.closed_forms.unary_encoding import refuse_no_epsilon
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.chosen_sets import HashedSets, hashed_inside
from extremal.privacy import LDP

MOST_BUCKETS = 1 << 20


def local_hashing(k: int, epsilon: Any, buckets: int | None = None, inputs: Any = None) -> Mechanism:
    """Report a random hash function and, through randomised response, the bucket of the answer under it.

    h(x) = ((a·u + b) mod P) mod g with u = (x + 1,234,567)³ and (a, b) uniform modulo the prime P = 2^21 − 9; Q(h, v |
    x) ∝ e^ε if v = h(x), else 1. The optimised g is next to e^ε + 1, where n·Var ≈ 4e^ε/(e^ε−1)² for a rare answer,
    whatever k.

    Guarantee: ε-LDP whatever the hash functions are: it is the randomised response on g buckets, decided on integers.
    Two answers collide with probability Σ(share of a bucket)², known exactly, so that the estimates are unbiased. A
    report is one whole number, (a·P + b)·g + v, below 2^53 for g ≤ 2,048.

    Args:
        k: number of inputs, at most 2^21 − 9.
        epsilon: nats, above 0.
        buckets: g; the optimised one if not given.
        inputs: labels.

    Reference: Wang, Blocki, Li and Jha, USENIX Security 2017 (optimised local hashing); Bassily and Smith, STOC 2015.

    >>> m = local_hashing(1_000_000, 1)
    >>> m.structure.buckets, m.privacy.level(m), type(m.privatize(7))
    (4, 1.0, <class 'int'>)
    """
    count, notion = as_count(k, "k", 2), LDP(epsilon)
    refuse_no_epsilon(notion)
    best = round(math.exp(min(notion.epsilon, 20.0))) + 1
    g = min(MOST_BUCKETS, best) if buckets is None else as_count(buckets, "buckets", 2)
    return Mechanism.from_structure(HashedSets(count, hashed_inside(g, notion.exponential), g), notion, inputs)
