"""What others use: parameters, orders and the variances that were published for ordered answers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms import FORMS, Setting
from extremal.closed_forms.ordered import half_window, levels_of
from extremal.closed_forms.set_systems import hadamard_shape
from extremal.errors import InvalidParameter, NotIdentified, TooLarge
from extremal.estimate.expected import expected_workload, frequency_variance
from extremal.release.audit import audit
from extremal.simulate import Simulation
from support.means import mean_variance

ORDERED = ("stochastic rounding", "piecewise", "hybrid", "square wave", "hierarchical")


def ordered(name: str, k: int, epsilon: Any) -> ex.Mechanism:
    return FORMS[name].make(Setting(k, epsilon))


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("k", [2, 3, 40])
@pytest.mark.parametrize("epsilon", ["0.000001", "0.5", "1", "3", "9"])
def test_the_claim_is_tight(name: str, k: int, epsilon: str) -> None:
    m = ordered(name, k, epsilon)
    assert m.privacy == ex.LDP(epsilon)
    assert not ex.LDP(Fraction(epsilon) * (1 - Fraction(1, 10**9))).holds(m)


@pytest.mark.parametrize("name", ORDERED)
def test_the_audit_passes(name: str) -> None:
    assert audit(ordered(name, 12, 1), draws=20_000, confidence=0.999999)


@pytest.mark.parametrize("name", ORDERED)
def test_files_keep_it(name: str, tmp_path: Any) -> None:
    m = ordered(name, 20, 1)
    assert ex.load(m.save(tmp_path / "m.json")) == m


def _affine(m: ex.Mechanism, v: Any, part: slice) -> Any:
    """The affine function of the report that is unbiased for v, given that the report is in the part."""
    q = m.matrix[:, part]
    q = q / q.sum(axis=1, keepdims=True)
    y = np.arange(q.shape[1])
    slope, constant = np.polyfit(v, q @ y, 1)
    return (y - constant) / slope


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("name", ["stochastic rounding", "piecewise", "hybrid"])
def test_variances_of_a_mean_are_the_published_ones(name: str, epsilon: float) -> None:
    k = 201
    v = np.linspace(-1, 1, k)
    m = ordered(name, k, epsilon)
    e, s, square = math.exp(epsilon), math.exp(epsilon / 2), float(v @ v) / k
    one_bit = ((e + 1) / (e - 1)) ** 2 - square
    pieces = square / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
    share = {"stochastic rounding": 0.0, "piecewise": 1.0, "hybrid": 1 - 1 / s if epsilon > 0.61 else 0.0}[name]
    published = share * pieces + (1 - share) * one_bit
    if 0 < share < 1:
        decoder = np.concatenate([_affine(m, v, slice(0, m.m - 2)), _affine(m, v, slice(m.m - 2, m.m))])
    else:
        decoder = _affine(m, v, slice(0, m.m))
    assert m.matrix @ decoder == pytest.approx(v, abs=1e-9)
    assert mean_variance(m, v, decoder=decoder) - square == pytest.approx(published, rel=0.01)
    assert mean_variance(m, v) <= mean_variance(m, v, decoder=decoder) * (1 + 1e-9)
    x = np.random.default_rng(4).integers(k, size=40_000)
    reports = Simulation(6).privatize(m, x).reports
    simulated = float(np.mean((decoder[reports] - v[x]) ** 2))
    assert simulated == pytest.approx(published, rel=0.03)


def test_a_mean_with_its_interval() -> None:
    m = ex.stochastic_rounding(5, 1)
    x = np.random.default_rng(0).integers(5, size=20_000)
    v = [0, 1, 2, 3, 4]
    found = ex.estimate_workload(Simulation(1).privatize(m, x).reports, m, ex.Mean(v))
    ((low, high),) = found.interval()
    assert low < found.estimate[0] < high
    assert abs(found.estimate[0] - x.mean()) < 5 * found.standard_error[0]
    assert found.standard_error[0] == pytest.approx(math.sqrt(mean_variance(m, v) / 20_000), rel=0.02)
    with pytest.raises(InvalidParameter, match="level must lie"):
        found.interval(0)
    with pytest.raises(InvalidParameter, match="at least two reports"):
        ex.estimate_workload([1], m, ex.Mean(v))
    with pytest.raises(NotIdentified, match="identify every wanted statistic"):
        ex.estimate_workload([1, 0], m, ex.Mean([0, 1, 0, 1, 0]))


@pytest.mark.parametrize("name", ["stochastic rounding", "piecewise", "hybrid"])
def test_an_expected_mean_has_the_least_variance(name: str) -> None:
    """The workload's decoder at equally likely inputs is the one of the pseudo-inverse."""
    v = np.linspace(-1, 1, 41)
    m = ordered(name, 41, 1.0)
    expected = expected_workload(m, ex.Mean(v, prior=np.full(41, 1 / 41)))(1000)
    assert expected.standard_error[0] ** 2 * 1000 == pytest.approx(mean_variance(m, v), rel=1e-6)


def test_the_window_of_the_square_wave() -> None:
    for epsilon in (0.01, 1.0, 5.0):
        e = math.exp(epsilon)
        assert half_window(epsilon) == pytest.approx((epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon)), rel=1e-6)
    assert half_window(0.00099999) == pytest.approx(half_window(0.001), rel=1e-6)
    assert half_window(50) > 0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_square_wave_has_the_stated_variance(epsilon: float) -> None:
    m, k, n, rounds = ex.square_wave(16, epsilon), 16, 4000, 150
    assert frequency_variance(m) > 0
    counts = np.random.default_rng(2).multinomial(n, m.marginal(np.full(k, 1 / k)), size=rounds)
    found = [((ex.estimate_frequencies(c, m, counts=True).estimate - 1 / k) ** 2).sum() for c in counts]
    spread = np.std(found) / math.sqrt(rounds)
    assert n * np.mean(found) == pytest.approx(frequency_variance(m), abs=4 * n * spread)


@pytest.mark.parametrize(("k", "epsilon"), [(16, 0.5), (64, 1.0), (100, 2.0)])
def test_levels_of_a_hierarchy_have_the_published_variance_and_consistency_improves(k: int, epsilon: float) -> None:
    m, shape = ex.hierarchical(k, epsilon), levels_of(k, 4)
    e, h, start = math.exp(epsilon), len(shape), 0
    uniform = np.full(k, 1 / k)
    w = m.marginal(uniform)
    best = channel_variances = None
    for length, width in shape:
        blocks = -(-k // length)
        signs = 1 - 2 * (np.bitwise_count((np.arange(blocks) + 1)[:, None] & np.arange(width)[None, :]) % 2).astype(int)
        decoder = np.zeros((blocks, m.m))
        decoder[:, start : start + width] = h * signs * (e + 1) / (e - 1)  # each level has the h-th part of the people
        of_leaf = np.arange(k) // length
        held = np.eye(blocks)[of_leaf]
        assert m.matrix @ decoder.T == pytest.approx(held, abs=1e-9)
        share = uniform @ held
        variance = decoder**2 @ w - share**2
        assert variance == pytest.approx(h * ((e + 1) / (e - 1)) ** 2 - share**2, rel=1e-9)
        best, start = variance, start + width
        channel_variances = frequency_variance(m)
    assert best is not None
    assert channel_variances is not None
    assert channel_variances < best.sum()


def test_shapes_and_bad_parameters() -> None:
    assert hadamard_shape(1_000_000, 3) == (16, 65536)
    for make in (ex.piecewise, ex.square_wave, ex.hierarchical, ex.hadamard_response, ex.projective_geometry):
        with pytest.raises(InvalidParameter, match="epsilon must be positive"):
            make(10, 0)
    assert ex.stochastic_rounding(5, 0).row_classes == 1
    with pytest.raises(TooLarge, match="hierarchical"):
        ex.hierarchical(10_000, 1)
    with pytest.raises(TooLarge, match="hybrid"):
        ex.piecewise(10_000, 1, hybrid=True)
    assert ex.local_hashing(10, 1, buckets=2).structure.buckets == 2  # type: ignore[attr-defined]
    assert ex.local_hashing(10, 30).structure.buckets == 1 << 20  # type: ignore[attr-defined]
    large = ex.projective_geometry(1_000_000, 3).structure
    assert (large.order, large.coordinates) == (19, 6)  # type: ignore[attr-defined]
