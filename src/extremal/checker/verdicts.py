"""A whole file decided (§4): privacy, value and optimality, and the command line."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from extremal.checker.goals import Gain, Goal, StatisticsGoal, read_goal
from extremal.checker.grammar import LARGEST_FILE, Content, exactly, list_of, number, parsed, shown
from extremal.checker.mechanisms import MechanismFile, is_private, read_mechanism, require_format
from extremal.checker.notions import Notion
from extremal.checker.numbers import (
    INFINITE,
    Bound,
    Malformed,
    Rejected,
    Uncheckable,
    Undecided,
    Unsettled,
    Work,
    expect,
    settled,
)
from extremal.checker.proofs import Proof, bound, named_prior, read_proof
from extremal.checker.shuffles import FIELDS_OF_SHUFFLE, shuffle_claim
from extremal.checker.values import enclosed
from extremal.checker.worths import Enclosed

PROVED, REFUTED, NOT_PROVEN, NOTHING_CLAIMED = "proved", "refuted", "not proven", "nothing claimed"
NOT_HERE = "not decided here"
ACCEPTED, FALSE, MALFORMED, OPEN, DEFECT = 0, 1, 2, 3, 70  # exit codes


@dataclass(frozen=True)
class Decision:
    """What a file claims, what became of it, and why; which mechanism, by its hash, and whether it is a certificate."""

    privacy: str
    value: str
    optimality: str
    reasons: tuple[str, ...] = ()
    mechanism: str = ""
    certificate: bool = False

    @property
    def code(self) -> int:
        """0 everything claimed is proved, 1 something refuted, 3 nothing refuted but something not proven."""
        said = {self.privacy, self.value, self.optimality}
        if REFUTED in said:
            return FALSE
        return ACCEPTED if PROVED in said and said <= {PROVED, NOTHING_CLAIMED} else OPEN


FIELDS_OF_CERTIFICATE = {"format", "version", "mechanism", "utility", "value", "bound", "worst_prior", "proofs", "hash"}


def checked(text: bytes) -> Decision:
    """Decide every claim of a file: a mechanism, a certificate, or a claim about shuffled reports."""
    Work.spent = 0
    content = parsed(text)
    if content.get("format") == "extremal-certificate":
        found = checked_certificate(require_format(content, "extremal-certificate", FIELDS_OF_CERTIFICATE))
        return replace(found, mechanism=content["mechanism"]["hash"], certificate=True)
    if content.get("format") == "extremal-shuffled":
        return checked_shuffle(require_format(content, "extremal-shuffled", FIELDS_OF_SHUFFLE))
    mechanism = read_mechanism(content)
    privacy, why = decided_privacy(mechanism)
    return Decision(privacy, NOTHING_CLAIMED, NOTHING_CLAIMED, (why,), content["hash"])


def decided_privacy(mechanism: MechanismFile) -> tuple[str, str]:
    """Whether the notion that is claimed holds for the weights."""
    if mechanism.claim is None:
        return NOTHING_CLAIMED, "no privacy is claimed"
    try:
        holds = is_private(mechanism, mechanism.claim)
    except Uncheckable as error:
        return NOT_PROVEN, f"privacy: {error}"
    except Undecided as error:
        return NOT_HERE, f"privacy: {error}"
    return (PROVED, "the notion holds for the weights") if holds else (REFUTED, "the notion is false of the weights")


def checked_shuffle(content: Content) -> Decision:
    """A claim about shuffled reports; the local claim of the mechanism within must not be false either."""
    expect("rows_of_inputs" not in content, "no field that is not known")
    mechanism = read_mechanism(content["mechanism"])
    about = content["mechanism"]["hash"]
    local, why = decided_privacy(mechanism)
    if local == REFUTED:
        return Decision(REFUTED, NOTHING_CLAIMED, NOTHING_CLAIMED, (why,), about, True)
    try:
        holds, said = shuffle_claim(mechanism, content)
    except Undecided as error:
        return Decision(NOT_HERE, NOTHING_CLAIMED, NOTHING_CLAIMED, (f"shuffled reports: {error}",), about, True)
    return Decision(PROVED if holds else REFUTED, NOTHING_CLAIMED, NOTHING_CLAIMED, (said,), about, True)


def checked_certificate(content: Content) -> Decision:
    """Privacy, then value and optimality in the order of §4."""
    expect("rows_of_inputs" not in content, "no field that is not known")
    mechanism = read_mechanism(content["mechanism"])
    said = shown(content["value"]), shown(content["bound"])
    proofs = [read_proof(proof) for proof in list_of(lambda proof: proof)(content["proofs"])]
    worst = read_worst_prior(content["worst_prior"])
    goal = known_goal(content["utility"])
    privacy, why = decided_privacy(mechanism)
    if goal is None:
        return Decision(privacy, NOT_PROVEN, NOT_PROVEN, (why, "a user's function, which no file holds"))
    value, reached, how = decided_value(goal, mechanism, worst, said[0])
    try:
        optimality, because = decided_optimality(proofs, mechanism.claim, goal, reached, said)
    except Rejected as error:
        optimality, because = REFUTED, f"a proof is refused: {error}"
    except Undecided as error:
        optimality, because = NOT_HERE, f"optimality: {error}"
    if optimality == NOT_PROVEN and value == NOT_HERE:
        optimality = NOT_HERE
    return Decision(privacy, value, optimality, (why, how, because))


def known_goal(given: Any) -> Goal | None:
    """The goal; None for a user's function."""
    try:
        return None if given is None else read_goal(given)
    except Uncheckable:
        return None


def read_worst_prior(given: Any) -> tuple[list[Fraction], list[Fraction]] | None:
    """`null`, or the numbers that name a prior of a class."""
    if given is None:
        return None
    content = exactly(given, {"prior", "mix"}, "a worst prior")
    return list_of(number)(content["prior"]), list_of(number)(content["mix"])


def decided_value(goal: Goal, mechanism: MechanismFile, worst: Any, said: Bound) -> tuple[str, Enclosed | None, str]:
    """Whether the value is next to the true one, and what encloses that."""
    over_class = isinstance(goal, StatisticsGoal) and goal.source.only is None

    def question() -> tuple[str, Enclosed]:
        named = over_class and worst is not None and isinstance(goal, StatisticsGoal)
        p = named_prior(goal.source, *worst) if named and isinstance(goal, StatisticsGoal) else None
        reached = enclosed(goal, mechanism, p)
        return judged(said, reached, over_class), reached

    try:
        verdict, reached = settled(question)
    except (Uncheckable, Rejected) as error:
        return NOT_PROVEN, None, f"value: {error}"
    except Undecided as error:
        return NOT_HERE, None, f"value: {error}"
    between = "infinite" if isinstance(reached, float) else f"between {digits(reached.low)} and {digits(reached.high)}"
    return verdict, reached, f"the value is {between}"


def digits(x: Bound) -> str:
    """A number as it is printed; nothing is decided by it."""
    try:
        return repr(float(x))
    except OverflowError:
        return "a number beyond all doubles"


WIDEST = Fraction(1, 10**6)  # relative: of the enclosure of a cost over a class


def judged(value: Bound, reached: Enclosed, over_class: bool) -> str:
    """predecessor(value) < U(Q) < successor(value) among doubles, or both are +∞.

    Over a class of priors the enclosure may be wider than a double: the value is then next to its upper end.
    """
    if isinstance(reached, float) or isinstance(value, float):
        return PROVED if value == reached else REFUTED
    before, after = (neighbour(value, way) for way in (-INFINITE, INFINITE))
    if reached.high <= before or reached.low >= after:
        return REFUTED
    if before < reached.high < after and before < reached.low:
        return PROVED
    if not over_class:
        raise Unsettled
    close = reached.high - reached.low <= WIDEST * reached.low
    return PROVED if close and before < reached.high < after else NOT_PROVEN


def neighbour(value: Fraction, way: float) -> Bound:
    """The next double."""
    found = math.nextafter(float(value), way)
    return found if math.isinf(found) else Fraction(found)


def decided_optimality(
    proofs: Sequence[Proof], claim: Notion | None, goal: Goal, reached: Enclosed | None, said: tuple[Bound, Bound]
) -> tuple[str, str]:
    """Steps 3 to 7 of the order of checks; a cost is a utility with its sign turned."""
    is_cost = not isinstance(goal, Gain)
    sign = -1 if is_cost else 1
    value, best = sign * said[0], sign * said[1]
    reach = -INFINITE if reached is None else safe_end(reached, is_cost)
    if value > best or reach > best:
        return REFUTED, "the mechanism itself is better than the bound"
    if best == INFINITE or (is_cost and best >= 0):
        return PROVED, "nothing can be better than the bound"
    if reached is None or claim is None or not proofs:
        return NOT_PROVEN, "optimality: no value, no notion or no proof"
    return compared([sign * b for b in derived_bounds(proofs, claim, goal)], reach, best)


def compared(bounds: Sequence[Bound], reach: Bound, best: Bound) -> tuple[str, str]:
    """The best derived bound against what the mechanism reaches and against what is claimed."""
    least: Bound = min(bounds)
    if reach > least:
        return REFUTED, "the proofs contradict the mechanism"
    return PROVED if least <= best else REFUTED, f"the proofs reach {digits(least if least > 0 else -least)}"


def derived_bounds(proofs: Sequence[Proof], claim: Notion, goal: Goal) -> list[Bound]:
    """The bound of every proof. One that is refused counts before one that is not decided here."""
    found, left = [], None
    for proof in proofs:
        try:
            found.append(settled(lambda one=proof: bound(one, claim, goal)))  # type: ignore[misc]
        except Undecided as error:
            left = error
    if left is not None:
        raise left
    return found


def safe_end(reached: Enclosed, is_cost: bool) -> Bound:
    """What the mechanism is worth at least; a cost with its sign turned."""
    if isinstance(reached, float):
        return -reached if is_cost else reached
    return -reached.high if is_cost else reached.low


# -- the command line --


def outcome(path: str) -> tuple[int, str, Decision | None]:
    """The exit code of one file, a sentence where there is no verdict, and the verdict."""
    try:
        with Path(path).open("rb") as file:
            verdict = checked(file.read(LARGEST_FILE + 1))
    except Malformed as error:
        return MALFORMED, f"malformed: {error}", None
    except (Undecided, RecursionError, MemoryError) as error:
        return OPEN, f"{NOT_HERE}: {error}", None
    except OSError as error:
        return MALFORMED, f"cannot be read: {error.strerror}", None
    except Exception as error:  # a traceback would exit with 1, which says that a claim is false
        return DEFECT, f"a defect of this checker: {type(error).__name__}: {error}", None
    return verdict.code, "", verdict


def main(arguments: Sequence[str]) -> int:
    """Decide each file; the exit code is that of the worst one."""
    paths = [word for word in arguments if word not in ("--json", "--help", "--")]
    if not paths:
        sys.stdout.write(f"{__doc__}\n")
        return ACCEPTED if "--help" in arguments else MALFORMED
    found = [(path, *outcome(path)) for path in paths]
    show = as_line if "--json" in arguments else report
    sys.stdout.write("".join(itertools.starmap(show, found)))
    codes = {code for _, code, _, _ in found}
    if not belong([verdict for _, _, _, verdict in found]):
        sys.stderr.write("the certificate is about another mechanism, or another claim, than the mechanism file\n")
        codes.add(FALSE)
    return next(filter(codes.__contains__, (DEFECT, FALSE, MALFORMED, OPEN, ACCEPTED)))


def belong(verdicts: Sequence[Decision | None]) -> bool:
    """Whether two files, a mechanism and a certificate, are about the same mechanism and claim."""
    if len(verdicts) != 2 or verdicts[0] is None or verdicts[1] is None:
        return True
    alike = verdicts[0].certificate == verdicts[1].certificate
    return alike or verdicts[0].mechanism == verdicts[1].mechanism


def as_line(path: str, code: int, sentence: str, verdict: Decision | None) -> str:
    """One file as JSON, on one line."""
    words = {"file": path, "code": code, "reasons": [sentence], **(vars(verdict) if verdict else {})}
    return json.dumps(words, ensure_ascii=False) + "\n"


def report(path: str, _code: int, sentence: str, verdict: Decision | None) -> str:
    """What is printed of one file."""
    if verdict is None:
        return f"{path}: {sentence}\n"
    said = {"privacy": verdict.privacy, "value": verdict.value, "optimality": verdict.optimality}
    lines = [path, *(f"  {name:<12}{word}" for name, word in said.items()), *(f"    {r}" for r in verdict.reasons)]
    return "\n".join([*lines, ""])
