"""One value at a call, as a client randomises: randomised response of OpenDP and of this package; and a whole column.

OpenDP's constructor takes one value; a column is a loop there.
"""

from __future__ import annotations

import math
from time import process_time

import opendp.prelude as dp
from timing import best_of

import extremal as ex

K, EPSILON, VALUES, ROUNDS = 10, 1.0, 20_000, 5


def main() -> None:
    """Ratios, and what either says about ε."""
    dp.enable_features("contrib")
    theirs = dp.m.make_randomized_response(
        categories=list(range(K)), prob=math.exp(EPSILON) / (K - 1 + math.exp(EPSILON))
    )
    ours, values = ex.randomized_response(K, EPSILON), [i % K for i in range(VALUES)]
    one_by_one = best_of(ROUNDS, lambda: [ours.privatize(v) for v in values], process_time)[0]
    other = best_of(ROUNDS, lambda: [theirs(v) for v in values], process_time)[0]
    column = best_of(ROUNDS, lambda: ours.privatize(values), process_time)[0]
    print(f"randomised response, k = {K}, ε = {EPSILON:g}, {VALUES:,} values; OpenDP {dp.__version__}")
    print(f"  ε as stated: here {ours.privacy.level(ours)!r}, OpenDP {theirs.map(1)!r}")
    print(f"  one value a call: OpenDP takes {other / one_by_one:.2f} × as long")
    print(f"  a column of a list: OpenDP's loop takes {other / column:.0f} × as long")


if __name__ == "__main__":
    main()
