from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import extremal as ex
from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.exact.weights import DENOMINATOR
from extremal.testing import mechanisms, priors


def test_weights_are_scaled_to_two_to_the_62() -> None:
    m = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, inputs=["no", "yes"], outputs=["A", "B"])
    assert Fraction(int(m.weights[0, 0]), m.denominator) == Fraction(3, 4)
    assert (m.inputs, m.outputs, m.k, m.m, m.denominator) == (("no", "yes"), ("A", "B"), 2, 2, DENOMINATOR)
    assert m.privacy is None
    assert repr(m) == "Mechanism(k=2, m=2, randomized_response)"


def test_a_claim_on_weights_is_decided() -> None:
    assert ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, privacy=ex.LDP.from_ratio(3)).privacy == ex.LDP.from_ratio(3)
    with pytest.raises(
        PrivacyViolation, match=r"the mechanism must satisfy the claimed LDP\(epsilon=1.0\); got level=1.098"
    ):
        ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, privacy=ex.LDP(1))


@pytest.mark.parametrize(
    ("weights", "denominator", "message"),
    [
        ([[2, 1], [1, 2]], 3, "denominator must be a power of two of at most 2\\^62; got denominator=3"),
        ([[2, 1], [1, 2]], 2**63, "denominator must be a power of two"),
        ([[2, 1], [1, 2]], 4, "each row of weights must sum to the denominator exactly"),
        ([[5, -1], [1, 3]], 4, "weights must lie between 0 and the denominator"),
        ([[0.5, 0.5], [0.5, 0.5]], 4, "weights must be integers; got weights.dtype='float64'"),
        ([[1, 3], [4]], 4, "weights must have rows of equal length"),
        ([[1, 3]], 4, "weights must be a matrix with at least 2 rows"),
        ([[4, 0], [4, 0]], 4, "every output must have some weight; got unused output=1"),
    ],
)
def test_bad_weights(weights: object, denominator: int, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ex.Mechanism.from_weights(weights, denominator)


def test_wide_integers_are_taken_as_python_integers() -> None:
    m = ex.Mechanism.from_weights(np.array([[DENOMINATOR - 1, 1], [1, DENOMINATOR - 1]], dtype=object))
    assert ex.LDP(42).level(m) == pytest.approx(62 * np.log(2))


def test_labels_must_fit() -> None:
    with pytest.raises(InvalidParameter, match=r"inputs must have 2 labels; got len\(inputs\)=3"):
        ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, inputs=["a", "b", "c"])


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([0, 2], "block numbers must be 0..L−1"),
        ([1, 2], "block numbers must be 0..L−1"),
        ([0, 0], "at least two blocks"),
        ([0.5, 1], "blocks must give a block number"),
        ([0], "blocks must give a block number"),
    ],
)
def test_bad_partitions(blocks: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ex.Mechanism.from_partition(blocks, ex.LDP(1))


def test_partitions_share_rows() -> None:
    m = ex.Mechanism.from_partition([1, 0, 1], ex.LDP(1), outputs=["low", "high"])
    assert m.matrix[0].tolist() == m.matrix[2].tolist()
    assert m.matrix[1, 0] == pytest.approx(np.e / (1 + np.e))
    assert ex.Mechanism.from_partition([0, 1, 1], ex.LDP(0)).row_classes == 1
    with pytest.raises(InvalidParameter, match="length must be at least 1 and less than k; got length=5"):
        ex.Mechanism.from_windows(5, 5, ex.LDP(1))


@given(mechanisms(k=4), priors(k=4))
def test_marginal_and_posterior_are_bayes(m: ex.Mechanism, prior: list[Fraction]) -> None:
    p = np.array([float(x) for x in prior])
    assert m.marginal(prior) == pytest.approx(p @ m.matrix, abs=1e-15)
    posterior = m.posterior(prior)
    possible = m.marginal(prior) > 0
    assert posterior[:, possible].sum(axis=0) == pytest.approx(1)
    assert not posterior[:, ~possible].any()
    assert posterior * m.marginal(prior) == pytest.approx(p[:, None] * m.matrix)


def test_frozen() -> None:
    m = ex.randomized_response(3, 1)
    with pytest.raises(AttributeError):
        m.privacy = None  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        ex.Mechanism.from_weights([[2, 2], [1, 3]], 4).weights[0, 0] = 1


def test_privatize_reports_in_the_alphabet() -> None:
    m = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
    assert m.privatize("a") in m.outputs
    assert set(m.privatize(["a", "b"] * 200)) == {"a", "b", "c"}


def test_a_partition_into_single_inputs_is_randomised_response_in_the_order_of_the_inputs() -> None:
    m = ex.Mechanism.from_partition([2, 0, 1], ex.LDP(1), inputs=["a", "b", "c"], outputs=["x", "y", "z"])
    assert m.row_of is None
    assert m.outputs == ("z", "x", "y")
    assert m.structure.kind == "randomized_response"
    rows = np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]])
    shuffled = ex.Mechanism._made(
        ex.Mechanism.from_weights(rows[[1, 0, 2]], 4).structure,
        np.array([1, 0, 2]),
        m.input_labels,
        m.output_labels,
        None,
    )
    assert shuffled.row_of is None
    assert (shuffled.matrix * 4 == rows).all()


def test_spreading_keeps_rows_and_claim() -> None:
    merged = ex.Mechanism.from_partition([0, 0, 1], ex.LDP(1))
    wide = merged.spread([2, 0, 1, 2, 2])
    np.testing.assert_array_equal(wide.weights, merged.weights[[2, 0, 1, 2, 2]])
    assert wide.privacy == ex.LDP(1)
    assert wide.outputs == merged.outputs
    plain = ex.randomized_response(3, 1).spread([1, 0, 2, 2])
    np.testing.assert_array_equal(plain.weights[3], ex.randomized_response(3, 1).weights[2])


@pytest.mark.parametrize("row_of", [[0, 3], [-1, 0], [0], [[0, 1]], [0.5, 1.0]])
def test_positions_that_do_not_exist_are_refused(row_of: object) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="row_of must hold positions 0..2"):
        ex.randomized_response(3, 1).spread(row_of)


def test_another_claim_is_decided_again() -> None:
    m = ex.randomized_response(3, 1)
    claimed = m.claiming(ex.PML(0.8, [0.5, 0.3, 0.2]))
    assert claimed.privacy == ex.PML(0.8, [0.5, 0.3, 0.2])
    assert (claimed.weights == m.weights).all()
    assert m.privacy == ex.LDP(1)
    assert claimed.claiming(None).privacy is None
    assert claimed.claiming(ex.LDP(1)) == m
    with pytest.raises(PrivacyViolation, match=r"must satisfy the claimed LDP\(epsilon=0.5\); got level=1.0"):
        m.claiming(ex.LDP(0.5))
