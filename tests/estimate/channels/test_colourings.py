"""The channel in blocks says what the dense one says, to every question."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter
from extremal.estimate.channels import channel_of, colourings
from extremal.estimate.channels.colourings import ColouringsChannel
from extremal.estimate.channels.dense import DenseChannel
from extremal.mechanism.structures.colourings import coloured


def _mixed(k: int = 70, count: int = 30, period: int = 70) -> ex.Mechanism:
    generator = np.random.default_rng(3)
    colours = [
        generator.permutation(np.arange(period) % n)[np.arange(k) % period] for n in (3, 4, 7) for _ in range(count)
    ]
    weights = generator.uniform(0.2, 1, len(colours))
    return ex.Mechanism.from_structure(coloured(colours, weights, ex.LDP(1).exponential), ex.LDP(1))


def test_every_answer_is_that_of_the_dense_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colourings, "AT_A_TIME", 100)
    m, generator = _mixed(), np.random.default_rng(0)
    sparse, dense = ColouringsChannel(m), DenseChannel(m)
    p, prior = generator.dirichlet(np.ones(70), 2)
    s, rows = generator.dirichlet(np.ones(m.m)), generator.normal(size=(3, 70))
    assert (sparse.r, sparse.combinations()) == (70, None)
    assert np.allclose(sparse.expected(p), dense.expected(p), atol=1e-15)
    assert np.allclose(sparse.back(s), dense.back(s), atol=1e-13)
    assert sparse.smallest_share(p) == pytest.approx(dense.smallest_share(p))
    assert sparse.misfit(s, p, 10.0) == (0.0, 0)
    one, other = sparse.inverse(prior), dense.inverse(prior)
    assert np.allclose(one.apply(s), other.apply(s), atol=1e-8)
    assert np.allclose(one.apply(sparse.expected(p)), p, atol=1e-8)
    assert np.allclose(one.variances(p, prior), other.variances(p, prior), rtol=1e-7)
    for asked in (None, rows):
        assert np.allclose(one.covariance(asked, p, prior), other.covariance(asked, p, prior), rtol=1e-6, atol=1e-7)
        assert np.allclose(one.extremes(asked), other.extremes(asked), rtol=1e-7)
        assert np.allclose(one.moments(asked), other.moments(asked), rtol=1e-6, atol=1e-7)
        assert (one.binary(asked) == other.binary(asked)).all()
        middle = np.asarray(other.sample_variances(asked, s, p))
        assert np.allclose(one.sample_variances(asked, s, p), middle, rtol=1e-7)
    with pytest.raises(InvalidParameter, match="likelihood needs the reports listed"):
        sparse.maximum_likelihood(s, 1e-9)


def test_rows_that_are_alike_are_told_only_in_sums() -> None:
    sparse = ColouringsChannel(_mixed(period=35))
    found = sparse.combinations()
    assert found is not None
    assert found.shape[0] == 35
    p = np.full(70, 1 / 70)
    assert np.allclose(sparse.inverse(p).apply(sparse.expected(p)), p)


def test_it_serves_what_is_too_large_for_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    m = _mixed()
    assert isinstance(channel_of(m), DenseChannel)
    monkeypatch.setattr(colourings, "LARGEST_DENSE", 100)
    assert isinstance(channel_of(m), ColouringsChannel)
    values = np.random.default_rng(5).integers(0, 70, 4000)
    reports = m.privatize(values.tolist())
    found = ex.estimate_workload(reports, m, ex.CDF(70))
    truth = np.cumsum(np.bincount(values, minlength=70))[:-1] / 4000
    assert (np.abs(np.asarray(found.estimate) - truth) < 8 * np.asarray(found.standard_error)).all()
    with pytest.raises(InvalidParameter, match="mix colourings"):
        ColouringsChannel(ex.randomized_response(3, 1))
