"""Notions and utilities on the command line: what each is called, and the options that give its arguments.

`PRIVACIES` and `CHOICES` name those that can be asked for; a test holds them equal to what the package has.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from extremal.cli.reading import PRIOR_HELP, count_of, matrix, positions, prior, values
from extremal.errors import InvalidParameter
from extremal.privacy import LDP, LIP, PML, MaximalLeakage, MetricPrivacy, Notion
from extremal.sources import SourceClass
from extremal.utility import DIVERGENCES, UTILITIES, Divergence, NamedDivergence, PairwiseDivergence, Utility

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
        required: what is needed, when it cannot do without; else empty.
        default: the text that is read when the flag is not given; None: the argument is left out.
    """

    argument: str
    flag: str
    reads: Literal["number", "prior", "matrix", "source", "values", "positions"]
    help: str
    required: str = ""
    default: str | None = None


@dataclass(frozen=True)
class Choice:
    """A notion or a utility that can be asked for: its class, and what gives the arguments of its constructor."""

    kind: Callable[..., Any]
    options: tuple[Option, ...]


ANSWERS = "distribution of the answers"
PROMISED = "the prior that it promises under"

PRIVACIES = {
    "ldp": Choice(LDP, (Option("delta", "--delta", "number", "δ of (ε,δ)-LDP (default 0)", default="0"),)),
    "pml": Choice(PML, (Option("prior_or_class", "--prior", "prior", ANSWERS, PROMISED),)),
    "lip": Choice(
        LIP,
        (
            Option("prior", "--prior", "prior", ANSWERS, PROMISED),
            Option("lower", "--lower", "number", "lower level of asymmetric LIP, in nats (default: --epsilon)"),
        ),
    ),
    "maximal": Choice(MaximalLeakage, ()),
    "metric": Choice(
        MetricPrivacy,
        (Option("distances", "--metric", "matrix", "distances between inputs", "the distances between inputs"),),
    ),
}
"""The notions as the command line calls them."""

GOALS = {"frequencies": "Frequencies", "shares": "Frequencies", "cdf": "CDF", "ranges": "Ranges", "mean": "Mean"}
"""Goals of estimation as --goal names them: the utilities that are workloads."""

PAIR = tuple(
    Option(name, f"--{name}", "prior", f"{which} of two distributions to tell apart", "two distributions")
    for name, which in (("p0", "first"), ("p1", "second"))
)
LOSSES = Option("distances", "--distances", "matrix", "losses, a row for each input", "a matrix of losses")
SOURCE = Option("prior_or_class", "--prior", "source", ANSWERS, "a prior")
COUNTED = Option("prior", "--prior", "source", ANSWERS, "a prior or a number of inputs")
UP_TO = Option("thresholds", "--thresholds", "positions", "positions t of P(X ≤ t), for CDF; all if not given")
VALUES = Option("values", "--values", "values", "the number that each input stands for, for Mean", "values")

OPTIONS: dict[str, tuple[Option, ...]] = {
    "Distortion": (SOURCE, LOSSES),
    "Hamming": (SOURCE,),
    "MutualInformation": (Option("prior", "--prior", "prior", ANSWERS, "a prior"),),
    "Frequencies": (COUNTED,),
    "CDF": (COUNTED, UP_TO),
    "Ranges": (COUNTED,),
    "Mean": (VALUES, Option("prior", "--prior", "source", ANSWERS)),
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


def source(options: argparse.Namespace, missing: str) -> Any:
    """A class of sources: --source, --ball around --prior, the one --prior, or --k equally likely inputs."""
    k = options.k
    if options.prior is None and k is not None:
        options.prior = f"uniform:{count_of(k)}"
    if options.source == "any":
        return SourceClass.simplex(len(prior(options.prior, "--prior")) if options.prior else count_of(k))
    if options.source is not None:
        return SourceClass([prior(text.strip(), "--source") for text in options.source.split(";")])
    if options.prior is None:
        raise InvalidParameter(missing, parameter="--prior", value=None, hint=HINTS["source"].format("prior"))
    centre = prior(options.prior, "--prior")
    return centre if options.ball is None else SourceClass.ball(centre, options.ball)


def _arguments(who: str, wanted: Iterable[Option], options: argparse.Namespace) -> dict[str, Any]:
    """The arguments that a class asks for, by their names; those that are not given are left out."""
    found = {option.argument: _argument(who, option, options) for option in wanted}
    return {name: value for name, value in found.items() if value is not None}


def _argument(who: str, option: Option, options: argparse.Namespace) -> Any:
    """One argument, read as its option says; None if it is not given. What is missing is refused in its words."""
    missing = f"{who} needs {option.required}"
    if option.reads == "source":
        given = option.required or options.prior or options.source or options.k
        return source(options, missing) if given else None
    name = option.flag.removeprefix("--")
    text = getattr(options, name)
    if text is None and option.required:
        raise InvalidParameter(missing, parameter=option.flag, value=None, hint=HINTS[option.reads].format(name))
    text = option.default if text is None else text
    return None if text is None else READERS[option.reads](text, option.flag, options.k)


READERS: dict[str, Callable[[str, str, str | None], Any]] = {
    "number": lambda text, _flag, _k: text,
    "prior": lambda text, flag, _k: prior(text, flag),
    "matrix": lambda text, flag, _k: matrix(text, flag),
    "positions": lambda text, flag, _k: positions(text, flag),
    "values": values,
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
    verb.add_argument("--worst-case", action="store_true", help="with --hypotheses: the hardest pair, not the mean")


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
        how = {"prior": f": {PRIOR_HELP}" if flag == "--prior" else "", "matrix": ": a CSV or JSON file"}
        verb.add_argument(flag, metavar=METAVARS[option.reads], help=option.help + how.get(option.reads, ""))


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
