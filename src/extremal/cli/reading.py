"""What verbs read from the command line: notions, utilities, priors, matrices.

`PRIVACIES` and `CHOICES` name the notions and utilities that can be asked for, each with the options that give its
arguments; a test holds them equal to what the package has. Numbers stay strings, so that they are read as the decimals
they are.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from extremal.atomic import refuse_existing, refuse_unusable
from extremal.errors import InvalidParameter, MalformedFile
from extremal.mechanism.files import LARGEST_FILE
from extremal.mechanism.labels import MOST_LABELS
from extremal.privacy import LDP, LIP, PML, MetricPrivacy, Notion
from extremal.sources import SourceClass
from extremal.utility import DIVERGENCES, UTILITIES, Divergence, NamedDivergence, PairwiseDivergence, Utility

PRIOR_HELP = (
    "comma-separated probabilities (0.5,0.3,0.2 or 1/3,1/3,1/3), uniform:K, or @FILE with a JSON list or one "
    "number a line"
)
METAVARS = {"number": None, "prior": "P", "source": "P", "matrix": "FILE", "values": "V", "positions": "T"}
HINTS = {
    "number": "",
    "prior": "Give --{0} 0.5,0.3,0.2.",
    "source": "Give --k 4, --{0} 0.5,0.3,0.2 or --source.",
    "matrix": "Give a CSV or JSON file.",
    "values": "Give --{0} 0,1,5 or --{0} 0:100 with --k.",
    "positions": "Give --{0} 9,19,29.",
}
"""By what stands behind an option."""


@dataclass(frozen=True)
class Option:
    """An argument of a notion (beside ε) or of a utility.

    Attributes:
        argument: the name in the constructor.
        flag: the option that gives it.
        reads: what stands behind the flag: a number, a prior, a matrix, a class of sources, one number for each input,
            or positions of inputs.
        help: a few words for the help text.
        default: the text that is read when the flag is not given; None: the argument is left out.
        required: what is needed, when it cannot do without; else empty.
    """

    argument: str
    flag: str
    reads: Literal["number", "prior", "matrix", "source", "values", "positions"]
    help: str
    default: str | None = None
    required: str = ""


@dataclass(frozen=True)
class Choice:
    """A notion or a utility that can be asked for: its class, and what gives the arguments of its constructor."""

    kind: Callable[..., Any]
    options: tuple[Option, ...]


ANSWERS = "distribution of the answers"
PROMISED = "the prior that it promises under"
TWO = "two distributions"

PRIVACIES = {
    "ldp": Choice(LDP, (Option("delta", "--delta", "number", "δ of (ε,δ)-LDP (default 0)", default="0"),)),
    "pml": Choice(PML, (Option("prior_or_class", "--prior", "prior", ANSWERS, required=PROMISED),)),
    "lip": Choice(
        LIP,
        (
            Option("prior", "--prior", "prior", ANSWERS, required=PROMISED),
            Option("lower", "--lower", "number", "the other side of asymmetric lip, in nats"),
        ),
    ),
    "metric": Choice(
        MetricPrivacy,
        (
            Option(
                "distances",
                "--metric",
                "matrix",
                "distances between inputs, a CSV or JSON file",
                required="the distances between inputs",
            ),
        ),
    ),
}
"""The notions as the command line calls them."""

GOALS = {"frequencies": "Frequencies", "cdf": "CDF", "ranges": "Ranges", "mean": "Mean"}
"""What people estimate, as --goal names it: the utilities that are workloads."""

PAIR = (
    Option("p0", "--p0", "prior", "first of two distributions to tell apart", required=TWO),
    Option("p1", "--p1", "prior", "second of two distributions to tell apart", required=TWO),
)
SOURCE = Option("prior_or_class", "--prior", "source", ANSWERS, required="a prior")
COUNTED = Option("prior", "--prior", "source", ANSWERS, required="a prior or a number of inputs")

OPTIONS = {
    "Distortion": (
        SOURCE,
        Option(
            "distances",
            "--distances",
            "matrix",
            "losses, a row for each input: a CSV or JSON file",
            required="a matrix of losses",
        ),
    ),
    "Hamming": (SOURCE,),
    "MutualInformation": (Option("prior", "--prior", "prior", ANSWERS, required="a prior"),),
    "Frequencies": (COUNTED,),
    "CDF": (
        COUNTED,
        Option("thresholds", "--thresholds", "positions", "positions t of P(X ≤ t), for CDF; all if not given"),
    ),
    "Ranges": (COUNTED,),
    "Mean": (
        Option("values", "--values", "values", "the number that each input stands for, for Mean", required="values"),
        Option("prior", "--prior", "source", ANSWERS),
    ),
}
"""Of the utilities that are no named divergences."""


def _parameters(kind: type[NamedDivergence]) -> tuple[Option, ...]:
    return tuple(
        Option(name, f"--{name}", "number", f"parameter of {kind.name} (default {value})", default=value)
        for name, value in kind.parameters.items()
    )


CHOICES = {name: Choice(kind, (*PAIR, *_parameters(kind))) for name, kind in DIVERGENCES.items()}
CHOICES |= {name: Choice(UTILITIES[name], options) for name, options in OPTIONS.items()}
"""The utilities that the command line can make."""


def prior(text: str, parameter: str) -> list[Any]:
    """A prior as typed."""
    if text.startswith("uniform:"):
        count = text.removeprefix("uniform:")
        if not (count.isascii() and count.isdecimal() and len(count) < 9 and 2 <= int(count) <= MOST_LABELS):
            raise InvalidParameter(
                f"{parameter} must be uniform:K with K from 2 to {MOST_LABELS:,}", parameter=parameter, value=text
            )
        return [f"1/{int(count)}"] * int(count)
    if text.startswith("@"):
        content = _text(text[1:], parameter)
        if not content.lstrip().startswith("["):
            return content.replace(",", " ").split()
        try:
            return [str(p) for p in json.loads(content, parse_float=str)]
        except (ValueError, RecursionError):
            raise MalformedFile(
                f"{parameter} must be a JSON list or one number a line", parameter=parameter, value=text
            ) from None
    return [part.strip() for part in text.split(",")]


def _text(path: str, parameter: str) -> str:
    """A small file of numbers."""
    refuse_unusable(Path(path))
    with Path(path).open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise MalformedFile(f"{parameter} may have at most {LARGEST_FILE >> 20} MiB", parameter=parameter, value=path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedFile(f"{parameter} must be a file of UTF-8 text", parameter=parameter, value=path) from None


def matrix(path: str, parameter: str) -> list[list[float]]:
    """A matrix from a file: JSON, or one row a line with commas or blanks between."""
    text = _text(path, parameter)
    try:
        rows = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
        )
        read = [[float(entry) for entry in row] for row in rows]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise MalformedFile(
            f"{parameter} must be a matrix of numbers", parameter=parameter, value=path, hint=str(error)
        ) from error
    if not read or len({len(row) for row in read}) != 1 or any(math.isnan(entry) for row in read for entry in row):
        raise MalformedFile(f"{parameter} must be a matrix with rows of equal length", parameter=parameter, value=path)
    return read


def values(text: str, parameter: str, k: str | None) -> list[float]:
    """One number for each input: as typed, from a file, or FROM:TO evenly over --k inputs."""
    if ":" in text and not text.startswith("@"):
        first, _, last = text.partition(":")
        count = _count(k)
        try:
            low, high = float(first), float(last)
        except ValueError:
            raise InvalidParameter(
                f"{parameter} must be numbers, or FROM:TO with --k", parameter=parameter, value=text
            ) from None
        return [low + (high - low) * (x / (count - 1)) for x in range(count)]
    try:
        return [float(v) for v in prior(text, parameter)]
    except ValueError:
        raise InvalidParameter(
            f"{parameter} must be numbers", parameter=parameter, value=text, hint=f"Give {parameter} 0,1,5."
        ) from None


def positions(text: str, parameter: str) -> list[int]:
    """Positions of inputs, counted from 0."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InvalidParameter(f"{parameter} must be positions, counted from 0", parameter=parameter, value=text)
    return [int(part) for part in parts]


def _count(text: str | None) -> int:
    if text is None or not text.isdecimal() or int(text) < 2:
        raise InvalidParameter(
            "a number of inputs is needed, at least 2", parameter="--k", value=text, hint="Give --k 10."
        )
    return int(text)


def source(options: argparse.Namespace, missing: str) -> Any:
    """A class of sources: --source, --ball around --prior, the one --prior, or --k equally likely inputs."""
    k = options.k
    if options.prior is None and k is not None:
        options.prior = f"uniform:{_count(k)}"
    if options.source == "any":
        return SourceClass.simplex(len(prior(options.prior, "--prior")) if options.prior else _count(k))
    if options.source is not None:
        return SourceClass([prior(text.strip(), "--source") for text in options.source.split(";")])
    if options.prior is None:
        raise InvalidParameter(missing, parameter="--prior", value=None, hint=HINTS["source"].format("prior"))
    centre = prior(options.prior, "--prior")
    return centre if options.ball is None else SourceClass.ball(centre, options.ball)


def _arguments(who: str, wanted: Iterable[Option], options: argparse.Namespace) -> dict[str, Any]:
    """The arguments that a class asks for, read as it says; what is missing is refused in its words."""
    found = {}
    for option in wanted:
        missing = f"{who} needs {option.required}"
        if option.reads == "source" and (option.required or options.prior or options.source or options.k):
            found[option.argument] = source(options, missing)
            continue
        if option.reads == "source":
            continue
        text = getattr(options, option.flag.removeprefix("--"))
        if text is None and option.required:
            hint = HINTS[option.reads].format(option.flag.removeprefix("--"))
            raise InvalidParameter(missing, parameter=option.flag, value=None, hint=hint)
        if text is None:
            text = option.default
        if text is not None and option.reads == "values":
            found[option.argument] = values(text, option.flag, options.k)
        elif text is not None:
            found[option.argument] = READERS[option.reads](text, option.flag)
    return found


READERS: dict[str, Callable[[str, str], Any]] = {
    "number": lambda text, _: text,
    "prior": prior,
    "matrix": matrix,
    "positions": positions,
}


def add_utility_arguments(verb: argparse.ArgumentParser, several: bool = False) -> None:
    """--utility, and what the utilities need."""
    verb.add_argument(
        "--utility",
        action="append" if several else "store",
        type=by_name,
        choices=tuple(CHOICES),
        metavar="NAME",
        help=f"what is wanted{' (may be repeated)' if several else ''}: {', '.join(CHOICES)}",
    )
    verb.add_argument("--goal", type=str.lower, choices=tuple(GOALS), help="what you want to estimate from the reports")
    verb.add_argument("--k", metavar="K", help="number of inputs, equally likely unless --prior says otherwise")
    _add_options(verb, _options_of(CHOICES))
    verb.add_argument(
        "--source",
        metavar="P;P;…",
        help="several priors, separated by semicolons, or any: the worst case over their mixtures counts",
    )
    verb.add_argument("--ball", metavar="RADIUS", help="all priors within this total variation of --prior")
    verb.add_argument(
        "--hypotheses",
        metavar="P;P;…",
        help="several distributions to tell apart, separated by semicolons: the mean over all ordered pairs counts",
    )
    verb.add_argument("--worst-case", action="store_true", help="with --hypotheses: the pair that is told apart least")


def add_privacy_arguments(verb: argparse.ArgumentParser) -> None:
    """--privacy, and what the notions need beside ε and beside what utilities need."""
    verb.add_argument(
        "--privacy", type=str.lower, choices=tuple(PRIVACIES), default="ldp", help="privacy notion (default ldp)"
    )
    shared = _options_of(CHOICES)
    _add_options(verb, {flag: option for flag, option in _options_of(PRIVACIES).items() if flag not in shared})


def _options_of(choices: Mapping[str, Choice]) -> dict[str, Option]:
    """Every option of these choices, once."""
    found: dict[str, Option] = {}
    for choice in choices.values():
        for option in choice.options:
            found.setdefault(option.flag, option)
    return found


def _add_options(verb: argparse.ArgumentParser, options: Mapping[str, Option]) -> None:
    for flag, option in options.items():
        how = f": {PRIOR_HELP}" if flag == "--prior" else ""
        verb.add_argument(flag, metavar=METAVARS[option.reads], help=option.help + how)


def privacy(options: argparse.Namespace, epsilon: Any = None) -> Notion:
    """The notion asked for, at --epsilon or another level."""
    level = options.epsilon if epsilon is None else epsilon
    if level is None:
        raise InvalidParameter("a privacy level is needed", parameter="--epsilon", value=None, hint="Give --epsilon 1.")
    chosen = PRIVACIES[options.privacy]
    notion: Notion = chosen.kind(level, **_arguments(options.privacy, chosen.options, options))
    return notion


def utility(options: argparse.Namespace, name: str | None = None) -> Utility:
    """The utility asked for, or the one that the other options speak of."""
    chosen = name or options.utility or GOALS.get(options.goal) or next(iter(spoken_of(options)), None)
    if chosen is None:
        raise InvalidParameter(
            "say what you want to learn",
            parameter="--goal",
            value=None,
            hint="Give --goal frequencies --k 4; or --p0 and --p1; or --prior.",
        )
    if options.hypotheses is not None:
        return _pairs(chosen, options)
    if options.worst_case:
        raise InvalidParameter("--worst-case goes with --hypotheses", parameter="--hypotheses", value=None)
    made: Utility = CHOICES[chosen].kind(**_arguments(chosen, CHOICES[chosen].options, options))
    return made


def _pairs(name: str, options: argparse.Namespace) -> Utility:
    """All ordered pairs of --hypotheses, by a divergence with its parameters."""
    kind: Any = CHOICES[name].kind
    if not issubclass(kind, Divergence) or options.p0 is not None or options.p1 is not None:
        raise InvalidParameter(
            "--hypotheses are told apart by a divergence, and replace --p0 and --p1",
            parameter="--utility",
            value=name,
            hint="Give --utility KL.",
        )
    own = [option for option in CHOICES[name].options if option.reads == "number"]
    parameters = _arguments(name, own, options)
    distributions = [prior(text.strip(), "--hypotheses") for text in options.hypotheses.split(";")]
    return PairwiseDivergence(distributions, lambda p, q: kind(p, q, **parameters), options.worst_case)


def refuse_written(options: argparse.Namespace, *names: str) -> None:
    """Raise before any work when a file that is to be written is there already."""
    for name in names:
        if getattr(options, name) is not None:
            refuse_existing(Path(getattr(options, name)), options.overwrite)


def by_name(text: str) -> str:
    """The name of a utility as it is written, however it was typed: kl, KL and total-variation are understood."""
    typed = _folded(text)
    return next((name for name in CHOICES if _folded(name) == typed), text)


def _folded(name: str) -> str:
    return name.replace("-", "").replace("_", "").casefold()


def spoken_of(options: argparse.Namespace) -> list[str]:
    """The usual utility for each option that is given: a pair, losses, a prior."""
    usual = {"hypotheses": "KL", "p0": "KL", "distances": "Distortion", "prior": "MutualInformation"}
    return [name for option, name in usual.items() if getattr(options, option)]
