"""Neyman–Pearson and Bayes tests: levels for every n, power that no other test beats, and clear refusals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import extremal as ex
from support.random_mechanisms import random_ldp_matrix

P0, P1 = [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]


def tables(m: int, n: int) -> list[tuple[int, ...]]:
    """Every way that n reports can fall."""
    return [c for c in itertools.product(range(n + 1), repeat=m) if sum(c) == n]


def chance(counts: tuple[int, ...], marginal: np.ndarray) -> float:
    ways = math.factorial(sum(counts))
    for c in counts:
        ways //= math.factorial(c)
    return ways * math.prod(float(p) ** c for p, c in zip(marginal, counts, strict=True))


@settings(max_examples=30)
@given(st.integers(1, 5), st.sampled_from([0.01, 0.05, 0.2, 0.5]), st.integers(0, 500))
def test_level_and_power_are_those_of_every_table(n: int, alpha: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    m = ex.Mechanism.from_matrix(random_ldp_matrix(generator, 3, 1.0), ex.LDP(1.0))
    p0, p1 = generator.dirichlet(np.ones(3)).round(6), generator.dirichlet(np.ones(3)).round(6)
    p0, p1 = p0 / p0.sum(), p1 / p1.sum()
    if np.allclose(m.marginal(p0), m.marginal(p1)):
        return
    rejected, missed, bounds = 0.0, 0.0, set()
    for counts in tables(m.m, n):
        found = ex.test_hypotheses(counts, m, p0, p1, alpha, counts=True)
        bounds.add((found.level, found.missed, found.critical))
        assert bool(found) == (found.statistic >= found.critical)
        if found:
            rejected += chance(counts, m.marginal(p0))
        else:
            missed += chance(counts, m.marginal(p1))
    (level, miss, _), *others = bounds
    assert not others
    assert rejected <= alpha
    assert level == pytest.approx(rejected, rel=1e-9, abs=1e-12)
    assert miss == pytest.approx(missed, rel=1e-9, abs=1e-12)


def test_no_test_of_its_level_misses_less() -> None:
    """Against every set of tables as a rejection region (Neyman and Pearson's lemma, by enumeration)."""
    m, n = ex.randomized_response(2, 1), 6
    p0, p1 = [0.8, 0.2], [0.3, 0.7]
    found = ex.test_hypotheses([3, 3], m, p0, p1, 0.3, counts=True)
    every = tables(2, n)
    m0, m1 = m.marginal(p0), m.marginal(p1)
    for region in itertools.chain.from_iterable(itertools.combinations(every, r) for r in range(len(every) + 1)):
        if sum(chance(c, m0) for c in region) <= found.level:
            assert 1 - sum(chance(c, m1) for c in region) >= found.missed - 1e-9


def test_a_tilted_test_is_caught() -> None:
    """A p-value that ignores the mechanism exceeds its level; the enumeration above would see it."""
    m, n, alpha = ex.randomized_response(2, 1), 20, 0.05
    plain = ex.Mechanism.from_matrix([[1, 0], [0, 1]])
    p0, p1 = [0.9, 0.1], [0.6, 0.4]
    honest = naive = 0.0
    for counts in tables(2, n):
        weight = chance(counts, m.marginal(p0))
        honest += weight * bool(ex.test_hypotheses(counts, m, p0, p1, alpha, counts=True))
        naive += weight * bool(ex.test_hypotheses(counts, plain, p0, p1, alpha, counts=True))
    assert honest <= alpha
    assert naive > 10 * alpha


@pytest.mark.parametrize("n", [10, 1_000, 100_000, 30_000_000])
def test_errors_fall_with_the_exponent(n: int) -> None:
    m = ex.randomized_response(3, 1)
    found = ex.test_hypotheses((n * m.marginal(P0)).round().astype(int), m, P0, P1, counts=True)
    exponent = ex.error_exponent(m, P0, P1).stein
    assert 0 < found.level <= 0.05
    assert found.missed >= math.exp(-n * exponent * 3) or found.missed <= 1e-290
    if n >= 1_000:
        assert -math.log(max(found.missed, 1e-300)) / n <= exponent
    assert found.exact == (n <= 1_000_000)


def test_what_h1_excludes_speaks_for_h0() -> None:
    plain = ex.Mechanism.from_matrix(np.eye(3))
    found = ex.test_hypotheses([5, 4, 1], plain, [0.2, 0.3, 0.5], [0.5, 0.5, 0.0], counts=True)
    assert found.statistic == -math.inf
    assert found.p_value == 1.0
    assert not found
    other = ex.test_hypotheses([5, 4, 1], plain, [0.5, 0.5, 0.0], [0.2, 0.3, 0.5], counts=True)
    assert other.statistic == math.inf
    assert other.p_value == 0.0
    assert other
    never = ex.test_hypotheses([1, 0, 0], plain, [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], counts=True)
    assert (never.critical, never.missed) == (math.inf, 1.0) or never.level <= 0.05
    with pytest.raises(ex.errors.InvalidParameter, match="possible under one"):
        ex.test_hypotheses([1, 1, 1], plain, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], counts=True)
    with pytest.raises(ex.errors.InvalidParameter, match="possible under one"):
        ex.test_hypotheses([0, 0, 1], plain, [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], counts=True)


def test_hypotheses_that_cannot_be_told_apart_are_refused() -> None:
    for m, p1 in ((ex.randomized_response(2, 0), [0.1, 0.9]), (ex.randomized_response(2, 1), [0.9, 0.1])):
        with pytest.raises(ex.errors.NotIdentified, match="the same distribution under both"):
            ex.test_hypotheses([1, 9], m, [0.9, 0.1], p1, counts=True)


@given(st.lists(st.integers(0, 30), min_size=3, max_size=3), st.integers(0, 100))
def test_posteriors_are_bayes(counts: list[int], seed: int) -> None:
    if not sum(counts):
        return
    m, generator = ex.randomized_response(3, 2), np.random.default_rng(seed)
    hypotheses, prior = generator.dirichlet(np.ones(3), size=4), generator.dirichlet(np.ones(4))
    found = ex.test_hypotheses(counts, m, list(hypotheses), counts=True, prior=prior)
    joint = prior * [chance(tuple(counts), m.marginal(h)) for h in hypotheses]
    assert found.posterior == pytest.approx(joint / joint.sum(), rel=1e-9, abs=1e-12)
    assert found.decision == int(np.argmax(joint))
    assert found.error == pytest.approx(1 - joint.max() / joint.sum(), abs=1e-12)
    assert "most probable" in str(found)


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        ((P0, P1, 1.0), {}, "alpha must lie strictly between"),
        ((P0, P1, True), {}, "alpha must lie strictly between"),
        ((P0, [0.5, 0.5]), {}, "p1"),
        ((P0, P1), {"prior": [0.5, 0.5]}, "prior belongs to a list"),
        ((P0,), {}, "a list of at least two"),
        (([P0],), {}, "a list of at least two"),
        ((0.5,), {}, "a list of at least two"),
        (([P0, [0.5, 0.5]],), {}, "p0\\[1\\]"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple[object, ...], more: dict[str, object], message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.test_hypotheses([1, 2, 3], ex.randomized_response(3, 1), *arguments, counts=True, **more)  # type: ignore[call-overload]


def test_reports_are_read_as_for_estimates() -> None:
    import pandas as pd

    m = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
    answers = ["a"] * 5 + ["b"] * 3 + ["c"]
    ways = [answers, np.array(answers), pd.Series(answers), {"a": 5, "b": 3, "c": 1}]
    values = {ex.test_hypotheses(way, m, P0, P1).statistic for way in ways}
    values.add(ex.test_hypotheses(pd.DataFrame({"x": answers}), m, P0, P1, column="x").statistic)
    values.add(ex.test_hypotheses([5, 3, 1], m, P0, P1, counts=True).statistic)
    assert len(values) == 1
    for bad in (["a", None], {"a": 1.5}, [], [1, 2]):
        with pytest.raises(ex.ExtremalError):
            ex.test_hypotheses(bad, m, P0, P1)
    with pytest.raises(ex.errors.InvalidParameter, match="mechanism must be a Mechanism"):
        ex.test_hypotheses(answers, np.eye(3), P0, P1)


def test_a_test_runner_does_not_collect_them() -> None:
    for name in ("test_hypotheses", "test_distribution", "test_homogeneity", "test_independence"):
        assert getattr(ex, name).__test__ is False


def test_equal_hypotheses_of_a_list_are_named() -> None:
    m = ex.randomized_response(2, 1)
    with pytest.raises(ex.errors.NotIdentified, match=r"under two of the list.*p0\[0\] and p0\[2\]"):
        ex.test_hypotheses({0: 40, 1: 60}, m, [[0.5, 0.5], [0.3, 0.7], [0.5, 0.5]])
    with pytest.raises(ex.errors.NotIdentified, match=r"p0\[0\] and p0\[1\]"):
        ex.test_hypotheses([0, 1, 1] * 20, m, [[0.5, 0.5]] * 2, sample=ex.Sample(cluster=list(range(30)) * 2))
    impossible = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    assert ex.test_hypotheses({0: 4, 1: 6}, ex.randomized_response(2, 5), impossible).nobs == 10
