"""Exact events, uniform integers and uniform subsets from 64-bit words, for mechanisms whose reports are sets.

A number below a bound that is no power of two is drawn by multiplication with exact rejection (Lemire 2019): the
product of a 32-bit word and the bound is kept unless its low half falls in the short, over-represented range. Subsets
come from Floyd's algorithm (Bentley and Floyd 1987): every d-subset of n things has exactly the probability 1/C(n, d).
Small subsets of a large alphabet are drawn by members instead of flags: n·d² comparisons, whatever the number of
inputs, where flags would need n·k.

How many words are drawn tells nothing beyond the report: the bounds that numbers are drawn below are the same whether
the report holds the truth or not, and a number that is not needed is drawn and left.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from extremal.exact.weights import WEIGHT_BITS
from extremal.release.sampling.loops import Codes, CompiledLoops, Loops
from extremal.release.sampling.words import Words, WordSource, of_values

LARGEST_BOUND = 1 << 32  # a 32-bit word times a bound must fit into 64 bits
LARGEST_FLAGS = 1 << 21  # bytes of membership flags worked on at a time
FEW = 64  # members up to which comparing them all is cheap
MANY = 1 << 12  # inputs from which it beats flags
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def happens(weight: int, count: int, source: WordSource) -> npt.NDArray[np.bool_]:
    """`count` independent events of probability weight/2^62."""
    words: Words = np.empty(count, dtype=np.uint64)
    source.fill(words)
    return np.asarray((words >> np.uint64(64 - WEIGHT_BITS)) < np.uint64(weight))


def uniform_below(bound: int, count: int, source: WordSource) -> Codes:
    """`count` independent integers, exactly uniform on 0..bound−1, for bound ≤ 2^32."""
    out = np.empty(count, dtype=np.int64)
    waiting, own = np.arange(count), source
    over = np.uint64(LARGEST_BOUND % bound)
    while waiting.size:
        words: Words = np.empty(waiting.size, dtype=np.uint64)
        own.fill(words)
        product = (words >> _HALF) * np.uint64(bound)
        good = (product & _LOW) >= over
        out[waiting[good]] = (product[good] >> _HALF).view(np.int64)
        waiting = waiting[~good]
        own = of_values(source, waiting)
    return out


def uniform_subsets(things: int, sizes: Codes, source: WordSource, steps: Codes | None = None) -> npt.NDArray[np.bool_]:
    """For each i an exactly uniform subset of `sizes[i]` of the things, as a row of flags.

    Args:
        things: their number.
        sizes: of the subsets.
        source: of the words.
        steps: for each i how many numbers are drawn, at least `sizes[i]` and at most `things`; the first ones are left
            where there are more. So that the words tell no size: `sizes` themselves if not given.
    """
    member = np.zeros((sizes.size, things), dtype=np.bool_)
    asked = sizes if steps is None else steps
    for step in range(int(asked.max(initial=0)), 0, -1):
        # Floyd: for a subset of size d the steps d, d−1, …, 1 draw below things − step + 1; a smaller set starts later.
        rows = np.flatnonzero(asked >= step)
        newest = things - step
        drawn = uniform_below(newest + 1, rows.size, of_values(source, rows))
        used = sizes[rows] >= step
        rows, drawn = rows[used], drawn[used]
        taken = member[rows, drawn]
        member[rows, np.where(taken, newest, drawn)] = True
    return member


def subset_reports(k: int, d: int, weight: int, codes: Codes, source: WordSource, loops: Loops | None = None) -> Codes:
    """Subset selection: the report contains x with probability weight/2^62, and is uniform given that.

    Args:
        k: number of inputs, at most 2^32.
        d: size of a report, 1 ≤ d < k.
        weight: of "the report contains x", over 2^62.
        codes: the true inputs x.
        source: of the words.
        loops: compiled ones draw the same sets from the same words, several times faster.

    Returns:
        n×d input codes, each row increasing.
    """
    out = np.empty((codes.size, d), dtype=np.int64)
    rows_at_a_time = 1 << max(0, (LARGEST_FLAGS // k).bit_length() - 1)  # a part of every chunk: NumPy's, numba's
    for start in range(0, codes.size, rows_at_a_time):
        x = codes[start : start + rows_at_a_time]
        own = of_values(source, slice(start, start + x.size))
        contains = happens(weight, x.size, own)
        if isinstance(loops, CompiledLoops):
            loops.members(_compiled_others(k - 1, d, contains, own, loops), x, contains, out[start : start + x.size])
            continue
        others = uniform_subsets(k - 1, d - contains.astype(np.int64), own, np.full(x.size, d))
        out[start : start + x.size] = np.nonzero(with_own(others, x, contains))[1].reshape(x.size, d)
    return out


def _compiled_others(
    things: int, d: int, contains: npt.NDArray[np.bool_], source: WordSource, loops: CompiledLoops
) -> npt.NDArray[np.bool_]:
    """`uniform_subsets` of d things, or d − 1 where the report contains x, always in d steps: the same words in the
    same order."""
    member = np.zeros((contains.size, things), dtype=np.bool_)
    everybody, nobody = np.arange(contains.size), np.zeros(contains.size, dtype=np.bool_)
    for step in range(d, 0, -1):
        newest = things - step
        rows, own, over = everybody, source, LARGEST_BOUND % (newest + 1)
        while rows.size:
            words: Words = np.empty(rows.size, dtype=np.uint64)
            own.fill(words)
            rows = loops.floyd(words, rows, newest, over, contains if step == d else nobody, member)
            own = of_values(source, rows)
    return member


def with_own(others: npt.NDArray[np.bool_], x: Codes, contains: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Flags of all things from those of the others, and whether the set contains x itself.

    The others are numbered without x: those from x on move up by one.
    """
    count, things = others.shape[0], others.shape[1] + 1
    everything = np.zeros((count, things), dtype=np.bool_)
    before = np.arange(things - 1) < x[:, None]
    everything[:, :-1] = others & before
    everything[:, 1:] |= others & ~before
    everything[np.arange(count), x] = contains
    return everything


def is_sparse(k: int, d: int) -> bool:
    """Whether reports are drawn by members."""
    return k >= MANY and d <= FEW


def sparse_subset_reports(k: int, d: int, weight: int, codes: Codes, source: WordSource) -> Codes:
    """What `subset_reports` draws, member by member: n×d input codes, each row increasing."""
    contains = happens(weight, codes.size, source)
    members = np.full((codes.size, d), -1, dtype=np.int64)
    for step in range(d, 0, -1):
        newest = k - 1 - step  # of the k − 1 others
        drawn = uniform_below(newest + 1, codes.size, source)
        taken = (members == drawn[:, None]).any(axis=1)
        members[:, step - 1] = np.where(taken, newest, drawn)
        if step == d:
            members[contains, d - 1] = -1  # a report with x has one member less: its first number is left
    members += members >= codes[:, None]  # the others are numbered without x
    members[contains, d - 1] = codes[contains]
    members.sort(axis=1)
    return members
