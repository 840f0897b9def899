"""What checking a file may cost, decided before any work starts.

A file comes from a stranger, and a few bytes can ask for hours: orders, rays, matrices, pairs of rows. Each step has an
estimate of its work in units of about a microsecond, from sizes alone; what is above the allowance of the file is *not
proven*, "too large to check here", whether it is true or not. The allowance depends on the length of the file: for 10
seconds if it is small, for two minutes if not. What was made in this process has none: its owner can wait, or stop.
`docs/design/proofs.md`, section 9, has the table.
"""

from __future__ import annotations

from extremal.certificate.arithmetic.enclosures import leaves_of
from extremal.certificate.arithmetic.workload_cost import MANY
from extremal.certificate.proof import TOO_LARGE, NotKnown, Proof, Value
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import Colourings, TwoValuedColumns
from extremal.mechanism.structures.unlisted import Unlisted
from extremal.problem import (
    Coupled,
    Goal,
    LevelGoal,
    LossGoal,
    OverClass,
    Privacy,
    QuestionsGoal,
    TablesGoal,
    WorkloadGoal,
)

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
    if isinstance(goal, TablesGoal):  # of each assignment every pair that it asks
        asked = [len(one.asked) for one in getattr(mechanism.structure, "assignments", ())]
        return PER_COLUMN * sum(n * n for n in (len(goal.sizes), *asked))
    return PER_COLUMN * reports * len(leaves_of(goal)) + _pieces(mechanism)


def _pieces(mechanism: Mechanism) -> int:
    """Groups of rows in all columns together, where each column may have many."""
    stored = mechanism.structure
    runs = len(getattr(stored, "runs", ())) or (stored.r if stored.kind == "rows" else 2)
    return int(stored.m) * int(runs)


def work_of_proofs(proofs: tuple[Proof, ...], privacy: Privacy, goal: Goal) -> int:
    """To derive the bounds of all proofs.

    Raises:
        NotKnown: there are too many.
    """
    if sum(map(_proofs_in, proofs)) > MOST_PROOFS:
        raise NotKnown(f"{TOO_LARGE}: a certificate has at most {MOST_PROOFS} proofs", "proofs", len(proofs))
    return sum(proof.work(privacy, goal) for proof in proofs)


def _proofs_in(value: Value) -> int:
    """How many proofs it is and holds."""
    return isinstance(value, Proof) + sum(map(_proofs_in, value.parts()))


def width_of(goal: Goal) -> int:
    """Inputs that a proof has numbers for: of questions, whose proofs are about one at a time, all answers."""
    return sum(goal.sizes) if isinstance(goal, QuestionsGoal | TablesGoal) else goal.k


def work_of_rays(privacy: Privacy, goal: Goal, groups: int = 0) -> int:
    """To list the extreme rays of a notion's cone, and the worth of each; of so many groups where inputs are merged."""
    k, leaves = groups or width_of(goal), leaves_in(goal)
    if isinstance(privacy, OverClass) and privacy.source.least_share(()) is not None:
        return int(3 ** min(k, MOST_COUNTED) * k * leaves)
    if isinstance(privacy, OverClass):
        return max(k, len(privacy.source.priors)) * k * PER_PLANE + (k * leaves << min(k, MOST_COUNTED))
    rays = 2 * 6 ** min(k, MOST_COUPLED) if isinstance(privacy, Coupled) else 1 << min(k, MOST_COUNTED)
    return int(rays * k * leaves)


def leaves_in(goal: Goal) -> int:
    """Divergences and informations that a column is valued by."""
    return 1 if goal.is_cost else len(leaves_of(goal))


def work_of_matrix(k: int) -> int:
    """To multiply matrices of k rows."""
    return k**3 // PER_PRODUCT


def work_of_entries(goal: Goal) -> int:
    """To compare the matrix of a workload, entry by entry."""
    return goal.k**2 // PER_PRODUCT if isinstance(goal, WorkloadGoal) else 0
