"""Every exception of the package.

An error ends the search: it says what was required, which parameter broke it, the value received and the likely fix.
The same facts are attributes (`parameter`, `value`, `hint`), so that a program can react without reading the sentence.
What respondents said is not in them: an error about their data names the position and the kind of value, and the value
itself only after `show_values(True)`. Everything derives from `ExtremalError`; errors about a value are also
`ValueError`, those about a look-up also `KeyError`-free `LookupError`, so ordinary handlers work. Nothing here is
raised for a bug of the package itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")

_LONGEST_VALUE = 120  # characters of a value that an error message shows
_LONGEST_INTEGER = 4096  # bits; Python refuses to print integers of more than 4,300 digits


_shown = {"values": False}


def show_values(shown: bool = True) -> None:
    """Let errors about respondents' data quote the value at fault; `show_values(False)` hides it again.

    Errors end up in logs and crash reports, so that by default they say where the value stands and of what kind it is.
    Labels, parameters and files of mechanisms are public and always shown.

    Guarantee: values of respondents are in no message unless this was called.

    Reference: OWASP Logging Cheat Sheet on what not to log.

    >>> show_values(False)
    """
    if not isinstance(shown, bool):
        raise InvalidParameter("shown must be True or False", parameter="shown", value=shown)
    _shown["values"] = shown


class _Absent:
    """Marks that an error has no value to show."""


_ABSENT = _Absent()


def _show(value: Any) -> str:
    # NumPy scalars read as numbers.
    plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    if isinstance(plain, int) and plain.bit_length() > _LONGEST_INTEGER:
        return f"a number of {plain.bit_length()} bits"
    text = " ".join(repr(plain).split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


class ExtremalError(Exception):
    """Base of every error that the package raises on purpose.

    Attributes:
        requirement: what had to hold.
        parameter: the name of the argument or field at fault, or None.
        value: the value received, or None.
        hint: the likely fix, or None.

    >>> error = InvalidParameter("epsilon must not be negative", parameter="epsilon", value=-1, hint="Give nats.")
    >>> print(error)
    epsilon must not be negative; got epsilon=-1. Give nats.
    """

    def __init__(
        self, requirement: str, *, parameter: str | None = None, value: Any = _ABSENT, hint: str | None = None
    ) -> None:
        self.requirement = requirement
        self.parameter = parameter
        self.value = None if value is _ABSENT else value
        self.hint = hint
        message = requirement
        if value is not _ABSENT:
            message += f"; got {parameter}={_show(value)}" if parameter else f"; got {_show(value)}"
        message += "" if message.endswith((".", "?")) else "."
        super().__init__(f"{message} {hint}" if hint else message)

    def __reduce__(self) -> Any:
        return _again, (type(self), self.__dict__, self.args)


def _again(kind: type[ExtremalError], facts: dict[str, Any], arguments: tuple[Any, ...]) -> ExtremalError:
    """An error as it was pickled: a worker process may raise it."""
    error = kind.__new__(kind)
    error.args = arguments
    error.__dict__.update(facts)
    return error


class InvalidParameter(ExtremalError, ValueError):
    """An argument is outside what the function accepts.

    >>> import extremal as ex
    >>> ex.LDP(-1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.InvalidParameter: epsilon must ...
    """


class InvalidPrior(InvalidParameter):
    """A probability vector is negative, not finite, does not sum to one or has the wrong length.

    >>> import extremal as ex
    >>> ex.MutualInformation([0.5, 0.6])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.InvalidPrior: ...
    """


class InvalidLabel(InvalidParameter):
    """A label has a type that is not str, int or bool, is empty, or collides with another one.

    >>> import extremal as ex
    >>> ex.randomized_response(["no", "no"], 1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.InvalidLabel: ...
    """


class UnknownLabel(ExtremalError, LookupError):
    """A value is not among the labels of a mechanism.

    >>> import extremal as ex
    >>> ex.randomized_response(["no", "yes"], 1).privatize("maybe")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.UnknownLabel: values: a value of type str that is no label...
    """

    @classmethod
    def hidden(cls, where: str, value: Any, labels: str, nearest: str = "", more: str = "") -> UnknownLabel:
        """The error about a respondent's value: its position and kind, and the public `labels`; the value itself, and
        the question whether the `nearest` label was meant, only when values are shown.

        >>> print(UnknownLabel.hidden("answer[17]", "nope", "'no', 'yes'"))
        answer[17]: a value of type str that is no label. Labels: 'no', 'yes'. ex.show_values(True) shows the value.
        """
        plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
        what = f"{where}: a value of type {type(plain).__name__} that is no label"
        hint = f"Labels: {labels}. {more}".strip()
        if _shown["values"]:
            return cls(what, parameter=where, value=value, hint=f"{nearest} {hint}".strip())
        return cls(what, parameter=where, hint=f"{hint} ex.show_values(True) shows the value.")


class PrivacyViolation(ExtremalError, ValueError):
    """A mechanism does not satisfy the privacy notion that is claimed for it.

    >>> import extremal as ex
    >>> ex.Mechanism.from_weights([[3 << 60, 1 << 60], [1 << 60, 3 << 60]], privacy=ex.LDP(1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.PrivacyViolation: ...
    """


class TooLarge(ExtremalError, ValueError):
    """An object is too large for the dense form that was asked for.

    >>> import extremal as ex
    >>> ex.randomized_response(200, 1).plot()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.TooLarge: a heat map shows at most 128 inputs and reports...
    """


class MalformedFile(ExtremalError, ValueError):
    """A file is truncated, corrupted, of an unknown version, or not what it says it is.

    >>> raise MalformedFile("a mechanism file must be JSON", parameter="path", value="m.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.MalformedFile: a mechanism file must be JSON...
    """


class FileConflict(ExtremalError, OSError):
    """A file that would be overwritten holds something else.

    >>> import extremal as ex
    >>> raise ex.errors.FileConflict("the file exists", parameter="path", value="m.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.FileConflict: the file exists...
    """


class NotIdentified(ExtremalError, ValueError):
    """The reports do not determine what was asked for.

    >>> import extremal as ex
    >>> ex.estimate_frequencies({0: 5, 1: 5}, ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    extremal.errors.NotIdentified: the reports do not determine every frequency...
    """


class MissingDependency(ExtremalError, ImportError):
    """An optional dependency is needed for this call.

    >>> import extremal as ex
    >>> raise ex.errors.MissingDependency("a picture needs matplotlib")
    Traceback (most recent call last):
    extremal.errors.MissingDependency: a picture needs matplotlib.
    """


class NoSecureRandomness(ExtremalError, OSError):
    """There is no cryptographic source of randomness, so nothing can be released.

    >>> import extremal as ex
    >>> raise ex.errors.NoSecureRandomness("the operating system gave no randomness")
    Traceback (most recent call last):
    extremal.errors.NoSecureRandomness: the operating system gave no randomness.
    """


def called_as(example: str) -> Callable[[Callable[_Given, _Returned]], Callable[_Given, _Returned]]:
    """Decorate a function whose first guesses fail: arguments that it does not take end in the right call.

    >>> @called_as("twice(2)")
    ... def twice(number: int) -> int:
    ...     return 2 * number
    >>> twice(of=2)
    Traceback (most recent call last):
    extremal.errors.InvalidParameter: twice: missing a required argument: 'number'. Call it as twice(2).
    """

    def decorated(function: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*given: _Given.args, **named: _Given.kwargs) -> _Returned:
            try:
                signature.bind(*given, **named)
            except TypeError as error:
                raise InvalidParameter(f"{function.__name__}: {error}", hint=f"Call it as {example}.") from None
            return function(*given, **named)

        return call

    return decorated
