"""One number of sixteen digits for every bound: computed in forty-digit arithmetic from its statement.

A bound that is merely above the optimum could be far too large unnoticed; these would change.
"""

from __future__ import annotations

from typing import Any

import pytest

import extremal as ex
from extremal.theory import converses, fano, le_cam

P0, P1 = [0.41, 0.33, 0.16, 0.10], [0.11, 0.24, 0.27, 0.38]
EPSILON, SLACK = 1, 0.1
GOALS: dict[str, Any] = {
    "Alpha(3/2)": ex.AlphaDivergence(P0, P1, "1.5"),
    "Hockey(13/10)": ex.HockeyStick(P0, P1, "1.3"),
    "MutualInformation": ex.MutualInformation(P0),
} | {
    name: getattr(ex, name)(P0, P1)
    for name in ("KL", "ReverseKL", "SymmetricKL", "TotalVariation", "ChiSquared", "SquaredHellinger", "JensenShannon")
}
BOUNDS = {
    "KL": {
        "no privacy": 0.427297407094989,
        "chord": 0.1802256913314038,
        "contraction": 0.09125032998291592,
        "Corollary 9": 0.2415492537402516,
        "Duchi et al.": 1.796296401720441,
        "Stein": 0.1207746268701258,
        "Pinsker": 0.1696472219081839,
        "Theorem 7": 1.810085621786038,
        "Theorem 7, sharper": 0.2434034999622642,
        "Corollary 10": -0.8610893741956126,
    },
    "ReverseKL": {
        "no privacy": 0.4274240613766157,
        "chord": 0.1802256913314038,
        "contraction": 0.09127737729188688,
        "Corollary 9": 0.2415492537402516,
        "Duchi et al.": 1.796296401720441,
        "Stein": 0.1207746268701258,
        "Pinsker": 0.1696975066669116,
    },
    "SymmetricKL": {
        "no privacy": 0.8547214684716048,
        "chord": 0.3604513826628076,
        "contraction": 0.1825277072748028,
        "Corollary 9": 0.2415492537402516,
        "Duchi et al.": 1.796296401720441,
        "Corollary 10": -1.747649255107657,
    },
    "TotalVariation": {
        "no privacy": 0.39,
        "chord": 0.1802256913314038,
        "Corollary 11": 0.1802256913314038,
    },
    "ChiSquared": {
        "no privacy": 1.103062422470317,
        "chord": 0.4236028951558901,
        "contraction": 0.2355614809986322,
        "quadratic": 0.2415492537402516,
    },
    "SquaredHellinger": {
        "no privacy": 0.2068509295803933,
        "chord": 0.08828127050334235,
        "contraction": 0.0441734849499983,
        "quadratic": 0.06038731343506291,
    },
    "JensenShannon": {
        "no privacy": 0.1002803555534164,
        "chord": 0.04326818795197367,
        "contraction": 0.02141509726741491,
    },
    "Alpha(3/2)": {
        "no privacy": 0.4706376807077567,
        "chord": 0.1915851841501976,
        "contraction": 0.1005057436667994,
    },
    "Hockey(13/10)": {
        "no privacy": 0.285,
        "chord": 0.1487595450311144,
        "contraction": 0.05102096340810424,
    },
    "MutualInformation": {
        "entropy": 1.254885438497617,
        "contraction": 0.2679836302592124,
        "any prior": 0.1233015614822445,
        "best single set": 0.1232563779616849,
        "Lemma 26": 0.1447080143503685,
        "Lemma 27": 0.2884520394613412,
        "Theorem 13": 0.4123625139084347,
        "Corollary 15": 0.137445,
        "Corollary 16": 0.2616109473347229,
        "fluid": 0.1222652957011742,
    },
}
RELATIVE = 1e-13  # a few roundings of floats


@pytest.mark.parametrize("goal", list(BOUNDS))
def test_every_bound_has_its_number(goal: str) -> None:
    found = {b.name: b.value for b in converses(GOALS[goal], EPSILON, slack=SLACK, optimum=False).bounds}
    elsewhere = {"affine"}  # attained at uniform priors, see test_converses.py; an inequality at this one
    assert set(found) - elsewhere == set(BOUNDS[goal])
    for name, value in BOUNDS[goal].items():
        assert found[name] == pytest.approx(value, rel=RELATIVE), name


def test_where_binary_is_optimal_the_bound_is_its_value() -> None:
    found = {b.name: b.value for b in converses(ex.KL(P0, P1), 0.1, optimum=False).bounds}
    assert found["binary is optimal"] == pytest.approx(0.0007593013855523991, rel=RELATIVE)


def test_lower_bounds_of_le_cam_and_fano() -> None:
    assert le_cam([0.5, 0.5], [0.52, 0.48], 1, 100) == pytest.approx(0.4369901787838187, rel=RELATIVE)
    assert fano([P0, P1, [0.25] * 4], 1, 1) == pytest.approx(0.331775149566913, rel=RELATIVE)
    assert fano(1000, 1, 10) == pytest.approx(0.7211593755726951, rel=RELATIVE)


def test_exponents_of_a_test() -> None:
    found = ex.error_exponent(ex.randomized_response(2, 1), [0.7, 0.3], [0.4, 0.6])
    assert found.stein == pytest.approx(0.038605294483699793, rel=RELATIVE)
    assert found.reverse_stein == pytest.approx(0.038942871031330411, rel=RELATIVE)
    assert found.chernoff == pytest.approx(0.0097248303995536325, rel=RELATIVE)
    assert found.without_privacy == pytest.approx(0.18378689738681229, rel=RELATIVE)
