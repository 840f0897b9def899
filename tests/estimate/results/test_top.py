"""The most frequent labels: limits and ranks hold together, and what is not certain is said."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.estimate.results.heavy import top_labels


def test_ranks_are_those_that_the_limits_leave_possible() -> None:
    draw = np.random.default_rng(0)
    for _ in range(50):
        low = draw.random(12)
        high = low + draw.random(12) * 0.3
        found = top_labels(range(12), 12, (low + high) / 2, np.column_stack([low, high]), 0.95)
        for label, best, worst in zip(found.inputs, found.best_rank, found.worst_rank, strict=True):
            assert best == 1 + sum(low[z] > high[label] for z in range(12))
            assert worst == 1 + sum(high[z] >= low[label] for z in range(12) if z != label)
        for _ in range(20):  # any truth within the limits
            truth = low + draw.random(12) * (high - low)
            rank = {x: 1 + int((truth > truth[x]).sum()) for x in range(12)}
            assert all(
                b <= rank[x] <= w for x, b, w in zip(found.inputs, found.best_rank, found.worst_rank, strict=True)
            )


def test_a_clear_order_is_certain_and_a_tie_is_not() -> None:
    m = ex.randomized_response([f"event {i}" for i in range(60)], 6)
    truth = [f"event {i}" for i in range(3) for _ in range(4000 * (3 - i))]
    clear = ex.estimate_frequencies(m.privatize(truth), m).top(3)
    assert clear.inputs == ("event 0", "event 1", "event 2")
    assert clear.order_is_certain
    assert all(clear.belongs)
    assert "the order is certain" in str(clear)
    tie = ex.estimate_frequencies(m.privatize(["event 5"] * 3000 + ["event 6"] * 3000), m).top(1)
    assert not tie.order_is_certain
    assert tie.belongs == (False,)
    assert tie.worst_rank.tolist() == [2]
    assert tie.to_frame()["best_rank"].tolist() == [1]


def test_a_summary_of_many_texts_has_the_most_frequent_first_and_numbers_keep_their_order() -> None:
    names = [f"event {i:03d}" for i in range(100)]
    m = ex.randomized_response(names, 5)
    reports = m.privatize(["event 090"] * 9000 + ["event 099"] * 3000)
    table = ex.estimate_frequencies(reports, m).summary().split("\n")
    first = next(i for i, line in enumerate(table) if "event" in line)
    assert table[first].split()[1] == "090"
    assert table[first + 1].split()[1] == "099"
    numbers = ex.randomized_response(100, 5)
    shown = ex.estimate_frequencies(numbers.privatize([90] * 9000), numbers).summary()
    assert "\n     0 " in shown or "\n0 " in shown or " 0  " in shown


def test_a_number_of_labels_is_needed() -> None:
    m = ex.randomized_response(3, 1)
    with pytest.raises(ex.errors.InvalidParameter, match="count must be at least 1"):
        ex.estimate_frequencies([0, 1, 2] * 10, m).top(0)
