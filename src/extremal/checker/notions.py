"""Privacy notions: what is claimed of the weights, exactly, and the cone of columns that proofs are about (§3, §5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeGuard

from extremal.checker.grammar import Content, exactly, list_of, rational
from extremal.checker.numbers import (
    FINE,
    ONE,
    ZERO,
    Interval,
    Rejected,
    Unsettled,
    Working,
    ends,
    exp,
    expect,
    ln,
    rounded_up,
    settled,
)
from extremal.checker.sources import Prior, Source, read_prior, read_source

SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**9), Fraction(100)  # nats, or 0
LARGEST_EPSILON_TIMES_DISTANCE = 2048  # beyond that a metric asks for nothing in a proof


@lru_cache(maxsize=65536)
def power_of_e(exponent: Fraction, _digits: int) -> Interval:
    """e^exponent at the working number of digits."""
    return exp(exponent)


@dataclass(frozen=True)
class PowerOfE:
    """The number e^ε of a notion: `ratio`, a rational, or e to a rational exponent."""

    exponent: Fraction
    ratio: Fraction | None = None

    def around(self) -> Interval:
        """Rationals around it."""
        return power_of_e(self.exponent, Working.digits) if self.ratio is None else ends(self.ratio)

    def above(self) -> Fraction:
        """A rational E ≥ e^ε: a larger cone, so that bounds for it are bounds. E itself where it is given."""
        if self.ratio is not None:
            return self.ratio
        return ONE if self.exponent == 0 else rounded_up(self.around().high, FINE)

    def allows(self, large: int, small: int) -> bool:
        """large ≤ e^ε·small, decided exactly; e^ε > 2^ε, so that a large ε needs no digits."""
        if large <= small or small <= 0:
            return large <= small
        if self.ratio is None and self.exponent > large.bit_length():
            return True
        return settled(lambda: self.compared(large, small))

    def compared(self, large: int, small: int) -> bool:
        """The same with the working number of digits; e^ε is irrational for rational ε ≠ 0 (Lindemann)."""
        e = self.around()
        if large * e.low.denominator <= small * e.low.numerator:
            return True
        if large * e.high.denominator > small * e.high.numerator:
            return False
        raise Unsettled


def given_ratio(ratio: Fraction) -> PowerOfE:
    """e^ε given as itself."""
    return PowerOfE(ZERO, ratio)


@dataclass(frozen=True)
class Local:
    """Q(S|x) ≤ e^ε·Q(S|z) + δ; as a cone q_x ≤ E·q_z, up to δ in sum over all columns."""

    top: PowerOfE
    delta: Fraction
    k: int | None = None

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()


@dataclass(frozen=True)
class Lifted:
    """PML and LIP with one prior: e^−λ ≤ q_x/(p·q) ≤ e^ε where p_x > 0; PML asks for nothing below."""

    prior: Prior
    top: PowerOfE
    bottom: PowerOfE | None = None

    @property
    def k(self) -> int:
        return len(self.prior)

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()

    @cached_property
    def low(self) -> Fraction:
        """A rational at or below e^−λ."""
        return ZERO if self.bottom is None else ONE / self.bottom.above()


@dataclass(frozen=True)
class ClassLifted:
    """PML of a class: q_x ≤ e^ε·p·q for every p of the class and every x that can occur."""

    source: Source
    top: PowerOfE

    @property
    def k(self) -> int:
        return self.source.k

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()


@dataclass(frozen=True)
class Metrical:
    """q_x ≤ e^{ε·d(x,z)}·q_z; None where d is infinite."""

    exponents: tuple[tuple[Fraction | None, ...], ...]

    @property
    def k(self) -> int:
        return len(self.exponents)

    def ratio_between(self, x: int, z: int) -> Fraction | None:
        """A rational F ≥ e^{ε·d(x,z)}; None where the distance is infinite, or too large to say anything."""
        exponent = self.exponents[x][z]
        return None if exponent is None or exponent > LARGEST_EPSILON_TIMES_DISTANCE else PowerOfE(exponent).above()


@dataclass(frozen=True)
class LeakageSum:
    """Σ_y max_x Q(y|x) ≤ e^ε: no single column is bounded, only the sum of their largest entries."""

    top: PowerOfE
    k: int | None = None

    @cached_property
    def ratio(self) -> Fraction:
        return self.top.above()


Notion = Local | Lifted | ClassLifted | Metrical | LeakageSum


def is_pure(notion: Notion) -> TypeGuard[Local]:
    """Whether it is ε-LDP."""
    return isinstance(notion, Local) and notion.delta == 0


def is_coupled(notion: Notion) -> TypeGuard[Local]:
    """Whether it is (ε,δ)-LDP, δ > 0."""
    return isinstance(notion, Local) and notion.delta > 0


def pure_ratio(notion: Notion, what: str) -> Fraction:
    """E of ε-LDP; another notion is refused."""
    if not is_pure(notion):
        raise Rejected(what)
    return notion.ratio


def read_power(content: Content) -> PowerOfE:
    """`epsilon` or `ratio`, not both."""
    expect(("ratio" in content) != ("epsilon" in content), "a level has ε or e^ε")
    if "epsilon" in content:
        epsilon = rational(content["epsilon"])
        expect(epsilon == 0 or SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON, "ε is 0 or between 10^-9 and 100")
        return PowerOfE(epsilon)
    ratio = rational(content["ratio"])
    expect(ratio >= 1, "e^ε ≥ 1")
    level = ln(ratio)
    expect(ratio == 1 or (level.high >= SMALLEST_EPSILON and level.low <= LARGEST_EPSILON), "ε between 10^-9 and 100")
    return given_ratio(ratio)


def read_ldp(content: Content, top: PowerOfE) -> Notion:
    delta = rational(content["delta"])
    expect(0 <= delta < 1, "0 ≤ δ < 1")
    return Local(top, delta)


def read_pml(content: Content, top: PowerOfE) -> Notion:
    of = read_source(content["source"])
    return ClassLifted(of, top) if of.only is None else Lifted(of.only, top)


def read_lip(content: Content, top: PowerOfE) -> Notion:
    lower = content["lower"]
    if lower is not None:
        expect(isinstance(lower, dict) and len(lower) == 1, "`lower` is null, or an object with ε or e^ε")
    return Lifted(read_prior(content["prior"]), top, top if lower is None else read_power(lower))


def read_metric(content: Content, top: PowerOfE) -> Notion:
    """Distances are rationals or "inf", symmetric, 0 on the diagonal."""
    rows = list_of(list_of(lambda d: None if d == "inf" else rational(d)))(content["distances"])
    expect(len(rows) >= 2 and all(len(row) == len(rows) for row in rows), "distances are k rows of k, k ≥ 2")
    expect(all(d is None or d >= 0 for row in rows for d in row), "distances are not negative")
    expect(all(row[x] == 0 for x, row in enumerate(rows)), "distances are 0 on the diagonal")
    expect(rows == list(map(list, zip(*rows, strict=True))), "distances are symmetric")
    return Metrical(tuple(tuple(None if d is None else top.exponent * d for d in row) for row in rows))


NOTIONS: dict[str, tuple[set[str], Callable[[Content, PowerOfE], Notion]]] = {
    "LDP": ({"delta"}, read_ldp),
    "PML": ({"source"}, read_pml),
    "LIP": ({"prior", "lower"}, read_lip),
    "MetricPrivacy": ({"distances"}, read_metric),
    "MaximalLeakage": (set(), lambda _, top: LeakageSum(top)),
}


def read_notion(given: Any) -> Notion:
    """A notion: its name, `epsilon` or `ratio` (a metric has `epsilon`), and exactly the fields of that notion."""
    name = given.get("notion") if isinstance(given, dict) else None
    expect(isinstance(name, str) and name in NOTIONS, "privacy is a known notion")
    more, read = NOTIONS[str(name)]
    level = "ratio" if "ratio" in given and name != "MetricPrivacy" else "epsilon"
    content = exactly(given, {"notion", level, *more}, f"the notion {name}")
    return read(content, read_power({level: content[level]}))
