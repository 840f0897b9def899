"""A joint mechanism with the names of its questions and answers: records in, reports out, one question alone.

A column of reports holds, for everybody who was asked the question, an answer or a set of answers, and nothing for
everybody else: which questions were asked is public. Where a question is asked in several ways (*kinds*: another size
of sets, or another coin), the reports of kind i are written `i: report`, the report as JSON, and its mechanism is the
mixture

    P(i: y | x) = w_i·((1 − γ_i)ν_i(y) + γ_i·R_i(y|x)),   w_i the share of kind i among those who were asked,

an ordinary mechanism on the answers of the question. All estimators of one question apply to it as they are.

*Skip patterns.* A filter and the questions behind it are one question of the mechanism, whose answers are the
admissible records (`extremal.questionnaire.records`). It is reported as a record, uniformly random among the admissible
ones or true, so that a column of it reports answer b with probability (1 − γ)·n_b/K + γ·1[b is the answer], n_b of the
K records having answer b: an ordinary mechanism again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile, PrivacyViolation
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.files import content_digest
from extremal.mechanism.labels import Label, Labels
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.structures import JointBlocks, SubsetSelection
from extremal.mechanism.structures.joint import COIN, LISTED_REPORTS, AllSets, Family, Kind
from extremal.mechanism.structures.structure import stored_list
from extremal.privacy import LDP
from extremal.questionnaire.records import Branch, Records
from extremal.release.sampling.joint import draw_records
from extremal.release.sampling.loops import Codes
from extremal.release.sampling.words import SecureWords, WordSource


@dataclass(frozen=True, eq=False)
class JointQuestions:
    """The names and the answers of the questions, the mechanism of all of them together, and its claim, decided
    exactly. A record is a tuple of answers, one for each question; the columns of a branch are one question of the
    mechanism."""

    names: tuple[str, ...]
    labels: tuple[Labels, ...]
    structure: JointBlocks
    privacy: LDP
    branches: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        if not self.privacy.holds(self.structure):
            raise PrivacyViolation(
                f"the reports to all questions together must satisfy the claimed {self.privacy!r}",
                parameter="level",
                value=self.privacy.level(self.structure),
                hint="Claim that level.",
            )
        self._refuse_branches()
        sizes = tuple(self._size(unit) for unit in self.units) if len(self.names) == len(self.labels) else ()
        if sizes != self.structure.sizes:
            raise InvalidParameter(
                "every question must have a name and as many labels as answers", parameter="answers", value=sizes
            )
        for branch in self.branches:
            unit = self._unit[branch.columns[0]]
            if any(family != AllSets(len(branch.records), 1) for family in self.structure.families[unit]):
                raise InvalidParameter("a branch is reported as one record", parameter="families", value=unit)
        for i, name in enumerate(self.names):
            self._refuse_ways(name, i)

    def _refuse_ways(self, name: str, column: int) -> None:
        """Raise unless a question is asked of somebody, in one way if its reports are not listed."""
        kinds = self.kinds(column)
        if not kinds:
            raise InvalidParameter("every question must be asked of somebody", parameter="question", value=name)
        if len(kinds) > 1 and any(not self._listed(column, kind) for kind in kinds):
            raise InvalidParameter(
                "a question whose reports are not listed is asked in one way only", parameter="question", value=name
            )

    def _refuse_branches(self) -> None:
        """Raise unless the branches have columns of their own and different records of answers that there are."""
        columns = [i for branch in self.branches for i in branch.columns]
        if len(set(columns)) < len(columns) or not all(0 <= i < len(self.labels) for i in columns):
            raise InvalidParameter("a column is in one branch at most", parameter="branches", value=columns)
        for branch in self.branches:
            branch.refuse([len(labels) for labels in self.labels])

    # -- columns and the questions of the mechanism

    @cached_property
    def units(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each question of the mechanism, in the order of their first ones."""
        found: dict[tuple[int, ...], None] = {}
        for i in range(len(self.names)):
            found[next((b.columns for b in self.branches if i in b.columns), (i,))] = None
        return tuple(found)

    @cached_property
    def _unit(self) -> dict[int, int]:
        return {i: u for u, unit in enumerate(self.units) for i in unit}

    def branch_of(self, column: int) -> Branch | None:
        return next((branch for branch in self.branches if column in branch.columns), None)

    def _size(self, unit: tuple[int, ...]) -> int:
        branch = self.branch_of(unit[0])
        return len(self.labels[unit[0]]) if branch is None else len(branch.records)

    def kinds(self, column: int) -> list[Kind]:
        """The ways in which a column is asked."""
        return self.structure.kinds(self._unit[column])

    def number_of(self, column: int, family: int, coin: int) -> int:
        """The place of the kind with this family and coin among those of a column."""
        return next(n for n, kind in enumerate(self.kinds(column)) if (kind.family, kind.coin) == (family, coin))

    def asked(self, name: str) -> Fraction:
        """The probability that a person is asked a question."""
        return self.structure.asked(self._unit[self.names.index(name)])

    def asked_either(self, first: str, second: str) -> Fraction:
        """The probability that a person is asked one of two questions, or both."""
        wanted = {self._unit[self.names.index(name)] for name in (first, second)}
        found = (a.weight for a in self.structure.assignments if wanted & set(a.asked))
        return Fraction(sum(found), COIN)

    def family(self, column: int, kind: Kind) -> Family:
        return self.structure.families[self._unit[column]][kind.family]

    def unit_codes(self, codes: Codes) -> Codes:
        """Records as codes of the answers to the mechanism's questions (n×J), from those of the columns; −1 where a
        record is not admissible."""
        found = np.empty((codes.shape[0], len(self.units)), dtype=np.int64)
        for u, unit in enumerate(self.units):
            branch = self.branch_of(unit[0])
            if branch is None:
                found[:, u] = codes[:, unit[0]]
            else:
                place = {record: number for number, record in enumerate(branch.records)}
                found[:, u] = [place.get(tuple(row), -1) for row in codes[:, unit].tolist()]
        return found

    def _listed(self, column: int, kind: Kind) -> bool:
        family = self.family(column, kind)
        return not isinstance(family, AllSets) or family.reports <= LISTED_REPORTS

    def base(self, column: int, kind: Kind) -> Floats:
        """The law of a column's reports where the coin falls on noise."""
        branch = self.branch_of(column)
        if branch is None:
            return self.family(column, kind).base()
        return branch.counts(column, len(self.labels[column])) / len(branch.records)

    def truth(self, column: int, kind: Kind) -> Floats:
        """That given each answer, where the coin falls on the truth."""
        branch = self.branch_of(column)
        return self.family(column, kind).truth() if branch is None else np.eye(len(self.labels[column]))

    # -- each question alone

    @cached_property
    def mechanisms(self) -> dict[str, Mechanism]:
        """Each question's own mechanism, from what it is asked alone, rounded to 2^-62."""
        return {name: self._alone(i) for i, name in enumerate(self.names)}

    def _alone(self, i: int) -> Mechanism:
        kinds = self.kinds(i)
        inputs = list(self.labels[i])
        family = self.family(i, kinds[0])
        if isinstance(family, AllSets) and not self._listed(i, kinds[0]):
            share = kinds[0].coin / COIN + (1 - kinds[0].coin / COIN) * float(1 / family.odds)
            structure = SubsetSelection(family.k, family.size, round(share * DENOMINATOR))
            return Mechanism.from_structure(structure, inputs=inputs, outputs=SubsetLabels(self.labels[i], family.size))
        names = [label for kind in kinds for label in self.reports(i, kind)]
        total = sum(kind.weight for kind in kinds)
        matrix = np.hstack([kind.weight / total * self._mixed(i, kind) for kind in kinds])
        return Mechanism.from_matrix(matrix, inputs=inputs, outputs=names)

    def _mixed(self, i: int, kind: Kind) -> Floats:
        gamma = kind.coin / COIN
        return np.asarray((1 - gamma) * self.base(i, kind) + gamma * self.truth(i, kind))

    def reports(self, i: int, kind: Kind) -> list[Label]:
        """How the reports of one kind are written, in their order; they are listed."""
        return self._written(i, kind, self._plain(i, kind))

    def _written(self, i: int, kind: Kind, plain: list[Label]) -> list[Label]:
        """Reports with the number of their kind before them, where there are several."""
        if len(self.kinds(i)) == 1:
            return plain
        place = self.number_of(i, kind.family, kind.coin)
        return [_numbered(place, label) for label in plain]

    def _plain(self, i: int, kind: Kind) -> list[Label]:
        family = self.family(i, kind)
        if not isinstance(family, AllSets):
            return list(range(family.reports))
        answers = list(self.labels[i])
        return answers if family.size == 1 else list(combinations(answers, family.size))

    # -- release

    def draw(self, records: Codes, source: WordSource | None = None) -> dict[str, list[Label | None]]:
        """A report on each admissible record (n×columns, codes of answers): by question, None where it was not
        asked."""
        words = SecureWords() if source is None else source
        found: dict[str, list[Label | None]] = {name: [None] * len(records) for name in self.names}
        tables: dict[tuple[int, int, int], list[Label]] = {}
        for drawn in draw_records(self.structure, self.unit_codes(records), words):
            kind = Kind(drawn.family, drawn.coin, 0)
            for i in self.units[drawn.question]:
                if drawn.reports.ndim == 2:
                    written = self._sets(i, kind, drawn.reports)
                else:
                    key = (i, kind.family, kind.coin)
                    if key not in tables:
                        tables[key] = self._by_number(i, kind)
                    written = [tables[key][code] for code in drawn.reports.tolist()]
                column = found[self.names[i]]
                for place, report in zip(drawn.places.tolist(), written, strict=True):
                    column[place] = report
        return found

    def _by_number(self, i: int, kind: Kind) -> list[Label]:
        """What column i says where the mechanism's question has each report."""
        branch, listed = self.branch_of(i), self.reports(i, kind)
        return listed if branch is None else [listed[r[branch.columns.index(i)]] for r in branch.records]

    def _sets(self, i: int, kind: Kind, members: Codes) -> list[Label]:
        answers = list(self.labels[i])
        return self._written(i, kind, [tuple(answers[x] for x in row) for row in members.tolist()])

    # -- as what a memory asks

    @property
    def input_labels(self) -> Records:
        return Records(self)

    def privatize(self, records: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """A report on each record, as a list with an entry for each question, None where it was not asked."""
        codes = [
            [labels.code(x, name) for labels, x, name in zip(self.labels, r, self.names, strict=True)] for r in records
        ]
        drawn = self.draw(np.array(codes, dtype=np.int64).reshape(len(records), len(self.names)))
        return [list(row) for row in zip(*(drawn[name] for name in self.names), strict=True)]

    @cached_property
    def hash(self) -> str:
        """SHA-256 of names, answers, weights and claim."""
        return content_digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        content = {
            "names": list(self.names),
            "answers": [labels.to_json() for labels in self.labels],
            "structure": self.structure.to_json(),
            "privacy": self.privacy.to_json(),
        }
        if self.branches:
            content["records"] = [
                [[self.names[i] for i in branch.columns], [list(record) for record in branch.records]]
                for branch in self.branches
            ]
        return content

    @classmethod
    def from_json(cls, content: Any) -> JointQuestions:
        """What `to_json` wrote; nothing in it is trusted.

        Raises:
            MalformedFile: a field is missing or not of its kind.
            PrivacyViolation: the claim is false.
        """
        try:
            names = tuple(stored_list(content["names"], "names"))
            labels = tuple(Labels.from_json(one, "answers") for one in stored_list(content["answers"], "answers"))
            structure = JointBlocks.from_json(content["structure"])
            privacy = LDP.from_json(content["privacy"])
            stored = stored_list(content.get("records", []), "records")
            branches = tuple(Branch.from_json(names, *branch) for branch in stored)
        except MalformedFile:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise MalformedFile(
                "a joint mechanism has names, answers, a structure and a claim",
                parameter="joint",
                value=str(error)[:120],
            ) from error
        if not all(isinstance(name, str) for name in names):
            raise MalformedFile("a question needs a name", parameter="names", value=str(names)[:60])
        if any(type(x) is not int for branch in branches for x in chain.from_iterable(branch.records)):
            raise MalformedFile("admissible records are codes of answers", parameter="records")
        return cls(names, labels, structure, privacy, branches)

    # -- two questions together

    def pair(self, first: str, second: str) -> tuple[list[tuple[Label | None, Label | None]], Floats]:
        """The pairs of reports of those who were asked one of two questions or both, None for the one that was not
        asked, and their probabilities given each pair of answers (the second counts fastest); empty when nobody is
        asked both.

        Under one coin P = (1 − γ)ν₁ν₂ + γR₁R₂, within a branch with the law of both in place of ν₁ν₂; under two coins
        the product of both. Who was asked one question tells about its own answers: the margins of the table.
        """
        i, j = self.names.index(first), self.names.index(second)
        weights = self._ways(self._unit[i], self._unit[j])
        if not any(one is not None and other is not None for one, other, _ in weights):
            return [], np.zeros((0, 0))
        if not all(self._listed(column, kind) for column in (i, j) for kind in self.kinds(column)):
            raise InvalidParameter("reports that are not listed cannot be tabulated", parameter="question", value=first)
        pairs: list[tuple[Label | None, Label | None]] = []
        parts, total = [], sum(weights.values())
        for (one, other, together), weight in weights.items():
            left: Sequence[Label | None] = [None] if one is None else self.reports(i, one)
            right: Sequence[Label | None] = [None] if other is None else self.reports(j, other)
            pairs += product(left, right)
            parts.append(weight / total * self._both(i, one, j, other, together))
        return pairs, np.hstack(parts)

    def _ways(self, first: int, second: int) -> dict[tuple[Kind | None, Kind | None, bool], int]:
        """In which ways two questions of the mechanism are asked, None where one is not, whether under one coin, and
        the weight of those assignments."""
        found: dict[tuple[Kind | None, Kind | None, bool], int] = {}
        for assignment in self.structure.assignments:
            asked = {
                q: (Kind(f, block.coin, 0), number)
                for number, block in enumerate(assignment.blocks)
                for q, f in zip(block.questions, block.families, strict=True)
            }
            one, other = asked.get(first, (None, -1)), asked.get(second, (None, -2))
            if one[0] is not None or other[0] is not None:
                key = (one[0], other[0], one[1] == other[1])
                found[key] = found.get(key, 0) + assignment.weight
        return found

    def _both(self, i: int, one: Kind | None, j: int, other: Kind | None, together: bool) -> Floats:
        """The probabilities of pairs of reports of one way."""
        if one is None or other is None:
            shown = [
                np.ones((len(self.labels[column]), 1)) if kind is None else self._mixed(column, kind)
                for column, kind in ((i, one), (j, other))
            ]
            return np.asarray(np.kron(*shown), dtype=np.float64)
        if not together:
            return np.asarray(np.kron(self._mixed(i, one), self._mixed(j, other)), dtype=np.float64)
        branch, gamma = self.branch_of(i), one.coin / COIN
        if branch is not None and j in branch.columns:
            shape = (len(self.labels[i]), len(self.labels[j]))
            noise: Floats = branch.pairs(i, j, shape) / len(branch.records)
        else:
            noise = np.asarray(np.kron(self.base(i, one), self.base(j, other)), dtype=np.float64)
        return np.asarray((1 - gamma) * noise + gamma * np.kron(self.truth(i, one), self.truth(j, other)))


def _numbered(place: int, report: Label) -> str:
    """A report of the kind with this number, as JSON: what every language writes alike."""
    return f"{place + 1}: {json.dumps(report, ensure_ascii=False, separators=(',', ':'))}"
