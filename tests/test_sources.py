"""Source classes: vertices, membership and worst cases agree with each other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, InvalidPrior, TooLarge
from extremal.sources import as_source
from extremal.testing import priors

VALUES = st.lists(st.integers(-9, 9), min_size=3, max_size=3)


@given(priors(k=3), VALUES, st.sampled_from([0, 0.1, 0.5, 1]))
def test_worst_case_is_attained_at_a_vertex_and_in_the_class(
    prior: list[Any], values: list[int], radius: float
) -> None:
    classes = [
        ex.SourceClass([prior, [0.2, 0.3, 0.5]]),
        ex.SourceClass.permutation_invariant(prior),
        ex.SourceClass.ball(prior, radius),
        ex.SourceClass.simplex(3),
        ex.SourceClass.ordered([sorted(prior, reverse=True)]),
    ]
    for source in classes:
        worst, attained = source.worst_case(values)
        assert worst == pytest.approx(max(float(v.values @ values) for v in source.vertices()), abs=1e-12)
        assert worst == pytest.approx(float(attained @ values), abs=1e-12)
        assert attained in source
        assert all(v in source for v in source.vertices())


def test_membership_has_an_outside() -> None:
    assert [0.9, 0.1] not in ex.SourceClass([[0.5, 0.5], [0.8, 0.2]])
    assert [0.9, 0.1] not in ex.SourceClass.permutation_invariant([0.8, 0.2])
    assert [0.71, 0.29] not in ex.SourceClass.ball([0.5, 0.5], 0.2)
    assert [0.69, 0.31] in ex.SourceClass.ball([0.5, 0.5], 0.2)
    with pytest.raises(InvalidPrior):
        _ = [0.5, 0.6] in ex.SourceClass.simplex(2)


def test_large_classes_do_not_list_their_vertices() -> None:
    uniform = [0.05] * 20
    with pytest.raises(
        TooLarge, match="the vertices of a permutation_invariant class are listed up to 8 symbols; got k=20"
    ):
        ex.SourceClass.permutation_invariant(uniform).vertices()
    with pytest.raises(TooLarge, match="the vertices of a ball class are listed up to 12 symbols"):
        ex.SourceClass.ball(uniform, 0.1).vertices()
    assert ex.SourceClass.ball(uniform, 0.1).worst_case(range(20))[0] == pytest.approx(9.5 + 1.95 - 0.05, abs=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.SourceClass([]), "a source class needs at least one prior"),
        (lambda: ex.SourceClass("ab"), "a source class needs at least one prior"),
        (lambda: ex.SourceClass([[0.5, 0.5], [0.2, 0.3, 0.5]]), r"priors\[1\] must have 2 entries"),
        (lambda: ex.SourceClass.ordered([[0.4, 0.6]]), "every prior of an ordered class must be non-increasing"),
        (lambda: ex.SourceClass.ball([0.5, 0.5], 2), "radius must lie between 0 and 1"),
        (lambda: ex.SourceClass.ball([0.5, 0.5], 0.1, metric="kl"), "metric must be 'tv'"),
        (lambda: ex.SourceClass.simplex(1), "k must be at least 2"),
        (lambda: ex.SourceClass.simplex(2).worst_case([1, 2, 3]), "values must be 2 finite numbers"),
    ],
)
def test_bad_classes(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_values_and_names() -> None:
    ball = ex.SourceClass.ball([0.5, 0.5], 0.1)
    assert ball == ex.SourceClass.ball(["1/2", "1/2"], "0.1")
    assert ball != ex.SourceClass.ball([0.5, 0.5], 0.2)
    assert ball != "ball"
    assert hash(ball) == hash(ex.SourceClass.ball([0.5, 0.5], 0.1))
    assert hash(ex.SourceClass.simplex(3)) == hash(ex.SourceClass.simplex(3))
    assert hash(ex.SourceClass([[0.5, 0.5]])) == hash(as_source([0.5, 0.5]))
    assert as_source(ball) is ball
    assert repr(ball) == "SourceClass.ball(Prior([0.5, 0.5]), 0.1)"
    assert repr(ex.SourceClass([[0.5, 0.5]])) == "SourceClass([Prior([0.5, 0.5])])"
    assert repr(ex.SourceClass.ordered([[0.5, 0.5]])) == "SourceClass.ordered([Prior([0.5, 0.5])])"
    assert ex.SourceClass.ball([0.5, 0.5, 0], 0).support() == [1, 1, 0]
    assert np.isclose(ex.SourceClass.simplex(2).worst_case([1, 5])[0], 5)
