"""The sequential test: its levels, its stopping, its refusals."""

import math

import numpy as np
import pytest
from scipy.special import bdtrc

import extremal as ex

P0, P1 = [0.7, 0.2, 0.1], [0.3, 0.3, 0.4]


@pytest.mark.parametrize("under", [0, 1])
@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.05), (0.2, 0.01)])
def test_both_levels_are_held(under: int, alpha: float, beta: float) -> None:
    m, trials = ex.randomized_response(3, 2), 1_500
    generator = np.random.default_rng(under)
    wrong, taken = 0, 0
    for _ in range(trials):
        running = ex.sequential_test(m, P0, P1, alpha, beta)
        while running.decision is None:
            running.update(generator.choice(3, size=40, p=m.marginal((P0, P1)[under])))
        wrong += running.decision != under
        taken += running.n
    level = beta if under else alpha
    assert wrong == 0 or bdtrc(wrong - 1, trials, level) > 1e-6
    assert wrong > 0.1 * level * trials  # not by never deciding
    assert taken / trials == pytest.approx(running.expected_n(under), rel=0.5)


def test_a_wrong_mechanism_breaks_the_levels_and_is_seen() -> None:
    m, trials = ex.randomized_response(3, 2), 300
    plain, generator, wrong = ex.Mechanism.from_matrix(np.eye(3)), np.random.default_rng(5), 0
    for _ in range(trials):
        running = ex.sequential_test(plain, P0, P1)
        while running.decision is None:
            running.update(generator.choice(3, size=40, p=m.marginal(P0)))
        wrong += running.decision
    assert bdtrc(wrong - 1, trials, 0.05) < 1e-6


def test_pieces_make_no_difference_and_what_follows_is_ignored() -> None:
    m = ex.randomized_response(3, 1)
    reports = np.random.default_rng(0).choice(3, size=2_000, p=m.marginal(P1)).tolist()
    whole, one = ex.sequential_test(m, P0, P1), ex.sequential_test(m, P0, P1)
    whole.update(reports)
    for report in reports:
        one.update(report)
    assert (whole.n, whole.decision) == (one.n, one.decision)
    assert whole.statistic == pytest.approx(one.statistic)
    assert one.update([]) == one.update([0]) == one.decision
    assert one.n < 2_000
    assert "p0 is rejected" in str(one)
    assert repr(one).startswith("SequentialTest(n=")
    assert "undecided" in ex.sequential_test(m, P0, P1).summary()


def test_a_report_that_one_hypothesis_excludes_decides() -> None:
    plain = ex.Mechanism.from_matrix(np.eye(3))
    running = ex.sequential_test(plain, [0.5, 0.5, 0], [0.5, 0, 0.5])
    assert running.update([0, 0, 2, 1]) == 1
    assert (running.n, running.statistic) == (3, math.inf)
    assert ex.sequential_test(plain, [0.5, 0.5, 0], [0.5, 0, 0.5]).update([1, 2]) == 0
    assert ex.sequential_test(plain, [0.5, 0.5, 0], [0.5, 0, 0.5]).expected_n() == 1.0
    with pytest.raises(ex.errors.InvalidParameter, match="possible under one"):
        ex.sequential_test(plain, [1, 0, 0], [0.5, 0.5, 0]).update([0, 2])


def test_refusals() -> None:
    m = ex.randomized_response(2, 1)
    with pytest.raises(ex.errors.NotIdentified, match="same distribution"):
        ex.sequential_test(m, [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(ex.errors.NotIdentified, match="same distribution"):
        ex.sequential_test(ex.randomized_response(2, 0), [0.9, 0.1], [0.5, 0.5])
    with pytest.raises(ex.errors.InvalidParameter, match="beta"):
        ex.sequential_test(m, [0.9, 0.1], [0.5, 0.5], 0.05, 0.0)
    with pytest.raises(ex.errors.UnknownLabel, match=r"reports\[1\] must be an output"):
        ex.sequential_test(m, [0.9, 0.1], [0.5, 0.5]).update([0, 2])
    with pytest.raises(ex.errors.InvalidParameter, match=r"reports\[0\] must not be missing"):
        ex.sequential_test(m, [0.9, 0.1], [0.5, 0.5]).update([None])
