"""Rounding keeps the claim exactly and loses next to nothing; a false claim is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import extremal as ex
from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.exact.weights import DENOMINATOR, exact_sums
from extremal.testing import ldp_mechanisms, matrices, pml_mechanisms
from support.random_mechanisms import information_loss, random_ldp_matrix, random_pml_matrix

SAMPLE = 300
LARGEST_LOSS = 1e-12


def test_a_sample_of_the_audit_holds_exactly_and_loses_no_information() -> None:
    """`make audit` runs 10,000 of these."""
    generator = np.random.default_rng(7)
    for index in range(SAMPLE):
        k = int(generator.integers(2, 33))
        epsilon = float(np.exp(generator.uniform(np.log(0.01), np.log(20))))
        prior = generator.dirichlet(np.ones(k)) + 1e-6
        prior /= prior.sum()
        notion = ex.PML(epsilon, prior) if index % 2 else ex.LDP(epsilon)
        matrix = random_pml_matrix(generator, prior, epsilon) if index % 2 else random_ldp_matrix(generator, k, epsilon)
        m = ex.Mechanism.from_matrix(matrix, notion)
        assert notion.holds(m)
        assert exact_sums(m.weights, axis=1) == [DENOMINATOR] * k
        if epsilon >= 0.1:
            assert information_loss(matrix, m, prior) <= LARGEST_LOSS


def test_the_loss_measure_sees_a_loss() -> None:
    matrix = ex.randomized_response(3, 1).matrix
    worse = ex.Mechanism.from_matrix(matrix * (1 - 1e-9) + 1e-9 / 3)
    assert information_loss(matrix, worse, np.array([0.2, 0.3, 0.5])) > 1e-10


def test_floats_as_a_solver_returns_them_are_not_private_as_they_are() -> None:
    """Plain rounding of the same floats breaks the claim in a good part of the cases: the repair is needed."""
    generator = np.random.default_rng(3)
    broken = 0
    for _ in range(100):
        matrix = random_ldp_matrix(generator, 8, 1.0)
        broken += not ex.LDP(1).holds(ex.Mechanism.from_matrix(matrix))
    assert broken > 20


@given(matrices())
def test_without_a_claim_entries_move_by_units(matrix: np.ndarray) -> None:  # type: ignore[type-arg]
    m = ex.Mechanism.from_matrix(matrix)
    used = matrix.max(axis=0) > 0
    assert np.abs(m.matrix - matrix[:, used]).max() <= 2.0**-51
    assert m.outputs == tuple(np.flatnonzero(used).tolist())


@given(ldp_mechanisms() | pml_mechanisms())
def test_claims_made_by_rounding_hold(m: ex.Mechanism) -> None:
    assert m.privacy is not None
    assert m.privacy.holds(m)
    assert ex.verify(m)


def test_outputs_that_nobody_reports_are_dropped() -> None:
    m = ex.Mechanism.from_matrix([[0.5, 0.0, 0.5], [0.2, 0.0, 0.8]], outputs=["a", "never", "b"])
    assert m.outputs == ("a", "b")


def test_rows_off_by_a_solver_tolerance_are_completed_in_proportion() -> None:
    m = ex.Mechanism.from_matrix(np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]) * (1 + 4e-7))
    assert m.matrix[0] == pytest.approx([0.5, 0.3, 0.2], rel=1e-12)
    m = ex.Mechanism.from_matrix(np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]) * (1 - 4e-7))
    assert m.matrix[0].tolist() == pytest.approx([0.5, 0.5, 0.0], rel=1e-12)


def test_small_negative_entries_of_a_solver_are_zero() -> None:
    assert ex.Mechanism.from_matrix([[1 + 1e-12, -1e-12], [0.5, 0.5]]).weights[0].tolist() == [DENOMINATOR, 0]


def test_exact_numbers_are_rounded_from_their_exact_value() -> None:
    third = Fraction(1, 3)
    m = ex.Mechanism.from_matrix([[third, 1 - third], [1 - third, third]], ex.LDP.from_ratio(2))
    assert abs(Fraction(int(m.weights[0, 0]), m.denominator) - third) < Fraction(4, DENOMINATOR)
    assert ex.Mechanism.from_matrix([["0.25", "0.75"], ["0.75", "0.25"]]).matrix[0, 0] == 0.25
    with pytest.raises(InvalidParameter, match=r"matrix\[0\]\[1\] must be a finite number; got matrix\[0\]\[1\]='x'"):
        ex.Mechanism.from_matrix([["1", "x"], ["0", "1"]])


def test_an_approximate_claim_is_mended_as_a_whole() -> None:
    """(ε,δ): no single column is to blame, so every one gives way a little."""
    e = np.exp(1.0)
    reveal, stay = 0.1, 0.9
    matrix = np.array(
        [[reveal, 0, stay / (1 + e), stay * e / (1 + e)], [0, reveal, stay * e / (1 + e), stay / (1 + e)]]
    )
    m = ex.Mechanism.from_matrix(matrix, ex.LDP(1, 0.1))
    assert ex.LDP(1, 0.1).holds(m)
    assert np.abs(m.matrix - matrix).max() < 1e-12
    with pytest.raises(
        PrivacyViolation,
        match=r"the matrix must satisfy the claimed LDP\(epsilon=1.0, delta=0.09\); it holds at no epsilon",
    ):
        ex.Mechanism.from_matrix(matrix, ex.LDP(1, 0.09))


def test_a_false_claim_is_refused_with_the_level_it_has() -> None:
    with pytest.raises(
        PrivacyViolation, match=r"the smallest epsilon at which it holds is 1\.386294361119890.*Claim that level"
    ) as caught:
        ex.Mechanism.from_matrix([[0.8, 0.2], [0.2, 0.8]], ex.LDP(1))
    assert caught.value.value == pytest.approx(np.log(4), abs=1e-12)
    with pytest.raises(PrivacyViolation, match="it holds at no epsilon.*Mix in a constant"):
        ex.Mechanism.from_matrix([[1.0, 0.0], [0.5, 0.5]], ex.LDP(5))


def test_six_digits_are_too_few_for_a_claim() -> None:
    with pytest.raises(PrivacyViolation, match="more digits"):
        ex.Mechanism.from_matrix([[0.73107, 0.26893], [0.26893, 0.73107]], ex.LDP(1))


def test_epsilon_zero_asks_for_equal_rows() -> None:
    m = ex.Mechanism.from_matrix([[0.1, 0.9], [0.1 + 1e-17, 0.9 - 1e-16]], ex.LDP(0))
    assert m.row_classes == 1
    with pytest.raises(PrivacyViolation, match=r"LDP\(epsilon=0.0\)"):
        ex.Mechanism.from_matrix([[0.1, 0.9], [0.2, 0.8]], ex.LDP(0))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], r"each row of matrix must sum to 1 within 1e-06; got sum\(matrix\[0\]\)=1.1"),
        ([[1.5, -0.5], [0.5, 0.5]], r"matrix must not be negative; got matrix\[0\]\[1\]=-0.5"),
        ([[float("nan"), 1], [0.5, 0.5]], r"matrix must be finite; got matrix\[0\]\[0\]=nan"),
        ([[0.5, 0.5]], r"matrix must have one row for each of at least 2 inputs .*got matrix.shape=\(1, 2\)"),
        ([0.5, 0.5], r"got matrix.shape=\(2,\)"),
        ([[0.5, 0.5], [1.0]], "matrix must have rows of equal length"),
        ([[True, False], [False, True]], "matrix must hold numbers; got matrix.dtype='bool'"),
    ],
)
def test_bad_matrices(matrix: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ex.Mechanism.from_matrix(matrix)


def test_reports_that_break_the_ratio_are_scaled_down_to_delta() -> None:
    """They keep their zeros; what solvers leave of other reports, a few units, may be rounded away."""
    e, delta = np.exp(2.0), 1e-12
    stay = (1 - delta) / (1 + e)
    matrix = np.array([[1.00003 * delta, 0, stay, e * stay, 3e-19], [0, delta, e * stay, stay, 3e-19]])
    m = ex.Mechanism.from_matrix(matrix, ex.LDP(2, delta))
    assert ex.LDP(2, delta).holds(m)
    assert m.weights[0, 1] == m.weights[1, 0] == 0
    assert np.abs(m.matrix[:, :4] - matrix[:, :4]).max() < 1e-15
