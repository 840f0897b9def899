"""What people type first: a name from elsewhere, labels in place of their number, a mistake. Each ends in advice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import extremal as ex
from extremal.cli import main
from extremal.errors import InvalidParameter

LABELS = ["never", "once", "often"]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("rappor", "ex.unary_encoding(k, epsilon, optimised=False)"),
        ("basic_rappor", "ex.unary_encoding(k, epsilon, optimised=False)"),
        ("oue", "ex.unary_encoding(k, epsilon)"),
        ("OUE", "ex.unary_encoding(k, epsilon)"),
        ("olh", "ex.local_hashing(k, epsilon)"),
        ("grr", "ex.randomized_response(k, epsilon)"),
        ("k_rr", "ex.randomized_response(k, epsilon)"),
        ("hadamard", "ex.hadamard_response(k, epsilon)"),
        ("laplace", "ex.geometric(k, epsilon)"),
        ("randomised_response", "ex.randomized_response"),
        ("privatise", "ex.privatize"),
        ("randomise", "ex.privatize(values, mechanism)"),
        ("estimate", "ex.estimate_frequencies(reports, mechanism)"),
        ("estimate_chosen", "ex.estimate_frequencies(reports, mechanism, labels=[…])"),
        ("respondents", "ex.compare(goal, epsilon=…).respondents()"),
        ("simulate", "from extremal.simulate import Simulation"),
        ("Frequency", "ex.Frequencies"),
        ("shuffle", "ex.shuffled"),
        ("optimise", "ex.design(ex.LDP(epsilon), goal)"),
        ("anonymise", "ex.privatize("),
    ],
)
def test_a_name_from_elsewhere_ends_in_the_right_call(name: str, call: str) -> None:
    with pytest.raises(AttributeError) as raised:
        ex.__getattr__(name)  # what Python calls where no room of that name is loaded
    assert call in str(raised.value)


@pytest.mark.parametrize(
    "make",
    [
        ex.randomized_response,
        ex.subset_selection,
        ex.unary_encoding,
        ex.local_hashing,
        ex.hadamard_response,
        ex.projective_geometry,
        ex.bloom_filter,
        ex.geometric,
        ex.stochastic_rounding,
        ex.piecewise,
        ex.square_wave,
        ex.hierarchical,
    ],
)
def test_every_constructor_takes_labels_or_their_number(make: object) -> None:
    assert callable(make)
    assert make(LABELS, 1).inputs == tuple(LABELS)
    assert make(3, 1).k == 3
    assert make(3, 1, inputs=LABELS).hash == make(LABELS, 1).hash
    with pytest.raises(ex.errors.InvalidParameter, match="the answers come first, then epsilon"):
        make(1, LABELS)
    with pytest.raises(ex.errors.InvalidParameter, match="a number of answers or a list of their labels"):
        make("abc", 1)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("ex.randomized_response({'a', 'b'}, 1)", 'Write ["no", "yes"], or 2'),
        ("ex.randomized_response(3, '1.0e')", 'Write "0.1" or "1/3"'),
        ("ex.randomized_response(3, -1)", "Give ε in nats"),
        ("ex.design(1, ex.Mean([0, 1, 2]))", "such as ex.LDP(1) and ex.Frequencies(7)"),
        ("ex.design(ex.LDP(1), 'mean')", "ex.Mean(values)"),
        ("ex.design(ex.LDP(1), ex.Frequencies(3), inputs=['a', 'b'])", "inputs must have 3 labels"),
        ("ex.plan(k=4, epsilon=1)", "n and half_width are missing"),
        ("ex.plan(k=4, epsilon=1, n=100, half_width=0.05)", "all three were given. Leave out half_width"),
        ("ex.plan(k=4, epsilon=1, half_width=5)", "Write ± 5 percentage points as 0.05"),
        ("ex.plan(k=4, epsilon=1, half_width='5%')", "Write ± 5 percentage points as 0.05"),
        ("ex.plan(4, epsilon=1, n=100)", "The number of inputs is k=…"),
        ("ex.plan(4, 1, 0.05)", "Call it as ex.plan(k=4, epsilon=1, half_width=0.05)"),
        ("ex.plan_test([0.5, 0.5], [0.4, 0.6], 1)", "Call it as ex.plan_test(p0=[0.5, 0.5]"),
        ("ex.Mean(5)", "a scale from 0 to 4 has range(5)"),
        ("ex.Frequencies(['no', 'yes'])", "labels belong in inputs="),
        ("ex.privatize([], ex.randomized_response(2, 1))", "privatize(frame, column='answer', mechanism=m)"),
        ("ex.Questionnaire(['drugs', 'party'])", 'ex.Questionnaire({"drugs": m1, "party": m2})'),
        ("ex.Questionnaire.within(4, ['drugs'])", '{"drugs": ["no", "yes"], "party": 8}'),
        ("ex.Questionnaire.within(4, {'drugs': 'no,yes'})", "a question needs its answers"),
        ("ex.estimate_frequencies([0, 1, 5], ex.randomized_response(2, 1))", "made by another mechanism?"),
        ("ex.estimate_frequencies(ex.randomized_response(2, 1), [0, 1])", "ex.load reads one from a file"),
        ("ex.randomized_response(['no', 'yes'], 1).privatize('Yes')", "Labels: 'no', 'yes'"),
        ("ex.compare('KL', epsilon=1)", "ex.KL(p0, p1)"),
        ("ex.KL([0.5, 0.6], [0.5, 0.5])", "Divide each entry by the sum"),
        ("ex.LDP('one')", 'Write "0.1" or "1/3"'),
        ("ex.verify(3)", "a mechanism, a design, a certificate or a path"),
        ("ex.randomized_response(0.5, 2)", "The answers come first, then epsilon"),
        ("ex.design(epsilon=1, goal='mean')", "Call it as ex.design(ex.LDP(1), ex.Mean(range(5)))"),
        ("ex.design(ex.LDP(1))", "Call it as ex.design(ex.LDP(1), ex.Mean(range(5)))"),
        ("ex.compare(ex.Frequencies(3))", "Call it as ex.compare(ex.Frequencies(4), epsilon=1)"),
        ("ex.theory.thresholds(1)", "Give ex.KL(p0, p1)"),
        ("ex.randomized_response(2, 1).privatize([0], seed=1)", "extremal.simulate.Simulation(seed)"),
        ("ex.randomized_response(2, 1).privatize(None)", "Drop or fill missing values"),
        ("ex.plan(k=4)", "n=1000 gives half_width"),
        ("ex.randomized_response(['a', 'a'], 1)", "Rename one of the two"),
    ],
)
def test_a_mistake_in_python_is_told_what_to_do(code: str, said: str) -> None:
    with pytest.raises(ex.ExtremalError) as raised:
        eval(code)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("desing --epsilon 1", "Did you mean design?"),
        ("design --epsilon 1", "Give --goal frequencies --k 4"),
        ("design --epsilon abc --goal shares --k 3", 'Write "0.1" or "1/3"'),
        ("design --epsilon 1 --goal mean", "Give --values 0,1,5"),
        ("design --epsilon 1 --goal share --k 3", "shares"),
        ("plan --k 4 --epsilon 1", "n and half_width are missing"),
        ("plan --k 4 --epsilon 1 --half-width wide", "write ± 5 points as 0.05 or 5%"),
        ("compare --k 4 --epsilon 1", "Give --goal frequencies --k 4"),
        ("verify nothing.json", "No such file or directory (`.save(path)` and -o write one"),
        ("questionnaire make --epsilon 4 drugs -o q.json", "drugs=no,yes or sickdays=0-10"),
        ("questionnaire make --epsilon 4 drugs=1 -o q.json", "question 'drugs' must have at least 2 answers"),
        ("privatize m.json data.csv", "--column, --mechanism"),
        ("reproduce kov-fig1", "Choose from kov-fig2, kov-fig3"),
        (
            "questionnaire make --epsilon 4 --split variance d=no,yes -o q.json",
            "extremal questionnaire make --help",
        ),
        ("plan --k 4 --epsilon 1 --halfwidth 0.05", "Did you mean --half-width?"),
        ("theory thresholds", "Give --p0 0.5,0.3,0.2"),
        ("plan --inputs 10-0 --epsilon 1 --n 100", "a range of answers must rise"),
    ],
)
def test_a_mistake_on_the_command_line_is_told_what_to_do(
    line: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    try:
        code = main(line.split())
    except SystemExit as left:
        code = int(str(left.code))
    assert code == 2
    assert said in capsys.readouterr().err


def test_ranges_and_points_are_typed_as_people_write_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--inputs", "0-10", "--epsilon", "1", "--half-width", "5%"]) == 0
    assert "half-width 0.05 (asked for: 0.05)" in capsys.readouterr().out


def test_answers_that_are_numbers_are_the_values_of_a_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "--goal", "mean", "--inputs", "1-5", "--epsilon", "1", "--json"]) == 0
    assert '"value": 17.8676171' in capsys.readouterr().out


def test_thresholds_is_a_call() -> None:
    found = ex.theory.thresholds(ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]))
    assert found.universal is not None
    assert found.universal < found.binary == pytest.approx(found.response)
    assert str(found).startswith("binary is optimal for every divergence up to ε = ")


def test_a_file_that_is_not_there_is_told_what_may_be_meant(tmp_path: Path) -> None:
    for read in (ex.load, ex.verify):
        with pytest.raises(FileNotFoundError, match=r"`\.save\(path\)` and -o write one"):
            read(tmp_path / "nothing.json")
        ex.randomized_response(2, 1).save(tmp_path / "coin.json", overwrite=True)
        with pytest.raises(FileNotFoundError, match=r"did you mean '.*coin\.json'"):
            read(tmp_path / "coins.json")


def test_a_module_that_is_called_names_the_function() -> None:
    import extremal.estimate

    with pytest.raises(TypeError, match="Call ex.estimate_frequencies"):
        extremal.estimate([0, 1], ex.randomized_response(2, 1))


def test_another_spelling_of_an_argument_is_told_the_right_one() -> None:
    with pytest.raises(InvalidParameter, match="Call it as ex.unary_encoding.*optimised=False"):
        ex.unary_encoding(3, 1, optimized=False)  # type: ignore[call-arg]


def test_mistakes_in_a_questionnaire_are_told_what_to_do() -> None:
    with pytest.raises(InvalidParameter, match="how many there are, 2, or a range"):
        ex.Questionnaire.within(4, {"sick": 1})
    with pytest.raises(InvalidParameter, match="The questions are 'sick'"):
        ex.Questionnaire.within(4, {"sick": 2}, importance={"sik": 2})


def test_a_design_says_what_its_mechanism_does() -> None:
    d = ex.design(ex.LDP(1), ex.Frequencies(2))
    with pytest.raises(
        AttributeError, match=r"'Design' object has no attribute 'privatize'. Its mechanism has: design.mec"
    ):
        d.privatize([0, 1])
    with pytest.raises(AttributeError, match="'nothing'$"):
        d.nothing  # noqa: B018
    assert not hasattr(d, "_nothing")


# -- numbers with labels in another order than the inputs, as value_counts(normalize=True) returns them

NO_YES = ex.randomized_response(["no", "yes"], 3)
COUNTS = {"no": 60, "yes": 40}
FOUND = ex.estimate_frequencies(COUNTS, NO_YES)
TABLE = ex.estimate_crosstab({"y": ["no", "yes", "no"] * 9, "g": ["f", "m", "m"] * 9}, {"y": NO_YES, "g": None})
P = pd.Series({"yes": 0.3, "no": 0.7})
Q = pd.Series({"yes": 0.6, "no": 0.4})
A = pd.Series({"yes": 5.0, "no": 1.0})
ROW = pd.DataFrame([[5.0, 1.0]], columns=["yes", "no"], index=["a statistic"])
SQUARE = pd.DataFrame([[0.8, 0.2], [0.4, 0.6]], index=["yes", "no"], columns=["yes", "no"])
CELLS = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["yes", "no"], columns=["m", "f"])
LOSSES = pd.DataFrame([[0.0, 2.0], [1.0, 0.0]], index=["yes", "no"], columns=["yes", "no"])

READERS: dict[str, Callable[[Any], Any]] = {
    "test_distribution": lambda f: ex.test_distribution(COUNTS, NO_YES, f(P)).statistic,
    "test_hypotheses": lambda f: ex.test_hypotheses(COUNTS, NO_YES, f(P), f(Q)).statistic,
    "a list of hypotheses": lambda f: ex.test_hypotheses(COUNTS, NO_YES, [f(P), f(Q)]).posterior,
    "sequential_test": lambda f: ex.sequential_test(NO_YES, f(P), f(Q)).expected_n(),
    "error_exponent": lambda f: ex.error_exponent(NO_YES, f(P), f(Q)),
    "error_region": lambda f: ex.theory.error_region(NO_YES, f(P), f(Q)).vertices,
    "estimate_frequencies": lambda f: ex.estimate_frequencies({0: 9, 1: 5, 2: 4}, THREE, prior=f(SKEWED)).estimate,
    "linear": lambda f: FOUND.linear(f(A)).estimate,
    "contrast": lambda f: FOUND.contrast(f(A - 3)).estimate,
    "mean": lambda f: FOUND.mean(f(A)).estimate,
    "total": lambda f: FOUND.total(1000, f(A)).estimate,
    "plot": lambda f: FOUND.plot(truth=f(P)).axes[0].lines[1].get_xdata(),
    "crosstab.linear": lambda f: TABLE.linear(f(CELLS)).estimate,
    "estimate_workload": lambda f: ex.estimate_workload(COUNTS, NO_YES, f(ROW)).estimate,
    "rows of a workload": lambda f: ex.estimate_workload(COUNTS, NO_YES, [f(A)]).estimate,
    "plan": lambda f: ex.plan(NO_YES, n=300, prior=f(P)).widest,
    "plan of labels": lambda f: ex.plan(inputs=["no", "yes"], epsilon=1, n=300, prior=f(P)).widest,
    "plan of a workload": lambda f: ex.plan(NO_YES, n=300, prior=f(P), workload=ex.Mean([0, 1], [0.5, 0.5])).half_width,
    "plan_test": lambda f: ex.plan_test(NO_YES, p0=f(P), p1=[0.5, 0.5], n=300).power,
    "transition": lambda f: ex.plan_test(NO_YES, p0=f(P), transition=f(SQUARE), n=300).power,
    "marginal": lambda f: NO_YES.marginal(f(P)),
    "posterior": lambda f: NO_YES.posterior(f(P)),
    "explain": lambda f: str(NO_YES.explain(f(P))),
    "explain several": lambda f: str(ex.Questionnaire({"q": NO_YES}).explain({"q": f(P)})),
    "leakage": lambda f: ex.theory.leakage_distribution(NO_YES, f(P)).mean,
    "from_matrix": lambda f: ex.Mechanism.from_matrix(f(SQUARE), inputs=["no", "yes"], outputs=["no", "yes"]).hash,
    "closed form": lambda f: ex.pml_binary(f(P), 0.4, inputs=["no", "yes"]).hash,
}
THREE = ex.Mechanism.from_weights(
    [[4, 2, 1, 1], [1, 4, 2, 1], [1, 1, 2, 4]], 8, inputs=["a", "b", "c"], outputs=range(4)
)
SKEWED = pd.Series({"c": 0.7, "a": 0.2, "b": 0.1})


def by_hand(given: Any) -> Any:
    """In the order of the inputs, without labels."""
    if isinstance(given, pd.Series):
        return given.sort_index().to_numpy()
    ordered = given.sort_index(axis=1)
    return (ordered.sort_index() if len(given) > 1 else ordered).to_numpy()


@pytest.mark.parametrize("name", list(READERS))
def test_numbers_with_labels_are_read_by_them(name: str) -> None:
    read, shuffled = READERS[name], lambda given: given
    np.testing.assert_array_equal(read(shuffled), read(by_hand))


@pytest.mark.parametrize(
    "read",
    [
        lambda: ex.KL(P, Q),
        lambda: ex.MutualInformation(P),
        lambda: ex.PairwiseDivergence([P, Q]),
        lambda: ex.Mean(A),
        lambda: ex.Mean([1, 5], P),
        lambda: ex.Frequencies(2, weights=A),
        lambda: ex.Workload(ROW, 2),
        lambda: ex.Workload([A], 2),
        lambda: ex.Distortion([0.5, 0.5], LOSSES),
        lambda: ex.MetricPrivacy(1, LOSSES),
        lambda: ex.PML(1, P),
        lambda: ex.LIP(1, P),
        lambda: ex.SourceClass([P, Q]),
        lambda: ex.SourceClass.ball(P, 0.1),
        lambda: ex.SourceClass.from_counts(A.astype(int)),
        lambda: ex.SourceClass.simplex(2).worst_case(A),
        lambda: ex.smallest_epsilon(P, 0.1),
        lambda: ex.plan(k=2, epsilon=1, n=300, prior=P),
        lambda: ex.plan_test(p0=P, p1=Q, epsilon=1, n=300),
        lambda: ex.compare([ex.Frequencies(2)], epsilon=1, prior=P),
        lambda: ex.Mechanism.from_matrix(SQUARE),
        lambda: ex.Mechanism.from_partition(pd.Series({"yes": 1, "no": 0}), ex.LDP(1)),
        lambda: ex.binary_for_information(P, 1),
        lambda: ex.KL([0.5, 0.5], [0.2, 0.8])(SQUARE),
    ],
)
def test_labels_that_nothing_can_be_matched_with_are_refused(read: Callable[[], Any]) -> None:
    with pytest.raises(InvalidParameter, match=r"must be without labels here.*order of the inputs.*to_numpy\(\)"):
        read()


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (pd.Series({"yes": 1.0}), "1 missing, 0 unknown, 0 repeated"),
        (pd.Series({"yes": 0.5, "no": 0.2, "secret": 0.3}), "0 missing, 1 unknown, 0 repeated"),
        (pd.Series([0.5, 0.2, 0.3], index=["yes", "no", "no"]), "0 missing, 0 unknown, 1 repeated"),
        (pd.Series([0.5, 0.5], index=[1, 0]), "2 missing, 2 unknown"),
    ],
)
def test_labels_that_are_not_the_inputs_are_refused(given: pd.Series, wrong: str) -> None:
    for read in (lambda: ex.test_distribution(COUNTS, NO_YES, given), lambda: FOUND.linear(given)):
        with pytest.raises(
            InvalidParameter, match=rf"the labels of \w+ must be 'no', 'yes', each once: {wrong}"
        ) as refused:
            read()
        assert "secret" not in str(refused.value)


def test_a_mapping_or_a_frame_is_not_read_by_its_keys() -> None:
    with pytest.raises(InvalidParameter, match="values must be a sequence of numbers"):
        ex.Mean({3: 5, 7: 1})
    with pytest.raises(InvalidParameter, match="counts must be a sequence"):
        ex.SourceClass.from_counts({30: 500, 70: 100})
    with pytest.raises(InvalidParameter, match="prior must be one-dimensional, and not a frame"):
        ex.MutualInformation(pd.DataFrame([[0.4, 0.6]]))
    with pytest.raises(InvalidParameter, match="coefficients must be one-dimensional, and not a frame"):
        FOUND.linear(pd.DataFrame([[0.4, 0.6]]))


def test_numbering_is_no_label() -> None:
    assert ex.Mean(pd.Series([1.0, 5.0])).values.tolist() == [1, 5]
    assert ex.KL(pd.Series([0.3, 0.7]), pl.Series([0.6, 0.4])).p0.tolist() == [0.3, 0.7]
    assert FOUND.linear(pd.Series([0.0, 1.0])).estimate == FOUND.estimate[1]
    assert ex.Workload(pd.DataFrame([[0, 1]], index=["share"]), 2).rows.tolist() == [[0, 1]]
    assert ex.Workload(pl.DataFrame([[0.0], [1.0]]), 2).rows.tolist() == [[0, 1]]
    by_name = ex.estimate_workload(COUNTS, NO_YES, pl.DataFrame({"yes": [1.0], "no": [0.0]}))
    assert by_name.estimate == pytest.approx(FOUND.estimate[1:])


def test_whole_numbers_that_are_inputs_are_labels() -> None:
    m = ex.randomized_response([2, 0, 1], 1)
    given = pd.Series([0.5, 0.3, 0.2])  # of 0, 1 and 2
    assert m.marginal(given).tolist() == m.marginal([0.2, 0.5, 0.3]).tolist()
    scale = ex.randomized_response([1, 2, 3], 1)
    assert scale.marginal(given).tolist() == scale.marginal([0.5, 0.3, 0.2]).tolist()


REVERSED, LONGER = ex.randomized_response(LABELS[::-1], 1), ex.randomized_response([*LABELS, "always"], 1)


@pytest.mark.parametrize(
    ("other", "advice"),
    [
        (REVERSED, r"inputs=\('often', .* The first has 'never' where this has 'often': another order\.$"),
        (LONGER, r"The first has no 'always'\.$"),
    ],
)
@pytest.mark.parametrize(
    "compare",
    [
        lambda m, other, y: ex.estimate_change({"a": y, "b": y}, "a", "b", m, other),
        lambda m, other, y: ex.pool([(y, m), (y * 2, other)]),
        lambda m, other, y: ex.estimate_frequencies(y, m).difference(ex.estimate_frequencies(y, other)),
        lambda m, other, _y: ex.theory.dominates(m, other),
        lambda m, other, _y: ex.theory.compose(m, other),
    ],
)
def test_other_inputs_are_told_by_a_label(compare: Callable[..., Any], other: ex.Mechanism, advice: str) -> None:
    with pytest.raises(InvalidParameter, match="the same inputs in the same order; got .*" + advice):
        compare(ex.randomized_response(LABELS, 1), other, LABELS * 10)
