"""Files that ask for as much as their bytes allow: hashes fit, the grammar is kept or nearly so, sizes are extreme.

For tests and audits. Nothing here must make a reader work or allocate beyond its limits, or end it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from math import comb
from typing import Any

from extremal.mechanism.files import content_digest

Content = dict[str, Any]

WHOLE = 1 << 62
TINY, HUGE = "0." + "0" * 396 + "1", "9" * 400
EXTREMES: tuple[Any, ...] = (HUGE, "-" + "9" * 399, TINY, "0", "inf", (1 << 53) - 1, -1, 0, [], None, True, "1e9", {})


def hashed(content: Content) -> Content:
    """With a hash that fits, of the mechanism within too."""
    content = {key: value for key, value in content.items() if key != "hash"}
    if isinstance(content.get("mechanism"), dict):
        content["mechanism"] = hashed(content["mechanism"])
    return {**content, "hash": content_digest(content)}


def response(k: int, privacy: Content | None, share: int = 4) -> Content:
    """Randomised response on k symbols, of whatever k."""
    low = WHOLE // (k * share)
    return {
        "format": "extremal-mechanism",
        "version": "1.0",
        "inputs": {"range": k},
        "outputs": {"range": k},
        "denominator": str(WHOLE),
        "weights": {"kind": "randomized_response", "rows": k, "low": str(low), "high": str(WHOLE - (k - 1) * low)},
        "privacy": privacy,
    }


def certificate(mechanism: Content, utility: Content, proofs: list[Content], bound: str = "1000.0") -> Content:
    return {
        "format": "extremal-certificate",
        "version": "1.0",
        "mechanism": mechanism,
        "utility": utility,
        "value": "1.0",
        "bound": bound,
        "worst_prior": None,
        "proofs": proofs,
    }


def local(epsilon: str = "5", delta: str = "0") -> Content:
    return {"notion": "LDP", "epsilon": epsilon, "delta": delta}


def pair(k: int, name: str = "KL", **more: Any) -> Content:
    """A divergence between the uniform distribution and one that rises."""
    uniform = ["1"] * k if 10**400 % k else [str(1 / k)] * k
    total = k * (k + 1) // 2
    rising = [str(x + 1) for x in range(k)]
    if not 10**400 % total:
        rising[0], rising[-1] = "2", str(int(rising[-1]) + 7919)
    return {"utility": name, "p0": uniform, "p1": rising, **more}


def one(k: int) -> Content:
    """The source that holds the uniform prior alone."""
    return {"kind": "list", "priors": [pair(k)["p0"]]}


def dual(k: int, reason: Content, alpha: str = "0") -> Content:
    return {"kind": "dual", "alpha": [alpha] * k, "mix": [], "prices": [], "reason": reason}


LISTED: Content = {"kind": "listed", "tree": [], "revealed": False}


def chords(nodes: list[str], trees: list[list[int]] | None = None) -> Content:
    return {"kind": "chords", "nodes": nodes, "multipliers": [], "tree": [], "trees": trees or []}


def crafted() -> Iterator[tuple[str, Content]]:
    """Whole files, each extreme in its own way."""
    for order in (
        "1000",
        "100000",
        "1000000",
        "1000001",
        "1" + "0" * 8,
        "1" + "0" * 12,
        "-1" + "0" * 12,
        "1" + "0" * 300,
    ):
        goal = pair(3, "AlphaDivergence", alpha=order)
        yield f"order {order[:12]}", certificate(response(3, local()), goal, [dual(3, LISTED)])
        yield (
            f"order {order[:12]}, order proof",
            certificate(response(3, local()), goal, [{"kind": "order", "value": "1", "ends": ["1"], "mix": []}]),
        )
    for gamma in (HUGE, TINY, "3"):
        yield (
            f"gamma {gamma[:8]}",
            certificate(response(3, local()), pair(3, "HockeyStick", gamma=gamma), [dual(3, LISTED)]),
        )
    info = {"utility": "MutualInformation", "prior": pair(16)["p1"]}
    for n, goal in ((1, pair(16)), (4, info), (6, pair(16)), (50, pair(16)), (65, pair(16))):
        many = [dual(16, LISTED, f"0.{i + 1}1") for i in range(n)]
        yield f"{n} lists of 2^16 rays", certificate(response(16, local()), goal, many)
    for k in (8, 20, 40, 100, 300, 1000, 1400, 2000):
        for name, more in (("CDF", {"thresholds": None}), ("Ranges", {})):
            goal = {"utility": name, "source": one(k), **more}
            yield f"{name} of {k}", certificate(response(k, local()), goal, [], "0.0")
    for k in (100, 1000, 2000, 4000, 1 << 20, 1 << 24):
        yield f"(ε,δ) of {k}", response(k, local("1", "0.1"))
        simplex = {"kind": "simplex", "k": k}
        yield f"every prior of {k}", response(k, {"notion": "PML", "epsilon": "30", "source": simplex})
        yield f"Hamming of {k}", certificate(response(k, local("40")), {"utility": "Hamming", "source": simplex}, [])
        level = {"utility": "LevelAtDistortion", "source": simplex, "distortion": "0.9"}
        yield f"level of {k}", certificate(response(k, local("40")), level, [])
    for k in (6, 7, 8, 9):
        source = {"kind": "permutation_invariant", "priors": [pair(k)["p1"]]}
        claim = {"notion": "PML", "epsilon": "2", "source": source}
        for n in (1, 4):
            proofs = [dual(k, LISTED, f"0.{i + 1}") for i in range(n)]
            yield f"{n} lists over permutations of {k}", certificate(response(k, claim, 2), pair(k), proofs)
        ball = {"notion": "PML", "epsilon": "2", "source": {"kind": "ball", "prior": pair(k)["p1"], "radius": "0.1"}}
        yield f"a list over a ball of {k}", certificate(response(k, ball, 2), pair(k), [dual(k, LISTED)])
    for nodes, digits, k in ((100, 390, 16), (20_000, 5, 4), (20_000, 390, 4), (20_000, 20, 1000), (20_000, 390, 1000)):
        texts = [f"{i + 1}.{'1' * digits}" for i in range(nodes)]
        yield (
            f"{nodes} nodes of {digits} digits, {k} inputs",
            certificate(response(k, local()), pair(k), [dual(k, chords(texts), "1")]),
        )
    for ends in (300, 1500, 3000):
        texts = [f"{i // 1000}.{i % 1000:03d}1" for i in range(1, ends + 1)]
        ordered = {"kind": "order", "value": "0.1", "ends": texts, "mix": []}
        yield f"{ends} ends", certificate(response(1200, local()), pair(1200), [ordered])
    for lines, k in ((100, 16), (1000, 100), (1000, 1000)):
        slopes = [[f"0.{i + 1}1", "1"] for i in range(lines)]
        proof: Content = {"kind": "concave", "value": "0.1", "lines": slopes}
        yield (
            f"{lines} lines, {k} inputs",
            certificate(response(k, local()), {"utility": "MutualInformation", "prior": pair(k)["p1"]}, [proof]),
        )
    for tokens in (1000, 3000, 100_000):
        for claim in (
            local(),
            {"notion": "PML", "epsilon": "1", "source": {"kind": "list", "priors": [pair(15)["p1"]]}},
        ):
            trees = [[-1] * tokens] * (15 if claim["notion"] == "PML" else 1)
            reason = {"kind": "sets", "choices": ["0.5"], "trees": trees}
            goal = {"utility": "MutualInformation", "prior": pair(15)["p1"]}
            yield f"{tokens} branches, {claim['notion']}", certificate(response(15, claim, 2), goal, [dual(15, reason)])
    yield from _of_weights()
    yield from _of_shape()


def joint(k: int, size: int) -> Content:
    """One question, about sets of its answers."""
    block = {"questions": [0], "families": [0], "coin": str(1 << 52)}
    weights = {
        "kind": "joint_blocks",
        "questions": [[{"answers": k, "size": size}]],
        "assignments": [{"weight": str(1 << 53), "blocks": [block]}],
    }
    return {**response(min(k, 1 << 24), local()), "weights": weights, "denominator": str(1 << 53)}


def shuffled(rows: list[list[str]], n: int) -> Content:
    """n shuffled reports of a table."""
    sizes = {"inputs": {"range": len(rows)}, "outputs": {"range": len(rows[0])}}
    mechanism = {**response(2, None), **sizes, "weights": {"kind": "rows", "rows": rows}}
    claim = {"mechanism": mechanism, "n": str(n), "epsilon": "1", "delta": "0.000001"}
    return {"format": "extremal-shuffled", "version": "1.0", **claim}


def _of_weights() -> Iterator[tuple[str, Content]]:
    """Mechanisms that a few numbers make large."""
    for k, size in ((1000, 500), (1 << 15, 1 << 14), (1 << 24, 1 << 14), (1 << 24, 1 << 23), ((1 << 53) - 1, 1 << 52)):
        yield f"a question about sets of {size} of {k}", joint(k, size)
    for n in (1_000_000, 10**12):
        yield f"{n} shuffled truths", shuffled([[str(WHOLE), "0"], ["0", str(WHOLE)]], n)
        third = str(WHOLE // 2)
        yield (
            f"{n} shuffled reports with zeros",
            shuffled([[str(WHOLE), "0", "0"], [third, third, "0"], ["0", third, third]], n),
        )
    for k in (1 << 10, 1 << 20, 1 << 24):
        runs = {
            "kind": "circulant",
            "runs": [[str(WHOLE // k + 1), k - 1], [str(WHOLE - (WHOLE // k + 1) * (k - 1)), 1]],
        }
        yield f"a circulant of {k}", {**response(k, local("60")), "weights": runs}
        spread = {**response(2, local()), "inputs": {"range": k}, "rows_of_inputs": [[0, k - 1], [1, 1]]}
        yield f"{k} inputs on two rows", spread
    for bits in (20, 1 << 12, 1 << 20):
        weights = {"kind": "independent_bits", "rows": bits, "own": str(WHOLE // 2), "other": str(WHOLE // 4)}
        yield f"{bits} bits", {**response(bits, local()), "weights": weights, "outputs": {"bits": bits}}
    for rows, size in ((100, 50), (65_536, 32_768), (1 << 24, 2)):
        weights = {"kind": "subset_selection", "rows": rows, "size": size, "inside": str(WHOLE - 1)}
        whole = WHOLE * comb(rows - 1, size - 1) * (rows - size)
        digits = str(whole) if whole.bit_length() < 12_000 else hex(whole)
        outputs = {"subsets_of_inputs": size}
        yield (
            f"sets of {size} of {rows}",
            {**response(rows, local("90")), "weights": weights, "outputs": outputs, "denominator": digits},
        )
    for order, coordinates in ((2, 3), (2, 32), (65_521, 2)):
        reports, held = ((order**t - 1) // (order - 1) for t in (coordinates, coordinates - 1))
        weights = {"kind": "projective", "rows": 7, "inside": str(WHOLE - 1)}
        mechanism = {
            **response(7, local("90")),
            "weights": {**weights, "order": order, "coordinates": coordinates},
            "outputs": {"range": reports},
            "denominator": str(WHOLE * held * (reports - held)),
        }
        yield f"points over {order}^{coordinates}", mechanism
        yield (
            f"Hamming of points over {order}^{coordinates}",
            certificate(mechanism, {"utility": "Hamming", "source": one(7)}, []),
        )
    for rows, cohorts in ((2048, 1), (2048, 1024), (1 << 20, 1024)):
        weights = {
            "kind": "bloom_filter",
            "rows": rows,
            "bits": 16,
            "hashes": 8,
            "cohorts": cohorts,
            "own": str(WHOLE // 2),
            "other": str(WHOLE // 4),
            "one": str(WHOLE),
            "zero": "0",
        }
        outputs = {"bits": 16 + cohorts.bit_length() - 1}
        yield (
            f"a filter of {rows} in {cohorts} cohorts",
            {**response(rows, local("50")), "weights": weights, "outputs": outputs, "denominator": str(WHOLE**2)},
        )


def _of_shape() -> Iterator[tuple[str, Content]]:
    """Nesting, repetition, and one long number among short ones."""
    good = certificate(response(3, local()), pair(3), [dual(3, LISTED)])
    deep: Any = dual(3, LISTED)
    for depth in range(1, 7):
        deep = {"kind": "groups", "groups": [0], "proofs": [deep]}
        yield f"groups {depth} deep", {**good, "proofs": [deep]}
    for n in (10, 60, 1000, 20_000):
        yield f"a mean of {n}", {**good, "utility": {"utility": "Average", "utilities": [pair(3)] * n}}
    goal: Any = pair(3)
    for _ in range(25):
        goal = {"utility": "Average", "utilities": [goal]}
    yield "means of means", {**good, "utility": goal}
    for n in (100, 100_000):
        long = ["0." + "0" * 398 + "1", *["0"] * (n - 2), "0." + "9" * 399]
        goal = {"utility": "MutualInformation", "prior": long}
        yield f"one long entry among {n}", certificate(response(n, local()), goal, [])
    for k in (10, 40, 200):
        rows = [["1" if x != z else "0" for z in range(k)] for x in range(k)]
        claim = {"notion": "MetricPrivacy", "epsilon": "30", "distances": rows}
        yield f"distances of {k}", certificate(response(k, claim), pair(k), [dual(k, LISTED)])
    z = [[(1 << 52) - x] * x for x in range(20)]
    squares = {"kind": "squares", "z": z, "diagonal": [], "classes": [], "merged": [], "dual": dual(0, LISTED)}
    for n in (1, 4, 16):
        goal = {"utility": "Frequencies", "source": one(20), "items": list(range(20)), "weights": ["1.0"] * 20}
        yield f"{n} lists of squares", certificate(response(20, local()), goal, [squares] * n, "0.001")


def mutated(contents: list[Content], changes: Callable[[int], int], count: int) -> Iterator[tuple[str, Content]]:
    """Whole certificates with one field made extreme: every field of every kind in turn."""
    places = [(content, path) for content in contents for path in _paths(content)]
    for i in range(count):
        content, path = places[changes(i) % len(places)]
        again, value = copy.deepcopy(content), EXTREMES[i % len(EXTREMES)]
        inside: Any = again
        for step in path[:-1]:
            inside = inside[step]
        inside[path[-1]] = value if i % 3 else [inside[path[-1]]] * 1000
        yield f"{'/'.join(map(str, path))} = {json.dumps(value)[:20]}", again


def _paths(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = (
        content.items() if isinstance(content, dict) else enumerate(content[:2]) if isinstance(content, list) else ()
    )
    for key, value in parts:
        if key not in ("hash", "format"):
            yield (*path, key)
            yield from _paths(value, (*path, key))
