"""The hull of a list."""

from typing import Any

import pytest

import extremal as ex
from extremal.errors import InvalidParameter


def test_membership_has_an_outside() -> None:
    assert [0.9, 0.1] not in ex.SourceClass([[0.5, 0.5], [0.8, 0.2]])
    assert [0.7, 0.3] in ex.SourceClass([[0.5, 0.5], [0.8, 0.2]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.SourceClass([]), "a source class needs at least one prior"),
        (lambda: ex.SourceClass("ab"), "a source class needs at least one prior"),
        (lambda: ex.SourceClass([[0.5, 0.5], [0.2, 0.3, 0.5]]), r"priors\[1\] must have 2 entries"),
        (lambda: ex.SourceClass.ordered([[0.4, 0.6]]), "every prior of an ordered class must be non-increasing"),
    ],
)
def test_bad_lists(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_a_list_of_one_is_a_single_prior() -> None:
    one = ex.SourceClass([[0.5, 0.5]])
    assert one.single is one.priors[0]
    assert ex.SourceClass.ordered([[0.5, 0.5]]).single is not None
    assert ex.SourceClass([[0.5, 0.5], [0.6, 0.4]]).single is None
    assert ex.SourceClass.ball([0.5, 0.5], 0).single is None
    assert one.listed == one.priors
    assert ex.SourceClass.ball([0.5, 0.5], 0).listed is None


def test_names() -> None:
    assert repr(ex.SourceClass([[0.5, 0.5]])) == "SourceClass([Prior([0.5, 0.5])])"
    assert repr(ex.SourceClass.ordered([[0.5, 0.5]])) == "SourceClass.ordered([Prior([0.5, 0.5])])"
