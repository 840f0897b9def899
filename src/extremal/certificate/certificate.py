"""The certificate of a design: problem, mechanism, value, bound, and the proofs of the bound."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Protocol

from extremal.certificate.proof import Bound, Proof, fields_from_json, proof_from_json
from extremal.certificate.proofs.combined import ChosenPrior
from extremal.certificate.reading import list_from
from extremal.errors import MalformedFile
from extremal.exact.written import written_double
from extremal.mechanism import Mechanism
from extremal.mechanism.files import check_version, content_digest, refuse_changed, refuse_unknown_fields, to_json
from extremal.mechanism.files import from_json as mechanism_from_json
from extremal.mechanism.labels import Labels
from extremal.privacy import Notion
from extremal.problem import Goal, LossGoal, problem_of
from extremal.problem.reading import Written, can_be_written

FORMAT = "extremal-certificate"
VERSION = (1, 0)
_FIELDS = ("format", "version", "mechanism", "utility", "value", "bound", "worst_prior", "proofs")


class Statement(Protocol):
    """What states a goal: a utility, or what a file said."""

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a design claims, and why.

    Attributes:
        mechanism: the mechanism, with its privacy claim.
        utility: what was optimised; None in a file when it is a user's function.
        value: the utility of the mechanism, correct to the last digit but one.
        bound: no private mechanism is better than this (above for a utility, below for a cost).
        proofs: each proves a bound; the best of them reaches `bound`. Empty for a user's function.
        worst_prior: for a workload over a class of priors, where its cost is enclosed.
    """

    mechanism: Mechanism
    utility: Statement | None
    value: float
    bound: float
    proofs: tuple[Proof, ...] = ()
    worst_prior: ChosenPrior | None = None

    def to_json(self) -> dict[str, Any]:
        goal = None if self.utility is None else self.utility.to_json()
        content = {
            "format": FORMAT,
            "version": ".".join(map(str, VERSION)),
            "mechanism": to_json(self.mechanism),
            "utility": goal if goal is not None and can_be_written(goal) else None,
            "value": repr(self.value),
            "bound": repr(self.bound),
            "worst_prior": None if self.worst_prior is None else self.worst_prior.to_json(),
            "proofs": [proof.to_json() for proof in self.proofs],
        }
        return {**content, "hash": content_digest(content)}

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the certificate as JSON, atomically."""
        from extremal.mechanism.writing import write_once

        return write_once(Path(path), self.to_json(), overwrite)


def load_certificate(content: dict[str, Any], source: str) -> tuple[Certificate, Notion | None]:
    """The certificate in a parsed file, and the privacy claim of its mechanism, undecided.

    Raises:
        MalformedFile: not a certificate of this version, changed after it was written, or with a number that is none.
    """
    if not isinstance(content.get("mechanism"), dict):
        raise MalformedFile(f"{source} must be a certificate", parameter="format", value=content.get("format"))
    check_version(content, source, FORMAT, VERSION, "a certificate")
    refuse_changed(content)
    refuse_unknown_fields(content, _FIELDS, VERSION)
    mechanism, claim = mechanism_from_json(content["mechanism"], source)
    try:
        utility = None if content["utility"] is None else Written(content["utility"])
        outputs_of(problem_of(utility))
        value, bound = written_double(content["value"], "value"), written_double(content["bound"], "bound")
        worst = content["worst_prior"]
        worst_prior = None if worst is None else fields_from_json(ChosenPrior, worst)
        proofs = tuple(map(proof_from_json, list_from(content["proofs"])))
    except MalformedFile:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MalformedFile(
            f"{source} must have the fields of a certificate", parameter="field", value=str(error)[:120]
        ) from error
    return Certificate(mechanism, utility, value, bound, proofs, worst_prior), claim


def outputs_of(goal: Goal | None) -> Labels | None:
    """The labels that the columns of a distortion have in its file, if they have any."""
    named = isinstance(goal, LossGoal) and goal.outputs is not None
    return Labels.from_json(goal.outputs, "outputs", tuples=True) if isinstance(goal, LossGoal) and named else None


def is_certificate(content: dict[str, Any]) -> bool:
    return content.get("format") == FORMAT


def nearest_double(number: Bound) -> float:
    """The nearest double; infinite when there is none."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf
