"""Reports about a value that changes: levels by enumeration, what a memory books, and estimates of each day."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.exact.exponential import level_of_ratio
from extremal.release.two_levels import TwoLevels


def likelihood(two: TwoLevels, history: tuple[int, ...], shown: tuple[int, ...]) -> Fraction:
    """The exact probability of these reports: a sum over the permanent report of each class, independent."""
    first, second = (m.weights.astype(object).tolist() for m in (two.permanent, two.instantaneous))
    found = Fraction(1)
    for entered in set(history):
        own = [y for x, y in zip(history, shown, strict=True) if x == entered]
        found *= sum(
            (Fraction(w, 2**62) * math.prod(Fraction(second[kept][y], 2**62) for y in own))
            for kept, w in enumerate(first[entered])
        )
    return found


def worst(two: TwoLevels, histories: list[tuple[int, ...]]) -> Fraction:
    """The largest ratio of two likelihoods over all reports and pairs of these histories."""
    found = Fraction(1)
    for shown in itertools.product(range(two.instantaneous.m), repeat=len(histories[0])):
        values = [likelihood(two, history, shown) for history in histories]
        found = max(found, max(values) / min(values))
    return found


@pytest.mark.parametrize("g", [2, 3])
@pytest.mark.parametrize("changes", [0, 1, 2, 5])
def test_the_level_after_changes_is_the_enumerated_one(g: int, changes: int) -> None:
    """Whoever sees everything sees the permanent reports of the classes entered: all of them, for all histories."""
    permanent = ex.randomized_response(g, "0.8")
    two = TwoLevels(permanent, ex.randomized_response(g, 3), changing=True)
    entered, weights = min(changes + 1, g), permanent.weights.astype(object).tolist()
    largest = Fraction(1)
    for kept in itertools.product(range(g), repeat=entered):
        values = [
            math.prod(weights[c][y] for c, y in zip(classes, kept, strict=True))
            for classes in itertools.permutations(range(g), entered)
        ]
        largest = max(largest, Fraction(max(values), min(values)))
    assert two.after(changes) == level_of_ratio(largest.numerator, largest.denominator)
    assert two.after(changes) == pytest.approx(0.8 * entered, rel=1e-12)
    assert two.forever == two.after(0)


def test_reports_of_equal_patterns_stay_below_the_level_and_come_near_it() -> None:
    two = TwoLevels(ex.randomized_response(2, 1), ex.randomized_response(2, 3), changing=True)
    found = [worst(two, [(0,) * n + (1,) * n, (1,) * n + (0,) * n]) for n in (1, 2, 3)]
    levels = [level_of_ratio(ratio.numerator, ratio.denominator) for ratio in found]
    assert levels == sorted(levels)
    assert 2 * two.once - 1e-12 <= levels[0] < levels[-1] < two.after(1)
    assert levels[-1] > 0.97 * two.after(1)


def test_a_change_that_only_one_history_has_is_covered_by_any_history_alone() -> None:
    """That a value came back is not covered by `after`: the test would notice if the page promised it."""
    two = TwoLevels(ex.randomized_response(2, "0.2"), ex.randomized_response(2, 2), changing=True)
    for asks in (1, 2, 3, 4):
        every = list(itertools.product(range(2), repeat=asks))
        ratio = worst(two, every)
        level = level_of_ratio(ratio.numerator, ratio.denominator)
        assert level <= two.any_history(asks) == pytest.approx(2 * asks)
    assert level > two.after(10**6) == pytest.approx(0.4)
    assert two.any_history(0) == 0


def test_words_of_bits_follow_changes_too() -> None:
    two = TwoLevels(ex.unary_encoding(4, 1), ex.randomized_response(2, 1), changing=True)
    assert two.after(1) == pytest.approx(2, rel=1e-9)
    assert two.after(99) == pytest.approx(4, rel=1e-9)
    assert two.any_history(2) == pytest.approx(8, rel=1e-9)  # four bits, twice


@pytest.mark.parametrize("once", ["0.3", 1, "1.9"])
def test_within_reaches_the_level_of_one_report_and_not_more(once: Any) -> None:
    for permanent in (ex.randomized_response(5, 2), ex.unary_encoding(6, 2), ex.geometric(5, 2)):
        two = TwoLevels.within(permanent, once)
        assert two.once <= float(once)
        assert two.once > float(once) * (1 - 1e-7)
        assert two.forever == ex.LDP(2).level(permanent)


def test_hashing_has_the_channel_of_local_hashing_at_one_report() -> None:
    two = TwoLevels.hashing(1000, forever=3, once=2)
    assert two.classes == round(math.e**2) + 1
    assert ex.LDP(2).level(two.together) == pytest.approx(2, rel=1e-7)
    assert two.after(10**9) == pytest.approx(3 * two.classes, rel=1e-12)
    assert TwoLevels.hashing(["a", "b", "c"], 3, 2, classes=2).input_labels.find("c") == 2


def test_a_memory_keeps_a_function_and_a_report_for_each_class(tmp_path: Path) -> None:
    two = TwoLevels.hashing(50, forever=1, once="0.5", classes=3)
    with ex.Memory(tmp_path / "memory.db", limit=3) as memory:
        said = [memory.instantaneous("ann", "site", day % 50, two) for day in range(300)]
        assert len({int(report) // 3 for report in said}) == 1  # one hash function
        assert memory.spent("ann") == 3  # every class was entered, and the limit is never passed
        seed = int(said[0]) // 3
        classes = [two.class_of(day % 50, seed) for day in range(300)]
        assert set(classes) == {0, 1, 2}
        same = [memory.instantaneous("bob", "site", 7, two) for _ in range(300)]
        assert memory.spent("bob") == 1
        most = max(np.bincount([int(report) % 3 for report in same], minlength=3)) / 300
        assert abs(most - float(two.instantaneous.matrix[0, 0])) < 0.15
    with ex.Memory(tmp_path / "memory.db") as memory:
        assert memory.spent("ann") == 3


def test_a_class_beyond_the_limit_is_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    two = TwoLevels(ex.randomized_response(3, 1), ex.randomized_response(3, 2), changing=True)
    with ex.Memory(tmp_path / "memory.db", limit=2) as memory:
        for value in (0, 1, 0, 1):
            memory.instantaneous("ann", "q", value, two)
        with pytest.raises(ex.errors.PrivacyViolation, match="would pass the limit"):
            memory.instantaneous("ann", "q", 2, two)
        assert memory.spent("ann") == 2
        with pytest.raises(ex.errors.UnknownLabel, match=r"values\[0\]"):
            memory.instantaneous("ann", "q", 9, two)


@pytest.mark.parametrize("kind", ["hashing", "response", "bits"])
def test_each_day_is_estimated_without_bias_while_values_change(kind: str, tmp_path: Path) -> None:
    two = {
        "hashing": lambda: TwoLevels.hashing(list("abcdefgh"), forever=4, once=3, classes=4),
        "response": lambda: TwoLevels.within(ex.randomized_response(list("abcdefgh"), 4), 3, changing=True),
        "bits": lambda: TwoLevels.within(ex.unary_encoding(list("abcdefgh"), 4), 3, changing=True),
    }[kind]()
    people = range(1500)
    with ex.Memory(tmp_path / "memory.db") as memory:
        for day, truth in enumerate(("aab", "ccd", "aab")):
            reports = memory.instantaneous_reports(people, "q", [truth[person % 3] for person in people], two)
            found = ex.estimate_frequencies(reports, two.together)
            for label in "abcdefgh":
                i, share = found.inputs.index(label), truth.count(label) / 3
                assert abs(found.estimate[i] - share) < 5 * found.standard_error[i], (day, label)
        assert max(memory.spent(person) for person in people) == 8


def test_a_stale_report_would_be_noticed(tmp_path: Path) -> None:
    """Power of the test above: the stored report of a value that does not follow changes is biased on day two."""
    two = TwoLevels.within(ex.randomized_response(list("abcdefgh"), 4), 3)
    with ex.Memory(tmp_path / "memory.db") as memory:
        for truth in ("a", "c"):
            reports = memory.instantaneous_reports(range(1500), "q", [truth] * 1500, two)
        found = ex.estimate_frequencies(reports, two.together)
        assert found.estimate[2] + 5 * found.standard_error[2] < 1


def test_bad_pairs_are_refused() -> None:
    response = ex.randomized_response(3, 1)
    with pytest.raises(ex.errors.InvalidParameter, match="hashing needs two randomised responses"):
        TwoLevels(ex.geometric(3, 1), ex.randomized_response(3, 1), hashed=9)
    with pytest.raises(ex.errors.InvalidParameter, match="hashing needs two randomised responses"):
        TwoLevels(ex.randomized_response(["a", "b", "c"], 1), ex.randomized_response(["a", "b", "c"], 1), hashed=9)
    with pytest.raises(ex.errors.InvalidParameter, match="hashed must be"):
        TwoLevels(response, response, hashed=1)
    for once in (0, 1, 2):
        with pytest.raises(ex.errors.InvalidParameter, match="once must be above 0 and below"):
            TwoLevels.within(response, once)
    two = TwoLevels(response, response)
    for changes in (-1, 1.5):
        with pytest.raises(ex.errors.InvalidParameter, match="changes"):
            two.after(changes)  # type: ignore[arg-type]
    assert two.classes == 1
    assert two.after(5) == two.forever
