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
        found = top_labels(range(12), 12, (low + high) / 2, np.column_stack([low, high]), 0.95, 100)
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


def test_lists_of_labels_have_the_head_and_the_words_of_other_results() -> None:
    m = ex.randomized_response([f"event {i}" for i in range(60)], 6)
    reports = m.privatize(["event 3"] * 3000 + ["event 4"] * 2000)
    result = ex.estimate_frequencies(reports, m, cluster=np.arange(5000) // 10)
    top, heavy = result.top(2), result.heavy(0.1)
    assert top.summary().startswith("Estimate: the 2 most frequent of 60 inputs; n = 5000 reports (500 clusters; as ")
    assert heavy.summary().startswith("Estimate: inputs of 60 above 0.1; n = 5000 reports (500 clusters; as ")
    limits = result.interval(simultaneous=True)
    for found in (top, heavy):
        assert found.nobs == 5000
        assert found.params.index.tolist() == ["event 3", "event 4"]
        assert found.conf_int().to_numpy() == pytest.approx(limits[3:5])
        assert found.to_frame()["low"].tolist() == found.low.tolist()
        assert found.head in found._repr_html_()
        assert len(found.plot().axes[0].get_yticklabels()) == 2
    empty = result.heavy(0.9)
    assert len(empty) == 0
    assert "0 of 60 labels above 0.9" in empty.summary()


def test_chosen_labels_have_exact_limits_and_the_words_of_other_results() -> None:
    """The number of reports that hold a label is binomial: the limits are those of all labels together."""
    m = ex.local_hashing(50, 2)
    reports = m.privatize([3] * 40 + [4] * 20 + [5] * 10)
    every, some = ex.estimate_frequencies(reports, m), ex.estimate_frequencies(reports, m, labels=[3, 4, 49])
    chosen = [3, 4, 49]
    assert some.estimate == pytest.approx(every.estimate[chosen])
    assert some.interval() == pytest.approx(every.interval()[chosen])
    assert (some.interval() >= 0).all()
    assert (some.interval() <= 1).all()
    assert np.sqrt(np.diagonal(some.covariance)) == pytest.approx(some.standard_error)
    assert some.summary().startswith("Estimate: frequencies of 3 of 50 inputs; n = 70 reports\n")
    assert some.top(2).of == 3
    assert some.conf_int().to_numpy() == pytest.approx(some.interval())


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
