"""The papers' figures: numbers against the reference tables, files that are the same when made twice."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import extremal as ex
from extremal.cli import main
from extremal.reproduce import FIGURES, beyond, kov, several
from extremal.reproduce.figure import Columns, Figure, Reproduced, as_csv, caption_text
from extremal.reproduce.instances import Experiment, experiment, pairs

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (Path(__file__).parents[1] / "data" / "experiments.md").read_text(encoding="utf-8")
QUICK = ["kov-fig10", "gso-fig3", "kss-fig1", "kss-fig2"]


def _numbers(start: str, rows: int) -> list[list[float]]:
    """Rows of numbers of the table after a line."""
    lines = REFERENCE.split(start, 1)[1].splitlines()
    found = [[float(cell) for cell in re.findall(r"-?\d*\.\d+|-?\d+", line)] for line in lines if line.startswith("| ")]
    return [row for row in found if len(row) > 2][:rows]


def _silent(_: float) -> None:
    return None


@pytest.mark.parametrize("kind", ["divergence", "information"])
def test_ten_instances_of_the_average(kind: str) -> None:
    """The first ten of the hundred instances, at two levels: the same numbers from the mechanisms themselves."""
    found = experiment(kind, 6, (0.5, 4.0), count=10)
    k, checked = 6, 0
    for i, (p0, p1) in enumerate(pairs(6, count=10)):
        utility = ex.KL(p0, p1) if kind == "divergence" else ex.MutualInformation(p0)
        assert found.whole[i] == pytest.approx(utility(np.eye(k)))
        for j, epsilon in enumerate((0.5, 4.0)):
            best = max(found.values[form][i, j] for form in ("binary", "randomised response", "geometric"))
            assert found.values["optimum"][i, j] >= best - 1e-12
            assert found.values["randomised response"][i, j] == utility(ex.randomized_response(k, epsilon))
            checked += 1
    assert checked == 20
    assert (found.ratio("mixed") >= found.ratio("binary")).all()
    assert (found.ratio("mixed") <= 1 + 1e-9).all()
    assert experiment(kind, 6, (0.5, 4.0), count=10) is found


@pytest.mark.parametrize(
    ("kind", "start"),
    [("divergence", "KL / D(P0||P1):"), ("information", "MI / H(X):")],
    ids=["divergence", "information"],
)
def test_averages_of_the_reference(kind: str, start: str) -> None:
    """The hundred instances of the closed forms (no design needed) against the reference table, digit for digit."""
    k, whole = 6, []
    utilities = []
    for p0, p1 in pairs(k):
        utilities.append(ex.KL(p0, p1) if kind == "divergence" else ex.MutualInformation(p0))
        whole.append(utilities[-1](np.eye(k)))
    for row in _numbers(start, 10):
        if row[0] not in (0.1, 1.0, 10.0):
            continue
        epsilon, _, two, response, geometric = row
        made = {"response": ex.randomized_response(k, epsilon), "geometric": ex.geometric(k, epsilon)}
        means = {
            name: float(np.mean([u(m) / w for u, w in zip(utilities, whole, strict=True)])) for name, m in made.items()
        }
        assert means["response"] == pytest.approx(response, abs=5.1e-6)
        assert means["geometric"] == pytest.approx(geometric, abs=5.1e-6)
        if kind == "divergence":
            binary = np.mean(
                [u(ex.binary(u.pair.p0, u.pair.p1, epsilon)) / w for u, w in zip(utilities, whole, strict=True)]
            )
            assert float(binary) == pytest.approx(two, abs=5.1e-6)


@pytest.mark.parametrize("k", [4, 6])
def test_worst_of_the_better_of_two_of_the_reference(k: int) -> None:
    """Figure 4 where the reference has its worst instance, to its three digits; means at ε = 2 within 1e-5, because its
    optima come from a linear program in floats. The other sizes, and figure 7: audit/documentation/reproduce.py."""
    line = next(line for line in REFERENCE.splitlines() if line.startswith(f"| KL | {k} | Dirichlet(1),0"))
    cells = [cell.strip(" *") for cell in line.split("|")]
    least, at = float(cells[6]), float(cells[7])
    found = experiment("divergence", k, (2.0, at) if k == 6 else (at,))
    assert found.ratio("mixed")[:, -1].min() == pytest.approx(least, abs=6e-4)
    if k == 6:
        wanted = next(row for row in _numbers("KL / D(P0||P1):", 10) if row[0] == 2.0)
        for form, mean in zip(("optimum", "binary", "randomised response", "geometric"), wanted[1:], strict=True):
            assert found.average(form)[0] == pytest.approx(mean, abs=1e-5)


@pytest.mark.parametrize(("name", "start"), [("kov-fig5", "## Fig 5 / 8"), ("kov-fig8", "## Fig 5 / 8")])
def test_scaling_of_the_reference(name: str, start: str) -> None:
    rows = [line for line in REFERENCE.split(start, 1)[1].splitlines() if line.startswith("| eps=")]
    wanted = rows[:4] if name == "kov-fig5" else rows[4:8]
    table = FIGURES[name].make(_silent).tables["summary"]
    for i, line in enumerate(wanted):
        low, mean, high = (float(cell) for cell in line.split("|")[-4:-1])
        assert (table["min"][i], table["mean"][i], table["max"][i]) == pytest.approx((low, mean, high), abs=6e-6)


def test_leakage_of_the_reference() -> None:
    tables = FIGURES["gso-fig1"].make(_silent).tables
    checked = 0
    for start, name, columns in (("Uniform N=3", "uniform", (1, 3)), ("P=(.5,.3,.2)", "skewed", (2, 4))):
        for row in _numbers(start, 8 if name == "uniform" else 11):
            epsilon, best, response = row[0], row[columns[0]], row[columns[1]]
            i = tables[name]["epsilon"].index(epsilon)
            assert tables[name]["optimum"][i] == pytest.approx(best, rel=1e-8)
            assert tables[name]["randomised response"][i] == pytest.approx(response, rel=1e-8)
            checked += 1
    assert checked == 19


def test_samples_of_the_reference() -> None:
    """Exact values to the digits of the reference; means of ten runs near them, bias included."""
    information = FIGURES["gso-fig2"].make(_silent).tables
    two, five = information["two-inputs"], information["five-inputs"]
    for epsilon, best, response in ((0.3, 0.062976, 0.047816), (0.5, 0.234621, 0.162735), (0.7, 0.533568, 0.415512)):
        i = two["epsilon"].index(epsilon)
        assert two["optimum, exact"][i] == pytest.approx(best, abs=6e-7)
        assert two["randomised response, exact"][i] == pytest.approx(response, abs=6e-7)
        assert two["optimum, mean of 10 runs"][i] == pytest.approx(best + 0.0005, abs=0.03)
    i = five["epsilon"].index(0.1)
    assert five["optimum, exact"][i] == pytest.approx(0.0275649, abs=6e-8)
    assert five["randomised response, exact"][i] == pytest.approx(0.00101718, abs=6e-9)
    assert five["randomised response, mean of 10 runs"][i] == pytest.approx(0.001 + 0.008, abs=0.004)
    correlation = FIGURES["gso-fig3"].make(_silent).tables["five-inputs"]
    assert correlation["optimum, exact"][i] == pytest.approx(math.expm1(0.1), abs=1e-9)
    assert correlation["randomised response, exact"][i] == pytest.approx(0.022159, abs=6e-7)


PINNED = {
    "kov-fig2": [("binary", "output 1", 0, 0.7310585786300049), ("randomised", "output 2", 1, 0.4046096751916897)],
    "kov-fig9": [("matrix", "output 2", 0, 0.2420472792329956), ("corners", "P_FA", 2, 0.2420472792329956)],
    "kov-fig10": [("binary", "P_MD", 1, 0.4510162675192582), ("response", "P_FA", 2, 0.3096274476244788)],
    "gso-fig4": [("", "Q(1|1)", 0, 0.675), ("", "Q(1|2)", 0, 0.175), ("", "I(X;Y)", 0, 0.1326423501825457)],
    "gso-examples": [("1", "output 1", 0, 0.325), ("2", "output 1", 1, 0.75)],
    "kss-fig1": [("invariant", "P1", 5, 0.5), ("ordered", "P2", 2, 0.45)],
    "kss-bounds": [("one-prior", "epsilon", 2, math.log(38)), ("one-prior", "lower bound, printed", 2, math.log(20))],
}
"""Figure → table, column, row and a number of it, from the formula in 30 digits."""


@pytest.mark.parametrize("name", PINNED)
def test_numbers_of_the_quick_figures(name: str) -> None:
    tables = FIGURES[name].make(_silent).tables
    for table, column, row, value in PINNED[name]:
        assert tables[table][column][row] == pytest.approx(value, rel=1e-12)


def test_colours_are_those_of_the_smallest_epsilon() -> None:
    """e^−ε* = 17/33 by an independent program; the first diagonal entry is the one that need not be black."""
    table = FIGURES["kss-fig2"].make(_silent).tables[""]
    assert [table[f"output {y}"] for y in (1, 2, 3)] == [["W"] * 3, ["R", "B", "W"], ["W"] * 3]
    source = ex.SourceClass.ordered([["0.45", "0.45", "0.1"], ["0.6", "0.2", "0.2"]])
    assert ex.smallest_epsilon(source, "0.45").value == pytest.approx(math.log(33 / 17), rel=1e-9)


@pytest.mark.parametrize("kind", ["divergence", "information"])
def test_mean_optima_of_the_reference(kind: str) -> None:
    """Figures 3 and 6 at ε = 1, all hundred instances and forms; figures 4 and 7 are their quotients."""
    start = "KL / D(P0||P1):" if kind == "divergence" else "MI / H(X):"
    wanted = next(row for row in _numbers(start, 10) if row[0] == 1.0)
    found = experiment(kind, 6, (1.0,))
    for form, mean in zip(("optimum", "binary", "randomised response", "geometric"), wanted[1:], strict=True):
        assert found.average(form)[0] == pytest.approx(mean, abs=5.1e-6)


@pytest.mark.parametrize("name", QUICK)
def test_made_twice_the_files_are_the_same(name: str, tmp_path: Path) -> None:
    first = FIGURES[name].write(tmp_path / "a")
    again = FIGURES[name].write(tmp_path / "b")
    assert [p.name for p in first] == [p.name for p in again]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    with pytest.raises(ex.errors.FileConflict):
        FIGURES[name].write(tmp_path / "a")
    assert any(p.suffix == ".csv" for p in first)


def test_the_caption_says_when_a_claim_fails() -> None:
    found = Experiment(
        (1.0,),
        {
            "optimum": np.full((100, 1), 1.0),
            "binary": np.array([[0.61]] + [[0.9]] * 99),
            "randomised response": np.full((100, 1), 0.1),
            "geometric": np.full((100, 1), 0.01),
        },
        np.full(100, 2.0),
    )
    assert found.ratio("mixed").min() == pytest.approx(0.61)
    assert found.average("binary")[0] == pytest.approx((0.61 + 99 * 0.9) / 200)
    judged = kov._judged(6, 0.7, found.ratio("mixed").min(axis=1))
    assert judged.startswith(
        "The paper prints at least 70% in all instances for 6 inputs; that does not hold: the worst"
    )
    assert judged.endswith("has 0.610, and 99% of the instances have 70% or more.")
    assert "agrees: 0.756" in kov._judged(6, 0.75, np.array([0.756]))


def test_the_list_and_two_figures_by_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in FIGURES)
    assert main(["reproduce", "gso-examples", "kss-fig1", "-o", str(tmp_path), "--format", "png"]) == 0
    said = capsys.readouterr().out
    assert "Example 3 lists a vector" in said
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "gso-examples-1.csv",
        "gso-examples-2.csv",
        "gso-examples.txt",
        "kss-fig1-invariant.csv",
        "kss-fig1-ordered.csv",
        "kss-fig1.png",
        "kss-fig1.txt",
    ]
    assert main(["reproduce", "gso-examples", "-o", str(tmp_path)]) == 2
    assert "must not exist yet" in capsys.readouterr().err
    assert main(["reproduce", "kov-fig99", "-o", str(tmp_path)]) == 2
    assert "Choose from kov-fig2" in capsys.readouterr().err
    assert main(["reproduce", "--json"]) == 0
    assert '"kov-fig3"' in capsys.readouterr().out
    assert main(["reproduce", "gso-examples", "-o", str(tmp_path), "--overwrite", "--json"]) == 0
    assert "gso-examples-1.csv" in capsys.readouterr().out


def test_examples_are_those_of_the_paper() -> None:
    tables = FIGURES["gso-examples"].make(_silent).tables
    assert [round(tables["1"][f"output {j}"][0], 9) for j in range(1, 5)] == [0.325, 0.225, 0.225, 0.225]
    assert sorted(round(tables["2"][f"output {j}"][0], 9) for j in range(1, 5)) == [0, 0, 0.25, 0.75]


def test_several_hypotheses_and_classes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Few instances and levels: shares of certified optima, and the 0.783 that is known for five tilted answers."""
    for name, value in (("INSTANCES", 2), ("EPSILONS", (0.5, 3.0)), ("COUNTS", (3, 4, 5)), ("RADII", (0.0, 0.3))):
        monkeypatch.setattr(several, name, value)
    made = several.hypotheses(_silent)
    assert made.tables["tilted"]["5 hypotheses"][0] == pytest.approx(0.783, abs=5e-4)
    assert "78.3% with 5" in made.caption
    classes = several.robust(_silent)
    shares = [
        v for t in (made.tables["worst-pair"], made.tables["tilted"], classes.tables["lists"]) for v in _shares(t)
    ]
    shares += [
        v for name, row in classes.tables["balls"].items() if "guar" not in name and name != "radius" for v in row
    ]
    assert len(shares) == 2 * (4 + 3 + 6) + 8
    assert 0 < min(shares) < 0.5 < max(shares) <= 1 + 1e-9
    guaranteed = classes.tables["balls"]["guaranteed, epsilon 4"]
    assert guaranteed[1] < guaranteed[0] == pytest.approx(ex.design(ex.LDP(4), ex.KL(several.P0, several.P1)).value)
    for figure in (made, classes):
        assert figure.draw is not None
        assert [axis.get_xlabel() != "" for axis in figure.draw().axes] == [True, True]


def _shares(table: Columns) -> list[float]:
    return [value for name, column in table.items() if name != "epsilon" for value in column]


def test_delta_on_few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("CASES", 1), ("SMALL", (3, 4)), ("DELTAS", ("0.3", "0.317"))):
        monkeypatch.setattr(beyond, name, value)
    made = beyond.delta(_silent)
    assert max(made.tables["found-by-search"]["gain at epsilon 1.5"]) == pytest.approx(0.0208, abs=5e-4)
    assert "up to 2.1% above it" in made.caption
    assert made.caption.endswith("It is never below.")


@pytest.mark.parametrize("name", FIGURES)
def test_the_page_shows_every_figure_with_its_command(name: str) -> None:
    page = (DOCS / "reference" / "reproduce.md").read_text(encoding="utf-8")
    assert f"`extremal reproduce {name} -o out/`" in page
    assert f"### {FIGURES[name].title}\n" in page
    if name != "gso-examples":
        assert f"![{FIGURES[name].title}](../images/reproduced/{name}.png)" in page
        assert (DOCS / "images" / "reproduced" / f"{name}.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", [*QUICK, "kov-fig2", "kov-fig5", "kov-fig9", "gso-fig4", "gso-examples"])
def test_captions_of_the_page_are_those_that_are_computed(name: str) -> None:
    page = (DOCS / "reference" / "reproduce.md").read_text(encoding="utf-8")
    _, caption, seed = caption_text(FIGURES[name], FIGURES[name].make(_silent)).strip().split("\n\n")
    assert f"{caption} {seed}" in page


def test_tables_as_csv() -> None:
    assert as_csv({"a": [1, 2], "b": [0.1 + 0.2, "x"]}) == "a,b\n1,0.3\n2,x\n"
    table = Figure("t", "T", lambda _: Reproduced("c", {"": {"a": [1]}}))
    assert repr(table) == "Figure(name='t', title='T', seconds=1)"
