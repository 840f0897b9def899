"""Labels are kept as given, looked up strictly, and stored without loss."""

import numpy as np
import pytest

import extremal as ex
from extremal.errors import InvalidLabel, InvalidParameter, MalformedFile, UnknownLabel
from extremal.mechanism.labels import Labels, count_and_labels, refuse_other_inputs


def test_labels_are_kept_as_given() -> None:
    assert Labels(["a", 2, False]).values == ("a", 2, False)
    assert Labels(np.array(["x", "y"])).values == ("x", "y")
    assert [type(v) for v in Labels([np.int64(3), np.bool_(True)]).values] == [int, bool]
    assert Labels([("a", 1), ("b", 2)], tuples=True).values == (("a", 1), ("b", 2))


def test_plain_numbering_is_a_range_whatever_its_size() -> None:
    assert Labels([0, 1, 2]).to_json() == {"range": 3}
    assert Labels([False, True]).to_json() == [False, True]
    assert Labels(range(5)).take([0, 1, 2]).to_json() == {"range": 3}
    assert Labels(range(5)).take([0, 2]).values == (0, 2)
    assert len(Labels(range(10**9))) == 10**9


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "a"], "inputs must be distinct: 'a' and 'a'"),
        ([1, True], "inputs collide once normalised: 1 and True"),
        (["é", "e\u0301"], "inputs collide once normalised"),
        (["a", ""], "inputs must not hold an empty label; got inputs=''"),
        (["a", "  "], "inputs must not hold an empty label"),
        ([1.5, 2.5], "inputs must be str, int or bool labels; got inputs=1.5"),
        ([None, "a"], "inputs must be str, int or bool labels; got inputs=None"),
        ([("a",), ("b",)], "inputs must be str, int or bool labels"),
        ("ab", "inputs must be a sequence of labels; got inputs='ab'"),
        (7, "inputs must be a sequence of labels; got inputs=7"),
    ],
)
def test_bad_labels(labels: object, message: str) -> None:
    with pytest.raises(InvalidLabel, match=message):
        Labels(labels)  # type: ignore[arg-type]


def test_look_up_is_strict_in_type() -> None:
    labels = Labels(["no", "yes", 3])
    assert labels.code(np.str_("yes")) == 1
    assert Labels(range(4)).code(np.int64(2)) == 2
    assert list(Labels([False, True])) == [False, True]
    for alphabet, value in [
        (labels, "3"),
        (labels, True),
        (labels, "yes "),
        (labels, None),
        (labels, ["yes"]),
        (Labels(range(2)), True),
        (Labels([0, 5]), False),
    ]:
        with pytest.raises(UnknownLabel, match="value must be one of the mechanism's labels"):
            alphabet.code(value)


def test_the_nearest_label_is_named() -> None:
    with pytest.raises(UnknownLabel, match=r"Did you mean 'yes'\? Labels: 'no', 'yes', 3\."):
        Labels(["no", "yes", 3]).code("yess")
    with pytest.raises(UnknownLabel, match=r"Did you mean 3\?"):
        Labels(["no", "yes", 3]).code("3")
    with pytest.raises(UnknownLabel, match=r"Labels: 0, 1, 2, 3, 4, 5, …\."):
        Labels(range(10)).code("zebra")


@pytest.mark.parametrize("content", [{"range": 0}, {"range": True}, {"range": 3, "x": 1}, "ab", 5])
def test_files_hold_a_list_or_a_range(content: object) -> None:
    with pytest.raises(MalformedFile, match="outputs must be a list of labels or a range"):
        Labels.from_json(content, "outputs")
    assert Labels.from_json([["a", 1], ["b", 2]], "outputs", tuples=True).values == (("a", 1), ("b", 2))


def test_a_range_that_does_not_start_at_zero_is_labels_not_a_numbering() -> None:
    labels = Labels(range(1, 4))
    assert labels.values == (1, 2, 3)
    assert [labels.code(v) for v in (1, 2, 3)] == [0, 1, 2]
    assert not labels.numbered
    assert Labels.from_json(labels.to_json(), "inputs").values == (1, 2, 3)
    assert Labels(range(6, 0, -2)).values == (6, 4, 2)
    with pytest.raises(UnknownLabel):
        labels.code(0)


def test_the_type_of_all_labels() -> None:
    assert Labels(range(10**9)).kind is int
    assert Labels(["a", "b"]).kind is str
    assert Labels([False, True]).kind is bool
    assert Labels([1, "b"]).kind is None


def test_a_set_or_an_iterator_is_no_order() -> None:
    with pytest.raises(ex.errors.InvalidLabel, match="a set has none that lasts"):
        ex.randomized_response(2, 1, inputs={"a", "b"})
    with pytest.raises(ex.errors.InvalidLabel, match="an iterator is read only once"):
        ex.randomized_response(2, 1, inputs=iter(["a", "b"]))


def test_a_number_is_compared_as_a_number_not_by_its_digits() -> None:
    brackets = Labels(["5", "20", "35"])
    assert not brackets.nearest(2.0)
    assert not brackets.nearest("30")
    assert brackets.nearest(35.0) == "Did you mean '35'?"
    assert brackets.nearest(35) == "Did you mean '35'?"
    assert Labels(["no", "yes"]).nearest("yess") == "Did you mean 'yes'?"
    assert not Labels(["no", "yes"]).nearest(None)


def test_labels_may_stand_in_place_of_their_number() -> None:
    for form in (ex.randomized_response, ex.subset_selection, ex.geometric):
        assert form(["a", "b", "c"], 1).inputs == form(3, 1, inputs=["a", "b", "c"]).inputs == ("a", "b", "c")
    with pytest.raises(ex.errors.InvalidParameter, match="labels must be given once"):
        ex.randomized_response(["a", "b"], 1, inputs=["a", "b"])
    with pytest.raises(ex.errors.InvalidParameter, match="k must be"):
        ex.randomized_response(["a"], 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, None, ["no", "yes"]), "the answers come first, then epsilon; got epsilon="),
        (("no", None, 1), "k must be a number of answers or a list of their labels; got k='no'"),
        (({"no", "yes"}, None, 1), "k must be a number of answers or a list of their labels"),
        ((["no", "yes"], ["a", "b"], 1), "labels must be given once: as the first argument or as inputs"),
        ((["no"], None, 1), "k must be at least 2"),
        ((0.5, None, 2), "k must be a whole number, or a list of labels; got k=0.5. The answers come first"),
    ],
)
def test_labels_or_their_number_come_first(arguments: tuple, message: str) -> None:
    assert count_and_labels(["no", "yes"], None, 1) == (2, ["no", "yes"])
    with pytest.raises(InvalidParameter, match=message):
        count_and_labels(*arguments)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (("no", "maybe"), "The first has no 'maybe'"),
        (("no",), "The first has 'yes', too"),
        (("yes", "no"), "The first has 'no' where this has 'yes': another order"),
    ],
)
def test_other_inputs_are_refused_by_a_label_that_tells_them_apart(inputs: tuple[str, ...], said: str) -> None:
    refuse_other_inputs(("no", "yes"), ("no", "yes"), "m1.inputs")
    with pytest.raises(InvalidParameter, match=said):
        refuse_other_inputs(inputs, ("no", "yes"), "m1.inputs")
