"""Reports of several mechanisms together."""

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.estimate.reports.degrees import Degrees, degrees_of_mean, reach

YES = ex.randomized_response(2, 2)
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


def _clustered(generator: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """2,000 in 20 clusters that nearly agree, a few of them with large weights; and 1,000 drawn one by one."""
    cluster = np.repeat(np.arange(20), 100)
    answers = generator.random(2000) < np.where(generator.random(20) < 0.5, 0.1, 0.9)[cluster]
    weights = np.where(generator.random(2000) < 0.02, 60.0, 0.3)
    single = generator.random(1000) < 0.5
    drawn = [np.where(generator.random(x.size) < YES.matrix[0, 0], x, ~x).astype(int) for x in (answers, single)]
    return pd.DataFrame({"r": drawn[0], "c": cluster, "w": weights}), pd.DataFrame({"r": drawn[1]})


def test_a_part_of_a_poor_sample_never_makes_the_whole_worse_than_the_best_part() -> None:
    generator, found = np.random.default_rng(1), []
    for _ in range(60):
        poor, good = _clustered(generator)
        alone = ex.estimate_frequencies(good, YES, column="r")
        row = [alone.estimate[1], alone.standard_error[1]]
        for sample in (ex.Sample(cluster="c"), ex.Sample(weights="w")):
            both = ex.pool([(poor, YES), (good, YES)], column="r", sample=[sample, None])
            row += [both.estimate[1], both.standard_error[1]]
        found.append(row)
    spread, (best, by_cluster, by_weight) = np.std(found, axis=0)[::2], np.mean(found, axis=0)[1::2]
    assert (spread[1:] < 1.1 * spread[0]).all()  # 2.8 and 2.3 times as much where each part counts by its number
    assert max(by_cluster, by_weight) < best


def test_each_part_is_charged_with_its_own_weights() -> None:
    poor, good = _clustered(np.random.default_rng(2))
    both = ex.pool([(poor, YES), (good, YES)], column="r", sample=[ex.Sample(weights="w"), None])
    parts = [
        ex.estimate_frequencies(poor, YES, column="r", weights="w"),
        ex.estimate_frequencies(good, YES, column="r"),
    ]
    precision = sum(1 / part.standard_error[1] ** 2 for part in parts)
    assert both.standard_error[1] == pytest.approx(precision**-0.5, rel=0.01)


def test_bad_parts() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="at least one pair"):
        ex.pool([])
    with pytest.raises(ex.errors.InvalidParameter, match="same inputs"):
        ex.pool([(["a", "b"], OLD), ([0, 1], ex.randomized_response(3, 1))])
    with pytest.raises(ex.errors.InvalidParameter, match="pairs"):
        ex.pool([(["a", "b"], "mechanism")])  # type: ignore[list-item]
    with pytest.raises(ex.errors.InvalidParameter, match=r"pairs .*got parts='FrequencyEstimate'"):
        ex.pool([ex.estimate_frequencies(["a", "b"], OLD)])  # type: ignore[list-item]


def test_few_clusters_beside_single_reports_keep_few_degrees() -> None:
    generator, weak = np.random.default_rng(5), ex.randomized_response(2, 1)
    reports = (generator.random(400) < np.repeat([0.2, 0.3, 0.3, 0.5], 100)).astype(int).tolist()
    single = generator.integers(0, 2, 300).tolist()
    clustered = ex.Sample(cluster=np.repeat(range(4), 100))
    both = ex.pool([(reports, YES), (single, weak)], sample=[clustered, None])
    assert both.fit.degrees is not None
    assert 3 < both.fit.degrees.number < 20  # 3 + 299 added up
    assert reach(0.95, both.fit.degrees) > 1.1 * reach(0.95, None)


def test_pooled_degrees_reach_as_far_as_each_part_for_its_share() -> None:
    one, nothing = Degrees(4.0, 0.5), Degrees(200.0)
    found = degrees_of_mean(np.array([[2.0], [0.0]]), np.array([[1.0], [0.0]]), [one, nothing])
    assert (found.number, found.seen) == pytest.approx((4.0, 0.5), rel=1e-9)  # it has all of the weight
    halves = degrees_of_mean(np.ones((2, 1)), np.full((2, 1), 0.5), [one, nothing])
    for level, slack in ((0.8, 0.1), (0.95, 0.04), (0.99, 0.04)):
        square = (reach(level, one) ** 2 + reach(level, nothing) ** 2) / 2 * (1 + 1 / 4 + 1 / 200)
        assert 1 <= reach(level, halves) / np.sqrt(square) < 1 + slack


def test_parts_of_one_mechanism_are_one_survey() -> None:
    m, s = ex.randomized_response(3, 2), ex.subset_selection(200, 1)
    first, second = [0] * 50 + [1] * 30 + [2] * 20, [2] * 40
    both = ex.pool([(first, m), (second, m)])
    alone = ex.estimate_frequencies(first + second, m)
    assert both.exact
    assert both.interval().tolist() == alone.interval().tolist()
    assert ex.pool([(first, m), (second, m)], "mle").shown == pytest.approx(
        ex.estimate_frequencies(first + second, m, "mle").shown
    )
    reports = s.privatize([0, 1, 2] * 40), s.privatize([1, 2, 3] * 20)  # too many to list
    pooled = ex.pool([(one, s) for one in reports])
    assert pooled.estimate == pytest.approx(ex.estimate_frequencies([*reports[0], *reports[1]], s).estimate)
    clustered = ex.pool([(one, s) for one in reports], sample=[ex.Sample(cluster=np.arange(120) // 10), None])
    assert (clustered.standard_error > 0).all()
    assert "2 parts" in clustered.sample
    weights = np.where(np.arange(100) < 50, 1.0, 3.0)
    weighted = ex.pool([(first, m), (second, m)], sample=[ex.Sample(weights=weights), None])
    share = weights.sum() ** 2 / (weights @ weights)
    parts = [ex.estimate_frequencies(first, m, weights=weights).estimate, ex.estimate_frequencies(second, m).estimate]
    assert weighted.estimate == pytest.approx((share * parts[0] + 40 * parts[1]) / (share + 40))


def test_reports_of_several_mechanisms_are_listed() -> None:
    s, m = ex.subset_selection(200, 1), ex.randomized_response(200, 1)
    with pytest.raises(ex.errors.TooLarge, match="one mechanism can be pooled"):
        ex.pool([(s.privatize([0] * 30), s), (m.privatize([0] * 20), m)])
