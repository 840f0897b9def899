"""Joint reports by a release key and row ids, also inside plans (polars LazyFrames, DuckDB, Spark).

All columns of the questions that are asked jointly read the same words of their row (`extremal.release.engines.keyed`):
each column's function draws the whole report and gives its own part, so that the parts fit each other whoever evaluates
them, in whatever order.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from extremal.columns.column import with_gaps
from extremal.errors import InvalidParameter
from extremal.questionnaire.joint import JointQuestions
from extremal.questionnaire.records import record_codes
from extremal.questionnaire.release import Mechanisms, answered, may_be_silent, questions_apart
from extremal.release.engines.keyed import KeyedColumn, OwnWords, RowWords, column_secret, keys_in
from extremal.release.engines.lazy import checked_key, with_keyed_columns

NAME = b"questions that are asked jointly"  # in place of a column's, for the words that all of them read


class KeyedPart:
    """One column of the joint report. Never pickled by accident, as `KeyedColumn`."""

    __slots__ = ("__secret", "joint", "name")

    def __init__(self, joint: JointQuestions, name: str, secret: bytes) -> None:
        self.joint, self.name, self.__secret = joint, name, secret

    @property
    def reads(self) -> tuple[str, ...]:
        return self.joint.names

    def shipped(self) -> tuple[JointQuestions, str, bytes]:
        """The parts, for a worker of the same release. They hold the secret of the release."""
        return self.joint, self.name, self.__secret

    @classmethod
    def arrived(cls, parts: tuple[JointQuestions, str, bytes]) -> KeyedPart:
        """What `shipped` took apart."""
        return cls(*parts)

    def reports(self, ids: Any, *columns: Any) -> Any:
        """This column's reports on records, in the container of its answers."""
        codes = record_codes(self.joint, dict(zip(self.joint.names, columns, strict=True)))
        words = RowWords(ids, lambda kind: keys_in(self.__secret, kind))
        if len(words) != len(codes):
            raise InvalidParameter(
                f"there must be {len(codes)} ids, one for each record", parameter="len(ids)", value=len(words)
            )
        own = OwnWords(words, np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64))
        outputs = self.joint.mechanisms[self.name].output_labels
        return with_gaps(self.joint.draw(codes, own)[self.name], outputs, columns[self.joint.names.index(self.name)])

    def __repr__(self) -> str:
        return f"KeyedPart({self.name!r}, secret)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a keyed column holds a secret and is never pickled: serialise the plan before privatize")


class KeyedOptional(KeyedColumn):
    """A column of a question that has its own mechanism and need not be answered: what is missing is an answer."""

    __slots__ = ()

    def reports(self, ids: Any, values: Any) -> Any:
        return super().reports(ids, answered(self.mechanism.input_labels, values, self.name))


def privatize_keyed_answers(
    frame: Any,
    questions: Mechanisms,
    joint: JointQuestions | None,
    row_id: str,
    release_key: Any,
    check_ids: bool | None,
    connection: Any,
) -> Any:
    """See `Questionnaire.privatize`."""
    if row_id in questions:
        raise InvalidParameter("the row id cannot be randomised", parameter="row_id", value=row_id)
    key = checked_key(release_key)
    apart = questions_apart(questions, joint)
    optional = may_be_silent(apart)
    columns: dict[str, Any] = {
        n: (KeyedOptional if n in optional else KeyedColumn)(m, n, key) for n, m in apart.items()
    }
    if joint is not None:
        secret = column_secret(key, NAME, joint.hash)
        columns |= {name: KeyedPart(joint, name, secret) for name in joint.names}
    return with_keyed_columns(frame, row_id, columns, check_ids, connection)
