"""Subset selection: sizes, values, and the two ways to keep it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms.set_systems import best_size_for_frequencies, best_size_for_information
from extremal.utility.curve import InformationCurve


@pytest.mark.parametrize("k", [3, 4])
def test_uniform_information(reference: dict[str, Any], k: int) -> None:
    """Erratum E6: subset selection, not the binary mechanism, is optimal for a uniform prior; sizes and values to
    1e-12."""
    case = reference[f"ldp_opt_mi_uniform_k{k}"]
    information = ex.MutualInformation([f"1/{k}"] * k)
    for key, expected in case["expected"].items():
        epsilon = key.removeprefix("eps_")
        best = ex.subset_selection(k, epsilon, size="information")
        assert information(best) == pytest.approx(float(expected["OPT_MI"]), rel=1e-12)
        assert len(best.outputs[0]) == expected["optimal_subset_size"]
        assert information(ex.binary_for_information([f"1/{k}"] * k, epsilon)) == pytest.approx(
            float(expected["BIN_MI"]), rel=1e-12
        )
        assert information(ex.randomized_response(k, epsilon)) == pytest.approx(float(expected["RR_MI"]), rel=1e-12)


def test_subset_sizes() -> None:
    assert best_size_for_frequencies(100, 1) == 27
    assert best_size_for_frequencies(10, 8) == 1
    assert best_size_for_frequencies(4, 1e-6) == 2
    rates = InformationCurve(0.5).rate(np.arange(1, 12) / 12)
    assert best_size_for_information(12, 0.5) == int(np.argmax(rates)) + 1
    assert ex.MutualInformation(["1/12"] * 12)(ex.subset_selection(12, 0.5, size="information")) == pytest.approx(
        rates.max(), rel=1e-12
    )


def test_subsets_listed_and_unlisted_agree(tight: Callable[..., None]) -> None:
    """Around the size at which outputs are no longer listed: levels agree under every notion, files return the same."""
    listed, unlisted = ex.subset_selection(12, 1, size=4), ex.subset_selection(16, 1, size=6)
    assert (listed.structure.kind, unlisted.structure.kind) == ("two_valued_columns", "subset_selection")
    for m in (listed, unlisted):
        tight(ex.LDP, 1, m)
        p = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
        d = len(m.output_labels[0])
        inside = p[:d].sum()
        assert ex.PML(1, p).level(m) == pytest.approx(math.log(math.e / (1 + (math.e - 1) * inside)), rel=1e-12)
