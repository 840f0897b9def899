"""What others use against what they published, or against a derivation that shares nothing with ours: every report is
listed with its probability from the words of the paper, and moments are sums over that list."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.optimize import minimize_scalar

import extremal as ex
from extremal.closed_forms.bits import permanent_filter
from extremal.closed_forms.ordered import half_window
from extremal.closed_forms.set_systems import hadamard_shape
from extremal.estimate.expected import frequency_variance
from support.means import mean_variance

PRIME, FAR = 2**21 - 9, 1234567  # of the rule that docs/mechanisms/others.md states


def _total_variance(q: Any, decoder: Any, p: Any) -> float:
    """Σ Var over labels of a decoder (reports × labels) of one report, from the list of all reports."""
    w = p @ q
    assert np.abs(q @ decoder - np.eye(len(p))).max() < 1e-8  # unbiased whatever the truth
    return float((w @ decoder**2 - (w @ decoder) ** 2).sum())


def _least_squares(q: Any, p: Any) -> Any:
    """The unbiased linear decoder of least variance at p (Gauss and Markov)."""
    weighted = q / (p @ q)
    return weighted.T @ np.linalg.inv(weighted @ q.T)


# -- RAPPOR: Erlingsson, Pihur and Korolova, CCS 2014 --


def _filter(x: int, cohort: int, bits: int, hashes: int) -> Any:
    """The filter of x in a cohort, from the rule in words."""
    u, free, word = pow(x + FAR, 3, PRIME), list(range(bits)), np.zeros(bits, dtype=int)
    for j in range(hashes):
        seed = 2 * (cohort * hashes + j)
        a, b = pow(seed + 1 + FAR, 3, PRIME), pow(seed + 2 + FAR, 3, PRIME)
        word[free.pop((a * u + b) % PRIME % (bits - j))] = 1
    return word


def _rappor(k: int, bits: int, hashes: int, cohorts: int, own: float, other: float) -> Any:
    """Q of every cohort and every filter; a bit that is set is reported as 1 with probability `own`, else `other`."""
    words = np.array(list(itertools.product((0, 1), repeat=bits)))
    rows = []
    for x in range(k):
        ones = [np.where(_filter(x, c, bits, hashes), own, other) for c in range(cohorts)]
        rows.append(np.concatenate([np.where(words, p, 1 - p).prod(axis=1) for p in ones]) / cohorts)
    return np.array(rows)


@pytest.mark.parametrize(("hashes", "epsilon", "once"), [(1, 2.0, None), (2, 1.0, None), (2, 3.0, 1.0), (1, 4.0, 0.5)])
def test_levels_of_a_bloom_filter_are_those_of_the_paper(hashes: int, epsilon: float, once: float | None) -> None:
    """ε∞ = 2h·log((1 − f/2)/(f/2)) and ε₁ = h·log(q*(1 − p*)/(p*(1 − q*))), its equations for the two levels."""
    k, bits, cohorts = 4, 6, 2
    m = ex.bloom_filter(k, epsilon, once, bits=bits, hashes=hashes, cohorts=cohorts)
    f = 2 / (1 + math.exp(epsilon / (2 * hashes)))
    assert 2 * hashes * math.log((1 - f / 2) / (f / 2)) == pytest.approx(epsilon)
    own, other = 1 - f / 2, f / 2
    structure: Any = m.structure
    if once is not None:
        p = structure.zero / 2**62  # a kept bit is shown inverted with this probability, so that q = 1 − p
        own, other = f / 2 + (1 - f) * (1 - p), f / 2 + (1 - f) * p
        assert hashes * math.log(own * (1 - other) / (other * (1 - own))) == pytest.approx(once, rel=1e-9)
        assert ex.LDP(1).level(permanent_filter(m)) == pytest.approx(epsilon, rel=1e-12)
    listed = np.log(_rappor(k, bits, hashes, cohorts, own, other))
    assert (listed.max(axis=0) - listed.min(axis=0)).max() == pytest.approx(once or epsilon, rel=1e-9)


@pytest.mark.parametrize(("hashes", "epsilon", "once"), [(1, 2.0, None), (2, 1.0, None), (2, 3.0, 1.0)])
def test_moments_of_a_bloom_filter_are_those_of_the_list_of_all_reports(
    hashes: int, epsilon: float, once: float | None
) -> None:
    k, bits, cohorts = 4, 6, 2
    m = ex.bloom_filter(k, epsilon, once, bits=bits, hashes=hashes, cohorts=cohorts)
    odds = math.exp((once or epsilon) / (2 * hashes))
    q = _rappor(k, bits, hashes, cohorts, odds / (1 + odds), 1 / (1 + odds))
    words = np.array(list(itertools.product((0, 1), repeat=bits)))
    reports = [tuple(np.packbits(np.concatenate([[c], word])).tolist()) for c in range(cohorts) for word in words]
    decoder = np.array([ex.estimate_frequencies([y, y], m).estimate for y in reports])
    uniform = np.full(k, 1 / k)
    assert _total_variance(q, decoder, uniform) == pytest.approx(frequency_variance(m), rel=1e-9)
    assert frequency_variance(m) >= _total_variance(q, _least_squares(q, uniform), uniform) - 1e-9


def test_a_bloom_filter_of_one_hash_without_collisions_is_symmetric_unary_encoding() -> None:
    """Wang et al. 2017, equation 1: n·Var = b(1−b)/(a−b)² + p(1−a−b)/(a−b) for each label, whose bits are its own."""
    k, bits = next((k, 64) for k in (6, 5, 4) if len({int(np.argmax(_filter(x, 0, 64, 1))) for x in range(k)}) == k)
    for epsilon in (0.5, 1.0, 3.0):
        m = ex.bloom_filter(k, epsilon, bits=bits, hashes=1, cohorts=1)
        a, b = 1 / (1 + math.exp(-epsilon / 2)), 1 / (1 + math.exp(epsilon / 2))
        published = k * b * (1 - b) / (a - b) ** 2 + (1 - a - b) / (a - b) + sum([(1 / k) * (1 - 1 / k)] * k)
        assert frequency_variance(m) == pytest.approx(published, rel=1e-9)


# -- Hadamard response in several blocks: Acharya, Sun and Zhang, AISTATS 2019 --


@pytest.mark.parametrize(("k", "epsilon"), [(12, 1.0), (40, 2.0), (200, 1.2), (300, 3.0)])
def test_hadamard_response_in_blocks_is_the_published_one(k: int, epsilon: float) -> None:
    """Sets from the rows of Sylvester's matrix; p̂(x) = 2(2B − 1 + e^ε)/(e^ε − 1)·(ĉ(C_x) − ĉ(S_j)/2), their estimate,
    has n·Var = ((2B − 1 + e^ε)/(e^ε − 1))²·P(report in block j) − p(x)²."""
    blocks, width = hadamard_shape(k, epsilon)
    assert blocks > 1
    e, total = math.exp(epsilon), blocks * width
    signs = hadamard(width)
    held = np.zeros((k, total), dtype=bool)
    for x in range(k):
        block, line = x % blocks, x // blocks + 1
        held[x, block * width : (block + 1) * width] = signs[line] > 0
    q = np.where(held, e, 1.0) * 2 / (width * (2 * blocks - 1 + e))
    assert np.abs(q.sum(axis=1) - 1).max() < 1e-12
    m = ex.hadamard_response(k, epsilon)
    if k * total <= 1 << 16:
        assert np.abs(m.matrix - q).max() < 1e-12
    else:
        structure: Any = m.structure
        for x in (0, k // 2, k - 1):
            assert (structure.favours(np.full(total, x), np.arange(total)) == held[x]).all()
        assert structure.high / structure.denominator == pytest.approx(q.max(), rel=1e-9)
    p = np.random.default_rng(0).dirichlet(np.ones(k))
    scale = (2 * blocks - 1 + e) / (e - 1)
    mass = np.bincount(np.arange(k) % blocks, weights=p, minlength=blocks)[np.arange(k) % blocks]
    in_block = (mass * (e + 1) + (1 - mass) * 2) / (2 * blocks - 1 + e)
    derived = float((scale**2 * in_block - p**2).sum())
    inside = np.zeros((k, total))
    for x in range(k):
        inside[x, (x % blocks) * width : (x % blocks + 1) * width] = 1
    decoder = (2 * scale * (held - inside / 2)).T
    assert _total_variance(q, decoder, p) == pytest.approx(derived, rel=1e-9)
    if k * total > 1 << 16:
        assert frequency_variance(m, p) == pytest.approx(derived, rel=1e-9)
    else:  # listed reports are weighted better than theirs
        assert frequency_variance(m, p) < derived
    assert derived < 12 * k * e / (e - 1) ** 2 * (
        1 + blocks / k
    )  # the order that they prove; B ≤ e^ε < 2B gives the 12


# -- square wave: Li, Wang, Lopuhaä-Zwakenberg, Li and Škorić, SIGMOD 2020 --


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5, 6.0])
def test_the_window_of_the_square_wave_maximises_the_bound_on_information(epsilon: float) -> None:
    """Their Section 5.2: with densities p = e^ε/(2be^ε + 1) within b and q = 1/(2be^ε + 1) elsewhere on [−b, 1 + b] the
    information is at most log(1 + 2b) + 2bp·log p + q·log q."""
    e = math.exp(epsilon)

    def bound(b: float) -> float:
        inside = 2 * b * e + 1
        return math.log(1 + 2 * b) + 2 * b * e / inside * (epsilon - math.log(inside)) - math.log(inside) / inside

    best = minimize_scalar(lambda b: -bound(b), bounds=(1e-6, 1.0), method="bounded", options={"xatol": 1e-10})
    assert half_window(epsilon) == pytest.approx(best.x, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_densities_and_moments_of_the_square_wave_are_those_of_the_interval(epsilon: float) -> None:
    """On a fine grid: its probabilities are the densities, and the affine estimate of a mean has the variance that
    follows from E[y|v] = q(1 + 2b)/2 + 2b(p − q)v and E[y²|v] = q((1 + b)³ + b³)/3 + (p − q)((v + b)³ − (v − b)³)/3."""
    k = 1001
    e, b = math.exp(epsilon), half_window(epsilon)
    p, q = e / (2 * b * e + 1), 1 / (2 * b * e + 1)
    m = ex.square_wave(k, epsilon)
    middle = m.matrix[k // 2] * (k - 1)
    assert middle.max() == pytest.approx(p, rel=5e-3)
    assert middle.min() == pytest.approx(q, rel=5e-3)
    v = np.linspace(0, 1, k)
    slope, constant = 2 * b * (p - q), q * (1 + 2 * b) / 2
    square = q * ((1 + b) ** 3 + b**3) / 3 + (p - q) * ((v + b) ** 3 - (v - b) ** 3) / 3
    derived = float(((square - (constant + slope * v) ** 2) / slope**2).mean())
    reports = np.arange(m.m) - (m.m - k) / 2
    steps, first = np.polyfit(v, m.matrix @ reports, 1)
    decoder = (reports - first) / steps
    spread = float(v.var())
    assert mean_variance(m, v, decoder=decoder) - spread == pytest.approx(derived, rel=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("k", [5, 16])
def test_the_square_wave_has_the_variance_of_gauss_and_markov(k: int, epsilon: float) -> None:
    m = ex.square_wave(k, epsilon)
    window = max(1, round(2 * half_window(epsilon) * (k - 1)))
    e, reports = math.exp(epsilon), k + window - 1
    near = (np.arange(reports)[None, :] - np.arange(k)[:, None]) // window == 0
    q = np.where(near, e, 1.0) / (window * e + reports - window)
    for p in (np.full(k, 1 / k), np.arange(1, k + 1) / (k * (k + 1) / 2)):
        derived = _total_variance(q, _least_squares(q, p), p)
        assert frequency_variance(m, p) == pytest.approx(derived, rel=1e-7)
