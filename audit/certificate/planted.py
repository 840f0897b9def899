"""Faults planted in the kernel and in the checker that stands alone: the comparison of the two must notice each.

A file is decided by both (`support.checkers`). With a fault in one of them, and no file made by it, the two must say
something different of at least one file: certificates of small designs of every notion and goal, certificates that
were corrupted or forged, and mechanism files of every structure and notion, claimed at their level and one double
below. Proofs of these designs, and others put together from parts of them, must have the same bound in both or be
refused by both. Without a fault they must agree on all. Every fault is planted in a copy of the package, one at a time,
and the comparison stops at the first difference; the side without the fault was asked before. Run with `make audit`;
words as arguments take only faults that contain one.
"""

from __future__ import annotations

import math
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "extremal"
FORGED, CORRUPTED, RECOMBINED, SIGNED, DRAWS = 300, 300, 400, 4, 4

FAULTS: tuple[tuple[str, str, str], ...] = (
    # the checker that stands alone
    ("checker/mechanisms.py", "max(0, min(candidates) - chosen[-1])", "0"),
    ("checker/mechanisms.py", "large * d - n * unit", "large * d - 2 * n * unit"),
    ("checker/notions.py", "small * e.low.numerator:", "2 * small * e.low.numerator:"),
    ("checker/structures.py", "low < high and high + (r - 1) * low == UNIT", "low < high"),
    ("checker/mechanisms.py", 'expect(content["hash"] == hash_of(content)', 'expect(bool(content["hash"])'),
    ("checker/cones.py", "islice(every, 1, 2**k - 1)", "islice(every, 1, 2**k - 2)"),
    ("checker/proofs.py", "found += mine[0][0] * len(mine)", "found += mine[0][0]"),
    ("checker/proofs.py", 'require(reached > goal.distortion, "strictly', 'require(reached >= 0, "strictly'),
    ("checker/squares.py", "return along**2 / (about.unit * cost)", "return along / (about.unit * cost)"),
    (
        "checker/compact.py",
        "(ratio - 1) * value) / (1 + ratio)",
        "ratio * value) / (1 + ratio)",
    ),
    ("checker/verdicts.py", "math.nextafter(float(value), way)", "float(value) + (way > 0) - (way < 0)"),
    ("checker/costs.py", "RHO = Fraction(1, 2**80)", "RHO = Fraction(1, 2**40)"),
    ("checker/set_trees.py", "total([gain for gain in gains if gain > 0])", "total(gains)"),
    ("checker/set_trees.py", "sign * (mine[x] * b - a * theirs[x]) > 0", "sign * (mine[x] * b - a * theirs[x]) < 0"),
    ("checker/set_trees.py", "(depth + 1, taken | {order[depth]})]", "(depth + 1, taken)]"),
    (
        "checker/squares.py",
        "(1 - notion.low * (1 - v)) / v) - 1 for v in p]",
        "(1 - notion.low * (1 - v)) / v) for v in p]",
    ),
    ("checker/squares.py", "level += total([b * dot(", "level -= total([b * dot("),
    ("checker/squares.py", "a * (own + extra[i]) + a * (a - 1) * own +", "a * (own + extra[i]) +"),
    ("checker/cones.py", "notion.low * low) / (below * weights[best])", "notion.low * low) / below"),
    ("checker/reasons.py", "min(ONE, (sum(sizes) - 1) * delta)", "min(ONE, sum(sizes) * delta)"),
    ("checker/reasons.py", "tau * b - unit * v, below * unit) for", "tau * b - unit * v, below) for"),
    ("checker/questions.py", "(e - 1) ** 2 / (4 * (e - nu))", "(e - 1) ** 2 / (4 * e)"),
    ("checker/questions.py", "return ((e - 1) / (e + 1)) ** 2", "return (e - 1) / (e + 1)"),
    ("checker/questions.py", "if above[r] & held == above[r]:", "if r < n and above[r] & held == above[r]:"),
    # the kernel and what it stands on
    ("privacy/notion.py", "if not all(exponential.at_least(a, b) for", "if not any(exponential.at_least(a, b + 1) for"),
    ("privacy/ldp.py", "top * delta.denominator - delta.numerator", "top * delta.denominator - 2 * delta.numerator"),
    ("mechanism/structures/structure.py", "if total != DENOMINATOR:", "if total < DENOMINATOR:"),
    ("mechanism/files.py", 'if content.get("hash") != found:', 'if not content.get("hash"):'),
    ("certificate/verify.py", "else below < low and high < above", "else below < low"),
    ("certificate/proofs/combined.py", "if least <= goal.distortion:", "if least < 0:"),
    ("certificate/proofs/combined.py", "total += len(parts) * fraction", "total += fraction"),
    ("certificate/proofs/order.py", "gap = longest[-1] - v * step", "gap = longest[-1] - v * (step + 1)"),
    ("certificate/proofs/concave.py", "(k - 1) * (v - merged)", "(k - 2) * (v - merged)"),
    ("certificate/proofs/dual.py", "/ sum(ray) * self.k", "/ sum(ray)"),
    ("certificate/proofs/dual.py", "(sum(worth.sizes) - 1) * rational(", "sum(worth.sizes) * rational("),
    ("certificate/proofs/dual.py", "max(fmpq(0), gain) for", "gain for"),
    ("certificate/proofs/sets.py", "sign * (s * bottom - top * t) > 0]", "sign * (s * bottom - top * t) < 0]"),
    ("certificate/proofs/sets.py", "found += max(0, gain - self.paid[x])", "found += gain - self.paid[x]"),
    (
        "certificate/proofs/sets.py",
        "(depth + 1, taken, price + self.paid[order[depth]])]",
        "(depth + 1, taken, price)]",
    ),
    ("certificate/proofs/matrix.py", "level = sum((v * a * b for", "level = sum((v * b * b for"),
    ("certificate/proofs/matrix.py", "level += b * sum(", "level -= b * sum("),
    ("certificate/proofs/matrix.py", "2 / top * sum(largest", "1 / top * sum(largest"),
    ("certificate/proofs/questions.py", "/ (4 * (ratio - nu))", "/ (4 * ratio)"),
    ("certificate/proofs/questions.py", "rest * prod(self.sizes[j] - 1 for", "rest * prod(self.sizes[j] for"),
    ("certificate/proofs/yes_no.py", "return ((ratio - 1) / (ratio + 1)) ** 2", "return (ratio - 1) / (ratio + 1)"),
    ("certificate/proofs/yes_no.py", "for j in below[i] if j > i and all(", "for j in below[i][:1] if j > i and all("),
    ("problem/__init__.py", "RESOLUTION = Fraction(1, 1 << 80)", "RESOLUTION = Fraction(1, 1 << 40)"),
)
"""(module, what stands there, what is put in its place)."""

RATIOS = ("1.1", "2", "3", "9", "100")  # e^ε that a proof of a level claims
SMALLER = (Fraction(1, 2), Fraction(9, 10), Fraction(999, 1000))  # times dual vectors: hardly too little


def files() -> Iterator[bytes]:
    """What is compared; made where nothing is planted."""
    from audit.certificate.second import corrupted, forged
    from extremal.errors import ExtremalError
    from extremal.privacy import NOTIONS
    from support.checkers import claiming, written
    from support.files.strangers import rehashed
    from support.levels import DRAWN, SOURCES, claim_at, drawn_mechanism, drawn_notion
    from support.proofs.examples import examples

    whole = [example.certificate for example in examples() if example.certificate is not None]
    yield from map(written, whole)
    yield written({**whole[0], "hash": "0" * 64})
    yield from (text for _, text in forged(FORGED, seed=1))
    yield from (text for _, text in corrupted(CORRUPTED, seed=1))
    shapes = list(SOURCES)
    for seed in range(DRAWS):
        for kind in DRAWN:
            for name in NOTIONS:
                draw = np.random.default_rng([seed, *kind.encode(), *name.encode()])
                mechanism = drawn_mechanism(draw, kind)
                notion = drawn_notion(draw, name, shapes[int(draw.integers(len(shapes)))], mechanism.k)
                try:
                    level = notion.level(mechanism)
                except ExtremalError:  # too many reports for a sum over all of them
                    continue
                for epsilon in (level, math.nextafter(level, 0)):
                    if 1e-9 < epsilon <= 100:
                        yield written(claiming(mechanism, claim_at(notion, epsilon)))
    response = claiming(drawn_mechanism(np.random.default_rng(0), "randomized_response"), None)
    yield written({**response, "hash": "0" * 64})
    weights = response["weights"]
    yield written(rehashed({**response, "weights": {**weights, "high": str(int(weights["high"]) + 1)}}))
    yield from deltas()


def deltas() -> Iterator[bytes]:
    """(ε,δ)-LDP claimed at the least δ, and a little below."""
    import extremal as ex
    from support.checkers import claiming, written

    for seed in range(DRAWS):
        array = np.random.default_rng(seed).dirichlet(np.ones(4), size=3)
        mechanism = ex.Mechanism.from_matrix(array)
        delta = ex.LDP("0.5").delta_at(mechanism)
        for claimed in (delta, math.nextafter(delta, 0), delta / 2, 0.75 * delta):
            yield written(claiming(mechanism, ex.LDP("0.5", claimed)))


def proofs() -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Proofs, each with the notion and the goal that it is held against."""
    from extremal.exact import decimal_text
    from support.proofs.examples import examples
    from support.proofs.recombination import Recombiner

    draw = random.Random(0)
    for e, proof in ((example, proof) for example in examples() for proof in example.proofs):
        yield proof, e.privacy, e.utility
        for ratio in RATIOS if proof["kind"] == "level" else ():
            yield {**proof, "ratio": ratio}, e.privacy, e.utility
        for _ in range(SIGNED if proof.get("alpha") else 0):  # every ray is the worst of some
            yield {**proof, "alpha": [draw.choice(["1", "-1"]) for _ in proof["alpha"]]}, e.privacy, e.utility
        for factor in SMALLER if proof.get("alpha") else ():
            less = [decimal_text(Fraction(a) * factor) for a in proof["alpha"]]
            yield {**proof, "alpha": less}, e.privacy, e.utility
    recombiner = Recombiner(examples(), 5)
    for _ in range(RECOMBINED):
        tried = recombiner.next()
        yield tried.proof, tried.about.privacy, tried.about.utility


COMPARE = """
import pickle, sys
from itertools import chain, zip_longest
from support import checkers
from support.proofs import comparison

(texts, proofs), said, side = pickle.load(open(sys.argv[1], "rb")), {}, sys.argv[3]
if side != "both":
    said = pickle.load(open(sys.argv[2], "rb"))

def asked(module, name, who):
    ask = getattr(module, name)
    def answer(*given):
        key = who, repr([one.to_json() if hasattr(one, "to_json") else one for one in given])
        if side == who or key not in said:
            said[key] = ask(*given)
        return said[key]
    setattr(module, name, answer)

asked(checkers, "kernel_says_of", "kernel")
asked(checkers, "checker_says_of", "checker")
asked(comparison, "kernel_says", "kernel")
asked(comparison, "checker_says", "checker")
tried = chain.from_iterable(zip_longest(
    ((checkers.disagreement_on, (text,)) for text in texts), ((comparison.disagreement, proof) for proof in proofs)
))
print(next((apart for compare, given in filter(None, tried) if (apart := compare(*given))), ""))
if side == "both":
    pickle.dump(said, open(sys.argv[2], "wb"))
"""
"""Compares files and proofs in turn. Without a fault both are asked, and what they say is kept; with one, only the
side that it is planted in, against what the other said."""


def noticed(fault: tuple[str, str, str] | None, folder: Path) -> str:
    """What the comparison says first with a fault planted; empty when it notices nothing."""
    place = folder / "src"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(SOURCE, place / "extremal", ignore=shutil.ignore_patterns("__pycache__", "*.csv"))
    if fault is not None:
        name, old, new = fault
        path = place / "extremal" / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{name}: {old!r} must occur once; it occurs {text.count(old)} times")
        path.write_text(text.replace(old, new), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (place, ROOT / "tests", ROOT)))}
    side = "both" if fault is None else "checker" if fault[0].startswith("checker/") else "kernel"
    command = [sys.executable, "-c", COMPARE, str(folder / "files"), str(folder / "said"), side]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"with {fault} the comparison fails: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.strip()


def main() -> int:
    words, start = sys.argv[1:], time.monotonic()
    chosen = [fault for fault in FAULTS if not words or any(word in " ".join(fault) for word in words)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "files").write_bytes(pickle.dumps((list(files()), list(proofs()))))
        if said := noticed(None, folder):
            raise RuntimeError(f"the two must agree where no fault is planted: {said}")
        missed = 0
        for fault in chosen:
            said = noticed(fault, folder)
            missed += not said
            print(
                f"{'noticed' if said else 'MISSED '}  {fault[0]}: {fault[1]!r} → {fault[2]!r}\n{' ' * 9}{said[:200]}",
                flush=True,
            )
    used = sum(os.times()[:4])
    print(f"{len(chosen)} faults, {missed} missed, {used:.0f} s of processor time, {time.monotonic() - start:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
