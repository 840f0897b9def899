"""What people type first: a name from elsewhere, labels in place of their number, a mistake. Each ends in advice."""

from pathlib import Path

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
