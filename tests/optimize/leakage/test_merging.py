"""Large alphabets: merged inputs, and bounds that hold for the full ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.leakage import merging as leakage_merging
from extremal.optimize.table import SIZES


@pytest.mark.slow
@pytest.mark.slow
def test_information_on_many_inputs_loses_next_to_nothing() -> None:
    zipf = 1 / np.arange(1, 501)
    p = zipf / zipf.sum()
    found = ex.design(ex.PML(1, p), ex.MutualInformation(p), tolerance=1e-5, time_limit=10)
    assert ex.verify(found)
    assert found.gap < 1e-5
    assert "merged" in found.method
    assert found.mechanism.row_classes <= leakage_merging.GROUPS


@pytest.mark.parametrize("notion", [lambda p: ex.PML(0.4, p), lambda p: ex.LIP(0.4, p, lower=1)], ids=["PML", "LIP"])
@pytest.mark.parametrize(
    "make",
    [
        ex.KL,
        ex.TotalVariation,
        lambda p0, p1: ex.AlphaDivergence(p0, p1, alpha=0.5),
        lambda p0, p1: ex.HockeyStick(p0, p1, gamma=1.2),
        lambda p0, p1: ex.FDivergence(p0, p1, lambda x: (x - 1) ** 2),
    ],
    ids=["KL", "TV", "alpha", "hockey stick", "user"],
)
def test_merged_designs_hold_and_their_bounds_are_above_the_optimum(
    make: Any, notion: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(6)
    p, p0, p1 = (np.append(generator.dirichlet(np.ones(30)), 0.0) for _ in range(3))
    utility, privacy = make(p0, p1), notion(p)
    best = ex.design(privacy, utility)
    monkeypatch.setattr(leakage_merging, "SIZES", replace(SIZES, lift_information=10, lift_divergence=10))
    monkeypatch.setattr(leakage_merging, "SIDE", 4)
    merged = ex.design(privacy, utility)
    assert "merged into" in merged.method
    assert privacy.holds(merged.mechanism)
    assert merged.value <= best.upper_bound * (1 + 1e-12)
    assert merged.upper_bound >= best.value
    assert merged.value > 0.3 * best.value


def test_information_merged_at_small_size(monkeypatch: pytest.MonkeyPatch) -> None:
    p = np.random.default_rng(7).dirichlet(np.ones(40))
    best = ex.design(ex.PML(0.8, p), ex.MutualInformation(p), tolerance=1e-4)
    monkeypatch.setattr(leakage_merging, "SIZES", replace(SIZES, lift_information=10, lift_divergence=10))
    monkeypatch.setattr(leakage_merging, "GROUPS", 24)
    merged = ex.design(ex.PML(0.8, p), ex.MutualInformation(p), tolerance=1e-4)
    assert ex.verify(merged)
    assert merged.value == pytest.approx(best.value, rel=1e-2)
    assert merged.upper_bound >= best.value
