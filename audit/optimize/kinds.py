"""Random instances of every kind of design against programs that share nothing with the package but the question.

    python -m audit.optimize.kinds [count] [first]

Kinds in turn: distribution functions and ranges under ε-LDP; divergences, information and shares under (ε,δ), δ from
1e-8 to 0.3; seven hypotheses, mean and worst case; divergences and information under PML for lists and balls of priors,
skewed ones too; shares, distribution functions and information with another prior under PML and LIP; shares and
distribution functions at the worst prior of a list. Two to four inputs (seven hypotheses: to six). The extreme columns
are found here by trying all sets of k − 1 planes; what is linear in their weights is solved by HiGHS, errors of
estimation by SLSQP. The optimum must lie within the design's interval, the value be that of the matrix by NumPy, the
mechanism keep its notion by the definition, and the design be verified.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.optimize import linprog, minimize

import extremal as ex
from audit.optimize.workload import cost

Array = Any
SOLVED = 1e-6  # relative: what HiGHS leaves, at values near 1
DESCENDED = 1e-4  # relative: what SLSQP leaves
SINGULAR = 1e3  # in place of the logarithm of an infinite cost
NOTHING = 1e-12  # of a divergence: hypotheses that no report tells apart
WIDEST = 0.01  # a gap
FAINT = 1e-12  # of a plane's height and of a determinant


def extreme_columns(k: int, planes: Iterable[Array]) -> Array:
    """All points on Σq = 1, q ≥ 0, plane·q ≤ 0 where k − 1 planes meet, as columns."""
    rows = np.array([*(-np.eye(k)), *planes])
    chosen = np.array(list(itertools.combinations(range(len(rows)), k - 1)))
    systems = np.concatenate([rows[chosen], np.ones((len(chosen), 1, k))], axis=1)
    systems = systems[np.abs(np.linalg.det(systems)) > FAINT]
    corners = np.linalg.solve(systems, np.eye(k)[:, -1:])[..., 0]
    corners = corners[(corners @ rows.T <= 1e-11).all(axis=1)]
    return np.unique(np.round(np.maximum(corners, 0.0), 13), axis=0).T


def ratios(k: int, top: float) -> list[Array]:
    return [np.eye(k)[x] - top * np.eye(k)[z] for x, z in itertools.permutations(range(k), 2)]


def lifts(k: int, priors: Iterable[Array], top: float, low: float = 0.0) -> list[Array]:
    return [row for p in priors for x in range(k) for row in (np.eye(k)[x] - top * p, low * p - np.eye(k)[x])]


def ball(prior: Array, radius: float) -> list[Array]:
    """Priors that contain the corners of a ball of total variation: one input gains, others lose in some order."""
    found = []
    for order in itertools.permutations(range(prior.size)):
        p, left = prior.copy(), min(radius, 1 - prior[order[-1]])
        p[order[-1]] += left
        for x in order[:-1]:
            taken = min(p[x], left)
            p[x], left = p[x] - taken, left - taken
        found.append(p)
    return found


def program(columns: Array, worths: Array, extra: tuple[Array, Array] | None = None) -> float:
    """The largest Σθ·worth, of the worst row of `worths`; θ ≥ 0, Σ_j θ_j columns_j = 1, and rows·θ ≤ right.

    Solved twice, the second time in units of the optimum: the solver's tolerances are absolute.
    """
    first = _program(columns, worths, extra)
    return first * _program(columns, worths / first, extra) if first > 0 else first


def _program(columns: Array, worths: Array, extra: tuple[Array, Array] | None) -> float:
    k, count = columns.shape
    rows, right = extra if extra is not None else (np.zeros((0, count)), np.zeros(0))
    least = np.hstack([-worths, np.ones((len(worths), 1))])
    found = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=np.vstack([least, np.hstack([rows, np.zeros((len(rows), 1))])]),
        b_ub=np.concatenate([np.zeros(len(worths)), right]),
        A_eq=np.hstack([columns, np.zeros((k, 1))]),
        b_eq=np.ones(k),
        bounds=[(0, None)] * count + [(None, None)],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(-found.fun) if found.status == 0 else math.nan


def descended(columns: Array, rows: Array, prior: Array, extra: tuple[Array, Array] | None = None) -> float:
    """The least cost of a mixture of columns that SLSQP finds from two starts; infinite when it finds none."""
    scale = cost(rows, prior, np.eye(prior.size))

    def function(theta: Array) -> float:
        value = cost(rows, prior, columns * np.maximum(theta, 0.0))
        return math.log(value / scale) if value > 0 else SINGULAR

    sums = [{"type": "eq", "fun": lambda theta: columns @ theta - 1, "jac": lambda _: columns}]
    if extra is not None:
        limits, right = extra
        sums += [{"type": "ineq", "fun": lambda theta: right - limits @ theta, "jac": lambda _: -limits}]
    best = math.inf
    for spread in (0.0, 0.5):
        start = np.random.default_rng(0).uniform(1 - spread, 1 + spread, columns.shape[1])
        found = minimize(
            function,
            start / (columns @ start).mean(),
            bounds=[(0, None)] * start.size,
            constraints=sums,
            options={"maxiter": 200, "ftol": 1e-13},
        )
        theta = np.maximum(found.x, 0.0)
        kept = np.abs(columns @ theta - 1).max() < SOLVED / 10
        if kept and (extra is None or (extra[0] @ theta - extra[1]).max() < SOLVED * 1e-3):
            best = min(best, cost(rows, prior, columns * theta))
    return best


def coupling(columns: Array, top: float, delta: float) -> tuple[Array, Array]:
    pairs = list(itertools.permutations(range(len(columns)), 2))
    return np.array([np.maximum(columns[x] - top * columns[z], 0.0) for x, z in pairs]), np.full(len(pairs), delta)


# -- goals: the utility, and what a column is worth


def kl(p: Array, q: Array) -> Callable[[Array], Array]:
    def worth(columns: Array) -> Array:
        a, b = p @ columns, q @ columns
        return np.where(a > 0, a * np.log(np.where(a > 0, a, 1.0) / np.where(b > 0, b, 1.0)), 0.0)

    return worth


def chi_squared(p: Array, q: Array) -> Callable[[Array], Array]:
    return lambda columns: (p @ columns - q @ columns) ** 2 / (q @ columns)


def total_variation(p: Array, q: Array) -> Callable[[Array], Array]:
    return lambda columns: np.abs(p @ columns - q @ columns) / 2


def information(prior: Array) -> Callable[[Array], Array]:
    def worth(columns: Array) -> Array:
        mean = prior @ columns
        parts = np.where(columns > 0, columns * np.log(np.where(columns > 0, columns, 1.0) / mean), 0.0)
        return prior @ parts

    return worth


PAIRS = ((ex.KL, kl), (ex.ChiSquared, chi_squared), (ex.TotalVariation, total_variation))


def vector(generator: Any, k: int) -> Array:
    """A prior of full support: even, ordinary or skewed."""
    p = generator.dirichlet(np.full(k, generator.choice([0.7, 2.0, 50.0]))) + 0.01
    return p / p.sum()


def of_pair(generator: Any, k: int) -> tuple[Any, Callable[[Array], Array]]:
    """A divergence or the information, and what columns are worth."""
    p, q = vector(generator, k), vector(generator, k)
    if generator.random() < 0.25:
        return ex.MutualInformation(p.tolist()), information(p)
    form, worth = PAIRS[generator.integers(len(PAIRS))]
    return form(p.tolist(), q.tolist()), worth(p, q)


def estimation(generator: Any, prior: Any) -> Any:
    return [ex.Frequencies, ex.CDF, ex.Ranges][generator.integers(3)](prior)


# -- kinds: the notion, the goal, its value for a matrix, the optimum, and what the notion asks


Instance = tuple[Any, Any, Callable[[Array], float], float, Callable[[Array], bool]]


def keeps(planes: list[Array]) -> Callable[[Array], bool]:
    return lambda matrix: all((plane @ matrix).max() <= 1e-9 for plane in planes)


def ordered(generator: Any, epsilon: float) -> Instance:
    k = int(generator.integers(3, 5))
    prior = vector(generator, k)
    utility, planes = estimation(generator, prior.tolist()), ratios(k, math.exp(epsilon))
    rows = utility.rows
    best = descended(extreme_columns(k, planes), rows, prior)
    return ex.LDP(epsilon), utility, lambda matrix: cost(rows, prior, matrix), best, keeps(planes)


def coupled(generator: Any, epsilon: float) -> Instance:
    k, top = int(generator.integers(2, 4)), math.exp(epsilon)
    delta = float(10 ** generator.uniform(-8, -0.5))
    privacy, prior = ex.LDP(epsilon, delta), vector(generator, k)
    columns = pieces(k, top)
    limits = coupling(columns, top, delta)

    def allowed(matrix: Array) -> bool:
        rows, right = coupling(matrix, top, delta)
        return bool((rows.sum(axis=1) <= right + 1e-9).all())

    if generator.random() < 0.5:
        utility, worth = of_pair(generator, k)
        best = program(columns, worth(columns)[None], limits)
        return privacy, utility, lambda matrix: float(worth(used(matrix)).sum()), best, allowed
    goal = estimation(generator, prior.tolist())
    rows = goal.rows
    return privacy, goal, lambda m: cost(rows, prior, m), descended(columns, rows, prior, limits), allowed


def pieces(k: int, top: float) -> Array:
    """The extreme columns of every cell that the planes q_x = E·q_z cut: all points where k − 1 of them meet."""
    rows = np.array([*np.eye(k), *ratios(k, top)])
    chosen = np.array(list(itertools.combinations(range(len(rows)), k - 1)))
    systems = np.concatenate([rows[chosen], np.ones((len(chosen), 1, k))], axis=1)
    systems = systems[np.abs(np.linalg.det(systems)) > FAINT]
    corners = np.linalg.solve(systems, np.eye(k)[:, -1:])[..., 0]
    corners = np.maximum(corners[(corners > -FAINT).all(axis=1)], 0.0)
    return np.unique(np.round(corners, 13), axis=0).T


def hypotheses(generator: Any, epsilon: float) -> Instance:
    k, worst = int(generator.integers(3, 7)), bool(generator.random() < 0.5)
    several = [vector(generator, k) for _ in range(7)]
    planes = ratios(k, math.exp(epsilon))
    columns = np.array(list(itertools.product((1.0, math.exp(epsilon)), repeat=k))[1:-1]).T
    pairs = list(itertools.permutations(several, 2))

    def worths(matrix: Array) -> Array:
        return np.array([kl(p, q)(matrix) for p, q in pairs])

    def value(matrix: Array) -> float:
        each = worths(used(matrix)).sum(axis=1)
        return float(each.min() if worst else each.mean())

    table = worths(columns)
    best = program(columns, table if worst else table.mean(axis=0)[None])
    goal = ex.PairwiseDivergence([p.tolist() for p in several], worst_case=worst)
    return ex.LDP(epsilon), goal, value, best, keeps(planes)


def of_class(generator: Any, epsilon: float) -> Instance:
    k, top = int(generator.integers(2, 5)), math.exp(epsilon)
    if generator.random() < 0.5:
        priors = [vector(generator, k) for _ in range(int(generator.integers(2, 4)))]
        source = ex.SourceClass([p.tolist() for p in priors])
    else:
        centre, radius = vector(generator, k), float(np.round(10 ** generator.uniform(-3, -0.3), 4))
        priors, source = ball(centre, radius), ex.SourceClass.ball(centre.tolist(), radius)
    planes = lifts(k, np.unique(np.round(priors, 15), axis=0), top)
    utility, worth = of_pair(generator, k)
    columns = extreme_columns(k, planes)
    best = program(columns, worth(columns)[None])
    return ex.PML(epsilon, source), utility, lambda m: float(worth(used(m)).sum()), best, keeps(planes)


def leaking(generator: Any, epsilon: float) -> Instance:
    k, top, prior = int(generator.integers(2, 5)), math.exp(epsilon), vector(generator, 4)
    prior = prior[:k] / prior[:k].sum()
    lower = generator.random() < 0.5
    planes = lifts(k, [prior], top, 1 / top if lower else 0.0)
    privacy = (ex.LIP if lower else ex.PML)(epsilon, prior.tolist())
    columns = extreme_columns(k, planes)
    if generator.random() < 0.4:
        utility, worth = of_pair(generator, k)
        return (
            privacy,
            utility,
            lambda m: float(worth(used(m)).sum()),
            program(columns, worth(columns)[None]),
            keeps(planes),
        )
    goal = estimation(generator, prior.tolist())
    rows = goal.rows
    return privacy, goal, lambda m: cost(rows, prior, m), descended(columns, rows, prior), keeps(planes)


def minimax(generator: Any, epsilon: float) -> Instance:
    """Costs at the worst prior of a list: no less than the optimum at any of its mixtures, and attained."""
    k = int(generator.integers(2, 5))
    priors = [vector(generator, k) for _ in range(int(generator.integers(2, 4)))]
    goal, planes = estimation(generator, ex.SourceClass([p.tolist() for p in priors])), ratios(k, math.exp(epsilon))
    rows, columns = goal.rows, extreme_columns(k, planes)
    mixtures = [w @ np.array(priors) for w in generator.dirichlet(np.ones(len(priors)), 40)] + priors
    some = max(descended(columns, rows, p) for p in mixtures[:4] + priors)

    def value(matrix: Array) -> float:
        return max(cost(rows, p, matrix) for p in mixtures)

    return ex.LDP(epsilon), goal, value, some, keeps(planes)


def used(matrix: Array) -> Array:
    return matrix[:, matrix.any(axis=0)]


KINDS = (ordered, coupled, hypotheses, of_class, leaking, minimax)


def wrong_about(kind: Callable[[Any, float], Instance], generator: Any) -> str:
    """What is wrong with a design; empty when nothing is."""
    epsilon = round(float(math.exp(generator.uniform(math.log(0.05), math.log(5)))), 6)
    privacy, utility, value_of, best, allowed = kind(generator, epsilon)
    found = ex.design(privacy, utility)
    about, matrix = f"{utility.name}, k = {utility.k}, under {privacy!r}: ", found.mechanism.matrix
    own = value_of(matrix)
    off = DESCENDED if utility.is_cost else SOLVED
    low, high = found.lower_bound * (1 - off) - NOTHING, found.upper_bound * (1 + off) + NOTHING
    if math.isnan(best):
        return about + "HiGHS found no optimum"
    if not ex.verify(found):
        return about + "not verified"
    if not allowed(matrix):
        return about + "the notion is not kept"
    if kind is minimax:
        wrong = own > high or best > high
    else:
        # (SLSQP may stop early: above a design that is proved to be as good as it is exact, it says nothing.)
        early = utility.is_cost and found.gap < off
        wrong = abs(own - found.value) > off * abs(own) + NOTHING or best < low or (best > high and not early)
    if wrong:
        return about + f"{found.lower_bound!r} to {found.upper_bound!r}, {own!r} by NumPy, the optimum {best!r}"
    return about + f"gap {found.gap:.2g}" if found.gap > WIDEST else ""


def main(count: int = 2000, first: int = 0) -> int:
    bad, done = 0, Counter[str]()
    for seed in range(first, first + count):
        kind = KINDS[seed % len(KINDS)]
        try:
            wrong = wrong_about(kind, np.random.default_rng(seed))
        except Exception as error:  # whatever it is, it is a defect
            wrong = f"{type(error).__name__}: {error}"
        done[kind.__name__] += 1
        if wrong:
            bad += 1
            print(f"{seed} {kind.__name__}: {wrong}", flush=True)
    print(f"{dict(done)}, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
