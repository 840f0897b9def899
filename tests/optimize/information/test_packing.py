"""Packing designs: every light symbol in equally many bins, level bins, and the bound met."""

from __future__ import annotations

import numpy as np
import pytest

import extremal as ex
from extremal.optimize.information import packing as design
from extremal.optimize.information.bounds import fluid, fluid_contact
from extremal.optimize.information.packing import packing
from extremal.testing.designs import check
from extremal.utility.curve import InformationCurve


def _packed(prior: np.ndarray, epsilon: float, aim: float = 5e-10) -> tuple[float, float, object]:
    curve = InformationCurve(epsilon)
    upper, contact = fluid(prior, curve)[0], fluid_contact(prior, curve) / curve.c
    made = packing(prior, curve, contact, upper, aim, lambda: False)
    assert made is not None
    return made.value(prior, curve), upper, made


@pytest.mark.parametrize("concentration", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_every_row_is_covered_equally_often_and_the_bound_is_met(concentration: float, epsilon: float) -> None:
    prior = np.random.default_rng(1).dirichlet(np.full(3000, concentration))
    value, upper, made = _packed(prior, epsilon)
    assert upper * (1 - 1e-9) <= value <= upper
    covered = made.sets @ made.times
    assert covered.min() == covered.max()
    assert made.row_of.size == 3000
    assert made.sets.any(axis=0).all()


def test_heavy_symbols_are_alone() -> None:
    prior = np.concatenate([[0.3, 0.2], np.random.default_rng(2).dirichlet(np.ones(2000)) / 2])
    value, upper, made = _packed(prior, 4.0)
    assert value >= upper * (1 - 1e-9)
    for x in (0, 1):
        (only,) = np.flatnonzero(made.sets[made.row_of[x]])
        assert made.sets[:, only].sum() == 1
        assert (made.row_of == made.row_of[x]).sum() == 1


def test_exchanges_level_bins_and_keep_what_rows_are_in() -> None:
    rng = np.random.default_rng(3)
    masses = rng.random(200)
    inside, loads = design._filled(masses, 40, 3)
    inside[:, [0, 39]] = inside[:, [39, 0]]
    loads = masses @ inside
    spread = np.ptp(loads)
    while design._evened(masses, inside, loads) and np.ptp(loads) > 1e-7:
        pass
    assert np.allclose(loads, masses @ inside, atol=1e-9)
    assert (inside.sum(axis=1) == 3).all()
    assert np.ptp(loads) < 1e-2 * spread


def test_no_two_bins_no_design() -> None:
    curve = InformationCurve(1.0)
    assert packing(np.array([0.7, 0.3]), curve, 0.35, 1.0, 1e-9, lambda: False) is None
    assert design._sizes(curve, 0, 1.0, 0.0, 1e-5, 1.0) is None


def test_large_alphabets_are_closed() -> None:
    prior = np.random.default_rng(4).dirichlet(np.ones(20_000))
    found = ex.design(ex.LDP(2), ex.MutualInformation(prior))
    assert found.gap < 1e-9
    assert found.method == "packing design on rows of symbols"
    assert [proof.kind for proof in found.certificate.proofs] == ["concave"]
    assert ex.verify(found)
    assert len(found.notes) >= 3


def test_a_thousand_symbols_at_a_large_epsilon() -> None:
    prior = np.random.default_rng(3).dirichlet(np.ones(1000))
    found = ex.design(ex.LDP(6), ex.MutualInformation(prior))
    check(found, 1e-9)
