"""Empirical-Bayes shrinkage: what many cells together say about each of them.

A table of k unbiased frequencies is the truth plus noise of known spread. The k true frequencies themselves have a
distribution, whatever the order of the cells, and k noisy values tell much about it: if they scatter no more than noise
does, the truth is about uniform; if most are about zero and a few far away, it is sparse. Given that distribution g
each cell has a posterior g(θ)ℓ_x(θ)/Σ g ℓ_x (Robbins 1956), and the table of least expected distance Σ|p̃ − p| has the
quantiles of these posteriors at the one level at which they add up to one (`posterior_shares`). g is not known. Nine
kinds are tried, on a grid of θ:

* all frequencies equal;
* Zipf's law: the r-th largest ∝ r^−a, a from 0.25 to 3;
* a few equal, the rest empty: s cells of 1/s, s ≤ √k; and some equal, the rest empty: s from there to k;
* Zipf's law on a few, and on some of the cells, the rest empty, divided likewise;
* a few large, the rest equal: a share w of the people evenly on s ≤ √k cells, the others evenly on all; both numbers
  on a logarithmic scale;
* uneven: symmetric Dirichlet, α from 0.3 to 10;
* any g at all: the nonparametric maximum likelihood estimate (Kiefer and Wolfowitz 1956; Jiang and Zhang 2009), by EM.

The posteriors are averaged with weights proportional to prior × probability of what was seen. The prior is `_ODDS`
among the kinds, of which equality may hold exactly (Jeffreys 1961), and even among a kind's parameters. Where noise
exceeds most cells the reports fit Zipf's law, a few large cells above equal ones, and a table whose other cells are
mostly empty about equally well; but emptying cells that are not empty costs up to five times the least distance,
filling cells that are empty about a third more than it. So many cells on an empty ground get little weight until the
reports show them. The probability is that of the cells drawn from g one by one, given that they add up to one: by
Bayes' rule times the density of Σθ at 1 after over that before the reports, both normal with their moments. Without
that factor five large cells are taken for three or eight, and the rest is wrong by as much. For the last kind it is
that of each cell under the g of the others (leaving out its share of the posterior), with a fine of log k, so that ten
cells do not become ten atoms. The kind with the largest weight is named in summaries.

When it loses. The order of the cells is not used: for ordered inputs with a smooth truth `smooth` is far better. A cell
that differs from all others is pulled towards them by part of its standard error, so a single large cell is better read
from the unbiased estimate and its interval. Where the noise exceeds everything (k = 1,000, ε = 1, n = 10,000) the
answer is close to uniform, as it should be, and no method learns much. Noise that is strongly dependent between cells
(geometric mechanisms) is treated as if it were not.

References: Robbins, Proc. 3rd Berkeley Symposium (1956); Kiefer and Wolfowitz, Ann. Math. Statist. 27 (1956); Jiang and
Zhang, Ann. Statist. 37 (2009); Jeffreys, Theory of Probability (1961), Chapter 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, xlog1py, xlogy

from extremal.estimate.methods.likelihood import project_onto_simplex
from extremal.exact.weights import Floats

if TYPE_CHECKING:
    from extremal.estimate.results.fit import Fit

EQUAL, ANY = "all equal", "no particular kind"
_GRID = 80  # points of each of three parts of the grid: near zero, evenly, and by ratio
_OWN = 200  # estimates that are grid points themselves
_NEAR = 4.0  # standard errors that the first part covers
_EXPONENTS = np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0])  # of Zipf's law
_FINE, _COARSE = 1.04, 1.2  # ratios of the numbers of cells that are tried: of equal ones, of those of a law
_LARGE = np.geomspace(0.01, 0.99, 60)  # shares of the people on the few large cells, as a scale: every size as likely
_ALPHAS = np.geomspace(0.3, 10, 9)  # parameters of symmetric Dirichlet vectors
_RANKS = 200  # ranks of Zipf's law tabulated one by one, and groups of the ranks beyond them
# Prior odds of the kinds, chosen on trial surveys of other seeds than the accuracy table's so that the largest losses
# against other methods are small. What is seen well where it holds, or costs much where it does not, gets little.
_ODDS = {
    EQUAL: 5.0,
    "Zipf's law": 5.0,
    "a few equal, the rest empty": 1.0,
    "Zipf's law on a few, the rest empty": 1.5,
    "some equal, the rest empty": 0.1,
    "Zipf's law on some, the rest empty": 0.15,
    "a few large, the rest equal": 4.0,
    "uneven, none apart": 1.0,
    ANY: 1.0,
}
_SLACK = 0.02  # of the sum of all frequencies: the tables above are this coarse
_NEGLIGIBLE = 30.0  # logarithm of the ratio of weights below which a table is left out
_HALVINGS = 50  # of the level of a quantile: to the last digit
_ITERATIONS = 200  # of EM from an even start: its slowness is welcome, the maximiser itself is a few bare atoms
_TINY = 1e-300  # in place of 0 where a logarithm is taken or divided by


def shrunk(fit: Fit) -> tuple[Floats, str]:
    """The rows' frequencies of least expected distance, from the unbiased estimate and its noise; and what they were
    taken to be like."""
    k, n, inverse = fit.unbiased.size, fit.observed.effective_n, fit.unbiased_inverse
    error = float(np.sqrt(np.median(fit.unit_variances(None)) / n))
    theta = grid(k, n, fit.unbiased, error)
    if inverse.binary(None).all():
        small, large = (np.broadcast_to(v, k) for v in inverse.extremes(None))
        values, back, times = np.unique(
            np.column_stack([(fit.unbiased - small) / (large - small), small, large]),
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        seen, low, high = values.T[:, :, None]
        likelihood = binomial_likelihood(n * np.clip(seen, 0, 1), n, (theta - low) / (high - low))
    else:
        back, times = np.arange(k), np.ones(k, dtype=np.int64)
        likelihood = normal_likelihood(fit.unbiased, _noise(fit, theta) / n, theta)
    shares, kind = posterior_shares(likelihood, times.astype(np.float64), theta, k)
    return project_onto_simplex(shares[back.ravel()]), kind


def _noise(fit: Fit, theta: Floats) -> Floats:
    """The variance of one report's contribution to each cell, if its frequency were θ and the others kept their
    shares."""
    moments, p = fit.unbiased_inverse.moments(None), fit.plausible
    own = np.diagonal(moments)
    others = (moments @ p - own * p) / np.maximum(1 - p, 1e-9)
    mean = moments.mean(axis=1)
    others = np.where(p > 1 - 1e-9, mean, others)
    return np.asarray(np.maximum(others[:, None] + (own - others)[:, None] * theta - theta**2, _TINY))


def grid(k: int, n: float, estimates: Floats, error: float) -> Floats:
    """Frequencies at which distributions are tabulated: 0, 1/k, three scales up to the largest estimate, and the large
    estimates themselves, so that little noise is resolved too."""
    top = float(np.clip(estimates.max(), 1 / k, 1.0))
    large = np.sort(estimates[estimates > _NEAR * error])
    chosen = large[np.unique(np.linspace(0, large.size - 1, min(large.size, _OWN)).astype(np.intp))]
    scales = [
        np.linspace(0, min(top, _NEAR * error), _GRID),
        np.linspace(0, top, _GRID),
        np.geomspace(min(1 / n, top) / 10, top, _GRID),
    ]
    return np.unique(np.concatenate([[0.0, 1 / k], (1 - _LARGE) / k, *scales, np.minimum(chosen, 1.0)]))


def binomial_likelihood(counts: Floats, n: float, shares: Floats) -> Floats:
    """P(count | share) for a column of counts that are Bin(n, share), each row scaled to a largest entry of 1."""
    t = np.clip(shares, 0.0, 1.0)
    logs = xlogy(counts, t) + xlog1py(n - counts, -t)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def normal_likelihood(estimates: Floats, variances: Floats, theta: Floats) -> Floats:
    """Densities of estimates that are N(θ, variances[x, θ]), each row scaled to a largest entry of 1."""
    spread = np.maximum(variances, _TINY)
    logs = -((estimates[:, None] - theta) ** 2) / (2 * spread) - np.log(spread) / 2
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def posterior_shares(likelihood: Floats, multiplicity: Floats, theta: Floats, k: int) -> tuple[Floats, str]:
    """The shares of least expected distance Σ|p̃ − p| among distributions, one for each row of `likelihood`, which
    stands for `multiplicity` cells; and the kind of g that predicts best.

    With a sum of one, Σ|p̃ − p| = 2 − 2Σ min(p̃, p), and E min(p̃, p) grows with p̃ as P(p > p̃): so at the best p̃ that
    is the same for all cells, which are quantiles of their posteriors at a common level.
    """
    families = _families(theta, k) | {ANY: _maximum_likelihood(likelihood, multiplicity, k)[:, None]}
    priors = np.column_stack([*families.values()])
    kinds = np.repeat(np.arange(len(families)), [table.shape[1] for table in families.values()])
    seen = np.maximum(likelihood @ priors, _TINY)
    odds = np.log([_ODDS[kind] for kind in families]) - np.log(np.bincount(kinds))
    weight = multiplicity @ np.log(seen) + odds[kinds]
    # At the maximum g is the mean of the cells' posteriors; without cell x it is (k·g − posterior of x)/(k − 1).
    own = (likelihood**2 @ priors[:, -1]) / seen[:, -1]
    alone = np.maximum((k * seen[:, -1] - own) / (k - 1), _TINY)
    weight[-1] += multiplicity @ (np.log(alone) - np.log(seen[:, -1])) - np.log(k)

    kept = weight > weight.max() - _NEGLIGIBLE
    priors, kinds, seen = priors[:, kept], kinds[kept], seen[:, kept]
    weight = weight[kept] + sum_to_one(likelihood, multiplicity, theta, priors, seen)
    weight = np.exp(weight - weight.max())
    posterior = likelihood * ((weight / seen) @ priors.T)
    below = np.cumsum(posterior, axis=1)
    below /= below[:, -1:]
    best = int(np.bincount(kinds, weights=weight).argmax())
    return common_quantiles(below, multiplicity, theta), [*families][best]


def sum_to_one(likelihood: Floats, multiplicity: Floats, theta: Floats, priors: Floats, seen: Floats) -> Floats:
    """For each prior: the logarithm of the density of Σθ at 1 given the reports over that before them."""
    column = theta[:, None]
    mean = likelihood @ (priors * column) / seen
    square = likelihood @ (priors * column**2) / seen
    variance = multiplicity @ np.maximum(square - mean**2, 0.0) + _SLACK**2
    before = multiplicity.sum() * np.maximum(theta**2 @ priors - (theta @ priors) ** 2, 0.0) + _SLACK**2
    return np.asarray(-((1 - multiplicity @ mean) ** 2) / (2 * variance) + np.log(before / variance) / 2)


def common_quantiles(below: Floats, multiplicity: Floats, theta: Floats) -> Floats:
    """Quantiles at the level at which they add up to one; `below` are distribution functions at theta."""

    def at(level: float) -> Floats:
        place = (below < level).sum(axis=1)  # the first grid point that reaches the level
        return np.asarray(theta[np.minimum(place, theta.size - 1)])

    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if multiplicity @ at(middle) < 1 else (low, middle)
    under, over = at(low), at(high)  # grid points: between the two, the share of each that adds up to one
    gap = float(multiplicity @ (over - under))
    part = (1 - float(multiplicity @ under)) / gap if gap > 0 else 0.0
    return np.asarray(under + part * (over - under))


def _maximum_likelihood(likelihood: Floats, multiplicity: Floats, k: int) -> Floats:
    g = np.full(likelihood.shape[1], 1 / likelihood.shape[1])
    for _ in range(_ITERATIONS):
        g = g * (likelihood.T @ (multiplicity / np.maximum(likelihood @ g, _TINY))) / k
    return np.asarray(g / g.sum())


def _families(theta: Floats, k: int) -> dict[str, Floats]:
    """Kinds of tables, a column for each parameter: the share of the cells at each grid point."""
    fine, coarse = _numbers(k, _FINE), _numbers(k, _COARSE)
    tables = {
        EQUAL: [_tabulated([1 / k], [k], theta)],
        "Zipf's law": [_tabulated(*_zipf(k, a), theta) for a in _EXPONENTS.tolist()],
    }
    for number, few in (("a few", True), ("some", False)):
        tables[f"{number} equal, the rest empty"] = [
            _tabulated([1 / s, 0.0], [s, k - s], theta) for s in fine if (s * s <= k) == few
        ]
        tables[f"Zipf's law on {number}, the rest empty"] = [
            _tabulated(*_zipf(s, a, k - s), theta)
            for s in coarse[1:]
            if (s * s <= k) == few
            for a in _EXPONENTS.tolist()
        ]
    tables |= {
        "a few large, the rest equal": [
            _tabulated([w / s + (1 - w) / k, (1 - w) / k], [s, k - s], theta)
            for s in coarse
            if s * s <= k
            for w in _LARGE.tolist()
        ],
    }
    edges = np.concatenate([[0.0], (theta[1:] + theta[:-1]) / 2, [1.0]])
    tables["uneven, none apart"] = [*(k * np.diff(betainc(_ALPHAS, _ALPHAS * (k - 1), edges[:, None]), axis=0)).T]
    return {kind: np.column_stack(columns) / k for kind, columns in tables.items() if columns}


def _numbers(k: int, ratio: float) -> list[int]:
    """Numbers of cells from 1 to k − 1, evenly on a logarithmic scale."""
    found = np.rint(np.geomspace(1, k, 2 + int(np.log(k) / np.log(ratio)))).astype(np.int64)
    return [s for s in np.unique(found).tolist() if s < k]


def _zipf(s: int, a: float, empty: int = 0) -> tuple[Floats, Floats]:
    """Frequencies ∝ r^−a of s cells and 0 of others, and how many cells have each: ranks beyond the first are put into
    groups."""
    edges = np.arange(1, min(s, _RANKS) + 2)
    if s > _RANKS:
        edges = np.unique(np.concatenate([edges, np.rint(np.geomspace(_RANKS + 1, s + 1, _RANKS))]))
    cells = np.diff(edges).astype(np.float64)
    values = np.sqrt(edges[:-1] * (edges[1:] - 1.0)) ** -a
    return np.append(values / (cells @ values), 0.0), np.append(cells, empty)


def _tabulated(values: Sequence[float] | Floats, cells: Sequence[float] | Floats, theta: Floats) -> Floats:
    """The numbers of cells at the grid points: each is divided between two neighbours, so that the sum is kept."""
    v, number = np.asarray(values), np.asarray(cells, dtype=np.float64)
    left = np.clip(np.searchsorted(theta, v, side="right") - 1, 0, theta.size - 2)
    part = np.clip((v - theta[left]) / (theta[left + 1] - theta[left]), 0.0, 1.0)
    table = np.bincount(left, weights=number * (1 - part), minlength=theta.size)
    return np.asarray(table + np.bincount(left + 1, weights=number * part, minlength=theta.size))
