"""Random-scale subset selection: mechanisms for ordered inputs, from two blocks to a thousand.

The best random set for a distribution function is a field with equal weight on every scale, so a mixture over scales
comes close to it. An *atom* cuts the inputs into K blocks of neighbours and has a family of N sets of d ≈ K/(e^ε + 1)
blocks in which every block is covered equally often, r times; it reports a set e^ε times likelier if it holds the
input's block. An atom is a whole mechanism, so for a mixture only Σw = 1 is asked, and the information is the
mixture's: V = Σ w_a V_a, to be found by w_a ← w_a·√(tr(GV_a)/F) (multiplicative updates of optimal design). V_a lives
on K×K blocks: it is spread over k×k inputs by its second differences and a double running sum, and tr(GV_a) is read
from a double prefix sum of G.

Families: all d-subsets when few, otherwise the cyclic shifts of some base sets with flat autocorrelation (of one, when
it is a difference set).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.exact import IndexSet
from extremal.mechanism import Mechanism
from extremal.optimize.workload.lifts import Floats, Sets
from extremal.optimize.workload.structured.blocks import difference_set
from extremal.privacy import LDP
from extremal.utility import Ranges, Workload

Places = npt.NDArray[np.intp]

MOST_LISTED = 400  # d-subsets that are all listed
CANDIDATES = 24  # random base sets tried for each that is kept
LISTED_BLOCKS = 12  # up to here every number of blocks is a scale; beyond, a geometric sequence
NEAR = 1.12  # how far from its place a perfect scale may be
SIXTH = 7 / 6  # how far from the best number of blocks in a set others are tried
MOST_SETS = 6000  # of one scale, all offsets together
COARSE = 7  # blocks of the partitions that are searched edge by edge
TOTAL_SHARES = 1 << 34  # what the integer weights of all reports add up to: rounding is second order in F
CLOSE = 4e-3  # the mixture is left at this distance from its own optimum: the bound is farther
FAINT = 2e-4  # atoms below this share of the largest weight are dropped


@dataclass(frozen=True, eq=False)
class Family:
    """Sets of blocks, one a column, each block in `cover` of them."""

    sets: Sets
    cover: int


@dataclass(frozen=True, eq=False)
class Atom:
    """Blocks of neighbours and a family on them.

    Attributes:
        edges: starts of the segments, 0 first.
        block: the block of each segment; the last segment is in block 0 when the blocks are cyclic.
        family: the sets of blocks.
        information: V_a/(e^ε − 1)² between segments.
        low: the probability of a set that does not hold the input.
    """

    edges: Places
    block: Places
    family: Family
    information: Floats
    low: float


def make_atom(edges: Places, cyclic: bool, family: Family, prior_prefix: Floats, growth: float) -> Atom:
    """The atom and its information at the prior with the given prefix sums."""
    segments = edges.size
    block = np.arange(segments)
    if cyclic:
        block[-1] = 0
    mass = np.diff(np.append(prior_prefix[edges], prior_prefix[-1]))
    blocks = np.bincount(block, weights=mass)
    members = family.sets.astype(np.float64)
    count, cover = members.shape[1], family.cover
    low = 1 / (cover * growth + count)
    inside = blocks @ members
    deviation = (members - inside) * np.sqrt(low / (1 + growth * inside))
    information = deviation @ deviation.T
    return Atom(edges, block, family, information[np.ix_(block, block)], low)


class Families:
    """Families by (K, d), made once."""

    def __init__(self, base_sets: int) -> None:
        self._made: dict[tuple[int, int], Family] = {}
        self._base_sets = base_sets
        self._generator = np.random.default_rng(0)  # proposals of a search, always the same ones

    def of(self, blocks: int, size: int) -> Family:
        if (blocks, size) not in self._made:
            self._made[blocks, size] = self._make(blocks, size)
        return self._made[blocks, size]

    def _make(self, blocks: int, size: int) -> Family:
        if math.comb(blocks, size) <= MOST_LISTED:
            sets = np.zeros((blocks, math.comb(blocks, size)), dtype=np.bool_)
            for y, chosen in enumerate(combinations(range(blocks), size)):
                sets[list(chosen), y] = True
            return Family(sets, math.comb(blocks - 1, size - 1))
        perfect = difference_set(blocks, size)
        if perfect is None:
            bases = flat_bases(blocks, size, self._base_sets, self._generator)
        else:
            bases = [np.isin(np.arange(blocks), perfect)]
        shifted = np.arange(blocks)[:, None] - np.arange(blocks)
        sets = np.concatenate([base[shifted % blocks] for base in bases], axis=1)
        return Family(sets, size * len(bases))


def flat_bases(blocks: int, size: int, count: int, generator: np.random.Generator) -> list[npt.NDArray[np.bool_]]:
    """Base sets whose power spectra add up to something flat: each the best of some random ones."""
    bases: list[npt.NDArray[np.bool_]] = []
    spectrum = np.zeros(blocks)
    for _ in range(count):
        trials = np.zeros((CANDIDATES, blocks), dtype=np.bool_)
        for row in trials:
            row[generator.choice(blocks, size, replace=False)] = True
        power = np.abs(np.fft.fft(trials, axis=1)) ** 2 + spectrum
        best = int(
            np.argmax(
                power[:, 1:].min(axis=1) / power[:, 1:].mean(axis=1)
                - power[:, 1:].std(axis=1) / power[:, 1:].mean(axis=1)
            )
        )
        spectrum = power[best]
        bases.append(trials[best])
    return bases


class ScaleMixture:
    """Atoms, and the weights that make the best mixture of them."""

    def __init__(self, atoms: Iterable[Atom], prior: Floats, statistics: Floats, growth: float) -> None:
        self.prior, self.growth = prior, growth
        self.rows = statistics - (statistics @ prior)[:, None]
        if self.rows.shape[0] > prior.size:
            self.rows = np.asarray(np.linalg.qr(self.rows, mode="r"))
        self.k = prior.size
        self.atoms: list[Atom] = []
        self.weights = np.zeros(0)
        self.value = np.inf
        self.inverse: Floats = np.zeros((self.k, self.k))
        self.add(atoms)

    def add(self, atoms: Iterable[Atom], share: float = 0.1) -> None:
        new = list(atoms)
        if not new:
            return
        kept = 1.0 - share if self.atoms else 0.0
        self.weights = np.concatenate([kept * self.weights, np.full(len(new), (1 - kept) / len(new))])
        self.atoms += new
        self._index()

    def _index(self) -> None:
        """Where the second differences of every atom go, in one flat array."""
        places, amounts, self._starts = [], [], [0]
        for atom in self.atoms:
            padded = np.pad(atom.information, ((1, 0), (1, 0)))
            second = padded[1:, 1:] - padded[:-1, 1:] - padded[1:, :-1] + padded[:-1, :-1]
            places.append((atom.edges[:, None] * self.k + atom.edges).ravel())
            amounts.append(second.ravel())
            self._starts.append(self._starts[-1] + second.size)
        self._places = np.concatenate(places)
        self._amounts = np.concatenate(amounts)
        self._sizes = np.diff(self._starts)

    def information(self) -> Floats:
        """V/(e^ε − 1)²."""
        spread = np.bincount(
            self._places, weights=self._amounts * np.repeat(self.weights, self._sizes), minlength=self.k**2
        )
        return np.asarray(spread.reshape(self.k, self.k).cumsum(axis=0).cumsum(axis=1))

    def evaluate(self) -> Floats:
        """F, its slope, and tr(GV_a)/F for each atom. With second differences instead of V_a, G is summed from the
        other end.
        """
        information = self.information() + 1.0  # V + 11ᵀ: invertible, and p in the null space of A_c keeps 1 out of F
        inverse: Floats = np.asarray(np.linalg.inv(information), dtype=np.float64)
        half = self.rows @ inverse
        self.inverse = inverse
        self.value = float(np.sum(half * self.rows)) / self.growth**2
        slope = half.T @ half
        suffix = slope[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
        terms = self._amounts * suffix.ravel()[self._places]
        return np.asarray(np.add.reduceat(terms, self._starts[:-1])) / (self.value * self.growth**2)

    def improve(self, rounds: int, close: float, out_of_time: Callable[[], bool]) -> float:
        """Multiplicative updates until no atom's share is off by more than `close`; the largest tr(GV_a)/F − 1."""
        excess = np.inf
        for step in range(rounds):
            ratios = self.evaluate()
            excess = float(ratios.max()) - 1
            if excess < close or out_of_time():
                break
            self.weights *= np.sqrt(np.maximum(ratios, 0.0))
            self.weights /= self.weights.sum()
            if step % 25 == 24:
                self.prune(1e-7)
        return excess

    def prune(self, least: float) -> None:
        """Drop atoms below a share of the largest weight."""
        kept = self.weights > least * self.weights.max()
        if kept.all():
            return
        self.atoms = [atom for atom, stays in zip(self.atoms, kept.tolist(), strict=True) if stays]
        self.weights = self.weights[kept] / self.weights[kept].sum()
        self._index()


def scales(k: int, growth: float, ratio: float) -> list[tuple[int, int]]:
    """Numbers of blocks K from 2 up to k, each with set sizes d next to K/(e^ε + 1).

    Up to a dozen blocks every K; beyond, about a factor `ratio` apart, a K with a difference set of nearly the best
    size where there is one: its K shifts are worth all subsets.
    """
    found = [(blocks, size) for blocks in range(2, min(k, LISTED_BLOCKS) + 1) for size in _sizes(blocks, growth)]
    place = float(LISTED_BLOCKS)
    while place * ratio < k:
        place *= ratio
        near = sorted(
            range(math.ceil(place / NEAR), math.floor(place * NEAR) + 1), key=lambda blocks: abs(blocks - place)
        )
        perfect = [pair for blocks in near if blocks <= k for pair in _perfect(blocks, growth)]
        found += perfect[:1] or [(round(place), size) for size in _sizes(round(place), growth)]
    if k > LISTED_BLOCKS:
        found += _perfect(k, growth)[:1] or [(k, size) for size in _sizes(k, growth)]
    return list(dict.fromkeys(found))


def _perfect(blocks: int, growth: float) -> list[tuple[int, int]]:
    """Difference sets of `blocks` whose size is within a sixth of the best: they lose at most half a percent."""
    best = blocks / (growth + 2)
    sizes = range(max(2, math.ceil(best / SIXTH)), math.floor(best * SIXTH) + 1)
    return [(blocks, size) for size in sizes if size * (size - 1) % (blocks - 1) == 0 and difference_set(blocks, size)]


def _sizes(blocks: int, growth: float) -> set[int]:
    """Whole numbers next to K/(e^ε + 1); where they are large one will do."""
    best = blocks / (growth + 2)
    if best > 8:
        return {round(best)}
    return {max(1, math.floor(best)), min(blocks - 1, math.ceil(best))}


def grid_atoms(
    prior: Floats, growth: float, families: Families, *, ratio: float, offsets: int, cyclic: bool, masses: bool
) -> Iterator[Atom]:
    """Equal blocks at every scale and several offsets; of the line, of prior mass, and between."""
    k = prior.size
    prefix = np.concatenate([[0.0], np.cumsum(prior)])
    levels = [np.arange(k + 1) / k]
    if masses:
        by_mass = prefix / prefix[-1]
        levels += [(levels[0] + by_mass) / 2, by_mass]
    seen: set[tuple[bytes, bool, int]] = set()
    for blocks, size in scales(k, growth, ratio):
        count = families.of(blocks, size).sets.shape[1]
        shifts = 1 if blocks == k else max(2, min(offsets, 6 * k // blocks, MOST_SETS // count))
        for level, shift, wrapped in product(levels, range(shifts), (False, True) if cyclic else (False,)):
            edges = _edges(level, blocks, shift / shifts, wrapped)
            if edges.size - wrapped == blocks and (edges.tobytes(), wrapped, size) not in seen:
                seen.add((edges.tobytes(), wrapped, size))
                yield make_atom(edges, wrapped, families.of(blocks, size), prefix, growth)


def _edges(level: Floats, blocks: int, shift: float, wrapped: bool) -> Places:
    """Starts of the segments: as many blocks whatever the shift, the end ones cut short, or joined when they wrap."""
    if shift == 0:
        cuts = np.arange(1, blocks) / blocks if not wrapped else np.zeros(0)
    else:
        cuts = (np.arange(blocks - (not wrapped)) + shift) / (blocks - (not wrapped))
    edges = np.unique(np.concatenate([[0], np.searchsorted(level, cuts - 1e-12)]))
    return np.asarray(edges[edges < level.size - 1], dtype=np.intp)


def priced_atoms(
    mixture: ScaleMixture, families: Families, generator: np.random.Generator, starts: int, most_blocks: int = COARSE
) -> list[Atom]:
    """Coarse partitions that the mixture lacks: random edges, each then moved to where tr(GV_a) is largest, in turn."""
    k, growth = mixture.k, mixture.growth
    ratios = mixture.evaluate()
    half = mixture.rows @ mixture.inverse
    prefix = np.zeros((k + 1, k + 1))
    prefix[1:, 1:] = (half.T @ half).cumsum(axis=0).cumsum(axis=1)
    prefix /= mixture.value * growth**2
    masses = np.concatenate([[0.0], np.cumsum(mixture.prior)])
    found: dict[tuple[bytes, int], tuple[float, Places, Family]] = {}
    for _ in range(starts):
        blocks = int(generator.integers(2, min(most_blocks, k) + 1))
        centre = blocks / (growth + 2)
        size = min(blocks - 1, max(1, math.floor(centre) + int(generator.random() < centre - math.floor(centre))))
        family = families.of(blocks, size)
        edges = np.concatenate(
            [[0], np.sort(generator.choice(np.arange(1, k), blocks - 1, replace=False)), [k]]
        ).astype(np.intp)
        worth, edges = _moved(edges, family, prefix, masses, growth)
        if worth > 1:
            found[edges.tobytes(), size] = (worth, edges, family)
    best = sorted(found.values(), key=lambda item: -item[0])[: max(8, starts // 4)]
    least = 1 + 0.1 * max(0.0, float(ratios.max()) - 1)
    return [make_atom(edges[:-1], False, family, masses, growth) for worth, edges, family in best if worth > least]


def _moved(edges: Places, family: Family, prefix: Floats, masses: Floats, growth: float) -> tuple[float, Places]:
    worth = -np.inf
    for _ in range(6):
        before = worth
        for i in range(1, edges.size - 1):
            places = np.arange(edges[i - 1] + 1, edges[i + 1])
            if places.size > 64:  # on a fine grid: a sample and the neighbourhood
                near = np.arange(max(places[0], edges[i] - 8), min(places[-1], edges[i] + 8) + 1)
                places = np.union1d(near, np.linspace(places[0], places[-1], 48).astype(np.intp))
            trial = np.repeat(edges[None, :], places.size, axis=0)
            trial[:, i] = places
            values = _worths(trial, family, prefix, masses, growth)
            best = int(np.argmax(values))
            if values[best] > worth:
                worth, edges = float(values[best]), trial[best]
        if worth <= before * (1 + 1e-9):
            break
    return worth, edges


def _worths(edges: Places, family: Family, prefix: Floats, masses: Floats, growth: float) -> Floats:
    """tr(GV_a)/F of atoms that differ in their edges only: Σ_y low·TᵀGT/(1 + (e^ε−1)p(T)), since G1 = 0."""
    corners = prefix[edges[:, :, None], edges[:, None, :]]
    between = np.diff(np.diff(corners, axis=1), axis=2)
    members = family.sets.astype(np.float64)
    inside = np.diff(masses[edges], axis=1) @ members
    squares = ((between @ members) * members).sum(axis=1)
    low = 1 / (family.cover * growth + members.shape[1])
    return np.asarray((low * squares / (1 + growth * inside)).sum(axis=1))


def best_mixture(
    utility: Workload, prior: Floats, growth: float, out_of_time: Callable[[], bool], tell: Callable[[float], None]
) -> ScaleMixture:
    """Atoms on a grid of scales and offsets, then coarse partitions as pricing asks for them."""
    large = prior.size > 300
    families = Families(3 if large else 4)
    cyclic = isinstance(utility, Ranges)
    skewed = float(np.ptp(prior)) > 1e-9
    atoms = grid_atoms(
        prior, growth, families, ratio=1.4 if large else 1.3, offsets=12 if large else 16, cyclic=cyclic, masses=skewed
    )
    mixture = ScaleMixture(atoms, prior, utility.rows, growth)
    tell(mixture.improve(60 if large else 200, 2 * CLOSE, out_of_time))
    generator = np.random.default_rng(1)  # proposals of a search, always the same ones
    coarse = Families(8)
    for _ in range(3 if large else 6):
        if out_of_time():
            break
        new = priced_atoms(mixture, coarse, generator, 40 if large else 60)
        if not new:
            break
        mixture.add(new)
        tell(mixture.improve(30 if large else 150, CLOSE, out_of_time))
    mixture.prune(FAINT)
    mixture.improve(10, CLOSE, out_of_time)
    return mixture


def mixture_mechanism(mixture: ScaleMixture, privacy: LDP, inputs: Any = None) -> Mechanism:
    """The mixture in exact weights: every report a set of inputs, e^ε times likelier on it."""
    shares = mixture.weights * np.array([atom.low for atom in mixture.atoms])
    counts = np.array([atom.family.sets.shape[1] for atom in mixture.atoms])
    times = np.maximum(1, np.rint(shares * (TOTAL_SHARES / float(shares @ counts)))).astype(np.int64).tolist()
    sets: list[IndexSet] = []
    often: list[int] = []
    for atom, share in zip(mixture.atoms, times, strict=True):
        listed = _sets(atom, mixture.k)
        sets += listed
        often += [share] * len(listed)
    return Mechanism.from_cover(mixture.k, sets, privacy, times=often, inputs=inputs)


def _sets(atom: Atom, k: int) -> list[IndexSet]:
    """The atom's sets as runs of inputs."""
    inside = atom.family.sets[atom.block]  # segments × sets
    ends = np.append(atom.edges, k)
    padded = np.zeros((inside.shape[0] + 2, inside.shape[1]), dtype=np.int8)
    padded[1:-1] = inside
    change = np.diff(padded, axis=0).T
    found = []
    for row in change:
        starts, stops = ends[row == 1].tolist(), ends[row == -1].tolist()
        found.append(IndexSet(tuple(zip(starts, stops, strict=True))))
    return found
