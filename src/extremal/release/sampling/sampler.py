"""Exact sampling from integer weights: input codes → output codes.

For each kind of structure one function in `SAMPLERS` prepares what drawing needs (tables, checked against the weights),
and the result draws a chunk at a time. Preparation is kept as long as the structure itself; randomness is not kept at
all: each call draws its own key. To support a new structure, write `prepare(structure) -> Sampler` and add it to
`SAMPLERS` under its `kind`; for reports that are sets of inputs `draw` returns n×d codes (`subsets.subset_reports`)
and the containers make tuples of labels.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter
from extremal.exact.weights import WEIGHT_BITS
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import (
    BloomBits,
    Circulant,
    Colourings,
    GroupedSets,
    HadamardSets,
    HashedSets,
    IndependentBits,
    JointBlocks,
    ProjectiveSets,
    RandomizedResponse,
    Rows,
    Structure,
    SubsetSelection,
    TwoValuedColumns,
)
from extremal.release.sampling.alias import AliasTable, build, column_bits
from extremal.release.sampling.joint import FromJoint
from extremal.release.sampling.loops import Codes, CompiledLoops, Loops, can_compile
from extremal.release.sampling.rules import (
    FromBits,
    FromBloom,
    FromGroupedSets,
    FromHadamard,
    FromHashes,
    FromProjective,
)
from extremal.release.sampling.subsets import is_sparse, sparse_subset_reports, subset_reports
from extremal.release.sampling.words import SecureWords, Words, WordSource

# values, or members of sets, in one call from which importing numba and compiling (a second or two, once) can pay
WORTH_COMPILING = 1 << 21
MOST_THREADS = 8  # memory, not computing, is the limit beyond a few
LARGEST_TABLE = 1 << 22  # entries (32 MB) up to which two-valued columns that are no windows are sampled from a table

Keys = npt.NDArray[np.int64]


class Sampler(Protocol):
    """Draws for a chunk of row numbers: n output codes, or n×d input codes when the report is a set of d inputs.

    The source's words must be used in the same order whichever the loops (NumPy's or numba's). `buffer` has room for
    one word a value; the outputs may be returned in it.

    Attributes:
        size: None, or how many inputs a report names.
    """

    @property
    def size(self) -> int | None: ...

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes: ...


@dataclass(frozen=True, eq=False)
class _FromRows:
    """One row of the table for each row of the structure."""

    table: AliasTable
    size: ClassVar[None] = None

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        source.fill(buffer)
        return loops.from_rows(self.table, rows, buffer)


@dataclass(frozen=True, eq=False)
class _FromOneRow:
    """One row for all: m symbols, the distance from x to the report, cyclically; with windows m + length symbols, a
    report whatever x, or a place in the window of reports that x favours."""

    table: AliasTable
    outputs: int
    windows: bool
    size: ClassVar[None] = None

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        source.fill(buffer)
        loop = loops.from_windows if self.windows else loops.from_response
        return loop(self.table, self.outputs, rows, buffer)


@dataclass(frozen=True, eq=False)
class BlockTree:
    """Outputs found by halving: for columns on sets of rows that are too many for a table and form no windows.

    The outputs are the leaves of a binary tree. For each node the weight of its leaves, as a function of the row, is
    constant between the edges of their sets; those constants are stored. A 62-bit word starts at the root and goes left
    when it is less than the left child's weight in its row, else right, less that weight. That is inversion of the
    exact partial sums: no rejection, one word a value. Memory is (edges + outputs) times the depth, whatever the number
    of rows.

    Attributes:
        rows: their number.
        levels: from the root's children down, the sorted keys node·rows + row of the pieces, and their weights.
    """

    rows: int
    levels: tuple[tuple[Keys, Keys], ...]
    size: ClassVar[None] = None

    @classmethod
    def of(cls, kernel: TwoValuedColumns) -> BlockTree:
        m, r = kernel.m, kernel.r
        depth = max(1, (m - 1).bit_length())
        owner = np.array([y for y, s in enumerate(kernel.sets) for _ in s.runs], dtype=np.int64)
        runs = np.array([run for s in kernel.sets for run in s.runs], dtype=np.int64).reshape(-1, 2)
        step = (kernel.high - kernel.low)[owner]
        # A piece starts where the weight changes: at row 0 by the low weight, at a run's ends by the step. An end at r
        # changes nothing.
        inner = runs[:, 1] < r
        output = np.concatenate((np.arange(m), owner, owner[inner]))
        start = np.concatenate((np.zeros(m, dtype=np.int64), runs[:, 0], runs[inner, 1]))
        change = np.concatenate((kernel.low, step, -step[inner]))
        levels = []
        for level in range(1, depth + 1):
            node = output >> (depth - level)
            keys, inverse = np.unique(node * r + start, return_inverse=True)
            changes = np.zeros(keys.size, dtype=np.int64)
            np.add.at(changes, inverse, change)
            levels.append((keys, _running_totals(changes, keys // r)))
        return cls(r, tuple(levels))

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        """The output whose interval of partial sums in its row holds the word's high 62 bits."""
        source.fill(buffer)
        left = (buffer >> np.uint64(64 - WEIGHT_BITS)).view(np.int64)
        node = np.zeros(rows.size, dtype=np.int64)
        for keys, weights in self.levels:
            node <<= 1
            weight = weights[np.searchsorted(keys, node * self.rows + rows, side="right") - 1]
            right = left >= weight
            left -= weight * right
            node += right
        return node


def _running_totals(changes: Keys, node: Keys) -> Keys:
    """Cumulative sums of the changes, starting anew at each node. Sums over whole nodes may wrap around; differences do
    not care."""
    totals = np.cumsum(changes)
    first = np.flatnonzero(np.diff(node, prepend=-1))
    base = totals[first] - changes[first]
    return np.asarray(totals - np.repeat(base, np.diff(first, append=node.size)))


@dataclass(frozen=True, eq=False)
class FromColourings:
    """The colouring whose share holds the word's high 62 bits, the same for every row, and in it the report: inversion
    of the exact partial sums, one word a value."""

    structure: Colourings
    size: ClassVar[None] = None

    @cached_property
    def _ends(self) -> Keys:
        """Partial sums of the shares; the last is 2^62."""
        return np.cumsum(np.array(self.structure.shares, dtype=np.int64))

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        source.fill(buffer)
        s, point = self.structure, (buffer >> np.uint64(64 - WEIGHT_BITS)).view(np.int64)
        a = np.searchsorted(self._ends, point, side="right")
        low, high, own = s.low[a], s.high[a], s.colours[a, rows].astype(np.int64)
        left = point - np.where(a > 0, self._ends[a - 1], 0)
        past = left - own * low  # negative in front of the own report, from `high` on behind it
        colour = np.where(past < 0, left // low, np.where(past < high, own, own + 1 + (past - high) // low))
        return np.asarray(s.starts[a] + colour)


def _rows(structure: Rows) -> Sampler:
    return _FromRows(build(structure.array))


def _cyclic(structure: RandomizedResponse | Circulant) -> Sampler:
    """Every row is the first one shifted, so that one row is enough."""
    return _FromOneRow(build(structure.row(0)[None, :]), structure.m, windows=False)


def _two_valued_columns(structure: TwoValuedColumns) -> Sampler:
    if structure.window is not None:
        favoured = (structure.high - structure.low)[: structure.window]
        return _FromOneRow(build(np.concatenate((structure.low, favoured))[None, :]), structure.m, windows=True)
    if structure.r << column_bits(structure.m) <= LARGEST_TABLE:
        return _FromRows(build(structure.rows()))
    return BlockTree.of(structure)


@dataclass(frozen=True, eq=False)
class _FromSubsets:
    """All subsets of a size: whether the report holds x, then a uniform subset."""

    structure: SubsetSelection

    @property
    def size(self) -> int:
        return self.structure.size

    def draw(self, rows: Codes, source: WordSource, loops: Loops, buffer: Words) -> Codes:
        k, d = self.structure.r, self.structure.size
        if is_sparse(k, d):
            return sparse_subset_reports(k, d, self.structure.inside, rows, source)
        return subset_reports(k, d, self.structure.inside, rows, source, loops)


SAMPLERS: dict[str, Callable[[Any], Sampler]] = {
    Rows.kind: _rows,
    RandomizedResponse.kind: _cyclic,
    SubsetSelection.kind: _FromSubsets,
    Circulant.kind: _cyclic,
    TwoValuedColumns.kind: _two_valued_columns,
    IndependentBits.kind: FromBits,
    HadamardSets.kind: FromHadamard,
    ProjectiveSets.kind: FromProjective,
    HashedSets.kind: FromHashes,
    BloomBits.kind: FromBloom,
    GroupedSets.kind: FromGroupedSets,
    Colourings.kind: FromColourings,
    JointBlocks.kind: FromJoint,
}

# Drawn by inversion or from a table; all others read as many words as they need.
ONE_WORD_A_VALUE = {s.kind for s in (Rows, RandomizedResponse, Circulant, TwoValuedColumns, Colourings)}

_prepared: WeakKeyDictionary[Structure, Sampler] = WeakKeyDictionary()


def prepared(structure: Structure) -> Sampler:
    """The sampler of a structure, made once for as long as the structure lives. Holds tables, never randomness."""
    sampler = _prepared.get(structure)
    if sampler is None:
        sampler = SAMPLERS[structure.kind](structure)
        _prepared[structure] = sampler
    return sampler


def sample_codes(
    mechanism: Mechanism,
    codes: npt.NDArray[Any],
    *,
    source: WordSource | None = None,
    compiled: bool | None = None,
    dtype: Any = np.int64,
) -> npt.NDArray[Any]:
    """For each input code one output code, drawn independently from its row, exactly by the weights.

    Args:
        mechanism: what to draw from.
        codes: positions in the mechanism's inputs, an integer array.
        source: of the words; fresh `SecureWords` if not given. Anything else is for simulation and tests.
        compiled: whether to use numba; None: when it is installed and the call is large. The outputs do not depend on
            it.
        dtype: integer type of the result; must hold every output code.

    Raises:
        BadCode: a code is not that of an input (an InvalidParameter).
        InvalidParameter: codes that are no integers; a `dtype` that cannot hold the outputs; a `source` that is none.
        NoSecureRandomness: there is no cryptographic source.

    >>> import extremal as ex
    >>> sample_codes(ex.randomized_response(3, 50), np.array([2, 0, 1])).tolist()
    [2, 0, 1]
    """
    _refuse_unsuitable(mechanism, codes, source, dtype)
    sampler, n = prepared(mechanism.structure), codes.size
    if compiled is None:
        compiled = n * (sampler.size or 1) >= WORTH_COMPILING and can_compile()
    out: npt.NDArray[Any] = np.empty(n if sampler.size is None else (n, sampler.size), dtype=dtype)

    def draw(start: int, stop: int) -> None:
        words = SecureWords() if source is None else source
        loops = CompiledLoops() if compiled else Loops(n)
        _draw_into(out[start:stop], mechanism, codes[start:stop], start, sampler, words, loops)

    if compiled and source is None and n >= WORTH_COMPILING:  # the loops hold no lock; each thread has a key of its own
        edges = np.linspace(0, n, _threads() + 1, dtype=np.int64).tolist()
        with ThreadPoolExecutor(_threads()) as pool:
            list(pool.map(draw, edges[:-1], edges[1:]))
    else:
        draw(0, n)
    return out


def _refuse_unsuitable(mechanism: Mechanism, codes: Any, source: Any, dtype: Any) -> None:
    """Raise on what would be rounded, wrapped or drawn from somewhere else."""
    if not isinstance(codes, np.ndarray) or codes.ndim != 1 or codes.dtype.kind not in "iu":
        kind = f"{codes.dtype}, {codes.ndim}-d" if isinstance(codes, np.ndarray) else type(codes).__name__
        raise InvalidParameter("codes must be a one-dimensional array of integers", parameter="codes", value=kind)
    if source is not None and not callable(getattr(source, "fill", None)):
        raise InvalidParameter("source must fill arrays with words", parameter="source", value=type(source).__name__)
    most = _most_code(mechanism)
    wanted = np.dtype(dtype)
    if wanted.kind not in "iu" or np.iinfo(wanted).max < most:
        raise InvalidParameter(f"dtype must be an integer type that holds 0..{most}", parameter="dtype", value=dtype)


def narrowest(mechanism: Mechanism) -> np.dtype[Any]:
    """The type in which a draw for columns takes least memory: sets of a hundred labels are as much of the time to
    allocate as to draw. A single code stays an int64, which a column may hold as it is."""
    sets = prepared(mechanism.structure).size is not None
    return np.min_scalar_type(_most_code(mechanism)) if sets else np.dtype(np.int64)


def _most_code(mechanism: Mechanism) -> int:
    """The largest code that a draw can hold: of an output, or of the parts of which a report is made."""
    if isinstance(mechanism.structure, (IndependentBits, BloomBits, GroupedSets)):
        return 255  # bytes
    return (mechanism.k if isinstance(mechanism.structure, SubsetSelection) else mechanism.m) - 1


def _threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST_THREADS, usable)


def _draw_into(
    out: npt.NDArray[Any],
    mechanism: Mechanism,
    codes: npt.NDArray[Any],
    first: int,
    sampler: Sampler,
    source: WordSource,
    loops: Loops,
) -> None:
    # Words are drawn where the outputs will stand when the type allows it: every page of the result is touched once.
    in_place = out.dtype == np.int64 and out.ndim == 1
    buffer = out.view(np.uint64) if in_place else np.empty(min(codes.size, loops.chunk), dtype=np.uint64)
    for start in range(0, codes.size, loops.chunk):
        chunk = codes[start : start + loops.chunk].astype(np.int64, copy=False)
        # As unsigned numbers negative codes are huge: one comparison finds both kinds of bad code.
        if chunk.view(np.uint64).max() >= mechanism.k:
            _refuse_code(chunk, mechanism.k, first + start)
        rows = chunk if mechanism.row_of is None else mechanism.row_of.take(chunk)
        here = buffer[start : start + loops.chunk] if in_place else buffer[: chunk.size]
        drawn = sampler.draw(rows, source, loops, here)
        if not np.may_share_memory(drawn, out):
            out[start : start + loops.chunk] = drawn


class BadCode(InvalidParameter):
    """A code is not that of an input; `position` is where."""

    def __init__(self, position: int, k: int) -> None:
        super().__init__(f"codes[{position}] must lie in 0..{k - 1}", parameter=f"codes[{position}]")
        self.position = position


def _refuse_code(chunk: Codes, k: int, first: int) -> None:
    bad = int(np.flatnonzero((chunk < 0) | (chunk >= k))[0])
    raise BadCode(first + bad, k)
