"""The pairs of inputs that must be looked at, for every structure.

Structures with symmetry have a few, in closed form (`theory.shuffle.symmetric`). Of a circulant one input of the pair
is 0. Otherwise rows are listed, and every ordered pair counts, but for those that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from flint import fmpq

from extremal.errors import TooLarge
from extremal.mechanism.structures import Circulant, Structure
from extremal.theory.shuffle.reports import Classes, OtherInput, PairReports, merged
from extremal.theory.shuffle.symmetric import SYMMETRIC

MOST_LISTED = 1 << 15
"""Rows × reports of a mechanism whose pairs are all looked at: 256 inputs with 128 reports, some minutes."""

FEW_CLASSES = 16  # of reports: up to these, three inputs at a time are looked at, and the first report is known exactly
MOST_COMPARED = 1 << 15  # pairs × inputs that are compared to find those alike: half a second


def pairs_of(structure: Structure) -> list[PairReports]:
    """The ordered pairs of inputs of a mechanism's structure, up to symmetries.

    Raises:
        TooLarge: listed rows with more than 2^15 entries.
    """
    if structure.r < 2:
        return []
    for kind, view in SYMMETRIC.items():
        if isinstance(structure, kind):
            return list(view(structure))
    if structure.r * structure.m > MOST_LISTED:
        raise TooLarge(
            f"all pairs of inputs are looked at, and rows × reports may be {MOST_LISTED:,}",
            parameter="rows × reports",
            value=f"{structure.r} × {structure.m}",
            hint="Randomised response, subset selection, unary encoding, Hadamard response and hashing have no limit.",
        )
    # Moving all inputs and all reports of a circulant by one step changes nothing.
    firsts = [0] if isinstance(structure, Circulant) else range(structure.r)
    return list(_listed(structure, firsts))


def _listed(structure: Structure, firsts: Iterable[int]) -> Iterator[PairReports]:
    rows, total = structure.rows().tolist(), structure.denominator
    least = [min(column) for column in zip(*rows, strict=True)]
    shares = np.array(rows, dtype=np.float64) / total
    known = _same_pairs(rows, least, firsts)

    def classes(x: int, z: int, rest: list[int]) -> Callable[[], Classes]:
        return lambda: tuple(
            (fmpq(a, total), fmpq(b, total), fmpq(c, total)) for a, b, c in zip(rows[x], rows[z], rest, strict=True)
        )

    aligned = len(merged(classes(0, 1, rows[-1])())) > FEW_CLASSES
    if aligned:
        known = {(x, z): _in_order(x, z, len(rows)) for x in firsts for z in range(len(rows)) if z != x}
    for (x, z), order in known.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = (shares[x] - shares[z]) ** 2 / shares[order]
        indices = tuple(np.where(shares[x] == shares[z], 0.0, parts).sum(axis=1).tolist())
        others = tuple(OtherInput(f"input {i}", classes(x, z, rows[i])) for i in order)
        yield PairReports(f"inputs {x} and {z}", classes(x, z, least), others, True, aligned, indices)


def _in_order(x: int, z: int, count: int) -> list[int]:
    return [x, z, *(i for i in range(count) if i not in (x, z))]


def _same_pairs(rows: list[list[int]], least: list[int], firsts: Iterable[int]) -> dict[tuple[int, int], list[int]]:
    """Ordered pairs with the inputs that others may hold, each kind once. Pairs are of one kind if as many reports have
    the same weights on x₀, x₁ and any third input; bounds that look at three inputs at a time are then the same."""
    count, array = len(rows), np.array([*rows, least], dtype=np.int64)
    pairs = [(x, z) for x in firsts for z in range(count) if z != x]
    if len(pairs) * count > MOST_COMPARED:
        return {(x, z): _in_order(x, z, count) for x, z in pairs}

    def key(x: int, z: int, i: int) -> bytes:
        three = array[[x, z, i]]
        return three[:, np.lexsort(three)].tobytes()

    known: dict[tuple[bytes, frozenset[bytes]], tuple[tuple[int, int], list[int]]] = {}
    for x, z in pairs:
        kinds: dict[bytes, int] = {}
        for i in (x, z, *range(count)):
            kinds.setdefault(key(x, z, i), i)
        known.setdefault((key(x, z, count), frozenset(kinds)), ((x, z), list(kinds.values())))
    return dict(known.values())
