"""The seeded twin: reproducible, exactly distributed, and marked so that it is never taken for a release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import extremal as ex
from extremal.simulate import Simulated, Simulation

M = ex.randomized_response(4, 1, inputs=["a", "b", "c", "d"])
VALUES = ["a", "b", "c", "d"] * 50
PINNED = [7, 1, 4, 2, 5, 5, 6, 9]


def test_the_same_seed_gives_the_same_reports() -> None:
    first, again, other = Simulation(1), Simulation(1), Simulation(2)
    one, two = first.privatize(M, VALUES), first.privatize(M, VALUES)
    assert again.privatize(M, VALUES).reports == one.reports
    assert one.reports != two.reports
    assert other.privatize(M, VALUES).reports != one.reports


def test_reports_never_change_between_releases() -> None:
    """Papers quote seeds: these reports are fixed for good."""
    assert Simulation(2024).privatize(ex.randomized_response(10, 1), [0, 1, 2, 3, 4, 5, 6, 7]).reports == PINNED


def test_it_is_distributed_like_a_release() -> None:
    reports = Simulation(3).privatize(ex.randomized_response(5, 1), np.zeros(200_000, dtype=int)).reports
    assert chisquare(np.bincount(reports), ex.randomized_response(5, 1).matrix[0] * 200_000).pvalue > 1e-6


def test_the_output_is_marked() -> None:
    simulated = Simulation(7).privatize(M, ["a", "b"])
    assert isinstance(simulated, Simulated)
    assert (simulated.seed, simulated.call, len(simulated)) == (7, 0, 2)
    assert "NOT PRIVATE" in repr(simulated)
    assert list(simulated) == simulated.reports
    assert ex.estimate_frequencies(Simulation(7).privatize(M, VALUES).reports, M).n == 200
    with pytest.raises(ex.errors.InvalidParameter, match="simulated reports are no release"):
        ex.estimate_frequencies(simulated, M)
    with pytest.raises(ex.errors.UnknownLabel):
        M.privatize(simulated)


def test_frames() -> None:
    frame = pd.DataFrame({"q": VALUES, "x": range(200)})
    one, two = (Simulation(5).privatize_frame(frame, {"q": M}).reports for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert one["x"].equals(frame["x"])
    assert not one["q"].equals(frame["q"])


@pytest.mark.parametrize("seed", [-1, 1.5, True, None])
def test_seeds_are_whole_numbers(seed: object) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="seed must be"):
        Simulation(seed)  # type: ignore[arg-type]
