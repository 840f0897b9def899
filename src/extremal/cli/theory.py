"""`extremal theory …`: thresholds, bounds and regions of the papers, for distributions or saved mechanisms."""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable
from typing import Any

from extremal import theory
from extremal.cli.choices import add_utility_arguments, utility
from extremal.cli.printing import add_printing, drawn, plain, said
from extremal.cli.reading import PRIOR_HELP, prior
from extremal.errors import InvalidParameter
from extremal.exact import as_fraction
from extremal.mechanism import Mechanism, load
from extremal.privacy import LDP

DONE, FALSE = 0, 1
MOST_TIMES = 10_000  # of one report; ε is far above what anyone promises long before

EPILOG = """\
examples:
  extremal theory thresholds --p0 0.5,0.3,0.2 --p1 0.1,0.2,0.7 --utility KL
  extremal theory converses --prior 0.5,0.3,0.2 --epsilon 1 --plot bounds.png
  extremal theory region a.json b.json --plot regions.png
  extremal theory dominates a.json b.json      (exit code 1 when it does not)
  extremal theory shuffled a.json --n 1000000 --delta 1e-8 --claim central.json
  extremal theory shuffle-target --n 1000000 --epsilon 0.008634222 --utility Frequencies --k 100
  extremal theory profile a.json
  extremal theory compose a.json b.json --delta 1e-6
"""


def add_to(verbs: Any) -> None:
    """The verb and its questions."""
    verb = verbs.add_parser(
        "theory",
        help="thresholds, converses, error regions, dominance, composition",
        description=__doc__,
        epilog=EPILOG,
    )
    questions = verb.add_subparsers(title="questions", metavar="QUESTION", required=True)
    for name, (run, explain, arguments) in QUESTIONS.items():
        question = questions.add_parser(name, help=explain, description=explain)
        arguments(question)
        add_printing(question, plot="draw it" if name in DRAWN else "", overwrite=name in (*DRAWN, "shuffle-target"))
        question.set_defaults(run=run)


def _thresholds(options: argparse.Namespace) -> int:
    found = theory.thresholds(_goal(options))
    content: dict[str, Any] = {"utility": found.goal, "binary_up_to": found.binary, "response_from": found.response}
    if found.universal is not None:
        content["universal"] = found.universal
    content |= {"binary_ranges": found.binary.ranges, "response_ranges": found.response.ranges}
    return _told(options, content, str(found))


def _converses(options: argparse.Namespace) -> int:
    table = theory.converses(_goal(options), options.epsilon, slack=float(options.slack))
    drawn(options, table.plot)
    content = {"epsilon": table.epsilon, "optimum": table.optimum, "bounds": [vars(bound) for bound in table.bounds]}
    return _told(options, content, str(table))


def _region(options: argparse.Namespace) -> int:
    regions = _regions(options)
    first, *others = regions.values()
    drawn(options, lambda: first.plot(*others, labels=list(regions)))
    lines = []
    for name, region in regions.items():
        corners = "  ".join(f"({a:.6g}, {b:.6g})" for a, b in region.lower)
        lines.append(f"{name}\n  (missed, false alarm): {corners}")
    for (name, outer), (other, inner) in itertools.permutations(regions.items(), 2):
        lines += [f"{name} contains {other}"] if outer.contains(inner) else []
    return _told(options, {name: region.vertices for name, region in regions.items()}, "\n".join(lines))


def _regions(options: argparse.Namespace) -> dict[str, theory.ErrorRegion]:
    """Those of the mechanisms, by their files, and that of --epsilon."""
    pair = () if options.p0 is None else (prior(options.p0, "--p0"), prior(options.p1 or "", "--p1"))
    regions: dict[str, theory.ErrorRegion] = {
        path: theory.error_region(_mechanism(path), *pair) for path in options.mechanisms
    }
    if options.epsilon is not None:
        allowed = theory.error_region_of(options.epsilon, options.delta)
        regions[str(allowed)] = allowed
    if not regions:
        raise InvalidParameter(
            "a region needs a mechanism or --epsilon", parameter="mechanisms", value=options.mechanisms
        )
    return regions


def _dominates(options: argparse.Namespace) -> int:
    found = theory.dominates(_mechanism(options.first), _mechanism(options.second))
    content: dict[str, Any] = {"dominates": bool(found), "exact": found.exact if found else None}
    text = f"{options.first} {str(found).replace('dominate:', f'dominate {options.second}:')} with the second"
    if found.map is not None:
        content |= {"deficiency": float(found.deficiency or 0), "map": found.map.matrix.tolist()}
        text = f"{options.first} {str(found).replace('dominates', f'dominates {options.second}')}; by\n{found.map}"
    elif found.test is not None:
        content |= {"margin": found.test.margin, "gain": [[float(g) for g in row] for row in found.test.gain]}
    _told(options, content, text)
    return DONE if found else FALSE


def _profile(options: argparse.Namespace) -> int:
    profiles = [theory.privacy_profile(_mechanism(path)) for path in options.mechanisms]
    drawn(options, lambda: profiles[0].plot(*profiles[1:], labels=options.mechanisms))
    named = list(zip(options.mechanisms, profiles, strict=True))
    content = {path: {"epsilon": p.grid(), "delta": [p.delta(e) for e in p.grid()]} for path, p in named}
    return _told(options, content, "\n\n".join(f"{path}\n{profile}" for path, profile in named))


def _compose(options: argparse.Namespace) -> int:
    if not 1 <= options.times <= MOST_TIMES:
        raise InvalidParameter(
            f"a report is sent from 1 to {MOST_TIMES:,} times", parameter="--times", value=options.times
        )
    several = [_mechanism(path) for path in options.mechanisms] * options.times
    level = theory.composed_level(several, options.delta)
    alone = [LDP(0, 0).level(m) for m in several]
    text = (
        f"{len(several)} reports about one value: ε = {level:.10g} at δ = {options.delta}\n"
        f"the levels of the reports add up to {math.fsum(alone):.10g}"
    )
    return _told(options, {"epsilon": level, "delta": options.delta, "sum_of_levels": math.fsum(alone)}, text)


def _exponent(options: argparse.Namespace) -> int:
    pair = [prior(_given(getattr(options, side), f"--{side}"), f"--{side}") for side in ("p0", "p1")]
    found = theory.error_exponent(_mechanism(options.mechanism), *pair)
    return _told(options, vars(found) | {"efficiency": found.efficiency}, str(found))


def _staircase(options: argparse.Namespace) -> int:
    found = theory.staircase_weights(_mechanism(options.mechanism), options.epsilon)
    return _told(options, {"epsilon": found.epsilon, "patterns": found.indices, "theta": found.theta}, str(found))


def _shuffled(options: argparse.Namespace) -> int:
    files = [load(path) for path in options.files]
    asked = files[0] if len(files) == 1 else {path: _mechanism(path) for path in options.files}
    found = theory.shuffled(getattr(asked, "mechanism", asked), _count(options.n, "--n"))
    low, high = found.epsilon(options.delta)
    drawn(options, found.plot)
    written = None
    if options.claim:
        written = str(found.claim(options.delta).save(options.claim, options.overwrite))
    content = {
        "n": found.n,
        "delta": options.delta,
        "epsilon": [low, high],
        "local": found.local,
        "generic": found.generic(options.delta),
        "claim": written,
    }
    return _told(
        options, content, "\n".join([found.summary(options.delta), *([f"written: {written}"] if written else [])])
    )


def _shuffle_target(options: argparse.Namespace) -> int:
    goal = utility(options, options.utility or "Frequencies")
    found = theory.epsilon_for_shuffle(_count(options.n, "--n"), options.epsilon, options.delta, goal)
    if options.save:
        found.mechanism.save(options.save, overwrite=options.overwrite)
    content = {
        "n": options.n,
        "epsilon": options.epsilon,
        "delta": options.delta,
        "candidates": [{"name": c.name, "local": c.epsilon, "value": c.value} for c in found.candidates],
        "least": found.least,
    }
    return _told(options, content, found.summary())


# -- arguments


def _goal_arguments(question: argparse.ArgumentParser) -> None:
    add_utility_arguments(question, several=False)


def _converse_arguments(question: argparse.ArgumentParser) -> None:
    _goal_arguments(question)
    question.add_argument("--epsilon", required=True, help="privacy level in nats")
    question.add_argument("--slack", default="0.1", help="δ of statements for ε small or large enough (default 0.1)")


def _region_arguments(question: argparse.ArgumentParser) -> None:
    question.add_argument("mechanisms", nargs="*", metavar="FILE", help="saved mechanisms")
    question.add_argument("--p0", metavar="P", help=f"hypotheses other than the two inputs: {PRIOR_HELP}")
    question.add_argument("--p1", metavar="P")
    question.add_argument("--epsilon", help="also the region that (ε,δ)-LDP allows")
    question.add_argument("--delta", default="0")


def _pair_arguments(question: argparse.ArgumentParser) -> None:
    question.add_argument("first", metavar="FILE")
    question.add_argument("second", metavar="FILE")


def _several_arguments(question: argparse.ArgumentParser) -> None:
    question.add_argument("mechanisms", nargs="+", metavar="FILE", help="saved mechanisms")


def _compose_arguments(question: argparse.ArgumentParser) -> None:
    question.add_argument("mechanisms", nargs="+", metavar="FILE", help="saved mechanisms with the same inputs")
    question.add_argument("--times", type=int, default=1, help="how often each report is sent (default 1)")
    question.add_argument("--delta", default="0", help="δ of the composition (default 0)")


def _exponent_arguments(question: argparse.ArgumentParser) -> None:
    question.add_argument("mechanism", metavar="FILE")
    question.add_argument("--p0", metavar="P", help=f"first hypothesis: {PRIOR_HELP}")
    question.add_argument("--p1", metavar="P", help="second hypothesis")


def _staircase_arguments(question: argparse.ArgumentParser) -> None:
    question.add_argument("mechanism", metavar="FILE")
    question.add_argument("--epsilon", help="ε of the patterns; that of the claim if not given")


def _shuffled_arguments(question: argparse.ArgumentParser) -> None:
    question.add_argument(
        "files", nargs="+", metavar="FILE", help="a mechanism or a questionnaire; or several mechanisms"
    )
    question.add_argument("--n", required=True, help="how many people report")
    question.add_argument("--delta", default="1e-8", help="δ of the central guarantee (default 1e-8)")
    question.add_argument(
        "--claim", metavar="FILE", help="write the guarantee as a file that `extremal verify` decides"
    )


def _target_arguments(question: argparse.ArgumentParser) -> None:
    _goal_arguments(question)
    question.add_argument("--n", required=True, help="how many people report")
    question.add_argument("--epsilon", required=True, help="ε of the central guarantee")
    question.add_argument("--delta", default="1e-8", help="δ of the central guarantee (default 1e-8)")
    question.add_argument("--save", metavar="FILE", help="write the best mechanism")


Question = tuple[Callable[[argparse.Namespace], int], str, Callable[[argparse.ArgumentParser], None]]

QUESTIONS: dict[str, Question] = {
    "thresholds": (
        _thresholds,
        "up to which ε one bit is optimal, and from which ε randomised response is",
        _goal_arguments,
    ),
    "converses": (_converses, "every upper bound on what ε-LDP leaves, next to the optimum", _converse_arguments),
    "region": (_region, "error regions of mechanisms and notions, and which contains which", _region_arguments),
    "dominates": (_dominates, "whether one mechanism can imitate another", _pair_arguments),
    "profile": (_profile, "the smallest δ at every ε", _several_arguments),
    "compose": (_compose, "the level of several reports about one value", _compose_arguments),
    "exponent": (_exponent, "how fast the errors of a test vanish", _exponent_arguments),
    "shuffled": (_shuffled, "the central guarantee of n shuffled reports", _shuffled_arguments),
    "shuffle-target": (_shuffle_target, "find the local mechanism for a central guarantee", _target_arguments),
    "staircase": (_staircase, "the weights of a staircase mechanism", _staircase_arguments),
}
"""Question → what answers it, its help, its arguments."""
DRAWN = ("converses", "region", "profile", "shuffled")


# -- reading and saying


def _goal(options: argparse.Namespace) -> Any:
    name = options.utility or ("MutualInformation" if options.prior is not None else "KL")
    return utility(options, name)


def _mechanism(path: str) -> Mechanism:
    found = load(path)
    made = getattr(found, "mechanism", found)
    if not isinstance(made, Mechanism):
        raise InvalidParameter("the file must hold a mechanism or a design", parameter="FILE", value=path)
    return made


def _count(text: str, parameter: str) -> int:
    """A number of people as typed: 1000000, 1_000_000 or 1e6."""
    number = as_fraction(text.replace("_", "").replace(",", ""), parameter)
    if number.denominator != 1:
        raise InvalidParameter("a whole number is needed", parameter=parameter, value=text)
    return int(number)


def _given(text: str | None, parameter: str) -> str:
    if text is None:
        raise InvalidParameter("a distribution is needed", parameter=parameter, value=None, hint="0.5,0.3,0.2")
    return text


def _told(options: argparse.Namespace, content: dict[str, Any], text: str) -> int:
    return said(options, plain(content, str), text)
