"""`ex.shuffled`: what n reports of a mechanism guarantee together, once nobody can tell who sent which.

Q is a local mechanism, n people report once, and the reports are published in random order, or as counts. Data sets are
neighbours if one person's answer is replaced; the adversary knows everybody else's answer. The guarantee is central
(ε,δ)-differential privacy: δ(ε) is the supremum of Σ(P − e^ε·P')₊ over neighbours, and ε(δ) the smallest ε with δ(ε)
≤ δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb, ctx, fmpq

from extremal.errors import InvalidParameter
from extremal.exact import as_count, as_fraction
from extremal.mechanism import Mechanism
from extremal.mechanism.files import content_digest
from extremal.mechanism.structures import JointBlocks
from extremal.plotting import COLOURS, figure, plain_ticks
from extremal.privacy import LDP
from extremal.tables import number, wrapped
from extremal.theory.shuffle.accounting import (
    MOST_REVEALING,
    at,
    delta_interval,
    equal_others,
    falling_root,
    gaussian_guess,
    log_ratio,
    lower_epsilon,
    upper_epsilon,
)
from extremal.theory.shuffle.binary import BinaryReports, binary_delta, binary_lower, binary_upper
from extremal.theory.shuffle.claims import LARGEST_EPSILON, ShuffleClaim
from extremal.theory.shuffle.contour import BITS
from extremal.theory.shuffle.pairs import pairs_of
from extremal.theory.shuffle.reports import Classes, PairReports, index
from extremal.theory.shuffle.several import composed_upper

LARGEST_N = 10**12  # people; there are not as many
USUAL_DELTA = "1e-8"  # of summaries
COUNTED_BY_BOTH = 4_000  # people: beyond, the checker does not go through all data sets of two answers
CLONES_SMOOTHING = 1e-3  # of the generic bound, which is shown to six digits


def shuffled(mechanism: Any, n: int) -> Shuffled:
    """Compute the central guarantee of n shuffled reports of a mechanism, or of each question of a questionnaire.

    Guarantee: both ends of every interval are proved in ball arithmetic from the exact weights. The upper end holds for
    every data set; the lower end is attained by data sets that exist.

    Args:
        mechanism: a Mechanism, a Questionnaire, or a mapping of names to mechanisms. Questions are shuffled apart, but
            for those that are asked jointly, whose reports stay together.
        n: people, each reporting once. Only honest ones count: with fewer the guarantee is weaker.

    Reference: B. Balle, J. Bell, A. Gascón, K. Nissim, The Privacy Blanket of the Shuffle Model (CRYPTO 2019), for the
    blanket; docs/theory/shuffle.md for the bound over all data sets.

    >>> import extremal as ex
    >>> reports = ex.shuffled(ex.randomized_response(10, 2), n=1_000_000)
    >>> low, high = reports.epsilon(1e-8)
    >>> 0.0091623 < low <= high < 0.0091624
    True
    >>> low, high = reports.delta(0.009)
    >>> 1.38665e-8 < low <= high < 1.38668e-8
    True
    """
    count = as_count(n, "n", 1)
    if count > LARGEST_N:
        raise InvalidParameter(f"n must be at most {LARGEST_N:,}", parameter="n", value=count)
    if isinstance(mechanism, Mechanism):
        return Shuffled((mechanism,), count)
    questions, joint = getattr(mechanism, "questions", mechanism), getattr(mechanism, "joint", None)
    if isinstance(questions, Mapping) and questions and all(isinstance(m, Mechanism) for m in questions.values()):
        apart = [m for name, m in questions.items() if joint is None or name not in joint.names]
        return Shuffled((*apart, *(() if joint is None else (joint.structure,))), count)
    raise InvalidParameter(
        "shuffled takes a mechanism or a questionnaire",
        parameter="mechanism",
        value=type(mechanism).__name__,
        hint="ex.shuffled(ex.randomized_response(10, 2), n=1_000_000).",
    )


@dataclass(frozen=True, eq=False)
class Shuffled:
    """n shuffled reports; made by `ex.shuffled`.

    >>> import extremal as ex
    >>> print(ex.shuffled(ex.randomized_response(10, 2), 1_000_000).summary().splitlines()[1])
    - Together they are (0.0091623328, 1e-08)-differentially private, whatever the others answered;

    Attributes:
        mechanisms: one for each question that is shuffled apart, and one for records of answers that stay together.
        n: people.
    """

    mechanisms: tuple[Mechanism | JointBlocks, ...]
    n: int

    @cached_property
    def pairs(self) -> tuple[list[PairReports], ...]:
        """The pairs of inputs of each mechanism, up to symmetry; the same list for the same mechanism."""
        structures = [m.structure if isinstance(m, Mechanism) else m for m in self.mechanisms]
        keys = [content_digest(structure.to_json()) for structure in structures]
        known = {key: pairs_of(structure) for key, structure in dict(zip(keys, structures, strict=True)).items()}
        return tuple(known[key] for key in keys)

    @cached_property
    def local(self) -> float:
        """The local level: what a person is guaranteed whoever shuffles, the sum over questions."""
        return math.fsum(LDP(0).level(m) for m in self.mechanisms)

    def epsilon(self, delta: Any) -> tuple[float, float]:
        """(lower, upper) for the smallest ε at which the shuffled reports are (ε,δ)-differentially private.

        The upper end is at most the local level, and infinite where there is none and δ is too small.
        """
        asked = _probability(delta)
        with ctx.workprec(BITS):
            if len(self.mechanisms) == 1:
                return _epsilon(self.mechanisms[0], self.pairs[0], self.n, asked)
            share = asked / len(self.mechanisms)
            ends = {
                id(m): _epsilon(m, pairs, self.n, share) for m, pairs in zip(self.mechanisms, self.pairs, strict=True)
            }
            added = math.fsum(ends[id(m)][1] for m in self.mechanisms) * (1 + 1e-15)
            found = composed_upper(self.pairs, self.n, asked)
            low = max(lower_epsilon(pairs, self.n, asked, self.local) for pairs in self.pairs)
            return low, min(added, self.local, added if found is None else found)

    def delta(self, epsilon: Any) -> tuple[float, float]:
        """(lower, upper) for the smallest δ at which they are (ε,δ)-differentially private; of one mechanism."""
        if len(self.mechanisms) > 1:
            raise InvalidParameter(
                "δ at ε is for one mechanism",
                parameter="questions",
                value=len(self.mechanisms),
                hint="epsilon(delta) composes several questions.",
            )
        level = as_fraction(epsilon, "epsilon")
        if level < 0:
            raise InvalidParameter("epsilon must not be negative", parameter="epsilon", value=epsilon)
        if level > LARGEST_EPSILON:
            raise InvalidParameter(f"epsilon must be at most {LARGEST_EPSILON}", parameter="epsilon", value=epsilon)
        with ctx.workprec(BITS):
            binary = BinaryReports.of(self.mechanisms[0]) if self.n > 1 else None
            low, high = (
                delta_interval(self.pairs[0], self.n, level) if binary is None else binary_delta(binary, self.n, level)
            )
            return _down(low), min(1.0, _up(high))

    def generic(self, delta: Any) -> float:
        """The best bound that holds for *every* mechanism with this local level, in place of the one at hand: numerical
        clones, for comparison; each question counts with δ/T and the results add up.

        Reference: V. Feldman, A. McMillan, K. Talwar, Hiding Among the Clones (FOCS 2021), Theorem 3.1.
        """
        asked, parts = _probability(delta), len(self.mechanisms)
        with ctx.workprec(BITS):
            return math.fsum(clones(LDP(0).level(m), self.n, asked / parts) for m in self.mechanisms)

    def claim(self, delta: Any) -> ShuffleClaim:
        """The upper end at δ as a certificate, for one mechanism: `save` writes it, `extremal verify` decides it again.

        With two answers, two reports and more than 4,000 people the claim states a slightly larger ε: the bound that
        the checker which stands alone can prove as well.

        >>> import extremal as ex
        >>> claim = ex.shuffled(ex.randomized_response(3, 1), 1000).claim(1e-6)
        >>> bool(claim.verify())
        True
        """
        mechanism = self.mechanisms[0]
        if len(self.mechanisms) > 1 or not isinstance(mechanism, Mechanism):
            raise InvalidParameter("a claim is about one mechanism", parameter="questions", value=len(self.mechanisms))
        _, high = self.epsilon(delta)
        if BinaryReports.of(mechanism) is not None and self.n > COUNTED_BY_BOTH:
            with ctx.workprec(BITS):
                high = max(high, upper_epsilon(self.pairs[0], self.n, _probability(delta), self.local))
        if not math.isfinite(high):
            raise InvalidParameter("a claim needs a finite ε", parameter="delta", value=delta, hint="Try a larger δ.")
        return ShuffleClaim(mechanism, self.n, Fraction(repr(high)), _probability(delta))

    # -- showing

    def summary(self, delta: Any = USUAL_DELTA) -> str:
        """What is guaranteed at δ, in sentences, and what a shuffler must do for it."""
        asked = _probability(delta)
        low, high = self.epsilon(asked)
        at_delta = f"δ = {float(asked):g}"
        several = len(self.mechanisms)
        what = "reports" if several == 1 else f"people, each with {several} reports that are shuffled apart"
        lines = [f"{self.n:,} shuffled {what}"]
        if math.isfinite(high):
            lines.append(
                f"- Together they are ({_digits(high, math.ceil)}, {float(asked):g})-differentially private, whatever "
                f"the others answered; below ε = {_digits(low, math.floor)} they are not."
            )
        else:
            lines.append(f"- No finite ε is guaranteed at {at_delta}: some report shows an answer too often.")
        if math.isfinite(self.local):
            generic = self.generic(asked)
            lines.append(
                f"- {'One report alone is' if several == 1 else 'All reports of one person are'} "
                f"{number(self.local, 6)}-LDP. A bound that knows only local levels gives ε = {number(generic, 5)}."
            )
        lines += [f"- {sentence}" for sentence in CONDITIONS]
        return "\n".join(wrapped(line, "", "  ") for line in lines)

    __str__ = summary

    def __repr__(self) -> str:
        return f"Shuffled({self.n:,} people, {len(self.mechanisms)} question{'s' * (len(self.mechanisms) > 1)})"

    def plot(self, deltas: Sequence[Any] = ("1e-6", "1e-8"), people: Sequence[int] | None = None) -> Any:
        """ε against the number of people at several δ, with the generic bound; a matplotlib figure."""
        drawn, axis = figure()
        counts = people or [max(2, self.n * 10**shift // 100) for shift in range(5)]
        seen = []
        for place, delta in enumerate(deltas):
            asked, colour = _probability(delta), COLOURS[place % len(COLOURS)]
            ends = [Shuffled(self.mechanisms, count).epsilon(asked) for count in counts]
            generic = [Shuffled(self.mechanisms, count).generic(asked) for count in counts]
            axis.plot(counts, [high for _, high in ends], color=colour, marker="o", markersize=3.5, label=_said(asked))
            axis.plot(
                counts, generic, color=colour, linestyle=":", label=f"any mechanism of this level, {_said(asked)}"
            )
            axis.fill_between(counts, [low for low, _ in ends], [high for _, high in ends], color=colour, alpha=0.3)
            seen += [high for _, high in ends if math.isfinite(high)] + generic
        plain_ticks(axis.yaxis, [v for v in seen if v > 0])
        axis.set_xscale("log")
        axis.set(xlabel="people who report", ylabel="central ε (nats)")
        axis.legend(frameon=False, fontsize=8)
        return drawn


CONDITIONS = (
    (
        "This holds for what a shuffler publishes: reports without order, time, address or client identifier, or their "
        "counts. A collector that sees who sent which report, by address or account, is no shuffler, and only the "
        "local level holds towards it."
    ),
    "People who do not follow the protocol, or whose reports an adversary knows, do not count.",
)
"""What a shuffler must do, for summaries."""


def _said(delta: Fraction) -> str:
    return f"δ = {float(delta):g}"


def _digits(level: float, rounded: Callable[[Fraction], int]) -> str:
    """Eight significant digits, rounded as told."""
    digits = 7 - math.floor(math.log10(level)) if level > 0 else 7
    scaled = Fraction(repr(level)) * Fraction(10) ** digits
    return f"{rounded(scaled) / 10**digits:.8g}"


def _epsilon(
    mechanism: Mechanism | JointBlocks, pairs: list[PairReports], n: int, delta: Fraction
) -> tuple[float, float]:
    local = LDP(0).level(mechanism)
    if not pairs:
        return 0.0, 0.0
    binary = BinaryReports.of(mechanism)
    if binary is None or n == 1:
        return lower_epsilon(pairs, n, delta, local), upper_epsilon(pairs, n, delta, local)
    size = min(max(max(pair.other_indices) for pair in pairs), MOST_REVEALING)
    low = binary_lower(binary, n, delta, local, gaussian_guess(size, n, float(delta)))
    high = binary_upper(binary, n, delta, local, low)
    return low, upper_epsilon(pairs, n, delta, local) if high is None else high


def clones(level: float, n: int, delta: Fraction) -> float:
    """Bound ε at δ for n shuffled reports of any mechanism with a local level, by numerical clones.

    Guarantee: proved in ball arithmetic; holds for every mechanism with that level. It is the blanket's formula for two
    reports with Q(·|x₀) = (p, 1−p), Q(·|x₁) = (1−p, p), p = e^ε₀/(e^ε₀ + 1), where each report of the others is one of
    the two with probability e^−ε₀/2 each.

    Args:
        level: the local level ε₀.
        n: people.
        delta: δ.

    Reference: V. Feldman, A. McMillan, K. Talwar, Hiding Among the Clones (FOCS 2021), Theorem 3.1.

    >>> round(clones(2.0, 1_000_000, Fraction("1e-8")), 6)
    0.017559
    """
    if level == 0 or not math.isfinite(level):
        return level
    with ctx.workprec(BITS):
        return _clones(level, n, delta)


def _clones(level: float, n: int, delta: Fraction) -> float:
    # A rational e^ε₀ at or above the true one: a larger level only makes the bound larger.
    lift = Fraction(math.nextafter(math.exp(level) * (1 + 1e-12), math.inf))
    high = fmpq(lift.numerator, lift.numerator + lift.denominator)
    low = 1 - high
    share = fmpq(lift.denominator, 2 * lift.numerator)
    classes: Classes = ((high, low, share), (low, high, share))
    goal = arb(fmpq(delta.numerator, delta.denominator))

    def excess(epsilon: float) -> float:
        return log_ratio(equal_others(classes, n, at(epsilon), CLONES_SMOOTHING)[1], goal)

    guess = min(gaussian_guess(index(classes), n, float(delta)), 0.97 * level)
    return min(falling_root(excess, guess, level, -1), level)


def _probability(delta: Any) -> Fraction:
    asked = as_fraction(delta, "delta")
    if not 0 < asked < 1:
        raise InvalidParameter(
            "0 < delta < 1 is required",
            parameter="delta",
            value=delta,
            hint="1e-8, well below one in the number of people, is usual.",
        )
    return asked


def _down(value: arb) -> float:
    return max(0.0, math.nextafter(float(value.lower()), -math.inf))


def _up(value: arb) -> float:
    found = float(value.upper())
    return 0.0 if value == 0 else math.nextafter(found, math.inf)
