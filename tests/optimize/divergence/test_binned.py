"""Large alphabets without a sort: the same optimum as by sorting, whatever the ratios look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.divergence import binned
from extremal.optimize.divergence.binned import BinnedCurve, RatioBins
from extremal.optimize.divergence.lorenz import BlockValue, Lorenz
from extremal.optimize.divergence.polygon import solve as solve_polygon

K = 6_000


def _ordinary(rng: np.random.Generator) -> Any:
    return rng.dirichlet(np.ones(K), 2)


def _sparse(rng: np.random.Generator) -> Any:
    p = rng.dirichlet(np.full(K, 0.3), 2)
    p[0, : K // 4] = p[1, K // 8 : K // 2] = 0.0
    return p / p.sum(axis=1, keepdims=True)


def _tied(rng: np.random.Generator) -> Any:
    p = rng.integers(1, 6, size=(2, K)).astype(float)
    return p / p.sum(axis=1, keepdims=True)


def _near(rng: np.random.Generator) -> Any:
    p = rng.dirichlet(np.ones(K))
    q = p * (1 + 1e-3 * rng.standard_normal(K))
    return p, q / q.sum()


@pytest.mark.parametrize("pair", [_ordinary, _sparse, _tied, _near])
@pytest.mark.parametrize(
    ("divergence", "epsilon"), [(ex.KL, 1.0), (ex.ChiSquared, 3.0), (ex.TotalVariation, 0.5), (ex.JensenShannon, 0.02)]
)
def test_bins_find_what_sorting_finds(pair: Any, divergence: Any, epsilon: float) -> None:
    utility = divergence(*pair(np.random.default_rng(7)))
    found = ex.design(ex.LDP(epsilon), utility)
    sorted_ = solve_polygon(Lorenz.of(utility), BlockValue.of(utility, epsilon), 1e-13)
    assert found.value == pytest.approx(sorted_.worth, rel=1e-11)
    assert found.gap < 1e-9
    assert ex.verify(found)


def test_millions_of_ordinary_symbols_are_proved_by_ratios() -> None:
    found = ex.design(ex.LDP(1), ex.KL(*_ordinary(np.random.default_rng(1))))
    assert [proof.kind for proof in found.certificate.proofs] == ["order"]
    again = ex.design(ex.LDP(1), ex.KL(*_ordinary(np.random.default_rng(1))), proofs=["chords"])
    assert again.value == found.value


def test_a_budget_of_reports_on_bins() -> None:
    utility = ex.KL(*_ordinary(np.random.default_rng(2)))
    free, two = ex.design(ex.LDP(5), utility), ex.design(ex.LDP(5), utility, max_outputs=2)
    assert free.mechanism.m > two.mechanism.m == 2
    assert two.value < free.value
    assert two.upper_bound == free.upper_bound
    assert "the budget costs" in two.notes[0]


def test_blocks_are_cut_where_the_curve_says() -> None:
    utility = ex.KL(*_tied(np.random.default_rng(3)))
    bins = RatioBins.of(utility, 2.0)
    opened = np.zeros(bins.edges.size - 1, dtype=bool)
    opened[np.unique(bins.key)[3:6]] = True
    curve = BinnedCurve.of(utility, bins, opened)
    assert curve.n == len(np.unique(utility.p0 / utility.p1))
    cuts = np.array([0, 2, 5, curve.n])
    blocks = curve.blocks(cuts)
    ratio = utility.p0 / utility.p1
    assert all(ratio[blocks == i].max() < ratio[blocks == i + 1].min() for i in range(2))
    assert np.allclose(np.bincount(blocks, weights=utility.p0), np.diff(curve.nodes.left0[cuts]))


def test_where_most_symbols_matter_they_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binned, "MOST_OPENED", 0.0)
    found = ex.design(ex.LDP(1), ex.KL(*_ordinary(np.random.default_rng(1))))
    assert [proof.kind for proof in found.certificate.proofs] == ["order"]


def test_equal_hypotheses_and_no_privacy_budget() -> None:
    p = _ordinary(np.random.default_rng(1))[0]
    assert ex.design(ex.LDP(1), ex.KL(p, p)).upper_bound == 0.0
    assert ex.design(ex.LDP(0), ex.KL(p, p[::-1])).upper_bound == 0.0
