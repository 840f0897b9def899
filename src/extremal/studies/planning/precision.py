"""Plans of a survey: of people, privacy and precision, two are given and the third is solved for.

In the manner of sample-size calculators: `ex.plan` is told all but one of the number of people n, the privacy level ε
(or a mechanism) and the half-width of the widest interval, and solves for the one left out. Half-widths are those of
the intervals that the estimators will report (`extremal.studies.planning.widths`), not of a normal approximation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from extremal.errors import InvalidParameter, called_as
from extremal.estimate.intervals.levels import checked_level
from extremal.estimate.reports.sample import Sample
from extremal.exact import as_count, as_prior, in_order
from extremal.mechanism import Mechanism
from extremal.plotting import plain_ticks
from extremal.studies.planning.design_effect import DesignEffect
from extremal.studies.planning.goals import Goal, ShareOfEach, Statistics
from extremal.studies.planning.planned import Aim, Curve, Planned, left_out, people_around, unreached
from extremal.studies.planning.search import MOST_EPSILON, MOST_PEOPLE, smallest_count, smallest_level
from extremal.studies.planning.widths import ABOUT, SurveyWidths, Widths
from extremal.tables import number, outward
from extremal.utility import Workload

FEWEST = 2
"""People: one report says nothing about its own spread."""
MOST_ASSURED = 0.9999  # as a plan prints it: what rounding leaves of a probability next to 1 is not promised
WIDTH_STEP = 1e-7  # of a half-width that is solved for: three digits more than a plan prints
APART = 40  # numbers of people that are tried below one that does, at least
START = 1000  # people from which a first guess is scaled: widths fall as 1/√n


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan(Planned):
    """A survey that was planned, from `ex.plan`. `str()` says it in sentences.

    Attributes:
        solved: what was left out: "n", "epsilon" or "half_width".
        n: people.
        epsilon: the level of the mechanism under LDP, nats.
        half_width: of the widest interval with these n and this mechanism: what is reached at the expected counts; if
            it was left out and an assurance asked for, what a survey reaches with that probability.
        wanted: the half-width that was asked for, or None.
        level: of confidence.
        mechanism: to ask with.
        widest: what the widest interval is about: the label of a cell, or the name of a statistic.
        value: its frequency, or value, at the prior in question.
        without_privacy: how many unrandomised answers reach `half_width`.
        assurance: with which probability no interval of a survey is wider than what was asked for (or than
            `half_width`, where nothing was): exact for two inputs and for one statistic of two values, at least that
            for several counts, and about that elsewhere, as the summary says.

    >>> import extremal as ex
    >>> ex.plan(ex.randomized_response(2, 1), half_width=0.05).solved
    'n'
    """

    reaches: ClassVar[str] = "half_width"
    fewest: ClassVar[int] = FEWEST
    instead: ClassVar[str] = "k or inputs"

    half_width: float
    level: float
    widest: Any
    value: float
    assurance: float
    known: str = field(repr=False)
    goal: Goal = field(repr=False)

    def _sentences(self) -> list[str]:
        about = f"The widest {100 * self.level:g}% interval is that of the {self.goal.name} {self.widest!r} at "
        return [
            f"{self._heading}; half-width {outward(self.half_width, up=True)}{self._asked}, {self.goal.where}.",
            f"{about}{number(self.value, 3)}, as {self.goal.call} reports it at the expected counts.",
            *([self.goal.effect.sentence] if self.goal.effect.words else []),
            *self._assured(),
        ]

    def _assured(self) -> list[str]:
        probability = outward(min(self.assurance, MOST_ASSURED), up=False)
        if self.assurance == 1 and not self.known.startswith(ABOUT.format("")):
            return ["Every survey of that size reaches it."]
        if probability == "0":
            return [f"Many surveys of that size may be wider than {self._target}: assurance=0.9 asks for 90%."]
        return [f"A survey of that size reaches {self._target} with probability {self.known.format(probability)}."]

    @property
    def _target(self) -> str:
        return f"±{outward(self.half_width, up=True)}" if self.wanted is None else f"±{self.wanted:g}"

    def plot(self) -> Any:
        """Half-width against the number of people, and against ε where the mechanism was designed; a matplotlib
        figure."""
        label = f"half-width of the widest {100 * self.level:g}% interval"
        drawn = self._drawn(_half_widths(self.goal.plain(self.mechanism)), label)
        for axis in drawn.axes:
            plain_ticks(axis.yaxis, [v for line in axis.get_lines() for v in line.get_ydata()])
        return drawn

    def _curve(self, mechanism: Mechanism) -> Curve:
        return _half_widths(self.goal.widths(mechanism))

    def _best(self, epsilon: Any) -> Mechanism:
        return self.goal.mechanism(epsilon)

    def _around(self) -> list[int]:
        return people_around(max(10, self.n // 20), max(200, self.n * 20))


def _half_widths(widths: Widths) -> Curve:
    return lambda n: widths.at(n).half_width


@called_as("ex.plan(k=4, epsilon=1, half_width=0.05)")
def plan(
    mechanism: Mechanism | None = None,
    *,
    k: int | None = None,
    epsilon: Any = None,
    n: int | None = None,
    half_width: float | None = None,
    prior: Any = None,
    level: float = 0.95,
    inputs: Any = None,
    workload: Workload | None = None,
    assurance: float | None = None,
    sample: Sample | None = None,
    intraclass: float | None = None,
) -> Plan:
    """Plan a survey: solve for the one of n, ε and half-width that is left out.

    The half-width is half the length of the widest interval that `ex.estimate_frequencies(reports, plan.mechanism)`
    reports when each report is as frequent as expected.

    Guarantee: with the n that is returned the half-width is at most what was asked for, and with n − 1 it is not; ε has
    four digits, and one unit of the last less does not do. Without a prior it holds at every prior: there the widest
    expected interval is the largest over all of them, found to about 10^-5 in the frequency.

    Args:
        mechanism: what will be asked with; left out, the best one at ε: for shares, subset selection with the narrowest
            widest interval or, with a prior, the design for it where that is narrower; for a workload its design.
        k: number of inputs; not needed with a mechanism, a prior or inputs.
        epsilon: of LDP, in nats; left out with a mechanism.
        n: number of people.
        half_width: of the widest interval, between 0 and ½ for shares.
        prior: what the shares are expected to be; None: the worst case over all, or what the workload says.
        level: of confidence.
        inputs: labels for the designed mechanism.
        workload: what is wanted instead of shares: an `ex.Mean`, `ex.CDF`, `ex.Ranges` or `ex.Workload`; intervals are
            then those of `ex.estimate_workload`, at the workload's prior or, of a class, the prior of largest total
            variance.
        assurance: with which probability a survey shall reach the half-width, given or solved for; not given, it is
            reached at the expected counts. Exact or on the safe side where counts are binomial, else approximate.
        sample: an `ex.Sample` like the planned one, with whose limits is planned (`planning.units`).
        intraclass: with clusters, the correlation of the answers of two people of one cluster; 1 is the worst case.

    Raises:
        InvalidParameter: not exactly one of the three is left out, or no n up to 10^10 and no ε up to 50 will do.

    >>> import extremal as ex
    >>> found = ex.plan(k=4, epsilon=1, half_width=0.05)
    >>> found.n, round(found.half_width, 4), found.without_privacy
    (4059, 0.05, 391)
    >>> [ex.plan(prior=[0.4, 0.3, 0.2, 0.1], epsilon=1, half_width=0.05, assurance=a).n for a in (None, 0.9)]
    [3531, 3599]
    >>> ex.plan(k=4, n=2000, half_width=0.05).epsilon
    1.423
    >>> round(ex.plan(ex.randomized_response(2, 1), n=1000, prior=[0.8, 0.2]).half_width, 4)
    0.065
    >>> ex.plan(workload=ex.Mean([0, 1, 2, 3]), epsilon=1, half_width=0.1).n
    3919
    >>> ex.plan(k=4, epsilon=1, half_width=0.05, sample=ex.Sample(cluster=[*range(50)] * 20), intraclass=0.05).n
    4517

    Reference: Chow, Shao and Wang, Sample Size Calculations in Clinical Research; Warner (1965); Ye and Barg (2018).
    """
    if mechanism is not None:
        _refuse_no_mechanism(mechanism)
    solved = left_out(mechanism, epsilon, n, "half_width", half_width)
    goal = _goal(mechanism, k, prior, inputs, checked_level(level), workload)
    goal = replace(goal, effect=DesignEffect.of(sample, intraclass))
    sure = None if assurance is None else checked_level(assurance, "assurance")
    return _planned(solved, goal, mechanism, epsilon, n, half_width, sure)


def _planned(
    solved: str,
    goal: ShareOfEach | Statistics,
    mechanism: Mechanism | None,
    epsilon: Any,
    n: Any,
    half_width: Any,
    sure: float | None,
) -> Plan:
    """Solve for what was left out."""
    wanted = None if half_width is None else _checked_width(half_width, goal.largest)
    aim = Aim(
        "half_width",
        best=goal.mechanism,
        people=lambda m, width: _people(goal.widths(m), width) if sure is None else _sure(goal.widths(m), width, sure),
        level=lambda people, width: _level(goal, people, width, sure),
        hint="Ask for a larger half_width or a larger ε.",
    )
    given = None if n is None else as_count(n, "n", FEWEST)
    asked, nats, people = aim.solve(mechanism, epsilon, given, wanted)
    widths = goal.widths(asked)
    reached = widths.at(people)
    if wanted is None and sure is not None:
        reached = reached._replace(half_width=_assured_width(widths, people, sure, reached.half_width, goal.largest))
    assured = widths.assurance(people, reached.half_width if wanted is None else wanted)
    without = _people(goal.plain(asked), reached.half_width, people)
    return Plan(
        solved=solved,
        n=people,
        epsilon=nats,
        mechanism=asked,
        half_width=reached.half_width,
        widest=reached.about,
        value=reached.value,
        wanted=wanted,
        without_privacy=people if without is None else without,
        designed=mechanism is None,
        level=goal.level,
        assurance=assured.probability,
        known=assured.words,
        goal=goal,
    )


def _refuse_no_mechanism(mechanism: object) -> None:
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(
            "mechanism must be a Mechanism",
            parameter="mechanism",
            value=type(mechanism).__name__,
            hint="The number of inputs is k=…; ex.load reads a mechanism from a file.",
        )


def _goal(
    mechanism: Mechanism | None, k: Any, prior: Any, inputs: Any, level: float, workload: Any
) -> ShareOfEach | Statistics:
    labels = inputs if mechanism is None else mechanism.input_labels
    prior = in_order(prior, "prior", labels)
    if workload is None:
        return _shares(mechanism, k, prior, inputs, level)
    return _statistics(mechanism, k, prior, inputs, level, workload)


def _shares(mechanism: Mechanism | None, k: Any, prior: Any, inputs: Any, level: float) -> ShareOfEach:
    if mechanism is not None:
        if inputs is not None or k not in (None, mechanism.k):
            raise InvalidParameter(
                "a mechanism has its own inputs", parameter="k, inputs", value=(k, inputs), hint="Leave them out."
            )
        return ShareOfEach(mechanism.k, mechanism.inputs, _prior(prior, mechanism.k), level)
    labels = None if inputs is None else list(inputs)
    size = _size(k, labels, prior)
    return ShareOfEach(size, labels, _prior(prior, size), level)


def _size(k: Any, labels: list[Any] | None, prior: Any) -> int:
    """The number of inputs: that given, which is that of the labels, else that of the prior."""
    sizes = {as_count(k, "k", 2)} if k is not None else set()
    sizes |= {len(labels)} if labels is not None else set()
    if prior is not None and not sizes:
        return len(as_prior(prior).values)
    if len(sizes) != 1:
        raise InvalidParameter(
            "the number of inputs must be known, once", parameter="k", value=k, hint="Give k, a prior or inputs."
        )
    return sizes.pop()


def _statistics(
    mechanism: Mechanism | None, k: Any, prior: Any, inputs: Any, level: float, workload: Any
) -> Statistics:
    if not isinstance(workload, Workload):
        raise InvalidParameter(
            "workload must be an ex.Mean, ex.CDF, ex.Ranges, ex.Frequencies or ex.Workload",
            parameter="workload",
            value=workload,
        )
    labels = list(inputs) if mechanism is None and inputs is not None else inputs
    sizes = {"k": k, "mechanism.k": mechanism and mechanism.k, "inputs": None if labels is None else len(labels)}
    for name, size in sizes.items():
        if size is not None and size != workload.k:
            raise InvalidParameter(f"the workload is about {workload.k} inputs", parameter=name, value=size)
    if mechanism is not None:
        labels = mechanism.inputs
    return Statistics(workload if prior is None else workload.at(prior), labels, level)


def _prior(prior: Any, k: int) -> Any:
    return None if prior is None else as_prior(prior, k=k)


def _checked_width(half_width: Any, largest: float) -> float:
    if isinstance(half_width, bool) or not isinstance(half_width, (int, float, Fraction, np.floating)):
        raise InvalidParameter(
            "half_width must be a number",
            parameter="half_width",
            value=half_width,
            hint="Write ± 5 percentage points as 0.05.",
        )
    if not 0 < half_width < largest:
        raise InvalidParameter(
            f"half_width must lie between 0 and {number(largest)}: that much is known without asking anybody",
            parameter="half_width",
            value=half_width,
            hint="Write ± 5 percentage points as 0.05.",
        )
    return float(half_width)


def _level(goal: Goal, people: int, wanted: float, sure: float | None) -> Fraction:
    """The smallest ε at which n people reach the half-width with the best mechanism."""
    found = smallest_level(lambda e: _reaches(goal.widths(goal.mechanism(e)), people, wanted, sure))
    if found is not None:
        return found
    needed = _people(goal.plain(goal.mechanism(MOST_EPSILON)), wanted)
    raise unreached("half_width", people, wanted, needed, "Ask for a larger half_width.")


def _people(widths: Widths, wanted: float, most: int | None = None) -> int | None:
    """The smallest number for which the widest interval is as wanted."""
    return smallest_count(lambda n: widths.at(n).half_width <= wanted, _guess(widths, wanted, most or START), FEWEST)


def _guess(widths: Widths, wanted: float, guess: int) -> int:
    for _ in range(2):
        scaled = guess * (widths.at(guess).half_width / wanted) ** 2
        guess = max(FEWEST, min(math.ceil(scaled), MOST_PEOPLE))
    return guess


def _sure(widths: SurveyWidths, wanted: float, sure: float) -> int | None:
    """The smallest number with which surveys are as wanted with probability `sure`, or one with `APART` smaller ones
    that are not: exact intervals of fewer people can be more likely narrow."""

    def holds(n: int) -> bool:
        return _reaches(widths, n, wanted, sure)

    found = smallest_count(holds, _guess(widths, wanted, START), FEWEST)
    if found is None:
        return None
    n = found
    while n > FEWEST and n > found - APART:
        n -= 1
        found = n if holds(n) else found
    return found


def _reaches(widths: SurveyWidths, n: int, wanted: float, sure: float | None) -> bool:
    """Whether n people reach the half-width at the expected counts, or with the probability that is asked for."""
    if sure is None:
        return widths.at(n).half_width <= wanted
    return widths.assurance(n, wanted).probability >= sure


def _assured_width(widths: SurveyWidths, n: int, sure: float, expected: float, largest: float) -> float:
    """The smallest half-width that n people reach with probability `sure`."""
    narrow, wide = (0.0, expected) if _reaches(widths, n, expected, sure) else (expected, largest)
    while wide - narrow > WIDTH_STEP:
        middle = (narrow + wide) / 2
        narrow, wide = (narrow, middle) if _reaches(widths, n, middle, sure) else (middle, wide)
    return wide
