"""Clusters, strata, weights and finite populations, against formulas written out here."""

import numpy as np
import pandas as pd
import pytest

import extremal as ex

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
INVERSE = np.linalg.inv(M.matrix.T)


def _sample(n: int = 600, seed: int = 1) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    cluster = np.arange(n) // 15
    lean = generator.normal(0, 0.8, cluster.max() + 1)[cluster]
    truth = np.where(generator.random(n) < 1 / (1 + np.exp(-lean)), "a", np.where(generator.random(n) < 0.5, "b", "c"))
    return pd.DataFrame(
        {
            "report": M.privatize(truth.tolist()),
            "cluster": cluster,
            "stratum": np.where(cluster % 4 == 0, "city", "country"),
            "weight": generator.uniform(1, 3, n),
        }
    )


def test_the_variance_between_clusters_is_that_of_the_survey_literature() -> None:
    data = _sample()
    found = ex.estimate_frequencies(data, M, column="report", weights="weight", cluster="cluster", strata="stratum")
    w = data["weight"].to_numpy()
    b = INVERSE[:, [M.outputs.index(r) for r in data["report"]]]
    mean = b @ w / w.sum()
    assert found.estimate == pytest.approx(mean)
    z = (b - mean[:, None]) * w / w.sum()
    variance = np.zeros(3)
    for rows in data.groupby("stratum").groups.values():
        sums = pd.DataFrame(z.T[rows]).groupby(data["cluster"].to_numpy()[rows]).sum().to_numpy()
        variance += len(sums) / (len(sums) - 1) * ((sums - sums.mean(axis=0)) ** 2).sum(axis=0)
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert np.diagonal(found.covariance) == pytest.approx(variance, rel=1e-9)
    assert found.linear([1, 1, 0]).standard_error == pytest.approx(found.standard_error[2], rel=1e-6)
    assert (found.design_effect > 1).any()
    assert not found.exact
    assert "effective number of reports" in found.summary()


def test_no_combination_of_a_covariance_is_below_the_noise_of_randomisation() -> None:
    m = ex.randomized_response(["a", "b", "c"], 1)
    alike = ex.estimate_frequencies((["a"] * 4 + ["b"] * 3 + ["c"] * 3) * 10, m, cluster=np.repeat(range(10), 10))
    assert np.diagonal(alike.covariance) == pytest.approx(alike.standard_error**2, rel=1e-12)
    inverse, p = np.linalg.inv(m.matrix.T), alike.fit.plausible
    noise = ((inverse * (p @ m.matrix)) @ inverse.T - np.diag(p)) / 100
    assert np.linalg.eigvalsh(alike.covariance - noise).min() >= -1e-12
    apart = np.array([1.0, -1.0, 0.0])
    own = alike.contrast({"a": 1, "b": -1}).standard_error
    assert apart @ alike.covariance @ apart == pytest.approx(own**2, rel=1e-9)


def test_a_covariance_that_exceeds_the_noise_is_that_of_the_clusters() -> None:
    m = ex.randomized_response(["a", "b", "c"], 4)
    unlike = ["a"] * 200 + ["b"] * 90 + ["c"] * 110
    found = ex.estimate_frequencies(unlike, m, cluster=np.repeat(range(20), 20))
    b = np.linalg.inv(m.matrix.T)[:, [m.outputs.index(r) for r in unlike]]
    z = ((b - b.mean(axis=1, keepdims=True)) / 400).reshape(3, 20, 20).sum(axis=2)
    assert found.covariance == pytest.approx(20 / 19 * z @ z.T, rel=1e-9)


def test_single_respondents_as_clusters_are_a_simple_random_sample() -> None:
    data = _sample()
    plain = ex.estimate_frequencies(data, M, column="report")
    found = ex.estimate_frequencies(data, M, column="report", cluster=np.arange(600))
    assert found.standard_error == pytest.approx(plain.standard_error, rel=2e-3)  # n/(n − 1), and the larger of two
    limits = plain.interval()
    assert found.interval() == pytest.approx(limits, abs=0.01)


def test_a_finite_population_removes_sampling_but_not_privacy_noise() -> None:
    data = _sample()
    whole = ex.estimate_frequencies(data, M, column="report", population=600)
    plain = ex.estimate_frequencies(data, M, column="report")
    assert whole.standard_error == pytest.approx(plain.standard_error_among_respondents, rel=0.03)
    half = ex.estimate_frequencies(data, M, column="report", population=1200)
    middle = np.sqrt((whole.standard_error**2 + plain.standard_error**2) / 2)
    assert half.standard_error == pytest.approx(middle, rel=0.01)


def test_standard_errors_among_respondents_are_what_repeated_randomisation_shows() -> None:
    truth, generator = np.array([300, 200, 100]), np.random.default_rng(4)
    drawn = sum(generator.multinomial(count, row, size=4000) for count, row in zip(truth, M.matrix, strict=True))
    spread = (np.asarray(drawn) / 600 @ INVERSE.T).std(axis=0)
    found = ex.estimate_frequencies(np.rint(truth @ M.matrix).astype(int), M, counts=True)
    assert found.standard_error_among_respondents == pytest.approx(spread, rel=0.05)
    assert (found.standard_error_among_respondents < found.standard_error).all()


def test_populations_of_strata_are_weights_and_match_post_stratification() -> None:
    data = _sample()
    sizes = {"city": 9_000, "country": 60_000}
    found = ex.estimate_frequencies(data, M, column="report", strata="stratum", population=sizes)
    post = ex.estimate_frequencies(data, M, column="report", by="stratum").poststratified(sizes)
    assert found.estimate == pytest.approx(post.estimate)
    assert found.standard_error == pytest.approx(post.standard_error, rel=0.02)


def test_a_stratum_with_a_single_cluster_is_centred_at_the_mean() -> None:
    data = _sample(60)
    data["alone"] = np.where(data["cluster"] == 0, "x", "y")
    found = ex.estimate_frequencies(data, M, column="report", strata="alone", cluster="cluster")
    assert "4 clusters, 2 strata, 1 of them with one cluster" in found.head
    b = INVERSE[:, [M.outputs.index(r) for r in data["report"]]]
    sums = pd.DataFrame((b - b.mean(axis=1)[:, None]).T / 60).groupby(data["cluster"].to_numpy()).sum().to_numpy()
    rest = sums[1:] - sums[1:].mean(axis=0)
    variance = sums[0] ** 2 + 3 / 2 * (rest**2).sum(axis=0)
    noise = (INVERSE**2 @ M.matrix.T @ found.fit.plausible - found.fit.plausible) / 60
    assert found.standard_error == pytest.approx(np.sqrt(np.maximum(variance, noise)), rel=1e-9)


def test_bad_designs() -> None:
    data = _sample(60)
    with pytest.raises(ex.errors.InvalidParameter, match="by cannot be combined"):
        ex.estimate_frequencies(data, M, column="report", by="stratum", cluster="cluster")
    with pytest.raises(ex.errors.InvalidParameter, match="at least as large as its sample"):
        ex.estimate_frequencies(data, M, column="report", population=10)
    with pytest.raises(ex.errors.InvalidParameter, match="a size for each stratum"):
        ex.estimate_frequencies(data, M, column="report", strata="stratum", population={"city": 100})
    with pytest.raises(ex.errors.InvalidParameter, match="cluster must have 60 entries"):
        ex.estimate_frequencies(data, M, column="report", cluster=[1, 2])
    with pytest.raises(ex.errors.InvalidParameter, match="positive sizes"):
        ex.estimate_frequencies(data, M, column="report", population=-1)
    with pytest.raises(ex.errors.InvalidParameter, match="neither weights nor strata nor clusters"):
        ex.estimate_frequencies({"a": 5}, M, cluster=[1, 1, 2, 2, 2])
    with pytest.raises(ex.errors.InvalidParameter, match="population must have respondents in each stratum"):
        ex.estimate_frequencies(
            data, M, column="report", strata="stratum", population={"city": 100, "country": 100, "sea": 5}
        )
    with pytest.raises(ex.errors.InvalidParameter, match="a stratum must have at least two clusters"):
        ex.estimate_frequencies(data, M, column="report", strata="cluster", cluster="cluster")
    with pytest.raises(ex.errors.InvalidParameter, match="a stratum must have at least two respondents"):
        ex.estimate_frequencies(data, M, column="report", strata=np.arange(60))


def test_counts_of_a_finite_population_are_its_reports() -> None:
    listed = ["a"] * 50 + ["b"] * 30 + ["c"] * 20
    for size in (100, 150, 10_000):
        raw = ex.estimate_frequencies(listed, M, population=size)
        found = ex.estimate_frequencies({"a": 50, "b": 30, "c": 20}, M, population=size)
        assert found.standard_error == pytest.approx(raw.standard_error, rel=1e-12)
        assert found.interval() == pytest.approx(raw.interval(), abs=1e-12)
        assert found.exact == raw.exact
        assert found.head == raw.head
    with pytest.raises(ex.errors.InvalidParameter, match="at least as large as its sample"):
        ex.estimate_frequencies({"a": 50, "b": 30, "c": 20}, M, population=99)


def test_a_weight_of_a_missing_report_is_not_looked_at() -> None:
    data = _sample(60)
    gone = data.assign(report=data["report"].where(np.arange(60) > 0, None))
    gone.loc[0, "weight"] = np.nan
    found = ex.estimate_frequencies(gone, M, column="report", missing="drop", weights="weight", cluster="cluster")
    kept = ex.estimate_frequencies(data[1:], M, column="report", weights="weight", cluster="cluster")
    assert found.standard_error == pytest.approx(kept.standard_error, rel=1e-12)
    assert "1 missing report was dropped" in found.summary()
    gone.loc[1, "weight"] = np.nan
    with pytest.raises(ex.errors.InvalidParameter, match=r"weights\[1\]=nan"):
        ex.estimate_frequencies(gone, M, column="report", missing="drop", weights="weight", cluster="cluster")
