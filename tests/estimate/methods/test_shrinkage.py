"""Shrinkage and smoothing: where they win, where they lose, and what they always are."""

import numpy as np
import pytest

import extremal as ex
from extremal.estimate.methods.shrinkage import grid, normal_likelihood, posterior_shares
from extremal.estimate.methods.smoothing import averaged, fixed_point, parameters


def _distance(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.abs(p - q).sum() / 2)


def _truth(kind: str, k: int) -> np.ndarray:
    x = np.arange(1, k + 1)
    p = {
        "uniform": np.ones(k),
        "zipf": x**-1.5,
        "sparse": np.where(x <= k // 20, 1.0, 0.0),
        "smooth": (x / k) ** 4 * (1 - x / (k + 1)),
        "spiky": np.where(x % 12 == 1, 1.0, 0.02),
    }[kind]
    return np.asarray(p / p.sum())


def _distances(mechanism: ex.Mechanism, kind: str, n: int, methods: tuple[str, ...], surveys: int = 3) -> np.ndarray:
    p = _truth(kind, mechanism.k)
    generator = np.random.default_rng(11)
    q = mechanism.marginal(p)
    return np.mean(
        [
            [
                _distance(ex.estimate_frequencies(counts, mechanism, m, counts=True).estimate, p)  # type: ignore[call-overload]
                for m in methods
            ]
            for counts in generator.multinomial(n, q / q.sum(), size=surveys)
        ],
        axis=0,
    )


@pytest.mark.parametrize(("kind", "at_most"), [("uniform", 0.2), ("zipf", 0.9), ("sparse", 0.7)])
def test_shrinkage_beats_projection_on_many_cells(kind: str, at_most: float) -> None:
    projected, shrunk = _distances(ex.randomized_response(100, 2), kind, 10_000, ("projected", "shrunk"))
    assert shrunk <= at_most * projected


def test_shrinkage_of_a_mechanism_with_more_outputs_than_inputs() -> None:
    rng = np.random.default_rng(3)
    copies = [ex.randomized_response(40, 2).matrix, rng.dirichlet(np.ones(20), size=40)]
    mechanism = ex.Mechanism.from_matrix(np.hstack(copies) / 2)
    projected, shrunk = _distances(mechanism, "uniform", 5_000, ("projected", "shrunk"))
    assert shrunk <= 0.5 * projected


def test_smoothing_wins_on_a_smooth_truth_and_loses_on_spikes() -> None:
    mechanism = ex.geometric(60, 2)
    projected, smooth = _distances(mechanism, "smooth", 10_000, ("projected", "smooth"))
    assert smooth <= 0.3 * projected
    shrunk, smooth = _distances(ex.randomized_response(60, 3), "spiky", 10_000, ("shrunk", "smooth"))
    assert smooth >= 1.5 * shrunk


def test_both_are_distributions() -> None:
    for mechanism in (ex.randomized_response(30, 1), ex.subset_selection(12, 1), ex.geometric(9, 1)):
        reports = mechanism.privatize(list(mechanism.inputs) * 20)
        for method in ("shrunk", "smooth"):
            p = ex.estimate_frequencies(reports, mechanism, method).estimate  # type: ignore[call-overload]
            assert (p >= 0).all()
            assert p.sum() == pytest.approx(1)


def test_without_noise_nothing_is_shrunk() -> None:
    p = np.array([0.4, 0.3, 0.2, 0.1])
    result = ex.estimate_frequencies((p * 10**7).astype(int), ex.randomized_response(4, 8), "shrunk", counts=True)
    unbiased = ex.estimate_frequencies((p * 10**7).astype(int), ex.randomized_response(4, 8), counts=True)
    assert result.estimate == pytest.approx(unbiased.estimate, abs=2e-4)


def test_the_learnt_table_is_nearly_as_near_as_bayes_rule_for_a_known_prior() -> None:
    # A thousand cells, half at 0 and half at 0.002, noise of 0.001: of all tables the one that gives 0.002 to the 500
    # cells most likely to have it is nearest on average.
    rng = np.random.default_rng(2)
    truth = np.repeat([0.0, 0.002], 500)
    seen = truth + rng.normal(0, 0.001, 1000)
    theta = grid(1000, 1e6, seen, 0.001)
    likelihood = normal_likelihood(seen, np.full((1000, theta.size), 1e-6), theta)
    found, kind = posterior_shares(likelihood, np.ones(1000), theta, 1000)
    bayes = np.where(seen >= np.sort(seen)[500], 0.002, 0.0)
    assert found.sum() == pytest.approx(1)
    assert _distance(found, truth) <= 1.1 * _distance(bayes, truth)  # the prior was not known
    assert kind == "some equal, the rest empty"


def test_a_few_large_cells_above_equal_ones_are_told_from_noise() -> None:
    p = np.where(np.arange(300) < 5, 30.0, 1.0)
    p /= p.sum()
    m = ex.randomized_response(300, 4)
    counts = np.random.default_rng(1).multinomial(20_000, m.marginal(p))
    found = ex.estimate_frequencies(counts, m, counts=True)
    assert found.reason.startswith("the reports speak for: ")
    assert _distance(found.candidate[1], p) < 0.35 * _distance(
        ex.estimate_frequencies(counts, m, "projected", counts=True).estimate, p
    )


def test_averaging_keeps_the_sum_and_one_step_is_the_three_point_mean() -> None:
    p = np.random.default_rng(1).dirichlet(np.ones(9))
    wide = np.concatenate([p[:1], p, p[-1:]])
    assert averaged(p, 1.0) == pytest.approx((wide[:-2] + 2 * wide[1:-1] + wide[2:]) / 4)
    assert averaged(p, 37.5).sum() == pytest.approx(1)


def test_the_number_of_parameters_is_the_derivative_of_the_fit() -> None:
    m = ex.randomized_response(6, 2)
    q, f, strength = m.matrix, np.array([0.3, 0.25, 0.2, 0.1, 0.1, 0.05]), 0.5

    def fit(f: np.ndarray) -> np.ndarray:
        p = np.full(6, 1 / 6)
        for _ in range(40):
            p = fixed_point(f, lambda p: q.T @ p, lambda v: q @ v, p, strength)
        return np.asarray(q.T @ p)

    p = np.linalg.solve(q.T, fit(f))
    step, trace = 1e-5, 0.0
    for y in range(6):
        up, down = f.copy(), f.copy()
        up[y] += step
        down[y] -= step
        trace += (fit(up / up.sum())[y] - fit(down / down.sum())[y]) / (2 * step)
    assert parameters(f, lambda p: q.T @ p, lambda v: q @ v, p, strength) == pytest.approx(trace, abs=0.02)


def test_smooth_refuses_inputs_that_are_not_told_apart() -> None:
    blocks = ex.Mechanism.from_partition([0, 0, 1, 1], ex.LDP(1))
    with pytest.raises(ex.errors.InvalidParameter, match="smooth needs every input by itself"):
        ex.estimate_frequencies([0, 1, 1] * 20, blocks, "smooth", merge=True)


def test_the_table_does_not_depend_on_labels_or_on_the_run() -> None:
    m = ex.randomized_response(60, 2)
    rng = np.random.default_rng(4)
    q = m.marginal(_truth("zipf", 60))
    counts, order = rng.multinomial(5_000, q / q.sum()), rng.permutation(60)
    once, again, moved = (
        ex.estimate_frequencies(c, m, counts=True).candidate[1] for c in (counts, counts, counts[order])
    )
    assert once.tolist() == again.tolist()
    assert moved == pytest.approx(once[order], abs=1e-12)
    assert not np.allclose(once, once[order], atol=1e-3)  # what was asked can fail


@pytest.mark.parametrize(("k", "epsilon", "n"), [(10, 1, 2_000), (100, 1, 10_000), (100, 3, 10_000), (400, 2, 40_000)])
def test_the_default_is_never_far_worse_than_the_nearest_distribution(k: int, epsilon: float, n: int) -> None:
    # The worst that was found by moving the number of equal cells: ten of 100 at ε = 1, about 1.4 times (points.md).
    m = ex.randomized_response(k, epsilon)
    for cells in (1, 2, k // 20 + 1, k // 10, k // 5, k // 2, k):
        default, plain = [], []
        p = np.where(np.arange(k) < cells, 1 / cells, 0.0)
        for counts in np.random.default_rng([k, cells]).multinomial(n, m.marginal(p) / m.marginal(p).sum(), size=6):
            found = ex.estimate_frequencies(counts, m, counts=True)
            default.append(_distance(found.candidate[1], p))
            plain.append(_distance(ex.estimate_frequencies(counts, m, "projected", counts=True).estimate, p))
        assert np.mean(default) <= 1.75 * np.mean(plain)
