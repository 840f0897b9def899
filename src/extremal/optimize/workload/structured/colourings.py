"""Colourings, priced and raised: what mechanisms for many inputs are mixed of.

A *colouring* parts the inputs into N classes and reports the class by randomised response. Every input is in exactly
one class, so that each colouring is an ε-LDP mechanism by itself and a mixture needs Σw = 1 and nothing else. With s_j
the prior probability of class j, the excess information of a colouring is

    V = Σ_j φ_j (1_j − s_j)(1_j − s_j)ᵀ,    φ_j = (e^ε−1)²/((N − 1 + e^ε)(1 + (e^ε−1)s_j)),

that of a mixture the mean of these. New colourings come from pricing: with G = J⁻¹W_cJ⁻¹, G1 = 0, one is worth tr(GV) =
Σ_j φ_j 1_jᵀG1_j, raised from random starts by moving single inputs. Classes of mass 1/(e^ε+1) lose nothing against the
matrix inequality's bound; N = 4 at ε = 1 loses 0.24%, N = 8 at ε = 2 0.07%.

Many inputs are coloured in cells of neighbours as well: G summed over cells prices them. *Tiles* cut the inputs into
blocks, with a colouring of each; several colourings share it, their colours shifted from block to block. Colouring a
shifts block B by s bits of a·B in GF(2^n), N = 2^s, or by the inner product of the digits of a and B modulo a prime N.
The map a ↦ a·(B − B') is linear and onto, so that over these colourings the colours of inputs in different blocks are
independent and V vanishes between blocks: one tile fills every block at once, without the noise of random colours
between far inputs. V of a tile is taken at classes of mass 1/N; their true masses enter only when the mechanism is
made. `mixtures` has the weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.optimize.workload.lifts import Floats
from extremal.optimize.workload.mirror import halves, is_mirrored

Labels = npt.NDArray[np.intp]

SWEEPS = 8  # through the inputs in a local search: most moves come in the first
SWEEPS_OF_MANY, MANY = 3, 200  # through more inputs than so many: new starts then gain more than later sweeps
GAIN = 1e-12  # relative: a smaller gain is rounding


@dataclass(frozen=True, eq=False)
class OrderedInputs:
    """The problem: a prior and statistics of inputs in an order.

    Attributes:
        prior: p, all positive.
        gram: W_c = A_cᵀA_c.
        growth: e^ε − 1.
        mirrored: whether x → k−1−x keeps both.
    """

    prior: Floats
    gram: Floats
    growth: float
    mirrored: bool

    @classmethod
    def of(cls, prior: Floats, rows: Floats, growth: float) -> OrderedInputs:
        centred = rows - (rows @ prior)[:, None]
        gram = np.asarray(centred.T @ centred)
        return cls(prior, gram, growth, is_mirrored(prior, gram))

    @property
    def k(self) -> int:
        return self.prior.size

    @cached_property
    def factors_of_gram(self) -> tuple[Floats, ...]:
        """B with BBᵀ = W_c; of its even and its odd block where the problem is mirrored."""
        found = [np.linalg.eigh(part) for part in (halves(self.gram) if self.mirrored else (self.gram,))]
        return tuple(vectors * np.sqrt(np.maximum(values, 0.0)) for values, vectors in found)

    @property
    def unit(self) -> float:
        """About the largest entry of V: what V is counted in, so that 11ᵀ neither drowns it nor drowns in it."""
        colours = min(self.growth + 2, self.k)
        return self.growth**2 / ((colours + self.growth) * (1 + self.growth / colours))

    def factors(self, masses: Floats, colours: Floats | int) -> Floats:
        """φ of classes with these masses, in units."""
        return np.asarray(self.growth**2 / self.unit / ((colours + self.growth) * (1 + self.growth * masses)))


class ColouredCells:
    """Colourings of cells of neighbours, each a row of labels 0..N−1 with N of its own."""

    def __init__(self, problem: OrderedInputs, count: int) -> None:
        self.problem, self.count = problem, count
        self.cell: Labels = np.arange(problem.k) * count // problem.k
        self.starts = np.searchsorted(self.cell, np.arange(count))
        self.masses = np.asarray(np.add.reduceat(problem.prior, self.starts))
        self.upper = np.triu(np.ones((count, count), dtype=np.bool_))
        self.labels: Labels = np.zeros((0, count), dtype=np.intp)
        self.weights = np.zeros(0)
        self._table: Any = None

    def add(self, labels: Labels, weight: float) -> None:
        """New colourings, with so much weight in all."""
        from scipy.sparse import csr_matrix, vstack

        rows = [self._row(row) for row in labels]
        ends = np.cumsum([0] + [where.size for where, _ in rows])
        content = (np.concatenate([a for _, a in rows]), np.concatenate([where for where, _ in rows]), ends)
        new = csr_matrix(content, shape=(len(rows), self.count**2))
        self._table = new if self._table is None else vstack([self._table, new], format="csr")
        self.labels = np.concatenate([self.labels, labels])
        self.weights = np.concatenate([self.weights, np.full(len(rows), weight / len(rows))])

    def _row(self, labels: Labels) -> tuple[npt.NDArray[np.int32], Floats]:
        """Pairs of cells x ≤ z of one class, and their φ."""
        where = np.flatnonzero((labels[:, None] == labels) & self.upper).astype(np.int32)
        masses = np.asarray(np.bincount(labels, weights=self.masses), dtype=np.float64)
        return where, self.problem.factors(masses, masses.size)[labels[where // self.count]]

    def information(self, weights: Floats) -> Floats:
        """H with H + Hᵀ = Σ w Σ_j φ_j 1_j1_jᵀ between inputs."""
        small = halved_diagonal((self._table.T @ weights).reshape(self.count, self.count))
        return small if self.count == self.problem.k else np.asarray(small[self.cell].take(self.cell, axis=1))

    def summed(self, slope: Floats) -> Floats:
        """G over cells."""
        if self.count == self.problem.k:
            return slope
        return np.asarray(np.add.reduceat(np.add.reduceat(slope, self.starts, axis=0), self.starts, axis=1))

    def prices(self, slope: Floats) -> Floats:
        """tr(GV) of each colouring."""
        g = 2 * self.summed(slope)
        np.fill_diagonal(g, np.diagonal(g) / 2)
        return np.asarray(self._table @ g.ravel())

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self.labels, self.weights, self._table = self.labels[kept], self.weights[kept], self._table[kept]

    @property
    def reports(self) -> Labels:
        """How many each colouring has."""
        return np.asarray(self.labels.max(axis=1, initial=0) + 1)

    def colourings(self) -> tuple[Labels, Floats]:
        """Of the inputs, with their weights."""
        return self.labels[:, self.cell], self.weights

    def random(self, colours: Labels, generator: np.random.Generator) -> Labels:
        """A colouring for each number of colours: blocks of one length between 1 cell and what leaves a block for each
        colour, colours dealt in turn."""
        longest = np.log(np.maximum(1.3, self.count / colours))
        lengths = np.exp(generator.uniform(0, longest)).tolist()
        pairs = zip(colours.tolist(), lengths, strict=True)
        return compact(np.array([dealt(self.count, own, length, generator) for own, length in pairs]))

    def priced(self, slope: Floats, colours: Labels, generator: np.random.Generator) -> Labels:
        """Colourings raised from random starts."""
        starts, one = self.random(colours, generator), np.zeros(colours.size, dtype=np.intp)
        slopes, growth = self.summed(slope)[None], self.problem.growth
        return compact(raised(slopes, one, starts, colours, self.masses, growth, generator))


def halved_diagonal(upper: Floats) -> Floats:
    """Changed in place, so that with its transpose it is the symmetric matrix of this upper triangle."""
    upper[np.diag_indices(len(upper))] /= 2
    return upper


def dealt(count: int, colours: int, length: float, generator: np.random.Generator) -> Labels:
    """Blocks of one length with a random offset, the colours as equally often as can be."""
    block = np.floor((np.arange(count) + generator.uniform(0, length)) / length).astype(np.intp)
    blocks = int(block[-1]) + 1
    deck = generator.permutation(np.arange(max(blocks, colours)) % colours)[:blocks]
    return np.asarray(deck[block])


def raised(
    slopes: Floats, which: Labels, labels: Labels, colours: Labels, masses: Floats, growth: float, generator: Any
) -> Labels:
    """Colourings, one a row, each raised by moving single inputs to the class that gains most, until none gains.

    With M_j = G1_j, Q_j = 1_jᵀG1_j and n_j the mass, moving x into j turns Q_j/(1 + (e^ε−1)n_j) into
    (Q_j + 2M_j(x) + G_xx)/(1 + (e^ε−1)(n_j + p_x)).

    Args:
        slopes, which: several G, and the one of each colouring.
        colours: how many classes each colouring may have.
    """
    labels = labels.copy()
    number, count = labels.shape
    rows, most = np.arange(number), int(colours.max())
    # a class that a colouring does not have gains nothing
    shut = np.where(np.arange(most) < colours[:, None], 0.0, -np.inf) if (colours < most).any() else None
    member = labels[:, None, :] == np.arange(most)[:, None]
    along = member.astype(np.float64) @ (slopes[0] if len(slopes) == 1 else slopes[which])
    square = (along * member).sum(axis=2)
    mass = 1 + growth * (member @ masses)
    now = square / mass
    least = GAIN * max(1e-300, float(square.max()))
    for _ in range(SWEEPS if count <= MANY else SWEEPS_OF_MANY):
        moves = 0
        for x in generator.permutation(count).tolist():
            own, p, here, diagonal = labels[:, x], growth * masses[x], along[:, :, x], slopes[which, x, x]
            left = square[rows, own] - 2 * here[rows, own] + diagonal
            lost = left / (mass[rows, own] - p) - now[rows, own]
            grown = square + 2 * here + diagonal[:, None]
            gained = grown / (mass + p) - now
            if shut is not None:
                gained += shut
            gained[rows, own] = -lost
            best = gained.argmax(axis=1)
            go = np.flatnonzero((gained[rows, best] + lost > least) & (best != own))
            if not go.size:
                continue
            moves += go.size
            a, b, g = own[go], best[go], slopes[which[go], x]
            square[go, a], square[go, b] = left[go], grown[go, b]
            mass[go, a] -= p
            mass[go, b] += p
            now[go, a], now[go, b] = square[go, a] / mass[go, a], square[go, b] / mass[go, b]
            along[go, a] -= g
            along[go, b] += g
            labels[go, x] = b
        if moves <= number * count // 500:
            break
    return labels


def compact(labels: Labels) -> Labels:
    """The same classes without empty ones."""
    return np.array([np.unique(row, return_inverse=True)[1] for row in labels], dtype=np.intp)


class Tiles:
    """Tiles: blocks of one width at a few offsets, a colouring within each, colours independent between blocks."""

    OFFSETS = 8  # of the blocks: as many different sets of pairs that share a block

    def __init__(self, problem: OrderedInputs, colours: int, width: int) -> None:
        from scipy.sparse import csr_matrix

        self.problem, self.colours, self.width = problem, colours, width
        k = problem.k
        starts = [width * i // self.OFFSETS for i in range(self.OFFSETS)]
        self.blocks = [(np.arange(k) + width - start - 1) // width for start in starts]
        self.blocks = [block - block[0] for block in self.blocks]
        self.upper = np.triu(np.ones((k, k), dtype=np.bool_))
        self._within = csr_matrix(
            np.array([((block[:, None] == block) & self.upper).ravel() for block in self.blocks], dtype=np.float64)
        )
        # κ between inputs of one colour, −κ/(N−1) between others of the block
        self.kappa = float(problem.factors(np.array(1 / colours), colours)) * (1 - 1 / colours)
        self.shifts = shifts(colours, 1 + max(int(block[-1]) for block in self.blocks))
        self.labels: Labels = np.zeros((0, k), dtype=np.intp)
        self.offset: Labels = np.zeros(0, dtype=np.intp)
        self.weights = np.zeros(0)
        self._table: Any = None

    def add(self, labels: Labels, weight: float) -> None:
        """New tiles, at the offsets in turn, with so much weight in all."""
        from scipy.sparse import csr_matrix, vstack

        amount = self.kappa * self.colours / (self.colours - 1)
        offset = np.arange(len(labels)) % self.OFFSETS
        rows = [
            np.flatnonzero((row[:, None] == row) & (self.blocks[i][:, None] == self.blocks[i]) & self.upper)
            for row, i in zip(labels, offset.tolist(), strict=True)
        ]
        ends = np.cumsum([0] + [where.size for where in rows])
        where = np.concatenate(rows).astype(np.int32)
        new = csr_matrix((np.full(where.size, amount), where, ends), shape=(len(rows), self.problem.k**2))
        self._table = new if self._table is None else vstack([self._table, new], format="csr")
        self.labels, self.offset = np.concatenate([self.labels, labels]), np.concatenate([self.offset, offset])
        self.weights = np.concatenate([self.weights, np.full(len(rows), weight / len(rows))])

    def information(self, weights: Floats) -> Floats:
        """H with V = H + Hᵀ."""
        beside = np.bincount(self.offset, weights=weights, minlength=self.OFFSETS) * self.kappa / (self.colours - 1)
        k = self.problem.k
        return halved_diagonal((self._table.T @ weights - self._within.T @ beside).reshape(k, k))

    def prices(self, slope: Floats) -> Floats:
        g = 2 * slope
        np.fill_diagonal(g, np.diagonal(g) / 2)
        beside = self._within @ g.ravel() * (self.kappa / (self.colours - 1))
        return np.asarray(self._table @ g.ravel() - beside[self.offset])

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        self.labels, self.offset, self.weights = self.labels[kept], self.offset[kept], self.weights[kept]
        self._table = self._table[kept]

    @property
    def reports(self) -> Labels:
        """How many each tile has."""
        return np.full(self.weights.size, len(self.shifts) * self.colours)

    def colourings(self) -> tuple[Labels, Floats]:
        """One by one, with their weights."""
        copies = len(self.shifts)
        found = []
        for row, offset in zip(self.labels, self.offset.tolist(), strict=True):
            moved = self.shifts[:, self.blocks[offset]]
            plain = self.colours & (self.colours - 1)
            found.append((row + moved) % self.colours if plain else row ^ moved)
        table = np.concatenate(found) if found else np.zeros((0, self.problem.k), dtype=np.intp)
        return table, np.repeat(self.weights / copies, copies)

    def random(self, colours: Labels, generator: np.random.Generator) -> Labels:
        """Tiles at the offsets in turn, each block like a random colouring of cells; as many as `colours` are given."""
        longest = math.log(max(1.5, 1.5 * self.width / self.colours))
        found = []
        for i, length in enumerate(np.exp(generator.uniform(0, longest, colours.size)).tolist()):
            sizes = np.bincount(self.blocks[i % self.OFFSETS]).tolist()
            found.append(np.concatenate([dealt(n, self.colours, length, generator) for n in sizes]))
        return np.array(found)

    def priced(self, slope: Floats, colours: Labels, generator: np.random.Generator) -> Labels:
        """Tiles raised block by block, all at once; without masses, since classes do not depend on one block."""
        labels, number = self.random(colours, generator), colours.size
        slopes: list[Floats] = []
        parts = []  # each block's G, filled up with zeros, and where its labels stand
        for i in range(min(number, self.OFFSETS)):
            edges = np.append(np.flatnonzero(np.diff(self.blocks[i], prepend=-1)), self.problem.k)
            for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
                part = np.zeros((self.width, self.width))
                part[: stop - start, : stop - start] = slope[start:stop, start:stop]
                parts += [(len(slopes), tile, start, stop) for tile in range(i, number, self.OFFSETS)]
                slopes.append(part)
        short = np.zeros((len(parts), self.width), dtype=np.intp)
        for row, (_, tile, start, stop) in zip(short, parts, strict=True):
            row[: stop - start] = labels[tile, start:stop]
        which = np.array([g for g, *_ in parts])
        every = np.full(len(parts), self.colours)
        moved = raised(np.array(slopes), which, short, every, np.zeros(self.width), 0.0, generator)
        for row, (_, tile, start, stop) in zip(moved, parts, strict=True):
            labels[tile, start:stop] = row[: stop - start]
        return labels


IRREDUCIBLE = {1: 0b11, 2: 0b111, 3: 0b1011, 4: 0b10011, 5: 0b100101, 6: 0b1000011, 7: 0b10000011, 8: 0b100011011}
"""Polynomials over GF(2), by degree (Lidl and Niederreiter, Finite Fields, table C)."""


def shifts(colours: int, blocks: int) -> Labels:
    """By how much each of some colourings (rows) shifts the colours of each block: over the rows, the differences of
    any two blocks are uniform.

    >>> shifts(3, 3).tolist()
    [[0, 0, 0], [0, 1, 2], [0, 2, 1]]
    """
    if colours & (colours - 1) == 0:
        degree = max(colours.bit_length() - 1, (blocks - 1).bit_length(), 1)
        found = [[_product(a, b, degree) & (colours - 1) for b in range(blocks)] for a in range(1 << degree)]
        return np.array(found, dtype=np.intp)
    digits = 1
    while colours**digits < blocks:
        digits += 1
    powers = colours ** np.arange(digits)
    a = np.arange(colours**digits)[:, None] // powers % colours
    return np.asarray(a @ (np.arange(blocks)[:, None] // powers % colours).T % colours)


def _product(a: int, b: int, degree: int) -> int:
    """In GF(2^degree), elements being polynomials with the bits for coefficients."""
    found = 0
    for place in range(b.bit_length()):
        found ^= (a << place) * (b >> place & 1)
    for place in range(found.bit_length() - 1, degree - 1, -1):
        found ^= (IRREDUCIBLE[degree] << (place - degree)) * (found >> place & 1)
    return found
