"""Reports of several mechanisms together."""

import numpy as np
import pytest

import extremal as ex

OLD, NEW = ex.randomized_response(3, 1, inputs=["a", "b", "c"]), ex.randomized_response(3, 3, inputs=["a", "b", "c"])


def test_pooling_weights_each_mechanism_by_what_it_tells() -> None:
    p, generator = np.array([0.5, 0.3, 0.2]), np.random.default_rng(1)
    one, two = generator.multinomial(4000, OLD.marginal(p)), generator.multinomial(3000, NEW.marginal(p))
    both = ex.pool([(one, OLD), (two, NEW)], counts=True)
    parts = [ex.estimate_frequencies(c, m, counts=True) for c, m in ((one, OLD), (two, NEW))]
    precision = [np.linalg.pinv(part.covariance) for part in parts]
    combined = np.linalg.pinv(precision[0] + precision[1])
    expected = combined @ (precision[0] @ parts[0].estimate + precision[1] @ parts[1].estimate)
    assert both.n == 7000
    assert both.estimate == pytest.approx(expected + (1 - expected.sum()) / 3, abs=3e-3)
    assert both.standard_error == pytest.approx(np.sqrt(np.diagonal(combined)), rel=0.03)
    assert (both.standard_error < parts[1].standard_error).all()
    assert both.estimate.sum() == pytest.approx(1)


def test_one_mechanism_alone_is_the_plain_estimate() -> None:
    reports = ["a"] * 50 + ["b"] * 30 + ["c"] * 20
    assert ex.pool([(reports, OLD)]).interval().tolist() == ex.estimate_frequencies(reports, OLD).interval().tolist()


def test_a_mechanism_that_says_nothing_changes_nothing() -> None:
    noise = ex.Mechanism.from_matrix(np.full((3, 2), 0.5), inputs=["a", "b", "c"])
    counts = [600, 250, 150]
    both = ex.pool([(counts, NEW), ([400, 600], noise)], counts=True)
    assert both.estimate == pytest.approx(ex.estimate_frequencies(counts, NEW, counts=True).estimate, abs=1e-9)


def test_bad_parts() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="at least one pair"):
        ex.pool([])
    with pytest.raises(ex.errors.InvalidParameter, match="same inputs"):
        ex.pool([(["a", "b"], OLD), ([0, 1], ex.randomized_response(3, 1))])
    with pytest.raises(ex.errors.InvalidParameter, match="pairs"):
        ex.pool([(["a", "b"], "mechanism")])  # type: ignore[list-item]
    with pytest.raises(ex.errors.InvalidParameter, match=r"pairs .*got parts='FrequencyEstimate'"):
        ex.pool([ex.estimate_frequencies(["a", "b"], OLD)])  # type: ignore[list-item]
