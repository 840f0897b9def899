"""The page of errata has a row for each, its tests exist, and corrected statements hold on random instances."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms.balance import balanced_subset
from extremal.exact import as_prior
from extremal.theory import binary_threshold, binary_threshold_for, rr_threshold

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "errata.md"
ERRATA = [*(f"E{i}" for i in range(1, 14)), *(f"P{i}" for i in range(1, 11)), *(f"H{i}" for i in range(1, 9))]
ROWS_ONLY = {"E13", "H7", "H8"}  # an experiment, typography


def test_every_erratum_has_a_row_and_every_test_it_names_exists() -> None:
    rows = re.findall(r"^\| ([EPH]\d+) \|(.*)\|$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert [name for name, _ in rows] == ERRATA
    written = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)", written))
    for name, row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert set(named) <= defined, name
        assert bool(named) != (name in ROWS_ONLY), name


def test_erratum_e1_without_ties_one_bit_is_optimal_for_small_epsilon() -> None:
    generator = np.random.default_rng(1)
    for _ in range(15):
        p0, p1 = generator.dirichlet(np.ones(4)), generator.dirichlet(np.ones(4))
        epsilon = round(min(binary_threshold(p0, p1), 5) * 0.99, 6)
        for divergence in (ex.KL, ex.ChiSquared, ex.SquaredHellinger):
            best = ex.design(ex.LDP(epsilon), divergence(p0, p1)).value
            assert divergence(p0, p1)(ex.binary(p0, p1, epsilon)) == pytest.approx(best, rel=1e-11)


def test_erratum_e3_with_distinct_ratios_it_is_optimal_from_some_epsilon_on() -> None:
    generator = np.random.default_rng(3)
    for _ in range(10):
        k = int(generator.integers(3, 6))
        p0, p1 = generator.dirichlet(2 * np.ones(k)), generator.dirichlet(2 * np.ones(k))
        start = rr_threshold(ex.KL(p0, p1))
        assert start < 40
        for epsilon in (start + 0.1, start + 2):
            best = ex.design(ex.LDP(epsilon), ex.KL(p0, p1)).value
            assert ex.KL(p0, p1)(ex.randomized_response(k, epsilon)) == pytest.approx(best, rel=1e-11)


def test_erratum_e6_a_unique_balanced_set_is_optimal_for_small_epsilon() -> None:
    """Random priors have one most balanced partition, and a positive threshold; the uniform one on three symbols has
    three, and none."""
    generator = np.random.default_rng(6)
    for _ in range(4):
        prior = generator.dirichlet(np.ones(3))
        epsilon = 0.02
        assert balanced_subset(as_prior(prior)).proven
        best = ex.design(ex.LDP(epsilon), ex.MutualInformation(prior), tolerance=1e-12).value
        one_bit = ex.MutualInformation(prior)(ex.binary_for_information(prior, epsilon))
        assert one_bit == pytest.approx(best, rel=1e-10)
    assert binary_threshold_for(ex.MutualInformation(["1/3"] * 3)) == 0.0
