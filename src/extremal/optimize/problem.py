"""What a solver is asked, and what it answers.

A solver is a function from a problem, its notion and its goal to a solution; `optimize.table` says which is asked. It
proposes a mechanism in exact weights, a bound that it believes, and proofs that `extremal.certificate` can check
without it. Nothing that it says is trusted: the proof kernel derives value and bound from the weights and the proofs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, isinf, nextafter
from typing import Any, Protocol

import numpy as np
from flint import fmpq

from extremal.certificate import Certificate, ChosenPrior, Contradiction, Proof, Refused, enclosure
from extremal.certificate.certificate import Statement, nearest_double
from extremal.certificate.proof import Bound
from extremal.errors import InvalidParameter, TooLarge
from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.privacy import Notion
from extremal.problem import problem_of
from extremal.sources import SourceClass
from extremal.utility import Utility

Progress = Callable[[str, float], None]
"""Called now and then with what is being done and the relative gap reached."""


NOT_ZERO = 1e-300
"""Keeps a divisor or a scale from being 0; far below any quantity that is one, far above the smallest float."""


NO_CHANGE = 1e-15
"""Relative: what moved by less is rounding of a few operations."""


GAIN = 1e-13
"""Relative to the value: a column worth less than this above its price is rounding of a sum over inputs."""


KEPT = 1e-13
"""Relative to the largest: a weight of a vertex below this is rounding of its system of equations."""


DIGITS = 50
"""Of a number that is computed for a proof: sums of large terms then lose nothing."""


class Remark(Protocol):
    """A value that makes its sentence only when a summary is asked for; empty when there is nothing to say."""

    def sentence(self) -> str: ...


class Several(Protocol):
    """Sentences that are made together, when the first of them is asked for."""

    @property
    def lines(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, eq=False)
class Line:
    """One of several, as a remark; empty when there are fewer."""

    notes: Several
    number: int

    def sentence(self) -> str:
        return "".join(self.notes.lines[self.number : self.number + 1])


def lines_of(notes: Several, most: int) -> tuple[Line, ...]:
    """A remark for each of at most so many sentences."""
    return tuple(Line(notes, number) for number in range(most))


FurtherProofs = Callable[[], tuple[Proof, ...]]
"""Makes proofs that a bound does not need, for whoever wants the certificate."""


def no_further_proofs() -> tuple[Proof, ...]:
    return ()


def _silent(what: str, gap: float) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Maximise (or, for a cost, minimise) a utility over the mechanisms that a notion admits.

    Attributes:
        privacy, utility: the notion and what is wanted.
        inputs: labels of the inputs, or None.
        max_outputs: at most this many different reports, or None.
        tolerance: stop at this relative gap.
        deadline: `time.monotonic()` after which to return the best so far, or None.
        progress: told how it goes.
        proofs: which kinds of proof to make, or None for what the solver thinks reasonable.
    """

    privacy: Notion
    utility: Utility
    inputs: Any = None
    max_outputs: int | None = None
    tolerance: float = 1e-9
    deadline: float | None = None
    progress: Progress = field(default=_silent)
    proofs: tuple[str, ...] | None = None

    @property
    def out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def seconds_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True, eq=False)
class Solution:
    """A proposal.

    Attributes:
        mechanism: exact weights, claim decided.
        bound: no admissible mechanism is better than this; used only when there is no proof (a user's function).
        method: which way was taken, in a few words; a closed form is named when it is proven optimal.
        proofs: for the certificate.
        notes: sentences for the summary, or values that make one when it is asked for.
        further: makes more proofs when the certificate is asked for.
    """

    mechanism: Mechanism
    bound: float
    method: str
    proofs: tuple[Proof, ...] = ()
    notes: tuple[str | Remark, ...] = ()
    further: FurtherProofs = field(default=no_further_proofs)


def certify(
    mechanism: Mechanism, utility: Statement, proofs: Sequence[Proof], worst_prior: ChosenPrior | None = None
) -> Certificate:
    """The certificate of a mechanism and the proofs that a search made: the value and the best bound, derived here.

    Raises:
        Contradiction: a proof is refused, or proves less than the mechanism attains. A defect; such a design must not
            be returned.
        NotKnown: the kernel has no rule for the utility.
    """
    goal = problem_of(utility)
    low, high = enclosure(goal, mechanism, worst_prior)
    sign = -1 if goal.is_cost else 1
    try:
        bounds = [_bound_of(proof, mechanism.privacy, utility) for proof in proofs]
    except Refused as error:
        raise Contradiction(f"a proof of this design is refused: {error}") from error
    best = min([*bounds, Fraction(0) if goal.is_cost else inf], key=lambda b: sign * b)
    if sign * (low if sign > 0 else high) > sign * best:
        raise Contradiction("the proof contradicts the value", parameter="bound", value=repr(nearest_double(best)))
    bound = nearest_double(best)
    # A bound is the decimal that it prints as; neither that nor the double may be better than what is proved.
    while not isinf(bound) and min(sign * Fraction(repr(bound)), sign * Fraction(bound)) < sign * best:
        bound = nextafter(bound, sign * inf)
    if low != inf and isinf(nearest_double(low)):
        raise TooLarge(
            "the value of a mechanism must be a double, and this one is finite but has more digits",
            parameter=goal.name,
            value=f"about 10^{len(str(int(low))) - 1}",
            hint="Choose a smaller order, or a smaller ε.",
        )
    return Certificate(mechanism, utility, _claimed(low, high, goal.is_cost), bound, tuple(proofs), worst_prior)


def derived(proof: Proof, privacy: object, utility: object) -> Bound:
    """What the kernel derives from a proof, for a search that has to see whether it holds; the certificate that is made
    of it next need not derive it again, which takes seconds for a thousand inputs."""
    bound = proof.bound(privacy, utility)
    _HELD["last"] = (proof, privacy, utility, bound)
    return bound


def _bound_of(proof: Proof, privacy: object, utility: object) -> Bound:
    """What was derived last of this very proof, once; else derived here."""
    held = _HELD.pop("last", None)
    if held is None or held[0] is not proof or held[1] != privacy or held[2] is not utility:
        return proof.bound(privacy, utility)
    return held[3]


_HELD: dict[str, tuple[Proof, object, object, Bound]] = {}


def _claimed(low: Bound, high: Bound, is_cost: bool) -> float:
    """The value as a double: the nearest, or where the enclosure of a cost is wider than a double its upper end."""
    nearest = nearest_double(low)
    if not is_cost or isinf(nearest) or high < nextafter(nearest, inf):
        return nearest
    top = nearest_double(high)
    return top if Fraction(top) >= high else nextafter(top, inf)


def extended(certificate: Certificate, proofs: Sequence[Proof]) -> Certificate:
    """The certificate with more proofs of its bound. Each is checked; what is claimed stays the same.

    Raises:
        Contradiction: a proof is refused, or proves less than the mechanism attains.
        InvalidParameter: the certificate is from a file that does not say what was optimised.
    """
    if not proofs:
        return certificate
    if certificate.utility is None:
        raise InvalidParameter(
            "a certificate of a user's function says too little to add proofs to",
            parameter="certificate.utility",
            value=None,
            hint="Add them to the design's own certificate.",
        )
    certify(certificate.mechanism, certificate.utility, proofs, certificate.worst_prior)
    return replace(certificate, proofs=(*certificate.proofs, *proofs))


def improved(certificate: Certificate, utility: Statement, proof: Proof) -> Certificate:
    """The certificate with one proof more, which may bound better than all that it has.

    Raises:
        Contradiction: the proof is refused, or proves less than the mechanism attains.
    """
    sign = -1 if problem_of(utility).is_cost else 1
    alone = certify(certificate.mechanism, utility, (proof,), certificate.worst_prior)
    bound = min(certificate.bound, alone.bound, key=lambda b: sign * b)
    return replace(certificate, bound=bound, proofs=(*certificate.proofs, proof))


def decimal(number: float) -> Fraction:
    """The decimal that a float prints as: how a proof holds a number that a search found."""
    return Fraction(repr(float(number)))


def decimals(numbers: Iterable[float]) -> tuple[Fraction, ...]:
    return tuple(decimal(number) for number in numbers)


def shortened(number: Fraction, digits: int = DIGITS) -> Fraction:
    """The decimal of so many digits that is nearest: proofs hold decimals only."""
    with localcontext(prec=digits):
        return Fraction(nearest_decimal(number))


def nearest_decimal(number: Fraction | fmpq) -> Decimal:
    """The nearest decimal of as many digits as the context has."""
    return Decimal(int(number.numerator)) / Decimal(int(number.denominator))


def chosen_prior(source: SourceClass, priors: Sequence[Prior], weights: Sequence[Fraction]) -> ChosenPrior:
    """Σ weights·priors of a class, as a proof names it: by weights of its own priors when it is a list, by the prior
    itself, in whole numbers, otherwise."""
    if source.listed is not None:
        by_prior = dict(zip(priors, weights, strict=True))
        return ChosenPrior((), tuple(by_prior.pop(p, Fraction(0)) for p in source.listed))
    paired = list(zip(weights, priors, strict=True))
    mixed = [sum((w * p.fraction(x) for w, p in paired), Fraction(0)) for x in range(source.k)]
    common = math.lcm(*(m.denominator for m in mixed))
    return ChosenPrior(tuple(m * common for m in mixed), ())


def constant(problem: Problem, method: str = "constant mechanism") -> Solution:
    """Every input reports the same: all that is private at level 0."""
    mechanism = Mechanism.from_matrix(np.ones((problem.utility.k, 1)), problem.privacy, inputs=problem.inputs)
    return Solution(mechanism, problem.utility(mechanism), method)
