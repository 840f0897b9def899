"""A joint mechanism with the names of its questions and answers: records in, reports out, one question alone.

A column of reports holds, for everybody who was asked the question, an answer or a set of answers, and nothing for
everybody else: which questions were asked is public. Where a question is asked in several ways (*kinds*: another size
of sets, or another coin), the reports of kind i are written `i: report`, the report as JSON, and its mechanism is the
mixture

    P(i: y | x) = w_i·((1 − γ_i)ν_i(y) + γ_i·R_i(y|x)),   w_i the share of kind i among those who were asked,

an ordinary mechanism on the answers of the question. All estimators of one question apply to it as they are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter, MalformedFile, PrivacyViolation
from extremal.exact.weights import DENOMINATOR, Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.files import content_digest
from extremal.mechanism.labels import Label, Labels
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.structures import JointBlocks, SubsetSelection
from extremal.mechanism.structures.joint import COIN, LISTED_REPORTS, AllSets, Kind
from extremal.mechanism.structures.structure import stored_list
from extremal.privacy import LDP
from extremal.release.sampling.joint import draw_records
from extremal.release.sampling.loops import Codes
from extremal.release.sampling.words import SecureWords, WordSource


@dataclass(frozen=True, eq=False)
class JointQuestions:
    """The names and the answers of the questions, the mechanism of all of them together, and its claim, decided
    exactly. A record is a tuple of answers, one for each question."""

    names: tuple[str, ...]
    labels: tuple[Labels, ...]
    structure: JointBlocks
    privacy: LDP

    def __post_init__(self) -> None:
        if not self.privacy.holds(self.structure):
            raise PrivacyViolation(
                f"the reports to all questions together must satisfy the claimed {self.privacy!r}",
                parameter="level",
                value=self.privacy.level(self.structure),
                hint="Claim that level.",
            )
        sizes = tuple(len(labels) for labels in self.labels)
        if len(self.names) != len(sizes) or sizes != self.structure.sizes:
            raise InvalidParameter(
                "every question must have a name and as many labels as answers", parameter="answers", value=sizes
            )
        for j, name in enumerate(self.names):
            kinds = self.structure.kinds(j)
            if not kinds:
                raise InvalidParameter("every question must be asked of somebody", parameter="question", value=name)
            if len(kinds) > 1 and any(not self._listed(j, kind) for kind in kinds):
                raise InvalidParameter(
                    "a question whose reports are not listed is asked in one way only", parameter="question", value=name
                )

    def _listed(self, j: int, kind: Kind) -> bool:
        family = self.structure.families[j][kind.family]
        return not isinstance(family, AllSets) or family.reports <= LISTED_REPORTS

    def number(self, name: str) -> int:
        return self.names.index(name)

    # -- each question alone

    @cached_property
    def mechanisms(self) -> dict[str, Mechanism]:
        """Each question's own mechanism, from what it is asked alone, rounded to 2^-62."""
        return {name: self._alone(j) for j, name in enumerate(self.names)}

    def _alone(self, j: int) -> Mechanism:
        kinds = self.structure.kinds(j)
        inputs = list(self.labels[j])
        if not self._listed(j, kinds[0]):
            family = self.structure.families[j][kinds[0].family]
            share = kinds[0].coin / COIN + (1 - kinds[0].coin / COIN) * float(1 / family.odds)
            assert isinstance(family, AllSets)
            structure = SubsetSelection(family.k, family.size, round(share * DENOMINATOR))
            return Mechanism.from_structure(structure, inputs=inputs, outputs=SubsetLabels(self.labels[j], family.size))
        names = [label for kind in kinds for label in self.reports(j, kind)]
        return Mechanism.from_matrix(self.structure.mixture(j), inputs=inputs, outputs=names)

    def reports(self, j: int, kind: Kind) -> list[Label]:
        """How the reports of one kind are written, in their order; they are listed."""
        plain = self._plain(j, kind)
        kinds = self.structure.kinds(j)
        if len(kinds) == 1:
            return plain
        place = next(i for i, other in enumerate(kinds) if (other.family, other.coin) == (kind.family, kind.coin))
        return [_written(place, label) for label in plain]

    def _plain(self, j: int, kind: Kind) -> list[Label]:
        family = self.structure.families[j][kind.family]
        if not isinstance(family, AllSets):
            return list(range(family.reports))
        answers = list(self.labels[j])
        return answers if family.size == 1 else list(combinations(answers, family.size))

    # -- release

    def draw(self, records: Codes, source: WordSource | None = None) -> dict[str, list[Label | None]]:
        """A report on each record (n×J codes of answers): by question, None where it was not asked."""
        words = SecureWords() if source is None else source
        found: dict[str, list[Label | None]] = {name: [None] * len(records) for name in self.names}
        tables: dict[tuple[int, int, int], list[Label]] = {}
        for drawn in draw_records(self.structure, records, words):
            j, kind = drawn.question, Kind(drawn.family, drawn.coin, 0)
            column = found[self.names[j]]
            if drawn.reports.ndim == 2:
                written = self._sets(j, kind, drawn.reports)
            else:
                table = tables.setdefault((j, kind.family, kind.coin), self.reports(j, kind))
                written = [table[code] for code in drawn.reports.tolist()]
            for place, report in zip(drawn.places.tolist(), written, strict=True):
                column[place] = report
        return found

    def _sets(self, j: int, kind: Kind, members: Codes) -> list[Label]:
        answers = list(self.labels[j])
        sets: list[Label] = [tuple(answers[x] for x in row) for row in members.tolist()]
        kinds = self.structure.kinds(j)
        if len(kinds) == 1:
            return sets
        place = next(i for i, other in enumerate(kinds) if (other.family, other.coin) == (kind.family, kind.coin))
        return [_written(place, one) for one in sets]

    # -- as what a memory asks

    @property
    def input_labels(self) -> Records:
        return Records(self.labels)

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
        return {
            "names": list(self.names),
            "answers": [labels.to_json() for labels in self.labels],
            "structure": self.structure.to_json(),
            "privacy": self.privacy.to_json(),
        }

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
        return cls(names, labels, structure, privacy)

    # -- two questions together

    def pair(self, first: str, second: str) -> tuple[list[tuple[Label, Label]], Floats]:
        """The pairs of reports of those who were asked both questions, and their probabilities given each pair of
        answers (the second counts fastest); empty when nobody is.

        Under one coin P = (1 − γ)ν₁ν₂ + γR₁R₂; under two the product of both.
        """
        i, j = self.number(first), self.number(second)
        weights: dict[tuple[Kind, Kind, bool], int] = {}
        for assignment in self.structure.assignments:
            found = {
                q: (Kind(f, block.coin, 0), number)
                for number, block in enumerate(assignment.blocks)
                for q, f in zip(block.questions, block.families, strict=True)
                if q in (i, j)
            }
            if len(found) == 2:
                key = (found[i][0], found[j][0], found[i][1] == found[j][1])
                weights[key] = weights.get(key, 0) + assignment.weight
        pairs: list[tuple[Label, Label]] = []
        parts, total = [], sum(weights.values())
        for (one, other, together), weight in weights.items():
            if not self._listed(i, one) or not self._listed(j, other):
                raise InvalidParameter(
                    "reports that are not listed cannot be tabulated", parameter="question", value=first
                )
            pairs += [(a, b) for a in self.reports(i, one) for b in self.reports(j, other)]
            parts.append(weight / total * self._both(i, one, j, other, together))
        return pairs, np.hstack(parts) if parts else np.zeros((0, 0))

    def _both(self, i: int, one: Kind, j: int, other: Kind, together: bool) -> Floats:
        if not together:
            return np.asarray(np.kron(self.structure.alone(i, one), self.structure.alone(j, other)), dtype=np.float64)
        a, b = self.structure.families[i][one.family], self.structure.families[j][other.family]
        gamma = one.coin / COIN
        return np.asarray((1 - gamma) * np.kron(a.base(), b.base()) + gamma * np.kron(a.truth(), b.truth()))


def _written(place: int, report: Label) -> str:
    """A report of the kind with this number, as JSON: what every language writes alike."""
    return f"{place + 1}: {json.dumps(report, ensure_ascii=False, separators=(',', ':'))}"


@dataclass(frozen=True, eq=False)
class Records:
    """The records that there are: one answer for each question."""

    labels: tuple[Labels, ...]

    def find(self, record: Any) -> int | None:
        """0 for a record, None for anything else."""
        if not isinstance(record, (tuple, list)) or len(record) != len(self.labels):
            return None
        return None if any(own.find(x) is None for own, x in zip(self.labels, record, strict=True)) else 0

    def shown(self) -> str:
        return f"{len(self.labels)} answers"

    def nearest(self, record: Any) -> None:
        return None
