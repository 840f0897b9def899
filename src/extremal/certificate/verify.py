"""`verify`: every claim of a mechanism, a design or a file, decided.

Three things may be claimed: that the mechanism is private, what it is worth, and that nothing private is better than
a bound. Each is *proved*, *refuted* (it is false, or the proof given for it does not hold), *not proven* (there is no
proof that the kernel can check: a user's function, or none at all), or *nothing claimed*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, partial
from html import escape
from math import inf, isinf, lcm, nextafter
from pathlib import Path
from textwrap import TextWrapper
from typing import Any

import numpy as np
from flint import ctx

from extremal.certificate.arithmetic.closed_costs import membership_cost, questions_cost
from extremal.certificate.arithmetic.enclosures import is_infinite, lower, upper, value_of
from extremal.certificate.arithmetic.workload_cost import workload_cost
from extremal.certificate.certificate import (
    Certificate,
    Statement,
    is_certificate,
    load_certificate,
    nearest_double,
    outputs_of,
)
from extremal.certificate.limits import PASSES, Allowance, work_of_pairs, work_of_proofs, work_of_value
from extremal.certificate.proof import WORKING_BITS, Bound, NotKnown, Refused
from extremal.certificate.proofs.combined import ChosenPrior
from extremal.certificate.statement import TIGHT, about, how_good, relative_gap
from extremal.errors import ExtremalError, InvalidParameter, TooLarge
from extremal.exact.weights import Indices
from extremal.mechanism import Mechanism
from extremal.mechanism.files import from_json, parse
from extremal.mechanism.labels import Labels
from extremal.mechanism.structures import ChosenSets
from extremal.privacy import LDP, Notion
from extremal.problem import Goal, LevelGoal, LossGoal, QuestionsGoal, TablesGoal, WorkloadGoal, problem_of
from extremal.sources import SourceClass

_REASONS = TextWrapper(100, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)

_HEADED = TextWrapper(100, subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False)

WIDEST = Fraction(1, 10**6)
"""Relative: how wide the enclosure of a worst case over a class of priors may be for its upper end to be its value."""


class Verdict(StrEnum):
    """What is known about a claim; true only when it is proved.

    Made by `ex.verify`.

    >>> bool(Verdict.PROVED), bool(Verdict.NOT_PROVEN)
    (True, False)
    """

    PROVED = "proved"
    REFUTED = "refuted"
    NOT_PROVEN = "not proven"
    NOTHING = "nothing claimed"

    def __bool__(self) -> bool:
        return self is Verdict.PROVED


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify`; true when something is claimed and everything that is claimed is proved.

    Made by `ex.verify`.

    Attributes:
        privacy, value, optimality: a verdict each.
        reasons: one sentence for each thing found, good or bad.
        interval: between these lies the best possible value, when value and bound are proved.

    >>> import extremal as ex
    >>> bool(ex.verify(ex.randomized_response(2, 1))), bool(ex.verify(ex.Mechanism.from_matrix([[1, 0], [0, 1]])))
    (True, False)
    """

    privacy: Verdict
    value: Verdict
    optimality: Verdict
    reasons: tuple[str, ...]
    interval: tuple[float, float] | None = None
    named: Callable[[], tuple[tuple[str, str], ...]] = field(default=tuple, repr=False, compare=False)

    @cached_property
    def subject(self) -> tuple[tuple[str, str], ...]:
        """What was decided, as pairs of a heading and a text: the mechanism, its inputs, the goal."""
        return self.named()

    @property
    def gap(self) -> float | None:
        """The length of the interval, relative to its upper end; None when there is none."""
        return None if self.interval is None else relative_gap(*self.interval)

    def lines(self) -> list[tuple[str, Verdict, str]]:
        """A heading, its verdict and what that says, for each claim; a loose bound is not called optimality."""
        gap = self.gap
        heading = "optimality" if gap is None or gap <= TIGHT else "bound"
        said = "" if gap is None or self.interval is None else how_good(gap, self.interval)
        return [("privacy", self.privacy, ""), ("value", self.value, ""), (heading, self.optimality, said)]

    def __bool__(self) -> bool:
        claimed = [v for v in (self.privacy, self.value, self.optimality) if v is not Verdict.NOTHING]
        return bool(claimed) and all(claimed)

    def __str__(self) -> str:
        named = [_HEADED.fill(f"{name:12s}{text}") for name, text in self.subject]
        verdicts = [f"{name:12s}{verdict}{f': {said}' if said else ''}" for name, verdict, said in self.lines()]
        return "\n".join([*named, *verdicts, *map(_REASONS.fill, self.reasons)])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def exit_code(self) -> int:
        """0 proved, 1 a claim is false or its proof refused, 3 nothing false but something not proven."""
        if Verdict.REFUTED in (self.privacy, self.value, self.optimality):
            return 1
        return 0 if self else 3


def verify(subject: Any) -> Verification:
    """Verify the claims of a mechanism, a design, or a file of either.

    Privacy is decided in integer arithmetic; the value is enclosed from the exact weights; the bound is derived again
    from each proof in exact arithmetic, without a solver. Nothing that is claimed is trusted.

    Guarantee: a claim is called proved only after a derivation in integers, rationals and enclosures, without a
    solver.

    Args:
        subject: a Mechanism, a Design, a Certificate, or the path of a mechanism or certificate file.

    Raises:
        MalformedFile: the file is not whole.

    Reference: docs/design/proofs.md states every kind of proof.

    >>> import extremal as ex
    >>> found = ex.verify(ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])))
    >>> bool(found), found.optimality
    (True, <Verdict.PROVED: 'proved'>)
    """
    if isinstance(subject, (str, Path)):
        return _verified_file(Path(subject))
    attached = subject if isinstance(subject, Certificate) else getattr(subject, "certificate", None)
    if isinstance(attached, Certificate):
        return _verified(attached.mechanism, attached.mechanism.privacy, attached, None, Allowance(None))
    if isinstance(subject, Mechanism):
        return _verified(subject, subject.privacy, None, None, Allowance(None))
    raise InvalidParameter(
        "verify takes a mechanism, a design, a certificate or a path", parameter="subject", value=type(subject).__name__
    )


def _verified_file(path: Path) -> Verification:
    """Decide a file, within what its length allows."""
    content, allowance = parse(path), Allowance(path.stat().st_size)
    if is_certificate(content):
        certificate, claim = load_certificate(content, str(path))
        return _verified(certificate.mechanism, claim, certificate, content["mechanism"]["hash"], allowance)
    mechanism, claim = from_json(content, str(path))
    return _verified(mechanism, claim, None, content["hash"], allowance)


def _verified(
    mechanism: Mechanism,
    claim: Notion | None,
    certificate: Certificate | None,
    digest: str | None,
    allowance: Allowance,
) -> Verification:
    named = partial(about, mechanism, digest, certificate.utility if certificate is not None else None)
    with ctx.workprec(WORKING_BITS):
        privacy, why = _privacy(mechanism, claim, allowance)
        if certificate is None:
            return Verification(privacy, Verdict.NOTHING, Verdict.NOTHING, tuple(why), None, named)
        goal = problem_of(certificate.utility)
        if goal is None:
            unknown = f"value and optimality: not proven (unverified: {_not_known(certificate.utility)})"
            return Verification(privacy, Verdict.NOT_PROVEN, Verdict.NOT_PROVEN, (*why, unknown), None, named)
        value, worth, how = _value(certificate, goal, allowance)
        optimality, because = _optimality(certificate, goal, claim, worth, allowance)
        ends = (certificate.bound, certificate.value) if goal.is_cost else (certificate.value, certificate.bound)
        interval = ends if value and optimality else None
        return Verification(privacy, value, optimality, (*why, *how, *because), interval, named)


def _not_known(utility: Statement | None) -> str:
    """Why a goal states nothing that can be checked."""
    if utility is None or getattr(utility, "of_user", True):
        return "a user's function, which no file holds"
    return f"{type(utility).__name__} is, or holds, a user's function or a divergence without an enclosure here"


def _privacy(mechanism: Mechanism, claim: Notion | None, allowance: Allowance) -> tuple[Verdict, list[str]]:
    if claim is None:
        return Verdict.NOTHING, ["no privacy is claimed"]
    once = work_of_pairs(mechanism) if isinstance(claim, LDP) and claim.exact_delta else 0
    try:
        allowance.spend(once, "the pairs of rows")
        holds = claim.holds(mechanism)
    except ExtremalError as error:
        return Verdict.NOT_PROVEN, [f"{claim!r} cannot be decided: {error}"]
    level = ""
    with suppress(TooLarge):  # ε-LDP is decided without a list of the reports, a level at a δ is not
        level = f": the level is {claim.level(mechanism)!r}" if allowance.affords(PASSES * once) else ""
    return (Verdict.PROVED, [f"{claim!r} holds{level}"]) if holds else (Verdict.REFUTED, [f"{claim!r} is false{level}"])


def _value(
    certificate: Certificate, goal: Goal, allowance: Allowance
) -> tuple[Verdict, tuple[Bound, Bound] | None, list[str]]:
    """The verdict on the value, and an enclosure of the true one.

    A claimed double must be next to the true value: the true value lies strictly between its two neighbours. Over a
    class of priors the enclosure may be wider than a double; then it must be next to the upper end.
    """
    claimed = certificate.value
    try:
        allowance.spend(work_of_value(goal, certificate.mechanism), "the value")
        low, high = enclosure(goal, certificate.mechanism, certificate.worst_prior)
    except (NotKnown, Refused) as error:
        return Verdict.NOT_PROVEN, None, [f"value: not proven (unverified: {error})"]
    if low == -inf or (high == inf and low != inf):
        return Verdict.NOT_PROVEN, None, [f"value: not proven (no precision encloses {goal.name})"]
    over_class = isinstance(goal, WorkloadGoal) and goal.source.single is None
    verdict, word = _compared(goal.name, claimed, low, high, WIDEST if over_class else Fraction(0))
    return verdict, (low, high), [word]


def _compared(name: str, claimed: float, low: Bound, high: Bound, widest: Fraction) -> tuple[Verdict, str]:
    """What an enclosure says of a claimed double; one that is at most so wide may speak by its upper end."""
    below, above = nextafter(claimed, -inf), nextafter(claimed, inf)
    infinite = low == inf or isinf(claimed)
    if low == claimed if infinite else below < low and high < above:
        return Verdict.PROVED, f"{name} is {claimed!r}"
    if not infinite:
        around = f"{name} is between {_shown(low)} and {_shown(high)}"
        if below < high < above and high - low <= widest * low:
            return Verdict.PROVED, f"{around}; the value {claimed!r} is the upper end"
        if _down(low) <= claimed <= _up(high):
            return Verdict.NOT_PROVEN, f"value: not proven ({around}, which does not say {claimed!r})"
    return Verdict.REFUTED, f"the value {claimed!r} is false: {name} is {_shown(low)}"


def _down(number: Bound) -> float:
    """The largest double that is not above."""
    nearest = nearest_double(number)
    return nearest if nearest <= number else nextafter(nearest, -inf)


def _up(number: Bound) -> float:
    """The smallest double that is not below."""
    return -_down(-number)


def enclosure(goal: object, mechanism: Any, worst_prior: ChosenPrior | None = None) -> tuple[Bound, Bound]:
    """Rationals around the value of a mechanism; infinite both when it is.

    Args:
        goal: a utility, or what it states.
        mechanism: with exact columns.
        worst_prior: for a workload over a class of priors, one that is nearly the worst.

    Raises:
        NotKnown: the kernel has no rule for the utility.
        Refused: the worst prior is not in the class.
    """
    stated = problem_of(goal)
    if stated is None:
        raise NotKnown("the kernel has no rule for a user's function", "utility", type(goal).__name__)
    with ctx.workprec(WORKING_BITS):
        structure = getattr(mechanism, "structure", None)
        if isinstance(stated, WorkloadGoal) and isinstance(structure, ChosenSets):
            shares = membership_cost(stated, mechanism, structure)
            return shares, shares
        if isinstance(stated, WorkloadGoal):
            chosen = None if worst_prior is None or stated.source.single else worst_prior.of(stated.source)
            return workload_cost(stated, mechanism, chosen)
        if isinstance(stated, (LossGoal, LevelGoal)):
            exact = _cost_of(stated, mechanism)
            return exact, exact
        if isinstance(stated, (QuestionsGoal, TablesGoal)):
            exact = questions_cost(stated, mechanism)
            return exact, exact
        ball = value_of(stated, mechanism)
        return (inf, inf) if is_infinite(ball) else (lower(ball), upper(ball))


def _cost_of(goal: LossGoal | LevelGoal, mechanism: Mechanism) -> Bound:
    """A distortion, exactly; a level is the float that privacy proves, read as the rational it is."""
    if isinstance(goal, LossGoal):
        return _largest(goal.source, _losses(goal, mechanism))
    if _largest(goal.source, _losses(LossGoal(goal.source, None), mechanism)) > goal.distortion:
        return inf
    level = LDP(0).level(mechanism)
    return inf if level == inf else Fraction(repr(level))


def _losses(goal: LossGoal, mechanism: Mechanism) -> list[Fraction]:
    """Σ_y Q(y|x)·d(x,y) for each input x."""
    if mechanism.k != goal.k:
        raise NotKnown("the mechanism and the cost are about different inputs", "k", mechanism.k)
    if next(iter(mechanism.columns())).orbit:
        raise NotKnown("the reports are not listed one by one", "m", mechanism.m)
    rows = np.arange(goal.k) if mechanism.row_of is None else mechanism.row_of
    codes = _codes(goal, mechanism)
    if goal.losses is None:
        return _misnamed(mechanism, codes, rows)
    common = lcm(*{d.denominator for row in goal.losses for d in row})
    whole = np.array([[int(d * common) for d in row] for row in goal.losses], dtype=object)[:, codes]
    weights = np.array(mechanism.distinct_rows().tolist(), dtype=object)[rows]
    return [Fraction(t, common * mechanism.denominator) for t in (weights * whole).sum(axis=1).tolist()]


def _misnamed(mechanism: Mechanism, codes: Sequence[int], rows: Indices) -> list[Fraction]:
    """1 − Q(x|x) for each input x, from the weight of its row in the column that names it."""
    lost = [Fraction(1)] * mechanism.k
    for column, x in zip(mechanism.columns(), codes, strict=True):
        row = int(rows[x])
        weight = next(w for w, members in column.groups if any(a <= row < b for a, b in members.runs))
        lost[x] -= Fraction(weight, mechanism.denominator)
    return lost


def _codes(goal: LossGoal, mechanism: Mechanism) -> list[int]:
    """Which column of the losses each output has."""
    width, names = goal.k if goal.losses is None else len(goal.losses[0]), outputs_of(goal)
    if names is None:
        names = mechanism.input_labels if width == goal.k else Labels(range(width), "outputs")
    try:
        return [names.code(y, "output") for y in mechanism.output_labels]
    except ExtremalError as error:
        raise NotKnown(f"an output is not among those that the cost knows ({error})") from None


def _largest(source: SourceClass, losses: Sequence[Fraction]) -> Fraction:
    """The largest expected loss over the priors of a class, exactly."""
    prior = source.extreme_prior(losses)
    return sum((w * v for w, v in zip(prior.weights, losses, strict=True)), Fraction(0)) / prior.total


def _optimality(
    certificate: Certificate, goal: Goal, claim: Notion | None, worth: tuple[Bound, Bound] | None, allowance: Allowance
) -> tuple[Verdict, list[str]]:
    """Whether the proofs reach the bound that is claimed, and the value contradicts neither."""
    sign, side = _side(goal)
    bound, attained = certificate.bound, None if worth is None else worth[int(goal.is_cost)]
    if bound != bound:
        return Verdict.REFUTED, ["the bound is no number"]
    if sign * certificate.value > sign * bound or (attained is not None and sign * attained > sign * _exact(bound)):
        return Verdict.REFUTED, [f"the bound {bound!r} is false: the mechanism itself is {side} it"]
    if sign * bound == inf or (goal.is_cost and bound <= 0):
        return Verdict.PROVED, [f"no private mechanism is {side} {bound!r}: nothing can be"]
    if attained is None:
        return Verdict.NOT_PROVEN, ["optimality: not proven (unverified: the value is not proven)"]
    return _by_proofs(certificate, goal, claim, attained, allowance)


def _by_proofs(
    certificate: Certificate, goal: Goal, claim: Notion | None, attained: Bound, allowance: Allowance
) -> tuple[Verdict, list[str]]:
    """The same for a bound that needs a proof, beside what the mechanism attains."""
    if not isinstance(claim, Notion):
        return Verdict.NOT_PROVEN, ["optimality: not proven (among which mechanisms is not said)"]
    if not certificate.proofs:
        return Verdict.NOT_PROVEN, ["optimality: not proven (no proof is given)"]
    try:
        allowance.spend(work_of_proofs(certificate.proofs, problem_of(claim), goal), "the proofs")
    except NotKnown as error:
        return Verdict.NOT_PROVEN, [f"optimality: not proven ({error})"]
    sign, side = _side(goal)
    best: Bound = sign * inf
    for proof in certificate.proofs:
        try:
            proved = proof.bound(claim, goal)
        except NotKnown as error:
            return Verdict.NOT_PROVEN, [f"optimality: not proven ({error})"]
        except (Refused, ExtremalError) as error:
            return Verdict.REFUTED, [f"the proof by {proof.label} is refused: {error}"]
        best = min(best, proved, key=lambda b: sign * b)
    if sign * attained > sign * best:
        return Verdict.REFUTED, [
            f"the proofs contradict the mechanism: {_shown(best)} is proved, and it is {side} that"
        ]
    if sign * best > sign * _exact(certificate.bound):
        return Verdict.REFUTED, [f"the proofs reach {_shown(best)}, not the claimed {certificate.bound!r}"]
    kinds = ", ".join(proof.label for proof in certificate.proofs)
    return Verdict.PROVED, [f"no private mechanism is {side} {certificate.bound!r}: proved by {kinds}"]


def _side(goal: Goal) -> tuple[int, str]:
    """The sign that makes larger better, and on which side of a bound a better mechanism is."""
    return (-1, "below") if goal.is_cost else (1, "above")


def _exact(number: float) -> Bound:
    """A bound is the decimal that it prints as."""
    return number if isinf(number) else Fraction(repr(number))


def _shown(number: Bound) -> str:
    return repr(nearest_double(number))
