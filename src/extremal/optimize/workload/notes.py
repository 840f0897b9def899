"""What a design means to the person who collects the reports: precision, and people.

n × mean squared error is exact but says little. In words it is the half-width of an interval at n = 1,000, and how
many respondents another mechanism would need for the same precision: subset selection, the usual choice, needs
F(subset selection)/F(design) times as many. Designs for other utilities say when shares cannot be had from their
reports at all, or only at a high price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import process_time

import numpy as np

from extremal.certificate import enclosure
from extremal.closed_forms import subset_selection
from extremal.errors import ExtremalError
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import ChosenSets, SubsetSelection
from extremal.optimize.workload.structured.short import best_short
from extremal.privacy import LDP
from extremal.tables import number
from extremal.utility import Frequencies, Mean, Ranges, Workload

RESPONDENTS = 1000  # a survey of the usual size, for the sentence about precision
NORMAL = 1.96  # standard errors of a 95% interval
DEAR = 2.0  # respondents, relative to subset selection, from which a summary warns
MOST_INPUTS = 300  # inputs beyond which shares are not looked at
LONG = 64  # bits of a report from which a summary says what a short one costs: a machine word
SHORT = 16  # bits that a short report may have, where the labels need no more
TIMED = 1000  # reports whose drawing is timed


def subset_selection_cost(workload: Workload, epsilon: float) -> float | None:
    """n × mean squared error with subset selection of the best size; None over a class of priors where it cannot be
    had. Where its reports are too many to list and the prior is uneven, that of the usual estimate (Ye and Barg)."""
    mechanism = subset_selection(workload.k, epsilon)
    try:
        return workload(mechanism)
    except ExtremalError:
        structure, prior = mechanism.structure, workload.prior
        if prior is None or not isinstance(structure, SubsetSelection):
            return None
        return _usual(workload.rows, prior.values, structure.size, structure.inside / DENOMINATOR)


def _usual(rows: Floats, prior: Floats, d: int, truth: float) -> float:
    """Σ variances of A·p̂, p̂ = (1{x ∈ S} − b)/(a − b), a the probability that a report holds the truth."""
    k = prior.size
    other = (d - truth) / (k - 1)
    held = other + (truth - other) * prior
    with_truth = truth * (d - 1) / (k - 1)
    without = (d - 1) * (truth * (d - 2) + (1 - truth) * d) / ((k - 1) * (k - 2))
    both = without + (with_truth - without) * (prior[:, None] + prior)
    np.fill_diagonal(both, held)
    covariance = (both - np.outer(held, held)) / (truth - other) ** 2
    return float(np.einsum("ix,xz,iz->", rows, covariance, rows))


def half_width(workload: Workload, value: float, n: int = RESPONDENTS) -> float:
    """The half-width of a 95% interval, root mean square over the statistics."""
    return NORMAL * math.sqrt(value / (_statistics(workload) * n))


def in_words(workload: Workload, reach: float) -> str:
    """A half-width as people say it: shares in points, everything else in its own unit."""
    if isinstance(workload, Mean):
        return f"±{number(reach, 3)} on the mean"
    if type(workload) is Workload:
        return f"±{number(reach, 3)}{' on average' if workload.rows.shape[0] > 1 else ''}"
    return f"±{number(100 * reach, 3)} points on average"


def _statistics(workload: Workload) -> int:
    if isinstance(workload, Ranges):
        return workload.k * (workload.k + 1) // 2
    return int(workload.rows.shape[0])


def cost_with(workload: Workload, mechanism: Mechanism) -> float:
    """n × mean squared error; with sets that the inputs choose that of their usual estimate, as in certificates."""
    if isinstance(mechanism.structure, ChosenSets):
        return float(enclosure(workload.problem(), mechanism)[1])
    return workload(mechanism)


@dataclass(frozen=True, eq=False)
class Precision:
    """What the value means at n = 1,000."""

    workload: Workload
    mechanism: Mechanism

    def sentence(self) -> str:
        worst = ", at worst" if self.workload.prior is None else ""
        reach = half_width(self.workload, cost_with(self.workload, self.mechanism))
        return f"at n = {RESPONDENTS:,}  {in_words(self.workload, reach)} (95%{worst})"


@dataclass(frozen=True, eq=False)
class People:
    """How many respondents the design needs, relative to subset selection."""

    workload: Workload
    mechanism: Mechanism

    def sentence(self) -> str:
        claim = self.mechanism.privacy
        usual = subset_selection_cost(self.workload, claim.epsilon) if isinstance(claim, LDP) else None
        if usual is None or not math.isfinite(usual):
            return ""
        share = cost_with(self.workload, self.mechanism) / usual
        if share > 1.0005:
            return f"people        {share - 1:.2%} more than subset selection needs for the same precision"
        if share > 0.9995:
            return "people        as many as subset selection needs for the same precision"
        return f"people        {share:.1%} of what subset selection needs for the same precision"


@dataclass(frozen=True, eq=False)
class Shorter:
    """What a short report would cost, where the best one is long."""

    workload: Workload
    mechanism: Mechanism

    def sentence(self) -> str:
        claim, goal = self.mechanism.privacy, self.workload
        long = bits_of(self.mechanism) > LONG and isinstance(goal, Frequencies) and goal.prior is not None
        if not long or not isinstance(claim, LDP):
            return ""
        found = best_short(None, goal, claim, 1 << max(SHORT, (goal.k - 1).bit_length() + 2))
        if found is None:
            return ""
        more = float(found.value) / goal(self.mechanism) - 1
        bits = bits_of(found.mechanism)
        return f"short         {bits} bits a report cost at most {more:.2%} more people: report_bits={bits}"


def bits_of(mechanism: Mechanism) -> int:
    """How many bits name a report."""
    return (mechanism.m - 1).bit_length()


def seconds_of(mechanism: Mechanism) -> float:
    """Processor seconds that one report takes here: the better of two rounds, after one that prepares."""
    values = [mechanism.inputs[x % mechanism.k] for x in range(TIMED)]
    found = []
    for some in (values[:1], values, values):
        start = process_time()
        mechanism.privatize(some)
        found.append((process_time() - start) / TIMED)
    return min(found[1:])


@dataclass(frozen=True, eq=False)
class AboutShares:
    """Whether the shares of the inputs can be had from the reports of a design that was made for something else."""

    mechanism: Mechanism
    prior: Floats | None

    def sentence(self) -> str:
        mechanism, k = self.mechanism, self.mechanism.k
        claim = mechanism.privacy
        if k > MOST_INPUTS or claim is None or not claim.epsilon or not math.isfinite(claim.epsilon):
            return ""
        prior = "prior" if self.prior is not None else f"{k}"
        wanted = Frequencies(k) if self.prior is None or not self.prior.all() else Frequencies(self.prior)
        hint = f"to estimate shares design for ex.Frequencies({prior})"
        try:
            value, usual = wanted(mechanism), subset_selection_cost(wanted, claim.epsilon)
        except ExtremalError:
            return ""
        if math.isinf(value):
            return f"shares        cannot be estimated from these reports; {hint}"
        if usual is None or value <= DEAR * usual:
            return ""
        return f"shares        need {number(value / usual, 2)} times the people of subset selection; {hint}"
