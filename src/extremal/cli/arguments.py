"""What several verbs read from the command line: priors, utilities, where a picture goes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from extremal.errors import InvalidParameter
from extremal.privacy import LDP, LIP, PML, MetricPrivacy, Notion
from extremal.utility import DIVERGENCES, Distortion, Hamming, MutualInformation, Utility

PRIOR_HELP = (
    "comma-separated probabilities (0.5,0.3,0.2 or 1/3,1/3,1/3), uniform:K, or @FILE with a JSON list or one "
    "number a line"
)
UTILITIES = (*DIVERGENCES, "MutualInformation", "Hamming")


def prior(text: str, parameter: str) -> list[Any]:
    """A prior as typed: the numbers stay strings, so that they are read as the decimals they are."""
    if text.startswith("uniform:"):
        count = text.removeprefix("uniform:")
        if not count.isdecimal() or int(count) < 2:
            raise InvalidParameter(f"{parameter} must be uniform:K with K at least 2", parameter=parameter, value=text)
        return [f"1/{int(count)}"] * int(count)
    if text.startswith("@"):
        content = Path(text[1:]).read_text(encoding="utf-8")
        if content.lstrip().startswith("["):
            return [str(p) for p in json.loads(content, parse_float=str)]
        return content.replace(",", " ").split()
    return [part.strip() for part in text.split(",")]


def add_privacy_arguments(verb: argparse.ArgumentParser) -> None:
    """--privacy, --epsilon, --delta, --lower; the prior of PML and LIP is --prior."""
    verb.add_argument("--privacy", choices=tuple(PRIVACIES), default="ldp", help="privacy notion (default ldp)")
    verb.add_argument("--epsilon", help="privacy level in nats")
    verb.add_argument("--delta", default="0", help="δ of (ε,δ)-LDP (default 0)")
    verb.add_argument("--lower", help="the other side of asymmetric lip, in nats")


def _with_prior(options: argparse.Namespace) -> list[Any]:
    if options.prior is None:
        raise InvalidParameter(
            f"{options.privacy} needs the prior that it promises under", parameter="--prior", value=None
        )
    return prior(options.prior, "--prior")


def _with_metric(options: argparse.Namespace) -> list[list[float]]:
    from extremal.cli.distortion import matrix

    if getattr(options, "metric", None) is None:
        raise InvalidParameter("metric privacy needs the distances between inputs", parameter="--metric", value=None)
    return matrix(options.metric, "--metric")


PRIVACIES: dict[str, Callable[[argparse.Namespace], Notion]] = {
    "ldp": lambda options: LDP(options.epsilon, options.delta),
    "pml": lambda options: PML(options.epsilon, _with_prior(options)),
    "lip": lambda options: LIP(options.epsilon, _with_prior(options), options.lower),
    "metric": lambda options: MetricPrivacy(options.epsilon, _with_metric(options)),
}
"""Privacy notions that the command line can name, with how each is read from the options."""


def privacy(options: argparse.Namespace) -> Notion:
    """The notion asked for on the command line."""
    if options.epsilon is None:
        raise InvalidParameter("a privacy level is needed", parameter="--epsilon", value=None, hint="Give --epsilon 1.")
    return PRIVACIES[options.privacy](options)


def add_utility_arguments(verb: argparse.ArgumentParser, several: bool) -> None:
    """--prior, --p0, --p1, --utility and the parameters of the divergences that have one."""
    verb.add_argument("--prior", metavar="P", help=f"distribution of the answers: {PRIOR_HELP}")
    verb.add_argument("--p0", metavar="P", help="first of two distributions to tell apart")
    verb.add_argument("--p1", metavar="P", help="second of two distributions to tell apart")
    choices = UTILITIES if several else (*UTILITIES, "Distortion")
    verb.add_argument(
        "--utility",
        action="append" if several else "store",
        choices=choices,
        metavar="NAME",
        help=f"what is wanted{' (may be repeated)' if several else ''}: {', '.join(choices)}",
    )
    verb.add_argument("--alpha", default="2", help="parameter of AlphaDivergence (default 2)")
    verb.add_argument("--gamma", default="1", help="parameter of HockeyStick (default 1)")


def utility(name: str, options: argparse.Namespace) -> Utility:
    """The named utility with the priors given on the command line."""
    if name in DIVERGENCES:
        if options.p0 is None or options.p1 is None:
            raise InvalidParameter(
                f"{name} needs two distributions", parameter="--p0, --p1", value=(options.p0, options.p1)
            )
        extra = {"AlphaDivergence": {"alpha": options.alpha}, "HockeyStick": {"gamma": options.gamma}}.get(name, {})
        return DIVERGENCES[name](prior(options.p0, "--p0"), prior(options.p1, "--p1"), **extra)
    if name in ("Hamming", "Distortion"):
        return _distortion(name, options)
    if options.prior is None:
        raise InvalidParameter(
            f"{name} needs a prior", parameter="--prior", value=None, hint="Give --prior 0.5,0.3,0.2."
        )
    return MutualInformation(prior(options.prior, "--prior"))


def _distortion(name: str, options: argparse.Namespace) -> Utility:
    from extremal.cli import distortion

    options = argparse.Namespace(**{"source": None, "ball": None, "distances": None, **vars(options)})
    if options.prior is None and options.source is None:
        raise InvalidParameter(
            f"{name} needs a prior", parameter="--prior", value=None, hint="Give --prior 0.5,0.3,0.2."
        )
    source = distortion.source(options)
    if name == "Hamming":
        return Hamming(source)
    if options.distances is None:
        raise InvalidParameter(
            "Distortion needs a matrix of losses", parameter="--distances", value=None, hint="Give a CSV or JSON file."
        )
    return Distortion(source, distortion.matrix(options.distances, "--distances"))
