"""Maximum likelihood: optimality by its certificate and against a general optimiser."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.estimate.methods.likelihood import (
    deficit,
    maximise,
    nonnegative_minimum,
    project_onto_simplex,
    project_within,
)
from extremal.estimate.results.fit import TOLERANCE
from support.random_mechanisms import random_ldp_matrix

WITHIN = 1e-8  # mean log-likelihood, the promise


def instance(index: int) -> tuple[np.ndarray, np.ndarray]:
    """A mechanism and report frequencies; few reports, empty cells and non-square matrices among them."""
    generator = np.random.default_rng([7, index])
    k, epsilon = int(generator.integers(2, 16)), float(generator.choice([0.3, 1.0, 2.0, 4.0]))
    q = np.hstack([random_ldp_matrix(generator, k, epsilon), ex.randomized_response(k, epsilon).matrix]) / 2
    if index % 4 == 0:
        q = ex.randomized_response(k, epsilon).matrix
    p = generator.dirichlet(np.full(k, generator.choice([0.1, 1.0])))
    n = int(generator.choice([50, 1_000, 100_000]))
    return q, generator.multinomial(n, p @ q / (p @ q).sum()) / n


def general_optimiser(q: np.ndarray, f: np.ndarray) -> float:
    """The largest mean log-likelihood that SLSQP finds."""
    from scipy.optimize import minimize

    seen = f > 0
    q, f = q[:, seen], f[seen]
    k = q.shape[0]
    found = minimize(
        lambda p: -f @ np.log(np.maximum(p @ q, 1e-300)),
        np.full(k, 1 / k),
        jac=lambda p: -q @ (f / np.maximum(p @ q, 1e-300)),
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda _: np.ones(k)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1_000},
    )
    p = np.maximum(found.x, 0)
    return float(f @ np.log(p / p.sum() @ q))


def test_two_hundred_instances_against_a_general_optimiser() -> None:
    for index in range(200):
        q, f = instance(index)
        mechanism = ex.Mechanism.from_matrix(q)
        result = ex.estimate_frequencies(
            np.rint(f * 100_000).astype(int), mechanism, method="mle", counts=True, merge=True
        )
        f = np.rint(f * 100_000) / np.rint(f * 100_000).sum()
        rows = result.fit.likeliest
        assert rows is not None
        ours = float(f[f > 0] @ np.log(result.fit.combinations.channel.expected(rows)[f > 0]))
        assert ours >= general_optimiser(mechanism.matrix, f) - WITHIN, index
        assert result.deficit is not None
        assert result.deficit <= TOLERANCE, index
        assert rows.min() >= 0
        assert rows.sum() == pytest.approx(1)


@given(st.integers(0, 10_000))
def test_the_deficit_bounds_the_likelihood_of_every_distribution(index: int) -> None:
    q, f = instance(index)
    generator = np.random.default_rng(index)
    p, other = generator.dirichlet(np.ones(q.shape[0])), generator.dirichlet(np.full(q.shape[0], 0.3))
    seen = f > 0
    gain = float(f[seen] @ (np.log((other @ q)[seen]) - np.log((p @ q)[seen])))
    assert gain <= deficit(q, f, p) + 1e-12


def test_a_wrong_maximiser_is_caught_by_its_deficit() -> None:
    q, f = instance(1)
    p, missing = maximise(q, f, np.full(q.shape[0], 1 / q.shape[0]), TOLERANCE)
    assert missing <= TOLERANCE
    tilted = p.copy()
    tilted[np.argmax(p)] *= 0.99
    assert deficit(q, f, tilted / tilted.sum()) > WITHIN


@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(0, 0.3), st.floats(0.3, 1)), min_size=2, max_size=9))
def test_the_projection_within_limits_satisfies_the_optimality_conditions(
    cells: list[tuple[float, float, float]],
) -> None:
    values, low, high = np.array(cells).T
    p = project_within(values, low, high)
    assert ((low <= p) & (p <= high)).all()
    if low.sum() < 1 < high.sum():
        assert p.sum() == pytest.approx(1, abs=1e-9)
        multiplier = values - p
        inner = (p > low + 1e-9) & (p < high - 1e-9)
        if inner.any():
            level = multiplier[inner][0]
            assert multiplier[inner] == pytest.approx(level, abs=1e-9)
            free = high - low > 1e-6
            assert (multiplier[free & (p <= low + 1e-12)] <= level + 1e-9).all()
            assert (multiplier[free & (p >= high - 1e-12)] >= level - 1e-9).all()
    else:
        assert p.tolist() == np.clip(values, low, high).tolist()


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_projection_satisfies_the_optimality_conditions(values: list[float]) -> None:
    v = np.array(values)
    p = project_onto_simplex(v)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    level = (v - p)[p > 0]
    assert level == pytest.approx(level[0], abs=1e-12)
    assert (v[p == 0] <= level.max() + 1e-12).all()


def test_projection_of_numbers_beyond_floats() -> None:
    assert project_onto_simplex(np.array([1e300, 0.0])).tolist() == [1.0, 0.0]


@given(st.integers(0, 500))
def test_nonnegative_minimum_is_complementary(seed: int) -> None:
    """x ≥ 0, Hx − b ≥ 0, and one of the two zero in each place, from any start."""
    generator = np.random.default_rng(seed)
    k = int(generator.integers(1, 20))
    a = generator.normal(size=(k, k + 2))
    h, b = a @ a.T + 1e-3 * np.eye(k), generator.normal(size=k)
    x = nonnegative_minimum(h, b, generator.random(k) < 0.5)
    slack = h @ x - b
    assert x.min() >= 0
    assert slack.min() >= -1e-8
    assert x @ slack == pytest.approx(0, abs=1e-7)


def test_a_singular_block_is_solved_by_least_squares() -> None:
    assert nonnegative_minimum(np.zeros((2, 2)), np.zeros(2), np.array([True, True])).tolist() == [0.0, 0.0]


def test_a_start_that_cannot_make_the_reports_is_repaired() -> None:
    q = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    p, missing = maximise(q, np.array([0.4, 0.6, 0.0]), np.array([1.0, 0.0]), TOLERANCE)
    assert missing <= TOLERANCE
    assert p == pytest.approx([0.4, 0.6])


def test_pivoting_gives_up_on_a_matrix_that_is_not_definite() -> None:
    """No x ≥ 0 is complementary for H = −I, b = 1: it ends, and says so."""
    assert nonnegative_minimum(-np.eye(3), np.ones(3), np.zeros(3, dtype=bool)) is None


def test_almost_singular_instances_end_at_the_tolerance() -> None:
    """More rows than reports, weak privacy noise, many reports: the models are flat in most directions."""
    for seed in (76, 118, 589, 1175):
        generator = np.random.default_rng([99, seed])
        k, epsilon = int(generator.integers(2, 60)), float(np.exp(generator.uniform(np.log(0.02), np.log(12))))
        q = random_ldp_matrix(generator, k, epsilon)
        m = ex.Mechanism.from_matrix(q)
        p = generator.dirichlet(np.full(k, generator.choice([0.05, 1.0])))
        w = m.marginal(p / p.sum())
        n = int(generator.choice([3, 100, 10**6, 10**9]))
        result = ex.estimate_frequencies(
            generator.multinomial(n, w / w.sum()), m, method="mle", counts=True, merge=True
        )
        assert result.deficit is not None
        assert result.deficit <= TOLERANCE
