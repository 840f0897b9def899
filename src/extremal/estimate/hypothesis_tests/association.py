"""Are two things independent when one or both are reported privately? Homogeneity of groups is the same question.

If X and Z are independent, so are their reports, whatever the mechanisms; and if the mechanisms identify the inputs, the
converse holds. So independence of the inputs is tested on the reports: with φ, ψ the scores of the two sides at their
fitted marginals, T = |Σ_i φ(Y_i)ψ(Z_i)ᵀ|²/n tends to χ² with dim φ · dim ψ degrees of freedom. For a public side the scores
are those of the identity, so that with as many outputs as inputs T is Pearson's statistic of the table of reports.
Noise costs power, never validity. The p-value is by permutation, which is valid at every n.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.columns import distinct
from extremal.errors import InvalidParameter, NotIdentified
from extremal.estimate.hypothesis_tests.features import scores
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.hypothesis_tests.reports import coded, column_of, significance
from extremal.estimate.hypothesis_tests.resampling import DRAWS, p_value
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

Codes = npt.NDArray[np.intp]


def test_homogeneity(
    reports: Any, mechanism: Mechanism, by: Any, alpha: float = 0.05, *, column: str | None = None, draws: int = DRAWS
) -> TestResult:
    """Test whether the groups or waves in `by` have the same distribution of the inputs.

    Args:
        reports: reports in any container, or a data frame.
        mechanism: what made all of them.
        by: the group of each report, a column of the same length; with a data frame the name of one.
        alpha: significance.
        column: the column of reports of a data frame.
        draws: how many permutations the p-value is based on.

    Guarantee: P(p_value ≤ α) ≤ α under the hypothesis, for every n and every α ≥ 1/(draws + 1): given the margins every
    table of reports is as likely as if one column were permuted.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 3)
    >>> bool(ex.test_homogeneity([0] * 300 + [1] * 300, m, ["a"] * 300 + ["b"] * 300))
    True
    """
    values = column_of(reports, column)
    groups = column_of(reports, by) if isinstance(by, str) else by
    return _associated(
        "the groups have the same distribution",
        (coded(values, mechanism), mechanism),
        (_public(groups), None),
        alpha,
        draws,
    )


def test_independence(frame: Any, columns: Mapping[str, Mechanism | None], alpha: float = 0.05, *, draws: int = DRAWS) -> TestResult:
    """Test whether two columns of a data frame are independent; each is privatised (its mechanism) or public (None).

    Args:
        frame: a data frame.
        columns: two columns, at least one with a mechanism.
        alpha: significance.
        draws: how many permutations the p-value is based on.

    Guarantee: as for `test_homogeneity`. A dependence that the mechanisms do not identify is not found.

    >>> import extremal as ex, pandas
    >>> m = ex.randomized_response(2, 3)
    >>> frame = pandas.DataFrame({"answer": [0, 1] * 200, "region": ["n", "s"] * 200})
    >>> bool(ex.test_independence(frame, {"answer": m, "region": None}))
    True
    """
    if len(columns) != 2 or all(m is None for m in columns.values()):
        raise InvalidParameter(
            "independence is tested between two columns, at least one of them with a mechanism",
            parameter="columns",
            value=list(columns),
            hint='{"answer": mechanism, "age": None}',
        )
    sides = [
        (_public(column_of(frame, name)), None) if m is None else (coded(column_of(frame, name), m), m)
        for name, m in columns.items()
    ]
    return _associated(f"{' and '.join(columns)} are independent", sides[0], sides[1], alpha, draws)


for _function in (test_homogeneity, test_independence):
    _function.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it


Side = tuple[Codes, Mechanism | None]


def _public(values: Any) -> Codes:
    codes, labels = distinct(values)
    if len(labels) < 2:
        raise InvalidParameter("there must be at least two groups", parameter="by", value=len(labels))
    return codes


def _side_scores(codes: Codes, mechanism: Mechanism | None) -> tuple[Floats, Floats]:
    """Scores at the observed marginal (projected to what the mechanism can give), and that marginal."""
    seen = np.bincount(codes, minlength=0 if mechanism is None else mechanism.m) / codes.size
    if mechanism is None:
        return scores(np.eye(seen.size), seen), seen
    basis = scores(mechanism.matrix, seen)
    if not basis.shape[0]:
        raise NotIdentified("the reports do not depend on the inputs", parameter="mechanism", value=mechanism)
    return basis, seen


def _associated(hypothesis: str, first: Side, second: Side, alpha: float, draws: int) -> TestResult:
    size = significance(alpha)
    if first[0].size != second[0].size:
        raise InvalidParameter(
            "both columns must have the same length", parameter="by", value=(first[0].size, second[0].size)
        )
    (left, p), (right, q) = (_side_scores(*side) for side in (first, second))
    n, freedom = first[0].size, left.shape[0] * right.shape[0]

    table = np.bincount(first[0] * q.size + second[0], minlength=p.size * q.size).reshape(p.size, q.size)
    observed = float(np.sum((left @ table @ right.T) ** 2) / n)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    kept = np.ix_(rows > 0, columns > 0)

    def draw(generator: np.random.Generator, count: int) -> Any:
        """Tables with the same margins: what permuting one of the columns gives."""
        from scipy.stats import random_table

        drawn = random_table.rvs(rows[rows > 0], columns[columns > 0], size=count, random_state=generator)
        inner = left[:, rows > 0] @ drawn @ right[:, columns > 0].T
        return np.sum(inner**2, axis=(1, 2)) / n

    smallest = n * float(p[p > 0].min()) * float(q[q > 0].min())
    if min(table[kept].shape) < 2:
        raise InvalidParameter("each column must take at least two values", parameter="columns", value=table[kept].shape)
    found, method = p_value(observed, draw, freedom, smallest, "permutations", draws)
    return TestResult(hypothesis, observed, freedom, found, size, method, n)
