"""What every notion promises: a level at which it holds, the smallest one, and refusal of what it cannot read."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.errors import InvalidParameter, MalformedFile
from extremal.privacy import NOTIONS, Notion, notion_from_json
from extremal.testing import ldp_mechanisms, mechanisms, priors

UNEVEN = np.array([[0, 1, 0.5, 2], [1, 0, 1, 1], [0.5, 1, 0, 2], [2, 1, 2, 0]])


MAKERS: dict[str, Callable[[Any, list[Any]], Notion]] = {
    "LDP": lambda e, _: ex.LDP(e),
    "LDP with delta": lambda e, _: ex.LDP(e, "0.05"),
    "PML": lambda e, prior: ex.PML(e, prior),
    "PML list": lambda e, prior: ex.PML(e, ex.SourceClass([prior, [Fraction(1, len(prior))] * len(prior)])),
    "PML permutations": lambda e, prior: ex.PML(e, ex.SourceClass.permutation_invariant(prior)),
    "PML ball": lambda e, prior: ex.PML(e, ex.SourceClass.ball(prior, "0.1")),
    "PML simplex": lambda e, prior: ex.PML(e, ex.SourceClass.simplex(len(prior))),
    "LIP": lambda e, prior: ex.LIP(e, prior),
    "LIP asymmetric": lambda e, prior: ex.LIP(e, prior, lower=3),
    "MetricPrivacy": lambda e, prior: ex.MetricPrivacy(e, np.abs(np.subtract.outer(*[np.arange(len(prior))] * 2)) / 2),
    "MetricPrivacy on no line": lambda e, _: ex.MetricPrivacy(e, UNEVEN),
    "MaximalLeakage": lambda e, _: ex.MaximalLeakage(e),
}
"""ε and a prior → a notion; one that depends on a prior depends on this one."""


def test_every_notion_has_an_example() -> None:
    assert {type(make(1, [0.4, 0.3, 0.2, 0.1])) for make in MAKERS.values()} == set(NOTIONS.values())


@pytest.mark.parametrize("name", MAKERS)
def test_a_notion_is_what_its_json_says(name: str) -> None:
    notion = MAKERS[name]("0.5", [0.4, 0.3, 0.2, 0.1])
    assert NOTIONS[notion.name] is type(notion)
    assert notion.epsilon == 0.5
    again = notion_from_json(json.loads(json.dumps(notion.to_json())))
    assert again == notion
    assert hash(again) == hash(notion)


@pytest.mark.parametrize("name", MAKERS)
def test_a_notion_of_a_file_has_its_fields_and_no_others(name: str) -> None:
    """One level, by ε or by a ratio: a file that says both could be decided by the one and shown by the other."""
    content = json.loads(json.dumps(MAKERS[name]("0.5", [0.4, 0.3, 0.2, 0.1]).to_json()))
    levels = ("0.50", "1/2", 1, "1_0", " 1", None)
    for other in ({"ratio": "2"}, {"note": "1"}, *({"epsilon": level} for level in levels)):
        with pytest.raises(MalformedFile):
            notion_from_json({**content, **other})
    if content.get("lower"):
        with pytest.raises(MalformedFile):
            notion_from_json({**content, "lower": {"epsilon": "1", "ratio": "2"}})


@pytest.mark.parametrize("name", MAKERS)
def test_another_prior_changes_the_prior_and_nothing_else(name: str) -> None:
    notion, uniform = MAKERS[name](2, [0.4, 0.3, 0.2, 0.1]), ["1/4"] * 4
    moved = notion.under(uniform)
    assert type(moved) is type(notion)
    assert moved.exponential == notion.exponential
    assert moved.under(uniform) == moved
    m = ex.randomized_response(4, 1)
    assert moved.level(m) == notion.level(m, uniform)
    if isinstance(notion, (ex.PML, ex.LIP)):
        assert moved.prior.weights == (1, 1, 1, 1)
    else:
        assert moved is notion


@pytest.mark.parametrize("name", MAKERS)
def test_the_notion_at_its_level_holds_and_just_below_does_not(name: str) -> None:
    seen = 0

    @given(mechanisms(k=4) | ldp_mechanisms(k=4), priors(k=4))
    def check(m: ex.Mechanism, prior: list[Any]) -> None:
        nonlocal seen
        level = MAKERS[name](1, prior).level(m)
        if math.isinf(level):
            assert not MAKERS[name](100, prior).holds(m)
            return
        assert MAKERS[name](level, prior).holds(m)
        if level > 1e-8:
            seen += 1
            assert not MAKERS[name](level * (1 - 1e-9), prior).holds(m)

    check()
    assert seen > 5


@pytest.mark.parametrize("name", MAKERS)
def test_a_plain_array_is_refused_with_a_pointer(name: str) -> None:
    notion = MAKERS[name](1, [0.25] * 4)
    for call in (notion.holds, notion.level):
        with pytest.raises(InvalidParameter, match=r"not on a plain array.*from_matrix"):
            call(np.eye(4))


@pytest.mark.parametrize("name", ["PML", "LIP", "MetricPrivacy"])
def test_another_alphabet_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match="3"):
        MAKERS[name](1, [0.25] * 4).holds(ex.randomized_response(3, 1))


@given(ldp_mechanisms(k=4), st.data())
def test_relabelling_inputs_changes_no_level(m: ex.Mechanism, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(4)))
    moved = ex.Mechanism.from_weights(m.weights[order])
    assert ex.LDP(1).level(moved) == ex.LDP(1).level(m)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    assert ex.PML(1, prior[order]).level(moved) == ex.PML(1, prior).level(m)
    assert ex.LIP(1, prior[order]).level(moved) == ex.LIP(1, prior).level(m)


@given(mechanisms(k=4), priors(k=4, zeros=False))
def test_pml_is_at_most_lip_is_at_most_ldp(m: ex.Mechanism, prior: list[Any]) -> None:
    """PML ≤ LDP (GSO, after [29, Prop. 6]); LIP asks for both sides of PML; LDP bounds both."""
    pml, lip, ldp = ex.PML(1, prior).level(m), ex.LIP(1, prior).level(m), ex.LDP(1).level(m)
    assert pml <= lip <= ldp


@given(ldp_mechanisms(k=4))
def test_pml_over_the_simplex_is_ldp(m: ex.Mechanism) -> None:
    assert ex.PML(1, ex.SourceClass.simplex(4)).level(m) == ex.LDP(1).level(m)


@given(ldp_mechanisms(k=4))
def test_metric_privacy_with_unit_distances_is_ldp(m: ex.Mechanism) -> None:
    assert ex.MetricPrivacy(1, 1 - np.eye(4)).level(m) == ex.LDP(1).level(m)


def test_notions_are_values() -> None:
    assert ex.LDP(0.1) == ex.LDP("1/10")
    assert ex.LDP(0.1) != ex.LDP(0.1, 0.1)
    assert ex.LDP(1) != ex.PML(1, [0.5, 0.5])
    assert len({ex.LDP(1), ex.LDP(1.0), ex.LDP("1")}) == 1
