"""Numbers sorted into bins: where each goes, what a bin stands for, and what may not be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.simulate import Simulation


def test_a_bin_holds_its_lower_edge_and_the_last_one_both() -> None:
    bins = ex.binned([0, 1, 1.5, 2, 3], [0, 1, 2, 3])
    assert bins.labels == ["0–1", "1–2", "1–2", "2–3", "2–3"]
    assert bins.middles.tolist() == [0.5, 1.5, 2.5]
    assert bins.of([-5, 99]) == ["0–1", "2–3"]  # what lies beyond counts in an end bin
    assert repr(bins) == "Bins(3 bins from 0 to 3, 5 values)"


def test_a_pilot_gives_bins_of_equal_count_and_their_means() -> None:
    pilot = np.arange(100.0) ** 2
    bins = ex.binned([50.0], 4, pilot=pilot)
    counts = np.bincount([bins.names.index(label) for label in bins.of(pilot)])
    assert counts.tolist() == [25, 25, 25, 25]
    assert bins.middles @ counts / 100 == pytest.approx(pilot.mean())


def test_labels_are_ready_to_be_privatised_and_the_mean_comes_back() -> None:
    generator = np.random.default_rng(0)
    ages = generator.uniform(0, 100, size=3000)
    bins = ex.binned(ages, 10, between=(0, 100))
    design = ex.design(ex.LDP(4), ex.Mean(bins.middles), inputs=bins.names)
    reports = Simulation(1).privatize(design.mechanism, bins.labels).reports
    found = ex.estimate_workload(reports, design.mechanism, ex.Mean(bins.middles))
    assert abs(found.estimate[0] - 50) < 6 * found.standard_error[0] + 1
    assert found.standard_error[0] * 3000**0.5 == pytest.approx(design.value**0.5, rel=0.1)


@pytest.mark.parametrize(
    ("values", "bins", "options", "message"),
    [
        ([1, 2], [0, 1, 1], {}, "increase"),
        ([1, 2], [0, 1], {}, "at least three"),
        ([1, 2], 4, {}, "either between"),
        ([1, 2], 4, {"between": (0, 1), "pilot": [1, 2]}, "either between"),
        ([1, 2], 4, {"between": (0, 1, 2)}, "two numbers"),
        ([1, 2], [0, 1, 2], {"between": (0, 1)}, "neither"),
        ([1, float("nan")], [0, 1, 2], {}, "finite"),
        (["a"], [0, 1, 2], {}, "must be numbers"),
        ([[1]], [0, 1, 2], {}, "list of numbers"),
        ([], [0, 1, 2], {}, "list of numbers"),
    ],
)
def test_bad_input_is_refused(values: Any, bins: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.binned(values, bins, **options)


def test_an_error_names_the_place_and_not_the_value() -> None:
    with pytest.raises(ex.errors.InvalidParameter) as caught:
        ex.binned([12345.0, float("inf")], [0, 1, 2])
    assert "1" in str(caught.value)
    assert "12345" not in str(caught.value)
