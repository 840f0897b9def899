"""What a formula, a frame or the data can get wrong, and that the message says it without anybody's values."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import extremal as ex

M = ex.randomized_response(2, 2, inputs=["no", "yes"])
X = ex.randomized_response(3, 3, inputs=["never", "once", "often"])


@pytest.fixture
def frame() -> pd.DataFrame:
    generator, n = np.random.default_rng(0), 1_200
    z = generator.normal(size=n)
    x = generator.integers(0, 3, size=n)
    return pd.DataFrame(
        {
            "z": z,
            "my.z": z,
            "my z": z,
            "region": generator.integers(1, 4, size=n),
            "sex": generator.choice(["f", "m"], size=n),
            "answer": np.where(generator.random(n) < 0.3 + 0.3 * (z > 0), "yes", "no"),
            "x": np.array(["never", "once", "often"])[x],
            "children": x,
            "y": 0.5 * x + 0.3 * z + generator.normal(size=n),
            "w": generator.random(n) + 0.5,
        }
    )


def test_names_with_dots_and_blanks_and_numbers_for_labels(frame: pd.DataFrame) -> None:
    plain = ex.regress("answer ~ z", frame, M)
    for formula in ("answer ~ my.z", "answer ~ `my.z`", "answer ~ `my z`", "`answer` ~ z"):
        assert ex.regress(formula, frame, M).values == pytest.approx(plain.values)
    renamed = frame.rename(columns={"answer": "q.1"})
    assert ex.regress("q.1 ~ z", renamed, M).values == pytest.approx(plain.values)
    assert ex.regress("`q.1` ~ z", renamed, M).values == pytest.approx(plain.values)
    labelled = ex.regress("answer ~ C(region)", frame, M)
    assert labelled.names == ["Intercept", "C(region)[T.2]", "C(region)[T.3]"]
    assert labelled.predict(pd.DataFrame({"region": [1, 3]})).shape == (2, 2)


def test_other_frames_and_indices(frame: pd.DataFrame) -> None:
    import polars as pl
    import pyarrow as pa

    plain = ex.regress("answer ~ z", frame, M)
    for other in (pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.set_index(frame.z.rank())):
        assert ex.regress("answer ~ z", other, M).values == pytest.approx(plain.values)


def test_hidden_covariates_are_named_by_their_terms(frame: pd.DataFrame) -> None:
    found = ex.regress("y ~ x + z + C(region)", frame, {"x": X})
    public = ["z", "C(region)[T.2]", "C(region)[T.3]"]
    assert set(found.names[:7]) == {"Intercept", "x[T.once]", "x[T.often]", *public, "log(scale)"}
    for i, value in enumerate(("once", "often")):
        assert set(found.names[7 + 4 * i : 11 + 4 * i]) == {f"P(x={value}): {t}" for t in ("Intercept", *public)}
    assert "x was privatised" in str(found)
    predicted = found.predict(pd.DataFrame({"x": ["never", "often"], "z": [0.0, 0.0], "region": [1, 1]}))
    assert predicted[1] - predicted[0] == pytest.approx(found.params["x[T.often]"])
    with pytest.raises(ex.errors.InvalidParameter, match="true value of a covariate"):
        found.predict()
    with pytest.raises(ex.errors.InvalidParameter, match="inputs of the mechanism"):
        found.predict(pd.DataFrame({"x": ["secret"], "z": [0.0], "region": [1]}))
    drinks = ex.randomized_response(2, 3, inputs=[False, True])
    told = ex.regress("y ~ b", frame.assign(b=frame.sex == "f"), {"b": drinks})
    predicted = told.predict(pd.DataFrame({"b": [False, True]}))
    assert predicted[1] - predicted[0] == pytest.approx(told.params["b[T.True]"])


def test_a_hidden_covariate_is_found_by_its_name_and_not_by_its_letters(frame: pd.DataFrame) -> None:
    """`x` occurs in `sex` and in exp(z): those stay public, and an interaction leaves its public part."""
    found = ex.regress("y ~ x + sex + exp(z)", frame, {"x": X})
    assert {n for n in found.names if n.startswith("P(x=once)")} == {
        "P(x=once): Intercept",
        "P(x=once): sex[T.m]",
        "P(x=once): exp(z)",
    }
    interacting = ex.regress("y ~ x + x:z", frame, {"x": X})
    assert [n for n in interacting.names if n.startswith("P(x=once)")] == ["P(x=once): Intercept", "P(x=once): z"]
    counted = ex.regress("y ~ children", frame, {"children": ex.randomized_response(3, 3)})  # whole numbers are numbers
    assert "children" in counted.names
    assert "C(children)[T.2]" in ex.regress("y ~ C(children)", frame, {"children": ex.randomized_response(3, 3)}).names


def test_an_ordered_outcome_has_cuts_for_an_intercept(frame: pd.DataFrame) -> None:
    for formula in ("x ~ z + C(region)", "x ~ z + C(region) - 1", "x ~ 0 + z + C(region)"):
        found = ex.regress(formula, frame, X, family="ordered")
        assert set(found.names) == {"z", "C(region)[T.2]", "C(region)[T.3]", "never | once", "once | often"}
    assert ex.regress("x ~ 1", frame, X, family="ordered").names == ["never | once", "once | often"]
    hidden = ex.regress("x ~ answer + z", frame, {"x": X, "answer": M}, family="ordered")
    assert [n for n in hidden.names if n.startswith("P(")] == ["P(answer=yes): Intercept", "P(answer=yes): z"]


def test_public_outcomes(frame: pd.DataFrame) -> None:
    assert ex.regress("sex ~ answer", frame, {"answer": M}).model == "logit through the mechanism"
    graded = frame.assign(grade=pd.Categorical(frame.x, categories=["never", "once", "often"], ordered=True))
    found = ex.regress("grade ~ answer", graded, {"answer": M}, family="ordered")
    assert "never | once" in found.names
    with pytest.raises(ex.errors.InvalidParameter, match="must say its order"):
        ex.regress("x ~ answer", frame, {"answer": M}, family="ordered")
    with pytest.raises(ex.errors.InvalidParameter, match="must be numbers"):
        ex.regress("x ~ answer", frame, {"answer": M}, family="linear")
    with pytest.raises(ex.errors.InvalidParameter, match="at least two values"):
        ex.regress("x ~ answer", frame.assign(x="one"), {"answer": M})
    with pytest.raises(ex.errors.InvalidParameter, match="must vary"):
        ex.regress("y ~ answer", frame.assign(y=1.0), {"answer": M}, family="linear")
    with pytest.raises(ex.errors.InvalidParameter, match="must be finite"):
        ex.regress("y ~ answer", frame.assign(y=np.where(frame.z > 2, np.inf, frame.y)), {"answer": M})


def test_comparison_of_nested_models(frame: pd.DataFrame) -> None:
    large, small = ex.regress("answer ~ z + sex", frame, M), ex.regress("answer ~ 1", frame, M)
    found = large.compare(small)
    assert found.statistic == pytest.approx(2 * (large.llf - small.llf))
    assert (found.freedom, bool(found)) == (2, True)
    assert "answer ~ 1 holds" in str(found)
    hidden, without = ex.regress("y ~ x + z", frame, {"x": X}), ex.regress("y ~ z", frame, {"x": X})
    assert hidden.compare(without).freedom == 2
    with pytest.raises(ex.errors.InvalidParameter, match="must be nested"):
        small.compare(large)
    with pytest.raises(ex.errors.InvalidParameter, match="must be nested"):
        large.compare(ex.regress("answer ~ C(region) - 1", frame, M))
    with pytest.raises(ex.errors.InvalidParameter, match="must be nested"):
        large.compare(ex.regress("answer ~ w", frame, M))
    with pytest.raises(ex.errors.InvalidParameter, match="same data"):
        large.compare(ex.regress("answer ~ 1", frame.iloc[:600], M))
    with pytest.raises(ex.errors.InvalidParameter, match="keep it in mechanism="):
        ex.regress("sex ~ z + answer", frame, {"answer": M}).compare(ex.regress("sex ~ z", frame, {"x": X}))
    with pytest.raises(ex.errors.InvalidParameter, match="survey weights"):
        large.compare(ex.regress("answer ~ 1", frame, M, weights="w"))


def test_separation_names_the_term(frame: pd.DataFrame) -> None:
    rare = frame.assign(rare=(np.arange(1_200) < 60).astype(int))
    rare["answer"] = np.where(rare.rare == 1, "no", rare.answer)
    with pytest.raises(ex.errors.NotIdentified, match="data separate") as caught:
        ex.regress("answer ~ z + rare", rare, M)
    assert "rare" in str(caught.value)
    with pytest.raises(ex.errors.NotIdentified, match="data separate"):
        ex.regress("answer ~ 1", frame.assign(answer="no"), M)
    with pytest.raises(ex.errors.NotIdentified, match="data separate|probability is estimated as 0"):
        ex.regress("x ~ z", frame.assign(x=np.where(frame.z > 0, "often", "never")), X, family="ordered")
    empty = frame.assign(x=np.where(frame.x == "once", "often", frame.x))  # the middle category is estimated empty
    with pytest.raises(ex.errors.NotIdentified, match="data separate|probability is estimated as 0"):
        ex.regress("x ~ z", empty, X, family="ordered")
    with pytest.raises(ex.errors.NotIdentified, match="data separate") as caught:
        ex.regress("y ~ x + z", empty, {"x": X})
    assert "P(x=once)" in str(caught.value)


def test_a_far_row_is_no_separation(frame: pd.DataFrame) -> None:
    far = frame.assign(v=np.where(np.arange(1_200) == 5, 500.0, np.random.default_rng(3).normal(size=1_200)))
    found = ex.regress("answer ~ v", far, M)
    assert np.isfinite(found.values).all()


def test_what_is_not_identified_is_named(frame: pd.DataFrame) -> None:
    with pytest.raises(ex.errors.NotIdentified, match="add up to each other") as caught:
        ex.regress("answer ~ z + u", frame.assign(u=2 * frame.z + 3), M)
    assert "u" in str(caught.value)
    with pytest.raises(ex.errors.NotIdentified, match="add up"):
        ex.regress("answer ~ z + u", frame.assign(u=0.0), M)
    with pytest.raises(ex.errors.NotIdentified, match="add up"):
        ex.regress("answer ~ C(region) + z + y", frame.iloc[:3], M)
    merging = ex.Mechanism.from_matrix([[0.8, 0.2], [0.2, 0.8], [0.2, 0.8]], inputs=list(X.inputs), outputs=["a", "b"])
    with pytest.raises(ex.errors.NotIdentified, match="flat in some direction"):
        ex.regress("s ~ z", frame.assign(s=np.where(frame.sex == "f", "a", "b")), merging)
    silent = ex.randomized_response(2, 0, inputs=["no", "yes"])
    with pytest.raises(ex.errors.NotIdentified, match="flat in some direction"):
        ex.regress("answer ~ z", frame, silent)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("answer", "outcome and terms"),
        ("answer ~", "outcome and terms"),
        ("answer ~ z ~ y", "outcome and terms"),
        ("answr ~ z", "outcome must be the name of a column.*Did you mean 'answer'"),
        ("answer ~ zz", "term must be the name of a column"),
        ("answer ~ z +", "formulaic can read"),
        ("answer ~ nothing(z)", "every term of the formula"),
        ("answer ~ log(z)", "every term"),
        ("answer ~ log(sex)", "every term of the formula"),
        ("answer ~ frame", "term must be the name of a column"),
    ],
)
def test_bad_formulas_are_clear(frame: pd.DataFrame, formula: str, message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ex.errors.InvalidParameter, match=message) as caught:
            ex.regress(formula, frame, M)
    assert "'f'" not in str(caught.value)


def test_missing_values_are_refused_by_their_place(frame: pd.DataFrame) -> None:
    for column, formula in (("z", "answer ~ z"), ("answer", "answer ~ z"), ("sex", "answer ~ C(sex)"), ("x", "y ~ x")):
        holed = frame.assign(**{column: frame[column].astype(object).where(np.arange(1_200) != 17)})
        if column == "z":
            holed["z"] = holed["z"].astype(float)
        with pytest.raises(ex.errors.InvalidParameter, match=rf"{column}\[17\] must not be missing"):
            ex.regress(formula, holed, {"x": X} if column == "x" else M)


def test_values_of_respondents_stay_out_of_messages(frame: pd.DataFrame) -> None:
    with pytest.raises(ex.errors.UnknownLabel, match=r"answer\[3\] must be an output") as caught:
        ex.regress("answer ~ z", frame.assign(answer=frame.answer.where(np.arange(1_200) != 3, "secret")), M)
    assert "secret" not in str(caught.value)
    found = ex.regress("answer ~ sex", frame, M)
    with pytest.raises(ex.errors.InvalidParameter, match="only categories that were seen") as caught2:
        found.predict(pd.DataFrame({"sex": ["secret"]}))
    assert "secret" not in str(caught2.value)
    with pytest.raises(ex.errors.InvalidParameter, match="frame must be the name of a column"):
        found.predict(pd.DataFrame({"z": [1.0]}))
    with pytest.raises(ex.errors.InvalidParameter, match=r"sex\[1\] must not be missing"):
        found.predict(pd.DataFrame({"sex": ["f", None]}))


def test_bad_arguments(frame: pd.DataFrame) -> None:
    cases = [
        (("answer ~ z", [1, 2], M), {}, "eager data frame"),
        (("answer ~ z", frame.iloc[:0], M), {}, "must have rows"),
        (("answer ~ z", frame.rename(columns={"w": "z"}), M), {}, "appears 2 times|unique"),
        (("answer ~ z", frame.rename(columns={"w": 3}), M), {}, "must be strings"),
        (("answer ~ z", frame, 3), {}, "must be a Mechanism"),
        (("answer ~ z", frame, {"answer": None}), {}, "must be a Mechanism"),
        (("answer ~ z", frame, {}), {}, "some column must be privatised"),
        (("answer ~ z", frame, {"answer": M, "nowhere": M}), {}, "mechanism must be the name of a column"),
        (("y ~ x + answer", frame, {"x": X, "answer": M}), {}, "at most one covariate"),
        (("answer ~ z", frame, M), {"family": "probit"}, "family must be one of"),
        (("answer ~ z", frame, M), {"family": "linear"}, "categorical or ordered"),
        (("answer ~ z", frame, M), {"weights": "nowhere"}, "weights must be the name of a column"),
        (("answer ~ z", frame, M), {"weights": [1.0]}, "1200 entries"),
        (("answer ~ z", frame, M), {"weights": [0.0] * 1_200}, r"weights\[0\]"),
        (("answer ~ z", frame, M), {"weights": ["a"] * 1_200}, "weights must be numbers"),
    ]
    for arguments, more, message in cases:
        with pytest.raises(ex.ExtremalError, match=message):
            ex.regress(*arguments, **more)  # type: ignore[arg-type]
    found = ex.regress("answer ~ z", frame, M)
    with pytest.raises(ex.errors.InvalidParameter, match="level"):
        found.interval(1.0)
    with pytest.raises(ex.errors.InvalidParameter, match="level must lie between 0 and 1"):
        found.conf_int(0)


def test_without_formulaic_it_says_what_to_install(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(ex.errors.MissingDependency, match=r"extremal\[regression\]"):
        ex.regress("answer ~ z", frame, M)


def test_levels_that_do_not_occur_are_left_out_with_a_note() -> None:
    m = ex.randomized_response(["no", "yes"], 2)
    table = pd.DataFrame({"y": ["no", "yes", "yes"] * 40, "g": ["a", "b"] * 60})
    wide = table.assign(g=pd.Categorical(table["g"], categories=["a", "Z", "b"]))
    plain, found = ex.regress("y ~ g", table, m), ex.regress("y ~ C(g)", wide, m)
    assert found.values == pytest.approx(plain.values)
    assert found.notes == ("levels of g without a row are left out: Z",)
    assert found.predict(wide[:4]).to_numpy() == pytest.approx(plain.predict(table[:4]).to_numpy())
    with pytest.raises(ex.errors.InvalidParameter, match="only categories that were seen"):
        found.predict(wide[:1].assign(g=pd.Categorical(["Z"])))
    assert ex.regress("y ~ 1", wide, m).notes == ()


def test_weights_follow_the_index_of_the_frame_and_not_its_rows() -> None:
    m = ex.randomized_response(["no", "yes"], 2)
    table = pd.DataFrame({"y": ["no", "yes", "yes"] * 40, "x": np.linspace(-1, 1, 120), "w": np.arange(120) % 5 + 0.5})
    right = ex.regress("y ~ x", table, m, weights="w").values
    shuffled = table.sample(frac=1, random_state=1)
    for weights in ("w", shuffled["w"], table["w"]):
        assert ex.regress("y ~ x", shuffled, m, weights=weights).values == pytest.approx(right)
    late = table[table["x"] > 0]
    with pytest.raises(ex.errors.InvalidParameter, match="weights must have the index of the reports"):
        ex.regress("y ~ x", late, m, weights=table["w"])
