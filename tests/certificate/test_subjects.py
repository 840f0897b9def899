"""What can be verified, and how the outcome is shown."""

from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpq

import extremal as ex
from extremal.certificate.arithmetic.enclosures import pair_rule, pair_value
from extremal.errors import InvalidParameter
from extremal.exact import as_prior
from extremal.problem import PairGoal

P0, P1 = [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]


def test_a_mechanism_its_file_a_design_and_its_certificate_are_verified(tmp_path: Path) -> None:
    design = ex.design(ex.LDP(1), ex.KL(P0, P1))
    alone = ex.verify(design.mechanism)
    assert alone
    assert alone.privacy == "proved"
    assert alone.reasons == ex.verify(design.mechanism.save(tmp_path / "m.json")).reasons
    assert ex.verify(design).reasons == ex.verify(design.certificate).reasons


def test_nothing_else_is() -> None:
    with pytest.raises(InvalidParameter, match=r"a mechanism, a design, a certificate or a path.*list"):
        ex.verify([1, 2])  # type: ignore[arg-type]


def test_an_outcome_shows_its_verdicts_and_escapes_its_reasons() -> None:
    outcome = ex.verify(ex.randomized_response(["<a>", "b"], 1))
    assert "privacy     proved" in str(outcome).splitlines()
    assert "<pre>" in outcome._repr_html_()
    assert "<a>" not in outcome._repr_html_()


@pytest.mark.parametrize(("order", "name"), [(0, "ReverseKL"), (1, "KL")])
def test_alpha_divergences_of_order_0_and_1_are_kl(order: int, name: str) -> None:
    p0, p1 = as_prior(P0), as_prior(P1)
    goals = (PairGoal("AlphaDivergence", p0, p1, Fraction(order)), PairGoal(name, p0, p1, None))
    ours, theirs = (pair_value(pair_rule(goal), fmpq(1, 3), fmpq(1, 2)) for goal in goals)
    assert ours.overlaps(theirs)
    assert float(ours.mid()) == pytest.approx(float(theirs.mid()), rel=1e-15)
