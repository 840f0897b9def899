"""Every long figure made small: its tables against a linear program over all 2^k patterns and formulas written here."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import extremal as ex
from extremal.reproduce import FIGURES, beyond, instances, kov, several
from extremal.reproduce.figure import Columns

Tables = dict[str, Columns]
LEVELS = (1.0, 2.0)
CLOSE = 2e-7  # relative: what a linear program in floats has


def _silent(_: float) -> None:
    return None


def _xlog(x: Any, ratio: Any) -> Any:
    return np.where(x > 0, x * np.log(np.where(x > 0, ratio, 1.0)), 0.0)


def _divergence(p0: Any, p1: Any) -> Callable[[Any], Any]:
    """Σ_y of each column, for columns of one row per input."""
    return lambda q: _xlog(np.asarray(p0) @ q, (np.asarray(p0) @ q) / (np.asarray(p1) @ q))


def _information(p: Any) -> Callable[[Any], Any]:
    return lambda q: (np.asarray(p)[:, None] * _xlog(q, q / (np.asarray(p) @ q))).sum(axis=0)


def _best(worth: Callable[[Any], Any], k: int, epsilon: float) -> float:
    """The largest Σ_j θ_j·worth(s_j) with Σ θ_j s_j = 1, over all patterns s_j of 1 and e^ε (KOV, Theorem 4)."""
    patterns = np.exp(epsilon * np.array(list(itertools.product((0, 1), repeat=k)), dtype=float)).T
    found = linprog(-worth(patterns), A_eq=patterns, b_eq=np.ones(k), method="highs-ds")
    return float(-found.fun)


def _response(k: int, epsilon: float) -> Any:
    return (np.ones((k, k)) + np.expm1(epsilon) * np.eye(k)) / (np.exp(epsilon) + k - 1)


def _one_bit(members: Any, epsilon: float) -> Any:
    inside = np.where(np.asarray(members), np.exp(epsilon), 1.0) / (1 + np.exp(epsilon))
    return np.column_stack([inside, 1 - inside])


def _forms(kind: str, k: int, epsilon: float, p0: Any, p1: Any) -> tuple[float, float, float]:
    """The optimum, one bit, and randomised response."""
    worth = _divergence(p0, p1) if kind == "divergence" else _information(p0)
    if kind == "divergence":
        bit = float(worth(_one_bit(np.asarray(p0) >= np.asarray(p1), epsilon)).sum())
    else:
        sets = list(itertools.product((0, 1), repeat=k))
        most = min(sets, key=lambda s: abs(float(np.dot(s, p0)) - 0.5))
        bit = float(worth(_one_bit(most, epsilon)).sum())
    return _best(worth, k, epsilon), bit, float(worth(_response(k, epsilon)).sum())


def _few(kind: str, k: int, progress: Any = _silent) -> instances.Experiment:
    return instances.experiment(kind, k, LEVELS, count=2, progress=progress)


@pytest.mark.parametrize("name", ["kov-fig3", "kov-fig4", "kov-fig6", "kov-fig7"])
def test_experiments(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kov, "experiment", _few)
    monkeypatch.setattr(kov, "SIZES", (3, 6, 12))
    kind = "divergence" if name in ("kov-fig3", "kov-fig4") else "information"
    k = 6 if name in ("kov-fig3", "kov-fig6") else 3
    tables = FIGURES[name].make(_silent).tables
    found = np.array([[_forms(kind, k, e, p0, p1) for e in LEVELS] for p0, p1 in instances.pairs(k, count=2)])
    best, bit, response = np.moveaxis(found, -1, 0)
    if k == 3:
        mixed = np.maximum(bit, response) / best
        assert tables["curves"]["k=3 worst"] == pytest.approx(mixed.min(axis=0), rel=CLOSE)
        assert tables["curves"]["k=3 mean"] == pytest.approx(mixed.mean(axis=0), rel=CLOSE)
        assert tables["summary"]["binary"][0] == pytest.approx((bit / best).min(), rel=CLOSE)
        return
    whole = [
        float((_divergence(p0, p1) if kind == "divergence" else _information(p0))(np.eye(k)).sum())
        for p0, p1 in instances.pairs(k, count=2)
    ]
    assert tables["mean"]["optimum"] == pytest.approx((best.T / whole).mean(axis=1), rel=CLOSE)
    assert tables["worst"]["binary"] == pytest.approx((bit / best).min(axis=0), rel=CLOSE)
    assert tables["worst"]["randomised response"] == pytest.approx((response / best).min(axis=0), rel=CLOSE)


@pytest.mark.parametrize("kind", ["divergence", "information"])
def test_large_alphabets(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beyond, "LARGE", (4, 5))
    monkeypatch.setattr(beyond, "EPSILONS", (*LEVELS, 3.0))
    tables = FIGURES[f"beyond-{kind}"].make(_silent).tables
    for k in (4, 5):
        p0, p1 = instances.pairs(k, count=1)[0]
        for i, epsilon in enumerate(LEVELS):
            best, bit, response = _forms(kind, k, epsilon, p0, p1)
            table = tables[f"{k}-inputs"]
            assert table["optimum"][i] == pytest.approx(best, rel=1e-6)
            assert table["binary"][i] == pytest.approx(bit, rel=CLOSE)
            assert table["randomised response"][i] == pytest.approx(response, rel=CLOSE)
            assert table["better of two"][i] == pytest.approx(max(bit, response), rel=CLOSE)


def _squares(matrix: Any, p: Any, wanted: Any) -> float:
    """n times the mean squared error of the best linear estimate of wanted·p: tr A·P·J⁻¹·(A·P)ᵀ, J = Σ qqᵀ/(p·q)."""
    information = (matrix / (p @ matrix)) @ matrix.T
    moved = wanted @ (np.eye(len(p)) - np.outer(p, np.ones(len(p))))
    return float(np.trace(moved @ np.linalg.solve(information, moved.T)))


def test_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beyond, "GOAL_EPSILONS", (1.0,))
    tables = FIGURES["beyond-goals"].make(_silent).tables
    p = np.arange(1, 11) ** -1.5
    p /= p.sum()
    subsets = [set(s) for s in itertools.combinations(range(10), 3)]
    sets = np.array([[np.e if x in s else 1.0 for s in subsets] for x in range(10)])
    sets /= sets.sum(axis=1, keepdims=True)
    for name, goal, wanted in (
        ("shares", ex.Frequencies(p.tolist()), np.eye(10)),
        ("cumulative-shares", ex.CDF(p.tolist()), np.tri(10)[:-1]),
    ):
        found = _squares(ex.design(ex.LDP(1), goal).mechanism.matrix, p, wanted)
        assert tables[name]["optimum"][0] == pytest.approx(found, rel=CLOSE)
        assert tables[name]["subset selection"][0] == pytest.approx(_squares(sets, p, wanted), rel=CLOSE)
        assert tables[name]["randomised response"][0] == pytest.approx(
            _squares(_response(10, 1.0), p, wanted), rel=CLOSE
        )


def test_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("CASES", 1), ("SMALL", (3,)), ("DELTAS", ("0.3",)), ("DELTA_EPSILONS", ("1.5",))):
        monkeypatch.setattr(beyond, name, value)
    gain = FIGURES["beyond-delta"].make(_silent).tables["found-by-search"]["gain at epsilon 1.5"][0]
    p0, p1 = (np.array(p, dtype=float) for p in beyond.HARDEST)
    worth = _divergence(p0, p1)
    plain, best = (
        ex.design(ex.LDP(*level), ex.KL(*beyond.HARDEST)).mechanism.matrix for level in (("1.5",), ("1.5", "0.3"))
    )
    assert worth(plain).sum() == pytest.approx(_best(worth, 3, 1.5), rel=CLOSE)
    revealing = 0.7 * worth(plain).sum() + 0.3 * worth(np.eye(3)).sum()
    assert gain == pytest.approx(worth(best).sum() / revealing - 1, rel=1e-6)


def test_hypotheses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("INSTANCES", 1), ("EPSILONS", (0.5,)), ("COUNTS", (3, 4))):
        monkeypatch.setattr(several, name, value)
    tables = FIGURES["beyond-hypotheses"].make(_silent).tables
    for m in (3, 4):
        given = [0.5 / m + 0.5 * np.eye(m)[i] for i in range(m)]
        pairs = list(itertools.permutations(given, 2))

        def worth(q: Any, pairs: Any = pairs) -> Any:
            return np.mean([_divergence(a, b)(q) for a, b in pairs], axis=0)

        share = worth(_response(m, 0.5)).sum() / _best(worth, m, 0.5)
        assert tables["tilted"][f"{m} hypotheses"][0] == pytest.approx(share, rel=CLOSE)


def test_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("INSTANCES", 1), ("EPSILONS", (0.5,)), ("RADII", (0.0,))):
        monkeypatch.setattr(several, name, value)
    balls = FIGURES["beyond-robust"].make(_silent).tables["balls"]
    worth = _divergence(*(np.array(p, dtype=float) for p in (several.P0, several.P1)))
    for epsilon in several.LEVELS:
        best = _best(worth, 6, epsilon)
        assert balls[f"guaranteed, epsilon {epsilon:g}"][0] == pytest.approx(best, rel=CLOSE)
        share = worth(_response(6, epsilon)).sum() / best
        assert balls[f"randomised response, epsilon {epsilon:g}"][0] == pytest.approx(share, rel=CLOSE)
