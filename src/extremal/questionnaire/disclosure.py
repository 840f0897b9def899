"""Bounds on what all reports of one person let someone believe, for people who do not know ε.

About the answer to one question two bounds are given. *Its own report*: the bounds of `extremal.mechanism.disclosure`.
*All reports*: other reports may tell about this answer as well, through whatever the answers have to do with each
other. For independent mechanisms, with R_i the largest likelihood ratio of question i, that of all reports between
records with and without answer x is at most R_j(x)·Π_{i≠j} R_i and at least r_j(x)/Π_{i≠j} R_i, and somebody's
beliefs attain both: who holds two records possible that differ in every answer. If the answers have nothing to do with
each other, the bounds of the own report hold. Questions that are asked jointly count as one, with the largest ratio of
their joint mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from extremal.exact import as_prior
from extremal.mechanism.disclosure import (
    BeliefBounds,
    after,
    alike_key,
    answers_in_table,
    answers_in_words,
    draw_beliefs,
    html_items,
    html_rows,
    likelihood_ratios,
    percent,
    ratio_in_words,
)
from extremal.mechanism.display import document
from extremal.plotting import picture_in_page
from extremal.tables import as_frame, number

if TYPE_CHECKING:
    from extremal.questionnaire.joint import JointQuestions
    from extremal.questionnaire.questionnaire import Questionnaire

Ratios = tuple[Fraction | None, Fraction | None]
BELIEFS = (Fraction(1, 10), Fraction(1, 2))
"""Beliefs that the table starts from, for questions without a prior."""
NOT_PROMISED = (
    (
        "The bounds are for answering this questionnaire once. Answering again with fresh randomness, or answering "
        "other questionnaires, discloses more; the ε add up. Repeating the stored reports discloses nothing more."
    ),
    (
        "They are about what the reports add. What can be concluded about you from the answers of others, or from the "
        "fact that you took part, is not changed by them."
    ),
    "They assume that the device follows the mechanisms and that only the reports leave it.",
)


@dataclass(frozen=True)
class AnswerBelief:
    """Bounds on the belief in one answer.

    Attributes:
        question: which.
        answers: the labels that have these bounds, each for itself.
        count: of all answers to the question.
        before: their belief before.
        own: the least and the most after the report to this question alone.
        all: the same after the reports to all questions, whatever the answers have to do with each other.
    """

    question: str
    answers: tuple[Any, ...]
    count: int
    before: Fraction
    own: tuple[Fraction, Fraction]
    all: tuple[Fraction, Fraction]

    def in_table(self) -> str:
        """The answers as a row of a table has them."""
        return answers_in_table(list(self.answers), self.count)

    def sentence(self, reports: int) -> str:
        """The same in words."""
        answer = answers_in_words(list(self.answers), self.count)
        before, low, high = percent(self.before, True), percent(self.own[0], False), percent(self.own[1], True)
        said = (
            f"Someone who thinks it {before} likely that your answer to “{self.question}” is {answer} will, after "
            f"your report to that question, think it at least {low} and at most {high} likely"
        )
        if reports == 1:
            return f"{said}."
        low, high = percent(self.all[0], False), percent(self.all[1], True)
        return (
            f"{said}; after the reports to all {reports} questions, at least {low} and at most {high}, whatever the "
            "answers have to do with each other."
        )


@dataclass(frozen=True, eq=False)
class QuestionnaireDisclosure(BeliefBounds):
    """The disclosure of a questionnaire about a person; `str()` is text, `html()` one printable page.

    Attributes:
        questionnaire: the questionnaire.
        beliefs: how sure someone can become, question by question and answer by answer.
        ratio: no set of reports is more than this many times as likely from one record as from another; None: infinite.
    """

    header = ("question", "answer", "before", "after its report", "after all reports")
    names = 2
    most_rows = 24
    limits = NOT_PROMISED

    questionnaire: Questionnaire
    beliefs: tuple[AnswerBelief, ...]
    ratio: Fraction | None

    def guarantee(self) -> str:
        asked = self.questionnaire
        count = len(asked)
        if self.ratio is None:
            plain = "Some report can rule out an answer for certain; nothing is promised about all reports together."
        else:
            plain = (
                f"No set of reports is more than {ratio_in_words(self.ratio)} times as likely from one person as from "
                "another, whatever they answer."
            )
        if not math.isfinite(asked.epsilon):
            return f"{plain} There is no finite ε per person."
        levels = {number(asked.level_of(name), 6) for name in asked.questions}
        apart = len(levels) == 1 and count > 1 and asked.joint is None
        each = f", ε = {levels.pop()} each," if apart else ""
        delta = f" and δ = {float(asked.delta):g}" if asked.delta else ""
        total = number(asked.epsilon, 6)
        what = (
            f"{count} questions{each} come to ε = {total} per person{delta}"
            if count > 1
            else (f"One question comes to ε = {total} per person{delta}")
        )
        return f"{plain} {what}. This was verified in exact arithmetic, not by simulation."

    def sentences(self) -> list[str]:
        return [belief.sentence(len(self.questionnaire)) for belief in self.beliefs]

    def _told(self) -> list[str]:
        return self.sentences()[:1]

    def to_frame(self) -> Any:
        """A data frame with a row for each belief."""
        rows = self.beliefs
        return as_frame(
            {
                "question": [b.question for b in rows],
                "answer": [b.in_table() for b in rows],
                "before": [float(b.before) for b in rows],
                "own_at_least": [float(b.own[0]) for b in rows],
                "own_at_most": [float(b.own[1]) for b in rows],
                "all_at_least": [float(b.all[0]) for b in rows],
                "all_at_most": [float(b.all[1]) for b in rows],
            }
        )

    def _cells(self) -> list[list[str]]:
        return [
            [
                b.question,
                b.in_table(),
                percent(b.before, True),
                f"{percent(b.own[0], False)} – {percent(b.own[1], True)}",
                f"{percent(b.all[0], False)} – {percent(b.all[1], True)}",
            ]
            for b in self.beliefs
        ]

    def plot(self) -> Any:
        """Belief before, and the ranges after one and after all reports; a matplotlib figure."""
        shown = self.beliefs[:40]
        names = [f"{b.question}: {b.in_table()}" for b in shown]
        ranges = {
            "belief after its own report": [b.own for b in shown],
            "belief after all reports": [b.all for b in shown],
        }
        return draw_beliefs("question and answer", names, [b.before for b in shown], ranges)

    def html(self, title: str = "What this questionnaire discloses") -> str:
        """One self-contained page that can be printed."""
        asked = self.questionnaire
        levels = html_rows([name, str(m.k), number(asked.level_of(name), 6)] for name, m in asked.questions.items())
        return document(
            title,
            f"""<p>Each of your answers is changed at random before it leaves your device. What is sent are
<em>reports</em>; your answers themselves are never sent. This page says how much the reports can tell somebody.</p>
<h2>What is guaranteed</h2>
<p>{escape(self.guarantee())}</p>
<table><thead><tr><th scope="col">question</th><th scope="col">possible answers</th><th scope="col">ε</th></tr></thead>
<tbody>{levels}</tbody></table>
<h2>What someone can conclude</h2>
<ul>{html_items(self.sentences()[: self.most_rows])}</ul>
<p>If the answers have nothing to do with each other, the first two bounds are all that the reports allow.</p>
<h2>Question by question</h2>
<table>
<thead><tr><th scope="col">question</th><th scope="col">answer</th><th scope="col">before</th>
<th scope="col">after its report</th><th scope="col">after all reports</th></tr></thead>
<tbody>{html_rows(self._cells())}</tbody>
</table>
{picture_in_page(self.plot)}
<h2>What is not promised</h2>
<ul>{html_items(self.not_promised())}</ul>
<h2>How to check</h2>
<p>The questionnaire is a file with whole-number probabilities, SHA-256 <code>{asked.hash}</code>.
<code>extremal questionnaire show FILE</code> decides the claims of all its mechanisms again;
<code>extremal questionnaire explain FILE --html page.html</code> makes this page again. All bounds are rounded
outwards.</p>""",
        )


def disclosure(questionnaire: Questionnaire, prior: dict[str, Any]) -> QuestionnaireDisclosure:
    """See `QuestionnaireDisclosure`; `prior` by question."""
    ratios = {name: likelihood_ratios(m) for name, m in questionnaire.questions.items()}
    largest = {name: _largest(found) for name, found in ratios.items() if name not in questionnaire.together}
    of_block = _of_block(questionnaire.joint)
    beliefs: list[AnswerBelief] = []
    for name, own in ratios.items():
        beside = [ratio for other, ratio in largest.items() if other != name]
        block: list[Ratios] = [(1 / of_block, of_block)] * len(own)
        if name not in questionnaire.together:
            beside, block = [*beside, of_block], own
        beliefs += _beliefs(questionnaire, name, prior.get(name), own, block, _product(beside))
    return QuestionnaireDisclosure(questionnaire, tuple(beliefs), _product([*largest.values(), of_block]))


def _of_block(joint: JointQuestions | None) -> Fraction:
    """The largest ratio of all reports of a joint mechanism together: it bounds that of every answer in it."""
    ratios = [] if joint is None else map(joint.structure.ratio, joint.structure.assignments)
    return max((Fraction(*ratio) for ratio in ratios), default=Fraction(1))


def _beliefs(
    questionnaire: Questionnaire,
    name: str,
    prior: Any,
    ratios: list[Ratios],
    block: Sequence[Ratios],
    others: Fraction | None,
) -> list[AnswerBelief]:
    """Those about one question, answers with the same bounds together.

    Args:
        ratios: of its own report.
        block: of the reports that were made together with it; its own where there are none.
        others: the ratio of all other reports.
    """
    mechanism = questionnaire.questions[name]
    if prior is None:
        starts = [(x, p, after(p, ratios[x])) for x in range(mechanism.k) for p in BELIEFS]
    else:
        alone = mechanism.explain(as_prior(prior, f"prior[{name!r}]", inputs=mechanism.input_labels)).beliefs
        starts = [(x, b.before, (b.least, b.most)) for x, b in enumerate(alone)]
    grouped: dict[Any, tuple[Any, ...]] = {}
    for x, before, own in starts:
        every = after(before, _together(block[x], others))
        same = grouped.setdefault(alike_key(before, *own, *every), (before, own, every, []))
        same[-1].append(mechanism.inputs[x])
    return [AnswerBelief(name, tuple(labels), mechanism.k, *bounds) for *bounds, labels in grouped.values()]


def _together(own: Ratios, others: Fraction | None) -> Ratios:
    """The smallest and largest ratio of all reports, from those of the own one; None is infinite."""
    low, high = own
    if others is None:
        return None if low is None else Fraction(0), None
    return None if low is None else low / others, None if high is None else high * others


def _product(ratios: list[Fraction | None]) -> Fraction | None:
    """The product of likelihood ratios; None is infinite."""
    known = [ratio for ratio in ratios if ratio is not None]
    return None if len(known) < len(ratios) else math.prod(known, start=Fraction(1))


def _largest(ratios: list[Ratios]) -> Fraction | None:
    """The largest ratio of a report, whatever the answer; None is infinite."""
    return max((high for _, high in ratios), key=lambda high: math.inf if high is None else high)
