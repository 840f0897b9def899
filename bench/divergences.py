"""f-divergences under LDP: the partition method against the 2^k linear program in scipy, highspy and cvxpy, and its
growth in k.

Single thread; ratios within this run are what to trust. Copied to
docs/reference/benchmarks.md by hand.
"""

from __future__ import annotations

import resource
from collections.abc import Callable

import numpy as np
from timing import best_of

import extremal as ex
from extremal.optimize.divergence.solve import solve as solve_divergence
from extremal.optimize.problem import Problem
from extremal.privacy.cones.staircase import patterns
from extremal.solver import LinearProgram


def full_programs(utility: ex.KL, epsilon: float) -> dict[str, Callable[[], float]]:
    """The 2^k program in each library, scaled so that all of them get it right."""
    columns = patterns(utility.k, epsilon)
    values = utility.column_values(columns)
    scaled = values / values.max()

    def scipy() -> float:
        from scipy.optimize import linprog

        return float(-linprog(-scaled, A_eq=columns, b_eq=np.ones(utility.k), method="highs").fun * values.max())

    def highs() -> float:
        program = LinearProgram(np.ones(utility.k), np.ones(utility.k))
        program.add(columns, values)
        return program.solve().value

    def cvxpy() -> float:
        import cvxpy as cp

        theta = cp.Variable(columns.shape[1], nonneg=True)
        problem = cp.Problem(cp.Maximize(scaled @ theta), [columns @ theta == 1])
        return float(problem.solve() * values.max())

    return {"scipy (HiGHS)": scipy, "highspy, scaled": highs, "cvxpy": cvxpy}


def main() -> None:
    generator = np.random.default_rng(1)
    k, epsilon = 12, 1.0
    utility = ex.KL(generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k)))
    problem = Problem(ex.LDP(epsilon), utility, proofs=("partition",))
    ours, _ = best_of(9, lambda: solve_divergence(problem))
    proved, _ = best_of(9, lambda: ex.design(ex.LDP(epsilon), utility, proofs=["partition"]))
    best = ex.design(ex.LDP(epsilon), utility).value
    print(
        f"k = {k}, ε = {epsilon:g}, KL, Dirichlet(1): exact weights in {ours * 1e3:.2f} ms, with the proof checked "
        f"{proved * 1e3:.2f} ms"
    )
    for name, solve in full_programs(utility, epsilon).items():
        try:
            seconds, value = best_of(3, solve)
        except ImportError:
            print(f"  {name:18s} not installed")
            continue
        slower = f"{seconds / ours:6.1f} × slower ({seconds / proved:.1f} × than with proof)"
        print(f"  {name:18s} {seconds * 1e3:9.2f} ms   {slower}   relative error {abs(value / best - 1):.1e}")
    print("\ngrowth in k (KL, Dirichlet(1)); search and proof by the theorem")
    print(f"{'k':>9s} {'ε':>4s} {'seconds':>9s} {'gap':>9s} {'reports':>8s}")
    for k in (100, 1_000, 10_000, 100_000, 1_000_000):
        p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
        for epsilon in (1, 4, 8):
            seconds, found = best_of(1, lambda a=p0, b=p1, e=epsilon: ex.design(ex.LDP(e), ex.KL(a, b)))
            print(
                f"{k:9d} {epsilon:4g} {seconds:9.2f} {found.gap:9.1e} {found.mechanism.m:8d}",
                flush=True,
            )
    print(f"\nlargest memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print("\ndual certificate of the full 2^k program (lifted), made and verified")
    for k in (1_000, 100_000):
        p0, p1 = generator.dirichlet(np.ones(k)), generator.dirichlet(np.ones(k))
        for epsilon in (1, 4):
            made, found = best_of(1, lambda a=p0, b=p1, e=epsilon: ex.design(ex.LDP(e), ex.KL(a, b), proofs=["lines"]))
            checked, fine = best_of(1, lambda d=found: bool(ex.verify(d)))
            print(
                f"  k = {k:7d}, ε = {epsilon:g}: gap {found.gap:.1e}, made in {made:.1f} s, verified ({fine}) in "
                f"{checked:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
