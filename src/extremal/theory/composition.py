"""The privacy of several reports about one value: of given mechanisms, or of not yet chosen ones.

Given the value, the reports are independent, so the joint mechanism has the product rows. Its privacy is read from the
privacy loss of a pair of inputs: for each likelihood ratio that a report can have, how likely it is under either input.
The losses of independent reports multiply, and reports of equal ratio are added up before they do, in integers: n equal
reports with two ratios have n + 1 of them, not 2^n. What (ε,δ)-LDP mechanisms give together, whichever they are, is
what the quaternary ones give, because they dominate all others (KOV Theorem 18); their losses with e^ε rounded up are
an upper bound that no choice exceeds (P. Kairouz, S. Oh, P. Viswanath, The Composition Theorem for Differential
Privacy, 2015).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Exponential, as_fraction, as_prior, level_of_ratio
from extremal.exact.bisection import bisected
from extremal.exact.exponential import SMALLEST_EPSILON
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import refuse_other_inputs
from extremal.privacy import LDP, PML
from extremal.privacy.cones.lift import MOST_INPUTS, lift_box, vertices

LARGEST_PRODUCT = 1 << 16
"""Entries, inputs × reports, of a composed mechanism."""

MOST_RATIOS = 20_000
"""Different likelihood ratios of a pair that are followed."""

T = TypeVar("T")
Loss = dict[tuple[int, int], int]
"""Reduced ratio (a, b) ↦ scale: reports of that ratio have probability a·scale under one input, b·scale under the
other."""


def compose(*mechanisms: Mechanism) -> Mechanism:
    """Combine mechanisms into one that reports through each: outputs are tuples, rows are products.

    Guarantee: rounded to integer weights; if every mechanism claims pure LDP the sum of the levels is claimed and
    decided exactly. `composed_level` is the level itself, which may be lower, and needs no product.

    Args:
        mechanisms: with the same inputs in the same order; inputs × reports up to 2^16.

    Reference: C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy (2014), Theorem 3.16.

    >>> import extremal as ex
    >>> twice = compose(ex.randomized_response(2, 1), ex.randomized_response(2, 0.5))
    >>> twice.m, twice.outputs[0], twice.privacy
    (4, (0, 0), LDP(epsilon=1.5))
    """
    first = _same_inputs(mechanisms)
    size = first.k * math.prod(m.m for m in mechanisms)
    if size > LARGEST_PRODUCT:
        raise TooLarge(
            f"inputs × reports of a product must stay below {LARGEST_PRODUCT}",
            parameter="inputs × reports",
            value=size,
            hint="composed_level needs no product.",
        )
    matrix = np.full((first.k, 1), Fraction(1), dtype=object)
    for m in mechanisms:
        own = m.weights.astype(object) * Fraction(1, m.denominator)
        matrix = (matrix[:, :, None] * own[:, None, :]).reshape(first.k, -1)
    labels = list(itertools.product(*(m.outputs for m in mechanisms)))
    return Mechanism.from_matrix(matrix, _sum_of_claims(mechanisms), first.inputs, labels)


def composed_level(items: Iterable[Mechanism | LDP | PML], delta: Any = 0) -> float:
    """The smallest ε at which all these reports about one value are (ε,δ)-LDP together.

    Mechanisms: exact, rounded up so that the notion holds there; also for many equal ones, as long as a pair of inputs
    has few likelihood ratios. `ex.LDP` notions: an upper bound on what any mechanisms with these levels give together,
    attained by the quaternary ones. `ex.PML` notions with one prior: see `pml_composed_bound`.

    Args:
        items: mechanisms with the same inputs, or notions.
        delta: δ of the composition.

    Guarantee: the reports are (ε,δ)-LDP together at this ε.

    Reference: P. Kairouz, S. Oh, P. Viswanath, The Composition Theorem for Differential Privacy (2015), for notions.

    >>> import extremal as ex
    >>> composed_level([ex.randomized_response(4, 0.5)] * 3)
    1.5
    >>> round(composed_level([ex.LDP(0.1)] * 100, delta=1e-6), 4) < 10
    True
    """
    everything = list(items)
    allowed = as_fraction(delta, "delta")
    if not everything or not 0 <= allowed < 1:
        raise InvalidParameter(
            "composition needs at least one report and 0 ≤ delta < 1",
            parameter="items, delta",
            value=(len(everything), delta),
        )
    if mechanisms := _all_of(Mechanism, everything):
        return _level_of_mechanisms(mechanisms, allowed)
    if notions := _all_of(LDP, everything):
        return _level_of_notions(notions, allowed)
    if not allowed and (leakages := _all_of(PML, everything)):
        return pml_composed_bound(leakages)
    raise InvalidParameter(
        "give mechanisms, or ex.LDP notions, or ex.PML notions with delta = 0",
        parameter="items",
        value=[type(item).__name__ for item in everything],
    )


def _all_of(kind: type[T], items: list[Any]) -> list[T]:
    """The items, if all are of that kind; else nothing."""
    return items if all(isinstance(item, kind) for item in items) else []


def pml_composed_bound(notions: Sequence[PML]) -> float:
    """The largest leakage of several reports, each ε_i-PML under the same prior; independent given the value.

    ℓ(x; y₁y₂) = ℓ(x; y₁) + ℓ(x; y₂ | y₁), and the second is about the posterior after y₁, not about the prior: PML
    levels do not add up. Reports with lift vectors λ₁, …, λ_n leak log max_x Πλ_i(x)/Σ_x p(x)Πλ_i(x), for each x a
    quotient of two linear functions of each λ_i, so the largest leakage is at extreme lift vectors (GSO Section IV-E),
    and every one of them is a report of some ε_i-PML mechanism. Where their products are at most 2^18 they are all
    tried, and the answer is exact. Beyond: levels add up to LDP levels, ε_i for one report and, for each other, log of
    e^ε p/(1 − e^ε(1−p)), p the smallest probability, the largest ratio that ε-PML leaves between two inputs, infinite
    from region 2 on; and never above ε_max = −log p.

    Guarantee: an upper bound, in floats rounded up; attained by some mechanisms where products are listed.

    Reference: S. Saeidian et al., Pointwise Maximal Leakage, IEEE Trans. Inf. Theory 69 (2023), on composition.

    >>> import extremal as ex
    >>> round(pml_composed_bound([ex.PML(0.1, [0.45, 0.33, 0.22])] * 2), 10)
    0.2111225489
    """
    prior = notions[0].prior
    if any(n.prior != prior for n in notions):
        raise InvalidParameter("all PML notions must have the same prior", parameter="prior", value=prior)
    least = min(as_prior(prior).values[as_prior(prior).values > 0])
    levels = [n.epsilon for n in notions]
    pure = [_pure(e, float(least)) for e in levels]
    largest = -math.log(least)
    bound = min(e + math.fsum(p for j, p in enumerate(pure) if j != i) for i, e in enumerate(levels))
    return min(bound, largest, _largest_leakage(notions))


MOST_LIFTS = 1 << 18  # products of extreme lift vectors: a few seconds
_UP = 1 + 1e-13  # relative: what a product of lift vectors and the logarithm of a quotient lose in floats


def _largest_leakage(notions: Sequence[PML]) -> float:
    """The largest leakage of products of extreme lift vectors; infinite when they are too many to list."""
    boxes = [lift_box(n) for n in notions]
    if max(box.n for box in boxes) > MOST_INPUTS:
        return math.inf
    prior = boxes[0].prior
    products = np.ones((1, prior.size))
    for box in boxes:
        lifts = box.base + box.step * vertices(box)
        if len(products) * len(lifts) > MOST_LIFTS:
            return math.inf
        products = (products[:, None, :] * lifts).reshape(-1, prior.size)
        products = np.unique(products[products @ prior > 0], axis=0)
    return float(np.log((products.max(axis=1) / (products @ prior)).max())) * _UP


def _pure(epsilon: float, least: float) -> float:
    room = 1 - math.exp(epsilon) * (1 - least)
    return epsilon + math.log(least / room) if room > 0 else math.inf


# -- mechanisms


def _same_inputs(mechanisms: Sequence[Mechanism]) -> Mechanism:
    if not mechanisms:
        raise InvalidParameter("give at least one mechanism", parameter="mechanisms", value=())
    for m in mechanisms[1:]:
        refuse_other_inputs(m.inputs, mechanisms[0].inputs, "inputs", "all mechanisms")
    return mechanisms[0]


def _sum_of_claims(mechanisms: Sequence[Mechanism]) -> LDP | None:
    """The claim that the pure levels of all add up to; None without one."""
    pure = [c.exponential for m in mechanisms if isinstance(c := m.privacy, LDP) and not c.exact_delta]
    exponents = [e.exponent for e in pure if e.exponent is not None]
    if len(exponents) == len(mechanisms):
        return LDP(sum(exponents, Fraction(0)))
    ratios = [e.ratio for e in pure if e.ratio is not None]
    return LDP.from_ratio(math.prod(ratios)) if len(ratios) == len(mechanisms) else None


def _level_of_mechanisms(mechanisms: list[Mechanism], delta: Fraction) -> float:
    first = _same_inputs(mechanisms)
    kinds = {tuple(x if m.row_of is None else int(m.row_of[x]) for m in mechanisms): x for x in range(first.k)}
    members = list(kinds.values())  # one input of each combination of rows
    rows = {id(m): m.distinct_rows() for m in mechanisms}
    found: dict[Any, float] = {}  # symmetric mechanisms have the same loss for many pairs
    for x, other in itertools.permutations(members, 2):
        pairs = [_pair(m, rows[id(m)], x, other) for m in mechanisms]
        key = tuple(frozenset(loss.items()) for loss, _ in pairs)
        if key not in found:
            found[key] = _level(_product(pairs), delta) if delta else _pure_level(pairs)
    return max(found.values(), default=0.0)


def pair_loss(u: Any, v: Any) -> Loss:
    """The law of the likelihood ratio of two rows of weights."""
    loss: Loss = {}
    for p, q in zip(u.tolist(), v.tolist(), strict=True):
        if p or q:
            shared = math.gcd(int(p), int(q))
            key = (int(p) // shared, int(q) // shared)
            loss[key] = loss.get(key, 0) + shared
    return loss


def _pair(m: Mechanism, rows: Any, x: int, other: int) -> tuple[Loss, int]:
    a, b = (rows[i] if m.row_of is None else rows[m.row_of[i]] for i in (x, other))
    return pair_loss(a, b), m.denominator


def _pure_level(pairs: list[tuple[Loss, int]]) -> float:
    """The largest ratio of a product is the product of the largest ratios."""
    top, bottom = 1, 1
    for loss, _ in pairs:
        a, b = max(loss, key=lambda r: Fraction(r[0], r[1]) if r[1] else math.inf)
        if not b:
            return math.inf
        top, bottom = top * a, bottom * b
    return level_of_ratio(top, bottom)


def _product(pairs: list[tuple[Loss, int]]) -> tuple[Loss, int]:
    """The loss of independent reports; equal ratios are added up after each."""
    loss, total = pairs[0]
    for other, denominator in pairs[1:]:
        joined: Loss = {}
        for (a, b), s in loss.items():
            for (c, d), t in other.items():
                top, bottom = a * c, b * d
                if not top and not bottom:
                    continue
                shared = math.gcd(top, bottom)
                key = (top // shared, bottom // shared)
                joined[key] = joined.get(key, 0) + s * t * shared
            if len(joined) > MOST_RATIOS:
                raise TooLarge(
                    "the reports have too many different likelihood ratios",
                    parameter="ratios",
                    value=len(joined),
                    hint="Compose the notions instead: an upper bound for any mechanisms.",
                )
        loss, total = joined, total * denominator
    return loss, total


def _within(loss: Loss, total: int, exponential: Exponential, delta: Fraction) -> bool:
    """Σ (p − e^ε q)⁺ ≤ δ, exactly."""
    top = bottom = 0
    for (a, b), s in loss.items():
        if a > b and not exponential.at_least(a, b):
            top, bottom = top + a * s, bottom + b * s
    return exponential.at_least(top * delta.denominator - delta.numerator * total, bottom * delta.denominator)


def _level(product: tuple[Loss, int], delta: Fraction) -> float:
    loss, total = product
    if _within(loss, total, Exponential(0), delta):
        return 0.0

    def within(epsilon: float) -> bool:
        return _within(loss, total, Exponential.unchecked(Fraction(repr(epsilon))), delta)

    most = max((level_of_ratio(a, b) for a, b in loss if b), default=0.0)
    if not within(most):
        return math.inf
    return bisected(within, 0.0, most, between=lambda a, b: max((a + b) / 2, float(SMALLEST_EPSILON)))


# -- notions


def _level_of_notions(notions: list[LDP], delta: Fraction) -> float:
    spent = sum((n.exact_delta for n in notions), Fraction(0))
    simple = _sum_of_levels(notions) if spent <= delta else math.inf
    if not delta:
        return simple
    try:
        return min(simple, _level(_product([_quaternary(n) for n in notions]), delta))
    except TooLarge:
        return simple


def _sum_of_levels(notions: list[LDP]) -> float:
    """ε₁ + … + ε_n, rounded up."""
    exponents = [e for n in notions if (e := n.exponential.exponent) is not None]
    if len(exponents) < len(notions):
        return math.nextafter(math.fsum(n.epsilon for n in notions), math.inf) * (1 + 1e-15)
    total = sum(exponents, Fraction(0))
    return float(total) if Fraction(repr(float(total))) >= total else math.nextafter(float(total), math.inf)


def _quaternary(notion: LDP) -> tuple[Loss, int]:
    """The loss of the quaternary mechanism with e^ε rounded up to a multiple of 2^-64: it dominates every mechanism of
    the notion."""
    bits = 64
    _, upper = notion.exponential.bounds(bits)
    one, delta = 1 << bits, notion.exact_delta
    total = delta.denominator * (one + upper)
    rest = delta.denominator - delta.numerator
    shared = math.gcd(upper, one)
    high, low = upper // shared, one // shared
    loss: Loss = {(high, low): rest * shared, (low, high): rest * shared} if high != low else {(1, 1): 2 * rest * one}
    if delta:
        loss[(1, 0)] = loss[(0, 1)] = delta.numerator * (one + upper)
    return loss, total
