"""`extremal design`: every notion and utility that the command line can name."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import extremal as ex
from extremal.cli import main
from extremal.cli.choices import CHOICES, PRIVACIES
from extremal.privacy import NOTIONS
from extremal.utility import DIVERGENCES, UTILITIES

LINE = "0,1,2\n1,0,1\n2,1,0\n"


def test_design_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["design", "--epsilon", "1", "--p0", "0.5,0.3,0.2", "--p1", "0.1,0.2,0.7", "--inputs", "a,b,c"]
    assert main([*arguments, "-o", str(tmp_path / "m.json")]) == 0
    assert "method" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "m.certificate.json")]) == 0
    assert "proved by order, dual (chords)" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "m.json")]) == 0
    assert main([*arguments, "-o", str(tmp_path / "m.json"), "--max-outputs", "1"]) == 2
    assert "the file must not exist yet" in capsys.readouterr().err
    assert main([*arguments, "--json"]) == 0
    assert '"method"' in capsys.readouterr().out
    assert main(["design", "--epsilon", "1"]) == 2
    assert main(["design", "--epsilon", "1", "--privacy", "pml", "--p0", "0.5,0.5", "--p1", "0.2,0.8"]) == 2
    assert "pml needs the prior that it promises under" in capsys.readouterr().err


def test_pml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "q.json"
    arguments = [
        "design",
        "--privacy",
        "pml",
        "--epsilon",
        "0.5",
        "--prior",
        "0.5,0.3,0.2",
        "--inputs",
        "a,b,c",
        "-o",
        str(file),
        "--json",
    ]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(0.296845174168, abs=1e-9)
    assert found["gap"] < 1e-9
    assert any("region 2 of 3" in note for note in found["notes"])
    assert main(["verify", str(tmp_path / "q.certificate.json")]) == 0
    assert ex.load(file).inputs == ("a", "b", "c")


def test_lip_asymmetric(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["design", "--privacy", "lip", "--epsilon", "0.5", "--lower", "1", "--prior", "0.5,0.3,0.2"]
    assert main([*arguments, "--p0", "0.5,0.3,0.2", "--p1", "0.2,0.3,0.5", "--utility", "KL"]) == 0
    text = capsys.readouterr().out
    assert "KL under LIP(epsilon=0.5" in text
    assert "lower=1.0" in text


@pytest.mark.parametrize("notion", ["pml", "lip"])
def test_the_prior_is_needed(notion: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "--privacy", notion, "--epsilon", "1", "--p0", "0.5,0.5", "--p1", "0.2,0.8"]) == 2
    assert f"{notion} needs the prior that it promises under" in capsys.readouterr().err


def test_smallest_epsilon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "m.json"
    options = [
        "design",
        "--distortion",
        "0.45",
        "--source",
        "0.45,0.45,0.1;0.6,0.2,0.2",
        "--inputs",
        "a,b,c",
        "-o",
        str(target),
        "--json",
    ]
    assert main(options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(0.663294, abs=1e-6)
    assert main(["verify", str(tmp_path / "m.certificate.json")]) == 0
    assert main(["design", "--distortion", "0.3", "--prior", "0.5,0.3,0.2", "--ball", "0.1"]) == 0
    assert "LevelAtDistortion" in capsys.readouterr().out


def test_losses_and_metrics_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv, listed = tmp_path / "d.csv", tmp_path / "d.json"
    csv.write_text(LINE)
    listed.write_text("[[0, 1, 2], [1, 0, 1], [2, 1, 0]]")
    values = []
    for file in (csv, listed):
        command = ["design", "--epsilon", "1", "--prior", "0.5,0.3,0.2", "--distances", str(file), "--json"]
        assert main(command) == 0
        values.append(json.loads(capsys.readouterr().out)["value"])
        assert main([*command, "--privacy", "metric", "--metric", str(file)]) == 0
        assert json.loads(capsys.readouterr().out)["privacy"]["notion"] == "MetricPrivacy"
    assert values[0] == values[1] == pytest.approx(0.46894142137)
    assert main(["compare", "--epsilon", "1", "--prior", "0.5,0.3,0.2", "--utility", "Hamming"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "0.5,0.5"], "a privacy level is needed"),
        (["--distortion", "0.1"], "a distortion needs a prior"),
        (["--distortion", "0.1", "--epsilon", "1", "--prior", "0.5,0.5"], "give either --epsilon or --distortion"),
        (["--distortion", "0", "--prior", "0.5,0.5"], "no finite epsilon keeps the distortion at 0"),
        (
            ["--epsilon", "1", "--privacy", "metric", "--prior", "0.5,0.5"],
            "metric needs the distances between inputs",
        ),
        (["--epsilon", "1", "--prior", "0.5,0.5", "--utility", "Distortion"], "Distortion needs a matrix of losses"),
        (
            ["--epsilon", "1", "--prior", "0.5,0.5", "--distances", "words.csv"],
            "--distances must be a matrix of numbers",
        ),
        (
            ["--epsilon", "1", "--prior", "0.5,0.5", "--distances", "ragged.csv"],
            "--distances must be a matrix with rows of equal length",
        ),
        (["--epsilon", "1", "--prior", "0.5,0.5", "--distances", "missing.csv"], "missing.csv"),
    ],
)
def test_bad_input(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.csv").write_text("a,b\nc,d\n")
    Path("ragged.csv").write_text("1,2\n3\n")
    assert main(["design", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", CHOICES)
def test_every_utility_of_the_command_line_is_made_as_it_says(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    losses = tmp_path / "d.csv"
    losses.write_text(LINE)
    given = {"--p0": "0.5,0.3,0.2", "--p1": "0.2,0.3,0.5", "--prior": "0.5,0.3,0.2", "--distances": str(losses)}
    given["--values"] = "0,1,5"
    flags = [option.flag for option in CHOICES[name].options if option.required]
    needed = [word for flag in flags for word in (flag, given[flag])]
    file = tmp_path / "m.json"
    assert main(["design", "--epsilon", "1", "--utility", name, *needed, "-o", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["utility"] == name
    assert main(["verify", str(tmp_path / "m.certificate.json")]) == 0
    assert main(["design", "--epsilon", "1", "--utility", name]) == 2
    assert f"{name} needs" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name, kind in DIVERGENCES.items() if kind.parameters])
def test_parameters_of_divergences_are_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    values = []
    for extra in ([], [word for option in DIVERGENCES[name].parameters for word in (f"--{option}", "1.25")]):
        given = ["--epsilon", "1", "--p0", "0.5,0.3,0.2", "--p1", "0.2,0.3,0.5", "--utility", name]
        assert main(["design", *given, *extra, "--json"]) == 0
        values.append(json.loads(capsys.readouterr().out)["value"])
    assert values[0] != values[1]


def test_every_notion_is_a_choice(capsys: pytest.CaptureFixture[str]) -> None:
    assert {choice.kind for choice in PRIVACIES.values()} == set(NOTIONS.values())
    with pytest.raises(SystemExit):
        main(["design", "--help"])
    shown = capsys.readouterr().out
    assert "{" + ",".join(PRIVACIES) + "}" in shown
    for choice in (*PRIVACIES.values(), *CHOICES.values()):
        assert all(f"{option.flag} " in shown for option in choice.options)


@pytest.mark.parametrize("name", PRIVACIES)
def test_options_are_the_arguments_of_a_notion(name: str) -> None:
    kind, options = PRIVACIES[name].kind, PRIVACIES[name].options
    assert list(inspect.signature(kind).parameters) == ["epsilon", *(option.argument for option in options)]
    typed = {"number": "0.25", "prior": ["0.5", "0.5"], "matrix": [[0.0, 1.0], [1.0, 0.0]]}
    made = kind("1", **{option.argument: typed[option.reads] for option in options})
    assert made.holds(ex.Mechanism.from_weights([[1, 1], [1, 1]], 2))
    fewest = {option.argument: typed[option.reads] for option in options if option.required}
    defaults = {option.argument: option.default for option in options if option.default is not None}
    assert kind("1", **fewest) == kind("1", **fewest, **defaults)


@pytest.mark.parametrize("name", CHOICES)
def test_options_are_arguments_of_a_utility(name: str) -> None:
    options = {option.argument for option in CHOICES[name].options}
    parameters = inspect.signature(CHOICES[name].kind).parameters.values()
    assert options <= {parameter.name for parameter in parameters}
    assert {parameter.name for parameter in parameters if parameter.default is parameter.empty} <= options


def test_every_utility_that_needs_no_function_is_a_choice() -> None:
    made_of_others = {"Average", "WorstCase", "Workload", "LevelAtDistortion", "RobustDivergence", "PairwiseDivergence"}
    assert set(UTILITIES) - {name for name, kind in UTILITIES.items() if kind.of_user} - set(CHOICES) <= made_of_others


def test_several_hypotheses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--epsilon", "1", "--hypotheses", "0.5,0.3,0.2; 0.1,0.9,0; 0.2,0.2,0.6"]
    assert main(["design", *given, "-o", str(tmp_path / "mean.json")]) == 0
    assert "Design: Average under LDP(epsilon=1.0); 3 inputs" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "mean.certificate.json")]) == 0
    assert main(["design", *given, "--worst-case", "--utility", "alphadivergence", "--alpha", "2", "--json"]) == 0
    assert '"utility": "WorstCase"' in capsys.readouterr().out
    picture = tmp_path / "pairs.png"
    assert main(["design", *given, "--worst-case", "--plot", str(picture)]) == 0
    assert f"written: {picture}" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["design", *given, "--worst-case", "--plot", str(picture)]) == 2
    assert "must not exist yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hypotheses", "0.5,0.5"], "at least two distributions"),
        (["--hypotheses", "0.5,0.5;0.1,0.9", "--utility", "MutualInformation"], "told apart by a divergence"),
        (["--hypotheses", "0.5,0.5;0.1,0.9", "--p0", "0.5,0.5"], "replace --p0"),
        (["--p0", "0.5,0.5", "--p1", "0.1,0.9", "--worst-case"], "goes with --hypotheses"),
        (["--hypotheses", "0.5,0.5;0.1,0.8"], "must sum to 1"),
    ],
)
def test_bad_hypotheses(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["design", "--epsilon", "1", *arguments]) == 2
    assert said in capsys.readouterr().err
