"""Sets as labels: counted, ranked and looked up as if they were listed."""

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import TooLarge, UnknownLabel
from extremal.mechanism.labels import Labels
from extremal.mechanism.report_labels import SubsetLabels, outputs_from_json


@given(st.integers(2, 7).flatmap(lambda k: st.tuples(st.just(k), st.integers(1, k - 1))))
def test_ranks_are_positions_in_the_list(shape: tuple[int, int]) -> None:
    k, size = shape
    labels = SubsetLabels(Labels([f"s{i}" for i in range(k)]), size)
    listed = list(itertools.combinations([f"s{i}" for i in range(k)], size))
    assert list(labels) == listed
    assert labels.count == len(listed)
    for position, subset in enumerate(listed):
        assert labels.code(subset) == position
        assert labels[position] == subset


def test_subsets_answer_all_that_labels_do() -> None:
    subsets = SubsetLabels(Labels(list("abcd")), 2)
    listed = Labels(list(itertools.combinations("abcd", 2)), "outputs", tuples=True)
    assert not subsets.numbered
    assert subsets.kind is tuple
    assert subsets.count == len(subsets) == len(listed) == 6
    assert list(subsets) == list(listed)
    assert subsets._values[1:3] == list(listed)[1:3]
    assert subsets.take([3, 0]).values == listed.take([3, 0]).values
    assert (subsets.alphabet.values, subsets.size) == (("a", "b", "c", "d"), 2)
    assert list(pickle.loads(pickle.dumps(subsets))) == list(listed)
    assert list(outputs_from_json(subsets.to_json(), subsets.alphabet)) == list(listed)
    assert outputs_from_json(listed.to_json(), subsets.alphabet).values == listed.values
    with pytest.raises(TooLarge, match="the outputs cannot be listed"):
        _ = subsets.values


def test_bad_subsets() -> None:
    labels = SubsetLabels(Labels(["a", "b", "c"]), 2)
    for bad in (("b", "a"), ("a",), "ab", ("a", "a"), ("a", "z")):
        with pytest.raises(UnknownLabel):
            labels.code(bad)


def test_sets_of_labels_are_found_and_named() -> None:
    sets = ex.Mechanism.from_subsets(40, 10, ex.LDP(1)).output_labels
    assert sets.find(tuple(range(10))) == 0
    assert sets.find(tuple(range(9))) is None
    assert sets.find("a") is None
    assert sets.shown().startswith("sets of 10 of ")
    assert sets.nearest((1, 2)) == ""
