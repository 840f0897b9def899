"""Distortion: sizes, and agreement and speed against libqif's `min_loss_given_d` (PyPI: qif) on five instances.

libqif builds and solves the whole linear program in C++; the times are of the same call in the same run. Prints the
relative difference of the optima, which must be at most 1e-7. Run with `make bench-all`.
"""

from __future__ import annotations

import sys

import numpy as np
from timing import best_of

import extremal as ex
from extremal.optimize import Design

AGREE = 1e-7


def grid(side: int) -> np.ndarray:
    points = np.array([(i, j) for i in range(side) for j in range(side)], dtype=float)
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))


def instances() -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray, float]]:
    """(name, prior, distances of the privacy, losses, ε per unit)."""
    generator = np.random.default_rng(7)
    line = np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)))
    plane = generator.random((15, 2))
    plane = np.hypot(*(plane[:, None] - plane[None]).transpose(2, 0, 1))
    return [
        ("grid 4×4, Euclidean loss", generator.dirichlet(np.ones(16)), grid(4), grid(4), 1.0),
        ("grid 5×5, squared loss", np.full(25, 1 / 25), grid(5), grid(5) ** 2, 0.8),
        ("line of 20, absolute loss", generator.dirichlet(np.ones(20)), line, line, 0.5),
        ("15 points in the square", generator.dirichlet(np.ones(15)), plane, plane, 4.0),
        (
            "LDP, 12 symbols, random loss",
            generator.dirichlet(np.ones(12)),
            1 - np.eye(12),
            generator.random((12, 12)),
            1.5,
        ),
    ]


def against_libqif() -> float:
    import qif

    worst = 0.0
    for name, prior, apart, loss, epsilon in instances():
        near, cost = (epsilon * apart).tolist(), loss.tolist()
        seconds, theirs = best_of(
            1,
            lambda p=prior, n=near, c=cost: qif.mechanism.d_privacy.min_loss_given_d(
                p, len(p), lambda x, y, n=n: n[x][y], lambda x, y, c=c: c[x][y]
            ),
        )
        value = float((prior[:, None] * np.asarray(theirs) * loss).sum())
        own, ours = best_of(
            1, lambda p=prior, a=apart, w=loss, e=epsilon: ex.design(ex.MetricPrivacy(e, a), ex.Distortion(p, w))
        )
        difference = abs(ours.value - value) / value
        worst = max(worst, difference)
        times = f"{own:6.2f} s / {seconds:6.2f} s = {own / seconds:.2f}"
        print(f"{name:30s} {ours.value:.12f}  libqif {value:.12f}  difference {difference:.1e}  {times}")
    return worst


def report(design: Design, seconds: float) -> str:
    again, checked = best_of(1, lambda: ex.verify(design))
    held = "verified" if checked else "NOT VERIFIED"
    return f"{design.value:.9f}, gap {design.gap:.0e}, {seconds:.2f} s, {held} in {again:.2f} s"


def sizes() -> None:
    generator = np.random.default_rng(0)
    source = ex.SourceClass.ordered([np.sort(generator.dirichlet(np.full(1000, a)))[::-1] for a in (0.5, 1, 1, 2, 5)])
    loose = ex.SourceClass([generator.dirichlet(np.full(1000, a)) for a in (0.5, 1, 1, 2, 5)])
    for name, chosen in (("ordered", source), ("arbitrary", loose)):
        for distortion in (0.05, 0.3, 0.6, 0.9):
            seconds, d = best_of(1, lambda c=chosen, b=distortion: ex.smallest_epsilon(c, b))
            print(f"smallest ε, {name}, M=1000, 5 priors, D={distortion}: {report(d, seconds)}")
    points = generator.random((50, 2))
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    prior = generator.dirichlet(np.ones(50))
    for notion in (ex.LDP(2), ex.PML(1, prior), ex.LIP(1, prior), ex.MetricPrivacy(4, apart)):
        seconds, d = best_of(1, lambda n=notion: ex.design(n, ex.Distortion(prior, apart)))
        print(f"k=50, {notion.name}: {report(d, seconds)}")


if __name__ == "__main__":
    sizes()
    sys.exit(against_libqif() > AGREE)
