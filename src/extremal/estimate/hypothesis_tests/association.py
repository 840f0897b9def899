"""Are two things independent when one or both are reported privately? Homogeneity of groups is the same question.

If X and Z are independent, so are their reports, whatever the mechanisms; and if the mechanisms identify the inputs,
the converse holds. So independence of the inputs is tested on the reports: with φ, ψ the scores of the two sides at the
observed marginals, T = |Σ_i φ(Y_i)ψ(Z_i)ᵀ|²/n tends to χ² with dim φ · dim ψ degrees of freedom. A public side, and one
whose mechanism is square and invertible, has every function of mean zero for a score: with two such sides T is
Pearson's statistic of the table of reports. Noise costs power, never validity. The p-value is by permutation, which is
valid at every n.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.hypothesis_tests.features import Scores
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.hypothesis_tests.reports import Counts, counted, crossed, refuse_no_mechanism, significance
from extremal.estimate.hypothesis_tests.resampling import DRAWS, as_draws, p_value
from extremal.estimate.reports.tally import Reports
from extremal.mechanism import Mechanism


def test_homogeneity(
    reports: Any,
    mechanism: Mechanism,
    by: Any,
    alpha: float = 0.05,
    *,
    column: str | None = None,
    draws: int = DRAWS,
    check_hash: bool = True,
) -> TestResult:
    """Test whether the groups or waves in `by` have the same distribution of the inputs.

    Args:
        reports: as for `estimate_frequencies`: any container, a data frame, a file.
        mechanism: what made all of them.
        by: the group of each report, a column of the same length; with a data frame or file its name, or several names.
        alpha: significance.
        column: the column of reports of a data frame or file.
        draws: how many permutations the p-value is based on.
        check_hash: refuse a file that does not record this mechanism's hash.

    Guarantee: P(p_value ≤ α) ≤ α under the hypothesis, for every n and every α ≥ 1/(draws + 1): given the margins every
    table of reports is as likely as if one column were permuted.

    Raises:
        NotIdentified: the reports do not depend on the inputs.

    Reference: R. A. Fisher (1935), on permutation tests.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 3)
    >>> bool(ex.test_homogeneity([0] * 300 + [1] * 300, m, ["a"] * 300 + ["b"] * 300))
    True
    """
    size = significance(alpha)
    number = as_draws(draws, size)
    if by is None:
        raise InvalidParameter("by must give the group of each report", parameter="by", value=None)
    table = counted(Reports(reports, mechanism, column, by, check_hash=check_hash))
    return _associated("the groups have the same distribution", table.T, (mechanism, None), "by", size, number)


def test_independence(
    frame: Any,
    columns: Mapping[str, Mechanism | None],
    alpha: float = 0.05,
    *,
    draws: int = DRAWS,
    check_hash: bool = True,
) -> TestResult:
    """Test whether two columns of a data frame are independent; each is privatised (its mechanism) or public (None).

    Args:
        frame: a data frame, or the path of a file (or a list of `Path`s).
        columns: two columns, at least one with a mechanism.
        alpha: significance.
        draws: how many permutations the p-value is based on.
        check_hash: refuse a file that does not record the mechanisms' hashes.

    Guarantee: as for `test_homogeneity`. A dependence that the mechanisms do not identify is not found.

    Raises:
        NotIdentified: the reports of one column do not depend on its inputs.

    Reference: docs/estimate/hypothesis_tests.md states the statistic and its distribution.

    >>> import extremal as ex, pandas
    >>> m = ex.randomized_response(2, 3)
    >>> frame = pandas.DataFrame({"answer": [0, 1] * 200, "region": ["n", "s"] * 200})
    >>> bool(ex.test_independence(frame, {"answer": m, "region": None}))
    True
    """
    size = significance(alpha)
    number = as_draws(draws, size)
    if not isinstance(columns, Mapping) or len(columns) != 2 or all(m is None for m in columns.values()):
        raise InvalidParameter(
            "independence is tested between two columns, at least one of them with a mechanism",
            parameter="columns",
            value=list(columns) if isinstance(columns, Mapping) else type(columns).__name__,
            hint='Give {"answer": mechanism, "age": None}.',
        )
    for name, m in columns.items():
        if m is not None:
            refuse_no_mechanism(m, f"columns[{name!r}]")
    table = crossed(frame, columns, check_hash)
    first, second = columns.values()
    return _associated(f"{' and '.join(columns)} are independent", table, (first, second), "columns", size, number)


test_homogeneity.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it
test_independence.__test__ = False  # type: ignore[attr-defined]


def _associated(
    hypothesis: str,
    table: Counts,
    mechanisms: tuple[Mechanism | None, Mechanism | None],
    parameter: str,
    alpha: float,
    draws: int,
) -> TestResult:
    """The test on a table of reports, rows by columns."""
    from scipy.stats import random_table

    n = int(table.sum())
    margins = table.sum(axis=1), table.sum(axis=0)
    used = tuple(np.flatnonzero(margin) for margin in margins)
    if min(len(side) for side in used) < 2:
        raise InvalidParameter(
            "both columns must take at least two values",
            parameter=parameter,
            value=tuple(len(side) for side in used),
            hint="With one value there is nothing to compare.",
        )
    sides = [
        Scores.of_public(margin / n) if m is None else Scores.of_mechanism(m, margin / n)
        for m, margin in zip(mechanisms, margins, strict=True)
    ]
    left, right = (_on(scores, kept) for scores, kept in zip(sides, used, strict=True))
    rows, columns = margins[0][used[0]], margins[1][used[1]]
    expected = np.outer(rows, columns) / n

    def statistic(tables: Any) -> Any:
        # Tables × rows × columns; each projection puts its axis last.
        inner = right.of(left.of(tables - expected, 1), 1)
        return np.sum(inner**2, axis=(1, 2)) / n

    freedom = left.dimension * right.dimension
    observed = float(statistic(table[np.ix_(*used)][None])[0])
    found, method = p_value(
        observed,
        lambda generator, count: statistic(random_table.rvs(rows, columns, size=count, random_state=generator)),
        freedom,
        float(expected.min()),
        "permutations",
        draws,
        expected.size,
    )
    return TestResult(hypothesis, observed, freedom, found, alpha, method, n)


def _on(scores: Scores, kept: Any) -> Scores:
    """The same scores on the values that occur."""
    basis = None if scores.basis is None else scores.basis[:, kept]
    return Scores(scores.dimension, basis, scores.inverse_root[kept])
