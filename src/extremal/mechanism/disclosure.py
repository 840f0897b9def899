"""What a report lets someone believe, in sentences that a person who does not know ε can read.

Someone who holds it likely with probability p that the answer is x, and sees report y, holds it likely with

    p·Q(y|x) / (p·Q(y|x) + Σ_{x'≠x} p(x')·Q(y|x'))

afterwards. Whatever else they believe about the other answers, that lies between p/(p + (1−p)/r) and p/(p + (1−p)/R),
with R (r) the largest (smallest) ratio Q(y|x)/Q(y|x') over reports y and other answers x': both are attained, by
beliefs that put the rest on one x'. All of it is computed in rationals on the exact weights; what is printed is rounded
outwards.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from extremal.errors import InvalidParameter
from extremal.exact import Prior, as_prior
from extremal.mechanism.display import document
from extremal.mechanism.labels import count_text
from extremal.plotting import COLOURS, figure, picture_in_page
from extremal.tables import aligned, as_frame, wrapped

if TYPE_CHECKING:
    from extremal.mechanism.value import Mechanism

BELIEFS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""The beliefs that the table starts from when no prior is given."""
MOST_ENTRIES = 1 << 20  # rows × outputs that are read one by one; beyond, the level alone gives the bounds
NOT_PROMISED = (
    (
        "These bounds are for one report about one answer. Answering again with fresh randomness, or answering other "
        "questions, discloses more; the ε of several reports add up."
    ),
    (
        "They are about what the report adds. What can be concluded about you from the answers of others, or from the "
        "fact that you took part, is not changed by it."
    ),
    "They assume that the device follows the mechanism and that only the report leaves it.",
)


def percent(value: Fraction, up: bool) -> str:
    """A probability in per cent, rounded outwards to a tenth (to two digits below 1%).

    >>> percent(Fraction(2, 3), up=True), percent(Fraction(2, 3), up=False), percent(Fraction(1, 30000), up=True)
    ('66.7%', '66.6%', '0.0034%')
    """
    if value in (0, 1):
        return f"{int(value) * 100}%"
    scale = 10
    while value * 100 * scale < 10 and scale < 10**9:
        scale *= 10
    if value * 100 >= 1:
        scale = 10
    units = value * 100 * scale
    whole = math.ceil(units) if up else math.floor(units)
    text = f"{whole // scale}.{whole % scale:0{len(str(scale)) - 1}d}"
    return f"{text.rstrip('0').rstrip('.')}%"


@dataclass(frozen=True)
class Belief:
    """How sure someone can become of one answer.

    Attributes:
        answer: the label.
        before: their belief before the report.
        least, most: the belief after it lies between, whatever the report is.
    """

    answer: Any
    before: Fraction
    least: Fraction
    most: Fraction

    def sentence(self, answers: str | None = None) -> str:
        """The same in words; `answers` names several with the same bounds."""
        least, most = percent(self.least, False), percent(self.most, True)
        which = f"“{self.answer}”" if answers is None else answers
        return (
            f"Someone who thinks it {percent(self.before, True)} likely that your answer is {which} will, "
            f"whatever you report, think it at least {least} and at most {most} likely."
        )


class BeliefBounds(ABC):
    """Bounds on what someone can come to believe, as text, table and picture: of one report, or of several."""

    header: ClassVar[tuple[str, ...]]  # of the table
    names: ClassVar[int]  # its columns that are no numbers
    most_rows: ClassVar[int]  # of a text; a page shows all
    limits: ClassVar[tuple[str, ...]]  # what the figures do not cover

    @abstractmethod
    def guarantee(self) -> str:
        """What is promised, and by what."""

    @abstractmethod
    def sentences(self) -> list[str]:
        """The same in words, bounds rounded outwards."""

    @abstractmethod
    def _cells(self) -> list[list[str]]:
        """The rows of the table."""

    @abstractmethod
    def _told(self) -> list[str]:
        """The sentences of a text."""

    @classmethod
    def not_promised(cls) -> list[str]:
        """What the figures do not cover."""
        return list(cls.limits)

    def table(self, rows: int | None = None) -> str:
        """The bounds as text."""
        return aligned(self.header, self._cells()[:rows], left=self.names)

    def __str__(self) -> str:
        lines, more = [wrapped(self.guarantee()), "", self.table(self.most_rows)], len(self._cells()) - self.most_rows
        if more > 0:
            lines.append(f"… and {more} more")
        limits = (wrapped(line, "- ", "  ") for line in self.not_promised())
        return "\n".join([*lines, "", *map(wrapped, self._told()), "", "Not promised:", *limits])


Ranges = Sequence[tuple[Fraction, Fraction]]


def draw_beliefs(what: str, names: Sequence[str], before: Sequence[Fraction], after: Mapping[str, Ranges]) -> Any:
    """Beliefs before, and a range after for each, the wider ones thinner; a matplotlib figure."""
    drawn, axis = figure(height=max(2.4, 0.34 * len(names) + 1.2))
    places = range(len(names))
    for (label, ranges), colour, width in zip(after.items(), (COLOURS[0], COLOURS[5]), (6, 3), strict=False):
        low, high = ([100 * float(end) for end in ends] for ends in zip(*ranges, strict=True))
        axis.hlines(places, low, high, color=colour, linewidth=width, alpha=0.5, label=label)
    axis.plot([100 * float(p) for p in before], places, "o", color=COLOURS[1], label="belief before")
    axis.set_yticks(list(places), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_xlim(0, 100)
    axis.set_xlabel("how likely someone thinks the answer is (%)")
    axis.set_ylabel(what)
    drawn.legend(frameon=False, loc="outside lower center", ncols=3, fontsize=8)
    return drawn


def html_items(lines: Iterable[str]) -> str:
    """Sentences as the items of a list of a page."""
    return "".join(f"<li>{escape(line)}</li>" for line in lines)


def html_rows(rows: Iterable[Iterable[str]]) -> str:
    """Cells as the rows of a table of a page."""
    return "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)


@dataclass(frozen=True, eq=False)
class Disclosure(BeliefBounds):
    """What a mechanism's reports disclose; `str()` is text, `html()` one printable page.

    Attributes:
        mechanism: the mechanism.
        prior: what someone believes about everybody before, or None (then bounds for a few beliefs, about any answer).
        beliefs: how sure someone can become, answer by answer.
        guess_before, guess_after: the chance to guess the answer right without, and with, the report (given a prior).
    """

    header = ("answer", "before", "at least", "at most")
    names = 1
    most_rows = 12
    limits = NOT_PROMISED

    mechanism: Mechanism
    prior: Prior | None
    beliefs: tuple[Belief, ...]
    guess_before: Fraction | None
    guess_after: Fraction | None

    def sentences(self) -> list[str]:
        return [belief.sentence() for belief in self.beliefs] + self._guessing()

    def _told(self) -> list[str]:
        return [self.beliefs[0].sentence(), *self._guessing()]

    def _guessing(self) -> list[str]:
        if self.guess_before is None or self.guess_after is None:
            return []
        before, most = percent(self.guess_before, True), percent(self.guess_after, True)
        said = (
            "Someone who guesses your answer as well as they can is right with probability "
            f"{before} without your report and at most {most} with it."
        )
        return [said]

    def guarantee(self) -> str:
        claim, largest = self.mechanism.privacy, self.ratio
        plain = (
            "Some report rules out an answer for certain."
            if largest is None
            else f"No report is more than {ratio_in_words(largest)} times as likely from one answer as from another."
        )
        if claim is None:
            return f"No privacy is claimed for this mechanism; the figures are those of its probabilities. {plain}"
        return (
            f"{plain} The mechanism satisfies {claim!r}: this was verified in exact arithmetic, not by simulation, and "
            "anyone can verify it again: extremal verify FILE."
        )

    @property
    def ratio(self) -> Fraction | None:
        """The largest factor by which a report is likelier from one answer than from another; None is infinite."""
        largest = [high for _, high in likelihood_ratios(self.mechanism)]
        known = [high for high in largest if high is not None]
        return max(known) if len(known) == len(largest) else None

    def grouped(self) -> list[tuple[list[Any], Belief]]:
        """The answers that have the same bounds, and one belief for all of them."""
        alike: dict[Any, list[Belief]] = {}
        for belief in self.beliefs:
            alike.setdefault(alike_key(belief.before, belief.least, belief.most), []).append(belief)
        return [([b.answer for b in same], same[0]) for same in alike.values()]

    def to_frame(self) -> Any:
        """A data frame: answer, before, at least, at most."""
        return as_frame(
            {
                "answer": [b.answer for b in self.beliefs],
                "before": [float(b.before) for b in self.beliefs],
                "at_least": [float(b.least) for b in self.beliefs],
                "at_most": [float(b.most) for b in self.beliefs],
            }
        )

    def _cells(self) -> list[list[str]]:
        return [[str(b.answer), *_bounds_in_text(b)] for b in self.beliefs]

    def plot(self) -> Any:
        """Belief before and the range after, answer by answer; a matplotlib figure."""
        groups = self.grouped()[:40]
        shown = [belief for _, belief in groups]
        names = [answers_in_table(labels, self.mechanism.k) for labels, _ in groups]
        ranges = {"belief after any report": [(b.least, b.most) for b in shown]}
        return draw_beliefs("answer", names, [b.before for b in shown], ranges)

    def html(self, title: str = "What a report discloses") -> str:
        """One self-contained page that can be printed: sentences, table, picture, guarantee, limits, how to check."""
        groups, k = self.grouped(), self.mechanism.k
        lines = [b.sentence(answers_in_words(labels, k)) for labels, b in groups[: self.most_rows]] + self._guessing()
        body = _BODY.format(
            guarantee=escape(self.guarantee()),
            said=html_items(lines),
            rows=html_rows([answers_in_table(labels, k), *_bounds_in_text(b)] for labels, b in groups),
            picture=picture_in_page(self.plot),
            limits=html_items(self.not_promised()),
            digest=self.mechanism.hash,
        )
        return document(title, body)


def _bounds_in_text(belief: Belief) -> list[str]:
    return [percent(belief.before, True), percent(belief.least, False), percent(belief.most, True)]


def alike_key(before: Fraction, *bounds: Fraction) -> tuple[Any, ...]:
    """What bounds share that are the same up to the rounding of weights, and are printed alike: pairs (least, most)."""
    said = [percent(bound, up=bool(i % 2)) for i, bound in enumerate(bounds)]
    return before, *said, *(round(float(bound), 12) for bound in bounds)


def answers_in_words(labels: list[Any], k: int) -> str:
    """One answer, and which others of the k have the same bounds, as a sentence has it.

    >>> answers_in_words(["no"], 2), answers_in_words(["no", "yes"], 2), answers_in_words(list("abcd"), 4)
    ('“no”', '“no” (the same holds for “yes”)', '“a” (the same holds for any other)')
    """
    named, rest = [f"“{label}”" for label in labels[:3]], len(labels) - 1
    if not rest:
        return named[0]
    if rest <= 2:
        return f"{named[0]} (the same holds for {' and '.join(named[1:])})"
    others = "any other" if len(labels) == k else f"{named[1]} and {rest - 1} more"
    return f"{named[0]} (the same holds for {others})"


def answers_in_table(labels: list[Any], k: int) -> str:
    """Answers with the same bounds, as a row of a table has them.

    >>> answers_in_table(["no", "yes"], 2), answers_in_table(list("abcd"), 4), answers_in_table(list("abcd"), 5)
    ('each of no, yes', 'each answer', 'each of a, b and 2 more')
    """
    if len(labels) <= 3:
        return f"{'each of ' if len(labels) > 1 else ''}{', '.join(str(label) for label in labels)}"
    return "each answer" if len(labels) == k else f"each of {labels[0]}, {labels[1]} and {len(labels) - 2} more"


def ratio_in_words(ratio: Fraction) -> str:
    """How many times as likely, rounded up to a hundredth, or to four digits from 100 on.

    >>> ratio_in_words(Fraction(20001, 10000)), ratio_in_words(Fraction(123456)), ratio_in_words(Fraction(2))
    ('2.01', '123,500', '2')
    """
    unit = Fraction(1, 100)
    while ratio / unit > 10**4:
        unit *= 10
    rounded = math.ceil(ratio / unit) * unit
    return f"{int(rounded):,}" if rounded.denominator == 1 else f"{float(rounded):.2f}".rstrip("0").rstrip(".")


_BODY = """<p>Your answer is changed at random before it leaves your device. What is sent is a <em>report</em>; your
answer itself is never sent. This page says how much a report can tell somebody about your answer.</p>
<h2>What someone can conclude</h2>
<ul>{said}</ul>
<h2>Answer by answer</h2>
<table>
<thead><tr><th scope="col">answer</th><th scope="col">how likely it seemed before</th>
<th scope="col">after the report: at least</th>
<th scope="col">at most</th></tr></thead>
<tbody>{rows}</tbody>
</table>
{picture}
<h2>What is guaranteed</h2>
<p>{guarantee}</p>
<h2>What is not promised</h2>
<ul>{limits}</ul>
<h2>How to check</h2>
<p>The mechanism is a file with whole-number probabilities, SHA-256 <code>{digest}</code>.
<code>extremal verify FILE</code> decides its claim again;
<code>extremal explain FILE --html page.html</code> makes this page again. All bounds are rounded outwards.</p>"""


def disclosure(mechanism: Mechanism, prior: Any = None) -> Disclosure:
    """What the mechanism's reports let someone believe; see `Disclosure`.

    Args:
        mechanism: any mechanism.
        prior: what someone believes about the answers before: probabilities; None for a few beliefs about any answer.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1, inputs=["no", "yes"])
    >>> print(m.explain().beliefs[5].sentence())
    Someone who thinks it 10% likely that your answer is “yes” will, whatever you report, think it at least 3.9% and at
    most 23.2% likely.
    """
    if prior is None:
        found = [
            Belief(label, before, *after(before, ratios))
            for label, ratios in zip(mechanism.inputs, likelihood_ratios(mechanism), strict=True)
            for before in BELIEFS
        ]
        return Disclosure(mechanism, None, tuple(found), None, None)
    exact = as_prior(prior, inputs=mechanism.input_labels)
    beliefs = [exact.fraction(x) for x in range(mechanism.k)]
    posteriors = list(_posteriors(mechanism, beliefs))
    labelled = zip(mechanism.inputs, beliefs, zip(*posteriors, strict=True), strict=True)
    found = [Belief(label, before, min(seen), max(seen)) for label, before, seen in labelled]
    return Disclosure(mechanism, exact, tuple(found), max(beliefs), max(map(max, posteriors)))


def _posteriors(mechanism: Mechanism, beliefs: list[Fraction]) -> Iterator[list[Fraction]]:
    """What someone with these beliefs holds after each report that they may see."""
    for column in _dense_columns(mechanism):
        joint = [p * w for p, w in zip(beliefs, column, strict=True)]
        total = sum(joint, Fraction(0))
        if total:  # else nobody who holds this prior ever sees the report
            yield [p / total for p in joint]


def after(before: Fraction, ratios: tuple[Fraction | None, Fraction | None]) -> tuple[Fraction, Fraction]:
    """(least, most) belief after a report, from the smallest and largest likelihood ratio; None is infinite."""
    low, high = ratios
    least = Fraction(0) if not low else before * low / (before * low + 1 - before)
    most = Fraction(1) if high is None else before * high / (before * high + 1 - before)
    return least, most


def _dense_columns(mechanism: Mechanism) -> Iterator[list[int]]:
    if mechanism.k * mechanism.m > MOST_ENTRIES:
        raise InvalidParameter(
            "with a prior, explain reads every entry of the mechanism: at most 2^20 of them",
            parameter="k × m",
            value=f"{mechanism.k} × {count_text(mechanism.m)}",
            hint="Leave the prior out: the bounds then hold for every prior.",
        )
    for column in mechanism.weights.T:
        yield [int(w) for w in column.tolist()]


def likelihood_ratios(mechanism: Mechanism) -> list[tuple[Fraction | None, Fraction | None]]:
    """For each input the smallest and the largest Q(y|x)/Q(y|x') over reports and other inputs; None is infinite."""
    listed = not any(column.orbit for column in islice(mechanism.columns(), 1))
    if listed and mechanism.k * mechanism.m <= MOST_ENTRIES:
        return _listed_ratios(list(_dense_columns(mechanism)), mechanism.k)
    largest: tuple[int, int] = (1, 1)
    for column in mechanism.columns():
        if column.largest * largest[1] > largest[0] * column.smallest:
            largest = (column.largest, column.smallest)
    top = None if not largest[1] else Fraction(*largest)
    bottom = Fraction(0) if top is None else 1 / top
    return [(bottom, top)] * mechanism.k


def _listed_ratios(columns: list[list[int]], k: int) -> list[tuple[Fraction | None, Fraction | None]]:
    ordered = [sorted(column) for column in columns]
    return [_ratios_of([column[x] for column in columns], ordered) for x in range(k)]


def _ratios_of(row: list[int], ordered: list[list[int]]) -> tuple[Fraction, Fraction | None]:
    """The smallest and the largest ratio of an input's weights to those of others, from the sorted columns."""
    least = [column[w == column[0]] for w, column in zip(row, ordered, strict=True)]
    most = [column[-1 - (w == column[-1])] for w, column in zip(row, ordered, strict=True)]
    low = min((Fraction(w, other) for w, other in zip(row, most, strict=True) if other), default=Fraction(0))
    above = [(w, other) for w, other in zip(row, least, strict=True) if w]
    if not all(other for _, other in above):
        return low, None
    return low, max((Fraction(w, other) for w, other in above), default=Fraction(0))
