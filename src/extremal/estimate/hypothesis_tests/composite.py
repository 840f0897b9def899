"""Tests of a distribution, of independence and of homogeneity when answers are reported privately, valid at every n.

With m = Qᵀp the distribution of reports, moving p in a direction h with Σh = 0 changes the log-likelihood of a report y
by h·Q(y|·)/m_y. Those functions of y span the *score space*; its dimension is rank(Q) − 1, the number of things about p
that the reports determine at all. With an orthonormal basis φ (E φ_i(Y) = 0 and E φ_i(Y)φ_j(Y) = δ_ij under m), sums of
φ(Y) are the efficient statistics at p (Rao 1948). When Q is square and invertible the space holds every function of
mean zero, and |Σ_i φ(Y_i)|²/n is Pearson's Σ_y (n_y − n·m_y)²/(n·m_y), so that no basis is needed.

If X and Z are independent, so are their reports, whatever the mechanisms; and if the mechanisms identify the inputs,
the converse holds. So independence of the inputs is tested on the reports: with φ, ψ the scores of the two sides at the
observed marginals, T = |Σ_i φ(Y_i)ψ(Z_i)ᵀ|²/n tends to χ² with dim φ · dim ψ degrees of freedom. A public side, and one
whose mechanism is square and invertible, has every function of mean zero for a score: with two such sides T is
Pearson's statistic of the table of reports. Noise costs power, never validity. The p-value is by permutation, which is
valid at every n.

In a sample with weights, strata or clusters the same statistics are taken of weighted shares. Under the hypothesis
their limit is Σ δ_i χ²₁, the δ_i eigenvalues of Δ = n·Cov φ̄ ("generalised design effects"), and p-values are by Rao and
Scott's second-order correction: F = T·seen/tr Δ on a = (tr Δ)²/tr Δ² and ν degrees of freedom, where ν and the share
of tr Δ that clusters show are those of `reports.degrees`: clusters − strata and 1 where clusters are equal, and where
groups are whole clusters what those of the groups are worth. (R's `svychisq` has a·ν in place of ν, which rejects too
often with 20 clusters.) These are limits for many clusters; audit/estimate/clusters.py has measured sizes.

References: Rao and Scott, Ann. Statist. 12 (1984); Thomas and Rao, JASA 82 (1987).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from extremal.errors import InvalidParameter
from extremal.estimate.hypothesis_tests.outcome import TestResult
from extremal.estimate.hypothesis_tests.reports import (
    Counts,
    Surveyed,
    counted,
    crossed,
    notes_of,
    refuse_uncountable,
    significance,
    surveyed,
    surveyed_pairs,
)
from extremal.estimate.hypothesis_tests.resampling import DRAWS, as_draws, p_value
from extremal.estimate.hypothesis_tests.scores import Scores
from extremal.estimate.reports.degrees import Degrees, reach
from extremal.estimate.reports.sample import Sample
from extremal.estimate.reports.tally import Reports
from extremal.exact import as_prior
from extremal.exact.weights import Floats
from extremal.mechanism import Mechanism

_FOLLOWED = "the inputs follow the given distribution"


def test_distribution(
    reports: Any,
    mechanism: Mechanism,
    p: Any,
    alpha: float = 0.05,
    *,
    column: str | None = None,
    counts: bool = False,
    draws: int = DRAWS,
    check_hash: bool = True,
    sample: Sample | None = None,
) -> TestResult:
    """Test whether the inputs follow `p`.

    The statistic is n·|φ̄|², φ̄ the mean of the efficient scores of the reports at p; for a square invertible mechanism
    it is Pearson's Σ(n_y − n·m_y)²/(n·m_y), m = Qᵀp. Its p-value is found by drawing under the hypothesis.

    Guarantee: P(p_value ≤ α) ≤ α under the hypothesis, for every n and every α ≥ 1/(draws + 1).

    Args:
        reports: as for `estimate_frequencies`: any container, counts, a file.
        mechanism: what made them.
        p: the distribution of the inputs under the hypothesis.
        alpha: significance.
        column: the column of a data frame or file.
        counts: whether `reports` are counts.
        draws: how many draws the p-value is based on.
        check_hash: refuse a file that does not record this mechanism's hash.
        sample: an `ex.Sample`; p-values are then by Rao and Scott's correction, valid for many clusters.

    Raises:
        NotIdentified: the reports do not depend on the inputs.

    Reference: C. R. Rao (1948), on score tests; G. Barnard (1963), on p-values by simulation.

    >>> import extremal as ex
    >>> m = ex.randomized_response(2, 1)
    >>> bool(ex.test_distribution({0: 500, 1: 500}, m, [0.9, 0.1]))
    True
    """
    size = significance(alpha)
    number = as_draws(draws, size)
    given = Reports(reports, mechanism, column, counts=counts, check_hash=check_hash)
    expected = mechanism.marginal(as_prior(p, "p", inputs=mechanism.input_labels))
    expected = expected / expected.sum()
    scores = Scores.of_mechanism(mechanism, expected)
    drawn = Sample.of(sample)
    survey = None if drawn.independent else surveyed(given, drawn)
    outputs = np.zeros(0, np.intp) if survey is None else survey.values[:, 0]
    if survey is None or (expected[outputs] == 0).any():
        seen = counted(given) if survey is None else np.bincount(outputs, minlength=mechanism.m)
        found = _of_counts(mechanism, expected, scores, seen, number, size)
    else:
        every = scores.at(np.arange(mechanism.m))
        centred, width, degrees = every - every.T @ expected, np.ptp(every, axis=0), survey.drawn.degrees
        told = np.divide(np.ptp(mechanism.matrix @ every, axis=0), width, out=np.ones_like(width), where=width > 0)
        moved = survey.plausible_deviations(centred, outputs, told, 0.0, float(reach(1 - size, degrees)))
        found = _rao_scott(_FOLLOWED, survey, centred[outputs], moved, scores.dimension, degrees, size)
    return replace(found, notes=notes_of(given, found.n, survey))


test_distribution.__test__ = False  # type: ignore[attr-defined]  # a test runner must not collect it


def _of_counts(
    mechanism: Mechanism, expected: Floats, scores: Scores, seen: Any, draws: int, alpha: float
) -> TestResult:
    """The test of independent reports with these expected shares; of any, where one is excluded."""
    n = int(seen.sum())
    if (seen[expected == 0] > 0).any():
        said = "a report was seen that the hypothesis excludes"
        return TestResult(_FOLLOWED, np.inf, scores.dimension, 0.0, alpha, said, n)

    def statistic(numbers: Any) -> Any:
        return np.sum(scores.of(numbers - n * expected, -1) ** 2, axis=-1) / n

    observed = float(statistic(seen))
    found, method = p_value(
        observed,
        lambda generator, count: statistic(generator.multinomial(n, expected, size=count)),
        scores.dimension,
        float(n * expected[expected > 0].min()),
        "draws under the hypothesis",
        draws,
        mechanism.m,
    )
    return TestResult(_FOLLOWED, observed, scores.dimension, found, alpha, method, n)


def test_homogeneity(
    reports: Any,
    mechanism: Mechanism,
    by: Any,
    alpha: float = 0.05,
    *,
    column: str | None = None,
    draws: int = DRAWS,
    check_hash: bool = True,
    sample: Sample | None = None,
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
        sample: an `ex.Sample`; p-values are then by Rao and Scott's correction, valid for many clusters.

    Guarantee: P(p_value ≤ α) ≤ α under the hypothesis, for every n and every α ≥ 1/(draws + 1): given the margins every
    table of reports is as likely as if one column were permuted. With a sample it is a limit for many clusters.

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
    given, drawn = Reports(reports, mechanism, column, by, check_hash=check_hash), Sample.of(sample)
    if not drawn.independent:
        survey = surveyed(given, drawn)
        return _surveyed_association("the groups have the same distribution", survey, (mechanism, None), "by", size)
    table = counted(given)
    return _associated("the groups have the same distribution", table.T, (mechanism, None), "by", size, number)


def test_independence(
    frame: Any,
    columns: Mapping[str, Mechanism | None],
    alpha: float = 0.05,
    *,
    draws: int = DRAWS,
    check_hash: bool = True,
    sample: Sample | None = None,
) -> TestResult:
    """Test whether two columns of a data frame are independent; each is privatised (its mechanism) or public (None).

    Args:
        frame: a data frame, a mapping from name to column, or the path of a file (or a list of `Path`s).
        columns: two columns, at least one with a mechanism.
        alpha: significance.
        draws: how many permutations the p-value is based on.
        check_hash: refuse a file that does not record the mechanisms' hashes.
        sample: an `ex.Sample`; p-values are then by Rao and Scott's correction, valid for many clusters.

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
            refuse_uncountable(m, f"columns[{name!r}]")
    first, second = columns.values()
    hypothesis, drawn = f"{' and '.join(columns)} are independent", Sample.of(sample)
    if not drawn.independent:
        survey = surveyed_pairs(frame, columns, drawn)
        return _surveyed_association(hypothesis, survey, (first, second), "columns", size)
    table = crossed(frame, columns, check_hash)
    return _associated(hypothesis, table, (first, second), "columns", size, number)


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
    _refuse_one_value([len(side) for side in used], parameter)
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


def _surveyed_association(
    hypothesis: str,
    survey: Surveyed,
    mechanisms: tuple[Mechanism | None, Mechanism | None],
    parameter: str,
    alpha: float,
) -> TestResult:
    """The test on pairs of reports of a sample that is not simple."""
    _refuse_one_value([len(set(column)) for column in survey.values.T.tolist()], parameter)
    sides, dimension = [], 1
    for axis, mechanism in enumerate(mechanisms):
        places = survey.values[:, axis]
        size = int(places.max()) + 1 if mechanism is None else mechanism.m
        margin = np.asarray(np.bincount(places, weights=survey.shares, minlength=size), dtype=np.float64)
        scores = Scores.of_public(margin) if mechanism is None else Scores.of_mechanism(mechanism, margin)
        centred = scores.at(np.arange(size)) - scores.at(np.arange(size)).T @ margin
        sides.append(centred)
        dimension *= scores.dimension
    both = [centred[places] for centred, places in zip(sides, survey.values.T, strict=True)]
    products = np.einsum("ca,cb->cab", *both).reshape(len(survey.values), -1)
    fixed = int(mechanisms[0] is not None)  # the public side, given which the other one's reports scatter
    degrees = survey.association_degrees(fixed, sides[fixed])
    return _rao_scott(hypothesis, survey, products, survey.deviations(products), dimension, degrees, alpha)


def _refuse_one_value(taken: list[int], parameter: str) -> None:
    """Raise where one of two columns is constant."""
    if min(taken) < 2:
        raise InvalidParameter(
            f"{'reports and groups' if parameter == 'by' else 'both columns'} must take at least two values each",
            parameter="numbers of values",
            value=" and ".join(map(str, taken)),
            hint="With one value there is nothing to compare.",
        )


def _rao_scott(
    hypothesis: str,
    survey: Surveyed,
    scores: Floats,
    deviations: Floats,
    dimension: int,
    degrees: Degrees,
    alpha: float,
) -> TestResult:
    """n·|mean score|², with Rao and Scott's second-order correction; `scores` has a row for each value that occurs, and
    their `deviations` one for each unit."""
    from scipy.special import fdtrc

    moved = deviations * np.sqrt(survey.n)
    gram = moved @ moved.T if len(moved) < moved.shape[1] else moved.T @ moved  # the same eigenvalues
    trace, squares = float(np.trace(gram)), float((gram**2).sum())
    mean = survey.shares @ scores
    statistic = survey.n * float(mean @ mean)
    if not trace > 0:
        raise InvalidParameter(
            "the reports must vary between units: they show no spread",
            parameter="sample",
            value=survey.drawn.units_in_words,
        )
    freedom = trace**2 / squares
    found = float(fdtrc(freedom, degrees.number, degrees.seen * statistic / trace))
    method = f"Rao and Scott's correction, F on {freedom:.4g} and {degrees.number:.4g} degrees of freedom"
    words, notes = survey.drawn.units_in_words, survey.drawn.notes
    return TestResult(hypothesis, statistic, dimension, found, alpha, method, survey.n, words, notes)


def _on(scores: Scores, kept: Any) -> Scores:
    """The same scores on the values that occur."""
    basis = None if scores.basis is None else scores.basis[:, kept]
    return Scores(scores.dimension, basis, scores.inverse_root[kept])
