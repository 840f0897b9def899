"""One day's reports at two levels: `TwoLevels` beside multi-freq-ldpy's longitudinal protocols, on the same values.

Zipf over 100 labels, 4,000 people, 2 nats for a class forever and 1 for one report. Error is the mean over labels of n
times the squared error, of the unbiased estimate for ours; multi-freq-ldpy clips its estimates at 0 and divides by
their sum, which is done to ours too in the second column. Ours also print the level of one report, and that of all
reports about a value that has been everything. Exits 1 when our best is above all of theirs.

Run alone: python bench/every_day.py [PEOPLE]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import extremal as ex
from extremal.release.two_levels import TwoLevels

K, FOREVER, ONCE, ROUNDS = 100, 2.0, 1.0, 10


def clipped(estimate: Any) -> Any:
    positive = np.maximum(estimate, 0)
    return positive / positive.sum()


def main() -> int:
    from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Aggregator_MI, L_GRR_Client
    from multi_freq_ldpy.long_freq_est.L_LH import L_LH_Aggregator_MI, L_LH_Client
    from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Aggregator_MI, L_OSUE_Client
    from multi_freq_ldpy.long_freq_est.L_OUE import L_OUE_Aggregator_MI, L_OUE_Client
    from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Aggregator_MI, L_SUE_Client

    people = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    shares = 1 / np.arange(1, K + 1)
    shares /= shares.sum()
    x = np.random.default_rng(1).choice(K, size=people, p=shares)
    truth = np.bincount(x, minlength=K) / people
    ours = {
        "hashing to 4 classes": TwoLevels.hashing(K, FOREVER, ONCE),
        "randomised response": TwoLevels.within(ex.randomized_response(K, FOREVER), ONCE, changing=True),
        "unary encoding": TwoLevels.within(ex.unary_encoding(K, FOREVER), ONCE, changing=True),
    }
    errors = dict[str, float]()
    for name, two in ours.items():
        plain = after = 0.0
        for _ in range(ROUNDS):
            found = ex.estimate_frequencies(two.together.privatize(x), two.together).estimate
            plain += float(((found - truth) ** 2).mean()) * people / ROUNDS
            after += float(((clipped(found) - truth) ** 2).mean()) * people / ROUNDS
        errors[name] = after
        print(f"{name:24} {plain:9.2f} {after:9.3f}  once {two.once:.6f}, after all {two.after(10**6):g}", flush=True)
    theirs: dict[str, Any] = {
        "L-GRR": (lambda v: L_GRR_Client(v, K, FOREVER, ONCE), lambda r: L_GRR_Aggregator_MI(r, K, FOREVER, ONCE)),
        "L-OLH": (lambda v: L_LH_Client(v, K, FOREVER, ONCE), lambda r: L_LH_Aggregator_MI(r, K, FOREVER, ONCE)),
        "L-OSUE": (lambda v: L_OSUE_Client(v, K, FOREVER, ONCE), lambda r: L_OSUE_Aggregator_MI(r, FOREVER, ONCE)),
        "L-OUE": (lambda v: L_OUE_Client(v, K, FOREVER, ONCE), lambda r: L_OUE_Aggregator_MI(r, FOREVER, ONCE)),
        "L-SUE (RAPPOR)": (
            lambda v: L_SUE_Client(v, K, FOREVER, ONCE),
            lambda r: L_SUE_Aggregator_MI(r, FOREVER, ONCE),
        ),
    }
    others = dict[str, float]()
    for name, (client, server) in theirs.items():
        others[name] = 0.0
        for _ in range(ROUNDS):
            found = np.asarray(server([client(v) for v in x.tolist()]))
            others[name] += float(((found - truth) ** 2).mean()) * people / ROUNDS
        print(f"multi-freq-ldpy {name:14}         {others[name]:11.3f}", flush=True)
    return int(min(errors.values()) > 1.1 * min(others.values()))  # 10%: the noise of ten rounds


if __name__ == "__main__":
    sys.exit(main())
