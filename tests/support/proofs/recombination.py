"""Proofs of one problem held against another, and put together from parts of several: none may undercut a mechanism.

A form that is put together from parts can say what closed kinds could not: a class of inputs taken for an input, a
price in a cost, a reason about another cone.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extremal.exact import decimal_text
from support.proofs.comparison import Content
from support.proofs.examples import Example

EXCHANGED, TURNED = 0.35, 0.3  # how often a field is another proof's, or is changed in itself
FACTORS = (0, 1, 1, Fraction(99, 100), 2, -1)  # of the numbers of α


@dataclass(frozen=True)
class Recombined:
    """A proof put together from parts, and the problem that it is held against."""

    proof: Content
    about: Example


class Recombiner:
    """Draws proofs from those of some examples with the same number of inputs."""

    def __init__(self, examples: Sequence[Example], seed: int) -> None:
        self.draw = random.Random(seed)
        self.examples: dict[int, list[Example]] = {}
        self.parts: dict[tuple[int, str], list[Any]] = {}
        for example in examples:
            self.examples.setdefault(example.utility.k, []).append(example)
            for proof in example.proofs:
                self._collect(proof, example.utility.k)
        self.sizes = sorted(k for k, found in self.examples.items() if any(e.proofs for e in found))

    def _collect(self, content: Content, k: int) -> None:
        for name, value in content.items():
            if name == "kind":
                continue
            self.parts.setdefault((k, name), []).append(value)
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, dict):
                    self._collect(inner, k)

    def next(self) -> Recombined:
        """One more proof, put together anew in four of five cases, and any problem about as many inputs."""
        k = self.draw.choice(self.sizes)
        known = self.examples[k]
        proof = self.draw.choice([p for e in known for p in e.proofs])
        return Recombined(self._mixed(proof, k) if self.draw.random() < 0.8 else proof, self.draw.choice(known))

    def _mixed(self, content: Content, k: int) -> Content:
        """Each field another proof's, changed, or kept; what is nested is mixed in turn."""
        mixed: Content = {}
        for name, value in content.items():
            if name != "kind" and self.draw.random() < EXCHANGED:
                mixed[name] = copy.deepcopy(self.draw.choice(self.parts[k, name]))
            elif isinstance(value, dict):
                mixed[name] = self._mixed(value, k)
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                mixed[name] = [self._mixed(inner, k) for inner in value]
            elif self.draw.random() < TURNED:
                mixed[name] = self._changed(name, value)
            else:
                mixed[name] = value
        return mixed

    def _changed(self, name: str, value: Any) -> Any:
        if isinstance(value, bool):
            return not value
        if name == "alpha":
            return [decimal_text(Fraction(v) * self.draw.choice(FACTORS)) for v in value]
        return value
