"""What holds for all closed forms together, and for whatever is listed in FORMS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremal as ex
from extremal.closed_forms import FORMS, Setting
from extremal.exact import Prior
from extremal.testing import epsilons


def test_ldp_matrices(same: Callable[..., None], reference: dict[str, Any]) -> None:
    case = reference["ldp_binary_mechanism_k4_eps1"]
    same(ex.binary(case["arguments"]["p0"], case["arguments"]["p1"], 1), case["expected"]["mechanism_rows_x_cols_y"])
    same(ex.randomized_response(4, 1), reference["ldp_rr_k4_eps1"]["expected"]["mechanism_rows_x_cols_y"])
    same(ex.geometric(4, 1), reference["ldp_geometric_k4_eps1"]["expected"]["mechanism_rows_x_cols_y"])
    same(ex.quaternary(1, 0.1), reference["ldp_quaternary_eps1_delta0.1"]["expected"]["mechanism_rows_x_cols_y"])


@given(st.integers(2, 8), epsilons())
def test_every_ldp_form_uses_its_epsilon_exactly(tight: Callable[..., None], k: int, epsilon: float) -> None:
    prior = np.arange(1, k + 1) / (k * (k + 1) / 2)
    forms = [
        ex.randomized_response(k, epsilon),
        ex.geometric(k, epsilon),
        ex.subset_selection(k, epsilon),
        ex.subset_selection(k, epsilon, size="information"),
        ex.binary(prior, prior[::-1].copy(), epsilon),
        ex.binary_for_information(prior, epsilon),
    ]
    for m in forms:
        assert m.privacy == ex.LDP(epsilon)
        tight(ex.LDP, epsilon, m)


def test_epsilon_zero_and_no_difference_are_constant() -> None:
    for m in (
        ex.geometric(3, 0),
        ex.binary([0.5, 0.5], [0.2, 0.8], 0),
        ex.binary_for_information([0.5, 0.3, 0.2], 0),
        ex.quaternary(0, 0),
        ex.pml_binary([0.6, 0.4], 0),
        ex.pml_high_privacy([0.6, 0.4], 0),
        ex.pml_uniform(3, 0),
        ex.pml_randomized_response([0.6, 0.4], 0),
    ):
        assert m.row_classes == 1
    same = ex.binary([0.5, 0.3, 0.2], [0.5, 0.3, 0.2], 1)
    assert ex.KL([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])(same) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ex.randomized_response(1, 1), "k must be at least 2; got k=1"),
        (lambda: ex.randomized_response(0, 1), "k must be at least 2; got k=0"),
        (lambda: ex.geometric(1, 1), "k must be at least 2"),
        (lambda: ex.subset_selection(4, 1, size=4), "size must be less than k"),
        (lambda: ex.subset_selection(4, 1, size="best"), "size must be 'frequencies', 'information' or a number"),
        (lambda: ex.subset_selection(4, 0), "epsilon must be positive"),
        (lambda: ex.pml_high_privacy([0.5, 0.3, 0.2], 1), "epsilon must be at most −log.* = 0.223144: region 1"),
        (
            lambda: ex.pml_randomized_response([0.5, 0.3, 0.2], 2),
            "epsilon must be below −log of the smallest probability",
        ),
        (lambda: ex.pml_randomized_response([0.5, 0.5, 0], 1), "which must be positive"),
        (lambda: ex.hamming(3, 1.5), "d must lie between 0 and 1"),
        (lambda: ex.hamming(3, 0.1, zero_columns=2), "zero_columns must be at most k − 2 = 1"),
        (lambda: ex.quaternary(1, 1), "delta must be at least 0 and less than 1"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        make()


LISTED = [
    Setting(4, 0.7, Prior([0.4, 0.3, 0.2, 0.1]), ex.KL([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4])),
    Setting(3, 0.05, Prior(["1/3", "1/3", "1/3"]), ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])),
    Setting(2, 0.3, Prior(["1/2", "1/2"]), ex.KL([0.7, 0.3], [0.4, 0.6])),
]


@pytest.mark.parametrize("name", FORMS)
def test_every_listed_form_has_a_place_and_keeps_its_claim(name: str) -> None:
    made = [(setting, FORMS[name].at(setting)) for setting in LISTED]
    assert any(m is not None for _, m in made)
    for setting, m in made:
        if m is not None:
            assert m.k == setting.k
            assert m.privacy is None or m.privacy.holds(m)


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.curve])
def test_every_form_with_a_curve_is_private_at_the_epsilon_of_the_curve(name: str) -> None:
    for setting in LISTED:
        m = FORMS[name].at(setting)
        assert m is not None
        assert ex.LDP(setting.epsilon).holds(m)


def test_tables_and_summaries_list_what_is_registered() -> None:
    pair = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]
    rows = {row.name.split(", d=")[0].rstrip(")") for row in ex.compare(ex.KL(*pair), epsilon=0.7).rows}
    assert rows == {name.rstrip(")") for name, form in FORMS.items() if form.at(LISTED[0]) is not None}
    curves = {form.curve for form in FORMS.values() if form.curve}
    over_epsilon = ex.tradeoff(ex.LDP, ex.KL(*pair), [0.7])
    assert {*over_epsilon.ratios, *over_epsilon.left_out} == curves
    summary = " ".join(ex.design(ex.LDP(0.7), ex.KL(*pair)).summary().split())  # whatever its lines
    assert {form.curve for form in FORMS.values() if form.curve and form.curve in summary} == {
        form.curve for form in FORMS.values() if form.curve and form.summarised
    }
