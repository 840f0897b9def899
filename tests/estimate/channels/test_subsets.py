"""Subset selection: the closed form is the least squares of the listed matrix, and works when nothing can be listed."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import extremal as ex
from extremal.estimate.channels.subsets import SubsetChannel
from extremal.exact import Exponential
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import SubsetLabels
from extremal.mechanism.structures.staircase import subset_structure


def unlisted(k: int, size: int, epsilon: float) -> ex.Mechanism:
    """The structured form at a size where the listed form exists too."""
    exponential: Exponential = ex.LDP(epsilon).exponential
    names = Labels(range(k))
    return ex.Mechanism._made(subset_structure(k, size, exponential), None, names, SubsetLabels(names, size), None)


@pytest.mark.parametrize(("k", "size"), [(4, 2), (6, 2), (6, 4), (7, 1), (5, 4)])
@pytest.mark.parametrize("method", ["unbiased", "projected"])
def test_the_closed_form_is_the_listed_least_squares(k: int, size: int, method: str) -> None:
    listed, structured = ex.subset_selection(k, 1, size=size), unlisted(k, size, 1.0)
    generator = np.random.default_rng(k)
    subsets = list(itertools.combinations(range(k), size))
    reports = [
        subsets[i]
        for i in generator.choice(len(subsets), size=3_000, p=generator.dirichlet(np.full(len(subsets), 5.0)))
    ]
    weights = generator.uniform(1, 3, size=3_000)
    # Outputs of the listed form are tuples, except for d = 1, where subset selection is randomised response on tuples
    # too.
    dense = ex.estimate_frequencies(reports, listed, method=method, weights=weights)
    closed = ex.estimate_frequencies(reports, structured, method=method, weights=weights)
    assert isinstance(closed.fit.combinations.channel, SubsetChannel)
    # The listed weights differ from the structured ones by the units that 2^62 leaves over: nothing in floats.
    assert closed.estimate == pytest.approx(dense.estimate, abs=1e-9)
    assert closed.standard_error == pytest.approx(dense.standard_error, rel=1e-9)
    assert closed.covariance == pytest.approx(dense.covariance, abs=1e-12)
    assert closed.standard_error == pytest.approx(np.sqrt(np.diagonal(closed.covariance)))
    assert closed.poisoning() == pytest.approx(dense.poisoning(), abs=1e-9)
    assert closed.noncompliance(0.05) == pytest.approx(dense.noncompliance(0.05), abs=1e-9)
    assert closed.noncompliance(0.05, subsets[1]) == pytest.approx(dense.noncompliance(0.05, subsets[1]), abs=1e-9)
    contrast = np.arange(k) - (k - 1) / 2
    rows = contrast[None, :]
    # Listed reports also show how contrasts scatter, and the larger variance is taken; pairs are not counted otherwise.
    fitted = [r.fit.inverse.covariance(rows, r.fit.plausible, r.fit.spread)[0, 0] for r in (closed, dense)]
    assert fitted[0] == pytest.approx(fitted[1], rel=1e-9)
    assert closed.contrast(contrast).standard_error == pytest.approx(np.sqrt(fitted[0] / closed.effective_n), rel=1e-9)
    assert closed.contrast(contrast).standard_error <= dense.contrast(contrast).standard_error * (1 + 1e-9)
    assert closed.fit.inverse.moments(rows) == pytest.approx(dense.fit.inverse.moments(rows), rel=1e-8)
    assert closed.fit.inverse.moments(None) == pytest.approx(dense.fit.inverse.moments(None), rel=1e-8)
    assert closed.fit.inverse.binary(None).all()
    assert dense.fit.inverse.binary(None).all()
    assert closed.interval() == pytest.approx(dense.interval(), abs=1e-8)
    alone, mixed = np.eye(k)[:1] * 2 + 1, contrast[None, :]
    assert closed.fit.inverse.binary(np.vstack([alone, mixed])).tolist() == [True, k == 2]
    for ours, theirs in zip(closed.fit.inverse.extremes(rows), dense.fit.inverse.extremes(rows), strict=True):
        assert ours == pytest.approx(theirs)


def simulated(
    k: int, size: int, with_truth: float, values: np.ndarray, generator: np.random.Generator
) -> list[tuple[int, ...]]:
    """Reports by the definition of subset selection, in floats and seeded: for the test only."""
    reports = []
    for x in values.tolist():
        others = [y for y in range(k) if y != x]
        inside = generator.random() < with_truth
        chosen = generator.choice(others, size=size - inside, replace=False).tolist()
        reports.append(tuple(sorted([x, *chosen] if inside else chosen)))
    return reports


def test_more_subsets_than_atoms() -> None:
    m = ex.subset_selection(60, 1)
    assert m.m > 10**14
    channel = SubsetChannel(m)
    generator = np.random.default_rng(3)
    p = np.where(np.arange(60) < 6, 1 / 6, 0.0)
    deviations = []
    for _ in range(20):
        reports = simulated(60, channel.size, channel.own, generator.choice(60, size=500, p=p), generator)
        result = ex.estimate_frequencies(reports, m)
        deviations.append((result.estimate - p) / result.standard_error)
    # 1,200 standardised errors, nearly independent: mean 0 ± 0.03, standard deviation 1 ± 0.02; four to five of those.
    assert abs(np.mean(deviations)) < 0.14
    assert np.std(deviations) == pytest.approx(1, abs=0.1)
    text = result.summary()
    assert "60 inputs, about 10^14 outputs" in text
    assert "All reports are identical" not in text
    with pytest.raises(
        ex.errors.InvalidParameter,
        match='maximum likelihood needs the reports listed.*Use method="unbiased" or "projected"',
    ):
        ex.estimate_frequencies(reports, m, method="mle")


def test_reports_must_be_subsets(tmp_path: Path) -> None:
    m = unlisted(6, 3, 1.0)
    for bad in ((0, 1), (0, 1, 1), (0, 1, 9), 3, "abc"):
        with pytest.raises(ex.errors.UnknownLabel, match="that is no label"):
            ex.estimate_frequencies([(0, 1, 2), bad], m)
    assert ex.estimate_frequencies([(2, 1, 0), [0, 1, 2]], m).fit.observed.distinct == 1
    (tmp_path / "r.csv").write_text("x\n0 1 2\n1 2 5\n")
    result = ex.estimate_frequencies(tmp_path / "r.csv", m, column="x", check_hash=False)
    assert result.fit.observed.statistic.tolist() == [0.5, 1, 1, 0, 0, 0.5]
    spaced = ex.Mechanism.from_subsets(40, 10, ex.LDP(1), inputs=[f"answer {x}" for x in range(40)])
    with pytest.raises(ex.errors.UnknownLabel, match="that is no label"):  # sets of labels with spaces are JSON lists
        ex.estimate_frequencies(tmp_path / "r.csv", spaced, column="x", check_hash=False)
    listed = ex.Mechanism.from_subsets(3, 2, ex.LDP(1), inputs=["a b", "c", "d"])
    (tmp_path / "s.csv").write_text('x\n"[""a b"",""c""]"\n"[""c"",""d""]"\n')
    assert ex.estimate_frequencies(tmp_path / "s.csv", listed, column="x", check_hash=False).n == 2
    with pytest.raises(ex.errors.InvalidParameter, match="must be a subset selection"):
        SubsetChannel(ex.randomized_response(3, 1))
