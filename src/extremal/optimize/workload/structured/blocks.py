"""Block designs: families of k sets that do the work of all C(k, d) subsets.

Subset selection's information needs no more than that every pair of inputs lies in equally many reports. A *(k, d, λ)
difference set* D of the integers modulo k meets every difference λ = d(d−1)/(k−1) times, so its k shifts are such a
family; so are complements. Known here, by their constructions:

* Singer: a hyperplane of the projective space PG(n, q), k = (q^{n+1}−1)/(q−1), d = (q^n−1)/(q−1): powers of a root of a
  primitive polynomial whose trace is zero;
* Paley: the squares modulo a prime k ≡ 3 (mod 4), d = (k−1)/2 (a Hadamard design);
* twin primes: k = q(q+2), d = (k−1)/2;
* the biquadratic residues modulo k = 4t²+1, t odd, with d = (k−1)/4, and with zero for k = 4t²+9.

Several base sets modulo k whose differences together occur equally often (a *difference family*) are found for small k
by a short search. A *residual*, what the other sets of such a family have outside one of them, is a block design too:
on k inputs with sets of d it comes from a difference set of size d(k−1)/(k−d). Affine geometries are residuals of
projective ones. *Restricted* to fewer inputs, the sets of a family still hold every pair equally often, if not equally
many inputs: for any k and any ratio near 1/2, 1/3, 1/4, 1/5, 1/7, … there is a family of a few k sets that is nearly as
good as all subsets. That each is what it claims is checked by counting, not assumed. References: Park, Nam, Lee,
Exactly optimal and communication-efficient private estimation via block designs, 2023; Feldman, Nelson, Nguyen, Talwar
2022."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

Sets = tuple[tuple[int, ...], ...]

LARGEST = 4096  # inputs
LARGEST_SEARCHED = 40  # inputs up to which families of several base sets are searched for
MOST_BASES = 30  # base sets of a cyclic design that are looked for
ATTEMPTS = 4  # random starts of a search by exchanges
EXCHANGES = 6000  # of one start
WARMTH = 2.0  # of the first exchanges, in units of the squared distance from a design


@lru_cache(maxsize=512)
def block_design(k: int, d: int) -> Sets | None:
    """Sets of d of k inputs, every input and every pair in equally many, far fewer than C(k, d); None when none is
    known here.
    """
    if not 1 <= d < k or k > LARGEST:
        return None
    if d == 1:
        return tuple((x,) for x in range(k))
    base = difference_set(k, d)
    if base is not None:
        return _shifts(base, k)
    size, rest = divmod(d * (k - 1), k - d)
    other = difference_set(k + size, size) if not rest and k + size <= LARGEST else None
    if other is not None:
        return _residual(_shifts(other, k + size))
    family = difference_family(k, d) if k <= LARGEST_SEARCHED else None
    return None if family is None else tuple(chosen for base in family for chosen in _shifts(base, k))


def _shifts(base: tuple[int, ...], k: int) -> Sets:
    return tuple(tuple(sorted((x + shift) % k for x in base)) for shift in range(k))


def _residual(sets: Sets) -> Sets:
    """The other sets without the members of the first, on what the first leaves out."""
    first = set(sets[0])
    place = {x: i for i, x in enumerate(x for x in range(len(sets)) if x not in first)}
    return tuple(tuple(sorted(place[x] for x in other if x in place)) for other in sets[1:])


def restricted_design(k: int, growth: float) -> Sets:
    """Sets of k inputs, every input and every pair in equally many, as near as known here to the best size for shares:
    projective geometries of at least k points, restricted; growth is e^ε − 1."""
    found = []
    for q in filter(_prime_of, range(2, LARGEST)):
        points, n = q * q + q + 1, 2
        while points < k:
            n, points = n + 1, points * q + 1
        if points > LARGEST:
            continue
        size = (q**n - 1) // (q - 1)
        share = size / points
        found.append(((1 + growth * share) ** 2 / (share * (1 - share)), points, size))
        if q > 2 * (growth + 2):  # sets much smaller than the best size
            break
    for _, points, size in sorted(found):
        base = difference_set(points, size)  # the first: Singer's of each geometry is known
        if base is not None:
            inside = (tuple(x for x in chosen if x < k) for chosen in _shifts(base, points))
            return tuple(chosen for chosen in inside if chosen)
    return tuple((x,) for x in range(k))


def difference_family(k: int, d: int) -> Sets | None:
    """A few sets of d integers modulo k in which together every difference occurs equally often; None when a short
    search finds none whose shifts are fewer than half of all subsets."""
    least = (k - 1) // math.gcd(d * (d - 1), k - 1)
    for count in range(least, min(MOST_BASES, ATTEMPTS * least) + 1, least):
        found = _searched(k, d, count) if 2 * count * k < math.comb(k, d) else None
        if found is not None:
            return found
    return None


def _searched(k: int, d: int, count: int) -> Sets | None:
    """Members are exchanged while that evens the differences out, or sometimes does not."""
    generator = np.random.default_rng(0)  # proposals of a search, always the same ones
    wanted = count * d * (d - 1) // (k - 1)
    sets = [generator.choice(k, size=d, replace=False) for _ in range(count)]
    often = np.sum([_differences(chosen, k) for chosen in sets], axis=0)
    uneven = int(((often[1:] - wanted) ** 2).sum())
    for trial in range(EXCHANGES):
        if not uneven:
            return tuple(tuple(sorted(chosen.tolist())) for chosen in sets)
        which, place, new = trial % count, int(generator.integers(d)), int(generator.integers(k))
        if new in sets[which]:
            continue
        moved = sets[which].copy()
        moved[place] = new
        then = often - _differences(sets[which], k) + _differences(moved, k)
        change = int(((then[1:] - wanted) ** 2).sum()) - uneven
        if change <= 0 or generator.random() < math.exp(-change / WARMTH):
            sets[which], often, uneven = moved, then, uneven + change
    return None


def _differences(members: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
    return np.bincount(((members[:, None] - members) % k).ravel(), minlength=k)


@lru_cache(maxsize=512)
def difference_set(k: int, d: int) -> tuple[int, ...] | None:
    """A cyclic (k, d, λ) difference set, or None when none is known here."""
    if d * (d - 1) % (k - 1):
        return None
    if 2 * d > k:
        other = difference_set(k, k - d)
        return None if other is None else tuple(x for x in range(k) if x not in set(other))
    for candidate in _candidates(k, d):
        if is_difference_set(candidate, k):
            return tuple(sorted(candidate))
    return None


def is_difference_set(members: tuple[int, ...], k: int) -> bool:
    """Whether every difference modulo k occurs equally often: decided by counting."""
    counts = _differences(np.array(members), k)
    return bool((counts[1:] == counts[1]).all())


def _candidates(k: int, d: int) -> Iterator[tuple[int, ...]]:
    if d == 1:
        yield (0,)
    if k % 4 == 3 and 2 * d == k - 1 and _is_prime(k):
        yield tuple(sorted({x * x % k for x in range(1, k)}))
    if 2 * d == k - 1:
        yield from _twin_primes(k)
    if _is_prime(k) and k % 4 == 1:
        fourth = sorted({pow(x, 4, k) for x in range(1, k)})
        for members in (tuple(fourth), (0, *fourth)):
            if len(members) == d:
                yield members
    yield from _singer(k, d)


def _twin_primes(k: int) -> Iterator[tuple[int, ...]]:
    q = math.isqrt(k + 1) - 1
    if q * (q + 2) != k or not (_is_prime(q) and _is_prime(q + 2)):
        return
    squares, other = ({x * x % p for x in range(1, p)} for p in (q, q + 2))
    yield tuple(x for x in range(k) if not x % (q + 2) or (x % q and (x % q in squares) == (x % (q + 2) in other)))


def _singer(k: int, d: int) -> Iterator[tuple[int, ...]]:
    """Every prime power q and dimension n with these numbers; the field of q^{n+1} elements is built over its prime."""
    for q in range(2, max(3, d + 1)):
        prime = _prime_of(q)
        size, n = q + 1, 1
        while prime and size < k:
            n, size = n + 1, size * q + 1
        if prime and size == k and (q**n - 1) // (q - 1) == d and n >= 2:
            degree = round(math.log(q, prime)) * (n + 1)
            yield _hyperplane(prime, degree, q, k)


def _hyperplane(prime: int, degree: int, q: int, k: int) -> tuple[int, ...]:
    """The exponents i < k with trace(ω^i) = 0 over the field with q elements, ω primitive: points of a hyperplane, up
    to scalars.
    """
    polynomial = _primitive(prime, degree)
    powers = _powers(polynomial, prime, prime**degree - 1)
    place = {value: i for i, value in enumerate(powers)}
    order, steps = prime**degree - 1, round(math.log(prime**degree, q))
    found = []
    for i in range(k):
        total = (0,) * degree
        for j in range(steps):
            total = tuple((a + b) % prime for a, b in zip(total, powers[i * q**j % order], strict=True))
        if total not in place:
            found.append(i)
    return tuple(found)


@lru_cache(maxsize=64)
def _primitive(prime: int, degree: int) -> tuple[int, ...]:
    """Low coefficients of a monic polynomial one of whose roots generates the field: the first that works."""
    order = prime**degree - 1
    divisors = [order // p for p in _prime_factors(order)]
    for low in product(range(prime), repeat=degree):
        if (
            low[0]
            and _raised(low, order, prime) == _one(degree)
            and all(_raised(low, e, prime) != _one(degree) for e in divisors)
        ):
            return low
    raise ArithmeticError("every finite field has a primitive element")


def _one(degree: int) -> tuple[int, ...]:
    return (1,) + (0,) * (degree - 1)


def _times_x(value: tuple[int, ...], low: tuple[int, ...], prime: int) -> tuple[int, ...]:
    top = value[-1]
    return tuple((a - top * c) % prime for a, c in zip((0, *value[:-1]), low, strict=True))


def _product(a: tuple[int, ...], b: tuple[int, ...], low: tuple[int, ...], prime: int) -> tuple[int, ...]:
    total = (0,) * len(low)
    for coefficient in reversed(b):
        total = _times_x(total, low, prime)
        total = tuple((t + coefficient * v) % prime for t, v in zip(total, a, strict=True))
    return total


def _raised(low: tuple[int, ...], exponent: int, prime: int) -> tuple[int, ...]:
    """x^exponent modulo the polynomial."""
    result, power = _one(len(low)), _times_x(_one(len(low)), low, prime)
    while exponent:
        if exponent & 1:
            result = _product(result, power, low, prime)
        power, exponent = _product(power, power, low, prime), exponent >> 1
    return result


def _powers(low: tuple[int, ...], prime: int, count: int) -> list[tuple[int, ...]]:
    powers = [_one(len(low))]
    for _ in range(count - 1):
        powers.append(_times_x(powers[-1], low, prime))
    return powers


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % f for f in range(2, math.isqrt(n) + 1))


def _prime_factors(n: int) -> list[int]:
    found, f = [], 2
    while f * f <= n:
        if n % f == 0:
            found.append(f)
            while n % f == 0:
                n //= f
        f += 1
    return [*found, n] if n > 1 else found


def _prime_of(q: int) -> int:
    """The prime that q is a power of, or 0."""
    factors = _prime_factors(q)
    return factors[0] if len(factors) == 1 else 0
