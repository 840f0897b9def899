"""Estimators of unary encoding, hashing, Hadamard and projective geometry response."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidParameter, TooLarge, UnknownLabel
from extremal.estimate.channels import CHANNELS, channel_of, indicators
from extremal.estimate.channels.bloom import BloomChannel
from extremal.estimate.channels.channel import EndsByMoments
from extremal.estimate.channels.dense import DenseChannel
from extremal.estimate.channels.indicators import BitsChannel, HashChannel
from extremal.estimate.channels.transforms import HadamardChannel, ProjectiveChannel
from extremal.estimate.chosen import estimate_chosen
from extremal.estimate.expected import frequency_variance, statistics_variance
from extremal.exact import Exponential
from extremal.exact.weights import DENOMINATOR
from extremal.mechanism.report_labels import BitLabels
from extremal.mechanism.structures import BloomBits, HadamardSets, ProjectiveSets
from extremal.mechanism.structures.chosen_sets import largest_inside
from extremal.simulate import Simulation


def _hadamard(k: int, epsilon: float, blocks: int, width: int) -> ex.Mechanism:
    inside = largest_inside(blocks * width, width // 2, Exponential(epsilon))
    return ex.Mechanism.from_structure(HadamardSets(k, inside, blocks, width), ex.LDP(epsilon))


def _projective(k: int, epsilon: float, q: int, t: int) -> ex.Mechanism:
    m, size = (q**t - 1) // (q - 1), (q ** (t - 1) - 1) // (q - 1)
    return ex.Mechanism.from_structure(
        ProjectiveSets(k, largest_inside(m, size, Exponential(epsilon)), q, t), ex.LDP(epsilon)
    )


RULED = {
    "one block": _hadamard(11, 1, 1, 16),
    "blocks": _hadamard(11, 2, 4, 4),
    "points": _projective(11, 1, 3, 3),
    "many points": _projective(30, 2, 5, 3),
}
STRUCTURED = {
    "bits": ex.unary_encoding(11, 1),
    "hashes": ex.local_hashing(11, 1),
    "filter": ex.bloom_filter(11, 6, once=4, bits=16, cohorts=4),
    **RULED,
}


@pytest.mark.parametrize("name", RULED)
def test_transforms_are_the_dense_algebra(name: str) -> None:
    m = RULED[name]
    structure: Any = m.structure
    channel: Any = channel_of(m)
    entries = [structure.entries(np.full(m.m, x), np.arange(m.m)) for x in range(m.k)]
    q = np.array([[w / structure.denominator for w in row] for row in entries])
    prior = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
    assert channel.expected(prior) == pytest.approx(prior @ q, rel=1e-12)
    assert channel.smallest_share(prior) == pytest.approx((prior @ q).min(), rel=1e-12)
    inverse = channel.inverse(prior)
    influence = np.array([inverse.apply(unit) for unit in np.eye(m.m)]).T
    assert influence @ q.T == pytest.approx(np.eye(m.k), abs=1e-12)
    second = influence**2 @ (prior @ q)
    assert inverse.variances(prior, prior) == pytest.approx(second - prior**2, rel=1e-10)
    rows = np.vstack([np.tri(m.k), np.arange(m.k)])
    made = inverse.covariance(rows, prior, prior)
    spread = rows @ influence
    direct = (spread * (prior @ q)) @ spread.T - np.outer(rows @ prior, rows @ prior)
    assert made == pytest.approx(direct, rel=1e-9, abs=1e-12)
    assert np.diagonal(inverse.covariance(None, prior, prior)) == pytest.approx(second - prior**2, rel=1e-10)
    assert inverse.extremes(rows)[0] == pytest.approx(spread.min(axis=1))
    assert inverse.extremes(rows)[1] == pytest.approx(spread.max(axis=1))
    assert inverse.extremes(None)[0] == pytest.approx(influence.min())
    assert inverse.extremes(None)[1] == pytest.approx(influence.max())
    assert channel.uniform() == pytest.approx(np.full(m.m, 1 / m.m))
    same_algebra(channel, prior, q, np.eye(m.m))
    single = np.vstack([np.eye(m.k)[:2], np.tri(m.k)[1]])
    assert inverse.binary(single).tolist() == [np.unique(row.round(9)).size == 2 for row in single @ influence]
    f = np.random.default_rng(2).dirichlet(np.ones(m.m))
    seen = (influence - prior[:, None]) ** 2 @ f
    assert inverse.sample_variances(None, f, prior) == pytest.approx(seen, rel=1e-10)
    wide = (spread - (rows @ prior)[:, None]) ** 2 @ f
    assert inverse.sample_variances(rows, f, prior) == pytest.approx(wide, rel=1e-9)


def same_algebra(channel: Any, prior: Any, q: Any, statistics: Any) -> None:
    """What estimates and intervals ask, against the listed matrix; a column of statistics for each report."""
    inverse = channel.inverse(prior)
    influence = inverse.apply(statistics)  # all at once
    assert influence == pytest.approx(np.array([inverse.apply(column) for column in statistics.T]).T)
    k = prior.size
    assert inverse.binary(None).tolist() == [np.unique(row.round(9)).size == 2 for row in influence]
    for rows in (np.vstack([np.tri(k), np.arange(k)]), None):
        spread = influence if rows is None else rows @ influence
        assert inverse.moments(rows) == pytest.approx(spread**2 @ q.T, rel=1e-9, abs=1e-12)
    assert channel.expected(np.eye(k)) == pytest.approx(statistics @ q.T, abs=1e-12)
    assert channel.back(statistics) == pytest.approx(q @ statistics.T @ statistics, abs=1e-12)
    assert channel.back(statistics[:, 0]) == pytest.approx(q @ statistics.T @ statistics[:, 0], abs=1e-12)
    for made, direct in zip(inverse.ends(prior), EndsByMoments.ends(inverse, prior), strict=True):
        assert made == pytest.approx(direct, rel=1e-9)


def test_unary_encoding_is_the_dense_algebra() -> None:
    m = ex.unary_encoding(4, 1)
    channel = channel_of(m)
    own, other = m.structure.own / DENOMINATOR, m.structure.other / DENOMINATOR  # type: ignore[attr-defined]
    words = [m.output_labels[code] for code in range(16)]
    bits = np.array([[code >> (3 - z) & 1 for z in range(4)] for code in range(16)])
    q = np.array([np.prod(np.where(bits, p, 1 - p), axis=1) for p in other + (own - other) * np.eye(4)])
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    keys = [channel.encode(word) for word in words]
    influence = np.array([channel.inverse(prior).apply(channel.statistic([key], np.ones(1))) for key in keys]).T
    assert influence @ q.T == pytest.approx(np.eye(4), abs=1e-12)
    rows = np.vstack([np.tri(4), [1, -1, 0, 2]])
    spread, at = rows @ influence, rows @ prior
    inverse = channel.inverse(prior)
    assert inverse.covariance(rows, prior, prior) == pytest.approx((spread * (prior @ q)) @ spread.T - np.outer(at, at))
    assert inverse.covariance(None, prior, prior).diagonal() == pytest.approx(inverse.variances(prior, prior))
    assert inverse.extremes(rows)[0] == pytest.approx(spread.min(axis=1))
    assert inverse.extremes(rows)[1] == pytest.approx(spread.max(axis=1))
    assert inverse.extremes(None)[1] == pytest.approx(influence.max())
    assert channel.expected(prior) == pytest.approx(channel.statistic(keys, prior @ q))
    assert channel.uniform() == pytest.approx(channel.statistic(keys, np.full(16, 1 / 16)))
    same_algebra(channel, prior, q, np.column_stack([channel.statistic([key], np.ones(1)) for key in keys]))
    assert inverse.binary(np.array([[0, 2.0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 1]])).tolist() == [True, False, False]
    f = np.random.default_rng(2).dirichlet(np.ones(16))
    seen = (influence - prior[:, None]) ** 2 @ f
    assert inverse.sample_variances(None, channel.statistic(keys, f), prior) == pytest.approx(seen, rel=1e-10)
    assert np.isnan(inverse.sample_variances(rows, channel.statistic(keys, f), prior)).all()


def test_a_bloom_filter_is_the_dense_algebra() -> None:
    structure = BloomBits(4, 5, 2, 2, DENOMINATOR // 4 * 3, DENOMINATOR // 4, DENOMINATOR // 8 * 7, DENOMINATOR // 16)
    m = ex.Mechanism.from_structure(structure, None, None, BitLabels(6))
    channel: Any = channel_of(m)
    a, b = (weight / structure.denominator for weight in structure.shown)
    words = [m.output_labels[code] for code in range(64)]
    keys = [channel.encode(word) for word in words]
    bits = np.array([[code >> (4 - i) & 1 for i in range(5)] for code in range(32)])
    rows = []
    for x in range(4):
        given = [np.where(structure.filters(c)[x], a, b) for c in range(2)]
        rows.append(np.concatenate([np.prod(np.where(bits, g, 1 - g), axis=1) / 2 for g in given]))
    q = np.array(rows)
    assert q.sum(axis=1) == pytest.approx(np.ones(4))
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    statistics = np.column_stack([channel.statistic([key], np.ones(1)) for key in keys])
    same_algebra(channel, prior, q, statistics)
    inverse = channel.inverse(prior)
    influence = inverse.apply(statistics)
    assert influence @ q.T == pytest.approx(np.eye(4), abs=1e-10)
    wanted = np.vstack([np.tri(4), [1, -1, 0, 2]])
    spread, at = wanted @ influence, wanted @ prior
    direct = (spread * (prior @ q)) @ spread.T - np.outer(at, at)
    assert inverse.covariance(wanted, prior, prior) == pytest.approx(direct)
    assert np.diagonal(inverse.covariance(None, prior, prior)) == pytest.approx(inverse.variances(prior, prior))
    assert inverse.extremes(wanted)[0] == pytest.approx(spread.min(axis=1))
    assert inverse.extremes(None)[1] == pytest.approx(influence.max(axis=1))
    assert channel.uniform() == pytest.approx(channel.statistic(keys, np.full(64, 1 / 64)))
    assert channel.statistic(keys, prior @ q) == pytest.approx(channel.expected(prior))
    assert channel.smallest_share(prior) > 0
    assert np.isnan(inverse.sample_variances(wanted, statistics[:, 0], prior)).all()


def test_filters_that_tell_too_little_apart_are_said() -> None:
    m = ex.bloom_filter(60, 3, bits=8, cohorts=2)
    reports = Simulation(1).privatize(m, [0, 1, 2] * 10).reports
    with pytest.raises(ex.errors.NotIdentified, match="the reports do not determine every frequency"):
        ex.estimate_frequencies(reports, m)
    with pytest.raises(InvalidParameter, match="more bits or cohorts"):
        ex.estimate_frequencies(reports, m, merge=True)


def test_hashing_is_unbiased_with_the_stated_variance_over_random_seeds() -> None:
    m = ex.local_hashing(6, 1)
    channel = channel_of(m)
    prior = np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04])
    x = np.random.default_rng(0).choice(6, size=60_000, p=prior)
    reports = Simulation(8).privatize(m, x.tolist()).reports
    inverse = channel.inverse(prior)
    single = np.array([inverse.apply(channel.statistic([channel.encode(y)], np.ones(1))) for y in reports[:20_000]])
    variances = inverse.variances(prior, prior)
    assert np.abs(single.mean(axis=0) - prior).max() < 5 * math.sqrt(variances.max() / 20_000)
    assert single.var(axis=0) == pytest.approx(variances, rel=0.05)
    made = inverse.covariance(None, prior, prior)
    assert np.cov(single.T) == pytest.approx(made, abs=0.05 * made.max())
    assert channel.uniform()[:-1] == pytest.approx(np.full(6, 1 / 4))


@pytest.mark.parametrize("name", STRUCTURED)
def test_estimates_with_intervals_from_reports(name: str) -> None:
    m = STRUCTURED[name]
    prior = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
    x = np.random.default_rng(1).choice(m.k, size=20_000, p=prior)
    found = ex.estimate_frequencies(Simulation(5).privatize(m, x.tolist()).reports, m)
    truth = np.bincount(x, minlength=m.k) / x.size
    assert (np.abs(found.estimate - truth) < 5 * found.standard_error).all()
    assert found.interval().shape == (m.k, 2)
    assert channel_of(m).smallest_share(prior) > 0
    assert found.summary().startswith(f"Estimate: frequencies of {m.k} inputs")
    assert found.linear(np.arange(m.k)).interval()[1] > 0
    if name in ("bits", "hashes", "filter"):
        with pytest.raises(InvalidParameter, match="smooth needs the shares of the reports"):
            ex.estimate_frequencies(Simulation(5).privatize(m, x.tolist()).reports, m, method="smooth")
    else:
        smooth = ex.estimate_frequencies(Simulation(5).privatize(m, x.tolist()).reports, m, method="smooth")
        assert np.abs(smooth.estimate - truth).sum() < 0.5
    with pytest.raises(InvalidParameter, match="maximum likelihood"):
        ex.estimate_frequencies(Simulation(5).privatize(m, x.tolist()).reports, m, method="mle")


def test_reports_that_cannot_be_are_refused() -> None:
    for m, report in ((STRUCTURED["bits"], (1, 1)), (STRUCTURED["hashes"], -1), (STRUCTURED["points"], 13)):
        with pytest.raises(UnknownLabel):
            ex.estimate_frequencies([report, report], m)


def test_each_channel_takes_its_own_mechanism_alone() -> None:
    for channel in (BitsChannel, HashChannel, HadamardChannel, ProjectiveChannel, BloomChannel):
        with pytest.raises(InvalidParameter, match="the mechanism must be"):
            channel(ex.randomized_response(3, 1))
    assert {"independent_bits", "hashed", "hadamard", "projective"} <= set(CHANNELS)
    with pytest.raises(TooLarge, match="at most 2\\^27 vectors"):
        channel_of(_projective(1000, 1, 3, 18))


def test_chosen_labels_of_a_million(monkeypatch: pytest.MonkeyPatch) -> None:
    m = ex.local_hashing(1_000_000, 2)
    x = np.where(np.arange(20_000) % 4 == 0, 999_999, np.arange(20_000) * 37 % 1_000_000)
    reports = Simulation(2).privatize(m, x.tolist()).reports
    found = ex.estimate_frequencies(reports, m, labels=[999_999, 5])
    assert np.array_equal(found.estimate, estimate_chosen(reports, m, [999_999, 5]).estimate)
    with pytest.raises(ex.errors.InvalidParameter, match="with labels only `column`"):
        ex.estimate_frequencies(reports, m, "mle", labels=[5])  # type: ignore[call-overload]
    with pytest.raises(InvalidParameter, match=r"local hashing alone.*Leave labels= out"):
        ex.estimate_frequencies([0, 1], ex.randomized_response(2, 1), labels=[1])
    assert abs(found.estimate[0] - 0.25) < 5 * found.standard_error[0]
    assert abs(found.estimate[1]) < 5 * found.standard_error[1] + 1e-4
    assert found.standard_error[1] == pytest.approx(
        math.sqrt(math.exp(2)) * 2 / math.expm1(2) / math.sqrt(20_000), rel=0.05
    )
    narrow, wide = found.interval(), found.interval(simultaneous=True)
    assert (wide[:, 1] - wide[:, 0] > narrow[:, 1] - narrow[:, 0]).all()
    with pytest.raises(InvalidParameter, match="level must lie"):
        found.interval(1)
    with pytest.raises(UnknownLabel):
        estimate_chosen(reports, m, [1_000_000])
    with pytest.raises(InvalidParameter, match="at least two reports"):
        estimate_chosen(reports[:1], m, [0])
    with pytest.raises(TooLarge, match="for every input"):
        ex.estimate_frequencies(reports, m)
    monkeypatch.setattr(indicators, "MOST_HASHES", 10)
    with pytest.raises(TooLarge, match="for every input"):
        ex.estimate_frequencies([1, 2], ex.local_hashing(10, 1))


# -- the published variances


def _published(name: str, k: int, epsilon: float) -> float:
    """n·MSE over all k of a uniform prior: k·b(1−b)/(a−b)² + (1−a−b)/(a−b), plus what sampling people adds."""
    e = math.exp(epsilon)
    if name == "projective":
        q = ex.projective_geometry(k, epsilon).structure.order  # type: ignore[attr-defined]
        t = next(t for t in range(2, 40) if (q**t - 1) // (q - 1) >= k)
        m, c, both = ((q**j - 1) // (q - 1) for j in (t, t - 1, t - 2))
        a, b = c * e / (c * e + m - c), (both * e + c - both) / (c * e + m - c)
    elif name == "Hadamard":
        a, b = e / (e + 1), 1 / 2
    else:
        a, b = {
            "optimised": (1 / 2, 1 / (e + 1)),
            "symmetric": (math.sqrt(e) / (math.sqrt(e) + 1), 1 / (math.sqrt(e) + 1)),
            "hashing": (e / (e + round(e)), 1 / (round(e) + 1)),
        }[name]
    held = b + (a - b) / k
    return k * held * (1 - held) / (a - b) ** 2


MAKERS: dict[str, Any] = {
    "optimised": ex.unary_encoding,
    "symmetric": lambda k, epsilon: ex.unary_encoding(k, epsilon, optimised=False),
    "hashing": ex.local_hashing,
    "Hadamard": ex.hadamard_response,
    "projective": ex.projective_geometry,
}


@pytest.mark.parametrize(("k", "epsilon"), [(300, 0.4), (300, 0.69), (500, 0.6)])
@pytest.mark.parametrize("name", MAKERS)
def test_stated_and_simulated_variance_are_the_published_one(name: str, k: int, epsilon: float) -> None:
    m = MAKERS[name](k, epsilon)
    published = _published(name, k, epsilon)
    assert frequency_variance(m) == pytest.approx(published, rel=1e-4)
    n, rounds, total = 3000, 8, 0.0
    for i in range(rounds):
        x = np.random.default_rng(i).integers(k, size=n)
        found = ex.estimate_frequencies(Simulation(i).privatize(m, x).reports.tolist(), m)
        total += n * float(((found.estimate - 1 / k) ** 2).sum())
    # 2,400 or more squares, nearly independent: the mean is within 3% but for one time in a few hundred.
    assert total / rounds == pytest.approx(published, rel=0.06)


def test_variance_needs_identified_inputs() -> None:
    with pytest.raises(InvalidParameter, match="identified"):
        frequency_variance(ex.stochastic_rounding(5, 1))
    m = ex.randomized_response(4, 1)
    prior = [0.4, 0.3, 0.2, 0.1]
    dense = DenseChannel(m).inverse(np.array(prior))
    assert frequency_variance(m, prior) == pytest.approx(dense.variances(np.array(prior), np.array(prior)).sum())
    shared = ex.Mechanism.from_weights([[3, 1], [3, 1], [1, 3]], 4)
    with pytest.raises(InvalidParameter, match="identified"):
        frequency_variance(shared)
    with pytest.raises(InvalidParameter, match="identified"):
        statistics_variance(shared, np.eye(3), [0.5, 0.25, 0.25])
    assert statistics_variance(m, np.eye(4), prior) == pytest.approx(frequency_variance(m, prior))


@pytest.mark.parametrize("k", [500, pytest.param(5_000, marks=pytest.mark.slow)])
def test_heavy_labels_are_heavy_and_their_limits_hold_together(k: int) -> None:
    n = 40_000
    truth = np.full(k, 0.4 / k)
    truth[[3, 70, k - 1]] += 0.2
    x = np.random.default_rng(4).choice(k, size=n, p=truth)
    for m in (ex.hadamard_response(k, 2), ex.projective_geometry(k, 2), ex.local_hashing(k, 2)):
        reports = Simulation(6).privatize(m, x).reports
        found = ex.estimate_frequencies(reports, m).heavy(0.1, level=0.999)
        assert sorted(found.inputs) == [3, 70, k - 1]
        assert (len(found), found.of, found.at_least, found.level) == (3, k, 0.1, 0.999)
        assert (np.diff(found.estimate) <= 0).all()
        assert ((found.low <= 0.2 + 0.4 / k) & (found.high >= 0.2 + 0.4 / k)).all()
        assert found.to_frame()["input"].tolist() == list(found.inputs)
        assert f"3 of {k:,} labels above 0.1; 99.9% for all limits together" in str(found)
    some = estimate_chosen(reports, m, [3, 70, 71]).heavy(0.1)
    assert sorted(some.inputs) == [3, 70]
    many = ex.estimate_frequencies(list(range(60)) * 400, ex.randomized_response(60, 20)).heavy()
    assert "… and 20 more" in str(many)
    for wrong in (-0.1, 1, math.nan, "a"):
        with pytest.raises(InvalidParameter, match="at_least must be a frequency below 1"):
            ex.estimate_frequencies(reports, m).heavy(wrong)  # type: ignore[arg-type]


def test_rows_in_another_order_have_the_same_variances() -> None:
    m, order = ex.subset_selection(6, 1), np.array([2, 0, 5, 1, 4, 3])
    moved = ex.Mechanism(m.structure, order, m.input_labels, m.output_labels, None)
    p, a = np.arange(1, 7) / 21, np.random.default_rng(0).normal(size=(2, 6))
    by_row, rows = np.empty(6), np.empty((2, 6))
    by_row[order], rows[:, order] = p, a
    assert frequency_variance(moved, p) == pytest.approx(frequency_variance(m, by_row), rel=1e-12)
    assert statistics_variance(moved, a, p) == pytest.approx(statistics_variance(m, rows, by_row), rel=1e-12)
