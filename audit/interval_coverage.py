"""Coverage of 95% intervals: 100 configurations fixed in advance × 2,000 simulated surveys, every cell tested.

Intervals as centre ± z·s.e. must cover with probability in [0.94, 0.96] (a Bonferroni-corrected binomial test over all
cells, level 0.05); the same intervals cut to [0, 1] must cover with at least 0.94. Configurations excluded beforehand
are listed with the reason, and run for information. At the end, standard errors that are 20% too small must be caught
in every configuration. Run with `make audit`.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from extremal.testing.coverage import FEWEST, Configuration, configurations, significance

CONFIGURATIONS, REPEATS, LEVEL = 100, 2_000, 0.05


def line(configuration: Configuration, held: np.ndarray, bounded: np.ndarray) -> str:
    share, cut = held / REPEATS, bounded / REPEATS
    return (
        f"  {configuration!s:58s} rarest {configuration.rarest:8.0f}   mean {share.mean():.4f}   "
        f"cells {share.min():.4f} to {share.max():.4f}   cut to [0, 1]: {cut.min():.4f} to {cut.max():.4f}"
    )


def main() -> int:
    started = time.perf_counter()
    tested, excluded = configurations(CONFIGURATIONS)
    print(
        f"excluded beforehand, rarest report expected fewer than {FEWEST} times ({len(excluded)}), run for information:"
    )
    for configuration in excluded:
        print(line(configuration, *configuration.coverage(REPEATS)))
    print(f"tested ({len(tested)} × {REPEATS}):")
    low, high, low_bounded, means, extremes = [], [], [], [], []
    for configuration in tested:
        held, bounded = configuration.coverage(REPEATS)
        below, above = significance(held, REPEATS)
        low.append(below)
        high.append(above)
        low_bounded.append(significance(bounded, REPEATS)[0])
        means.append(held.mean() / REPEATS)
        extremes += [held.min() / REPEATS, held.max() / REPEATS]
        print(line(configuration, held, bounded), flush=True)
    cells = sum(len(p) for p in low)
    threshold = LEVEL / (3 * cells)
    smallest = [float(np.concatenate(p).min()) for p in (low, high, low_bounded)]
    caught = 0
    for configuration in tested:
        below, _ = significance(configuration.coverage(REPEATS, shrink=0.8)[0], REPEATS)
        caught += bool(below.min() < threshold)
    print(
        f"{cells} cells; configurations' mean coverage {min(means):.4f} to {max(means):.4f}, "
        f"single cells {min(extremes):.4f} to {max(extremes):.4f}\n"
        f"smallest p-values: coverage < 0.94 {smallest[0]:.2e}, > 0.96 {smallest[1]:.2e}, cut to [0, 1] < 0.94 "
        f"{smallest[2]:.2e}; "
        f"rejected below {threshold:.2e}\n"
        f"standard errors 20% too small: caught in {caught} of {len(tested)} configurations; "
        f"{time.perf_counter() - started:.0f} s"
    )
    return int(min(smallest) < threshold or caught < len(tested))


if __name__ == "__main__":
    sys.exit(main())
