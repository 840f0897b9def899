"""Distribution, homogeneity, independence: Pearson's where they are Pearson's, valid at every n, and with power."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtrc
from scipy.stats import chi2_contingency

import extremal as ex
from extremal.estimate.hypothesis_tests.scores import Scores, score_basis
from support.random_mechanisms import random_ldp_matrix

P = [0.5, 0.3, 0.2]
LEVEL = 1e-6  # a valid test fails here once in a million


def wide(k: int, epsilon: float, seed: int = 0) -> ex.Mechanism:
    """More outputs than inputs."""
    generator = np.random.default_rng(seed)
    copies = [random_ldp_matrix(generator, k, epsilon) for _ in range(3)]
    return ex.Mechanism.from_matrix(
        np.hstack([ex.randomized_response(k, epsilon).matrix, *copies]) / 4, ex.LDP(epsilon)
    )


@given(st.integers(2, 5), st.floats(1e-5, 20), st.integers(0, 1000))
def test_scores_are_orthonormal_and_as_many_as_the_reports_determine(k: int, epsilon: float, seed: int) -> None:
    m = wide(k, epsilon, seed)
    marginal = m.marginal(np.random.default_rng(seed).dirichlet(np.ones(k)))
    basis = score_basis(m.matrix, marginal)
    assert basis.shape[0] == k - 1
    assert basis @ marginal == pytest.approx(np.zeros(k - 1), abs=1e-9)
    assert (basis * marginal) @ basis.T == pytest.approx(np.eye(k - 1), abs=1e-9)


def test_no_scores_without_dependence() -> None:
    for m in (ex.randomized_response(3, 0), ex.Mechanism.from_matrix(np.full((3, 5), 0.2))):
        with pytest.raises(ex.errors.NotIdentified, match="depend on the inputs"):
            Scores.of_mechanism(m, m.marginal(P))


@given(st.lists(st.integers(0, 60), min_size=3, max_size=3), st.floats(0.1, 5))
def test_a_square_mechanism_gives_pearsons_statistic(counts: list[int], epsilon: float) -> None:
    if not sum(counts):
        return
    m = ex.randomized_response(3, epsilon)
    found = ex.test_distribution(counts, m, P, counts=True, draws=19)
    expected = sum(counts) * m.marginal(P)
    assert found.statistic == pytest.approx(float(np.sum((counts - expected) ** 2 / expected)), rel=1e-9, abs=1e-9)
    assert found.freedom == 2


def test_the_wide_statistic_is_raos() -> None:
    """n times the squared length of the mean score, from the scores and the information by their definitions."""
    m, n = wide(3, 1), 400
    counts = np.random.default_rng(1).multinomial(n, m.marginal([0.4, 0.4, 0.2]))
    marginal = m.marginal(P)
    directions = np.array([[1.0, -1, 0], [0, 1, -1]])
    scores = directions @ m.matrix / marginal
    information = (scores * marginal) @ scores.T
    total = scores @ counts
    rao = float(total @ np.linalg.solve(information, total)) / n
    assert ex.test_distribution(counts, m, P, counts=True, draws=19).statistic == pytest.approx(rao, rel=1e-9)


@given(st.lists(st.integers(0, 20), min_size=6, max_size=6))
def test_two_full_sides_give_pearsons_table(cells: list[int]) -> None:
    table = np.array(cells).reshape(2, 3)
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        return
    pairs = [(i, j) for i in range(2) for j in range(3) for _ in range(table[i, j])]
    frame = pd.DataFrame(pairs, columns=["a", "b"])
    found = ex.test_independence(frame, {"a": ex.randomized_response(2, 1), "b": None}, draws=19)
    expected = chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(float(expected.statistic), rel=1e-8, abs=1e-9)
    assert found.freedom == expected.dof
    both = ex.test_independence(frame, {"b": ex.randomized_response(3, 2), "a": ex.randomized_response(2, 1)}, draws=19)
    assert both.statistic == pytest.approx(found.statistic, rel=1e-8, abs=1e-9)
    grouped = ex.test_homogeneity(frame, ex.randomized_response(2, 1), "b", column="a", draws=19)
    assert grouped.statistic == pytest.approx(found.statistic, rel=1e-8, abs=1e-9)


def test_the_p_value_is_that_of_every_table() -> None:
    """Small n: the p-value by drawing against the exact one by enumeration."""
    m, n, counts = ex.randomized_response(3, 1), 6, (1, 1, 4)
    marginal = m.marginal(P)

    def statistic(c: tuple[int, ...]) -> float:
        return float(np.sum((np.array(c) - n * marginal) ** 2 / (n * marginal)))

    exact = 0.0
    for c in itertools.product(range(n + 1), repeat=3):
        if sum(c) == n and statistic(c) >= statistic(counts) - 1e-9:
            ways = math.factorial(n) // math.prod(map(math.factorial, c))
            exact += ways * math.prod(p**i for p, i in zip(marginal, c, strict=True))
    found = ex.test_distribution(counts, m, P, counts=True, draws=99_999)
    assert found.p_value == pytest.approx(exact, abs=6 * math.sqrt(exact / 99_999))


def excess(rejections: int, trials: int, alpha: float) -> float:
    """P(as many rejections or more) for a test of level alpha."""
    return float(bdtrc(rejections - 1, trials, alpha)) if rejections else 1.0


@pytest.mark.parametrize("n", [1, 5, 40, 2_000])
@pytest.mark.parametrize("mechanism", [ex.randomized_response(3, 1), wide(3, 2)], ids=["square", "wide"])
def test_a_true_distribution_is_rejected_no_more_often_than_alpha(n: int, mechanism: ex.Mechanism) -> None:
    generator, trials, alpha = np.random.default_rng(n), 600, 0.1
    rejections = sum(
        bool(ex.test_distribution(c, mechanism, P, alpha, counts=True, draws=19))
        for c in generator.multinomial(n, mechanism.marginal(P), size=trials)
    )
    assert excess(rejections, trials, alpha) > LEVEL
    if n == 2_000:
        assert float(bdtrc(trials - rejections - 1, trials, 1 - alpha)) > LEVEL  # nor much less often


@pytest.mark.parametrize("n", [4, 12, 300])
def test_groups_that_agree_are_rejected_no_more_often_than_alpha(n: int) -> None:
    generator, trials, alpha, m = np.random.default_rng(n), 400, 0.1, wide(3, 2)
    groups = np.arange(n) % 3
    rejections = 0
    for _ in range(trials):
        reports = generator.choice(m.m, size=n, p=m.marginal(P))
        if len(set(reports.tolist())) > 1:
            rejections += bool(ex.test_homogeneity(reports, m, groups, alpha, draws=19))
    assert excess(rejections, trials, alpha) > LEVEL


def test_a_test_that_forgets_the_mechanism_is_caught() -> None:
    """Reports tested against p itself instead of Qᵀp: the same rule refuses it at once."""
    generator, trials, alpha, m = np.random.default_rng(0), 100, 0.1, ex.randomized_response(3, 1)
    plain = ex.Mechanism.from_matrix(np.eye(3))
    rejections = sum(
        bool(ex.test_distribution(c, plain, P, alpha, counts=True, draws=19))
        for c in generator.multinomial(500, m.marginal(P), size=trials)
    )
    assert excess(rejections, trials, alpha) < LEVEL


def test_a_difference_is_found_and_a_wide_mechanism_does_not_hide_it() -> None:
    generator, m = np.random.default_rng(2), wide(3, 2)
    counts = generator.multinomial(5_000, m.marginal([0.3, 0.3, 0.4]))
    assert ex.test_distribution(counts, m, P, counts=True).p_value < 1e-6
    reports = np.concatenate([generator.choice(m.m, size=2_000, p=m.marginal(q)) for q in (P, [0.2, 0.3, 0.5])])
    found = ex.test_homogeneity(reports, m, [0] * 2_000 + [1] * 2_000)
    assert found.p_value == 1e-4  # some outputs are too rare for the limit to say how far below
    assert found.freedom == 2
    square = ex.test_homogeneity([0] * 300 + [1] * 300, ex.randomized_response(2, 1), [0] * 290 + [1] * 310)
    assert square.p_value < 1e-6
    assert "limiting χ²" in square.method
    assert "rejected at α = 0.05" in str(found)


def test_dependence_between_two_privatised_columns_is_found() -> None:
    generator, m = np.random.default_rng(3), ex.randomized_response(2, 2)
    x = generator.integers(0, 2, size=3_000)
    seen = [np.where(generator.random(3_000) < m.matrix[0, 0], x, 1 - x) for _ in range(2)]
    frame = pd.DataFrame({"a": seen[0], "b": seen[1], "c": generator.integers(0, 2, size=3_000)})
    assert ex.test_independence(frame, {"a": m, "b": m}).p_value < 1e-6
    assert ex.test_independence(frame, {"a": m, "c": None}).p_value > 1e-6


def test_an_excluded_report_rejects_at_once() -> None:
    found = ex.test_distribution([5, 1], ex.Mechanism.from_matrix(np.eye(2)), [1, 0], counts=True)
    assert (found.p_value, found.statistic, bool(found)) == (0.0, math.inf, True)


def test_ten_thousand_symbols_need_no_matrix() -> None:
    m = ex.randomized_response(10_000, 3)
    counts = np.random.default_rng(0).multinomial(50_000, np.full(10_000, 1e-4))
    found = ex.test_distribution(counts, m, [1e-4] * 10_000, counts=True, draws=19)
    assert found.freedom == 9_999
    assert 8_000 < found.statistic < 12_000


def test_refusals() -> None:
    m = ex.randomized_response(2, 1)
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "b": ["x", "y", None, "x"], "c": [1, 1, 1, 1]})
    with pytest.raises(ex.errors.InvalidParameter, match="b\\[2\\] must not be missing"):
        ex.test_independence(frame, {"a": m, "b": None})
    with pytest.raises(ex.errors.InvalidParameter, match="at least two values"):
        ex.test_independence(frame, {"a": m, "c": None})
    with pytest.raises(ex.errors.InvalidParameter, match="between two columns"):
        ex.test_independence(frame, {"a": None, "b": None})
    with pytest.raises(ex.errors.InvalidParameter, match="between two columns"):
        ex.test_independence(frame, ["a", "b"])  # type: ignore[arg-type]
    with pytest.raises(ex.errors.InvalidParameter, match="columns must be the name of a column"):
        ex.test_independence(frame, {"a": m, "d": None})
    with pytest.raises(ex.errors.InvalidParameter, match="only for data frames"):
        ex.test_independence([[0, 1]], {"a": m, "d": None})
    with pytest.raises(ex.errors.InvalidParameter, match="must be a Mechanism"):
        ex.test_independence(frame, {"a": 3, "c": None})  # type: ignore[dict-item]
    with pytest.raises(ex.errors.UnknownLabel, match="c\\[0\\] must be an output") as caught:
        ex.test_independence(frame.assign(c=7), {"c": m, "a": None})
    assert "7" not in str(caught.value)
    with pytest.raises(ex.errors.InvalidParameter, match="group of each report"):
        ex.test_homogeneity([0, 1], m, None)
    with pytest.raises(ex.errors.InvalidParameter, match="only for data frames"):
        ex.test_homogeneity([0, 1], m, "region")
    with pytest.raises(ex.errors.InvalidParameter, match="2 entries"):
        ex.test_homogeneity([0, 1], m, [1, 2, 3])
    with pytest.raises(ex.errors.InvalidParameter, match="draws=99 or more"):
        ex.test_distribution([1, 2], m, [0.5, 0.5], 0.01, counts=True, draws=50)
    with pytest.raises(ex.errors.InvalidParameter, match="at least one report"):
        ex.test_independence(frame.iloc[:0], {"a": m, "c": None})


def test_files_are_streamed_and_their_hashes_checked(tmp_path: Path) -> None:
    m = ex.randomized_response(2, 2)
    frame = pd.DataFrame({"a": [0, 1] * 100, "g": ["x", "y"] * 100})
    path = tmp_path / "r.parquet"
    frame.to_parquet(path)
    with pytest.raises(ex.errors.MalformedFile, match="must record"):
        ex.test_independence(path, {"a": m, "g": None})
    found = ex.test_independence(path, {"a": m, "g": None}, check_hash=False)
    assert found.statistic == pytest.approx(200.0)
    second = tmp_path / "s.parquet"
    frame.to_parquet(second)
    assert ex.test_independence([path, second], {"a": m, "g": None}, check_hash=False).n == 400
    with pytest.raises(ex.errors.InvalidParameter, match="a file of reports counts once; got frame="):
        ex.test_independence([path, path], {"a": m, "g": None}, check_hash=False)
    grouped = ex.test_homogeneity(path, m, "g", column="a", check_hash=False)
    assert grouped.statistic == pytest.approx(200.0)
