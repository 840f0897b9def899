"""Empirical-Bayes shrinkage: what many cells together say about each of them.

A table of k unbiased frequencies is the truth plus noise of known spread. The k true frequencies themselves have a
distribution, whatever the order of the cells, and k noisy values tell much about it: if they scatter no more than noise
does, the truth is about uniform; if most are about zero and a few far away, it is sparse. Given that distribution g
each cell has a posterior g(θ)ℓ_x(θ)/Σ g ℓ_x (Robbins 1956), and the table of least expected distance Σ|p̃ − p| has the
quantiles of these posteriors at the one level at which they add up to one (`posterior_shares`). g is not known. Six
kinds are tried, on a grid of θ:

* all frequencies equal;
* symmetric Dirichlet: the marginal Beta(α, (k − 1)α), α from 0.003 to 300;
* power laws: g ∝ θ^−s between 1/n and the largest frequency, s from 0.25 to 4.05 (after Wang et al. 2020, who use one);
* a few large frequencies, the rest empty: a point at 0 and a slab, even or even on a logarithmic scale;
* a few large frequencies, the rest equal: the same with the point at c/k, c from 0.1 to 1;
* any g at all: the nonparametric maximum likelihood estimate (Kiefer and Wolfowitz 1956; Jiang and Zhang 2009), by EM.

The posteriors are averaged with weights proportional to the probability of what was seen: exact for all but the last,
and for that of each cell under the g of the others (leaving out its share of the posterior), with a fine of log k, so
that ten cells do not become ten atoms. The kind with the largest weight is named in summaries.

When it loses. The order of the cells is not used: for ordered inputs with a smooth truth `smooth` is far better. A cell
that differs from all others is pulled towards them by part of its standard error, so a single large cell is better read
from the unbiased estimate and its interval. Where the noise exceeds everything (k = 1,000, ε = 1, n = 10,000) the
answer is close to uniform, as it should be, and no method learns much. Noise that is strongly dependent between cells
(geometric mechanisms) is treated as if it were not.

References: Robbins, Proc. 3rd Berkeley Symposium (1956); Kiefer and Wolfowitz, Ann. Math. Statist. 27 (1956); Jiang and
Zhang, Ann. Statist. 37 (2009); Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li, NDSS (2020) for PowerNS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, xlog1py, xlogy

from extremal.estimate.methods.likelihood import project_onto_simplex
from extremal.exact.weights import Floats

if TYPE_CHECKING:
    from extremal.estimate.results.fit import Fit

_GRID = 80  # points of each of three parts of the grid: near zero, evenly, and by ratio
_OWN = 200  # estimates that are grid points themselves
_NEAR = 4.0  # standard errors that the first part covers
_DIRICHLET = np.geomspace(0.003, 300, 26)
_POWERS = np.linspace(0.25, 4.05, 20)  # 1, whose integral is a logarithm, is not among them
_REST = np.linspace(0.1, 1.0, 19)  # of 1/k: where all but the few large frequencies may be
_FEW = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)  # share of the cells that are large
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
    shares, kind = posterior_shares(likelihood, times.astype(np.float64), theta, k, n)
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
    return np.unique(np.concatenate([[0.0, 1 / k], _REST / k, *scales, np.minimum(chosen, 1.0)]))


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


def posterior_shares(likelihood: Floats, multiplicity: Floats, theta: Floats, k: int, n: float) -> tuple[Floats, str]:
    """The shares of least expected distance Σ|p̃ − p| among distributions, one for each row of `likelihood`, which
    stands for `multiplicity` cells; and the kind of g that predicts best.

    With a sum of one, Σ|p̃ − p| = 2 − 2Σ min(p̃, p), and E min(p̃, p) grows with p̃ as P(p > p̃): so at the best p̃ that
    is the same for all cells, which are quantiles of their posteriors at a common level.
    """
    free = _maximum_likelihood(likelihood, multiplicity, k)
    families = _families(theta, k, n)
    priors = np.column_stack([*families.values(), free])
    seen = np.maximum(likelihood @ priors, _TINY)
    weight = multiplicity @ np.log(seen)
    weight[:-1] -= np.concatenate([np.full(table.shape[1], np.log(table.shape[1])) for table in families.values()])
    # At the maximum g is the mean of the cells' posteriors; without cell x it is (k·g − posterior of x)/(k − 1).
    own = (likelihood**2 @ free) / seen[:, -1]
    weight[-1] = multiplicity @ np.log(np.maximum((k * seen[:, -1] - own) / (k - 1), _TINY)) - np.log(k)
    weight = np.exp(weight - weight.max())
    kinds = np.repeat([*range(len(families)), len(families)], [*(t.shape[1] for t in families.values()), 1])
    best = int(np.bincount(kinds, weights=weight).argmax())
    posterior = likelihood * ((weight / seen) @ priors.T)
    below = np.cumsum(posterior, axis=1)
    below /= below[:, -1:]
    return _common_quantiles(below, multiplicity, theta), [*families, "no particular kind"][best]


def _common_quantiles(below: Floats, multiplicity: Floats, theta: Floats) -> Floats:
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


def _families(theta: Floats, k: int, n: float) -> dict[str, Floats]:
    """Kinds of distributions, a column for each parameter; a grid point has the mass of its surroundings."""
    edges = np.concatenate([[0.0], (theta[1:] + theta[:-1]) / 2, [1.0]])

    def point(value: float) -> Floats:
        return np.asarray(theta == theta[np.argmin(np.abs(theta - value))], dtype=np.float64)

    dirichlet = np.diff(betainc(_DIRICHLET, _DIRICHLET * (k - 1), edges[:, None]), axis=0)
    above = np.maximum(edges, min(1 / n, theta[-1] / 2))[:, None]
    power = np.diff(above ** (1 - _POWERS) / (1 - _POWERS), axis=0)
    slabs = [slab / slab.sum() for slab in (np.diff(np.log(above[:, 0])), np.diff(edges) * (theta > 0))]
    levels = {"a few large, the rest empty": [0.0], "a few large, the rest equal": [*_REST / k]}
    found = {"all equal": point(1 / k)[:, None], "symmetric Dirichlet": dirichlet, "power law": power}
    for kind, rest in levels.items():
        found[kind] = np.column_stack(
            [(1 - few) * point(level) + few * slab for level in rest for few in _FEW for slab in slabs]
        )
    return {kind: np.maximum(table, 0.0) / np.maximum(table, 0.0).sum(axis=0) for kind, table in found.items()}
