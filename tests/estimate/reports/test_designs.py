"""Ten survey designs against the linearised variance and replicate weights, written out here row by row."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import extremal as ex
from extremal.estimate.hypothesis_tests.likelihood_ratio import _skewness, _unbent
from extremal.estimate.intervals.levels import quantile
from extremal.estimate.reports.degrees import reach
from extremal.estimate.reports.sampling import OneReport, moved_share

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
YES = ex.randomized_response(2, 1.5, inputs=["no", "yes"])
INVERSE = np.linalg.inv(M.matrix.T)
PEOPLE = {"city": 3_000, "country": 9_000}
CLUSTERS = {"city": 60, "country": 200}
SEX, AGE = {"f": 0.52, "m": 0.48}, {"old": 300, "young": 700}


def frame(seed: int = 3, n: int = 360) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    cluster = generator.integers(0, 40, n)
    return pd.DataFrame(
        {
            "report": generator.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]),
            "yes": generator.choice(["no", "yes"], n),
            "cluster": cluster,
            "stratum": np.where(cluster % 4 == 0, "city", "country"),
            "w": generator.uniform(1, 3, n),
            "sex": generator.choice(["f", "m"], n, p=[0.4, 0.6]),
            "age": generator.choice(["old", "young"], n),
            "z": generator.normal(size=n),
        }
    )


def own_raking(w: np.ndarray, data: pd.DataFrame, margins: dict[str, Any]) -> np.ndarray:
    total = w.sum()
    for _ in range(500):
        for name, sizes in margins.items():
            for group, size in sizes.items():
                rows = (data[name] == group).to_numpy()
                w = np.where(rows, w * (size / sum(sizes.values())) * total / w[rows].sum(), w)
    return w


def linearised(
    data: pd.DataFrame, values: np.ndarray, w: np.ndarray, by: str | None, of: str | None, fractions: Any = None
) -> np.ndarray:
    """Σ_h (1 − f_h) n_h/(n_h − 1) Σ_c (z_c − z̄_h)(z_c − z̄_h)ᵀ of weighted residuals."""
    found = np.zeros((values.shape[1],) * 2)
    strata = data[by].to_numpy() if by else np.zeros(len(data))
    units = data[of].to_numpy() if of else np.arange(len(data))
    for h in np.unique(strata):
        rows = strata == h
        sums = np.array([(values * w[:, None])[rows & (units == c)].sum(axis=0) for c in np.unique(units[rows])])
        away = sums - sums.mean(axis=0)
        found += (1 - (fractions or {}).get(h, 0)) * len(sums) / (len(sums) - 1) * away.T @ away
    return found / w.sum() ** 2


def contributions(data: pd.DataFrame) -> np.ndarray:
    return np.asarray(INVERSE[:, [M.outputs.index(r) for r in data["report"]]].T)


def check(found: Any, estimate: np.ndarray, covariance: np.ndarray, w: np.ndarray) -> None:
    """The design's variance, or that of randomisation alone where it is larger: E Var(B | X)·Σw²/(Σw)²."""
    assert estimate.min() > 0
    privacy = (INVERSE**2 @ M.matrix.T @ estimate - estimate) * (w @ w) / w.sum() ** 2
    assert found.estimate == pytest.approx(estimate, rel=1e-10)
    assert found.standard_error == pytest.approx(np.sqrt(np.maximum(np.diag(covariance), privacy)), rel=1e-10)
    assert (np.diag(covariance) > privacy).any()


DESIGNS: list[tuple[dict[str, Any], str | None, str | None]] = [
    ({"weights": "w"}, None, None),
    ({"cluster": "cluster"}, None, "cluster"),
    ({"weights": "w", "cluster": "cluster"}, None, "cluster"),
    ({"strata": "stratum"}, "stratum", None),
    ({"weights": "w", "strata": "stratum", "cluster": "cluster"}, "stratum", "cluster"),
]


@pytest.mark.parametrize(("described", "by", "of"), DESIGNS[1:])
@pytest.mark.parametrize("margins", [{}, {"sex": SEX}, {"sex": SEX, "age": AGE}], ids=["plain", "post", "raked"])
def test_designs_are_the_linearised_variance(
    described: dict[str, Any], by: str | None, of: str | None, margins: dict[str, Any]
) -> None:
    data = frame()
    sample = ex.Sample(**described)
    b, base = contributions(data), data["w"].to_numpy() if "weights" in described else np.ones(len(data))
    w = own_raking(base, data, margins)
    mean = w @ b / w.sum()
    residuals = b - mean
    if margins:
        sample = sample.raked(margins)
        x = np.column_stack([data[name] == group for name, sizes in margins.items() for group in sizes]).astype(float)
        root = np.sqrt(base)[:, None]
        residuals = b - x @ np.linalg.lstsq(x * root, b * root, rcond=None)[0]
    check(
        ex.estimate_frequencies(data, M, column="report", sample=sample),
        mean,
        linearised(data, residuals, w, by, of),
        w,
    )


def test_post_stratified_to_a_joint_margin_and_without_a_frame() -> None:
    data = frame()
    cells = {("f", "old"): 1, ("f", "young"): 2, ("m", "old"): 3, ("m", "young"): 4}
    joint = ex.estimate_frequencies(data, M, column="report", sample=ex.Sample().raked({("sex", "age"): cells}))
    named = data.assign(cell=list(zip(data["sex"], data["age"], strict=True)))
    shares = [ex.estimate_frequencies(part, M, column="report").estimate for _, part in named.groupby("cell")]
    assert joint.estimate == pytest.approx(np.array([1, 2, 3, 4]) @ np.array(shares) / 10)
    listed = ex.Sample().raked({"sex": (data["sex"].tolist(), SEX)})
    same = ex.estimate_frequencies(data["report"].tolist(), M, sample=listed)
    by_name = ex.estimate_frequencies(data, M, column="report", sample=ex.Sample().raked({"sex": SEX}))
    assert same.standard_error == pytest.approx(by_name.standard_error, rel=1e-12)


def test_people_and_clusters_of_the_population_are_different_numbers() -> None:
    data = frame()
    sample = ex.Sample(strata="stratum", cluster="cluster", population=PEOPLE, clusters_in_population=CLUSTERS)
    found = ex.estimate_frequencies(data, M, column="report", sample=sample)
    sizes = data.groupby("stratum").size()
    w = data["stratum"].map(lambda h: PEOPLE[h] / sizes[h]).to_numpy(dtype=float)
    b = contributions(data)
    mean = w @ b / w.sum()
    assert found.estimate == pytest.approx(mean, rel=1e-12)
    infinite = ex.estimate_frequencies(data, M, column="report", strata="stratum", cluster="cluster", population=PEOPLE)
    check(infinite, mean, linearised(data, b - mean, w, "stratum", "cluster"), w)
    assert (found.standard_error < infinite.standard_error).all()
    privacy = INVERSE**2 @ M.matrix.T @ mean - mean
    variance = np.zeros(3)
    for name, rows in data.groupby("stratum").groups.items():  # what exceeds the noise of randomisation is reduced
        part = data.loc[rows]
        seen = np.diag(linearised(part, (b - mean)[rows], w[rows], None, "cluster")) * (w[rows].sum() / w.sum()) ** 2
        noise, share = privacy * (w[rows] ** 2).sum() / w.sum() ** 2, part["cluster"].nunique() / CLUSTERS[name]
        variance += seen - share * np.maximum(seen - noise, 0)
    floor = privacy * (w @ w) / w.sum() ** 2
    assert found.standard_error == pytest.approx(np.sqrt(np.maximum(variance, floor)), rel=1e-10)


def test_a_test_and_a_regression_do_not_shrink_with_the_population() -> None:
    data = frame()
    large, whole = ({"city": 10**9, "country": 10**9}, {h: int(n) for h, n in data.groupby("stratum").size().items()})
    w = data["stratum"].map(lambda h: 1 / whole[h])  # so that the populations set no other weights
    samples = [ex.Sample(weights=w, strata="stratum", population=people) for people in (large, whole)]
    p = np.array([0.6, 0.3, 0.1])
    tests = [ex.test_distribution(data, M, p, column="report", sample=one).p_value for one in samples]
    assert tests[0] == pytest.approx(tests[1], rel=1e-12)
    fits = [ex.regress("yes ~ z", data, YES, sample=one).standard_error for one in samples]
    assert fits[0] == pytest.approx(fits[1], rel=1e-12)
    alone = ex.test_distribution(data, M, p, column="report", sample=ex.Sample(population=360))
    assert "draws under the hypothesis" in alone.method


def test_missing_rows_never_enter_a_size() -> None:
    data = frame().assign(report=lambda d: d["report"].where(np.arange(len(d)) % 3 > 0, None))
    there = data[data["report"].notna()]
    for sample in (
        ex.Sample(strata="stratum", population=PEOPLE),
        ex.Sample(weights="w", cluster="cluster").raked({"sex": SEX, "age": AGE}),
    ):
        dropped = ex.estimate_frequencies(data, M, column="report", missing="drop", sample=sample)
        kept = ex.estimate_frequencies(there, M, column="report", sample=sample)
        assert dropped.estimate.tolist() == kept.estimate.tolist()
        assert dropped.standard_error == pytest.approx(kept.standard_error, rel=1e-14)  # sums in another order
        as_list = [None if r is None or r != r else r for r in data["report"]]
        if sample.margins is None:
            listed = ex.Sample(strata=data["stratum"].tolist(), population=PEOPLE)
            assert ex.estimate_frequencies(as_list, M, missing="drop", sample=listed).n == dropped.n


def replicates(data: pd.DataFrame, kind: str) -> tuple[np.ndarray, Any]:
    """Replicate weights and the factors of their squared deviations, as a data producer makes them."""
    w, generator = data["w"].to_numpy(), np.random.default_rng(5)
    units = data["cluster"].to_numpy()
    count = int(units.max()) + 1
    if kind == "jackknife":
        made = [np.where(units == c, 0.0, w * count / (count - 1)) for c in range(count)]
        return np.column_stack(made), (count - 1) / count
    if kind == "bootstrap":
        times = generator.multinomial(count, np.full(count, 1 / count), size=60)
        return (w * times[:, units]).T, 1 / 60
    if kind == "brr":
        half = generator.integers(0, 2, size=(32, count))
        return (w * 2 * half[:, units]).T, 1 / 32
    fay = generator.integers(0, 2, size=(32, count))
    return (w * np.where(fay[:, units] == 1, 1.5, 0.5)).T, 1 / (32 * 0.25)


@pytest.mark.parametrize("kind", ["jackknife", "bootstrap", "brr", "fay"])
@pytest.mark.parametrize("raked", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_replicate_weights(kind: str, raked: bool) -> None:
    data = frame(n=600)
    table, factor = replicates(data, kind)
    margins = {"sex": SEX, "age": AGE} if raked else {}
    sample = ex.Sample(weights="w", replicate_weights={factor if kind == "fay" else kind: table})
    sample = sample.raked(margins) if raked else sample
    found = ex.estimate_frequencies(data, M, column="report", sample=sample)
    b = contributions(data)

    def mean(w: np.ndarray) -> np.ndarray:
        w = own_raking(w, data, margins)
        return np.asarray(w @ b / w.sum())

    whole = mean(data["w"].to_numpy())
    away = np.array([mean(column) for column in table.T]) - whole
    check(found, whole, factor * away.T @ away, own_raking(data["w"].to_numpy(), data, margins))
    assert f"{table.shape[1]} replicates" in found.summary()


def test_a_workload_a_table_and_a_regression_use_the_same_sample() -> None:
    data = frame()
    sample = ex.Sample(weights="w", strata="stratum", cluster="cluster")
    w, b = data["w"].to_numpy(), contributions(data)
    mean = w @ b / w.sum()
    a = np.array([0.0, 1.0, 5.0])
    covariance = linearised(data, b - mean, w, "stratum", "cluster")
    work = ex.estimate_workload(data, M, ex.Mean(a), column="report", sample=sample)
    assert work.standard_error[0] == pytest.approx(np.sqrt(a @ covariance @ a), rel=1e-10)
    table = ex.estimate_crosstab(data, {"report": M, "yes": YES}, sample=sample)
    other = np.linalg.inv(YES.matrix.T)[:, [YES.outputs.index(r) for r in data["yes"]]].T
    pairs = np.einsum("na,nb->nab", b, other).reshape(len(data), -1)
    joint = w @ pairs / w.sum()
    whole = linearised(data, pairs - joint, w, "stratum", "cluster")
    assert table.estimate.ravel() == pytest.approx(joint, rel=1e-9)
    assert table.standard_error.ravel() == pytest.approx(np.sqrt(np.diag(whole)), rel=1e-10)
    c = np.arange(6.0).reshape(3, 2)
    assert table.linear(c).standard_error == pytest.approx(np.sqrt(c.ravel() @ whole @ c.ravel()), rel=1e-10)
    as_it_is = ex.Mechanism.from_matrix(np.eye(2), inputs=["no", "yes"], outputs=["no", "yes"])
    fit = ex.regress("yes ~ z", data, as_it_is, sample=sample)
    x = np.column_stack([np.ones(len(data)), data["z"]])
    chance = 1 / (1 + np.exp(-x @ fit.values))
    scores = x * ((data["yes"] == "yes").to_numpy() - chance)[:, None]
    bread = np.linalg.inv((x * (w * chance * (1 - chance))[:, None]).T @ x / w.sum())
    assert fit.covariance == pytest.approx(bread @ linearised(data, scores, w, "stratum", "cluster") @ bread, rel=1e-6)
    assert fit.degrees is not None
    assert (
        fit.degrees.number <= data["cluster"].nunique() - 2 + 1 - 2
    ).all()  # as svyglm counts: less strata and terms


def hidden(data: pd.DataFrame, scores: np.ndarray, told: np.ndarray, degrees: Any) -> np.ndarray:
    """How much larger each score's variance is at the limit on the side of 0: if a share s of everybody had the end d,
    s·d = t·√((1 − s)(V + s·D)), D with what people of a cluster know alike to 0.06."""
    from scipy.optimize import brentq

    w, mean = data["w"].to_numpy() / data["w"].sum(), np.average(scores, axis=0, weights=data["w"])
    variance = np.diag(linearised(data, scores - mean, data["w"].to_numpy(), "stratum", "cluster"))
    t, found = reach(0.95, degrees), []
    for column, middle, v, part in zip(scores.T, mean, variance, told, strict=True):
        d = (column.max() if middle < 0 else column.min()) - middle
        most = 0.0
        for _, rows in data.assign(w=w, score=column).groupby("stratum"):
            apart = np.average(rows["score"], weights=rows["w"]) - middle
            together = (rows.groupby("cluster")["w"].sum() ** 2).sum()
            alone = (rows["w"] ** 2).sum()
            most += (alone + 0.06 * part * (together - alone)) * (d - apart) ** 2
        s = brentq(lambda s, d=d, v=v, most=most: s * abs(d) - t * np.sqrt((1 - s) * (v + s * most)), 0, 1)
        found.append(max((1 - s) * (v + s * most) - v, 0.0))
    return np.diag(found)


def test_rao_and_scott_by_hand() -> None:
    data = frame()
    sample, n = ex.Sample(weights="w", strata="stratum", cluster="cluster"), len(data)
    p = np.array([0.6, 0.3, 0.1])
    found = ex.test_distribution(data, M, p, column="report", sample=sample)
    w, m = data["w"].to_numpy(), M.marginal(p)
    seen = pd.get_dummies(data["report"])[["a", "b", "c"]].to_numpy(dtype=float)
    shares = w @ seen / w.sum()
    effects = n * linearised(data, seen - shares, w, "stratum", "cluster") / np.sqrt(np.outer(m, m))
    statistic = n * ((shares - m) ** 2 / m).sum()
    degrees = sample.beside(data).drawn(n).degrees
    known = np.ptp(M.matrix, axis=0)  # of scores e_y/√m_y, of which each has the range 1/√m_y
    more = n * hidden(data, (seen - m) / np.sqrt(m), known, degrees)
    assert more.max() > 0
    effects += more
    freedom = np.trace(effects) ** 2 / (effects**2).sum()
    from scipy.stats import f

    assert found.statistic == pytest.approx(statistic, rel=1e-10)
    assert degrees.number < data["cluster"].nunique() - 2
    expected = f.sf(degrees.seen * statistic / np.trace(effects), freedom, degrees.number)
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    both = ex.test_independence(data, {"report": M, "yes": YES}, sample=sample)
    other = pd.get_dummies(data["yes"])[["no", "yes"]].to_numpy(dtype=float)
    r, c = w @ seen / w.sum(), w @ other / w.sum()
    u = np.einsum("na,nb->nab", (seen - r) / np.sqrt(r), (other - c) / np.sqrt(c)).reshape(n, -1)
    mean = w @ u / w.sum()
    degrees = sample.beside(data).drawn(n).association_degrees(other[:, 1:] - c[1])
    effects = n * linearised(data, u - mean, w, "stratum", "cluster")
    freedom = np.trace(effects) ** 2 / (effects**2).sum()
    assert both.statistic == pytest.approx(n * mean @ mean, rel=1e-9)
    expected = f.sf(degrees.seen * n * mean @ mean / np.trace(effects), freedom, degrees.number)
    assert both.p_value == pytest.approx(expected, rel=1e-8)
    groups = ex.test_homogeneity(data, M, "yes", column="report", sample=sample)
    assert groups.p_value == pytest.approx(both.p_value, rel=0.5)
    assert "clusters" in str(groups)


def test_a_likelihood_ratio_and_posteriors_of_a_clustered_sample() -> None:
    data = frame()
    sample = ex.Sample(cluster="cluster")
    found = ex.test_hypotheses(data, M, [0.6, 0.3, 0.1], [0.2, 0.3, 0.5], column="report", sample=sample)
    plain = ex.test_hypotheses(data, M, [0.6, 0.3, 0.1], [0.2, 0.3, 0.5], column="report")
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-2)  # on the grid of the exact one
    assert not found.exact
    assert "by the spread between units" in str(found)
    three = [[0.6, 0.3, 0.1], [0.4, 0.4, 0.2], [0.2, 0.3, 0.5]]
    bayes = ex.test_hypotheses(data, M, three, column="report", sample=sample)
    assert bayes.n == len(data)
    assert bayes.decision == ex.test_hypotheses(data, M, three, column="report").decision


def test_pooled_samples_are_strata() -> None:
    data, other = frame(1), frame(2)
    new = ex.randomized_response(3, 1, inputs=["a", "b", "c"])
    sample = ex.Sample(weights="w", cluster="cluster")
    both = ex.pool([(data, M), (other, new)], column="report", sample=sample)
    assert "clusters" in both.sample
    alone = ex.estimate_frequencies(data, M, column="report", sample=sample)
    assert both.standard_error.sum() < alone.standard_error.sum()
    one_sided = ex.pool([(data, M), (other, new)], column="report", sample=[sample, None])
    assert np.isfinite(one_sided.interval()).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: {"strata": "stratum", "population": 500}, "with strata, population must have a size for each stratum"),
        (lambda: {"cluster": "cluster", "population": 500}, "number of clusters in the population"),
        (
            lambda: {"weights": "w", "strata": "stratum", "cluster": "cluster", "population": PEOPLE},
            "without strata, or beside weights, it says nothing",
        ),
        (
            lambda: {"weights": "w", "replicate_weights": {"brr": np.eye(360)[:, :4] + 1}, "population": 500},
            "beside replicate weights a population changes nothing",
        ),
        (lambda: {"population": PEOPLE}, "population by stratum needs strata"),
        (lambda: {"population": 500, "clusters_in_population": 50}, "clusters_in_population needs cluster"),
        (lambda: {"cluster": "cluster", "clusters_in_population": 5}, "at least as large as its sample"),
        (lambda: {"cluster": [1] * 360}, "at least two clusters"),
        (lambda: {"replicate_weights": {"brr": np.ones((360, 4))}}, "need the full sample's weights"),
        (lambda: {"weights": "w", "replicate_weights": {"odd": np.ones((360, 4))}}, "kind of replicate weights"),
        (lambda: {"weights": "w", "replicate_weights": np.ones((360, 4))}, "must map one kind"),
        (lambda: {"weights": "w", "replicate_weights": {"brr": np.ones((3, 4))}}, "must have 360 rows"),
        (lambda: {"weights": "w", "replicate_weights": {"brr": np.ones((360, 4))}}, "must differ from each other"),
        (lambda: {"weights": "w", "replicate_weights": {"brr": np.full((360, 4), "x")}}, "must be numbers"),
        (lambda: {"weights": "w", "replicate_weights": {(1.0, 2.0): np.eye(360)[:, :4]}}, "each of the 4 replicate"),
    ],
)
def test_what_a_sample_cannot_be(make: Any, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.estimate_frequencies(frame(), M, column="report", sample=ex.Sample(**make()))


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ({}, "margins must map columns to totals"),
        ({"sex": {"f": 1}}, "a size for each group"),
        ({"sex": {"f": 1, "m": 1, "x": 1}}, "must have respondents in each group"),
        ({"sex": {"f": 500, "m": 500}, "age": {"old": 300, "young": 300}}, "add up to the same population"),
        ({"sex": 5}, "must map groups to totals"),
        ({"sex": {"f": 0.5, "m": 0.4}}, r"shares of a population must add up to 1; got sum of margins\['sex'\]=0.9"),
        ({"sex": {"f": 0.6, "m": 0.6}}, "shares of a population must add up to 1"),
        ({"sex": {"f": 510, "m": 490}, "age": {"old": 0.3, "young": 0.6}}, r"sum of margins\['age'\]"),
    ],
)
def test_margins_that_cannot_be_met(margins: Any, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        ex.estimate_frequencies(frame(), M, column="report", sample=ex.Sample().raked(margins))


def test_published_shares_and_series_are_margins() -> None:
    """Rounded to three decimals, thirds add up to 0.999; proportions in any unit are not shares."""
    data = frame()
    exact = {"a": 1, "b": 1, "c": 1}
    data["third"] = np.arange(len(data)) % 7 % 3
    data["third"] = data["third"].map(dict(enumerate("abc")))
    expected = ex.estimate_frequencies(data, M, column="report", sample=ex.Sample().raked({"third": exact, "sex": SEX}))
    people = {"a": 2.0, "b": 2.0, "c": 2.0}  # millions
    for given in ({"a": 0.333, "b": 0.333, "c": 0.333}, pd.Series(exact), people):
        sample = ex.Sample().raked({"third": given, "sex": pd.Series(SEX)})
        found = ex.estimate_frequencies(data, M, column="report", sample=sample)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    by_name = ex.Sample(strata="stratum", population=pd.Series(PEOPLE))
    mapped = ex.Sample(strata="stratum", population=PEOPLE)
    both = [ex.estimate_frequencies(data, M, column="report", sample=one).standard_error for one in (by_name, mapped)]
    assert both[0].tolist() == both[1].tolist()
    groups = ex.estimate_frequencies(data, M, column="report", by="stratum")
    with pytest.raises(ex.errors.InvalidParameter, match="must add up to 1; got sum of population=0.9"):
        groups.poststratified({"city": 0.5, "country": 0.4})
    assert groups.poststratified(pd.Series({"city": 0.25, "country": 0.75})).estimate == pytest.approx(
        groups.poststratified(PEOPLE).estimate
    )


def test_a_replicate_that_empties_a_group_is_no_replicate_to_rake() -> None:
    data = frame()
    table, _ = replicates(data, "jackknife")
    data["alone"] = np.where(data["cluster"] == 3, "x", "y")
    sample = ex.Sample(weights="w", replicate_weights={"jackknife": table}).raked({"alone": {"x": 1, "y": 9}})
    with pytest.raises(ex.errors.InvalidParameter, match=r"weight in each group of margins\['alone'\].*'1 of 40'"):
        ex.estimate_frequencies(data, M, column="report", sample=sample)


def test_nobody_left_is_no_sample() -> None:
    data = frame(n=20).assign(report=None)
    for sample in (ex.Sample().raked({"sex": {"f": 1, "m": 1}}), ex.Sample(weights="w", cluster="cluster")):
        with pytest.raises(ex.errors.InvalidParameter, match="there must be at least one report"):
            ex.estimate_frequencies(data, M, column="report", missing="drop", sample=sample)


def test_contradictory_margins_are_refused() -> None:
    data = pd.DataFrame({"report": ["a", "b"] * 10, "sex": ["f", "m"] * 10, "age": ["old", "young"] * 10})
    margins = {"sex": {"f": 1, "m": 1}, "age": {"old": 0.5, "young": 1.5}}
    with pytest.raises(ex.errors.InvalidParameter, match="able to meet all margins"):
        ex.estimate_frequencies(data, M, column="report", sample=ex.Sample().raked(margins))


YES_NO = ex.randomized_response(["no", "yes"], 6)


def in_strata(a: int, b: int, sizes: tuple[int, int], people: dict[str, int]) -> tuple[list[str], ex.Sample]:
    """So many yes among the reports of two strata."""
    reports = ["yes"] * a + ["no"] * (sizes[0] - a) + ["yes"] * b + ["no"] * (sizes[1] - b)
    return reports, ex.Sample(strata=["a"] * sizes[0] + ["b"] * sizes[1], population=people)


@pytest.mark.parametrize("people", [{"a": 9000, "b": 900}, {"a": 9000, "b": 9000}])
def test_a_stratum_that_happens_to_agree_does_not_shorten_limits(people: dict[str, int]) -> None:
    from scipy.stats import binom

    sizes, levels = (8, 12), (0.8, 0.95, 0.99)
    limits = np.zeros((9, 13, 3, 2))
    for a, b in np.ndindex(9, 13):
        reports, sample = in_strata(a, b, sizes, people)
        found = ex.estimate_frequencies(reports, YES_NO, sample=sample)
        limits[a, b] = [found.interval(level)[1] for level in levels]
    for p in ((0.05, 0.9), (0.1, 0.9), (0.2, 0.9), (0.1, 0.5), (0.5, 0.5)):
        truth = np.dot(p, list(people.values())) / sum(people.values())
        told = YES_NO.matrix[0, 1] + np.array(p) * (YES_NO.matrix[1, 1] - YES_NO.matrix[0, 1])
        chance = [binom.pmf(range(n + 1), n, q) for n, q in zip(sizes, told, strict=True)]
        held = (limits[..., 0] <= truth) & (truth <= limits[..., 1])
        assert (np.einsum("a,b,abl->l", *chance, held) >= levels).all()


def test_reports_do_not_count_for_more_than_they_are_where_strata_agree() -> None:
    reports, sample = in_strata(0, 18, (40, 20), {"a": 40000, "b": 4000})
    found = ex.estimate_frequencies(reports, YES_NO, sample=sample)
    assert found.effective_n < 100
    assert found.interval()[1, 1] > 0.15
    for p in (0.13, 0.16):  # within the limits, so that no test rejects it
        assert ex.test_distribution(reports, YES_NO, [1 - p, p], sample=sample).p_value > 0.05
    assert ex.test_distribution(reports, YES_NO, [0.7, 0.3], sample=sample).p_value < 0.05
    rows = ex.estimate_workload(reports, YES_NO, [[0.0, 1.0]], sample=sample).interval()
    assert rows[0] == pytest.approx(found.interval()[1])
    data = pd.DataFrame({"r": reports, "one": 1, "s": sample.strata})
    pairs = ex.Sample(strata="s", population={"a": 40000, "b": 4000})
    table = ex.estimate_crosstab(data, {"r": YES_NO, "one": None}, sample=pairs)
    assert table.interval()[1, 0, 1] > 0.15
    assert table.linear([[0.0], [1.0]]).interval()[1] > 0.15
    assert table.share("yes", 1, "one").interval()[1] > 0.15
    squares = found.function(lambda p: float(p @ p))
    low, high = squares.interval()
    assert high - low > 12 * squares.standard_error  # 3.92 where nothing is hidden
    data["half"] = np.tile(["u", "v"], 30)
    odds = ex.estimate_crosstab(data, {"r": YES_NO, "half": None}, sample=pairs).odds_ratio()
    low, high = odds.interval()
    assert np.log(high / low) > 2 * 1.96 * odds.standard_error / odds.estimate * 1.2


def test_a_sample_of_too_many_units_and_reports_says_what_does_without_them() -> None:
    m, sample = ex.randomized_response(5000, 8), ex.Sample(strata=np.arange(4200) % 2)
    with pytest.raises(ex.errors.TooLarge, match=r"2\^24 sums.*4200 × 4200.*Weights alone have no such limit"):
        ex.estimate_frequencies(np.arange(4200), m, sample=sample)


def test_clusters_that_happen_to_agree_count_as_people_who_may_be_alike() -> None:
    reports = ["yes" if i in (0, 40) else "no" for i in range(180)]
    clusters = ex.Sample(cluster=np.repeat(np.arange(6), 30))
    found = ex.estimate_frequencies(reports, YES_NO, sample=clusters)
    alone = ex.estimate_frequencies(reports, YES_NO)
    assert found.effective_n < 180 / (1 + 0.06 * 29) * 1.6
    assert found.interval()[1, 1] > 2 * alone.interval()[1, 1]
    assert ex.test_distribution(reports, YES_NO, [0.95, 0.05], sample=clusters).p_value > 0.05


def test_limits_reach_as_far_as_standard_errors_where_weights_go_with_the_answer() -> None:
    data = pd.DataFrame({"r": ["yes"] * 50 + ["no"] * 50 + ["yes"] * 18 + ["no"] * 882, "w": [5.0] * 100 + [1.0] * 900})
    data["one"] = 1

    def reach_of(found: Any) -> float:
        low, high = np.ravel(found.interval(0.95))[-2:]
        return float((high - low) / 2 / np.ravel(found.standard_error)[-1])

    whole = ex.estimate_frequencies(data, YES_NO, column="r", weights="w")
    table = ex.estimate_crosstab(data, {"r": YES_NO, "one": None}, weights="w")
    for found in (
        whole,
        ex.estimate_workload(data, YES_NO, [[0.0, 1.0]], column="r", weights="w"),
        table,
        table.linear([[0.0], [1.0]]),
        table.share("yes", 1, "one"),
        whole.linear({"yes": 1.0}),
    ):
        assert 1.9 < reach_of(found) < 2.15
    assert whole.design_effect[1] == pytest.approx(
        whole.standard_error[1] ** 2 * 1000 / (0.19 * 0.81), rel=0.02
    )  # of reports


def test_identical_reports_are_tested() -> None:
    clusters = ex.Sample(cluster=np.repeat(np.arange(12), 20))
    found = [ex.test_distribution(["no"] * 240, YES_NO, [1 - p, p], sample=clusters).p_value for p in (0.01, 0.03, 0.5)]
    assert found[0] > 0.5 > found[1] > 1e-3
    assert found[2] < 1e-6
    assert ex.test_hypotheses(["no"] * 240, YES_NO, [0.5, 0.5], [0.9, 0.1], sample=clusters).p_value < 1e-6


def test_a_rarer_alternative_is_found_where_its_tail_is_allowed_for() -> None:
    """The p-value is the level at the critical value; towards the short tail that is further away than Student's."""
    reports = ["yes" if i % 15 == 0 else "no" for i in range(180)]
    clusters, p = ex.Sample(cluster=np.repeat(np.arange(6), 30)), 0.12
    for other, further in ((p / 2, True), (1.5 * p, False)):
        tests = [
            ex.test_hypotheses(reports, YES_NO, [1 - p, p], [1 - other, other], alpha=alpha, sample=clusters)
            for alpha in np.linspace(0.01, 0.45, 60).tolist()
        ]
        assert {test.p_value <= test.alpha for test in tests} == {True, False} or not further
        for test in tests:
            assert (test.p_value <= test.alpha) == (test.statistic >= test.critical)
    assert _unbent(2.0, 0.0) == 2.0
    assert _unbent(1.8 + 0.1 * (2 * 1.8**2 + 1), 0.1) == pytest.approx(1.8)
    assert _unbent(-9.0, 0.1) == pytest.approx(-2.5)
    rare = YES_NO.marginal([0.9, 0.1])
    ratios = np.log(YES_NO.marginal([0.95, 0.05]) / rare)
    assert _skewness(rare, -ratios, 0.1) == 0 < _skewness(rare, ratios, 0.1)


def test_the_share_that_moves_a_mean_by_its_own_standard_errors() -> None:
    variance, d = np.array([0.01, 1e-6, 0.0, 0.3]), np.array([0.9, -0.2, 0.7, 1.0])
    noise, z = np.array([0.1]), quantile(0.95)
    hidden = 0.1 * d**2
    s = moved_share(variance, z, d, hidden)
    assert (s * d) ** 2 == pytest.approx(z**2 * (1 - s) * (variance + s * hidden))
    assert moved_share(np.zeros(1), z, np.zeros(1), np.zeros(1)) == 0
    one = OneReport(np.full(4, 0.2), np.column_stack([d, 0 * d]), np.ones(4))
    found = one.worth(variance, 0.95, np.zeros((4, 1)), noise, np.zeros(1))
    at_limit = (0.2 + s * d**2)[:2] / (variance + s * hidden)[:2]
    assert found[:2] == pytest.approx(np.minimum(at_limit, 0.2 / variance[:2]))
    assert found[2] == 1
    alike = one.worth(variance, 0.95, np.zeros((4, 1)), noise, noise)
    assert (alike[:2] < found[:2]).all()
