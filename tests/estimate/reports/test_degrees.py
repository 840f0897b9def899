"""How well units show a variance."""

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.estimate.reports.degrees import ALIKE, Degrees, Deviations, reach, sums

M = ex.randomized_response(3, 3)
UNEVEN = [5, 5, 5, 5, 10, 10, 20, 20, 40, 60, 80, 100]


def same(one: Degrees, other: Degrees) -> None:
    assert (one.number, one.seen) == pytest.approx((other.number, other.seen), rel=1e-9)


def beyond(degrees: Degrees, linear: np.ndarray, removed: np.ndarray, units: np.ndarray, strata: np.ndarray) -> None:
    """Among 200,000 surveys of normal answers, of correlation `ALIKE` within units, limits fail as often as they may.

    `linear` are the weights of the statistic, `removed` is what is taken from answers (people by people) before they
    are weighted; all of it is written out with matrices of people.
    """
    n, unit = linear.size, np.eye(units.max() + 1)[units]
    s = unit.T @ (linear[:, None] * (np.eye(n) - removed))
    factor = np.zeros((len(s), len(s)))
    for h in np.unique(strata):
        inside = strata == h
        size = int(inside.sum())
        centred = np.sqrt(size / (size - 1)) * (np.eye(size) - 1 / size) if size > 1 else np.eye(1)
        factor[np.ix_(inside, inside)] = centred
    generator = np.random.default_rng(4)
    root = np.linalg.cholesky(ALIKE * unit @ unit.T + (1 - ALIKE) * np.eye(n))
    both = np.vstack([linear, factor @ s]) @ root
    theta, *u = np.asarray(np.linalg.qr(both.T, mode="r")).T @ generator.normal(size=(min(both.shape), 200_000))
    far = np.abs(theta) / np.sqrt(np.square(u).sum(axis=0))
    for level in (0.8, 0.95, 0.99, 0.998):
        slack = 4 * np.sqrt(level * (1 - level) / far.size)
        failed = float((far > reach(level, degrees)).mean())
        assert failed <= 1 - level + slack
        assert failed >= 0.5 * (1 - level) - slack or level > 0.95  # not longer than they must be


def people(seed: int = 1) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    """Weights, clusters and the stratum of each cluster, one stratum with a single cluster."""
    generator = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(7), [2, 3, 4, 5, 9, 14, 6])
    return generator, generator.uniform(0.5, 3, cluster.size), cluster, np.array([0, 0, 0, 1, 1, 1, 2])


def test_equal_clusters_are_clusters_less_strata() -> None:
    for size, strata in ((1, 1), (4, 1), (4, 2)):
        cluster = np.repeat(np.arange(6), size)
        drawn = ex.Sample(cluster=cluster, strata=cluster % strata).drawn(cluster.size)
        same(drawn.degrees, Degrees(6.0 - strata, 1.0))


def test_a_weighted_mean_raked_or_not_is_that_of_the_working_model() -> None:
    generator, w, cluster, strata = people()
    share = w / w.sum()
    drawn = ex.Sample(weights=w, cluster=cluster, strata=strata[cluster]).drawn(w.size)
    beyond(drawn.degrees, share, np.tile(share, (w.size, 1)), cluster, strata)
    sex = generator.integers(0, 2, w.size)
    sample = ex.Sample(weights=w, cluster=cluster, strata=strata[cluster]).raked({"sex": (sex, {0: 1, 1: 2})})
    raked, x = sample.drawn(w.size), np.eye(2)[sex]
    fitted = x @ np.linalg.solve((x.T * w) @ x, x.T * w)
    beyond(raked.degrees, raked.weights / raked.weights.sum(), fitted, cluster, strata)


def test_people_of_strata_with_unequal_weights_count_as_few() -> None:
    strata = np.repeat([0, 1], [200, 4])
    drawn = ex.Sample(weights=np.where(strata, 500.0, 1.0), strata=strata).drawn(204)
    assert reach(0.95, drawn.degrees) > reach(0.95, 4)  # four people have nearly all of the variance


def test_many_units_have_the_moments_of_the_same_covariance() -> None:
    generator, w, cluster, strata = people(5)
    share = w / w.sum()
    taken = sums(np.column_stack([share, share * w]), cluster, 7)
    one = Deviations.of_rows(share, np.column_stack([share, w]), taken, cluster)
    m = one.matrix(strata, 3)
    assert one.moments(strata, 3) == pytest.approx((np.trace(m), (m**2).sum()), rel=1e-10)
    many = ex.Sample(cluster=generator.integers(0, 900, 9000)).drawn(9000).degrees
    assert 650 < many.number < 900
    assert 0.99 < many.seen <= 1


def test_groups_of_whole_clusters_have_the_degrees_of_groups() -> None:
    cluster = np.repeat(np.arange(8), 25)
    group = np.asarray((cluster % 2)[:, None] - 0.5, dtype=np.float64)
    drawn = ex.Sample(cluster=cluster).drawn(200)
    same(drawn.association_degrees(group), Degrees(6.0, 6 / 7))  # Student's test of two means, each of four clusters
    generator, w, cluster, strata = people(2)
    share = w / w.sum()
    scores = generator.normal(size=w.size)
    scores -= share @ scores
    a = share * scores
    drawn = ex.Sample(weights=w, cluster=cluster, strata=strata[cluster]).drawn(w.size)
    # Σ_{i in c} a_i (y_i − ȳ) − (the share of c) Σ a_i y_i: the last is taken from y_i in proportion to share_i/a_i
    removed = np.tile(share, (w.size, 1)) + np.outer(share / a, a)
    beyond(drawn.association_degrees(scores[:, None]), a, removed, cluster, strata)


def test_a_coefficient_of_whole_clusters_has_those_of_its_linear_regression() -> None:
    cluster = np.repeat(np.arange(7), [10, 10, 20, 20, 30, 10, 20])
    x = np.isin(cluster, [1, 2, 4]).astype(float)
    yes = np.where(x == 1, np.arange(120) % 10 < 7, np.arange(120) % 10 < 3)  # chances of 0.7 and 0.3: equal variances
    data = pd.DataFrame({"y": yes.astype(int), "x": x, "c": cluster})
    as_it_is = ex.Mechanism.from_matrix(np.eye(2))
    found = ex.regress("y ~ x", data, as_it_is, sample=ex.Sample(cluster="c")).degrees
    design = np.column_stack([np.ones(120), x])
    slopes = np.linalg.solve(design.T @ design, design.T)
    assert found is not None
    for i in (0, 1):
        one = Degrees(found.number[i], found.seen[i])
        beyond(one, slopes[i], design @ slopes, cluster, np.zeros(7))


def test_uneven_clusters_reach_further_and_one_that_dominates_is_noted() -> None:
    uneven = ex.Sample(cluster=np.repeat(np.arange(12), UNEVEN)).drawn(sum(UNEVEN)).degrees
    assert reach(0.95, uneven) == pytest.approx(3.0, abs=0.02)  # 2.2 standard errors if clusters were equal
    reports = np.random.default_rng(1).integers(0, 3, 220)
    one = ex.estimate_frequencies(reports, M, cluster=np.repeat(range(4), [10, 10, 10, 190]))
    assert any("One cluster has most of the weight" in note for note in one.notes)
    even = ex.estimate_frequencies(reports, M, cluster=np.arange(220) // 55)
    assert not any("most of the weight" in note for note in even.notes)
    nothing = ex.estimate_frequencies(reports, M, cluster=np.repeat(range(2), [1, 219])).interval(0.99)
    assert (np.diff(nothing) > 0.99).all()


def covered(sizes: list[int], surveys: int) -> tuple[np.ndarray, float]:
    """How often intervals at 80, 95 and 99% hold, and how often a true hypothesis is rejected at 0.05; clusters differ
    by a Dirichlet distribution worth ten people."""
    generator, p = np.random.default_rng(8), np.array([0.6, 0.3, 0.1])
    cluster, held, rejected = np.repeat(np.arange(len(sizes)), sizes), np.zeros(3), 0
    ends = M.matrix.cumsum(axis=1)
    for _ in range(surveys):
        shares = generator.dirichlet(10 * p, len(sizes)).cumsum(axis=1)[cluster]
        answers = (generator.random((cluster.size, 1)) > shares).sum(axis=1).clip(max=2)
        reports = (generator.random((cluster.size, 1)) > ends[answers]).sum(axis=1).clip(max=2)
        found = ex.estimate_frequencies(reports, M, cluster=cluster)
        for i, level in enumerate((0.8, 0.95, 0.99)):
            low, high = found.interval(level).T
            held[i] += ((low <= p) & (p <= high)).mean()
        rejected += bool(ex.test_distribution(reports, M, p, sample=ex.Sample(cluster=cluster)))
    return held / surveys, rejected / surveys


def test_intervals_and_tests_hold_with_clusters_of_unequal_size() -> None:
    held, rejected = covered(UNEVEN, 100)
    assert (held >= [0.83, 0.945, 0.985]).all()  # 0.78, 0.92 and 0.97 with eleven degrees
    assert rejected <= 0.05  # 0.07
