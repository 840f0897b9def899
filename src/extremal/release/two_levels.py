"""Two levels, as RAPPOR has them (Erlingsson, Pihur, Korolova 2014): a permanent report, stored and never shown, and
for each ask a fresh instantaneous report about it.

Whoever sees one instantaneous report learns at most `once`; whoever sees all of them, however many, at most `forever`,
since all are made of the permanent one. Both are decided on integers. Where the permanent report is a word of bits
(unary encoding), the instantaneous mechanism has the inputs 0 and 1 and is applied to each bit, as in the paper.

A value that changes needs more than one permanent report, or the reports go stale. With `changing` every class that
the value enters gets a permanent report of its own, drawn at the first visit and used again at every later one. A class
is an input of the permanent mechanism; with `hashed` it is the value hashed by a function that each person draws once
(LOLOHA; Arcolezi and others 2023), so that few classes serve many labels. All reports together then cost `forever`
for each class visited, at most as often as there are classes. What that level covers is which values they were; *when*
a value changed, and that it came back to an earlier class, is visible to whoever sees enough reports, and only
`any_history` covers it.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.exact import as_count
from extremal.exact.exponential import level_of_ratio
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import HashedSets, IndependentBits, RandomizedResponse
from extremal.mechanism.structures.chosen_sets import HASH_PRIME, scattered
from extremal.privacy import LDP
from extremal.release.privatize import privatize_column

STEP = 10**9  # levels of instantaneous mechanisms that `within` tries: whole numbers over it
WIDEST = 50  # nats of an instantaneous mechanism: it hardly ever alters a report
MOST_CLASSES = 1 << 10  # that values are hashed to: e^once + 1 at once = 6.9, where a report is hardly noise


class TwoLevels:
    """A permanent report, kept, and an instantaneous one about it each time somebody asks.

    One report satisfies `once`-LDP, and any number of them together `forever`-LDP. Both levels are decided on integers:
    `once` on the products of the weights, over 2^124.

    Guarantee: the levels are those of the mechanisms, decided in integers. With `changing`, all reports about a value
    that changed T times satisfy `after(T)` for any two histories that change and come back at the same times.

    Args:
        permanent: a mechanism that claims pure LDP.
        instantaneous: a mechanism whose inputs are the permanent one's outputs; for reports that are words of bits one
            with inputs and outputs 0, 1, which is applied to each bit. It needs no claim.
        changing: whether the reports follow a value that changes, with a permanent report for each class it enters.
        hashed: the labels, or their number, that are hashed to the inputs 0, 1, … of the permanent mechanism; both
            mechanisms must then be randomised responses. It implies `changing`.

    Reference: Erlingsson, Pihur, Korolova, RAPPOR, CCS 2014; Arcolezi, Pinzón, Palamidessi, Gambs, Frequency estimation
    of evolving data under local differential privacy, EDBT 2023 (hashing to few classes).

    >>> import extremal as ex
    >>> two = TwoLevels(ex.randomized_response(2, 2), ex.randomized_response(2, 1))
    >>> two.forever, round(two.once, 4), two.once < two.forever
    (2.0, 0.7353, True)
    >>> rappor = TwoLevels(ex.unary_encoding(8, 2, optimised=False), ex.randomized_response(2, "1.1"))
    >>> rappor.forever, round(rappor.once, 4)
    (2.0, 0.9422)
    >>> daily = TwoLevels.hashing(1000, forever=2, once=1)
    >>> daily, [daily.after(changes) for changes in (0, 1, 100)]
    (TwoLevels(forever=2, once=1, 4 classes), [2.0, 4.0, 8.0])
    """

    def __init__(
        self, permanent: Mechanism, instantaneous: Mechanism, *, changing: bool = False, hashed: Any = None
    ) -> None:
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
        self.changing, self.hashed = changing or hashed is not None, hashed
        if hashed is not None:
            if self._responses is None or permanent.inputs != tuple(range(permanent.k)):
                raise InvalidParameter(
                    "hashing needs two randomised responses on 0, 1, …",
                    parameter="permanent",
                    value=permanent.structure.kind,
                    hint="TwoLevels.hashing(labels, forever, once) makes them.",
                )
            _ = self.together  # bad labels are refused here

    @classmethod
    def within(cls, permanent: Mechanism, once: Any, *, changing: bool = False, hashed: Any = None) -> TwoLevels:
        """The pair whose instantaneous mechanism is the least noisy randomised response with which one report is
        `once`-LDP.

        Raises:
            InvalidParameter: `once` is not above 0 and below the level of the permanent mechanism.
        """
        notion = LDP(once)
        if not 0 < notion.epsilon < LDP(0).level(permanent):
            raise InvalidParameter(
                "once must be above 0 and below the level of `permanent`", parameter="once", value=once
            )
        outputs = (0, 1) if isinstance(permanent.structure, IndependentBits) else permanent.outputs

        def pair(step: int) -> TwoLevels:
            return cls(permanent, _response(outputs, Fraction(step, STEP)), changing=changing)

        low, high = 1, WIDEST * STEP
        while high - low > 1:  # the level of one report grows with that of the instantaneous mechanism
            middle = (low + high) // 2
            low, high = (middle, high) if notion.exponential.at_least(*pair(middle)._worst_once) else (low, middle)
        return cls(permanent, pair(low).instantaneous, changing=changing, hashed=hashed)

    @classmethod
    def hashing(cls, labels: Any, forever: Any, once: Any, classes: int | None = None) -> TwoLevels:
        """Values hashed to few classes, a permanent report for each class at `forever`, and one report at `once`.

        Args:
            labels: the labels, or their number.
            forever: nats that each class costs; all of them cost at most `classes` times as much.
            once: nats of one report, below `forever`.
            classes: how many; e^once + 1, at which one report tells most, if not given.
        """
        best = round(math.exp(min(LDP(once).epsilon, 10.0))) + 1
        g = min(MOST_CLASSES, best) if classes is None else as_count(classes, "classes", 2)
        return cls.within(_response(range(g), forever), once, hashed=labels)

    def __repr__(self) -> str:
        classes = f", {self.classes} classes" if self.changing else ""
        return f"TwoLevels(forever={self.forever:.6g}, once={self.once:.6g}{classes})"

    @property
    def classes(self) -> int:
        """Between how many classes a value can change; 1 when the reports do not follow it."""
        return self.permanent.k if self.changing else 1

    @property
    def input_labels(self) -> Any:
        """The values that may be reported."""
        return self.permanent.input_labels if self.hashed is None else self.together.input_labels

    def class_of(self, code: int, seed: int) -> int:
        """Where a person's function hashes the value with this number to."""
        a, b = divmod(seed, HASH_PRIME)
        return int((a * int(scattered(np.array([code]))[0]) + b) % HASH_PRIME % self.permanent.k)

    def about(self, permanent: Sequence[Label], seeds: Sequence[int] | None = None) -> list[Label]:
        """A fresh instantaneous report about each permanent one, with the persons' hash functions in them if there are
        some."""
        if not self._bits:
            made: list[Any] = privatize_column(self.instantaneous, list(permanent))
            if seeds is None:
                return made
            return [seed * self.permanent.k + int(report) for seed, report in zip(seeds, made, strict=True)]
        words = np.array(permanent, dtype=np.uint8).reshape(len(permanent), -1)
        bits = np.unpackbits(words, axis=1, count=self.permanent.structure.r)
        drawn = np.asarray(privatize_column(self.instantaneous, bits.reshape(-1).astype(np.int64)), dtype=np.uint8)
        return [tuple(row) for row in np.packbits(drawn.reshape(bits.shape), axis=1).tolist()]

    @cached_property
    def once(self) -> float:
        """The smallest ε of one report, rounded up so that LDP holds there."""
        return level_of_ratio(*self._worst_once)

    @cached_property
    def _worst_once(self) -> tuple[int, int]:
        """The largest ratio of two weights of one report."""
        whole = DENOMINATOR**2
        if self._bits:
            own, other = self._ones
            a, b = own * (whole - other), other * (whole - own)
            return max(a, b), min(a, b)
        if self._responses is not None:
            own, other = self._shown
            return max(own, other), min(own, other)
        rows = self.permanent.distinct_rows().astype(object) @ self.instantaneous.weights.astype(object)
        used = rows[:, rows.max(axis=0) > 0]
        largest, smallest = used.max(axis=0), used.min(axis=0)
        if not smallest.all():
            return 1, 0
        a, b = max(zip(largest, smallest, strict=True), key=lambda pair: Fraction(int(pair[0]), int(pair[1])))
        return int(a), int(b)

    @cached_property
    def _responses(self) -> tuple[RandomizedResponse, RandomizedResponse] | None:
        """The two structures when both are randomised responses on all inputs."""
        first, second = self.permanent.structure, self.instantaneous.structure
        plain = self.permanent.row_of is None and self.instantaneous.row_of is None
        if plain and isinstance(first, RandomizedResponse) and isinstance(second, RandomizedResponse):
            return first, second
        return None

    @property
    def _shown(self) -> tuple[int, int]:
        """For two randomised responses the weights, over 2^124, with which one report is the truth or another class."""
        if self._responses is None:
            raise TypeError("two randomised responses are required")
        first, second = self._responses
        own = first.high * second.high + (first.r - 1) * first.low * second.low
        return own, first.high * second.low + first.low * second.high + (first.r - 2) * first.low * second.low

    @cached_property
    def _ones(self) -> tuple[int, int]:
        """The weights of a 1, over 2^124, in the bit of the truth and in any other."""
        structure: Any = self.permanent.structure
        (_, from_zero), (_, from_one) = self.instantaneous.weights.tolist()
        own, other = (w * from_one + (DENOMINATOR - w) * from_zero for w in (structure.own, structure.other))
        return own, other

    @property
    def forever(self) -> float:
        """The smallest ε of all reports about a value that never changes, however many, rounded up so that LDP holds
        there."""
        return LDP(0).level(self.permanent)

    def after(self, changes: int) -> float:
        """The smallest ε of all reports together, however many, about a value that changed so often, rounded up.

        Each of the min(changes + 1, `classes`) classes entered has an independent permanent report, so that the level
        is the logarithm of the product of their ratios, r^d in integers. It is reached by randomised response and by
        unary encoding; for other mechanisms it is an upper bound. It compares histories that change, and come back to
        an earlier class, at the same times: see `any_history`.
        """
        entered = min(as_count(changes, "changes", 0) + 1, self.classes)
        a, b = _worst_ratio(self.permanent)
        return level_of_ratio(a**entered, b**entered)

    def any_history(self, asks: int) -> float:
        """An ε at which so many reports together are private whatever the two histories are, rounded up.

        Given all that went before, a report has a mixture of the rows of the instantaneous mechanism as its
        distribution; so each costs at most the level of that mechanism (of all its bits, for words of bits).
        """
        a, b = _worst_ratio(self.instantaneous)
        each = self.permanent.structure.r if self._bits else 1
        power = as_count(asks, "asks", 0) * each
        return level_of_ratio(a**power, b**power)

    @cached_property
    def together(self) -> Mechanism:
        """The mechanism from value to one instantaneous report, weights rounded to 2^-62: what estimates need."""
        if self.hashed is not None:
            labels = None if isinstance(self.hashed, int) else tuple(self.hashed)
            k = self.hashed if labels is None else len(labels)
            inside = round(Fraction(self._shown[0], DENOMINATOR))
            return Mechanism.from_structure(
                HashedSets(as_count(k, "hashed", 2), inside, self.permanent.k), None, labels
            )
        if not self._bits:
            return self.permanent.then(self.instantaneous)
        own, other = (round(Fraction(weight, DENOMINATOR)) for weight in self._ones)
        structure: Any = self.permanent.structure
        bits = IndependentBits(structure.r, own, other)
        return Mechanism.from_structure(bits, None, self.permanent.inputs, BitLabels(structure.r))


class HashSeeds:
    """Draws a person's hash function, the same whatever the value, so that a memory keeps it and it costs nothing."""

    privacy = LDP(0)
    hash = hashlib.sha256(b"extremal hash functions modulo 2^21 - 9").hexdigest()

    def __init__(self, levels: TwoLevels) -> None:
        self.input_labels = levels.input_labels

    def privatize(self, values: Any) -> list[int]:
        return [secrets.randbelow(HASH_PRIME**2) for _ in values]


def _response(labels: Sequence[Any], epsilon: Any) -> Mechanism:
    """Randomised response on these labels."""
    return Mechanism.from_partition(np.arange(len(labels)), LDP(epsilon), inputs=labels, outputs=labels)


def _worst_ratio(mechanism: Mechanism) -> tuple[int, int]:
    """The largest ratio of two weights in a column of a mechanism: (1, 0) where one is zero and another is not."""
    worst = Fraction(1)
    for column in mechanism.kinds_of_columns():
        if not column.smallest and column.largest:
            return 1, 0
        worst = max(worst, Fraction(column.largest, column.smallest or 1))
    return worst.numerator, worst.denominator


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
