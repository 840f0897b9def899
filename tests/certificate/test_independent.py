"""The kernel against the checker that stands alone, written from the pages alone: the same bounds and refusals,
for every proof, reason, notion and goal, also with any numbers in the fields and with parts of several proofs in one.
"""

from __future__ import annotations

import ast
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extremal as ex
import extremal.checker
from extremal.certificate import KINDS
from extremal.checker import ORDER, joined
from extremal.checker.grammar import hash_of
from extremal.checker.numbers import Malformed
from extremal.checker.verdicts import checked
from extremal.errors import MalformedFile
from support.proofs.adversaries import ATTACKS
from support.proofs.comparison import (
    MALFORMED,
    REFUSED,
    Content,
    checker_says,
    disagreement,
    in_decimals,
    kernel_says,
)
from support.proofs.damage import damaged
from support.proofs.examples import Example, P, Q, R, examples, form_of, kinds_of
from support.proofs.lies import varied
from support.proofs.recombination import Recombiner

CHECKER = Path(extremal.checker.__file__).parent
RECOMBINATIONS = 1000
MOST_COMPLEX = 12


def proofs_of_each_form() -> Iterator[tuple[str, Example, Content]]:
    """One proof for each notion and each form."""
    seen = set()
    for example in examples():
        for proof in example.proofs:
            form = form_of(proof)
            notion = "δ" if getattr(example.privacy, "delta", 0) else type(example.privacy).__name__
            if (form, notion) not in seen:
                seen.add((form, notion))
                yield f"{form}, {notion}", example, proof


FORMS = {name: (example, proof) for name, example, proof in proofs_of_each_form()}


def test_both_derive_the_same_bound_from_every_example() -> None:
    for example in examples():
        for proof in example.proofs:
            bound = kernel_says(proof, example.privacy, example.utility)
            assert not isinstance(bound, str), (example.name, bound)
            assert not example.is_undercut(bound), example.name
            assert not disagreement(proof, example.privacy, example.utility), example.name


def test_every_proof_and_every_reason_is_compared() -> None:
    kinds = {kind for _, proof in FORMS.values() for kind in kinds_of(proof)}
    assert kinds == set(KINDS)


@pytest.mark.parametrize("form", FORMS)
def test_both_say_the_same_of_a_proof_with_any_field_damaged(form: str) -> None:
    example, proof = FORMS[form]
    said = set()
    for what, spoiled in damaged(random.Random(form), proof):
        assert not disagreement(spoiled, example.privacy, example.utility), (form, what)
        bound = kernel_says(spoiled, example.privacy, example.utility)
        said.add(bound if isinstance(bound, str) else "a bound")
        assert isinstance(bound, str) or not example.is_undercut(bound), (form, what)
    assert MALFORMED in said
    assert len(said) >= 2


@pytest.mark.parametrize(
    "more",
    [{"nodes": ["1"]}, {"multipliers": [[0, 0, 1, "1"]]}, {"tree": [[0, 1], [1, 2]]}, {"trees": [[-1]] * 5}],
    ids=lambda more: next(iter(more)),
)
def test_both_refuse_trees_of_chords_that_do_not_stand_alone(more: Content) -> None:
    example = next(e for e in examples() if e.name == "trees")
    (proof,) = example.proofs
    assert not isinstance(kernel_says(proof, example.privacy, example.utility), str)
    spoiled = {**proof, "reason": {**proof["reason"], **more}}
    assert kernel_says(spoiled, example.privacy, example.utility) == REFUSED
    assert checker_says(spoiled, example.privacy, example.utility) == REFUSED


def test_a_part_of_weight_0_adds_no_distribution_to_trees_of_chords() -> None:
    privacy, goal = ex.LDP("0.7"), ex.WorstCase([ex.KL(P, Q), ex.KL(P, R)])
    reason: Content = {"kind": "chords", "nodes": [], "multipliers": [], "tree": [], "trees": [[-1], [-1]]}
    proof: Content = {"kind": "dual", "alpha": ["0.02"] * 3, "mix": ["1", "0"], "prices": [], "reason": reason}
    assert not isinstance(kernel_says(proof, privacy, goal), str)
    assert not disagreement(proof, privacy, goal)


def test_both_refuse_a_group_of_leaves_of_different_weight() -> None:
    goal = ex.Average([ex.KL(P, Q), ex.Average([ex.KL(Q, P), ex.KL(P, R)])])
    inner: Content = {"kind": "order", "value": "1", "ends": ["1"], "mix": []}
    for groups, refused in (([0, 0, 1], True), ([0, 1, 2], False)):
        proof: Content = {"kind": "groups", "groups": groups, "proofs": [inner] * (max(groups) + 1)}
        said = kernel_says(proof, ex.LDP(1), goal), checker_says(proof, ex.LDP(1), goal)
        assert (said == (REFUSED, REFUSED)) == refused


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_both_say_the_same_of_lies(attack: Any) -> None:
    told = 0
    for seed in range(12):
        generator = np.random.default_rng([3, seed])
        for lie in varied(generator, attack(generator), 2):
            content = in_decimals(lie.proof.to_json())
            assert not disagreement(content, lie.privacy, lie.utility), (seed, content)
            told += 1
    assert told >= 12


@pytest.mark.slow
def test_both_say_the_same_of_recombined_proofs() -> None:
    recombiner = Recombiner(examples(), 17)
    for _ in range(RECOMBINATIONS):
        tried = recombiner.next()
        assert not disagreement(tried.proof, tried.about.privacy, tried.about.utility), (tried.about.name, tried.proof)


def test_a_disagreement_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    example, proof = next(iter(FORMS.values()))
    bound = checker_says(proof, example.privacy, example.utility)
    for other in ("refused", bound * (1 + 1e-6) if not isinstance(bound, str) else "malformed", float("inf")):
        monkeypatch.setattr("support.proofs.comparison.checker_says", lambda *_, other=other: other)
        assert disagreement(proof, example.privacy, example.utility)


def test_both_accept_every_file_of_a_design() -> None:
    for example in (e for e in examples() if e.certificate is not None):
        said = checked(json.dumps(example.certificate).encode())
        assert (said.privacy, said.value, said.optimality, said.code) == ("proved", "proved", "proved", 0), example.name


WRONG: dict[str, Any] = {
    "value": lambda file: file | {"value": repr(float(file["value"]) * 1.01)},
    "bound": lambda file: file | {"bound": repr(float(file["bound"]) * 0.99)},
    "a proof": lambda file: file | {"proofs": [{**file["proofs"][0], "alpha": ["0", "0"]}]},
    "privacy": lambda file: file | {"mechanism": with_hash(file["mechanism"] | {"privacy": NARROW})},
}
NARROW = {"notion": "LDP", "epsilon": "0.69", "delta": "0"}


def with_hash(content: Content) -> Content:
    return content | {"hash": hash_of(content)}


@pytest.mark.parametrize("what", WRONG)
def test_both_refute_a_file_with_something_wrong(what: str, tmp_path: Path) -> None:
    design = ex.design(ex.LDP("0.7"), ex.Average([ex.KL(P, Q), ex.KL(P, R)]))
    file = with_hash(WRONG[what](design.certificate.to_json()))
    text = json.dumps(file).encode()
    (tmp_path / "file").write_bytes(text)
    assert checked(text).code == 1
    assert not ex.verify(tmp_path / "file")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1],
        lambda text: text.replace(b'"version"', b'"format"', 1),
        lambda text: text.replace(b'"1.0"', b"1.0"),
        lambda text: text.replace(b'"0.7"', b'"0.8"'),
        lambda text: text.replace(b'{"range": 3}', b'{"range": 9007199254740993}'),
        lambda text: b"[" * 5000 + text,
        lambda text: text.replace(b'"kind"', b'"kind\xff"', 1),
    ],
)
def test_both_call_a_spoiled_file_malformed(spoil: Any, tmp_path: Path) -> None:
    design = ex.design(ex.LDP("0.7"), ex.KL(P, Q))
    text = json.dumps(design.certificate.to_json()).encode()
    assert checked(text).code == 0
    (tmp_path / "file").write_bytes(spoil(text))
    with pytest.raises(Malformed):
        checked(spoil(text))
    with pytest.raises(MalformedFile):
        ex.verify(tmp_path / "file")


def test_a_row_that_adds_up_to_too_much_is_malformed() -> None:
    file = ex.design(ex.PML("0.6", P), ex.KL(P, Q)).certificate.to_json()
    rows = file["mechanism"]["weights"]["rows"]
    rows[0][0] = str(int(rows[0][0]) + 1)
    file["mechanism"] = with_hash(file["mechanism"])
    with pytest.raises(Malformed, match="sums to"):
        checked(json.dumps(with_hash(file)).encode())


def test_the_checker_stands_alone() -> None:
    """It imports the standard library and itself; no function of it is hard to follow."""
    for name in ORDER:
        tree = ast.parse((CHECKER / f"{name}.py").read_text(encoding="utf-8"))
        before = {f"extremal.checker.{other}" for other in ORDER[: ORDER.index(name)]}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names), name
            elif isinstance(node, ast.ImportFrom):
                assert node.module in before or str(node.module).split(".")[0] in sys.stdlib_module_names, name
            elif isinstance(node, ast.FunctionDef):
                assert _complexity(node) <= MOST_COMPLEX, (name, node.name)


def test_the_modules_make_one_file() -> None:
    """Names are given once, all lines are there, and what the file decides is what the modules decide."""
    assert {path.stem for path in CHECKER.glob("*.py")} == {"__init__", *ORDER}
    tree = ast.parse(joined())
    given = [name for node in tree.body for name in _names_given(node)]
    assert len(given) == len(set(given)), [name for name in given if given.count(name) > 1]
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and str(n.module).startswith("extremal")]


def _names_given(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [n.id for target in targets if target is not None for n in ast.walk(target) if isinstance(n, ast.Name)]


def _complexity(function: ast.FunctionDef) -> int:
    branches = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension)
    nodes = list(ast.walk(function))
    words = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    conditions = sum(len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    return 1 + words + conditions + sum(isinstance(node, branches) for node in nodes)
