"""What is estimated from the reports: unbiased, as precise as designed, and refused when it cannot be known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.estimate.workload import estimate_workload
from extremal.optimize.problem import Problem
from extremal.optimize.table import solved
from extremal.simulate import Simulation
from extremal.utility import CDF, Frequencies, Mean, Ranges, Workload


def zipf(k: int, s: float) -> np.ndarray:
    p = np.arange(1.0, k + 1) ** -s
    return np.asarray(p / p.sum())


CONFIGURATIONS: list[tuple[Workload, float]] = [
    (utility, epsilon)
    for epsilon in (0.5, 1.0, 2.0, 4.0)
    for utility in (
        Frequencies(zipf(6, 1.0)),
        CDF(8),
        Ranges(zipf(5, 0.5)),
        Mean([0, 1, 2, 5, 10], zipf(5, 1.0)),
        Workload([[1, 0, -1, 0], [0, 1, 1, 0]], zipf(4, 0.5)),
    )
]


def mechanism_for(utility: Workload, epsilon: float) -> ex.Mechanism:
    return solved(Problem(ex.LDP(epsilon), utility)).mechanism


def decoded(mechanism: ex.Mechanism, utility: Workload) -> np.ndarray:
    """What each report is worth: the estimate from that report alone."""
    return np.column_stack([estimate_workload({y: 2}, mechanism, utility).estimate for y in mechanism.outputs])


@pytest.mark.parametrize(("utility", "epsilon"), CONFIGURATIONS)
def test_the_simulated_error_is_the_designed_one(utility: Workload, epsilon: float) -> None:
    mechanism = mechanism_for(utility, epsilon)
    assert utility.prior is not None
    worth, prior = decoded(mechanism, utility), utility.prior.values
    truth = worth @ mechanism.marginal(prior)
    marginal = mechanism.marginal(prior)
    n, repetitions = 500, 20_000
    counts = np.random.default_rng(1).multinomial(n, marginal / marginal.sum(), size=repetitions)
    errors = counts @ worth.T / n - truth
    assert n * (errors**2).sum(axis=1).mean() == pytest.approx(utility(mechanism), rel=0.03)


@pytest.mark.parametrize(("utility", "epsilon"), CONFIGURATIONS[:10])
def test_the_estimate_is_unbiased_whatever_the_shares(utility: Workload, epsilon: float) -> None:
    mechanism = mechanism_for(utility, epsilon)
    worth = decoded(mechanism, utility)
    # Σ_y T_y Q(y|x) = a_x
    expected = worth @ mechanism.matrix.T
    from extremal.estimate.workload import statistics_of

    assert np.allclose(expected, statistics_of(utility, mechanism.input_labels)[1], atol=1e-8)


def test_standard_errors_are_those_of_the_design() -> None:
    utility = CDF(6)
    mechanism = mechanism_for(utility, 1.0)
    n = 10**6
    marginal = mechanism.marginal(np.full(6, 1 / 6))
    counts = np.rint(n * marginal).astype(int)
    found = estimate_workload(dict(zip(mechanism.outputs, counts.tolist(), strict=True)), mechanism, utility)
    assert found.n * (found.standard_error**2).sum() == pytest.approx(utility(mechanism), rel=1e-3)
    assert np.allclose(np.diagonal(found.covariance), found.standard_error**2)
    assert np.allclose(found.estimate, np.arange(1, 6) / 6, atol=1e-4)


@pytest.mark.parametrize("simultaneous", [False, True])
def test_intervals_cover(simultaneous: bool) -> None:
    utility = CDF(5)
    mechanism, prior = mechanism_for(utility, 2.0), np.full(5, 0.2)
    generator, marginal, truth = np.random.default_rng(0), mechanism.marginal(prior), np.arange(1, 5) / 5
    covered = []
    for _ in range(400):
        counts = generator.multinomial(2000, marginal / marginal.sum())
        found = estimate_workload(dict(zip(mechanism.outputs, counts.tolist(), strict=True)), mechanism, utility)
        limits = found.interval(0.9, simultaneous)
        inside = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
        covered.append(inside.all() if simultaneous else inside.mean())
    assert np.mean(covered) == pytest.approx(0.92 if simultaneous else 0.9, abs=0.04)


def test_a_mean_is_estimated_where_the_shares_are_not_identified() -> None:
    values = [0, 0.25, 1]
    one_bit = solved(Problem(ex.LDP(1), Mean(values, ex.SourceClass.simplex(3)))).mechanism
    found = estimate_workload([0, 1, 1, 0], one_bit, Mean(values))
    assert found.estimate[0] == pytest.approx(0.5)
    with pytest.raises(ex.errors.NotIdentified, match="every wanted statistic"):
        estimate_workload([0, 1], one_bit, CDF(3))
    with pytest.raises(ex.errors.NotIdentified):
        estimate_workload([0, 1], one_bit, Mean([0, 0.3, 1]))


def test_a_plain_matrix_and_labels() -> None:
    mechanism = ex.randomized_response(3, 2, inputs=["low", "middle", "high"])
    found = estimate_workload(["low", "high", "high", "middle"] * 25, mechanism, [[1, 0, 0], [1, 1, 0]])
    same = ex.estimate_frequencies(["low", "high", "high", "middle"] * 25, mechanism)
    assert found.estimate[0] == pytest.approx(same.estimate[0], abs=1e-9)
    assert found.standard_error[0] == pytest.approx(same.standard_error[0], rel=0.05)
    named = estimate_workload(["low", "high"], mechanism, CDF(3))
    assert named.names == ("≤ low", "≤ middle")
    assert "Estimate: 2 statistics of 3 inputs, 3 outputs, LDP(epsilon=2.0); n = 2 reports" in named.summary()
    assert estimate_workload(["low", "high"], mechanism, Ranges(3)).names[1] == "low–middle"
    assert named.to_frame().columns.tolist() == ["statistic", "shown", "low", "high", "estimate", "standard_error"]


def test_weights_count_as_that_many_people() -> None:
    mechanism = ex.randomized_response(3, 2)
    plain = estimate_workload([0, 0, 1, 2], mechanism, CDF(3))
    weighted = estimate_workload([0, 1, 2], mechanism, CDF(3), weights=[2.0, 1.0, 1.0])
    assert np.allclose(plain.estimate, weighted.estimate)
    assert weighted.effective_n == pytest.approx(16 / 6)


def test_subsets_too_many_to_list() -> None:
    mechanism = ex.subset_selection(40, 1)
    generator = np.random.default_rng(0)
    labels: Any = [tuple(sorted(generator.choice(40, 11, replace=False).tolist())) for _ in range(200)]
    found = estimate_workload(labels, mechanism, CDF(40))
    same = ex.estimate_frequencies(labels, mechanism)
    assert np.allclose(found.estimate, np.cumsum(same.estimate)[:-1], atol=1e-9)


def test_subsets_too_many_to_list_are_read_at_the_prior() -> None:
    """Inputs in two groups: the error is the design's value, and below that of the estimate for equal shares."""
    prior = np.array([10.0] * 3 + [1.0] * 17)
    utility = Frequencies(prior / prior.sum())
    mechanism = ex.subset_selection(20, 3, size=4)
    assert mechanism.structure.kind == "subset_selection"
    truth = utility.prior.values if utility.prior is not None else prior
    codes = np.random.default_rng(4).choice(20, size=40_000, p=truth)
    reports = Simulation(5).privatize(mechanism, codes.tolist()).reports
    found = estimate_workload(reports, mechanism, utility)
    designed = utility(mechanism)
    assert found.n * (found.standard_error**2).sum() == pytest.approx(designed, rel=0.02)
    assert ((found.estimate - truth) ** 2).sum() * found.n < 3 * designed
    usual = estimate_workload(reports, mechanism, Frequencies(20))
    assert usual.n * (usual.standard_error**2).sum() > 1.02 * designed


def test_bad_input_is_refused() -> None:
    mechanism = ex.randomized_response(3, 2)
    with pytest.raises(ex.errors.InvalidParameter, match="3 inputs"):
        estimate_workload([0], mechanism, CDF(4))
    with pytest.raises(ex.errors.UnknownLabel):
        estimate_workload(["x"], mechanism, CDF(3))
    with pytest.raises(ex.errors.InvalidParameter, match="at least one report"):
        estimate_workload([], mechanism, CDF(3))


def test_words_of_bits_are_read_for_workloads_and_tables() -> None:
    m = ex.unary_encoding(5, 2)
    reports, again = (Simulation(seed).privatize(m, [0, 1, 2, 3, 4] * 40).reports for seed in (1, 2))
    shares = ex.estimate_frequencies(reports, m)
    found = ex.estimate_workload(reports, m, ex.CDF(5))
    assert found.estimate == pytest.approx(np.cumsum(shares.estimate)[:-1])
    fitted = shares.fit.inverse.variances(shares.fit.plausible, shares.fit.plausible)[0]
    assert found.standard_error[0] == pytest.approx(np.sqrt(fitted / 200), rel=1e-9)
    assert found.standard_error[0] <= shares.standard_error[0] * (1 + 1e-9)
    frame = {"report": list(reports), "group": ["a", "b"] * 100, "again": list(again)}
    table = ex.estimate_crosstab(frame, {"report": m, "group": None})
    assert table.estimate.sum(axis=1) == pytest.approx(shares.estimate)
    assert ex.estimate_change(frame, "report", "again", m).n == 200
