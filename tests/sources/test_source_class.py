"""What every shape answers: vertices, membership and worst cases agree with each other, and JSON gives it back."""

import copy
import json
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile
from extremal.exact import Prior
from extremal.sources import SHAPES, SourceClass, as_source
from extremal.testing import priors

VALUES = st.lists(st.integers(-9, 9), min_size=3, max_size=3)


def _every_shape(prior: list[Any], radius: float = 0.1) -> list[SourceClass]:
    found = [
        ex.SourceClass([prior, [0.2, 0.3, 0.5]]),
        ex.SourceClass.permutation_invariant(prior),
        ex.SourceClass.ball(prior, radius),
        ex.SourceClass.simplex(3),
        ex.SourceClass.ordered([sorted(prior, reverse=True)]),
    ]
    assert {source.kind for source in found} == set(SHAPES)
    return found


@given(priors(k=3), VALUES, st.sampled_from([0, 0.1, 0.5, 1]))
def test_worst_case_is_attained_at_a_vertex_and_in_the_class(
    prior: list[Any], values: list[int], radius: float
) -> None:
    for source in _every_shape(prior, radius):
        worst, attained = source.worst_case(values)
        assert worst == pytest.approx(max(float(v.values @ values) for v in source.vertices()), abs=1e-12)
        assert worst == pytest.approx(float(attained @ values), abs=1e-12)
        assert attained in source
        assert all(v in source for v in source.vertices())


@given(priors(k=3), VALUES)
def test_the_extreme_prior_is_exact_and_admitted(prior: list[Any], values: list[int]) -> None:
    for source in _every_shape(prior):
        found = source.extreme_prior(values)
        assert source.admits(found)

        def expected(p: Prior) -> Fraction:
            return sum((p.fraction(x) * values[x] for x in range(3)), Fraction(0))

        assert expected(found) == max(expected(p) for p in source.vertices())
        assert source.admits(source.member())
        first = source.first_priors(values)
        assert len(set(first)) == len(first) > 0
        assert all(source.admits(p) for p in first)
        assert [int(any(p.weights[x] for p in source.vertices())) for x in range(3)] == source.support()


def test_extreme_priors_and_exact_membership() -> None:
    prior = ["0.5", "0.3", "0.2"]
    classes = [
        ex.SourceClass([prior, ["0.1", "0.2", "0.7"]]),
        ex.SourceClass.permutation_invariant(prior),
        ex.SourceClass.ball(prior, "0.15"),
        ex.SourceClass.simplex(3),
    ]
    for source in classes:
        for values in ([3, 1, 2], [0, 5, 5], [-1, -2, -3]):
            extreme = source.extreme_prior(values)
            assert source.admits(extreme)
            assert float(extreme.values @ values) == pytest.approx(source.worst_case(values)[0], abs=1e-12)
    assert not classes[0].admits(Prior(["0.3", "0.25", "0.45"]))  # a mixture, not a member
    assert classes[1].admits(Prior(["1/3", "1/3", "1/3"]))
    assert not classes[1].admits(Prior(["0.6", "0.2", "0.2"]))
    assert classes[2].admits(Prior(["0.65", "0.15", "0.2"]))
    assert not classes[2].admits(Prior(["0.66", "0.14", "0.2"]))


@given(priors(k=3))
def test_a_class_comes_back_from_its_json_and_from_a_pickle(prior: list[Any]) -> None:
    for source in _every_shape(prior):
        for again in (
            SourceClass.from_json(json.loads(json.dumps(source.to_json()))),
            pickle.loads(pickle.dumps(source)),
            copy.deepcopy(source),
        ):
            assert type(again) is type(source) is SHAPES[source.kind]
            assert again == source
            assert hash(again) == hash(source)
            assert repr(again) == repr(source)


@given(priors(k=3))
def test_symmetric_shapes_admit_every_rearrangement(prior: list[Any]) -> None:
    for source in _every_shape(prior):
        assert source.symmetric == (source.kind in ("permutation_invariant", "simplex"))
        if source.symmetric:
            member = source.vertices()[0]
            turned = Prior([member.fraction((x + 1) % 3) for x in range(3)])
            assert source.admits(turned)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(MalformedFile, match="of a known kind; got kind='cloud'.*Known: .*simplex"):
        SourceClass.from_json({"kind": "cloud"})
    with pytest.raises(InvalidParameter, match="values must be 2 finite numbers"):
        ex.SourceClass.simplex(2).worst_case([1, 2, 3])


def test_a_subclass_of_a_shape_does_not_replace_it() -> None:
    class Mine(SHAPES["ball"]):  # type: ignore[misc,name-defined]
        pass

    assert SHAPES["ball"] is not Mine
    assert isinstance(Mine([0.5, 0.5], 0.1), SourceClass)


def test_a_class_stays_and_a_prior_becomes_one() -> None:
    ball = ex.SourceClass.ball([0.5, 0.5], 0.1)
    assert as_source(ball) is ball
    assert as_source([0.5, 0.5]) == ex.SourceClass([[0.5, 0.5]])
    assert hash(ex.SourceClass([[0.5, 0.5]])) == hash(as_source([0.5, 0.5]))
    assert ball != "ball"
