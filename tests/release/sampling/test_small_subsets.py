"""Subset selection by members has the distribution of subset selection by flags."""

import itertools

import numpy as np
from scipy.stats import chisquare

import extremal as ex
from extremal.exact.weights import DENOMINATOR
from extremal.release.sampling.subsets import is_sparse, sparse_subset_reports
from extremal.release.sampling.words import CipherWords


def test_every_subset_has_its_probability() -> None:
    k, d, x, n, weight = 5, 3, 2, 40_000, DENOMINATOR * 7 // 10
    drawn = sparse_subset_reports(k, d, weight, np.full(n, x), CipherWords(bytes(32)))
    subsets = list(itertools.combinations(range(k), d))
    place = {subset: i for i, subset in enumerate(subsets)}
    counts = np.bincount([place[tuple(row)] for row in drawn.tolist()], minlength=len(subsets))
    expected = [n * (0.7 / 6 if x in subset else 0.3 / 4) for subset in subsets]
    assert chisquare(counts, expected).pvalue > 1e-4


def test_a_million_labels_are_reported_in_small_sets() -> None:
    m = ex.subset_selection(1_000_000, 12)
    assert is_sparse(m.k, m.structure.size)  # type: ignore[attr-defined]
    reports = m.privatize([7, 999_999] * 500)
    assert all(len(set(report)) == m.structure.size for report in reports)  # type: ignore[attr-defined]
    assert all(list(report) == sorted(report) and report[0] >= 0 and report[-1] < m.k for report in reports)
    held = np.mean([x in report for x, report in zip([7, 999_999] * 500, reports, strict=True)])
    assert abs(held - 0.5) < 0.1
