"""Shares by short reports: the best of the known constructions with at most so many different reports.

The best mechanism for shares has astronomically many reports: sets of k/(e^ε+1) labels. What a shorter one costs is
decided by comparison, not by search: every construction here has an exact value (that of the estimate that its users
compute), and the bound that comes with the design is over all private mechanisms: the gap is the price of shortness.

| candidate | reports |
|---|---|
| randomised response | k |
| Hadamard response, for every number of blocks | B·b, b a power of two above k/B |
| projective geometry, for every order | (q^t − 1)/(q − 1), at least k |
| local hashing | 2^42 seeds × buckets |
| a projective geometry restricted to k points, with the best estimate | at most 4,096, for up to 300 inputs |
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extremal.certificate import enclosure
from extremal.closed_forms.bits import MOST_BUCKETS
from extremal.closed_forms.set_systems import LARGEST_ORDER, coordinates_for
from extremal.mechanism import Mechanism
from extremal.mechanism.structures.chosen_sets import (
    HASH_PRIME,
    ChosenSets,
    HadamardSets,
    HashedSets,
    ProjectiveSets,
    hashed_inside,
    is_prime,
    largest_inside,
    points,
)
from extremal.optimize.workload.structured.blocks import restricted_design
from extremal.privacy import LDP
from extremal.utility import Workload

MOST_RESTRICTED = 300  # inputs up to which the best estimate from listed sets is enclosed in a second
MOST_VECTORS = 1 << 24  # of a projective space whose transform an estimate takes, in a second and 200 MB
WIDER = 3  # orders up to this many times e^ε + 1: beyond, sets are far smaller than the best


@dataclass(frozen=True, eq=False)
class Candidate:
    """A construction: what it is called, and its n × mean squared error, exactly."""

    mechanism: Mechanism
    name: str
    value: Fraction | float


def best_short(inputs: Any, utility: Workload, privacy: LDP, limit: int) -> Candidate | None:
    """The candidate of least value with at most `limit` reports; None where there is none."""
    goal = utility.problem()

    def valued(mechanism: Mechanism, name: str) -> Candidate:
        return Candidate(mechanism, name, enclosure(goal, mechanism)[1])

    found = []
    if utility.k <= limit:
        found.append(valued(Mechanism.from_partition(range(utility.k), privacy, inputs=inputs), "randomised response"))
    found += [
        valued(Mechanism.from_structure(sets, privacy, inputs), _name(sets))
        for sets in _sets(utility.k, privacy, limit)
    ]
    if utility.k <= MOST_RESTRICTED:
        listed = restricted_design(utility.k, math.expm1(privacy.epsilon))
        if len(listed) <= limit:
            made = Mechanism.from_cover(utility.k, listed, privacy, inputs=inputs)
            found.append(valued(made, f"projective geometry, {made.m} sets"))
    return min((one for one in found if one.value != math.inf), key=lambda one: one.value, default=None)


def _sets(k: int, privacy: LDP, limit: int) -> Iterator[ChosenSets]:
    yield from _hadamard(k, privacy, limit)
    yield from _projective(k, privacy, limit)
    buckets = min(MOST_BUCKETS, round(math.exp(min(privacy.epsilon, 20.0))) + 1)
    if HASH_PRIME**2 * buckets <= limit:
        yield HashedSets(k, hashed_inside(buckets, privacy.exponential), buckets)


def _name(sets: ChosenSets) -> str:
    if isinstance(sets, HadamardSets):
        return f"Hadamard response, {sets.blocks} block{'s' if sets.blocks > 1 else ''} of {sets.width}"
    if isinstance(sets, ProjectiveSets):
        return f"projective geometry of order {sets.order}, {sets.m} points"
    return "local hashing"


def _hadamard(k: int, privacy: LDP, limit: int) -> Iterator[HadamardSets]:
    blocks = 1
    while blocks <= min(k, 2 * math.exp(min(privacy.epsilon, 40.0))):
        width = 2 ** max(1, math.ceil(math.log2(-(-k // blocks) + 1)))
        if blocks * width <= limit:
            inside = largest_inside(blocks * width, width // 2, privacy.exponential)
            yield HadamardSets(k, inside, blocks, width)
        blocks *= 2


def _projective(k: int, privacy: LDP, limit: int) -> Iterator[ProjectiveSets]:
    highest = min(LARGEST_ORDER, int(WIDER * (math.exp(min(privacy.epsilon, 20.0)) + 1)))
    for q in filter(is_prime, range(2, highest + 1)):
        t = coordinates_for(k, q)
        if points(q, t) <= limit and q**t <= MOST_VECTORS:
            yield ProjectiveSets(k, largest_inside(points(q, t), points(q, t - 1), privacy.exponential), q, t)
