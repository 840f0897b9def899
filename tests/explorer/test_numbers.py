"""Every number of the explorer is the package's: a thousand random states in Node, and the same in Python."""

import itertools
import json
import random
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
from extremal.closed_forms import (
    geometric,
    local_hashing,
    randomized_response,
    subset_selection,
    unary_encoding,
)
from extremal.exact.numbers import decimal_text
from extremal.explorer import table
from extremal.mechanism.files import to_json
from extremal.optimize.workload.notes import half_width
from extremal.questionnaire.budget import NORMAL_95
from extremal.studies.planning.widths import AtWorst, PlainAtWorst

HERE = Path(__file__).parent
PRECISION = 1e-9
USED: dict[str, Callable[[int, str], ex.Mechanism]] = {
    "response": randomized_response,
    "unary": unary_encoding,
    "symmetricUnary": lambda k, e: unary_encoding(k, e, optimised=False),
    "hashing": local_hashing,
}
Pair = tuple[list[Any], Any]  # a call of numbers.js, and what the package says


def _mechanism(name: str, k: int, epsilon: str) -> ex.Mechanism:
    return ex.plan(k=k, epsilon=epsilon, n=100).mechanism if name == "best" else USED[name](k, epsilon)


def _level(draw: random.Random) -> str:
    return decimal_text(Fraction(draw.randint(5, 1000), 100))


def half_widths(draw: random.Random) -> Pair:
    name, k = draw.choice(["best", "plain", *USED]), draw.choice([2, 3, 4, 5, 8, 12, 30, 100])
    epsilon, n, level = _level(draw), round(10 ** draw.uniform(1, 6)), draw.choice([0.9, 0.95, 0.99])
    widths = PlainAtWorst(0, level) if name == "plain" else AtWorst(_mechanism(name, k, epsilon), level)
    return ["halfWidth", name, k, float(epsilon), n, level], widths.at(n).half_width


def people(draw: random.Random) -> Pair:
    name, k, epsilon = draw.choice(["best", *USED]), draw.choice([2, 4, 7]), _level(draw)
    wanted = draw.choice([0.02, 0.03, 0.05, 0.1])
    found = ex.plan(_mechanism(name, k, epsilon), half_width=wanted)
    return ["people", name, k, float(epsilon), wanted, 0.95], found.n


def levels(draw: random.Random) -> Pair:
    k, n, wanted = draw.choice([2, 4, 7]), draw.choice([1500, 4000, 10000]), draw.choice([0.03, 0.05])
    return ["epsilonFor", k, n, wanted, 0.95], ex.plan(k=k, n=n, half_width=wanted).epsilon


def beliefs(draw: random.Random) -> Pair:
    epsilon, before = _level(draw), Fraction(draw.randint(1, 99), 100)
    found = randomized_response(2, epsilon).explain(prior=[before, 1 - before]).beliefs[0]
    return ["beliefs", float(before), float(epsilon)], {"least": float(found.least), "most": float(found.most)}


def tables(draw: random.Random) -> Pair:
    kind, k, epsilon = draw.choice(["response", "subsets", "geometric"]), draw.randint(2, 6), _level(draw)
    make = {"response": randomized_response, "subsets": subset_selection, "geometric": geometric}[kind]
    m = make(k, epsilon)
    reports = [list(y) if isinstance(y, tuple) else [y] for y in m.outputs]
    return ["table", kind, k, float(epsilon)], {"reports": reports, "matrix": m.matrix.tolist()}


def posteriors(draw: random.Random) -> Pair:
    k = draw.randint(2, 6)
    prior, matrix = np.array([draw.random() + 0.01 for _ in range(k)]), geometric(k, _level(draw)).matrix
    y = draw.randrange(k)
    after = prior * matrix[:, y]
    return ["posterior", prior.tolist(), matrix.tolist(), y], (after / after.sum()).tolist()


def estimates(draw: random.Random) -> Pair:
    epsilon, counts = _level(draw), [draw.randint(1, 300) for _ in range(draw.choice([2, 3, 5]))]
    m = randomized_response(len(counts), epsilon)
    found = ex.estimate_frequencies([x for x, c in enumerate(counts) for _ in range(c)], m)
    answer = {"unbiased": found.estimate, "intervals": found.interval(0.95)}
    return ["estimate", counts, float(epsilon), 0.95], {name: value.tolist() for name, value in answer.items()}


def strategies(draw: random.Random) -> Pair:
    count, k, epsilon = draw.randint(2, 8), draw.randint(2, 6), decimal_text(Fraction(draw.randint(5, 80), 10))
    asked = ex.Questionnaire.within(epsilon, {f"q{i}": k for i in range(count)})
    assert asked.budget is not None
    found = asked.budget.costs
    wanted = [{"name": n, "asked": found[n].asked, "variance": found[n].worst} for n in ("joint", "sample", "split")]
    return ["strategies", count, k, float(epsilon)], wanted


def fakes(draw: random.Random) -> Pair:
    epsilon, counts, fake = _level(draw), [draw.randint(1, 300) for _ in range(4)], draw.uniform(0.001, 0.4)
    m = randomized_response(4, epsilon)
    found = ex.estimate_frequencies([x for x, c in enumerate(counts) for _ in range(c)], m)
    return ["poisoning", float(found.estimate[1]), fake, 4, float(epsilon)], found.poisoning(fake)[1].tolist()


def repeats(draw: random.Random) -> Pair:
    level, times, before = draw.randint(1, 30), draw.randint(1, 12), Fraction(draw.randint(1, 99), 100)
    epsilon, total = Fraction(level, 10), Fraction(level * times, 10)
    asked = ex.Questionnaire({f"time {i}": randomized_response(2, epsilon) for i in range(times)})
    found = randomized_response(2, total).explain(prior=[before, 1 - before]).beliefs[0]
    answer = {"epsilon": float(asked.epsilon), "least": float(found.least), "most": float(found.most)}
    return ["askedAgain", float(epsilon), times, float(before)], answer


def leakages(draw: random.Random) -> Pair:
    epsilon, share = _level(draw), Fraction(draw.randint(1, 99), 100)
    notion = ex.PML(epsilon, [Fraction(1, 2), Fraction(1, 2)])
    found = notion.level(randomized_response(2, epsilon), [share, 1 - share])
    return ["leakage", [float(share), float(1 - share)], float(epsilon)], found


def means(draw: random.Random) -> Pair:
    value, n = draw.uniform(1, 100), 1000
    return ["meanHalfWidth", value, n], half_width(ex.Mean(range(5)), value, n)


def people_for_means(draw: random.Random) -> Pair:
    """What `ex.compare(…).respondents()` prints, the other way round: as many people reach it, and one fewer do not."""
    value, wanted = draw.uniform(0.5, 100), draw.choice([0.09, 0.2, 0.5])
    n = next(m for m in itertools.count(1) if half_width(ex.Mean(range(5)), value, m) <= wanted * (1 + 1e-12))
    return ["meanPeople", value, wanted], n


def normal_widths(draw: random.Random) -> Pair:
    variance, n = draw.uniform(0.1, 50), draw.randint(10, 10**6)
    return ["normalHalfWidth", variance, n], NORMAL_95 * (variance / n) ** 0.5


def plain_means(draw: random.Random) -> Pair:
    k = draw.randint(3, 11)
    return ["plainMeanCost", k], ex.Mean(range(k))(np.eye(k))


STATES = {
    half_widths: 230,
    people: 40,
    levels: 10,
    beliefs: 100,
    tables: 100,
    posteriors: 100,
    estimates: 100,
    strategies: 60,
    fakes: 80,
    repeats: 60,
    leakages: 60,
    means: 20,
    people_for_means: 10,
    normal_widths: 20,
    plain_means: 10,
}


def _in_node(node: list[str], calls: list[list[Any]]) -> list[Any]:
    lines = "".join(f"{json.dumps(call)}\n" for call in calls)
    done = subprocess.run(
        [*node, str(HERE / "states.mjs")], input=lines, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _differ(left: Any, right: Any) -> bool:
    if isinstance(right, dict):
        return any(_differ(left[name], value) for name, value in right.items())
    if isinstance(right, (list, tuple)):
        return len(left) != len(right) or any(_differ(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(right, str):
        return bool(left != right)
    return bool(abs(left - right) > PRECISION * max(1.0, abs(right)))


def test_a_thousand_states_are_the_packages(node: list[str]) -> None:
    draw = random.Random(20)
    pairs = [make(draw) for make, times in STATES.items() for _ in range(times)]
    assert len(pairs) == 1000
    answers = _in_node(node, [call for call, _ in pairs])
    wrong = [(call, got, said) for (call, said), got in zip(pairs, answers, strict=True) if _differ(got, said)]
    assert not wrong, wrong[:5]


def test_a_number_that_is_off_is_seen(node: list[str]) -> None:
    call, said = half_widths(random.Random(1))
    (got,) = _in_node(node, [call])
    assert not _differ(got, said)
    assert _differ(got + 2e-9, said)


@pytest.mark.parametrize("epsilon", ["1", "0.25", "2.5", "7"])
def test_downloaded_mechanisms_are_those_of_the_package(node: list[str], tmp_path: Path, epsilon: str) -> None:
    buckets = local_hashing(5, epsilon).structure.to_json()["buckets"]
    calls = [["mechanismFile", kind, 5, epsilon, p] for kind, p in zip(USED, (1, 1, 1, buckets), strict=True)]
    for (_, kind, k, *_), text in zip(calls, _in_node(node, calls), strict=True):
        path = tmp_path / f"{kind}.json"
        path.write_text(text, encoding="utf-8")
        assert to_json(ex.load(path)) == to_json(USED[kind](k, epsilon))
        assert ex.verify(path)


@pytest.mark.parametrize(("k", "size"), [(4, 1), (4, 2), (6, 2), (30, 8)])
def test_downloaded_subset_selection_is_that_of_the_package(node: list[str], tmp_path: Path, k: int, size: int) -> None:
    path = tmp_path / "mechanism.json"
    path.write_text(*_in_node(node, [["mechanismFile", "subsets", k, "0.5", size]]), encoding="utf-8")
    usual = randomized_response(k, "0.5") if size == 1 else subset_selection(k, "0.5", size)
    assert ex.verify(path)
    assert ex.load(path).hash == usual.hash


def test_the_table_is_what_the_package_computes() -> None:
    text = (HERE.parents[1] / "src" / "extremal" / "explorer" / "table.js").read_text(encoding="utf-8")
    held = json.loads(text[text.index("{") : text.rindex("}") + 1])
    draw = random.Random(4)
    grid = held["means"]
    for _ in range(6):
        i, j = draw.randrange(len(grid["answers"])), draw.randrange(len(grid["epsilons"]))
        for name, value in table.mean_costs(grid["answers"][i], grid["epsilons"][j]).items():
            assert grid["costs"][name][i][j] == pytest.approx(value, rel=PRECISION)
    shuffles = held["shuffled"]
    assert [len(shuffles[name]) for name in ("answers", "epsilons", "people", "deltas")] == [3, 5, 4, 2]
    found = table.central(shuffles["answers"][0], shuffles["epsilons"][1], shuffles["people"][0], "1e-6")
    assert shuffles["central"][0][1][0][0] == pytest.approx(found, rel=PRECISION)
