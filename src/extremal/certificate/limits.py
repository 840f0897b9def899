"""What checking a file may cost, decided before any work starts.

A file comes from a stranger, and a few bytes can ask for hours: orders, rays, matrices, pairs of rows. Each step has an
estimate of its work in units of about a microsecond, from sizes alone; what is above the allowance of the file is *not
proven*, "too large to check here", whether it is true or not. The allowance depends on the length of the file: for 10
seconds if it is small, for two minutes if not. What was made in this process has none: its owner can wait, or stop.
`docs/design/proofs.md`, section 9, has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from math import factorial, prod
from typing import Any

from extremal.certificate.arithmetic.enclosures import leaves_of
from extremal.certificate.arithmetic.workload_cost import MANY
from extremal.certificate.proof import TOO_LARGE, NotKnown, Proof, Value
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import Colourings, TwoValuedColumns
from extremal.mechanism.structures.unlisted import Unlisted
from extremal.problem import Coupled, Goal, LevelGoal, LossGoal, OverClass, Privacy, Pure, QuestionsGoal, WorkloadGoal
from extremal.sources import SourceClass

MOST_PROOFS = 64  # of a certificate, those within others included: a search writes a handful
SMALL_FILE = 10_000  # bytes
SMALL_WORK, LARGE_WORK = 5_000_000, 110_000_000  # units: half of 10 seconds, and less than two minutes
PER_COLUMN = 12  # units for the value of one column
PER_ENTRY = 4  # units for an entry of W where sets are counted
PER_STEP = 12  # steps of an inverse in balls in one unit
PER_SUM = 3000  # steps of sums over sets of many rows, in doubles, in one unit
PER_PRODUCT = 60  # steps of a product of matrices of whole numbers in one unit
PER_PAIR = 400  # entries of pairs of rows, in floats, in one unit
PER_PLANE = 50  # units for an inequality of a cone whose rays are found by double description
MOST_COUNTED, MOST_COUPLED = 20, 8  # inputs from which on a list of rays is refused, whatever it would cost
PER_SET, PER_LEVEL, LISTED = 30, 250_000, 7  # yes/no questions: sets of a few, a level of the recursion of more
MOST_VECTORS = 1 << 20  # of counts: more are refused, whatever they would cost
PASSES = 64  # over all pairs of rows, to find a level at a δ by bisection


class Allowance:
    """Units that may still be spent on a file; without a length, as many as it takes."""

    def __init__(self, length: int | None) -> None:
        self.left = None if length is None else SMALL_WORK if length <= SMALL_FILE else LARGE_WORK

    def affords(self, work: int) -> bool:
        """Whether so much is left; it stays."""
        return self.left is None or work <= self.left

    def spend(self, work: int, what: str) -> None:
        """Take it off.

        Raises:
            NotKnown: there is not so much left.
        """
        if not self.affords(work):
            raise NotKnown(f"{TOO_LARGE}: {what}", "steps", f"about 2^{work.bit_length() - 1}")
        self.left = None if self.left is None else self.left - work


def work_of_pairs(mechanism: Mechanism) -> int:
    """One look at all pairs of rows: what (ε,δ)-LDP is decided by."""
    return mechanism.row_classes**2 * mechanism.m // PER_PAIR


def work_of_value(goal: Goal, mechanism: Mechanism) -> int:
    """To enclose what a mechanism is worth."""
    rows, reports = mechanism.row_classes, mechanism.m
    if isinstance(goal, WorkloadGoal):
        if isinstance(mechanism.structure, Unlisted):  # sets are counted, never listed
            return PER_ENTRY * rows * rows
        if rows > MANY and isinstance(mechanism.structure, (Colourings, TwoValuedColumns)):
            return rows**3 // PER_PRODUCT + rows * rows * reports // PER_SUM
        return rows * rows * max(rows, min(reports, rows * rows)) // PER_STEP
    if isinstance(goal, (LossGoal, LevelGoal)):
        return PER_COLUMN * (reports + mechanism.k)
    if isinstance(goal, QuestionsGoal):  # from the coins of each question, however many records there are
        return PER_COLUMN * sum(goal.sizes)
    return PER_COLUMN * reports * len(leaves_of(goal)) + _pieces(mechanism)


def _pieces(mechanism: Mechanism) -> int:
    """Groups of rows in all columns together, where each column may have many."""
    stored = mechanism.structure
    runs = len(getattr(stored, "runs", ())) or (stored.r if stored.kind == "rows" else 2)
    return int(stored.m) * int(runs)


def proofs_within(proofs: tuple[Proof, ...]) -> Iterator[Value]:
    """The proofs and reasons of a certificate, with all that they hold."""
    for proof in proofs:
        yield proof
        held: list[Any] = [getattr(proof, f.name) for f in fields(proof)]
        parts = [v for value in held for v in (value if isinstance(value, tuple) else (value,)) if isinstance(v, Value)]
        yield from proofs_within(tuple(parts))  # type: ignore[arg-type]


def work_of_proofs(proofs: tuple[Proof, ...], privacy: Privacy, goal: Goal) -> int:
    """To derive the bounds of all proofs.

    Raises:
        NotKnown: there are too many.
    """
    values = list(proofs_within(proofs))
    if sum(isinstance(value, Proof) for value in values) > MOST_PROOFS:
        raise NotKnown(f"{TOO_LARGE}: a certificate has at most {MOST_PROOFS} proofs", "proofs", len(values))
    within = {id(getattr(value, "reason", None)) for value in values if value.kind == "truncated"}
    pure = Pure(privacy.ratio) if isinstance(privacy, Coupled) else privacy
    return sum(_work_of(value, pure if id(value) in within else privacy, goal) for value in values)


def _vertices(source: SourceClass) -> int:
    """About how many extreme priors a class has."""
    k = min(source.k, MOST_COUNTED)
    many = {"permutation_invariant": factorial(k), "ball": k << (k - 1), "simplex": k}
    return many.get(source.kind, len(source.priors))


def _work_of(value: Value, privacy: Privacy, goal: Goal) -> int:
    k = sum(goal.sizes) if isinstance(goal, QuestionsGoal) else goal.k  # a proof is about one question at a time
    sizes = {f.name: getattr(value, f.name) for f in fields(value)}
    leaves = 1 if goal.is_cost else len(leaves_of(goal))
    if value.kind == "listed":
        if sizes["revealed"]:
            return k * k * leaves
        if isinstance(goal, WorkloadGoal) and isinstance(privacy, Pure):
            return 0  # by vectors of counts, with `squares`
        if isinstance(privacy, OverClass):
            return _vertices(privacy.source) * k * PER_PLANE + (k * leaves << min(k, MOST_COUNTED))
        rays = 2 * 6 ** min(k, MOST_COUPLED) if isinstance(privacy, Coupled) else 1 << min(k, MOST_COUNTED)
        return int(rays * k * leaves)
    if value.kind == "chords":
        longest = max((n.denominator.bit_length() for n in sizes["nodes"]), default=0)
        cells = sum(map(len, sizes["trees"]))
        return int(len(sizes["nodes"]) * k * (64 + longest) // 256 + cells * k * 10)
    if value.kind == "order":
        return int(len(sizes["ends"]) ** 2 * 3)
    if value.kind == "concave":
        return int(len(sizes["lines"]) * k * 10)
    if value.kind == "sets":
        return sum(map(len, sizes["trees"])) * 1000
    if value.kind in ("agreements", "yes-no"):
        return _work_of_questions(value.kind, sizes, k * k if isinstance(goal, WorkloadGoal) else 0)
    if value.kind == "squares" and isinstance(goal, (WorkloadGoal, QuestionsGoal)):
        listed = isinstance(privacy, Pure) and sizes["dual"].reason.kind == "listed"
        listed = listed or sizes["dual"].reason.kind == "truncated"
        return _work_of_classes(sizes["merged"] or range(k), sizes["classes"], listed)
    return k**3 // PER_PRODUCT if value.kind == "matrix" else 0


def _work_of_questions(kind: str, sizes: dict[str, Any], entries: int) -> int:
    """Entries of a matrix that are compared, sets that are listed or levels of the recursion, or numbers."""
    asked = len(sizes["sizes"])
    if kind == "agreements":
        return entries // PER_PRODUCT + len(sizes["numbers"]) * PER_PLANE
    return int(entries // PER_PRODUCT + (PER_SET * 4**asked if asked <= LISTED else PER_LEVEL * asked))


def _work_of_classes(groups: Sequence[int], classes: Sequence[int], listed: bool) -> int:
    """Products of matrices between classes of inputs, and the vectors of how many inputs of each class are high."""
    members = Counter(classes) if classes else Counter(set(groups))
    vectors = prod(n + 1 for n in members.values()) if listed else 0
    return len(members) ** 3 // PER_PRODUCT + len(groups) ** 2 + (vectors <= MOST_VECTORS) * vectors * len(members)
