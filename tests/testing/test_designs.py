"""`check` passes what `design` makes, and names what is wrong with anything else."""

from dataclasses import replace
from typing import Any

import pytest

import extremal as ex
from extremal.testing.designs import check, faults
from support.refusals import falsely_claiming

UTILITY = ex.KL([0.5, 0.3, 0.2], [0.2, 0.2, 0.6])
GOOD = ex.design(ex.LDP(1), UTILITY)


def test_a_design_has_no_faults_and_comes_back() -> None:
    assert faults(GOOD, value=GOOD.value) == []
    assert check(GOOD) is GOOD
    cost = ex.design(ex.LDP(1), ex.Hamming([0.5, 0.3, 0.2]))
    assert check(cost) is cost


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mechanism": falsely_claiming(ex.randomized_response(3, 2), ex.LDP(1))}, "does not hold"),
        ({"mechanism": falsely_claiming(GOOD.mechanism, None)}, "None does not hold"),
        ({"value": GOOD.value * 1.001}, "the value is"),
        ({"value": GOOD.value * 1.001}, "neither bound is the value"),
        ({"upper_bound": GOOD.value * 0.9}, "the bounds cross"),
        ({"upper_bound": GOOD.value * 1.1}, "the gap is"),
        ({"proved": replace(GOOD.certificate, proofs=()), "further": tuple}, "not verified"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], said: str) -> None:
    wrong = replace(GOOD, **changes)
    assert any(said in fault for fault in faults(wrong))
    with pytest.raises(AssertionError, match=said):
        check(wrong)


def test_another_optimum_is_noticed() -> None:
    assert any("the optimum is" in fault for fault in faults(GOOD, value=GOOD.value * (1 + 1e-6)))
