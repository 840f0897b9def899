"""Limits for the people of a finite population, a census included: each value is tested against the law of the reports.

**A share.** M of N people are members. Each report counts with probability a for a member, b for another. Everybody's
report is thought of as made, T = Bin(M, a) + Bin(N − M, b) of them counted, before n people are drawn in random order;
with S the place that the x-th of the drawn has among all N when the counted come first,

    P(count ≥ x) = P(S ≤ T),   P(S = s) = C(s − 1, x − 1)·C(N − s, n − x)/C(N, n).

S and T are independent: one sum over T, some √N terms, is exact. Limits are two one-sided tests over whole numbers M,
for which both tails are monotone.

**Any other statistic** θ = Σ N_x a_x/N, estimated by the mean of contributions B: the law of the sum of the reports
depends on all the N_x, and θ is tested at the least favourable ones. With ψ_x(t) the cumulant generating function of
B − a_x given x and f = n/N, the logarithm of Chernoff's bound is n times the least of

    f Σ p_x ψ_x(t) + (1 − f) log Σ p_x exp(ψ_x(t) + t(a_x − θ)) − t(θ̂ − θ),   p_x = N_x/N,

which Σ p_x a_x = θ makes largest, in a census and in a large population alike, where only two inputs have members:
both parts are linear in p, or increasing functions of what is. Of all pairs the worst is taken, unless the variance of
a report is then above its upper limit (Gaffke's, `intervals.bounded`, at a small part of the level: Berger and Boos
1994); if so it is mixed with the pair of least variance (a sample is tested at some mixtures beyond, too: of a few
people of one kind all may be missed). The tail is not bounded but added up, by the discrete Fourier
transform of the law of the sum: exactly for a census and for small samples, else for a share f of the reports with
these numbers fixed and independent draws of the rest, which has the same variance. Contributions lie on a lattice on
which likely reports are points; others are split between neighbours, the mean kept, and the tail begins `ROUNDINGS`
standard deviations of that earlier.

Reference: Berger and Boos, JASA 89 (1994), 1012–1016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from extremal.estimate.intervals.bounded import upper_quantiles
from extremal.exact.weights import Floats

SPREADS, MARGIN = 8.0, 40.0  # standard deviations, and counts, beyond which a binomial count has no probability
SLACK = 1e-9  # relative: sums of probabilities carry rounding, and a limit errs outwards
GRID = 400  # numbers of members at which a confidence distribution is tabulated
CERTAIN = 1e-7  # tails between which it is
CELLS = 256  # of the lattice of contributions
NEAR = 1e-9  # relative: contributions this close to the lattice are on it
ROUNDINGS = 3.0  # standard deviations of rounding, which shift one side of a tail in a thousand cases
JUMPS = 12.0  # ranges of a contribution beyond `SPREADS`, for sums of a few large jumps
TILTS = np.geomspace(1e-3, 30.0, 48)  # over the range of contributions
MOST_MIXED = 1 << 15  # values of a transform for which the law of a sample is worked out exactly
MIXTURES = (13, 5)  # of the worst pair and the least variable one, for a sample of up to and of more than `FEW` people
FEW = 100  # people: one of them is a large step
SPENT = 0.1  # of 1 − level, for the largest variance
MOST_KINDS = 200  # inputs of which all pairs are tried
MOST_CHANCES = 1 << 20  # of reports given inputs
MOST_PEOPLE = 10**9  # beyond, a population is as good as infinite
HALVINGS = 24  # of the range of a statistic
UNCERTAIN = 65  # values of a statistic at which a confidence distribution is tabulated
Counts = npt.NDArray[np.int64]
Transform = npt.NDArray[np.complex128]
Law = tuple[int, Floats]  # the first number with a probability, and the probabilities from there on


def finite_limits(
    count: npt.ArrayLike, n: int, population: int, level: float, inside: Floats, outside: Floats
) -> Floats:
    """Exact limits for the share M/N of a population of N people, n of whom were drawn without replacement and
    reported; a = `inside`, b = `outside`. Counts that no M makes likely are moved as in `binomial.mapped_limits`.

    Guarantee: P(low ≤ M/N ≤ high) ≥ level for every M, n and N.

    >>> finite_limits([6], 60, 60, 0.95, np.array([0.9975]), np.array([0.0025])).round(3).tolist()
    [[0.083, 0.1]]
    """
    tail = (1 - level) / 2 * (1 - SLACK)
    cases, back = np.unique(np.column_stack([np.asarray(count), inside, outside]), axis=0, return_inverse=True)
    found = []
    for x, a, b in cases.tolist():
        low, high = (_first(tails, tail, population) for tails in _both(int(x), n, population, a, b))
        found.append(sorted((low / population, 1 - high / population)))
    return np.array(found)[back.ravel()]


def finite_quantiles(
    count: npt.ArrayLike, n: int, population: int, tails: Floats, inside: Floats, outside: Floats
) -> tuple[Floats, Floats]:
    """The lower limits with these tails, and the upper ones with what is left of one: a row for each count, increasing.

    Between `GRID` numbers of members the outer one is taken."""
    rows = []
    for x, a, b in zip(np.asarray(count).tolist(), inside.tolist(), outside.tolist(), strict=True):
        low, high = (_quantiles(one, population, tails) for one in _both(int(x), n, population, a, b))
        rows.append((low / population, 1 - high[::-1] / population))
    lower, upper = zip(*rows, strict=True)
    return np.array(lower), np.array(upper)


def _both(x: int, n: int, population: int, a: float, b: float) -> tuple[Callable[[int], float], Callable[[int], float]]:
    """Members ↦ P(count ≥ x), and others ↦ P(n − count ≥ n − x); x is moved to what is possible first."""
    most, least = min(x, math.floor(n * a)), max(x, math.ceil(n * b))
    return (
        partial(_tail, most, n, population, a, b),
        partial(_tail, n - least, n, population, 1 - b, 1 - a),
    )


def _quantiles(tail: Callable[[int], float], population: int, tails: Floats) -> Floats:
    """The smallest number with a larger tail, for each of `tails`; where numbers were left out, the one before it."""
    first, last = (_first(tail, to, population) for to in (CERTAIN, 1 - CERTAIN))
    members = np.unique(np.linspace(first, last, GRID).astype(np.int64))
    reached = np.maximum.accumulate([tail(m) for m in members.tolist()])
    place = np.minimum(np.searchsorted(reached, tails, side="right"), members.size - 1)
    before = np.concatenate([members[:1], members[:-1] + 1])
    return np.asarray(before[place], dtype=np.float64)


def _first(tail: Callable[[int], float], beyond: float, most: int) -> int:
    """The smallest number up to `most` whose tail, which grows with it, is larger than `beyond`; `most` if none."""
    low, high = -1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle) > beyond else (middle, high)
    return high


def _tail(x: int, n: int, population: int, a: float, b: float, members: int) -> float:
    """P(count ≥ x) when `members` of the population are counted with probability a, the others with b."""
    if x <= 0:
        return 1.0
    first, chance = _added(_binomial(members, a), _binomial(population - members, b))
    counted = np.arange(first, first + chance.size)
    return float(chance @ _drawn(x, n, population, counted))


def _drawn(x: int, n: int, population: int, counted: Counts) -> Floats:
    """P(at least x of n who are drawn are counted), for consecutive numbers of those counted."""
    from scipy.stats import hypergeom

    if n == population:
        return np.asarray(counted >= x, dtype=np.float64)
    places = counted[1:]
    possible = places[(places >= x) & (places <= population - n + x)]
    last = np.zeros(places.size)
    if possible.size:  # the x-th at s + 1 over at s is s/(s − x + 1)·(N − s − n + x)/(N − s)
        middle = min(max(round(x * population / n) - int(possible[0]), 0), possible.size - 1)
        s = possible[:-1]
        grown = np.log(s / (s - x + 1)) + np.log((population - s - n + x) / (population - s))
        logs = np.concatenate([[0.0], np.cumsum(grown)])
        known = hypergeom.pmf(x - 1, population - 1, possible[middle] - 1, n - 1) * n / population
        last[possible - places[0]] = known * np.exp(logs - logs[middle])
    return np.asarray(np.cumsum([hypergeom.sf(x - 1, population, counted[0], n), *last.tolist()]))


def _binomial(n: int, p: float) -> Law:
    from scipy.stats import binom

    reach = SPREADS * math.sqrt(n * p * (1 - p)) + MARGIN
    first = max(0, math.floor(n * p - reach))
    return first, binom.pmf(np.arange(first, min(n, math.ceil(n * p + reach)) + 1), n, p)


def _added(one: Law, other: Law) -> Law:
    """Of the sum of two independent numbers."""
    size = one[1].size + other[1].size - 1
    found = np.fft.irfft(np.fft.rfft(one[1], size) * np.fft.rfft(other[1], size), size)
    return one[0] + other[0], np.maximum(found, 0.0)


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the reports of a finite population say of one statistic.

    Attributes:
        worth: a_x, the statistic of somebody of each kind.
        values: B for each report.
        chances: of each report (columns) from each kind (rows).
        seen: how often each report came.
        population: people.
        rates: h, with Σ_y h_y P(y | x) = `variances` of each kind x; None where the reports do not tell these.
    """

    worth: Floats
    values: Floats
    chances: Floats
    seen: Floats
    population: int
    rates: Floats | None = None

    def limits(self, estimate: float, level: float) -> tuple[float, float]:
        """The values that are not rejected on either side at half of 1 − level; the estimate is moved to what is
        possible first."""
        spent = (1 - level) / 2 * SPENT
        tail, least, most = (1 - level) / 2 - spent, float(self.worth.min()), float(self.worth.max())
        low = self._end(min(estimate, most), least, tail, spent)
        return low, -self._mirrored._end(-max(estimate, least), -most, tail, spent)

    def quantiles(self, estimate: float, tails: Floats) -> tuple[Floats, Floats]:
        """The lower limits with these tails, and the upper ones with what is left of one."""
        least, most = float(self.worth.min()), float(self.worth.max())
        low = self._table(min(estimate, most), least, tails)
        return low, -self._mirrored._table(-max(estimate, least), -most, tails)[::-1]

    @property
    def n(self) -> int:
        """Reports."""
        return round(float(self.seen.sum()))

    @cached_property
    def variances(self) -> Floats:
        """w_x = E(B² | x) − f a_x²: a report has variance Σ p_x w_x − (1 − f)θ²."""
        return np.asarray(self.chances @ self.values**2 - self.n / self.population * self.worth**2)

    @cached_property
    def _mirrored(self) -> Contributions:
        return replace(self, worth=-self.worth, values=-self.values)

    def _end(self, estimate: float, least: float, tail: float, spent: float) -> float:
        """The smallest value with a larger tail, rounded outwards."""
        largest = self._largest_variance(spent)

        def held(theta: float) -> bool:
            return any(one > tail for one in self._tails(estimate, theta, largest))

        if held(least):
            return least
        low, high = least, max(estimate, least)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if held(middle) else (middle, high)
        return low

    def _table(self, estimate: float, least: float, tails: Floats) -> Floats:
        """Values with these tails, the next lower of `UNCERTAIN`."""
        first = self._end(estimate, least, CERTAIN, CERTAIN)
        last = -self._mirrored._end(-estimate, -float(self.worth.max()), CERTAIN, CERTAIN)
        theta, largest = np.linspace(first, last, UNCERTAIN), self._largest_variance(SPENT * float(tails.min()))
        reached = np.maximum.accumulate([max(self._tails(estimate, one, largest)) for one in theta.tolist()])
        place = np.searchsorted(reached, tails, side="right")
        return np.asarray(theta[np.clip(place - 1, 0, theta.size - 1)])

    def _largest_variance(self, spent: float) -> float:
        """Gaffke's upper limit for Σ p_x w_x."""
        if self.rates is None:
            return np.inf
        return float(upper_quantiles(self.rates[None, :], self.seen[None, :], np.array([[spent]]))[0, 0])

    def _tails(self, estimate: float, theta: float, largest: float) -> Iterator[float]:
        """P(the estimate is at least so large) at the least favourable numbers with that value; in a sample, of which
        a few people of one kind may all be missed, also at some between those and the least variable ones."""
        for shares in self._least_favourable(estimate, theta, largest):
            people = self._people(shares, theta)
            kinds = np.flatnonzero(people)
            yield _Sum.of(self, kinds, people[kinds]).tail(self.n * estimate)

    def _people(self, shares: Floats, theta: float) -> Counts:
        """Whole numbers with these shares, up to a few people who raise their value to θ, or as little above as can
        be."""
        people = np.floor(self.population * shares * (1 + SLACK) + NEAR).astype(np.int64)
        left, near = self.population - int(people.sum()), NEAR * float(np.ptp(self.worth))
        missing = self.population * theta - float(people @ self.worth)
        for more in range(left, 0, -1):
            enough = np.flatnonzero(self.worth >= missing / more - near)
            kind = int(enough[self.worth[enough].argmin()]) if enough.size else int(self.worth.argmax())
            people[kind] += 1
            missing -= float(self.worth[kind])
        return people

    def _least_favourable(self, estimate: float, theta: float, largest: float) -> Iterator[Floats]:
        """Shares of all kinds with value θ: of the pair with the largest bound, or as much of it as the variance may
        grow beyond that of the pair with the least."""
        near = NEAR * float(np.ptp(self.values))
        above, below = np.flatnonzero(self.worth >= theta - near), np.flatnonzero(self.worth <= theta + near)
        high, low = (found.ravel() for found in np.meshgrid(above, below, indexing="ij"))
        gap = self.worth[high] - self.worth[low]
        share = np.clip(np.divide(theta - self.worth[low], gap, out=np.ones(gap.size), where=gap > near), 0.0, 1.0)
        variance = share * self.variances[high] + (1 - share) * self.variances[low]
        wide, narrow = int(self._bounds(high, low, share, estimate, theta).argmax()), int(variance.argmin())
        over, room = float(variance[wide] - largest), float(variance[wide] - variance[narrow])
        part = 1 - min(over / room, 1.0) if over > 0 and room > 0 else 1.0
        mixtures = MIXTURES[self.population > FEW] if self.n < self.population and room > 0 else 1
        for weight in np.linspace(part, 0.0, mixtures).tolist():
            shares = np.zeros(self.worth.size)
            for place, some in ((wide, weight), (narrow, 1 - weight)):
                shares[high[place]] += some * share[place]
                shares[low[place]] += some * (1 - share[place])
            yield shares

    def _bounds(self, high: Counts, low: Counts, share: Floats, estimate: float, theta: float) -> Floats:
        """The logarithm of Chernoff's bound over n, for pairs of kinds."""
        tilts, noise = self._cumulants
        one, other, share = noise[high], noise[low], share[:, None]
        fixed = share * one + (1 - share) * other
        with np.errstate(divide="ignore"):
            drawn = np.logaddexp(
                np.log(share) + one + np.multiply.outer(self.worth[high] - theta, tilts),
                np.log1p(-share) + other + np.multiply.outer(self.worth[low] - theta, tilts),
            )
        f = self.n / self.population
        return np.asarray((f * fixed + (1 - f) * drawn - tilts * (estimate - theta)).min(axis=1))

    @cached_property
    def _cumulants(self) -> tuple[Floats, Floats]:
        """Tilts t, and ψ_x(t) of each kind."""
        middle, reach = float(self.values.max() + self.values.min()) / 2, float(np.ptp(self.values))
        tilts = TILTS / reach
        grown = np.log(self.chances @ np.exp(np.multiply.outer(self.values - middle, tilts)))
        return tilts, np.asarray(grown - np.multiply.outer(self.worth - middle, tilts))

    @cached_property
    def unit(self) -> float:
        """Of a lattice that holds all differences of the values, if it has at most `CELLS` steps in their range."""
        span, gaps = float(np.ptp(self.values)), np.diff(np.unique(self.values))
        least = float(gaps[gaps > NEAR * span].min())
        steps = (self.values - self.values.min()) / least
        whole = span <= CELLS * least and np.abs(steps - np.rint(steps)).max() <= NEAR * CELLS
        return least if whole else span / CELLS


@dataclass(frozen=True, eq=False)
class _Sum:
    """The law of the sum of n reports of given people.

    Attributes:
        n, unit: reports, and the step of the lattice.
        people, worth: of each kind.
        laws: of one report of each kind, on the lattice from `origin`/n in a sample, from the likeliest in a census.
        origin: the sum of the values from which laws are counted.
        early: by how much a tail begins earlier, for what rounding moves a sum.
    """

    n: int
    unit: float
    people: Counts
    worth: Floats
    laws: Floats
    origin: float
    early: float

    @classmethod
    def of(cls, found: Contributions, kinds: Counts, people: Counts) -> _Sum:
        """With so many people of these kinds."""
        q, n, worth, share = found.chances[kinds], found.n, found.worth[kinds], people / people.sum()
        usual = found.values[q.argmax(axis=1)]
        base = usual if n == found.population else np.full(usual.size, usual[people.argmax()])
        places = (found.values - base[:, None]) / found.unit
        whole = np.floor(places + NEAR * CELLS)
        part = np.where(places - whole > NEAR * CELLS, places - whole, 0.0)
        variance = float(share @ found.variances[kinds]) - (1 - n / found.population) * float(share @ worth) ** 2
        reach = SPREADS * math.sqrt(n * max(variance, 0.0)) + JUMPS * float(np.ptp(found.values))
        length = 1 << math.ceil(math.log2(2 * reach / found.unit + JUMPS))
        laws, cells = np.zeros((kinds.size, length)), whole.astype(np.int64) % length
        rows = np.arange(kinds.size)[:, None]
        np.add.at(laws, (rows, cells), q * (1 - part))
        np.add.at(laws, (rows, (cells + 1) % length), q * part)
        rounding = n * float(share @ (q * part * (1 - part)).sum(axis=1))
        early = found.unit * (ROUNDINGS * math.sqrt(rounding) + NEAR * (n + CELLS))
        return cls(n, found.unit, people, worth, laws, n * float(share @ base), early)

    def tail(self, least: float) -> float:
        """P(the sum is so large or larger)."""
        transform, mean = self._transform()
        length = self.laws.shape[1]
        chance = np.fft.irfft(transform, length)
        middle = (mean - self.origin) / self.unit
        places = np.arange(length) + math.ceil(middle - length / 2)
        reached = places * self.unit >= least - self.origin - self.early
        return float(chance[places[reached] % length].sum())

    def _transform(self) -> tuple[Transform, float]:
        """Of the law of the sum; and its mean."""
        one, population = np.fft.rfft(self.laws), int(self.people.sum())
        f, share = self.n / population, self.people / population
        mean = self.n * float(share @ self.worth)
        if self.n == population:
            return np.asarray((one ** self.people[:, None]).prod(axis=0)), mean
        size = min(population + 1, 2 * math.ceil(SPREADS * math.sqrt(population * f * (1 - f)) + MARGIN))
        if size * one.shape[1] <= MOST_MIXED:
            return _conditioned(one, self.people, self.n, size), mean
        fixed = np.rint(self.n * f * share).astype(np.int64)
        left = self.n - int(fixed.sum())
        return (one ** fixed[:, None]).prod(axis=0) * (share @ one) ** left, float((fixed + left * share) @ self.worth)


def _conditioned(one: Transform, people: Counts, n: int, size: int) -> Transform:
    """Of the sum over n people drawn of all: each is drawn with probability f alone, given that n are (the coefficient
    of zⁿ in Π (1 − f + f z φ_x)^N_x, by its values at `size` roots of unity)."""
    from scipy.stats import binom

    f = n / int(people.sum())
    turns = 2 * np.pi * np.arange(size) / size
    each = 1 - f + f * np.exp(1j * turns)[:, None, None] * one
    grown = (each ** people[:, None]).prod(axis=1)
    return np.asarray((np.exp(-1j * turns * n) @ grown) / size / binom.pmf(n, int(people.sum()), f))
