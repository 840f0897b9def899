"""`design`: what it refuses, what a design says of itself, what it stores."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal import progress
from extremal.optimize.design import level_of
from extremal.optimize.dust import without_dust
from extremal.optimize.problem import Problem, Solution


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ex.design(1, ex.KL([0.5, 0.5], [0.2, 0.8])), "design takes a privacy notion and a goal"),
        (lambda: ex.design(ex.LDP(1), 1), "design takes a privacy notion and a goal"),
        (
            lambda: ex.design(ex.PML(1, [0.2, 0.3, 0.5]), ex.KL([0.5, 0.5], [0.2, 0.8])),
            "privacy and utility must be about the same inputs: 3 and 2",
        ),
        (
            lambda: ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]), tolerance=0),
            "tolerance must lie between 0 and 1",
        ),
        (
            lambda: ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]), time_limit=-1),
            "time_limit must be positive seconds",
        ),
        (
            lambda: ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]), time_limit="1"),  # type: ignore[arg-type]
            "time_limit must be positive seconds; got time_limit='1'",
        ),
        (lambda: ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]), max_outputs=0), "max_outputs must be at least 1"),
        (lambda: ex.design(ex.LDP(1), ex.Sublinear(17, lambda c: c.max(axis=0))), "for at most 16 inputs; got k=17"),
        (lambda: ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.2, 0.8]), inputs=["a"]), "inputs must have 2 labels"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match=message):
        call()


def test_summary_and_files(tmp_path: Path) -> None:
    found = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), inputs=["a", "b", "c"])
    text = found.summary()
    for word in (
        "Design: KL under LDP(epsilon=1.0); 3 inputs",
        "optimal (proved exactly)",
        "privacy       ε = 1.0, verified exactly",
        "reports       2",
        "closed forms reach these shares of the optimum: binary 1",
    ):
        assert word in text
    path = found.save(tmp_path / "m.json")
    assert ex.load(path) == found.mechanism
    assert ex.verify(path)
    outcome = ex.verify(tmp_path / "m.certificate.json")
    assert outcome.optimality == "proved"
    stored = (tmp_path / "m.certificate.json").read_text()
    (tmp_path / "m.certificate.json").write_text(stored.replace('"value":"0.', '"value":"1.'))
    with pytest.raises(ex.errors.MalformedFile, match="must match its hash"):
        ex.verify(tmp_path / "m.certificate.json")
    assert "Design(KL=" in repr(found)


def test_a_combination_that_nobody_solves_is_refused() -> None:
    with pytest.raises(ex.errors.TooLarge, match="designs with delta > 0 are for at most 40 inputs"):
        ex.design(ex.LDP(1, 0.1), ex.KL([0.02] * 50, [0.51, *[0.01] * 49]))
    with pytest.raises(
        ex.errors.InvalidParameter, match="no method is known for MutualInformation under LDP with max_outputs"
    ):
        ex.design(ex.LDP(1), ex.MutualInformation([0.5, 0.5]), max_outputs=2)


def test_remarks_are_made_when_they_are_asked_for() -> None:
    found = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]))
    assert not isinstance(found.remarks[-1], str)
    assert found.notes[-1] == found.remarks[-1].sentence()
    (about_shares,) = ex.design(ex.LDP(1), ex.KL([0.5, 0.5], [0.5, 0.5])).notes
    assert about_shares.startswith("shares")


P, Q = np.random.default_rng(4).dirichlet(np.ones(17), 2)
FEW_STATISTICS = np.random.default_rng(4).normal(size=(3, 17))


@pytest.mark.parametrize(
    ("notion", "goal"),
    [
        (ex.LDP(30), ex.Workload(FEW_STATISTICS, P)),  # a matrix inequality
        (ex.LDP(30, 0.001), ex.MutualInformation(P)),  # what δ adds to columns cut off
        (ex.PML(9, ex.SourceClass.ball(P, 0.02)), ex.MutualInformation(Q)),  # one prior of a class
    ],
)
def test_no_bound_says_less_than_the_inputs_themselves(notion: Any, goal: Any) -> None:
    found, alone = ex.design(notion, goal), goal(np.eye(17))
    assert ex.verify(found)
    assert found.lower_bound >= alone * (1 - 1e-11) if goal.is_cost else found.upper_bound <= alone * (1 + 1e-11)


def test_a_workload_over_a_class_is_bounded_at_its_worst_prior() -> None:
    goal = ex.Workload(FEW_STATISTICS, ex.SourceClass.ball(P, 0.02))
    found = ex.design(ex.LDP(30), goal)
    assert ex.verify(found)
    assert found.lower_bound >= goal(np.eye(17)) * (1 - 1e-6)


def test_the_summary_of_a_users_function_claims_no_proof() -> None:
    pair = ([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
    d = ex.design(ex.LDP(1), ex.FDivergence(*pair, lambda x: (x - 1) ** 2 / (x + 1)))
    assert "in floating point" in d.summary()
    assert "proven optimal" not in d.summary()
    assert "proven optimal here" in ex.design(ex.LDP(1), ex.KL(*pair)).summary()


def test_a_search_that_is_stopped_says_how_to_go_on() -> None:
    stopped = ex.design(ex.LDP(1), ex.CDF(24), time_limit=0.01)
    assert "time_limit=0.01 seconds" in stopped.summary()
    assert stopped.gap > 1e-9
    assert ex.verify(stopped)
    assert "time_limit" not in ex.design(ex.LDP(1), ex.CDF(4)).summary()


def test_reports_are_limited_by_their_bits() -> None:
    few = ex.design(ex.LDP(1), ex.CDF(7), report_bits=3)
    assert few.mechanism.m <= 8
    assert few.value > ex.design(ex.LDP(1), ex.CDF(7), report_bits=200).value
    with pytest.raises(ex.errors.InvalidParameter, match="either max_outputs or report_bits"):
        ex.design(ex.LDP(1), ex.CDF(7), max_outputs=8, report_bits=3)
    assert ex.design(ex.LDP(1), ex.Frequencies(20), report_bits=5).mechanism.m <= 32
    with pytest.raises(ex.errors.InvalidParameter, match=r"has 20 reports.*report_bits=5"):
        ex.design(ex.LDP(1), ex.Frequencies(20), report_bits=4)
    with pytest.raises(ex.errors.InvalidParameter, match=r"at most 4096 inputs.*ex.projective_geometry"):
        ex.Frequencies(5000)


def test_a_mixture_with_fewer_reports_says_what_they_cost() -> None:
    few = ex.design(ex.LDP(1), ex.CDF(40), report_bits=8, tolerance=0.5, time_limit=1)
    assert few.mechanism.m <= 256
    said = next(note for note in few.notes if note.startswith("fewer reports cost"))
    assert float(said.split("about ")[1].split("%")[0]) > 0
    assert int(said.split("had ")[1].replace(",", "")) > 256


def test_a_terminal_sees_a_line_after_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for patience, shown in ((1e9, False), (-1.0, True)):
        seen = Terminal()
        monkeypatch.setattr(progress.sys, "stderr", seen)
        monkeypatch.setattr(sys.modules["extremal.optimize.design"], "PATIENCE", patience)
        ex.design(ex.LDP(1), ex.CDF(40), tolerance=0.5, time_limit=1)
        assert ("gap" in seen.getvalue()) is shown


def test_a_level_that_would_need_too_long_a_list_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ex.design(ex.LDP(1, delta=1e-6), ex.CDF(4))
    assert f"ε = {level_of(found.mechanism)!r}, verified exactly" in found.summary()

    def too_long(*_: object) -> float:
        raise ex.errors.TooLarge("too long a list", parameter="m", value=1)

    monkeypatch.setattr(ex.LDP, "level", too_long)
    assert level_of(found.mechanism) is None
    assert "LDP(epsilon=1.0, delta=1e-06), verified exactly" in found.summary()


class TestDust:
    """Reports of next to no probability are folded into others, unless they are worth something."""

    def _folded(self, matrix: Any, utility: Any, **given: Any) -> ex.Mechanism:
        made = ex.Mechanism.from_matrix(matrix, ex.LDP(1), **given)
        return without_dust(Problem(ex.LDP(1), utility), Solution(made, 0.0, "")).mechanism

    def test_it_takes_the_name_of_the_report_that_it_is_most_like(self) -> None:
        rare = 2.0**-40
        matrix = np.array([[0.6, 0.4 - 2 * rare, 2 * rare], [0.4, 0.6 - rare, rare]])
        given = {"inputs": ["a", "b"], "outputs": ["first", "second", "never"]}
        found = self._folded(matrix, ex.KL([0.5, 0.5], [0.2, 0.8]), **given)
        assert (found.outputs, found.inputs, found.privacy) == (("first", "second"), ("a", "b"), ex.LDP(1))
        whole = ex.Mechanism.from_matrix(matrix, ex.LDP(1)).weights
        assert (found.weights == np.column_stack([whole[:, 0] + whole[:, 2], whole[:, 1]])).all()

    def test_it_stays_where_it_is_all_that_tells_something(self) -> None:
        rare = 2.0**-40
        matrix = np.array([[1 - 2 * rare, 2 * rare], [1 - rare, rare]])
        assert self._folded(matrix, ex.KL([0.5, 0.5], [0.2, 0.8])).m == 2
        assert self._folded(matrix, ex.KL([0.5, 0.5], [0.5, 0.5])).m == 1

    def test_designs_have_none(self) -> None:
        nothing = ex.design(ex.LDP(2, 1e-12), ex.Average([ex.KL([0.25] * 4, [0.25] * 4)] * 2))
        prior, row = np.random.default_rng(64).dirichlet(np.full(9, 0.3)), np.random.default_rng(0).normal(size=9)
        rank_one = ex.design(ex.LDP(8), ex.Workload(np.outer([1.0, 2.0], row), prior.tolist()))
        for design in (nothing, rank_one):
            assert design.mechanism.matrix.max(axis=0).min() >= 1e-9
            assert ex.verify(design)
        assert rank_one.gap < 1e-9
