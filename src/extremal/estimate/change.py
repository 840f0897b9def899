"""The same people twice: how the shares changed, and who moved from which answer to which.

Reports of one person in two waves are dependent, because the answers are. With the two reports drawn independently
given the answers, the pair is a table of two questions (`estimate_crosstab`): the change of answer c is the linear
function Σ_{xz} (1{z = c} − 1{x = c}) p_xz of it, to which a pair contributes b¹_c(y₁) − b⁰_c(y₀). Its variance has the
covariance of the two waves in it, which a difference of two independent estimates has not.

A `Memory` repeats the stored report whatever the answer is now: repeated reports tell nothing about change, and are
refused where they can be recognised. Independent draws agree with probability at most c = max_{x,z} Σ_y Q₀(y|x)Q₁(y|z),
whatever the answers are.

That no share changed is tested by n·dᵀM⁻¹d, d the k − 1 changes and M the mean of what pairs contribute to ddᵀ: their
variance if there was none. With V the variance of d, that is w/(1 + w/n), w = dᵀV⁻¹d Wald's statistic; of open answers
it is McNemar's and Stuart's (1955; Maxwell 1970). Between clusters w itself has Hotelling's distribution, with the
degrees of freedom that clusters of their sizes are worth (`reports.degrees`).

References: Stuart, Biometrika 42 (1955); Maxwell, Brit. J. Psychiatry 116 (1970); van den Hout and van der Heijden,
Int. Statist. Rev. 70 (2002).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from extremal.columns.column import distinct, refuse_missing
from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.crosstab import column_in, estimate_crosstab
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.intervals.levels import each
from extremal.estimate.reports.sample import Sample
from extremal.estimate.results.crosstab import CrosstabEstimate
from extremal.estimate.results.functions import FunctionEstimate
from extremal.estimate.results.tabled import Tabled
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import Label, refuse_other_inputs

SURELY = 1e-9  # how likely independent reports are refused as repeated
CONDITION = 1e-12  # relative: changes whose covariance has a smaller eigenvalue cannot be told apart


@dataclass(frozen=True, eq=False)
class ChangeEstimate(Tabled):
    """Changes of shares between two waves of the same people, from `ex.estimate_change`.

    Attributes:
        inputs: the answers.
        table: joint shares of the answers before (rows) and after (columns).

    >>> import extremal as ex
    >>> m = ex.randomized_response(["no", "yes"], 20)
    >>> waves = {"before": ["no"] * 80 + ["yes"] * 20, "after": ["no"] * 70 + ["yes"] * 30}
    >>> found = ex.estimate_change(waves, "before", "after", m)
    >>> found.estimate.round(2).tolist(), bool(found.test())
    ([-0.1, 0.1], True)
    """

    inputs: tuple[Label, ...]
    table: CrosstabEstimate = field(repr=False)

    column = "change"

    @property
    def labels(self) -> tuple[Label, ...]:
        """The answers."""
        return self.inputs

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"change from {self.table.first.name} to {self.table.second.name}, the same people"

    @property
    def n(self) -> int:  # type: ignore[override]
        """Number of people."""
        return self.table.n

    @property
    def sample(self) -> str:
        """How the respondents were drawn, in a few words."""
        return self.table.sample

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers should know, in sentences."""
        return self.table.notes

    @cached_property
    def _changes(self) -> list[FunctionEstimate]:
        return [self.table.linear(_coefficients(len(self.inputs), c)) for c in range(len(self.inputs))]

    @property
    def estimate(self) -> Floats:
        """The share after less the share before, of each answer; unbiased."""
        return np.array([one.estimate for one in self._changes])

    @property
    def standard_error(self) -> Floats:
        """Of each change, with the covariance of the two waves."""
        return np.array([one.standard_error for one in self._changes])

    @property
    def covariance(self) -> Floats:
        """Of the changes."""
        size = len(self.inputs)
        return self.table.covariance_of([_coefficients(size, c) for c in range(size)])

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Floats:
        """Confidence limits, one row (low, high) for each answer; `simultaneous` by Bonferroni (of two answers one
        change is the other's opposite)."""
        count = len(self.inputs)
        of_each = each(level, count if simultaneous and count > 2 else 1)
        return np.array([one.interval(of_each) for one in self._changes])

    def transitions(self, level: float = 0.95) -> Any:
        """Who moved where: for each answer before, the shares of the answers after, with limits; a data frame."""
        return self.table.conditional(self.table.first.name, level)

    def test(self, alpha: float = 0.05) -> TestResult:
        """Test that no share changed; for large n (Stuart and Maxwell's test for open answers).

        >>> import extremal as ex
        >>> m = ex.randomized_response(2, 20)
        >>> round(ex.estimate_change({"a": [0, 1] * 50, "b": [1, 0] * 50}, "a", "b", m).test().p_value, 6)
        1.0
        """
        from scipy.special import chdtrc, fdtrc

        # Changes add up to zero: orthonormal contrasts of them treat all answers alike.
        contrasts = np.linalg.qr(np.eye(len(self.inputs))[:, 1:] - 1 / len(self.inputs))[0]
        d, degrees = contrasts.T @ self.estimate, self.table.degrees
        sizes, directions = np.linalg.eigh(contrasts.T @ self.covariance @ contrasts)
        kept = sizes > CONDITION * max(float(sizes[-1]), np.finfo(np.float64).tiny)
        moved = (directions[:, kept].T @ d) ** 2 / sizes[kept]
        freedom, statistic = int(np.count_nonzero(kept)), float(moved.sum())
        if not freedom:
            raise NotIdentified("the reports must vary", parameter="frame")
        if degrees is None:
            statistic /= 1 + statistic / self.table.effective_n
            p_value, method = float(chdtrc(freedom, statistic)), "limiting χ² distribution"
        else:
            number = max(degrees.number, float(freedom))
            left = number - freedom + 1  # Hotelling's distribution of a covariance of so many degrees
            p_value = float(fdtrc(freedom, left, degrees.seen * statistic * left / (number * freedom)))
            method = f"F on {freedom} and {left:.4g} degrees of freedom, between clusters"
        return TestResult("no share changed", statistic, freedom, p_value, alpha, method, self.n, self.sample)

    def _below(self) -> list[str]:
        return [f"Test that no share changed: p = {self.test().p_value:.4g}.", *super()._below()]

    def __repr__(self) -> str:
        return f"ChangeEstimate({len(self.inputs)} answers, n={self.n})"


def estimate_change(
    frame: Any,
    before: Any,
    after: Any,
    m0: Mechanism,
    m1: Mechanism | None = None,
    person: Any = None,
    *,
    sample: Sample | None = None,
) -> ChangeEstimate:
    """Estimate how shares changed between two waves of the same people, and who moved where.

    Guarantee: unbiased for every joint distribution of the two answers, if the two reports of a person were drawn
    independently given them. Standard errors have the covariance of the waves.

    Args:
        frame: a data frame (or a mapping from name to column) with a row for each person.
        before, after: the columns of reports of the first and the second wave.
        m0, m1: what made them; the same mechanism if m1 is not given. Both have the same inputs.
        person: the column that says who it is: nobody may occur twice.
        sample: an `ex.Sample`.

    Raises:
        NotIdentified: the second reports repeat the first, as a `Memory` makes them.

    Reference: A. Stuart, A test for homogeneity of the marginal distributions in a two-way classification, Biometrika
    42 (1955).

    >>> import extremal as ex
    >>> m = ex.randomized_response(["no", "yes"], 20)
    >>> waves = {"w1": ["no"] * 60 + ["yes"] * 40, "w2": ["no"] * 50 + ["yes"] * 50}
    >>> ex.estimate_change(waves, "w1", "w2", m).transitions()["shown"].round(2).tolist()
    [0.83, 0.17, 0.0, 1.0]
    """
    other = m0 if m1 is None else m1
    for name, mechanism in (("m0", m0), ("m1", other)):
        if not isinstance(mechanism, Mechanism):
            raise InvalidParameter(f"{name} must be a Mechanism", parameter=name, value=type(mechanism).__name__)
    refuse_other_inputs(other.inputs, m0.inputs, "m1.inputs")
    for name in (before, after):
        column_in(frame, name)  # what is no name cannot be compared
    if before == after:
        raise InvalidParameter("before and after must be different columns", parameter="after", value=after)
    table = estimate_crosstab(frame, {before: m0, after: other}, sample=sample)
    if person is not None:
        _refuse_twice(column_in(frame, person), table.n)
    _refuse_repeated(table if sample is None else estimate_crosstab(frame, {before: m0, after: other}), m0, other)
    return ChangeEstimate(m0.inputs, table)


def _refuse_twice(persons: Any, n: int) -> None:
    """Raise where somebody has two rows."""
    codes, _ = distinct(persons, "person")
    if codes.size != n:
        raise InvalidParameter(f"person must have {n} entries, one for each row", parameter="person", value=codes.size)
    refuse_missing(codes, "person", "Everybody has one.")
    if np.unique(codes).size < n:
        raise InvalidParameter(
            "a person must have one row",
            parameter="person",
            value=f"{n - np.unique(codes).size} more rows than persons",
            hint="Put both waves of a person into one row.",
        )


def _refuse_repeated(table: CrosstabEstimate, m0: Mechanism, m1: Mechanism) -> None:
    """Raise where reports agree more often than independent draws can; every person counts once in `table`."""
    from scipy.special import bdtrc

    if m0.hash != m1.hash or table.first.matrix is None or table.second.matrix is None:
        return
    same = round(table.n * float(np.trace(table.table)))
    most = float((table.first.matrix @ table.second.matrix.T).max())
    if same > 0 and most < 1 and bdtrc(same - 1, table.n, most) < SURELY:
        raise NotIdentified(
            "the two reports of a person must be drawn independently: these agree more often than that allows, as if "
            "the second repeated the first",
            parameter="reports that agree",
            value=f"{same} of {table.n}",
            hint="A Memory repeats reports, which tell nothing about change: ask the second wave with renew=True.",
        )


def _coefficients(k: int, c: int) -> Floats:
    """The change of answer c as a function of the joint shares."""
    one = np.eye(k)[c]
    return np.asarray(one[None, :] - one[:, None])
