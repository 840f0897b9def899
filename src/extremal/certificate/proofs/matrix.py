"""A bound on squares without a list: a matrix inequality that no private mechanism escapes, at every size.

Every ε-LDP mechanism has tr(RJ) ≤ 0 for R = diag(d) − N − llᵀ/c, d and N ≥ 0, c = E·1ᵀd − 1ᵀN1 > 0, l = (E+1)d/2 − N1;
so ZWZ ⪯ PRPᵀ, P = I − p1ᵀ, proves that squares are worth −1ᵀR1 at most; under (ε,δ)-LDP tr(RJ) ≤ δ·Σβ with prices β
of d and N. Under PML and LIP with the workload's prior R = diag(d) − N has tr(PRPᵀJ) ≤ Σ d(high − 1)(1 − low) + Σ N(1 −
low)(1 − low), low and high around each lift (docs/design/proofs.md, `matrix`). Both sides annihilate 1, so this is
decided on the leading (k−1)×(k−1) block B: with any L and s > 0, B = LLᵀ + sI + E is multiplied out in integers and the
rows of |E| are found to sum to less than s; or, with any invertible X, XBXᵀ is found diagonally dominant (Gershgorin),
which asks for two products but minds no scales. L and X are proposed by floats, a Cholesky factor and its inverse;
nothing rests on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import fmpq

from extremal.certificate.arithmetic.cones import Lifts, Staircase, Together, Vector, cone_of
from extremal.certificate.arithmetic.doubles import near_factor, near_inverse_factor
from extremal.certificate.arithmetic.whole import from_triangle, multiplied
from extremal.certificate.limits import width_of, work_of_matrix
from extremal.certificate.proof import Refused
from extremal.certificate.proofs.dual import Price, Reason, SquareWorth, Worth
from extremal.certificate.reading import Counts, Table, Whole, Wholes
from extremal.problem import Goal, Integers, Privacy

MATRIX_BITS = 80  # of B, relative to its largest entry: a double's 53 and as many as its condition takes
MANY = 200  # rows from which on one product of matrices is tried before two
LARGEST_SCALE = 4000  # bits: the squares of doubles span 2^±2048


@dataclass(frozen=True)
class Matrix(Reason):
    """t, the level of R, when ZWZ ⪯ PRPᵀ; there is no α.

    Fields: d, whole numbers ≥ 0; n, the lower triangle of N between blocks of inputs, its diagonal within a block, ≥ 0,
    empty for N = 0; blocks, the block of each input, empty for N = 0; scale, Z counts as z·2^scale in the units of d.
    """

    kind: ClassVar[str] = "matrix"
    d: Wholes
    n: Table
    blocks: Counts
    scale: Whole

    def work(self, privacy: Privacy, goal: Goal) -> int:
        return work_of_matrix(width_of(goal))

    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> fmpq:
        if not isinstance(worth, SquareWorth) or worth.factor is not None or any(alpha.entries):
            raise Refused("a matrix inequality is about squares, without α", "alpha", len(alpha.entries))
        if abs(self.scale) > LARGEST_SCALE:
            raise Refused(f"scale may be at most {LARGEST_SCALE}", "scale", self.scale)
        cone = cone_of(worth.privacy, worth.k)
        d = np.array(self.d, dtype=object)
        if d.size != worth.k or (d < 0).any():
            raise Refused(f"d must be {worth.k} numbers ≥ 0", "len(d)", len(self.d))
        if isinstance(cone, Lifts):
            r, unit, level = self._of_lifts(worth, cone, d)
        elif isinstance(cone, (Staircase, Together)):
            r, unit, level = self._of_ratios(worth, cone, d)
        else:
            raise Refused("this proof is about LDP, PML and LIP", "privacy", type(worth.privacy).__name__)
        # R = r/unit, tr(PRPᵀJ) ≤ level; ZWZ = slope·4^scale/denominator
        up, down = 1 << 2 * max(0, self.scale), 1 << 2 * max(0, -self.scale)
        centred, slope = _centred(r, worth), worth.slope[:-1, :-1] * up
        _refuse_indefinite(centred, unit * worth.total**2, slope, worth.denominator * down)
        return level * fmpq(worth.denominator * down, up)

    def _of_ratios(self, worth: SquareWorth, cone: Staircase | Together, d: Integers) -> tuple[Integers, int, fmpq]:
        """(R times a unit, that unit, −1ᵀR1 and what breaking the ratio adds), all exact."""
        top = worth.rounded(cone.top)
        high, low, n = int(top.p), int(top.q), self._pairs(worth.k)
        row_sums = n.sum(axis=1)
        c = high * int(d.sum()) - low * int(row_sums.sum())  # over low
        if c <= 0:
            raise Refused("E·1ᵀd must exceed 1ᵀN1", "c", c)
        line = (high + low) * d - 2 * low * row_sums  # over 2·low
        unit = 4 * low * c  # llᵀ/c = line·lineᵀ/(4·low·c)
        r = -n * unit - np.outer(line, line)
        r[np.diag_indices(worth.k)] += d * unit
        broken = cone.delta * self._price(worth, top) if isinstance(cone, Together) else fmpq(0)
        return r, unit, fmpq(-int(r.sum()), unit) + broken

    def _of_lifts(self, worth: SquareWorth, cone: Lifts, d: Integers) -> tuple[Integers, int, fmpq]:
        """The same for R = diag(d) − N where lifts q/(p·q) lie between two numbers for each input."""
        total, weights = worth.total, worth.weights
        if not all(weights) or any(
            w * cone.prior.total != v * total for w, v in zip(weights, cone.prior.weights, strict=True)
        ):
            raise Refused("the notion must have the workload's prior, without zeros", "prior", len(weights))
        n, below, above = self._pairs(worth.k), [1 - low for low, _ in cone.ends], [top - 1 for _, top in cone.ends]
        level = sum((v * a * b for v, a, b in zip(d.tolist(), above, below, strict=True)), fmpq(0))
        for row, b in zip(n.tolist(), below, strict=True):
            level += b * sum((v * c for v, c in zip(row, below, strict=True)), fmpq(0))
        return np.diag(d) - n, 1, level

    def _price(self, worth: SquareWorth, top: fmpq) -> fmpq:
        """Σβ: by how much tr(RJ) exceeds 0 at most, for each unit by which columns break the ratio E."""
        weights = worth.weights
        if not all(weights):
            raise Refused("with δ every input must have a positive probability", "prior", "has zeros")
        n, total, d = self._pairs(worth.k), worth.total, self.d
        largest = (max(fmpq(int(v) * total, w) for v, w in zip(column, weights, strict=True)) for column in n.T)
        own = sum((fmpq(v * (total - w), w) for v, w in zip(d, weights, strict=True)), fmpq(0))
        return (worth.k - 1) * (sum(d) + 2 / top * sum(largest, fmpq(0))) + own

    def _pairs(self, k: int) -> Integers:
        if not self.n:
            if self.blocks:
                raise Refused("blocks go with n", parameter="len(blocks)", value=len(self.blocks))
            return np.zeros((k, k), dtype=object)
        count = len(self.n)
        if len(self.blocks) != k or min(self.blocks) < 0 or max(self.blocks) >= count:
            raise Refused("blocks must name a block for each input", "blocks", list(self.blocks)[:8])
        small = from_triangle(self.n, count, 1, "n")
        if (small < 0).any():
            raise Refused("n must hold numbers ≥ 0", "n", int(small.min()))
        blocks = np.array(self.blocks, dtype=np.intp)
        pairs = small[np.ix_(blocks, blocks)]
        pairs[np.diag_indices(k)] = 0
        return pairs


def _centred(r: Integers, worth: SquareWorth) -> Integers:
    """PRPᵀ times the total squared."""
    sums, w, total = r.sum(axis=1), np.array(worth.weights, dtype=object), worth.total
    cross = np.outer(w, sums)
    return np.asarray(r * total**2 - (cross + cross.T) * total + np.outer(w, w) * int(sums.sum()))


def _refuse_indefinite(matrix: Integers, unit: int, numerator: Integers, denominator: int) -> None:
    """Refuse unless matrix/unit − numerator/denominator is positive definite on the leading block."""
    size = matrix.shape[0] - 1
    largest = max(abs(int(v)) for v in np.diagonal(matrix))
    shift = 1 << max(0, MATRIX_BITS + unit.bit_length() - largest.bit_length())
    # Each quotient is rounded down by less than one unit, so the difference is off by less than one unit an entry:
    # 2·size covers it.
    difference = (matrix[:-1, :-1] * shift) // unit - (numerator * shift) // denominator
    difference[np.diag_indices(size)] -= 2 * size
    exponent = max(max(1, abs(int(v))).bit_length() for v in np.diagonal(difference))
    if max(int(difference.max()), -int(difference.min())).bit_length() > exponent + 2:
        raise Refused("ZWZ must lie below PRPᵀ", "z", "off the diagonal it is larger than on it")
    if size > MANY and _is_definite(difference, exponent):
        return
    scaled = near_inverse_factor(difference, exponent)
    if scaled is None:
        raise Refused("ZWZ must lie clearly below PRPᵀ", "z", "not positive definite")
    tested = multiplied(scaled, difference, scaled.T)
    diagonal = np.diagonal(tested)
    beside = np.abs(tested).sum(axis=1) - np.abs(diagonal)
    if not all(int(a) > int(b) for a, b in zip(diagonal, beside, strict=True)):
        raise Refused("ZWZ must lie below PRPᵀ", "z", "not shown to be positive definite")


def _is_definite(matrix: Integers, bits: int) -> bool:
    """Whether a symmetric matrix, its diagonal of at most so many bits, is found to be LLᵀ + sI + E, E small."""
    found = near_factor(matrix, bits)
    if found is None:
        return False
    factor, margin, places = found
    rest = (matrix << (places - bits)) - multiplied(factor, factor.T)
    rest[np.diag_indices(len(rest))] -= margin
    return bool((np.abs(rest).sum(axis=1) < margin).all())
