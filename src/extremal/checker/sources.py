"""Priors, and closed convex sets of them (§3 of the page on proofs)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any

from extremal.checker.grammar import LONGEST_WHOLE, MOST_PLACES, count_between, decimal, exactly, rational
from extremal.checker.numbers import ONE, ZERO, Undecided, Vector, dot, expect, total, whole_numbers

Prior = tuple[Fraction, ...]
MOST_INPUTS = 2**24  # symbols of an alphabet
MOST_CHARACTERS = 2**28  # entries of a prior × the digits of the longest
MOST_PERMUTED, MOST_IN_BALL = 8, 10  # inputs of a class whose extreme priors are listed


def read_prior(given: Any) -> Prior:
    """Decimals that sum to exactly 1; or whole weights that no such decimals stand for, divided by their sum."""
    expect(isinstance(given, list) and 2 <= len(given) <= MOST_INPUTS, "a prior has at least 2 entries")
    expect(all(isinstance(v, str) for v in given), "a prior is a list of strings")
    longest = max(map(len, given))
    expect(longest <= LONGEST_WHOLE and longest * len(given) <= MOST_CHARACTERS, "a prior is not that long")
    weights = [decimal(v, LONGEST_WHOLE) for v in given]
    mass = total(weights)
    expect(min(weights) >= 0 and mass > 0, "probabilities are not negative, and not all 0")
    if mass != 1:
        whole, _ = whole_numbers(weights)
        expect(whole == weights and math.gcd(*whole) == 1, "probabilities sum to 1, or are weights in lowest terms")
        expect(10**MOST_PLACES % int(mass) != 0, "weights that have decimals are written as decimals")
    return tuple(w / mass for w in weights)


@dataclass(frozen=True)
class Source:
    """A closed convex set of priors, by its kind; `priors` are its members, or the one that it is made from."""

    kind: str
    priors: tuple[Prior, ...]
    radius: Fraction = ZERO
    size: int = 0

    @property
    def k(self) -> int:
        """Number of inputs."""
        return self.size or len(self.priors[0])

    @property
    def is_list(self) -> bool:
        return self.kind in ("list", "ordered")

    @property
    def only(self) -> Prior | None:
        """The prior, where a list has one entry."""
        return self.priors[0] if self.is_list and len(self.priors) == 1 else None

    @cached_property
    def in_whole_numbers(self) -> list[tuple[list[int], int]]:
        """Each prior as integers and what they sum to."""
        return [whole_numbers(p) for p in self.priors]

    def contains(self, p: Sequence[Fraction]) -> bool:
        """Whether one prior is shown to lie in the class; mixtures of a list are named by `mix`."""
        if len(p) != self.k:
            return False
        if self.kind == "simplex":
            return True
        first = self.priors[0]
        if self.kind == "ball":
            return sum((max(ZERO, a - b) for a, b in zip(p, first, strict=True)), ZERO) <= self.radius
        if self.kind == "permutation_invariant":  # p is a mean of permutations just when it is majorised (Rado)
            sums = (itertools.accumulate(sorted(v, reverse=True)) for v in (p, first))
            return all(a <= b for a, b in zip(*sums, strict=True))
        return tuple(p) in self.priors

    @cached_property
    def can_occur(self) -> list[bool]:
        """Of each input, whether some prior of the class has p(x) > 0."""
        if self.kind in ("simplex", "permutation_invariant") or (self.kind == "ball" and self.radius > 0):
            return [True] * self.k
        return [any(masses) for masses in zip(*self.priors, strict=True)]

    def extreme(self) -> list[Vector]:
        """Extreme priors in the order in which proofs number them (§5), without repetition."""
        found: Iterator[Sequence[Fraction]]
        if self.is_list:
            found = iter(self.priors)
        elif self.kind == "simplex":
            found = ([Fraction(int(x == z)) for z in range(self.k)] for x in range(self.k))
        elif self.kind == "ball":
            found = corners_of_ball(self.priors[0], self.radius)
        else:
            if self.k > MOST_PERMUTED:
                raise Undecided(f"permutations of more than {MOST_PERMUTED} symbols")
            found = iter(sorted(set(itertools.permutations(self.priors[0]))))
        return [list(p) for p in dict.fromkeys(map(tuple, found))]

    @property
    def is_decided_by_sets(self) -> bool:
        """Whether the least probabilities of sets decide all least means (§5, nested sets)."""
        return self.kind == "permutation_invariant" or (self.kind == "ball" and self.radius > 0)

    def least_probability(self, inputs: Sequence[int]) -> Fraction:
        """min p(S) over a class that sets decide."""
        if self.kind == "permutation_invariant":
            return sum(sorted(self.priors[0])[: len(inputs)], ZERO)
        share = sum((self.priors[0][x] for x in inputs), ZERO)
        return share if len(inputs) == self.k else max(share - self.radius, ZERO)

    def largest(self, losses: Sequence[Fraction]) -> Fraction:
        """max p·losses over the class: a linear function is largest at an extreme prior."""
        if self.kind == "simplex":
            return max(losses)
        if self.kind == "permutation_invariant":  # the rearrangement inequality
            return dot(sorted(self.priors[0]), sorted(losses))
        if self.kind != "ball":
            return max(dot(p, losses) for p in self.priors)
        left, worth, most = self.radius, dot(self.priors[0], losses), max(losses)
        for p, loss in sorted(zip(self.priors[0], losses, strict=True), key=lambda pair: pair[1]):
            moved = min(p, left)
            left, worth = left - moved, worth + moved * (most - loss)
        return worth

    def least_mean(self, column: Sequence[int]) -> Fraction:
        """min p·column over the class, for whole weights."""
        if self.is_list:
            return min(Fraction(sum(map(mul, p, column)), mass) for p, mass in self.in_whole_numbers)
        return -self.largest([Fraction(-v) for v in column])


def corners_of_ball(p: Sequence[Fraction], radius: Fraction) -> Iterator[Vector]:
    """Mass `radius` goes to one input, from a set that is emptied and one further input."""
    if len(p) > MOST_IN_BALL:
        raise Undecided(f"corners of a ball of priors on more than {MOST_IN_BALL} inputs")
    for receiver in range(len(p)):
        if ONE - p[receiver] <= radius:
            yield [Fraction(int(x == receiver)) for x in range(len(p))]
        else:
            yield from corners_towards(p, radius, receiver)


def corners_towards(p: Sequence[Fraction], radius: Fraction, to: int) -> Iterator[Vector]:
    """Emptied sets by size, then in lexicographic order."""
    others = [x for x in range(len(p)) if x != to]
    for emptied in itertools.chain(*(itertools.combinations(others, size) for size in range(len(p)))):
        left = radius - sum((p[x] for x in emptied), ZERO)
        for x in others:
            if x not in emptied and 0 <= left <= p[x]:
                corner = [ZERO if z in emptied else v for z, v in enumerate(p)]
                corner[x] -= left
                corner[to] += radius
                yield corner


def read_source(given: Any) -> Source:
    """A class of priors as a file holds it; one prior is a list with one entry."""
    kind = given.get("kind") if isinstance(given, dict) else None
    if kind == "simplex":
        size = count_between(exactly(given, {"kind", "k"}, "a simplex")["k"], 2, MOST_INPUTS, "k")
        return Source("simplex", (), size=size)
    if kind == "ball":
        content = exactly(given, {"kind", "prior", "radius"}, "a ball")
        radius = rational(content["radius"])
        expect(0 <= radius <= 1, "a radius in total variation is between 0 and 1")
        return Source("ball", (read_prior(content["prior"]),), radius)
    expect(kind in ("list", "ordered", "permutation_invariant"), "a source has a kind")
    members = exactly(given, {"kind", "priors"}, "a list of priors")["priors"]
    expect(isinstance(members, list) and len(members) > 0, "a source has at least one prior")
    priors = tuple(map(read_prior, members))
    expect(len({len(p) for p in priors}) == 1, "priors of one length")
    expect(kind != "permutation_invariant" or len(priors) == 1, "one prior that is permuted")
    expect(kind != "ordered" or all(list(p) == sorted(p, reverse=True) for p in priors), "ordered priors do not rise")
    return Source(str(kind), priors)
