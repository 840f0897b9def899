"""The largest likelihood, or the reason why there is none.

Newton's method with a damping that is raised until the likelihood rises. Three things end in an error that names the
terms: columns of the design that add up to each other, a likelihood that is flat in some direction (a mechanism that
merges what the model tells apart), and one that keeps rising as coefficients grow. The last is separation, and with
privatised answers it comes easily: where fewer reports of "yes" are seen than the mechanism makes of nothing but "no",
the best probability is 0 and its logit −∞.
"""

from __future__ import annotations

import math

import numpy as np

from extremal.errors import NotIdentified
from extremal.estimate.regression.likelihood import Likelihood
from extremal.exact.weights import Floats

MOST_STEPS = 300  # of Newton's method; 5 to 20 are usual, a hundred where the data nearly separate
TOLERANCE = 1e-14
"""Newton decrement at which the search stops: twice what the log-likelihood can still rise, so that coefficients are
within 1e-7 standard errors of the maximum."""
ENOUGH = 1e-8
"""A decrement that is accepted when rounding of the likelihood allows no smaller one."""
MOST_DAMPING = 1e12
"""Beyond this a step is lost in the rounding of the parameters, and the likelihood cannot rise."""
WORST_CONDITION = 1e11
"""Of a matrix scaled to a unit diagonal; beyond, a direction is flat to 11 digits and counts as not determined."""
FAR = 10.0
"""A logit beyond this (a probability within 5e-5 of 0 or 1) is looked at closely."""
STILL = 0.01
"""Newton's next step moves such a logit by less than its standard error times 1e-7 where there is a maximum. Where the
likelihood rises as −e^{−η} it moves it by about 1, however far out it is."""
UNIT = 2.0**-53  # the relative error of one rounding


def maximised(likelihood: Likelihood) -> tuple[Floats, Floats]:
    """The maximiser and the information there.

    Raises:
        NotIdentified: the likelihood is flat in some direction, or rises for ever (separation).
    """
    theta, damping = likelihood.start(), 1e-3
    value, decrement = likelihood.value(theta), math.inf
    for _ in range(MOST_STEPS):
        gradient, information = likelihood.gradient(theta), likelihood.information(theta)
        rounding = 8 * UNIT * float(likelihood.weights @ np.abs(likelihood.rows(theta)[0]))
        while True:
            step = _step(gradient, information, damping)
            ahead = theta + step
            reached = likelihood.value(ahead) if likelihood.allows(ahead) else -math.inf
            if reached >= value - rounding or damping > MOST_DAMPING:
                break
            damping = max(damping * 8, 1e-8)
        if damping > MOST_DAMPING:
            break
        decrement = float(gradient @ step) * (1 + damping)
        theta, value, damping = ahead, reached, damping / 16 if damping > 1e-14 else 0.0
        if decrement <= TOLERANCE:
            break
    information = likelihood.information(theta)
    _refuse_separation(likelihood, theta, information)
    _refuse_flat(likelihood.names, information)
    if decrement > ENOUGH:
        raise NotIdentified(
            "the likelihood has no maximum inside the model: a category's probability is estimated as 0",
            parameter="formula",
            hint="Merge categories that hardly occur, or leave terms out.",
        )
    return theta, information


def refuse_dependent(designs: list[Floats], names: list[str]) -> None:
    """Raise when columns of a design add up to each other, naming them."""
    stacked = np.vstack(designs)
    sizes = np.linalg.norm(stacked, axis=0)
    zero = [name for name, size in zip(names, sizes, strict=True) if not size > 0]
    if not zero and stacked.size:
        triangle = np.linalg.qr(stacked / sizes, mode="r") if len(stacked) >= len(names) else stacked / sizes
        _, spread, directions = np.linalg.svd(triangle)
        rank = int(np.count_nonzero(spread > spread[0] / WORST_CONDITION))
        if rank < len(names):
            zero = [names[i] for i in np.argsort(-np.abs(directions[-1])) if abs(directions[-1][i]) > 1e-6]
    if zero:
        raise NotIdentified(
            "the columns of the design must not add up to each other",
            parameter="formula",
            value=", ".join(zero[:6]),
            hint="Leave one of these terms out.",
        )


def _scale(information: Floats) -> Floats:
    """Square roots of the diagonal, kept away from 0."""
    diagonal = np.abs(np.diag(information))
    return np.asarray(np.sqrt(np.maximum(diagonal, 1e-40 * max(float(diagonal.max()), 1.0))))


def _step(gradient: Floats, information: Floats, damping: float) -> Floats:
    """(H + damping)⁻¹g in the scale of the diagonal; directions of negative curvature are turned upwards."""
    scale = _scale(information)
    sizes, directions = np.linalg.eigh(information / np.outer(scale, scale))
    sizes = np.maximum(np.abs(sizes), 1e-13) + damping
    return np.asarray(directions @ ((directions.T @ (gradient / scale)) / sizes) / scale)


def _covariance(information: Floats) -> Floats:
    """The inverse, with flat directions as nearly infinite variances."""
    scale = _scale(information)
    sizes, directions = np.linalg.eigh(information / np.outer(scale, scale))
    return np.asarray((directions / np.maximum(sizes, 1e-15)) @ directions.T / np.outer(scale, scale))


def _refuse_separation(likelihood: Likelihood, theta: Floats, information: Floats) -> None:
    covariance, step = _covariance(information), _step(likelihood.gradient(theta), information, 0.0)
    for block in likelihood.predictors():
        far = np.flatnonzero(np.abs(block @ theta) > FAR)
        if not far.size:
            continue
        rows = np.unique(block[far], axis=0)
        variance = np.maximum(np.einsum("np,pq,nq->n", rows, covariance, rows), 0.0)
        moved = np.where(np.sqrt(variance) > np.abs(rows @ theta), np.abs(rows @ step), 0.0)
        worst = int(np.argmax(moved))
        if moved[worst] <= STILL:
            continue
        weight = np.abs(step * rows[worst])
        names = [likelihood.names[i] for i in np.argsort(-weight)[:4] if weight[i] > 0.05 * weight.max()]
        raise NotIdentified(
            "the data separate: some probability is estimated as 0 or 1, and the likelihood keeps rising as "
            "coefficients grow",
            parameter="formula",
            value=", ".join(names),
            hint="Leave the term out, merge categories, or collect more reports.",
        )


def _refuse_flat(names: list[str], information: Floats) -> None:
    scale = np.sqrt(np.maximum(np.diag(information), 0.0))
    flat = [name for name, size in zip(names, scale, strict=True) if not size > 0]
    if not flat:
        sizes, directions = np.linalg.eigh(information / np.outer(scale, scale))
        if sizes[0] <= float(sizes[-1]) / WORST_CONDITION:
            weights = np.abs(directions[:, 0])
            flat = [names[i] for i in np.argsort(-weights) if weights[i] > 0.05]
    if flat:
        raise NotIdentified(
            "the reports must determine the coefficients: the likelihood is flat in some direction",
            parameter="formula",
            value=", ".join(flat[:6]),
            hint="A mechanism that merges categories, terms that cannot be told apart, or too little data.",
        )
