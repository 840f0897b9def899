"""Shuffled reports against enumeration in fractions, and against intervals that another program proved.

* 1,500 data sets by default: small mechanisms, a third of them with zeros, n = 2 to 5; every data set of every pair is
  enumerated. The largest divergence must lie in the interval for δ, always.
* Other people's intervals: by a program with another contour rule, another bound over all data sets and floating-point
  searches. Both are proved, and ours must lie inside theirs (the last digit given or taken); `ratio` is upper/lower of
  ours. From 100,000 people on it must be at most 1.001.
* Faults that must be caught by the enumeration are tests (`tests/theory/test_shuffle.py`).

Run with `make audit`, or alone with the number of data sets and the beginnings of the names to compare (RR10 SS OUE).
"""

from __future__ import annotations

import math
import random
import sys
import time
from fractions import Fraction

import extremal as ex
from extremal.data import INCOME_MIDDLES
from support.shuffles import all_divergences, exact_rows, small_mechanism

SEED = 20_261_118
DATA_SETS = 1_500
MOST_RATIO, LARGE = 1.001, 100_000  # upper over lower, from so many people on
NARROW = Fraction(1, 10**14)  # how far the rational that stands for e^ε may be from it, relative
LAST_DIGIT = 2e-6  # relative: the references are printed with seven digits, rounded outwards

REFERENCES = """
RR2 0.5 1e3 1e-06 0.05685381 0.05685382
RR2 0.5 1e4 1e-06 0.01618114 0.01618115
RR2 0.5 1e5 1e-06 0.004574541 0.004574542
RR2 0.5 1e6 1e-06 0.001265797 0.001266033
RR2 1 1e3 1e-06 0.1266144 0.1266145
RR2 1 1e4 1e-06 0.03565881 0.03565882
RR2 1 1e5 1e-06 0.01014251 0.01014252
RR2 1 1e6 1e-06 0.00284901 0.002849017
RR2 2 1e3 1e-06 0.3233235 0.3233236
RR2 2 1e4 1e-06 0.08701971 0.08701973
RR2 2 1e5 1e-06 0.02466065 0.02466066
RR2 2 1e6 1e-06 0.006999725 0.00699974
RR2 4 1e3 1e-06 1.691006 1.691007
RR2 4 1e4 1e-06 0.3146431 0.3146432
RR2 4 1e5 1e-06 0.08471617 0.08471618
RR2 4 1e6 1e-06 0.02401396 0.02401402
RR10 0.5 1e3 1e-06 0.02964499 0.02965146
RR10 0.5 1e4 1e-06 0.008494103 0.008494311
RR10 0.5 1e5 1e-06 0.0023846 0.002384604
RR10 0.5 1e6 1e-06 0.0006494348 0.0006494353
RR10 1 1e3 1e-06 0.08013128 0.08016109
RR10 1 1e4 1e-06 0.02325256 0.02325332
RR10 1 1e5 1e-06 0.006638455 0.006638475
RR10 1 1e6 1e-06 0.001854409 0.001854411
RR10 2 1e3 1e-06 0.2726468 0.2727664
RR10 2 1e4 1e-06 0.07980066 0.07980365
RR10 2 1e5 1e-06 0.0231121 0.02311219
RR10 2 1e6 1e-06 0.006596712 0.006596716
RR10 4 1e3 1e-06 1.526849 1.52744
RR10 4 1e4 1e-06 0.3804873 0.3804931
RR10 4 1e5 1e-06 0.1099083 0.1099086
RR10 4 1e6 1e-06 0.03188151 0.03188154
RR100 0.5 1e3 1e-06 0.008905249 0.00890525
RR100 0.5 1e4 1e-06 0.00246285 0.002462898
RR100 0.5 1e5 1e-06 0.0006708534 0.0006708535
RR100 0.5 1e6 1e-06 0.0001741344 0.0001741345
RR100 1 1e3 1e-06 0.02546947 0.02547034
RR100 1 1e4 1e-06 0.007183312 0.007183318
RR100 1 1e5 1e-06 0.002007423 0.002007424
RR100 1 1e6 1e-06 0.0005438182 0.0005438183
RR100 2 1e3 1e-06 0.1011965 0.1012068
RR100 2 1e4 1e-06 0.02920834 0.02920853
RR100 2 1e5 1e-06 0.008358621 0.00835863
RR100 2 1e6 1e-06 0.002345628 0.00234563
RR100 4 1e3 1e-06 0.7611561 0.7612139
RR100 4 1e4 1e-06 0.2337362 0.2337378
RR100 4 1e5 1e-06 0.06843111 0.06843117
RR100 4 1e6 1e-06 0.01979204 0.01979205
SS10 0.5 1e3 1e-06 0.04215217 0.04243276
SS10 0.5 1e4 1e-06 0.01213215 0.01215608
SS10 0.5 1e5 1e-06 0.003428143 0.003430696
SS10 0.5 1e6 1e-06 0.0009430329 0.0009434454
SS10 1 1e3 1e-06 0.1003842 0.1018219
SS10 1 1e4 1e-06 0.02915035 0.02925465
SS10 1 1e5 1e-06 0.008347033 0.008356802
SS10 1 1e6 1e-06 0.002342415 0.002343607
SS10 2 1e3 1e-06 0.2726468 0.2727664
SS10 2 1e4 1e-06 0.07980066 0.07980365
SS10 2 1e5 1e-06 0.0231121 0.02311219
SS10 2 1e6 1e-06 0.006596712 0.006596716
SS10 4 1e3 1e-06 1.526849 1.52744
SS10 4 1e4 1e-06 0.3804873 0.3804931
SS10 4 1e5 1e-06 0.1099083 0.1099086
SS10 4 1e6 1e-06 0.03188151 0.03188154
OUE10 0.5 1e3 1e-06 0.03960392 0.03985553
OUE10 0.5 1e4 1e-06 0.01138973 0.01141115
OUE10 0.5 1e5 1e-06 0.003214808 0.003217115
OUE10 0.5 1e6 1e-06 0.0008828619 0.0008832458
OUE10 1 1e3 1e-06 0.09263981 0.09389374
OUE10 1 1e4 1e-06 0.02688616 0.02697752
OUE10 1 1e5 1e-06 0.007690471 0.007699088
OUE10 1 1e6 1e-06 0.002154701 0.002155773
OUE10 2 1e3 1e-06 0.2543133 0.2642983
OUE10 2 1e4 1e-06 0.07434532 0.0748502
OUE10 2 1e5 1e-06 0.02151619 0.02155582
OUE10 2 1e6 1e-06 0.006134875 0.006138907
OUE10 4 1e3 1e-06 0.9271627 0.9387597
OUE10 4 1e4 1e-06 0.27613 0.2788458
OUE10 4 1e5 1e-06 0.08062569 0.08105946
OUE10 4 1e6 1e-06 0.02334843 0.02338169
CDF10 0.5 1e4 1e-06 0.01463806 0.0146692
CDF10 0.5 1e6 1e-06 0.001146629 0.001147131
CDF10 1 1e4 1e-06 0.03376242 0.03388361
CDF10 1 1e6 1e-06 0.002724456 0.002725817
CDF10 2 1e4 1e-06 0.09582515 0.09583028
CDF10 2 1e6 1e-06 0.007949792 0.007949805
CDF10 4 1e4 1e-06 0.381366 0.3813717
CDF10 4 1e6 1e-06 0.03195154 0.03195158
Mean24 0.5 1e4 1e-06 0.01618114 0.01626252
Mean24 0.5 1e6 1e-06 0.001265796 0.001266596
Mean24 1 1e4 1e-06 0.03623315 0.03647941
Mean24 1 1e6 1e-06 0.002904776 0.002907104
Mean24 2 1e4 1e-06 0.1065473 0.1075313
Mean24 2 1e6 1e-06 0.008840478 0.008847932
Mean24 4 1e4 1e-06 0.3997153 0.3997213
Mean24 4 1e6 1e-06 0.03340688 0.03340693
RR2 0.5 1e3 1e-08 0.07411378 0.07411379
RR2 0.5 1e4 1e-08 0.02180508 0.02180509
RR2 0.5 1e5 1e-08 0.006453936 0.006453938
RR2 0.5 1e6 1e-08 0.001903264 0.001903318
RR2 1 1e3 1e-08 0.1629468 0.1629469
RR2 1 1e4 1e-08 0.04701226 0.04701227
RR2 1 1e5 1e-08 0.01387946 0.01387947
RR2 1 1e6 1e-08 0.004105386 0.004105399
RR2 2 1e3 1e-08 0.415795 0.4157951
RR2 2 1e4 1e-08 0.112655 0.1126551
RR2 2 1e5 1e-08 0.03282776 0.03282777
RR2 2 1e6 1e-08 0.009708812 0.009708842
RR2 4 1e3 1e-08 2.61797 2.617972
RR2 4 1e4 1e-08 0.4045208 0.404521
RR2 4 1e5 1e-08 0.1097274 0.1097275
RR2 4 1e6 1e-08 0.03199057 0.03199068
RR10 0.5 1e3 1e-08 0.03912565 0.03913996
RR10 0.5 1e4 1e-08 0.01168376 0.01168419
RR10 0.5 1e5 1e-08 0.003464522 0.003464535
RR10 0.5 1e6 1e-08 0.001018685 0.001018686
RR10 1 1e3 1e-08 0.1028932 0.1029551
RR10 1 1e4 1e-08 0.03091611 0.03091781
RR10 1 1e5 1e-08 0.009217907 0.009217954
RR10 1 1e6 1e-08 0.0027292 0.002729203
RR10 2 1e3 1e-08 0.3405384 0.3407712
RR10 2 1e4 1e-08 0.1026051 0.1026113
RR10 2 1e5 1e-08 0.03073877 0.03073895
RR10 2 1e6 1e-08 0.009162327 0.009162334
RR10 4 1e3 1e-08 1.99479 1.996673
RR10 4 1e4 1e-08 0.475977 0.4759879
RR10 4 1e5 1e-08 0.1403553 0.1403557
RR10 4 1e6 1e-08 0.04200508 0.04200511
RR100 0.5 1e3 1e-08 0.01234362 0.0123455
RR100 0.5 1e4 1e-08 0.003578915 0.003578916
RR100 0.5 1e5 1e-08 0.00105004 0.001050041
RR100 0.5 1e6 1e-08 0.00030542 0.0003054201
RR100 1 1e3 1e-08 0.03411787 0.03412548
RR100 1 1e4 1e-08 0.009955073 0.009955327
RR100 1 1e5 1e-08 0.002942585 0.002942586
RR100 1 1e6 1e-08 0.0008639055 0.0008639057
RR100 2 1e3 1e-08 0.130105 0.1301175
RR100 2 1e4 1e-08 0.03860225 0.0386025
RR100 2 1e5 1e-08 0.0115053 0.01150532
RR100 2 1e6 1e-08 0.003410735 0.003410737
RR100 4 1e3 1e-08 0.9070347 0.907126
RR100 4 1e4 1e-08 0.2927556 0.2927583
RR100 4 1e5 1e-08 0.08831605 0.08831615
RR100 4 1e6 1e-08 0.02644921 0.02644923
SS10 0.5 1e3 1e-08 0.05507591 0.05536162
SS10 0.5 1e4 1e-08 0.01647554 0.01649912
SS10 0.5 1e5 1e-08 0.004895286 0.00489756
SS10 0.5 1e6 1e-08 0.001443129 0.001443384
SS10 1 1e3 1e-08 0.1283077 0.1297929
SS10 1 1e4 1e-08 0.03850141 0.03860611
SS10 1 1e5 1e-08 0.01148919 0.01149855
SS10 1 1e6 1e-08 0.003406272 0.003407229
SS10 2 1e3 1e-08 0.3405384 0.3407712
SS10 2 1e4 1e-08 0.1026051 0.1026113
SS10 2 1e5 1e-08 0.03073877 0.03073895
SS10 2 1e6 1e-08 0.009162327 0.009162334
SS10 4 1e3 1e-08 1.99479 1.996673
SS10 4 1e4 1e-08 0.475977 0.4759879
SS10 4 1e5 1e-08 0.1403553 0.1403557
SS10 4 1e6 1e-08 0.04200508 0.04200511
OUE10 0.5 1e3 1e-08 0.05183698 0.05209418
OUE10 0.5 1e4 1e-08 0.0155014 0.01552251
OUE10 0.5 1e5 1e-08 0.004604228 0.004606266
OUE10 0.5 1e6 1e-08 0.001356717 0.001356947
OUE10 1 1e3 1e-08 0.1186272 0.1199281
OUE10 1 1e4 1e-08 0.03559488 0.03568668
OUE10 1 1e5 1e-08 0.01061822 0.01062645
OUE10 1 1e6 1e-08 0.003146537 0.003147383
OUE10 2 1e3 1e-08 0.3182912 0.3290755
OUE10 2 1e4 1e-08 0.09576238 0.09627966
OUE10 2 1e5 1e-08 0.02867912 0.02871834
OUE10 2 1e6 1e-08 0.008545433 0.008549096
OUE10 4 1e3 1e-08 1.107083 1.121474
OUE10 4 1e4 1e-08 0.3453276 0.3487042
OUE10 4 1e5 1e-08 0.1036547 0.1040989
OUE10 4 1e6 1e-08 0.03104394 0.0310767
CDF10 0.5 1e4 1e-08 0.01975349 0.01978413
CDF10 0.5 1e6 1e-08 0.001733799 0.001734129
CDF10 1 1e4 1e-08 0.04441145 0.04453274
CDF10 1 1e6 1e-08 0.00393266 0.003933767
CDF10 2 1e4 1e-08 0.122711 0.1227216
CDF10 2 1e6 1e-08 0.01096256 0.01096259
CDF10 4 1e4 1e-08 0.477089 0.4770998
CDF10 4 1e6 1e-08 0.04209473 0.04209479
Mean24 0.5 1e4 1e-08 0.02180508 0.02189672
Mean24 0.5 1e6 1e-08 0.001903263 0.001903807
Mean24 1 1e4 1e-08 0.04770236 0.04794046
Mean24 1 1e6 1e-08 0.004181447 0.004183916
Mean24 2 1e4 1e-08 0.1362072 0.1371958
Mean24 2 1e6 1e-08 0.01214323 0.01215026
Mean24 4 1e4 1e-08 0.5003599 0.5003725
Mean24 4 1e6 1e-08 0.04395691 0.04395697
"""
"""Mechanism, local ε, n, δ, lower and upper end of ε."""


def mechanism(name: str, epsilon: str) -> ex.Mechanism:
    """By the name in the table."""
    if name == "CDF10":
        return ex.design(ex.LDP(epsilon), ex.CDF(10)).mechanism
    if name == "Mean24":
        return ex.design(ex.LDP(epsilon), ex.Mean(INCOME_MIDDLES)).mechanism
    k = int(name.lstrip("RSOUE"))
    if name.startswith("SS"):
        return ex.subset_selection(k, epsilon)
    return ex.randomized_response(k, epsilon) if name.startswith("RR") else ex.unary_encoding(k, epsilon)


def enumerated(least: int) -> bool:
    """Whether all intervals hold, over at least so many data sets."""
    rng, seen, cases, good = random.Random(SEED), 0, 0, True
    while seen < least:
        m = small_mechanism(rng, zeros=cases % 3 == 0)
        n = rng.choice((2, 3, 4, 5) if m.m == 2 else (2, 3, 4))
        epsilon = Fraction(rng.randrange(0, 90), 100)
        near, rows = Fraction(math.exp(epsilon)), exact_rows(m)
        low, high = ex.shuffled(m, n).delta(epsilon)
        above = [value for _, value in all_divergences(rows, n, near * (1 + NARROW))]
        below = [value for _, value in all_divergences(rows, n, near * (1 - NARROW))]
        good &= Fraction(low) <= max(below) and max(above) <= Fraction(high)
        seen, cases = seen + len(above), cases + 1
    print(f"{seen} data sets of {cases} mechanisms: {'all inside' if good else 'FAILED'}")
    return good


def compared(names: tuple[str, ...]) -> bool:
    """Whether our intervals lie inside the references, and are narrow."""
    good, inside, count, worst, longest = True, 0, 0, 1.0, 0.0
    for line in REFERENCES.strip().splitlines():
        name, local, people, delta, *ends = line.split()
        n, low_end, high_end = int(float(people)), float(ends[0]), float(ends[1])
        if names and not name.startswith(names):
            continue
        m = mechanism(name, local)
        start = time.process_time()
        low, high = ex.shuffled(m, n).epsilon(delta)
        seconds = time.process_time() - start
        overlap = low <= high_end * (1 + LAST_DIGIT) and low_end <= high * (1 + LAST_DIGIT)
        within = low_end * (1 - LAST_DIGIT) <= low and high <= high_end * (1 + LAST_DIGIT)
        narrow = n < LARGE or high / low <= MOST_RATIO
        good, inside, count = good and within and narrow, inside + within, count + 1
        worst, longest = max(worst, high / low if n >= LARGE else 1.0), max(longest, seconds)
        marks = f"{'inside' if within else 'OVERLAPS' if overlap else 'FAILED'}{'' if narrow else ', WIDE'}"
        print(f"{line}  ours {low:.10g} {high:.10g}  ratio {high / low:.6f}  {seconds:.2f} s  {marks}", flush=True)
    print(f"{inside} of {count} inside; largest ratio from {LARGE:,} people on {worst:.6f}; longest {longest:.1f} s")
    return good


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    sys.exit(0 if enumerated(asked) & compared(tuple(sys.argv[2:])) else 1)
