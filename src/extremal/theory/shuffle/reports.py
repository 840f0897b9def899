"""What shuffled reports show about a pair of inputs: reports in classes of equal likelihood ratios.

The divergence between the shuffled reports of two data sets that differ in one person, x₀ or x₁, depends on the
mechanism only through the totals (Q(y|x₀), Q(y|x₁), R(y)) of the classes of reports y with equal ratios, where R is
what the others report from: the row of the input they hold, or the blanket ω(y) = min_x Q(y|x). A blanket that is
smaller than the true one is valid, too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

Masses = tuple[fmpq, fmpq, fmpq]
Classes = tuple[Masses, ...]
"""(Q(y|x₀), Q(y|x₁), R(y)), summed over the reports y of a class."""


@dataclass(frozen=True, eq=False)
class OtherInput:
    """What the other people may hold: its classes with the pair, and whether there is such an input beside this pair.
    One that is not real only makes an upper bound larger."""

    name: str
    classes: Callable[[], Classes]
    real: bool = True


@dataclass(frozen=True, eq=False)
class PairReports:
    """An ordered pair of inputs that the differing person may hold.

    Attributes:
        name: the pair in words.
        blanket: classes with R at most the smallest probability of each report over all inputs.
        others: classes with R the row of an input: x₀, x₁, and third inputs.
        complete: whether `others` has every input up to symmetries that fix the pair.
        aligned: whether the classes of all `others` are the same reports in the same order.
    """

    name: str
    blanket: Callable[[], Classes]
    others: tuple[OtherInput, ...]
    complete: bool
    aligned: bool = False
    indices: tuple[float, ...] | None = None
    """Σ(Q(y|x₀) − Q(y|x₁))²/R(y) for each of `others`, where it was found at once."""

    @cached_property
    def blanket_classes(self) -> Classes:
        return merged(self.blanket())

    @cached_property
    def other_indices(self) -> tuple[float, ...]:
        """What ranks data sets: shuffled reports look normal, with μ² = index/n."""
        return self.indices or tuple(index(classes) for classes in self.other_classes)

    @cached_property
    def other_classes(self) -> tuple[Classes, ...]:
        found = [other.classes() for other in self.others]
        return tuple(found) if self.aligned else tuple(map(merged, found))


def index(classes: Classes) -> float:
    """Σ(Q(y|x₀) − Q(y|x₁))²/R(y) as a double; infinite where R is 0 and the two differ."""
    return math.fsum(float(a - b) ** 2 / float(r) if r else math.inf for a, b, r in classes if a != b)


def merged(classes: Iterable[Masses]) -> Classes:
    """Classes of equal ratios added up; reports that nobody gives left out."""
    sums: dict[tuple[fmpq, fmpq] | None, list[fmpq]] = {}
    singular: list[Masses] = []
    for q0, q1, r in classes:
        if not r:
            singular += [(q0, q1, r)] if q0 or q1 else []
            continue
        held = sums.setdefault((q0 / r, q1 / r), [fmpq(0)] * 3)
        held[0] += q0
        held[1] += q1
        held[2] += r
    return (*((a, b, r) for a, b, r in sums.values()), *singular)


Common = Callable[[tuple[int, ...]], fmpq]
"""How many reports all of these inputs (numbered 0, 1, 2) favour."""


def patterns(inputs: int, common: Common) -> dict[tuple[int, ...], fmpq]:
    """How many reports exactly these inputs favour, by inclusion and exclusion."""
    counts = {}
    for held in itertools.product((0, 1), repeat=inputs):
        within = [j for j in range(inputs) if held[j]]
        without = [j for j in range(inputs) if not held[j]]
        counts[held] = sum(
            (
                (-1) ** size * common((*within, *more))
                for size in range(len(without) + 1)
                for more in itertools.combinations(without, size)
            ),
            fmpq(0),
        )
    return counts
