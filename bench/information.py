"""Design for information against the program over all 2^k patterns, by SciPy's HiGHS and by the package's own oracle;
`make bench`."""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import linprog
from timing import best_of

import extremal as ex
from extremal.optimize.rays import best_mixture
from extremal.privacy.cones.staircase import patterns


def main() -> None:
    print("CPU seconds, best of 3; ratio to `design` with its certificate checked")
    for k in (8, 10, 12, 14):
        prior = np.random.default_rng(k).dirichlet(np.ones(k))
        for epsilon in (0.5, 2.0):
            utility = ex.MutualInformation(prior)
            columns = patterns(k, epsilon)
            values = utility.column_values(columns)

            def scipy_program(columns: object = columns, values: object = values, k: int = k) -> float:
                return -float(
                    linprog(-values / values.max(), A_eq=columns, b_eq=np.ones(k), method="highs").fun
                ) * float(values.max())

            def oracle(columns: object = columns, values: object = values) -> float:
                return float(values @ best_mixture(columns, values[None, :]).weights)

            own, found = best_of(3, lambda u=utility, e=epsilon: ex.design(ex.LDP(e), u).value, time.process_time)
            programs = {"SciPy linprog": scipy_program, "own oracle": oracle}
            peers = {name: best_of(3, run, time.process_time) for name, run in programs.items()}
            text = ", ".join(
                f"{name} {t:.3f} ({t / own:.1f}×, value {v / found - 1:+.0e})" for name, (t, v) in peers.items()
            )
            print(f"k={k:2d} ε={epsilon:g}: design {own:.3f}; {text}")


if __name__ == "__main__":
    main()
