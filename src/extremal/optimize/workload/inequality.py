"""The bound that needs no list of patterns, made as large as possible.

For d ≥ 0 and N ≥ 0 (see `extremal.certificate.proofs.matrix`) every ε-LDP mechanism has F ≥ (tr
√(CRCᵀ))²/(−1ᵀR1), C = A_c, provided UᵀRU ⪰ 0. The logarithm of that is maximised over (log d, N) by L-BFGS-B. −1ᵀR1 =
(1ᵀd)²(E−1)²/(4c). With M = CRCᵀ and Γ = CᵀM^{-1/2}C/tr√M the derivatives of 2·log tr√M by d and by a pair N_xz are Γ_xx
− (E+1)(Γl)_x/c + E·lᵀΓl/c² and −2Γ_xz + 2((Γl)_x + (Γl)_z)/c − 2·lᵀΓl/c². With δ the level has δ times the
prices of (d, N) besides: a rare input, which δ may reveal, then gets a smaller d. N = 0 is nearly enough for ε ≤ 1. At
d = p, N = 0 the bound is (tr√(A_c diag(p) A_cᵀ))²/sinh²(ε/2), which always exists.

The bound is (tr WZ)²/(−1ᵀR1) for any Z with ZWZ ⪯ PRPᵀ. Where W has a null space, UᵀRU ⪰ 0 must be kept besides, and
the best R lies on the edge of that; so the bound of W + γ²sK is climbed, K the inverse of R at the start and s the
scale of W, for smaller and smaller γ: its square root keeps R inside. With its Z the condition holds for W all the
more, with room for rounding, and tr WZ is what counts. What the inputs themselves leave, tr W(diag(p) − ppᵀ), is a
bound too, the best one at very large ε, and the only one where floats hold no other."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.certificate import Proof, Squares
from extremal.optimize.workload.lifts import DEPENDENT, Coordinates, Floats, staircase_deviations
from extremal.optimize.workload.mirror import halves, is_mirrored, joined
from extremal.optimize.workload.proofs import matrix_inequality, proven, revealed_inputs
from extremal.privacy import Notion
from extremal.utility import Workload

Blocks = npt.NDArray[np.intp]
Clock = Callable[[], float]
Maker = Callable[[float], "_Objective"]
Met = tuple[float, Floats, Floats | None]  # the logarithm of the bound, and its gradients by d and by N

SINGULAR = 1e-11  # eigenvalues below this, relatively, count as lost: the inequality must be shown with room
MOST_BLOCKS = 100  # N between so many blocks of neighbours has 5,050 entries
PAIRS_FROM = 0.4  # below this ε, N adds less than a thousandth
HALVED_FROM = 32  # inputs: below, two small decompositions take as long as one
FAR = 30.0  # log d stays within this of its start: no overflow
SHRINK = (1e-9, 1e-7, 1e-5, 1e-3)  # of Z, until the exact check has room
GUARDS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)  # γ: the first is easy, and the last costs some γ² of the bound
FAR_BELOW = 2.0  # times a bound: where randomised response costs more, a search that starts with γ may end higher
HALVINGS = 12  # of a first N that leads out of the domain; beyond, it is d that does
CLIMBS = 8  # from the best point met: a step out of the domain stops L-BFGS-B


@dataclass(frozen=True, eq=False)
class Inequality:
    """A bound in floats and what it is made of; no d where it is that of the inputs themselves."""

    d: Floats
    pairs: Floats | None
    blocks: Blocks | None
    bound: float
    z: Floats
    following: Inequality | None = None
    """The next best, should the kernel refuse this one."""

    def proof(
        self,
        privacy: Notion,
        utility: Workload,
        groups: tuple[int, ...] = (),
        within: Callable[[Squares], Proof] = lambda squares: squares,
    ) -> Proof:
        """The same in integers, with as little room as the exact check needs; `within` another proof, perhaps."""
        if self.d.size:
            for shrink in SHRINK:
                found = matrix_inequality(self.d, self.pairs, self.blocks, (1 - shrink) * self.z, groups)
                held = proven((within(found),), privacy, utility)
                if held:
                    return held[0]
        if self.d.size and self.following is not None:
            return self.following.proof(privacy, utility, groups, within)
        return within(revealed_inputs(utility))

    @classmethod
    def of_inputs(cls, coordinates: Coordinates) -> Inequality:
        """No report tells more than the input."""
        p, centred = coordinates.prior, coordinates.rows - (coordinates.rows @ coordinates.prior)[:, None]
        return cls(np.zeros(0), None, None, float((centred**2 @ p).sum()), np.diag(p) - np.outer(p, p))


@dataclass(frozen=True, eq=False)
class _Statistics:
    """The statistics in one block, or in an even and an odd one where x → k−1−x keeps the problem.

    Attributes:
        mirrored: whether there are two.
        bases: of p⊥, orthonormal, one matrix a block.
        statistics: in these coordinates.
        rows: in those of the block.
    """

    mirrored: bool
    bases: tuple[Floats, ...]
    statistics: tuple[Floats, ...]
    rows: tuple[Floats, ...]

    @classmethod
    def of(cls, coordinates: Coordinates, blocks: Blocks | None, guard: float = 0.0) -> _Statistics:
        """In two blocks where that pays, all statistics matter, and blocks of N are mirror images too."""
        if guard:
            return cls._made(False, [coordinates.basis], [_guarded(coordinates, guard)])
        if coordinates.k >= HALVED_FROM and (blocks is None or np.ptp(blocks + blocks[::-1]) == 0):
            found = cls._halved(coordinates)
            if found is not None:
                return found
        return cls._made(False, [coordinates.basis], [coordinates.statistics])

    @classmethod
    def _made(cls, mirrored: bool, bases: list[Floats], statistics: list[Floats]) -> _Statistics:
        rows = tuple(b @ u.T for b, u in zip(statistics, bases, strict=True))
        return cls(mirrored, tuple(bases), tuple(statistics), rows)

    @classmethod
    def _halved(cls, coordinates: Coordinates) -> _Statistics | None:
        factor = coordinates.statistics @ coordinates.basis.T
        gram = factor.T @ factor
        if len(factor) < coordinates.k - 1 or not is_mirrored(coordinates.prior, gram):
            return None
        (first, even), (second, odd) = (np.linalg.eigh(half) for half in halves(gram))
        if min(first[1], second[0]) < DEPENDENT * first[-1]:
            return None
        # the first even eigenvector is p itself
        return cls._made(True, [even[:, 1:], odd], [np.diag(np.sqrt(first[1:])), np.diag(np.sqrt(second))])

    def split(self, matrix: Floats) -> tuple[Floats, ...]:
        return halves(matrix) if self.mirrored else (matrix,)

    def whole(self, blocks: list[Floats]) -> Floats:
        return joined(*blocks) if self.mirrored else blocks[0]


def _guarded(coordinates: Coordinates, guard: float) -> Floats:
    """√(BᵀB + guard²·s·K), symmetric: K = UᵀD⁻¹U and s = tr(B·UᵀDU·Bᵀ)/(k−1), D = diag(p) where p is not too small."""
    u, b = coordinates.basis, coordinates.statistics
    d = np.maximum(coordinates.prior, 1 / coordinates.k)
    scale = float(((b @ u.T) ** 2 @ d).sum()) / b.shape[1]
    values, vectors = np.linalg.eigh(b.T @ b + guard**2 * scale * (u.T / d) @ u)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


class _Objective:
    """log of the bound under (ε,δ)-LDP, and its gradient, as a function of (log d, N)."""

    def __init__(
        self,
        coordinates: Coordinates,
        epsilon: float,
        blocks: Blocks | None,
        guard: float = 0.0,
        delta: float = 0.0,
    ) -> None:
        self.prior, self.delta = coordinates.prior, delta
        self.parts = _Statistics.of(coordinates, blocks, guard)
        self.ratio, self.growth, self.blocks, self.k = math.exp(epsilon), math.expm1(epsilon), blocks, coordinates.k
        self.guard = guard
        self.last = -math.inf  # log of the bound at the last point

    def expanded(self, small: Floats) -> Floats:
        pairs = small[np.ix_(self.blocks, self.blocks)] if self.blocks is not None else small
        pairs = pairs.copy()
        np.fill_diagonal(pairs, 0.0)
        return np.asarray(pairs)

    def pieces(self, d: Floats, small: Floats | None) -> tuple[Floats, Floats, float]:
        """R, l, c."""
        if small is None:
            c = float(self.ratio * d.sum())
            line = (self.ratio + 1) / 2 * d
            return np.diag(d) - np.outer(line, line) / c, line, c
        pairs = self.expanded(small)
        sums = pairs.sum(axis=1)
        c = float(self.ratio * d.sum() - sums.sum())
        line = (self.ratio + 1) / 2 * d - sums
        return np.diag(d) - pairs - np.outer(line, line) / c, line, c

    def __call__(self, d: Floats, small: Floats | None) -> Met | None:
        """(log bound, gradient by d, gradient by the entries of `small`), or None outside the domain."""
        r, line, c = self.pieces(d, small)
        if not (c > 0 and np.isfinite(r).all()):
            return None
        whole = float(d.sum())
        level = (whole * self.growth) ** 2 / (4 * c)  # −1ᵀR1 without its cancellation at small ε
        rooted = self.rooted(r)
        if rooted is None:
            return None
        trace, gamma = rooted
        along = gamma @ line
        twice = float(line @ along)
        price, price_by_d, price_by_pairs = self.prices(d, small)
        total = level + price
        by_d = np.diagonal(gamma) - (self.ratio + 1) * along / c + self.ratio * twice / c**2
        by_d = by_d - (level * (2 / whole - self.ratio / c) + price_by_d) / total
        self.last = 2 * math.log(trace) - math.log(total)
        if small is None:
            return self.last, by_d, None
        # by N_xz and N_zx each
        pairs = -gamma + (along[:, None] + along) / c - twice / c**2 - (level / c + price_by_pairs) / total
        np.fill_diagonal(pairs, 0.0)
        if self.blocks is not None:
            count = int(self.blocks.max()) + 1
            member = np.zeros((count, self.k))
            member[self.blocks, np.arange(self.k)] = 1
            pairs = member @ pairs @ member.T
        return self.last, by_d, pairs

    def prices(self, d: Floats, small: Floats | None) -> tuple[float, Floats, Floats]:
        """δ·Σβ = δ·[(k−1)Σ_z(d_z + 2ν_z/E) + Σ_x d_x(1−p_x)/p_x], ν_z = max_x N_xz/p_x, and its gradients."""
        none = np.zeros((d.size, d.size))
        if not self.delta:
            return 0.0, np.zeros_like(d), none
        by_d = self.delta * (d.size - 1 + (1 - self.prior) / self.prior)
        price = float(by_d @ d)
        if small is None:
            return price, by_d, none
        shares = self.expanded(small) / self.prior[:, None]
        most, each = shares.argmax(axis=0), np.arange(d.size)
        each_nu = self.delta * (d.size - 1) * 2 / self.ratio
        none[most, each] = each_nu / self.prior[most]
        return price + each_nu * float(shares[most, each].sum()), by_d, (none + none.T) / 2

    def rooted(self, r: Floats) -> tuple[float, Floats] | None:
        """tr√M and Γ, or None where M is too near to singular."""
        found = [np.linalg.eigh(a @ part @ a.T) for a, part in zip(self.parts.rows, self.parts.split(r), strict=True)]
        if min(values[0] for values, _ in found) < SINGULAR * max(values[-1] for values, _ in found):
            return None
        trace = float(sum(np.sqrt(values).sum() for values, _ in found))
        inverses = [
            ((half := vectors.T @ a).T / np.sqrt(values)) @ half
            for (values, vectors), a in zip(found, self.parts.rows, strict=True)
        ]
        return trace, self.parts.whole(inverses) / trace


class _LiftObjective(_Objective):
    """The same under PML and LIP: R = diag(d) − N, and its level Σ d·above·below + ΣN·below·below is linear."""

    def __init__(self, coordinates: Coordinates, below: Floats, above: Floats, guard: float = 0.0) -> None:
        super().__init__(coordinates, 0.0, np.arange(coordinates.k), guard)
        self.below, self.above = below, above

    def pieces(self, d: Floats, small: Floats | None) -> tuple[Floats, Floats, float]:
        r = np.diag(d)
        return r if small is None else r - self.expanded(small), np.zeros_like(d), 1.0

    def __call__(self, d: Floats, small: Floats | None) -> Met | None:
        r, _, _ = self.pieces(d, small)
        rooted = self.rooted(r) if np.isfinite(r).all() else None
        if rooted is None:
            return None
        trace, gamma = rooted
        each = self.below * self.above
        pairs = np.zeros_like(r) if small is None else np.diag(d) - r
        level = float(d @ each + self.below @ pairs @ self.below)
        self.last = 2 * math.log(trace) - math.log(level)
        by_pairs = -gamma - np.outer(self.below, self.below) / level
        np.fill_diagonal(by_pairs, 0.0)
        return self.last, np.diagonal(gamma) - each / level, None if small is None else by_pairs


class _Search:
    """The best point met so far, and how to look further; stopped at any time it holds a valid bound."""

    def __init__(self, objective: _Objective, end: float, clock: Clock) -> None:
        self.objective, self.clock, self.end = objective, clock, end
        self.value, self.d, self.small = -math.inf, np.zeros(0), np.zeros((0, 0))

    def meet(self, d: Floats, small: Floats | None) -> tuple[Floats, Floats | None] | None:
        """The gradients at a point, kept if it is the best; None outside the domain. Where the problem is its mirror
        image, so is the point made: L-BFGS-B treats the two sides alike only up to rounding."""
        if self.objective.parts.mirrored:
            d, small = (d + d[::-1]) / 2, None if small is None else (small + small[::-1, ::-1]) / 2
        found = self.objective(d, small)
        if found is None:
            return None
        if found[0] > self.value:
            self.value, self.d = found[0], d.copy()
            self.small = np.zeros((0, 0)) if small is None else small.copy()
        if self.clock() > self.end:
            raise _Late
        return found[1], found[2]

    def climb(self, function: Callable[[Floats], tuple[float, Floats]], start: Floats, bounds: list[Any]) -> None:
        """L-BFGS-B; a step that leaves the domain is told to be very bad."""
        from scipy.optimize import minimize

        options = {"maxiter": 2000, "maxfun": 3000, "ftol": 1e-12, "gtol": 1e-9, "maxcor": 20}
        with contextlib.suppress(_Late):
            minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)


class _Late(Exception):
    """Time is up."""


LEAST = (1e-9, 1e-3, 1.0)  # of an equal share: the least d to start from, until the inequality is regular
OUTSIDE = 1e3  # what a point outside the domain is said to be worth


def best_inequality(
    coordinates: Coordinates,
    epsilon: float,
    seconds: float = 60.0,
    pairs: bool | None = None,
    clock: Clock = time.process_time,
    delta: float = 0.0,
) -> Inequality:
    """Maximise the bound over d, then over d and N together; valid wherever it stops.

    Args:
        coordinates: the prior and the statistics.
        epsilon: of ε-LDP.
        seconds: when to stop, by the clock.
        pairs: whether to look for N; by default when ε is large enough for it to matter.
        clock: of the processor, so that what is found does not depend on what else the machine does; or of the wall.
        delta: of (ε,δ)-LDP; every input has a positive probability then.
    """
    end = clock() + seconds
    with_pairs = epsilon > PAIRS_FROM if pairs is None else pairs
    found = [Inequality.of_inputs(coordinates)]
    if coordinates.determined:
        found += _unguarded(coordinates, epsilon, end, with_pairs, clock, delta)
    if len(found) == 1 or (
        coordinates.k <= MOST_BLOCKS and FAR_BELOW * found[-1].bound < _responding(coordinates, epsilon)
    ):
        make = partial(_Objective, coordinates, epsilon, _blocks(coordinates.k) if with_pairs else None, delta=delta)
        found += _approached(coordinates, make, with_pairs, end, clock)
    return _chained(found)


def _chained(found: list[Inequality]) -> Inequality:
    """The best of them, which knows the others in their order."""
    ascending = sorted(found, key=lambda one: one.bound)
    best = ascending[0]
    for one in ascending[1:]:
        best = replace(one, following=best)
    return best


def _blocks(k: int) -> Blocks:
    return np.arange(k) if k <= MOST_BLOCKS else np.arange(k) * MOST_BLOCKS // k


def _unguarded(
    coordinates: Coordinates, epsilon: float, end: float, pairs: bool, clock: Clock, delta: float
) -> list[Inequality]:
    """Where all statistics matter; nothing where floats hold no point at all."""
    k = coordinates.k
    plain = _Search(_Objective(coordinates, epsilon, None, delta=delta), end, clock)
    _without_pairs(plain, coordinates)
    if not plain.d.size:
        return []
    if not pairs:
        return [_finished(coordinates, plain, None)]
    blocks = _blocks(k)
    start = np.zeros((int(blocks.max()) + 1,) * 2)
    if k > 2 * MOST_BLOCKS:
        start = _lifted(coordinates, epsilon, (end - clock()) / 4, blocks, clock)
    both = _Search(_Objective(coordinates, epsilon, blocks, delta=delta), end, clock)
    d = plain.d / plain.d.sum()
    single = _singles(coordinates, epsilon)
    if single is not None and k > MOST_BLOCKS:
        alone = _Search(_Objective(coordinates, epsilon, np.arange(k), delta=delta), clock(), clock)
        with contextlib.suppress(_Late):
            alone.meet(*single)
        if alone.value > plain.value:
            return [_finished(coordinates, alone, np.arange(k))]
    elif single is not None:
        with contextlib.suppress(_Late):
            both.meet(*single)
        if both.value > plain.value:
            d, start = single
    _with_pairs(both, d, start, blocks)
    better = both.value > plain.value
    return [_finished(coordinates, both, blocks) if better else _finished(coordinates, plain, None)]


def best_lift_inequality(
    coordinates: Coordinates, below: Floats, above: Floats, seconds: float, clock: Clock = time.process_time
) -> Inequality:
    """The same under PML or LIP with the prior of the workload, where lifts lie between 1 − below and 1 + above."""
    end, every = clock() + seconds, np.arange(coordinates.k)
    found = [Inequality.of_inputs(coordinates)]
    if coordinates.determined:
        objective = _LiftObjective(coordinates, below, above)
        plain = _Search(objective, clock() + seconds / 2, clock)
        _without_pairs(plain, coordinates)
        if plain.d.size:
            both = _Search(objective, end, clock)
            _with_pairs(both, plain.d / plain.d.sum(), np.zeros((every.size, every.size)), every)
            found.append(_finished(coordinates, both if both.value > plain.value else plain, every))
    if len(found) == 1:
        found += _approached(coordinates, partial(_LiftObjective, coordinates, below, above), True, end, clock)
    return _chained(found)


def _approached(coordinates: Coordinates, make: Maker, pairs: bool, end: float, clock: Clock) -> list[Inequality]:
    """A bound for each γ, climbed from where the last one was best."""
    found: list[Inequality] = []
    d, start = np.zeros(0), np.zeros((0, 0))
    for left, guard in zip(range(len(GUARDS), 0, -1), GUARDS, strict=True):
        search = _Search(make(guard), clock() + (end - clock()) / left, clock)
        blocks = search.objective.blocks if pairs else None
        if not d.size:
            _without_pairs(search, coordinates)
            d = search.d
        elif blocks is None:
            _climb_from(search, np.log(d))
        if d.size and blocks is not None:
            count = int(blocks.max()) + 1
            _with_pairs(search, d / d.sum(), start if start.size else np.zeros((count, count)), blocks)
        if not search.d.size:
            break
        found.append(_finished(coordinates, search, blocks))
        d, start = search.d / search.d.sum(), search.small / search.d.sum()
    return found


def _without_pairs(search: _Search, coordinates: Coordinates) -> None:
    """Climb in log d, from the prior; where it has zeros, at which the inequality says nothing, from more than that."""
    for least in LEAST:
        _climb_from(search, np.log(np.maximum(coordinates.prior, least / coordinates.k)))
        if search.d.size:
            return


def _climb_from(search: _Search, origin: Floats) -> None:
    def by_d(y: Floats) -> tuple[float, Floats]:
        d = np.exp(y)
        found = search.meet(d, None)
        return (OUTSIDE, np.zeros_like(y)) if found is None else (-search.objective.last, -found[0] * d)

    search.climb(by_d, origin, [(y - FAR, y + FAR) for y in origin])


def _inverse_of_response(coordinates: Coordinates, growth: float) -> Floats:
    """What randomised response leaves unknown of the point d: the inverse of Σθddᵀ."""
    p, k = coordinates.prior, coordinates.k
    points = coordinates.points(staircase_deviations(np.eye(k, dtype=np.bool_), p, growth))
    information = (points * ((1 + growth * p) / (k + growth))) @ points.T
    return np.asarray(np.linalg.inv(information), dtype=np.float64)


def _responding(coordinates: Coordinates, epsilon: float) -> float:
    """The cost of randomised response; 0 where floats do not hold it."""
    with contextlib.suppress(np.linalg.LinAlgError):
        b = coordinates.statistics
        return float(np.einsum("ij,jk,ik->", b, _inverse_of_response(coordinates, math.expm1(epsilon)), b))
    return 0.0


def _singles(coordinates: Coordinates, epsilon: float) -> tuple[Floats, Floats] | None:
    """(d, N) for which the inequality is tight at randomised response, which large ε leads to; None below e^ε + 1 = k.

    It is tight on single inputs when l = λ1 with λ = 1ᵀd/2 and d = 2(N1 + λ1)/(E+1). With G = ZWZ, Z the covariance of
    randomised response, and λ' = λ/(k+E−1), R = G + pvᵀ + vpᵀ makes N = −G − pvᵀ − vpᵀ − λ' off the diagonal, and v
    and λ' solve linear equations. N ≥ 0 when E is large; otherwise it is cut off there, and only a start.
    """
    p, k, growth = coordinates.prior, coordinates.k, math.expm1(epsilon)
    if growth + 2 <= k or not p.all():
        return None
    a = 1 + growth * p
    try:
        z = coordinates.covariance(_inverse_of_response(coordinates, growth))
    except np.linalg.LinAlgError:
        return None
    slope = z @ coordinates.rows.T @ coordinates.rows @ z
    g = np.diagonal(slope)
    system = [
        [1 + (p / a).sum(), -growth / 2 * (1 / a).sum()],
        [-2 * (p**2 / a).sum(), growth * (p / a).sum() + k - 2 * (k + growth)],
    ]
    total, level = np.linalg.solve(system, [-growth / 2 * (g / a).sum(), -(g / a).sum()])
    v = (growth / 2 * (level - g) - p * total) / a
    d = (growth * p * level - 2 * p**2 * total + g) / a + level
    if not (d > 0).all():
        return None
    pairs = np.maximum(-slope - np.outer(p, v) - np.outer(v, p) - level, 0.0)
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(d), np.asarray((pairs + pairs.T) / 2)


def _lifted(coordinates: Coordinates, epsilon: float, seconds: float, blocks: Blocks, clock: Clock) -> Floats:
    """The N of the blocks as inputs, spread over their pairs: for columns that are constant on blocks it says the same,
    relative to Σd = 1."""
    sizes = np.bincount(blocks)
    prior = np.asarray(np.bincount(blocks, weights=coordinates.prior), dtype=np.float64)
    if not prior.all():
        return np.zeros((sizes.size, sizes.size))
    member = np.zeros((blocks.size, sizes.size))
    member[np.arange(blocks.size), blocks] = coordinates.prior / prior[blocks]
    coarse = best_inequality(Coordinates(prior, coordinates.rows @ member), epsilon, seconds, True, clock)
    if coarse.pairs is None:
        return np.zeros((sizes.size, sizes.size))
    return np.asarray(coarse.pairs / np.outer(sizes, sizes) / coarse.d.sum())


def _with_pairs(search: _Search, d: Floats, start: Floats, blocks: Blocks) -> None:
    """Climb in (log d, N) from (d, start); a step out of the domain stops L-BFGS-B, so it starts again from the
    best."""
    if not d.size:
        return
    k, count = d.size, int(blocks.max()) + 1
    i, j = np.tril_indices(count, -1 if count == k else 0)
    sizes = np.sqrt(np.bincount(blocks, weights=d) / np.bincount(blocks))
    unit = sizes[i] * sizes[j] / k
    twice = np.where(i == j, 1.0, 2.0)

    def function(x: Floats) -> tuple[float, Floats]:
        scaled = np.exp(x[:k])
        found = search.meet(scaled, _symmetric(x[k:] * unit, i, j, count))
        if found is None or found[1] is None:
            return OUTSIDE, np.zeros_like(x)
        return -search.objective.last, -np.append(found[0] * scaled, found[1][i, j] * twice * unit)

    x = np.append(np.log(d), start[i, j] / unit)
    with contextlib.suppress(_Late):
        x[k:] = _within(x[k:], lambda pairs: search.meet(d, _symmetric(pairs * unit, i, j, count)) is not None)
    for _ in range(CLIMBS):
        search.climb(function, x, [(y - FAR, y + FAR) for y in x[:k]] + [(0.0, None)] * i.size)
        if not search.small.size:
            return
        again = np.append(np.log(search.d), search.small[i, j] / unit)
        if np.allclose(again, x, rtol=1e-6, atol=1e-9):
            return
        x = again


def _within(pairs: Floats, regular: Callable[[Floats], bool]) -> Floats:
    """The same, halved until the inequality is regular."""
    for _ in range(HALVINGS):
        if not pairs.any() or regular(pairs):
            break
        pairs = np.where(pairs > pairs.max() / 64, pairs / 2, 0.0)
    return pairs


def _symmetric(numbers: Floats, i: Blocks, j: Blocks, count: int) -> Floats:
    small = np.zeros((count, count))
    small[i, j] = small[j, i] = numbers
    return small


def _finished(coordinates: Coordinates, search: _Search, blocks: Blocks | None) -> Inequality:
    small = search.small if search.small.size else None
    z = _z(coordinates, search.objective, search.d, small)
    bound = math.exp(search.value)
    rooted = search.objective.rooted(search.objective.pieces(search.d, small)[0]) if search.objective.guard else None
    if rooted is not None:
        b, u = coordinates.statistics, coordinates.basis
        bound *= (float(np.sum((b @ (u.T @ z @ u)) * b)) / rooted[0]) ** 2
    return Inequality(search.d, small, None if small is None else blocks, bound, z)


def _z(coordinates: Coordinates, objective: _Objective, d: Floats, small: Floats | None) -> Floats:
    """The Z with ZWZ ⪯ PRPᵀ and the largest tr WZ: H = R'Bᵀ(BR'Bᵀ)^{-1/2} in the coordinates of p⊥, Z the symmetric
    matrix with ZBᵀ = H.
    """
    r, _, _ = objective.pieces(d, small)
    parts, found = objective.parts, []
    for basis, b, part in zip(parts.bases, parts.statistics, parts.split(r), strict=True):
        inner = basis.T @ part @ basis
        values, vectors = np.linalg.eigh(b @ inner @ b.T)
        values = np.maximum(values, SINGULAR * values[-1])  # another order of sums than the search had
        h = inner @ b.T @ (vectors / np.sqrt(values)) @ vectors.T
        undo = np.linalg.pinv(b)
        first = h @ undo.T
        found.append(basis @ (first + first.T - undo @ (b @ h) @ undo.T) @ basis.T)
    return coordinates.centred(parts.whole(found))
