"""Tables of two questions against the Kronecker product, formed here and nowhere else."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import extremal as ex

A = ex.randomized_response(3, 1.5, inputs=["a", "b", "c"])
B = ex.randomized_response(2, 1, inputs=["no", "yes"])
JOINT = np.array([[0.3, 0.1], [0.2, 0.15], [0.05, 0.2]])


def _sample(n: int, seed: int) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    marginal = (A.matrix.T @ JOINT @ B.matrix).ravel()
    cell = generator.choice(6, size=n, p=marginal / marginal.sum())
    return pd.DataFrame({"x": np.array(A.outputs)[cell // 2], "z": np.array(B.outputs)[cell % 2]})


def test_two_randomised_columns_are_the_kronecker_formula() -> None:
    frame = _sample(4000, 1)
    found = ex.estimate_crosstab(frame, {"x": A, "z": B})
    f = pd.crosstab(frame["x"], frame["z"]).to_numpy().ravel() / 4000
    inverse = np.linalg.inv(np.kron(A.matrix, B.matrix).T)
    assert found.estimate.ravel() == pytest.approx(inverse @ f, abs=1e-10)
    seen = (inverse**2 @ f - (inverse @ f) ** 2) / 4000
    p = found.plausible.ravel()
    fitted = (inverse**2 @ np.kron(A.matrix, B.matrix).T @ p - p**2) / 4000
    assert found.standard_error.ravel() == pytest.approx(np.sqrt(np.maximum(seen, fitted)), rel=1e-10)


def test_intervals_of_a_table_hold() -> None:
    held = np.zeros((3, 2))
    for seed in range(300):
        limits = ex.estimate_crosstab(_sample(400, seed), {"x": A, "z": B}).interval()
        held += (limits[..., 0] <= JOINT) & (limits[..., 1] >= JOINT)
    assert held.min() >= 0.91 * 300  # 0.95 less 3.2 standard errors


def test_subset_selection_beside_a_public_column_is_the_estimate_by_group() -> None:
    m = ex.subset_selection(6, 1)
    reports = m.privatize([i % 6 for i in range(600)])
    group = ["north"] * 250 + ["south"] * 350
    found = ex.estimate_crosstab({"answer": reports, "region": group}, {"answer": m, "region": None})
    by = ex.estimate_frequencies(reports, m, by=group)
    table = found.conditional("region")
    for name in ("north", "south"):
        part = table[table["region"] == name]
        assert part["answer"].tolist() == list(m.inputs)
        assert part["share"].to_numpy() == pytest.approx(by[name].estimate)
        assert part["standard_error"].to_numpy() == pytest.approx(by[name].standard_error, rel=0.1)
        assert ((part["low"] <= part["shown"]) & (part["shown"] <= part["high"])).all()
    assert found.second.inputs == ("north", "south")


def test_functions_against_the_delta_method() -> None:
    frame = _sample(20_000, 3)
    found = ex.estimate_crosstab(frame, {"x": A, "z": B})
    inverse = np.linalg.inv(np.kron(A.matrix, B.matrix).T)
    f = pd.crosstab(frame["x"], frame["z"]).to_numpy().ravel() / 20_000
    p = inverse @ f
    covariance = (inverse * f) @ inverse.T / 20_000 - np.outer(p, p) / 20_000
    odds = found.odds_ratio(rows=("a", "c"))
    assert odds.estimate == pytest.approx(p[0] * p[5] / (p[1] * p[4]))
    slope = np.array([1 / p[0], -1 / p[1], 0, 0, -1 / p[4], 1 / p[5]])
    error = np.sqrt(slope @ covariance @ slope)
    assert odds.interval()[1] == pytest.approx(odds.estimate * np.exp(1.959964 * error), rel=0.02)
    share = found.share("a", "no", given="z")
    base = p[0] + p[2] + p[4]
    slope = (np.array([1, 0, 0, 0, 0, 0]) - p[0] / base * np.array([1, 0, 1, 0, 1, 0])) / base
    assert share.estimate == pytest.approx(p[0] / base)
    assert share.standard_error == pytest.approx(np.sqrt(slope @ covariance @ slope), rel=0.02)
    low, high = share.interval()
    assert low < share.estimate < high
    total = found.linear(np.ones((3, 2)))
    assert total.estimate == pytest.approx(1)
    assert total.standard_error == pytest.approx(0, abs=1e-7)


def test_counted_pairs_and_other_frames_give_the_same() -> None:
    frame = _sample(500, 4)
    plain = ex.estimate_crosstab(frame, {"x": A, "z": B})
    counted = frame.groupby(["x", "z"]).size().reset_index(name="n")
    assert ex.estimate_crosstab(counted, {"x": A, "z": B}, counts="n").estimate == pytest.approx(plain.estimate)
    polars = pl.DataFrame({name: frame[name].tolist() for name in frame})
    assert ex.estimate_crosstab(polars, {"x": A, "z": B}).interval() == pytest.approx(plain.interval())
    table = plain.to_frame()
    assert table.columns.tolist() == ["x", "z", "shown", "low", "high", "estimate", "standard_error"]
    assert ((table["low"] <= table["shown"]) & (table["shown"] <= table["high"])).all()
    assert "Estimate: joint shares of x × z; n = 500 reports" in plain.summary()
    assert repr(plain) == "CrosstabEstimate('x' × 'z', (3, 2), n=500)"


@pytest.mark.parametrize(
    ("frame", "columns", "message"),
    [
        ({"x": ["a"]}, {"x": A}, "two columns"),
        ({"x": ["a", "b"], "z": ["no", "yes", "no"]}, {"x": A, "z": B}, "of one length"),
        ({"x": ["a"], "z": ["no"]}, {"x": A, "z": B}, "at least two reports"),
        ({"x": ["a", "b"]}, {"x": A, "z": B}, "must be in the frame"),
        ([1, 2], {"x": A, "z": B}, "a cross-table needs a data frame"),
        ({"x": ["a", "q"], "z": ["no", "yes"]}, {"x": A, "z": B}, "label"),
        ({"x": ["a", "b"], "z": ["no", None]}, {"x": A, "z": B}, "missing"),
        ({"x": ["a", "b"], "z": ["no", "yes"]}, {"x": A, "z": 3}, "Mechanism or None"),
    ],
)
def test_bad_tables(frame: Any, columns: Any, message: str) -> None:
    with pytest.raises(ex.ExtremalError, match=message):
        ex.estimate_crosstab(frame, columns)


def test_questions_that_the_table_cannot_answer() -> None:
    found = ex.estimate_crosstab(_sample(3000, 5), {"x": A, "z": B})
    with pytest.raises(ex.errors.InvalidParameter, match="'x' has 3 answers: say which two"):
        found.odds_ratio()
    with pytest.raises(ex.errors.InvalidParameter, match="one of the two columns"):
        found.conditional("y")
    with pytest.raises(ex.errors.InvalidParameter, match="no such answer"):
        found.share("q", "no", given="z")
    with pytest.raises(ex.errors.InvalidParameter, match="shape"):
        found.linear([1, 2])
    empty = ex.estimate_crosstab({"x": ["a"] * 50 + ["b"] * 2, "z": ["no"] * 52}, {"x": A, "z": B})
    with pytest.raises(ex.errors.InvalidParameter, match="estimated as positive"):
        empty.odds_ratio(rows=("a", "b"))


def test_an_answer_that_nobody_is_estimated_to_have_given_leaves_the_rest_of_the_table() -> None:
    columns = {"x": ["a"] * 50 + ["b"] * 2, "z": ["no"] * 52}
    found = ex.estimate_crosstab(columns, {"x": A, "z": B})
    table = found.conditional("z")
    rest, empty = table[table["z"] == "no"], table[table["z"] == "yes"]
    assert rest["share"].sum() == pytest.approx(1)
    assert (rest["high"] > rest["low"]).all()
    assert empty[["share", "standard_error"]].isna().to_numpy().all()
    assert (empty["low"] == 0).all()
    assert (empty["high"] == 1).all()
    assert table.attrs["notes"] == ["Nobody is estimated to have z = yes."]
    one = found.share("a", "yes", "z")
    assert np.isnan([one.estimate, one.standard_error]).all()
    assert one.interval() == (0.0, 1.0)
    assert "Note: Nobody is estimated to have z = yes." in one.summary()


@pytest.mark.parametrize("epsilon", [1, 6])
@pytest.mark.parametrize("yes", [0, 1, 6, 30])
def test_a_share_within_a_group_that_is_seen_has_the_limits_of_its_own_reports(epsilon: float, yes: int) -> None:
    m = ex.randomized_response(["no", "yes"], epsilon)
    pairs = {"r": ["no", "yes"] * 2, "g": ["n", "n", "s", "s"], "k": [30 - yes, yes, 900, 700]}
    table = ex.estimate_crosstab(pairs, {"r": m, "g": None}, counts="k")
    own = ex.estimate_frequencies({"no": 30 - yes, "yes": yes}, m)
    for level in (0.8, 0.95, 0.99):
        low, high = own.interval(level)[1]
        assert table.share("yes", "n", "g").interval(level) == pytest.approx((low, high))
    rows = table.conditional("g").query("g == 'n'")
    assert rows[["low", "high"]].to_numpy() == pytest.approx(own.interval())


def test_a_share_of_reports_too_many_to_list_has_the_limits_of_its_own_reports() -> None:
    m = ex.subset_selection(40, 1)
    reports = m.privatize([i % 4 for i in range(60)])
    group = [0, 1, 1] * 20
    table = ex.estimate_crosstab({"x": reports, "g": group}, {"x": m, "g": None}).conditional("g")
    own = ex.estimate_frequencies(reports[::3], m)
    rows = table[table["g"] == 0]
    assert rows[["low", "high"]].to_numpy() == pytest.approx(own.interval(), abs=1e-9)
    assert rows["standard_error"].to_numpy() == pytest.approx(own.standard_error, rel=1e-6)


def test_a_share_within_a_group_of_small_weights_is_as_sure_as_the_group() -> None:
    m = ex.randomized_response(["no", "yes"], 3)
    data = pd.DataFrame({"r": ["no", "no", "no", "yes"] * 50, "g": ["n", "s"] * 100, "w": [0.01, 1.0] * 100})
    found = ex.estimate_crosstab(data, {"r": m, "g": None}, weights="w").share("no", "n", "g")
    own = ex.estimate_frequencies(data.loc[data["g"] == "n", "r"].tolist(), m, weights=np.ones(100))
    assert found.standard_error == pytest.approx(own.standard_error[0], rel=0.01)
    assert found.interval() == pytest.approx(own.interval()[0].tolist(), abs=0.01)


def test_shares_of_few_pairs_hold() -> None:
    m, joint, truth = ex.randomized_response(2, 6), np.array([[0.98, 0.01], [0.005, 0.005]]), 0.98 / 0.99
    chance = (m.matrix.T @ joint @ m.matrix).ravel()
    draws = np.random.default_rng(8).multinomial(40, chance / chance.sum(), size=300)
    held = np.zeros(2)
    for table, times in zip(*np.unique(draws, axis=0, return_counts=True), strict=True):
        pairs = {"x": [0, 0, 1, 1], "z": [0, 1, 0, 1], "k": table}
        share = ex.estimate_crosstab(pairs, {"x": m, "z": m}, counts="k").share(0, 0, "x")
        limits = np.array([share.interval(level) for level in (0.8, 0.95)])
        held += times * ((limits[:, 0] <= truth) & (limits[:, 1] >= truth))
    assert (held >= np.array([0.7, 0.9]) * 300).all()  # 4 standard errors below; Fieller's held in 0.6


def test_a_share_that_none_of_six_hundred_contradicts() -> None:
    m = ex.randomized_response(2, 6)
    pairs = {"x": [0, 0, 1, 1], "z": [0, 1, 0, 1], "k": [300, 300, 0, 0]}
    low, high = ex.estimate_crosstab(pairs, {"x": m, "z": m}, counts="k").share(0, 0, "z").interval()
    # With a true share of 0.994 none of 300 is seen with probability 0.08: no 95% interval may exclude it.
    assert low <= 0.994
    assert low > 0.98
    assert high == 1


def test_the_error_of_a_share_is_never_below_the_noise_of_its_group() -> None:
    m = ex.randomized_response(["no", "yes"], 1)
    data = pd.DataFrame({"r": ["no"] * 60 + ["yes"] * 40, "c": list(range(10)) * 10, "g": ["x", "y"] * 50})
    sampled = ex.estimate_crosstab(data, {"r": m, "g": None}, sample=ex.Sample(cluster="c"))
    keep, give = m.matrix[0]
    noise = np.sqrt(keep * give / 50) / (keep - give)
    assert sampled.share("yes", "x", "g").standard_error >= noise * (1 - 1e-9)
    assert (sampled.conditional("g")["standard_error"] >= noise * (1 - 1e-9)).all()


def test_weighted_tables_against_the_linearised_variance() -> None:
    frame = _sample(3000, 6)
    w = np.where(np.arange(3000) % 3 == 0, 5.0, 1.0)
    found = ex.estimate_crosstab(frame, {"x": A, "z": B}, weights=w)
    inverse = np.linalg.inv(np.kron(A.matrix, B.matrix).T)
    cell = 2 * frame["x"].map({"a": 0, "b": 1, "c": 2}) + frame["z"].map({"no": 0, "yes": 1})
    each = inverse[:, cell.to_numpy()]  # a column for each respondent
    p = each @ w / w.sum()
    assert found.estimate.ravel() == pytest.approx(p, abs=1e-10)
    seen = ((each - p[:, None]) ** 2) @ (w * w) / w.sum() ** 2
    q = found.plausible.ravel()
    fitted = (inverse**2 @ np.kron(A.matrix, B.matrix).T @ q - q**2) * (w @ w) / w.sum() ** 2
    assert found.standard_error.ravel() == pytest.approx(np.sqrt(np.maximum(seen, fitted)), rel=1e-9)
    a = np.array([[1.0, 0], [0, 2.0], [0, -1.0]])
    b = a.ravel() @ each
    linear = np.sqrt(((b - a.ravel() @ p) ** 2) @ (w * w)) / w.sum()
    assert found.linear(a).standard_error >= linear * (1 - 1e-9)
    assert found.linear(a).standard_error == pytest.approx(linear, rel=0.1)
    plain = ex.estimate_crosstab(frame, {"x": A, "z": B})
    assert (found.interval()[..., 1] - found.interval()[..., 0]).mean() > 1.2 * (
        plain.interval()[..., 1] - plain.interval()[..., 0]
    ).mean()
    even = ex.estimate_crosstab(frame.assign(w=2.0), {"x": A, "z": B}, weights="w")
    assert even.interval() == pytest.approx(plain.interval())
    shuffled = pd.Series(w).sample(frac=1, random_state=1)
    assert ex.estimate_crosstab(frame, {"x": A, "z": B}, weights=shuffled).estimate == pytest.approx(found.estimate)


def test_bad_weights_of_a_table() -> None:
    frame = _sample(10, 7)
    with pytest.raises(ex.errors.InvalidParameter, match="counted rows cannot be weighted"):
        ex.estimate_crosstab(frame.assign(n=1), {"x": A, "z": B}, counts="n", weights=np.ones(10))
    with pytest.raises(ex.errors.InvalidParameter, match="weights must have 10 entries"):
        ex.estimate_crosstab(frame, {"x": A, "z": B}, weights=[1.0])
    with pytest.raises(ex.errors.InvalidParameter, match="finite and positive"):
        ex.estimate_crosstab(frame, {"x": A, "z": B}, weights=np.zeros(10))


ORDERED = ["low", "mid", "high"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["high", "low", "mid"] * 40, categories=[*ORDERED, "none"], ordered=True),
        pd.Series(pd.Categorical(["high", "low", "mid"] * 40, categories=ORDERED)),
        pl.Series(["high", "low", "mid"] * 40, dtype=pl.Enum(ORDERED)),
        pl.Series(["low", "mid", "high"] * 40, dtype=pl.Categorical),
        pa.DictionaryArray.from_arrays([2, 0, 1] * 40, ORDERED),
        pd.Series(pd.array([2, 0, 1] * 40)),
    ],
    ids=["pandas", "unordered", "Enum", "polars", "arrow", "numbers"],
)
def test_groups_have_one_order_in_tables_and_in_by(column: Any) -> None:
    reports = ["no", "yes", "yes"] * 40
    by = ex.estimate_frequencies(reports, B, by=column)
    table = ex.estimate_crosstab({"z": reports, "g": column}, {"z": B, "g": None})
    assert list(table.second.inputs) == list(by) == ([0, 1, 2] if 0 in by else ORDERED)
    within = table.conditional("g")
    assert within[within["z"] == "yes"]["shown"].tolist() == pytest.approx([one.shown[1] for one in by.values()])


def test_a_weighted_share_of_reports_that_are_all_alike_has_limits() -> None:
    m = ex.unary_encoding(3, 6)
    report = m.privatize([0])[0]
    data = {"r": [report] * 12, "g": ["a", "b"] * 6}
    found = ex.estimate_crosstab(data, {"r": m, "g": None}, weights=np.repeat([1.0, 3.0], 6)).conditional("g")
    assert (found["low"] <= found["shown"]).all()
    assert (found["shown"] <= found["high"]).all()
