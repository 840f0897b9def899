"""Standard errors of a regression in a sample: the covariance of its coefficients and how well units show it.

The scores of units scatter between two inverses of the information J (White 1982; Binder 1983; `svyglm`). Two things
are known of that scatter:

* randomisation alone moves the scores by N = Σ w_i² E Var(s_i | true answer), so that the covariance is at least
  J⁻¹NJ⁻¹ in every direction. Few clusters that agree by chance, and more coefficients than clusters, show less;
* scores at the estimate add up to zero with every coefficient: u_c = e_jᵀJ⁻¹(S_c − H_cJ⁻¹S) with H_c the part of the
  information that unit c has. A covariate that is the same for a whole cluster, or far out in a few, is known from
  those few, and they pull its coefficient (`reports.degrees`). At most units − strata + 1 − terms degrees are left.
"""

from __future__ import annotations

import numpy as np

from extremal.estimate.regression.likelihood import Likelihood
from extremal.estimate.reports.degrees import ALIKE, Degrees, Deviations
from extremal.estimate.reports.sampling import DrawnSample
from extremal.exact.weights import Floats

MOST_UNITS = 2_000  # whose parts of the information are looked at one by one (a second); beyond, they are enough
MOST_SCORES = 1 << 25  # numbers: scores of everybody given each true answer, a quarter of a gigabyte
UNSEEN = 1e-9  # relative: a coefficient of whose variance units show less is one that they fit perfectly
_RANK = 1e-12  # relative: eigenvalues of a covariance below are rounding


def covariance(
    likelihood: Likelihood, values: Floats, information: Floats, drawn: DrawnSample | None, matrix: Floats
) -> Floats:
    """The inverse of the information; for a sample the sandwich, at least the known noise of a mechanism's `matrix`.

    With replicate weights the sandwich is one step of Newton's method for each.
    """
    inverse: Floats = np.asarray(np.linalg.inv(information), dtype=np.float64)
    if drawn is None:
        return inverse
    scores = likelihood.rows(values)[1]
    moved = drawn.of_rows(scores) * len(scores)
    return at_least(inverse @ (moved.T @ moved) @ inverse, inverse @ noise(likelihood, values, matrix) @ inverse)


def at_least(one: Floats, least: Floats) -> Floats:
    """The smallest change of a covariance that makes it at least another in every direction: itself if it is already.

    With RRᵀ the sum of both, R⁺·one·R⁺ᵀ = A and R⁺·least·R⁺ᵀ = I − A have the same eigenvectors.

    >>> at_least(np.diag([4.0, 0.0]), np.diag([1.0, 2.0])).round(6).tolist()
    [[4.0, 0.0], [0.0, 2.0]]
    """
    scale = np.sqrt(np.maximum(np.diagonal(one + least), np.finfo(np.float64).tiny))
    sizes, directions = np.linalg.eigh((one + least) / np.outer(scale, scale))
    kept = sizes > _RANK * max(float(sizes[-1]), np.finfo(np.float64).tiny)
    root = directions[:, kept] * np.sqrt(sizes[kept])
    back = directions[:, kept] / np.sqrt(sizes[kept])
    shares, turned = np.linalg.eigh(back.T @ (one / np.outer(scale, scale)) @ back)
    below = shares < 1 / 2
    if not below.any():
        return one
    added = root @ turned[:, below]
    return np.asarray(one + (added * (1 - 2 * shares[below])) @ added.T * np.outer(scale, scale))


def noise(likelihood: Likelihood, values: Floats, matrix: Floats) -> Floats:
    """N: of the sum of the scores when true answers and everything public are fixed; 0 where too many to look at.

    Where outcome and covariate are both privatised, the outcome's report counts as fixed: that is part of the noise.
    """
    squares, size = likelihood.weights**2, len(values)
    found = np.zeros((size, size))
    if len(squares) * size * max(matrix.shape) > MOST_SCORES:
        return found
    chances = likelihood.answers(values)
    means = np.zeros((len(matrix), len(squares), size))
    for column in matrix.T:
        scores = likelihood.seeing(column).rows(values)[1]
        found += scores.T @ ((squares * (chances @ column))[:, None] * scores)
        means += column[:, None, None] * scores
    for mean, chance in zip(means, chances.T, strict=True):
        found -= mean.T @ ((squares * chance)[:, None] * mean)
    return found


def degrees(likelihood: Likelihood, values: Floats, information: Floats, drawn: DrawnSample) -> Degrees:
    """For each coefficient; not a number where nothing is left."""
    left = drawn.degrees.number
    if drawn.replicates is None:
        left = float(drawn.strata.size - drawn.sampled.size)
    left += 1 - likelihood.terms
    size = values.size
    if not drawn.clustered or drawn.strata.size > MOST_UNITS:
        found = Degrees(np.full(size, drawn.degrees.number), np.full(size, drawn.degrees.seen))
    else:
        found = _of_units(likelihood, values, np.asarray(np.linalg.inv(information), dtype=np.float64), drawn)
    number = np.where((left >= 1) & (found.seen > UNSEEN), np.minimum(found.number, left), np.nan)
    return Degrees(number, np.maximum(found.seen, UNSEEN))


def _of_units(likelihood: Likelihood, values: Floats, inverse: Floats, drawn: DrawnSample) -> Degrees:
    """Two people of a unit have scores of correlation `ALIKE` where their covariates are alike: if all of them were,
    the variance of their sum would be its part of the information times their number."""
    order = np.argsort(drawn.units, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(drawn.units))[:-1])
    parts, spread = [], []
    for each in rows:
        unit = likelihood.within(each)
        w = unit.weights
        parts.append(unit.information(values))
        alike = unit.averaged().information(values)
        spread.append(ALIKE * w.sum() * alike + (1 - ALIKE) * (w @ w) / w.sum() * parts[-1])
    sizes, directions = np.linalg.eigh(np.array(spread))  # observed information may be negative for few people
    scatter = (directions * np.maximum(sizes, 0.0)[:, None, :]) @ np.swapaxes(directions, 1, 2)
    among = inverse @ scatter.sum(axis=0) @ inverse
    found = []
    for direction in inverse:
        own = np.einsum("p,cpq,q->c", direction, scatter, direction)
        found.append(Deviations(own, scatter @ direction @ inverse, np.array(parts) @ direction, among))
    each_of = [drawn.degrees_of([one]) for one in found]
    return Degrees(np.array([one.number for one in each_of]), np.array([one.seen for one in each_of]))
