"""What a person reads: the text of a question, of its answers, and of the group that it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from extremal.errors import InvalidParameter
from extremal.questionnaire.records import NO_ANSWER, SKIPPED

if TYPE_CHECKING:
    from extremal.mechanism.labels import Labels

LONGEST_TEXT = 10_000  # characters: more than anybody reads


@dataclass(frozen=True)
class QuestionText:
    """The wording of a question.

    Attributes:
        text: the question; its name where none is given.
        answers: the text of each answer, in the order of the labels, without those for skipped and not answered; empty:
            the labels themselves.
        group: the heading of questions that stand together, such as the items of "tick all that apply".
    """

    text: str = ""
    answers: tuple[str, ...] = ()
    group: str = ""

    @classmethod
    def of(cls, given: Any, name: str) -> QuestionText:
        """A text, a pair of the text and those of the answers, or a `QuestionText`."""
        if isinstance(given, str):
            return cls(given)
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
            return cls(given[0], tuple(given[1]))
        if isinstance(given, QuestionText):
            return given
        raise InvalidParameter(
            "a text is a str, or a pair of the text and the answers' texts",
            parameter=f"texts[{name!r}]",
            value=type(given).__name__,
        )

    def refuse(self, name: str, labels: Labels) -> None:
        """Raise unless every answer has its text, or none has."""
        texts = (self.text, self.group, *self.answers)
        if not all(isinstance(text, str) and len(text) <= LONGEST_TEXT for text in texts):
            raise InvalidParameter(
                f"texts must be str of at most {LONGEST_TEXT:,} characters", parameter=f"texts[{name!r}]"
            )
        count = len(labels) - sum(labels.find(own) is not None for own in (NO_ANSWER, SKIPPED))
        if self.answers and len(self.answers) != count:
            raise InvalidParameter(
                f"question {name!r} must have a text for each of its {count} answers",
                parameter=f"texts[{name!r}]",
                value=len(self.answers),
            )

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"text": self.text, "answers": list(self.answers), "group": self.group}
        return {name: value for name, value in fields.items() if value}


def texts_of(given: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, QuestionText]:
    """The texts by question; that of "tick all that apply" is the heading of its items, whose texts are their names."""
    found: dict[str, QuestionText] = {}
    for name, text in given.items():
        items = [other for other in names if other.startswith(f"{name}: ")]
        if name in names:
            found[name] = QuestionText.of(text, name)
        elif items:
            own = QuestionText.of(text, name)
            labels = own.answers or tuple(item.removeprefix(f"{name}: ") for item in items)
            if len(labels) != len(items):
                raise InvalidParameter(
                    f"{name!r} must have a text for each of its {len(items)} items",
                    parameter=f"texts[{name!r}]",
                    value=len(labels),
                )
            found |= {item: QuestionText(label, group=own.text) for item, label in zip(items, labels, strict=True)}
        else:
            raise InvalidParameter("texts must be of questions", parameter="texts", value=name)
    return found
