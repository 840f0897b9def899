"""Grouped sets: the closed form is the least squares of the listed matrix, and works when nothing can be listed."""

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, UnknownLabel
from extremal.estimate.channels import channel_of
from extremal.estimate.channels.channel import EndsByMoments
from extremal.estimate.channels.grouped_sets import GroupedSetsChannel
from extremal.mechanism.structures.grouped_sets import grouped_structure
from extremal.simulate import Simulation
from support.listed import GROUPED_SETS, grouped_sets, listed_sets


@pytest.mark.parametrize("name", GROUPED_SETS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_closed_form_is_the_listed_least_squares(name: str, epsilon: float) -> None:
    structured = grouped_sets(name, epsilon)
    listed = listed_sets(structured.structure, ex.LDP(epsilon))
    assert listed.m == structured.m
    generator, k = np.random.default_rng(len(name)), structured.k
    chosen = generator.choice(listed.m, size=2_000, p=generator.dirichlet(np.full(listed.m, 5.0)))
    reports = [listed.outputs[i] for i in chosen.tolist()]
    means = np.array([1.0, 3.0, 2.0])[structured.structure.of]
    prior = means / means.sum()
    options = {"weights": generator.uniform(1, 3, size=2_000), "prior": prior}
    dense = ex.estimate_frequencies(reports, listed, **options)
    closed = ex.estimate_frequencies(reports, structured, **options)
    assert isinstance(closed.fit.combinations.channel, GroupedSetsChannel)
    assert closed.estimate == pytest.approx(dense.estimate, abs=1e-9)
    assert closed.estimate.sum() == pytest.approx(1)
    assert closed.standard_error == pytest.approx(dense.standard_error, rel=1e-8)
    assert closed.covariance == pytest.approx(dense.covariance, abs=1e-10)
    assert closed.poisoning() == pytest.approx(dense.poisoning(), rel=1e-8)
    assert closed.noncompliance(0.05) == pytest.approx(dense.noncompliance(0.05), abs=1e-9)
    assert closed.noncompliance(0.05, reports[0]) == pytest.approx(dense.noncompliance(0.05, reports[0]), abs=1e-9)
    rows = np.vstack([np.arange(k) - (k - 1) / 2, generator.normal(size=k), np.eye(k)[1]])
    ours, theirs = closed.fit.inverse, dense.fit.inverse
    for a in (None, rows):
        assert ours.covariance(a, dense.fit.plausible, dense.fit.spread) == pytest.approx(
            theirs.covariance(a, dense.fit.plausible, dense.fit.spread), abs=1e-9
        )
        assert ours.moments(a) == pytest.approx(theirs.moments(a), rel=1e-8)
        for mine, other in zip(ours.extremes(a), theirs.extremes(a), strict=True):
            assert mine == pytest.approx(np.broadcast_to(other, mine.shape), rel=1e-9)
    assert ours.binary(None).tolist() == theirs.binary(None).tolist()
    assert not ours.binary(rows).any()
    assert np.isnan(ours.sample_variances(rows, closed.fit.observed.statistic, closed.fit.centre)).all()
    assert ours.sample_variances(None, closed.fit.observed.statistic, prior) == pytest.approx(
        theirs.sample_variances(None, dense.fit.observed.statistic, prior), rel=1e-8
    )
    for mine, other in zip(ours.ends(prior), EndsByMoments.ends(theirs, prior), strict=True):
        assert mine == pytest.approx(other, rel=1e-8)
    assert np.abs(closed.interval() - dense.interval()).max() < 1e-6


@pytest.mark.parametrize("name", GROUPED_SETS)
def test_the_statistic_is_that_of_the_listed_reports(name: str) -> None:
    structured = grouped_sets(name)
    listed = listed_sets(structured.structure, ex.LDP(1))
    channel = channel_of(structured)
    assert isinstance(channel, GroupedSetsChannel)
    keys = [channel.encode(y) for y in listed.outputs]
    prior = np.random.default_rng(3).dirichlet(np.ones(structured.k))
    # E s is s of the reports with the frequencies that the matrix gives them; forwards and backwards, also by columns
    expected = channel.expected(prior)
    assert expected == pytest.approx(channel.statistic(keys, listed.marginal(prior)), abs=1e-12)
    assert channel.uniform() == pytest.approx(channel.statistic(keys, np.full(listed.m, 1 / listed.m)), abs=1e-12)
    table = channel.expected(np.eye(structured.k))
    assert table @ prior == pytest.approx(expected, abs=1e-12)
    assert channel.back(np.eye(table.shape[0])) == pytest.approx(table.T, abs=1e-12)
    assert channel.back(expected) == pytest.approx(table.T @ expected, abs=1e-12)
    held = channel.parts(expected)[1].sum(axis=0)
    assert channel.smallest_share(prior) == pytest.approx(min(held.min(), 1 - held.max()))
    inverse = channel.inverse(prior)
    assert inverse.apply(table) == pytest.approx(np.eye(structured.k), abs=1e-9)  # unbiased whatever the prior
    assert channel.combinations() is None


def test_what_is_no_report_or_no_such_mechanism_is_refused() -> None:
    m = grouped_sets("two groups")
    channel = channel_of(m)
    with pytest.raises(UnknownLabel, match="the ones a set of one of 4 types|bytes that hold 8 bits"):
        channel.encode((255,))
    with pytest.raises(InvalidParameter, match="maximum likelihood needs the reports listed"):
        ex.estimate_frequencies([m.output_labels[0]] * 9, m, method="mle")
    with pytest.raises(InvalidParameter, match="must report grouped sets"):
        GroupedSetsChannel(ex.randomized_response(3, 1))


def test_simulated_surveys_have_the_variance_that_is_stated() -> None:
    of = np.repeat([0, 1], 60)
    structure = grouped_structure(of, [(20, 12), (10, 20), (4, 30)], [4.0, 3.0, 1.0], ex.LDP(1).exponential)
    m = ex.Mechanism.from_structure(structure, ex.LDP(1), outputs=structure.reports)
    shares = np.where(of == 0, 3.0, 1.0) / 240
    values = np.random.default_rng(5).choice(120, size=20_000, p=shares)
    found = ex.estimate_frequencies(list(Simulation(6).privatize(m, values)), m, prior=shares)
    truth = np.bincount(values, minlength=120) / values.size
    errors = (found.estimate - truth) / found.standard_error
    assert abs(errors).max() < 6
    assert 0.6 < np.mean(errors**2) < 1.5  # 120 squares, nearly independent: sd 0.13
