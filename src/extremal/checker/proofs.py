"""Proofs (§6): their grammar, and the bound that each derives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from extremal.checker.compact import concave, order
from extremal.checker.goals import (
    DistortionGoal,
    Gain,
    Goal,
    LeastLevel,
    QuestionShares,
    QuestionTables,
    StatisticsGoal,
)
from extremal.checker.grammar import count, entries, flag, list_of, number, whole
from extremal.checker.notions import ClassLifted, LeakageSum, Lifted, Local, Notion, given_ratio, is_coupled
from extremal.checker.numbers import INFINITE, ZERO, Bound, Vector, afford, dot, expect, ln, of_kind, require, total
from extremal.checker.questions import agreements, yes_no
from extremal.checker.reasons import of_gain, outputs
from extremal.checker.sources import Source
from extremal.checker.squares import of_squares

Proof = dict[str, Any]

# -- the grammar --

NUMBERS, COUNTS, WHOLES = list_of(number), list_of(count), list_of(whole)
TREES, TABLE, PAIRS = list_of(COUNTS), list_of(WHOLES), list_of(entries(count, count))
MULTIPLIERS = list_of(entries(count, count, count, number))
PRICES, LINES = list_of(entries(count, count, number)), list_of(entries(number, number))
MOST_PROOFS = 30  # a third of the proofs that one file may have, nested ones included
DEEPEST = 3  # objects below a proof of the list
INNER, REASON, INNER_PROOFS = "a proof", "a reason", "proofs"
Fields = dict[str, Callable[[Any], Any] | str]

PROOFS: dict[str, Fields] = {
    "dual": {"alpha": NUMBERS, "mix": NUMBERS, "prices": PRICES, "reason": REASON},
    "squares": {"z": TABLE, "diagonal": WHOLES, "classes": COUNTS, "merged": COUNTS, "dual": INNER},
    "order": {"mix": NUMBERS, "value": number, "ends": NUMBERS},
    "concave": {"value": number, "lines": LINES},
    "one prior": {"prior": NUMBERS, "mix": NUMBERS, "proof": INNER},
    "groups": {"groups": COUNTS, "proofs": INNER_PROOFS},
    "level": {"ratio": number, "proof": INNER},
    "agreements": {"sizes": COUNTS, "groups": COUNTS, "numbers": NUMBERS},
    "yes-no": {"sizes": COUNTS},
}
REASONS: dict[str, Fields] = {
    "listed": {"tree": PAIRS, "revealed": flag},
    "chords": {"nodes": NUMBERS, "multipliers": MULTIPLIERS, "tree": PAIRS, "trees": TREES},
    "sets": {"choices": NUMBERS, "trees": TREES},
    "matrix": {"d": WHOLES, "n": TABLE, "blocks": COUNTS, "scale": whole},
    "truncated": {"reason": REASON},
}


def read_proof(given: Any, kinds: dict[str, Fields] = PROOFS, depth: int = 0) -> Proof:
    """A proof or a reason: its kind, and exactly the fields of that kind."""
    expect(isinstance(given, dict) and depth <= DEEPEST, "an object, at most three deep")
    kind = given.get("kind")
    expect(isinstance(kind, str) and kind in kinds, f"a known kind, not {kind!r}")
    fields = kinds[kind]
    expect(set(given) == {"kind", *fields}, f"exactly the fields of {kind!r}")
    found: Proof = {"kind": kind}
    for name, reader in fields.items():
        inner = given[name]
        if reader == INNER_PROOFS:
            found[name] = list_of(lambda one: read_proof(one, PROOFS, depth + 1))(inner)
        elif isinstance(reader, str):
            found[name] = read_proof(inner, REASONS if reader == REASON else PROOFS, depth + 1)
        else:
            found[name] = reader(inner)
    return found


# -- bounds --


def bound(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """What no private mechanism is better than: from above for a utility, from below for a cost."""
    afford(1, MOST_PROOFS, "proofs")
    require(notion.k in (None, goal.k), "a notion and a goal about the same inputs")
    if isinstance(notion, LeakageSum):
        reason = proof.get("dual", proof).get("reason", {})
        revealed = reason.get("kind") == "listed" and reason["revealed"]
        gains = reason.get("kind") in (None, "listed") and not isinstance(goal, StatisticsGoal)
        require(revealed or gains, "maximal leakage: listed, about utilities; or revealed")
    return BOUNDS[proof["kind"]](proof, notion, goal)


def _dual(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """Σα + δ·Σβ + t; for a distortion max(0, Σα − t)."""
    alpha, reason, prices = proof["alpha"], proof["reason"], proof["prices"]
    require(len(alpha) == goal.k, "α of each input")
    if isinstance(goal, DistortionGoal):
        require(
            not proof["mix"] and not prices and reason["kind"] == "chords", "a distortion: chords, no mix, no prices"
        )
        return max(ZERO, total(alpha) - outputs(reason, notion, goal, alpha))
    leaves = of_kind(goal, Gain, "a dual about utilities and distortions").leaves(proof["mix"])
    delta = checked_prices(proof, notion, goal.k)
    t = of_gain(reason, notion, leaves, alpha, prices)
    return t if t == INFINITE else total(alpha) + delta + t


def checked_prices(dual: Proof, notion: Notion, k: int) -> Fraction:
    """δ·Σβ, once prices are where they may be."""
    prices, reason = dual["prices"], dual["reason"]
    if not prices:
        return ZERO
    require(is_coupled(notion) and reason["kind"] == "listed" and not reason["revealed"], "prices: listed, δ > 0")
    require(all(0 <= x < k and 0 <= z < k and x != z and beta >= 0 for x, z, beta in prices), "β ≥ 0 of two inputs")
    return of_kind(notion, Local, "prices: δ > 0").delta * sum((beta for _, _, beta in prices), ZERO)


def _squares(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    goal = of_kind(goal, StatisticsGoal, "squares: statistics")
    require(proof["dual"]["kind"] == "dual", "squares: a dual")
    groups = proof["merged"]
    checked_prices(proof["dual"], notion, max(groups) + 1 if groups else goal.k)
    return of_squares(proof, notion, goal)


def _order(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    return order(proof, notion, of_kind(goal, Gain, "order: divergences"))


def _concave(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    goal = of_kind(goal, Gain, "concave: information")
    require(not goal.least, "concave: information")
    return concave(proof, notion, goal)


def _one_prior(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """Private for all priors is private for each; a worst case is at least each case."""
    if not isinstance(goal, Gain | QuestionShares | QuestionTables) and goal.source.only is None:
        p = named_prior(goal.source, proof["prior"], proof["mix"])
        return bound(proof["proof"], notion, replace(goal, source=Source("list", (tuple(p),))))
    notion = of_kind(notion, ClassLifted, "one prior: of a class")
    p = named_prior(notion.source, proof["prior"], proof["mix"])
    return bound(proof["proof"], Lifted(tuple(p), notion.top), goal)


def named_prior(source: Source, prior: Vector, mix: Vector) -> Vector:
    """A prior of the class, by its numbers or as a mixture of the members of a list."""
    given = prior or mix
    require(bool(prior) != bool(mix), "a prior or a mixture")
    require(all(v >= 0 for v in given) and sum(given) > 0, "numbers ≥ 0, not all 0")
    shares = [v / total(given) for v in given]
    if prior:
        require(source.contains(shares), "a prior of the class")
        return shares
    require(source.kind in ("list", "ordered") and len(mix) == len(source.priors), "a mixture of a list")
    return [dot(shares, column) for column in zip(*source.priors, strict=True)]


def _groups(proof: Proof, notion: Notion, goal: Goal) -> Bound:
    """Σ_g (weight of the group)·(what its proof proves of the mean of its leaves)."""
    goal = of_kind(goal, Gain, "groups: means")
    require(not goal.least, "groups: means")
    leaves, names, proofs = goal.parts[0], proof["groups"], proof["proofs"]
    require(
        len(names) == len(leaves) and set(names) == set(range(len(proofs))), "a group of each leaf, a proof of each"
    )
    found: Bound = ZERO
    for g, inner in enumerate(proofs):
        mine = [pair for pair, name in zip(leaves, names, strict=True) if name == g]
        require(len({weight for weight, _ in mine}) == 1, "leaves of one weight")
        share = Fraction(1, len(mine))
        part = Gain((tuple((share, leaf) for _, leaf in mine),), least=False, k=goal.k)
        found += mine[0][0] * len(mine) * bound(inner, notion, part)
    return found


def _level(proof: Proof, _notion: Notion, goal: Goal) -> Bound:
    """ε ≥ ln E₀ when no mechanism with e^ε = E₀ has a distortion of D or less."""
    goal, ratio = of_kind(goal, LeastLevel, "level: the least ε within a distortion"), proof["ratio"]
    require(ratio >= 1, "level: E₀ ≥ 1")
    if ratio == 1:
        return ZERO
    reached = bound(proof["proof"], Local(given_ratio(ratio), ZERO), DistortionGoal(goal.source, None))
    require(reached > goal.distortion, "strictly above D")
    return ln(ratio).low


BOUNDS: dict[str, Callable[[Proof, Notion, Any], Bound]] = {
    "dual": _dual,
    "squares": _squares,
    "order": _order,
    "concave": _concave,
    "one prior": _one_prior,
    "groups": _groups,
    "level": _level,
    "agreements": agreements,
    "yes-no": yes_no,
}
