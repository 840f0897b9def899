import numpy as np
import pytest

from extremal.errors import InvalidLabel, MalformedFile, UnknownLabel
from extremal.mechanism.labels import Labels


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
