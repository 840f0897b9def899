"""Two waves of the same people: the covariance is used, and repeated reports are recognised."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from scipy.stats import f as f_distribution

import extremal as ex
from extremal.estimate.methods.likelihood import project_onto_simplex

M = ex.randomized_response(3, 2, inputs=["a", "b", "c"])
OPEN = ex.Mechanism.from_matrix(np.eye(2), inputs=["no", "yes"], outputs=["no", "yes"])
JOINT = np.array([[0.4, 0.1, 0.0], [0.02, 0.25, 0.03], [0.0, 0.05, 0.15]])


def waves(n: int, seed: int, m: ex.Mechanism = M, joint: np.ndarray = JOINT) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    pairs = generator.choice(joint.size, n, p=joint.ravel())
    k = len(joint)
    drawn = [(generator.random((n, 1)) > np.cumsum(m.matrix[x], axis=1)).sum(axis=1) for x in (pairs // k, pairs % k)]
    labels = np.array(m.outputs)
    return pd.DataFrame({"before": labels[drawn[0]], "after": labels[drawn[1]], "who": np.arange(n)})


def _fitted_covariance(data: pd.DataFrame) -> np.ndarray:
    """Of one person's contribution to the changes, at the distribution of pairs nearest to the unbiased one."""
    inverse = np.linalg.inv(M.matrix.T)
    table = pd.crosstab(data["before"], data["after"], normalize=True).loc[[*M.outputs], [*M.outputs]].to_numpy()
    likely = project_onto_simplex((inverse @ table @ inverse.T).ravel()).reshape(3, 3)
    reports = (M.matrix.T @ likely @ M.matrix).ravel()
    worth = (inverse[:, None, :] - inverse[:, :, None]).reshape(3, -1)
    return np.cov(worth, aweights=reports, bias=True)


def test_the_change_is_the_paired_difference() -> None:
    data = waves(800, 1)
    found = ex.estimate_change(data, "before", "after", M, person="who")
    inverse = np.linalg.inv(M.matrix.T)
    pairs = (
        inverse[:, [M.outputs.index(r) for r in data["after"]]]
        - inverse[:, [M.outputs.index(r) for r in data["before"]]]
    )
    assert found.estimate == pytest.approx(pairs.mean(axis=1), abs=1e-12)
    seen = np.cov(pairs, bias=True)
    fitted = _fitted_covariance(data)
    larger = np.maximum(np.diagonal(seen), np.diagonal(fitted))  # a variance is never below what is known of it
    assert found.standard_error == pytest.approx(np.sqrt(larger / 800), rel=1e-9)
    apart = ex.estimate_frequencies(data["after"], M).difference(ex.estimate_frequencies(data["before"], M))
    assert found.estimate == pytest.approx(apart.estimate, abs=1e-12)
    assert (found.standard_error < apart.standard_error).all()
    whole = seen if np.trace(seen) >= np.trace(fitted) else fitted
    scale = np.sqrt(larger / np.diagonal(whole))
    assert found.covariance * 800 == pytest.approx(whole * np.outer(scale, scale), rel=1e-9)
    assert np.diag(found.cov_params()) == pytest.approx(found.bse.to_numpy() ** 2, rel=1e-12)
    assert found.params.index.tolist() == ["a", "b", "c"]
    assert found.summary().startswith("Estimate: change from before to after, the same people; n = 800 reports")
    shares = found.transitions()
    assert shares.groupby("before")["share"].sum().to_numpy() == pytest.approx(np.ones(3))
    assert ((shares["low"] <= shares["shown"]) & (shares["shown"] <= shares["high"])).all()


def test_the_test_treats_all_answers_alike() -> None:
    data = waves(800, 1)
    found = ex.estimate_change(data, "before", "after", M).test()
    for turned in (["b", "c", "a"], ["c", "a", "b"]):
        other = ex.randomized_response(3, 2, inputs=turned)
        assert ex.estimate_change(data, "before", "after", other).test().p_value == pytest.approx(
            found.p_value, rel=1e-9
        )


def test_two_open_answers_are_mcnemar_s_test() -> None:
    data = pd.DataFrame({"x": ["no"] * 60 + ["yes"] * 40, "z": ["no"] * 45 + ["yes"] * 15 + ["no"] * 5 + ["yes"] * 35})
    found = ex.estimate_change(data, "x", "z", OPEN)
    assert found.estimate.tolist() == pytest.approx([-0.1, 0.1])
    mcnemar = (15 - 5) ** 2 / (15 + 5)
    assert found.test().statistic == pytest.approx(mcnemar, rel=1e-9)
    assert found.test().p_value == pytest.approx(chi2.sf(mcnemar, 1), rel=1e-9)


def test_intervals_hold_and_a_wrong_covariance_is_seen() -> None:
    truth, held, reach, apart = JOINT.sum(axis=0) - JOINT.sum(axis=1), np.zeros(3), [], []
    for seed in range(150):
        found = ex.estimate_change(waves(150, seed), "before", "after", M)
        limits = found.interval()
        held += (limits[:, 0] <= truth) & (truth <= limits[:, 1])
        reach.append(found.estimate[0])
        apart.append(found.standard_error[0])
    assert held.min() >= 0.87 * 150  # 0.95 less 4.5 standard errors
    assert np.std(reach) == pytest.approx(np.mean(apart), rel=0.2)


def test_repeated_reports_are_recognised() -> None:
    data = waves(400, 3)
    data["again"] = data["before"]
    with pytest.raises(ex.errors.NotIdentified, match="as if the second repeated the first"):
        ex.estimate_change(data, "before", "again", M)


def test_transitions_from_an_answer_that_nobody_gave_are_unknown() -> None:
    m = ex.randomized_response(["no", "yes"], 6)
    shares = ex.estimate_change({"a": ["no"] * 40, "b": ["no"] * 39 + ["yes"]}, "a", "b", m).transitions()
    assert (shares["high"] > shares["low"]).all()
    nobody = shares[shares["a"] == "yes"]
    assert nobody["share"].isna().all()
    assert nobody[["low", "high"]].to_numpy().tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_clusters_and_refusals() -> None:
    data = waves(300, 4).assign(school=np.arange(300) // 15)
    found = ex.estimate_change(data, "before", "after", M, sample=ex.Sample(cluster="school"))
    assert "F on 2 and 18 degrees of freedom, between clusters" in found.test().method
    uneven = np.repeat(np.arange(20), [5, 25] * 10)
    degrees = ex.Sample(cluster=uneven).drawn(300).degrees
    worth = degrees.number
    assert worth < 12  # 20 clusters, of which half are small
    tested = ex.estimate_change(data, "before", "after", M, sample=ex.Sample(cluster=uneven)).test()
    assert f"F on 2 and {worth - 1:.4g} degrees" in tested.method
    d = np.linalg.qr(np.eye(3)[:, 1:] - 1 / 3)[0]
    whole = ex.estimate_change(data, "before", "after", M, sample=ex.Sample(cluster=uneven))
    moved = d.T @ whole.estimate
    statistic = moved @ np.linalg.solve(d.T @ whole.covariance @ d, moved)
    assert tested.statistic == pytest.approx(statistic, rel=1e-9)
    expected = f_distribution.sf(degrees.seen * statistic * (worth - 1) / (2 * worth), 2, worth - 1)
    assert tested.p_value == pytest.approx(expected, rel=1e-9)
    assert "20 clusters" in found.head
    with pytest.raises(ex.errors.InvalidParameter, match="one row"):
        ex.estimate_change(data, "before", "after", M, person="school")
    with pytest.raises(ex.errors.InvalidParameter, match="same inputs"):
        ex.estimate_change(data, "before", "after", M, OPEN)
    with pytest.raises(ex.errors.InvalidParameter, match="different columns"):
        ex.estimate_change(data, "before", "before", M)


def test_agreement_is_counted_and_not_weighed() -> None:
    generator = np.random.default_rng(1)
    before, after = generator.random((2, 400)) < 0.5
    frame = pd.DataFrame({"b": before, "a": after, "w": np.where(before == after, 50.5, 1.5)}).replace(
        {False: "no", True: "yes"}
    )
    m = ex.randomized_response(["no", "yes"], 1)
    found = ex.estimate_change(frame, "b", "a", m, sample=ex.Sample(weights="w"))
    assert found.estimate.sum() == pytest.approx(0)
    repeated = frame.assign(a=frame["b"])
    with pytest.raises(ex.errors.NotIdentified, match="400 of 400"):
        ex.estimate_change(repeated, "b", "a", m, sample=ex.Sample(weights="w"))


def test_columns_are_names_and_persons_have_one_row_each() -> None:
    m = ex.randomized_response(["no", "yes"], 1)
    waves = {"b": ["no", "yes"] * 10, "a": ["no", "no", "yes", "yes"] * 5, "p": [1, 2]}
    for before, person in ((pd.Series(waves["b"]), None), ("b", pd.Series(range(20)))):
        with pytest.raises(ex.errors.InvalidParameter, match="must be the name of a column"):
            ex.estimate_change(waves, before, "a", m, person=person)
    with pytest.raises(ex.errors.InvalidParameter, match="person must have 20 entries"):
        ex.estimate_change(waves, "b", "a", m, person="p")
