"""`design`: say what you want to learn and how private it must be; get the best mechanism and the proof of it.

What each part of a mean or of a worst case gets under a mechanism is a list, a sentence, a picture. Parts that are
divergences are named after their pair, KL(P1‖P2): distributions are numbered from 1 as they first occur, so that for
`ex.PairwiseDivergence` P1, P2, … are those of the list, and for two lists of hypotheses those of the first pair come
first.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.certificate import Certificate, NotKnown
from extremal.errors import InvalidParameter, TooLarge, called_as
from extremal.exact import Prior, as_count
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.optimize.dust import without_dust
from extremal.optimize.problem import (
    FurtherProofs,
    Problem,
    Progress,
    Remark,
    Solution,
    certify,
    extended,
    improved,
    no_further_proofs,
)
from extremal.optimize.revealed import proof_beyond
from extremal.optimize.table import solved
from extremal.optimize.workload.notes import AboutShares, bits_of, seconds_of
from extremal.optimize.workload.worst_prior import worst_prior
from extremal.plotting import COLOURS, figure
from extremal.privacy import LDP, Notion
from extremal.progress import ProgressLine
from extremal.tables import html, number, wrapped
from extremal.utility import (
    AlphaDivergence,
    Average,
    Divergence,
    MutualInformation,
    SumOfColumns,
    Utility,
    Workload,
    WorstCase,
)

_LARGEST_POWER = 700.0  # e^709 is the largest power that doubles hold, and sums of a few need room
BELIEVED = 1e-6
"""Relative: by how much a user's function may exceed the bound that floats gave, for rounding of its own."""

_PROVEN = ", proven optimal here"  # what methods say of the theorem behind them; nothing is proven of a user's function
TIME_LIMIT = 30.0  # seconds of a search: what somebody waits for; an unfinished design comes with its gap
PATIENCE = 2.0  # seconds before a terminal sees how the search goes
MOST_BITS = 1 << 20  # of a report: more is no limit
MOST_TIMED = 100_000  # inputs up to which a summary times a report: preparing the tables of more takes a second
SEEN = 1e-4  # relative gap from which a summary says it in people: a hundredth of a percent
QUICK = 2e-5  # seconds of a report below which nobody waits
MOST_DRAWN = 40  # bars that can be told apart; beyond, the smallest are drawn
_CLOSE = 1e-6  # relative: parts this near to the least are least as well, by rounding


@dataclass(frozen=True, eq=False)
class Design:
    """The best mechanism found, with a bound that holds whatever the solver did.

    Made by `ex.design`.

    Attributes:
        mechanism: exact weights, private in fact.
        value: its utility (or cost), enclosed by exact arithmetic on the weights and rounded once.
        lower_bound, upper_bound: the optimum lies between; one of them is `value`.
        method: which way was taken.
        proved: the certificate that value and bounds come from.
        remarks: sentences for people, or values that make one when `notes` is asked for.
        further: makes proofs that the bounds do not need; called when `certificate` is first asked for.

    >>> import extremal as ex
    >>> d = ex.design(ex.LDP(1), ex.TotalVariation([1, 0], [0, 1]))
    >>> round(d.value, 6), d.lower_bound <= d.value <= d.upper_bound
    (0.462117, True)
    """

    mechanism: Mechanism
    utility: Utility
    value: float
    lower_bound: float
    upper_bound: float
    method: str
    proved: Certificate
    remarks: tuple[str | Remark, ...] = ()
    further: FurtherProofs = field(default=no_further_proofs)

    @cached_property
    def certificate(self) -> Certificate:
        """What `ex.verify` checks: the mechanism, its value, the bound, and every proof of it."""
        return extended(self.proved, self.further())

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences for people: what the closed forms reach, what a budget costs."""
        said = [remark if isinstance(remark, str) else remark.sentence() for remark in self.remarks]
        return tuple(sentence for sentence in said if sentence)

    if not TYPE_CHECKING:  # or a type checker would believe every name

        def __getattr__(self, name: str) -> Any:
            """Privatising and the like are the mechanism's: say so."""
            theirs = not name.startswith("_") and hasattr(Mechanism, name)
            meant = f". Its mechanism has: design.mechanism.{name}" if theirs else ""
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{meant}", name=name, obj=self
            )

    @property
    def gap(self) -> float:
        """(upper − lower)/|upper|; 0 when both are 0 or both infinite, infinite when only the upper one is."""
        if self.upper_bound == self.lower_bound:
            return 0.0
        if math.isinf(self.upper_bound):
            return math.inf
        return (self.upper_bound - self.lower_bound) / abs(self.upper_bound)

    def summary(self) -> str:
        """A few lines for a person: what it is, how good it provably is, what it means in people; then how it was made
        and what it is made of."""
        result, technical = ([f"  {name:12s}  {said}" for name, said in facts] for facts in self._facts())
        notes = [wrapped(note, "  ", "    ") for note in self.notes]
        return "\n".join([self._title(), *result, *notes, *technical])

    def _title(self) -> str:
        return f"Design: {self.utility.name} under {self.mechanism.privacy!r}; {self.mechanism.k} inputs"

    def _facts(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """What a reader acts on, and what is technical."""
        claim, level = self.mechanism.privacy, level_of(self.mechanism)
        private = "nothing is claimed" if claim is None else f"{claim!r}, verified exactly"
        if level is not None:
            private = f"ε = {level!r}, verified exactly"
        result = [("value", f"{number(self.value, 12)}, {self._optimality()}"), ("privacy", private)]
        return result, [
            ("reports", f"{_count(self.mechanism.m)} ({self._size()})"),
            ("method", self.method if self.utility.verifiable else self.method.removesuffix(_PROVEN)),
        ]

    def _optimality(self) -> str:
        """How near to the optimum the value is, and whether that is proved."""
        if not self.utility.verifiable:
            low, high = number(self.lower_bound, 12), number(self.upper_bound, 12)
            return f"not proved optimal: between {low} and {high} in floating point"
        if math.isinf(self.value):
            return "infinite, and attained"
        if self.gap == 0:
            return "optimal (proved exactly)"
        if self.gap < SEEN:
            return f"optimal (proved to within {self.gap:.1e})"
        low, high = number(self.lower_bound, 12), number(self.upper_bound, 12)
        return f"within {self.gap:.2%} of the optimum, which is proved to lie between {low} and {high}{self._price()}"

    def _price(self) -> str:
        """The gap of an estimate in people: variances fall as 1/n."""
        if not isinstance(self.utility, Workload) or not SEEN < self.gap < 1:
            return ""
        more = self.value / self.lower_bound - 1
        return f": at most {more:.2%} more people than any mechanism with this privacy needs"

    def _size(self) -> str:
        """Bits, and the time that drawing one takes; as many digits of it as do not depend on the moment."""
        bits = bits_of(self.mechanism)
        named = f"{bits} bit{'' if bits == 1 else 's'} each"
        if self.mechanism.k > MOST_TIMED:
            return named
        spent = seconds_of(self.mechanism)
        return f"{named}, drawn in {f'about {number(1e6 * spent, 1)}' if spent > QUICK else 'less than 20'} µs"

    def _repr_html_(self) -> str:
        return (
            html(["", "design"], list(itertools.chain(*self._facts())), self._title(), self.notes)
            + self.mechanism._repr_html_()
        )

    def plot(self) -> Any:
        """A matplotlib figure: for a mean or a worst case of several utilities what each gets, the worst marked; for
        any other utility the mechanism as a heat map.

        Raises:
            TooLarge: there are more than 128 inputs or reports for a heat map.

        >>> import extremal as ex
        >>> hypotheses = [[0.5, 0.1, 0.4], [0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]
        >>> drawn = ex.design(ex.LDP(1), ex.PairwiseDivergence(hypotheses)).plot()
        >>> drawn.axes[0].get_xlabel(), drawn.axes[0].get_yticklabels()[0].get_text()
        ('value under the design (nats)', 'KL(P3‖P1)')
        """
        several = isinstance(self.utility, (Average, WorstCase))
        return draw_parts(self.utility, self.mechanism) if several else self.mechanism.plot()

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the mechanism to `path` and the certificate beside it (NAME.certificate.json)."""
        target = self.mechanism.save(path, overwrite=overwrite)
        self.certificate.save(target.with_suffix(".certificate.json"), overwrite=overwrite)
        return target

    def __repr__(self) -> str:
        return (
            f"Design({self.utility.name}={self.value!r}, gap={self.gap:.1e}, m={_count(self.mechanism.m)}, "
            f"method={self.method!r})"
        )


@called_as("ex.design(ex.LDP(1), ex.Mean(range(5))), with a privacy notion and a goal")
def design(
    privacy: Notion,
    utility: Utility,
    inputs: Any = None,
    max_outputs: int | None = None,
    tolerance: float = 1e-9,
    time_limit: float | None = TIME_LIMIT,
    progress: Progress | None = None,
    proofs: Sequence[str] | None = None,
    report_bits: int | None = None,
) -> Design:
    """Find the optimal mechanism for `utility` among those that satisfy `privacy`, and prove it.

    Guarantee: the mechanism satisfies `privacy` in integer arithmetic; the optimum lies between `lower_bound` and
    `upper_bound`, and `ex.verify` proves it again from the certificate without the solver. If time runs out the best so
    far is returned, with its gap.

    Args:
        privacy: `ex.LDP`, `ex.PML`, `ex.LIP` or `ex.MetricPrivacy`.
        utility: what to maximise, or the cost to minimise.
        inputs: labels; 0..k−1 if not given.
        max_outputs: at most this many different reports.
        tolerance: the relative gap at which to stop.
        time_limit: seconds after which the search returns the best so far; None for no limit. Proving what was found
            comes after that.
        progress: called with a word and the gap now and then; by default a line on a terminal after two seconds.
        proofs: kinds of proof to make, when there is a choice (f-divergences under LDP: "order", "chords"); None
            lets the method choose.
        report_bits: at most 2^report_bits different reports; instead of `max_outputs`.

    Raises:
        InvalidParameter: the notion and the utility are about different inputs, or the combination is not known.

    Reference: KOV for LDP, GSO for PML, KSS for distortion; docs/design/index.md says what is solved how.

    >>> import extremal as ex
    >>> d = ex.design(ex.LDP(1), ex.Frequencies(3), inputs=["never", "once", "often"])  # to estimate shares
    >>> round(d.value, 4), d.method, bool(ex.verify(d))
    (5.0268, 'closed form: randomised response', True)
    >>> reports = d.mechanism.privatize(["never", "often"])
    >>> d = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]))  # to tell two distributions apart
    >>> round(d.value, 6), d.gap, bool(ex.verify(d))
    (0.108179, 0.0, True)
    """
    _refuse_other("privacy", privacy, Notion)
    _refuse_other("utility", utility, Utility)
    k = getattr(privacy, "k", utility.k)
    if k != utility.k:
        raise InvalidParameter(
            f"privacy and utility must be about the same inputs: {k} and {utility.k}",
            parameter="utility.k",
            value=utility.k,
        )
    if not 0 < tolerance < 1:
        raise InvalidParameter("tolerance must lie between 0 and 1", parameter="tolerance", value=tolerance)
    _refuse_no_time(time_limit)
    _refuse_orders(privacy, utility)
    outputs = _most_reports(max_outputs, report_bits)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    kinds = None if proofs is None else tuple(proofs)
    with ProgressLine(PATIENCE) as line:
        problem = Problem(
            privacy, utility, inputs, outputs, tolerance, deadline, line if progress is None else progress, kinds
        )
        found = finished(utility, without_dust(problem, solved(problem)))
    if problem.out_of_time and found.gap > tolerance:
        more = f"the search stopped at time_limit={time_limit:g} seconds with this gap: a larger one goes on"
        return replace(found, remarks=(*found.remarks, more))
    return found


def _most_reports(max_outputs: Any, report_bits: Any) -> int | None:
    """The limit on different reports, however it is given."""
    if report_bits is None:
        return None if max_outputs is None else as_count(max_outputs, "max_outputs", 1)
    if max_outputs is not None:
        raise InvalidParameter("give either max_outputs or report_bits", parameter="report_bits", value=report_bits)
    return 1 << min(as_count(report_bits, "report_bits", 1), MOST_BITS)


def _refuse_orders(privacy: Notion, utility: Utility) -> None:
    """Raise where a power that a divergence of some order has to take is finite, and no double holds it."""
    if isinstance(utility, (Average, WorstCase)):
        for part in utility.utilities:
            _refuse_orders(privacy, part)
    if not isinstance(utility, AlphaDivergence):
        return
    pair = utility.pair.p0.values, utility.pair.p1.values
    level = privacy.epsilon if isinstance(privacy, LDP) and not privacy.exact_delta else math.inf
    reach = abs(utility.alpha) * max(_largest_log_ratio(*pair, level), _largest_log_ratio(*pair[::-1], level))
    if _LARGEST_POWER < reach < math.inf:
        raise TooLarge(
            f"the value must be a double, and e^{reach:.4g} is none",
            parameter="alpha",
            value=utility.alpha,
            hint="Choose a smaller order, or a smaller ε.",
        )


def _largest_log_ratio(p: Floats, q: Floats, epsilon: float) -> float:
    """The largest log-ratio of a report's probabilities under p and q that ε-LDP allows: of the pattern that is high on
    a set, the best being one of the first in order of p/q; of p and q themselves without ε."""
    some = p + q > 0
    with np.errstate(divide="ignore"):
        logs = np.log(p[some]) - np.log(q[some])
    if epsilon > _LARGEST_POWER:
        return float(logs.max())
    order = np.argsort(-logs)
    step = math.expm1(epsilon)
    return float((np.log1p(step * np.cumsum(p[some][order])) - np.log1p(step * np.cumsum(q[some][order]))).max())


def level_of(mechanism: Mechanism) -> float | None:
    """The smallest ε at which the claimed notion holds; None where nothing is claimed, or where a level at a δ would
    need too long a list of reports."""
    claim = mechanism.privacy
    with suppress(TooLarge):
        return None if claim is None else claim.level(mechanism)
    return None


def _refuse_no_time(time_limit: Any) -> None:
    number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    if time_limit is not None and not (number and time_limit > 0):
        raise InvalidParameter("time_limit must be positive seconds", parameter="time_limit", value=time_limit)


def _refuse_other(name: str, given: Any, kind: type) -> None:
    if not isinstance(given, kind):
        raise InvalidParameter(
            "design takes a privacy notion and a goal, such as ex.LDP(1) and ex.Frequencies(7), ex.Mean(values) or "
            "ex.KL(p0, p1)",
            parameter=name,
            value=given,
        )


def finished(utility: Utility, solution: Solution) -> Design:
    """The design that a solution amounts to. Its value and its bound are derived by the proof kernel from the exact
    weights and the proofs; what the solver believed counts only for a user's function, which no kernel can enclose.

    Raises:
        Contradiction: a proof is refused or is beaten by the mechanism itself: a defect, never returned as a design.
    """
    try:
        worst = worst_prior(utility, solution.mechanism) if isinstance(utility, Workload) else None
        certificate = certify(solution.mechanism, utility, solution.proofs, worst)
        more = proof_beyond(certificate.bound, utility, worst)
        certificate = certificate if more is None else improved(certificate, utility, more)
    except NotKnown:
        certificate = _unverified(utility, solution)
    value, bound = certificate.value, certificate.bound
    lower, upper = (bound, value) if utility.is_cost else (value, bound)
    remarks = (*solution.notes, WorstPart(utility, solution.mechanism), *_about_shares(utility, solution.mechanism))
    return Design(
        solution.mechanism, utility, value, lower, upper, solution.method, certificate, remarks, solution.further
    )


def _about_shares(utility: Utility, mechanism: Mechanism) -> tuple[Remark, ...]:
    """A warning, where the best mechanism for something else is a bad one for shares."""
    if not isinstance(utility, SumOfColumns):
        return ()
    prior = utility.prior.values if isinstance(utility, MutualInformation) else None
    return (AboutShares(mechanism, prior),)


def _unverified(utility: Utility, solution: Solution) -> Certificate:
    """Value and bound in floats, and nothing that could be checked; a bound that the value beats is none."""
    value, sign = utility(solution.mechanism), -1 if utility.is_cost else 1
    beaten = sign * (value - solution.bound) > BELIEVED * abs(value)
    bound = sign * math.inf if beaten else sign * max(sign * value, sign * solution.bound)
    return Certificate(solution.mechanism, utility, value, bound)


def _count(m: int) -> str:
    """A number of reports, as long as a line allows."""
    return str(m) if m < 10**15 else f"about 10^{len(str(m)) - 1}"


@dataclass(frozen=True)
class Part:
    """Attributes: name, such as KL(P1‖P2); value, under the mechanism."""

    name: str
    value: float


def parts_under(utility: Utility, mechanism: Mechanism) -> list[Part]:
    """The parts of a mean or a worst case; empty for any other utility."""
    if not isinstance(utility, (Average, WorstCase)):
        return []
    known: list[Prior] = []
    names = [_named(part, i, known) for i, part in enumerate(utility.utilities, start=1)]
    return [Part(name, part(mechanism)) for name, part in zip(names, utility.utilities, strict=True)]


def _named(part: Utility, place: int, known: list[Prior]) -> str:
    if not isinstance(part, Divergence):
        return f"{place}: {part.name}"
    return f"{part.name}(P{_number(part.pair.p0, known)}‖P{_number(part.pair.p1, known)})"


def _number(prior: Prior, known: list[Prior]) -> int:
    """Its place among those that occurred before, from 1; it is added when it is new."""
    for i, other in enumerate(known, start=1):
        if other.weights == prior.weights:
            return i
    known.append(prior)
    return len(known)


def least(parts: list[Part]) -> list[Part]:
    """The worst part, and those that get as little."""
    smallest = min(part.value for part in parts)
    return [part for part in parts if part.value <= smallest + _CLOSE * abs(smallest)]


@dataclass(frozen=True, eq=False)
class WorstPart:
    """Which part gets least."""

    utility: Utility
    mechanism: Mechanism

    def sentence(self) -> str:
        parts = parts_under(self.utility, self.mechanism)
        if len(parts) < 2:
            return ""
        worst = least(parts)
        others = f" and {len(worst) - 1} more" if len(worst) > 1 else ""
        most = max(part.value for part in parts)
        return f"least of {len(parts)} parts: {worst[0].name}{others}, {number(worst[0].value)}; most: {number(most)}"


def _draw_bar(axis: Any, y: int, part: Part, is_worst: bool) -> None:
    finite = math.isfinite(part.value)
    if finite:
        axis.barh(y, part.value, color=COLOURS[1] if is_worst else COLOURS[0])
    said = f" {number(part.value, 4)}" + ("  worst" if is_worst else "")
    axis.text(part.value if finite else 0.0, y, said, va="center", fontsize=8)


def draw_parts(utility: Utility, mechanism: Mechanism) -> Any:
    """A bar for each part, the worst on top and marked; a matplotlib figure."""
    parts = sorted(parts_under(utility, mechanism), key=lambda part: part.value)
    worst, shown = least(parts), parts[:MOST_DRAWN]
    drawn, axis = figure(width=7.0, height=1.7 + 0.3 * len(shown))
    for y, part in enumerate(shown):
        _draw_bar(axis, y, part, part in worst)
    mean = utility(mechanism)
    if isinstance(utility, Average) and math.isfinite(mean):
        axis.axvline(mean, color="0.3", linewidth=1, linestyle="--")
        axis.text(mean, len(shown) - 0.3, f" mean {number(mean, 4)}", fontsize=8, color="0.3", va="center")
    axis.set_yticks(range(len(shown)), [part.name for part in shown])
    axis.set_ylim(len(shown), -0.6)
    axis.margins(x=0.2)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(f"value under the design ({getattr(utility, 'unit', '') or 'each in its own unit'})")
    axis.set_ylabel("pair of hypotheses" if all("‖" in part.name for part in shown) else "part")
    title = f"{utility.name} under {mechanism.privacy!r}: what each part gets"
    left_out = f"\n(the {len(shown)} smallest of {len(parts)})" if len(parts) > len(shown) else ""
    drawn.suptitle(title + left_out, fontsize=11)
    return drawn
