"""Hamming distortion under ε-LDP, bounded by one prior of the class.

Row i of an ε-LDP mechanism gives 1 ≥ x_i + e^−ε·Σ_{j≠i} x_j, x_i = Q(i|i). The extreme points of these diagonals are
E/(|T|−1+E) on a set T and 0 elsewhere (E = e^ε), so that for a prior p with S_n the sum of its n largest probabilities

    the truth is reported with probability at most  max_n S_n·E/(n−1+E).

Hence (i) the least distortion at ε is at least 1 minus that; (ii) within distortion D, E ≥ min over n with S_n > 1−D of
(n−1)(1−D)/(S_n−1+D), if S_1 < 1−D. If S_1 = 1−D the same holds, n ≥ 2, once the class has a prior `inside` with S_1 <
1−D: move p a little towards it, and let the step go to 0. The worst case over a class is at least that of any of its
priors. All in rationals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from extremal.certificate.priors import chosen_prior
from extremal.certificate.refused import Refused
from extremal.exact import level_of_ratio
from extremal.exact.exponential import SMALLEST_EPSILON
from extremal.privacy import LDP, Notion
from extremal.utility import Hamming, LevelAtDistortion, Utility

_BITS = 192  # of e^ε: far beyond the float that comes out


def check(proof: dict[str, Any], privacy: Notion, utility: Utility) -> float:
    """The lower bound that the chosen prior proves: on the distortion at ε, or on ε within a distortion."""
    if isinstance(utility, LevelAtDistortion):
        return _level(proof, utility)
    if not isinstance(utility, Hamming) or not isinstance(privacy, LDP) or privacy.delta:
        raise Refused("a prior proves Hamming distortion under ε-LDP", parameter="privacy", value=privacy)
    sums = _largest_sums(chosen_prior(proof, utility.source))
    _, upper = privacy.exponential.bounds(_BITS)
    e = Fraction(upper, 1 << _BITS)
    return _below(1 - max(s * e / (n + e) for n, s in enumerate(sums)))


def _level(proof: dict[str, Any], utility: LevelAtDistortion) -> float:
    truth = 1 - utility.distortion
    if proof.get("zero"):
        return 0.0  # ε ≥ 0 needs no prior
    sums = _largest_sums(chosen_prior(proof, utility.source))
    inside = sums[0] if sums[0] < truth else _largest_sums(chosen_prior(proof.get("inside", {}), utility.source))[0]
    if sums[0] > truth or inside >= truth:
        raise Refused(
            "no symbol may be likelier than 1 − D under the prior of a proof", parameter="S_1", value=float(sums[0])
        )
    ratio = min(n * truth / (s - truth) for n, s in enumerate(sums) if s > truth)
    if ratio <= 1:
        return 0.0
    level = level_of_ratio(ratio.numerator, ratio.denominator)  # rounded up, and to 1e-9 at least
    return 0.0 if level <= SMALLEST_EPSILON else math.nextafter(level, 0)  # e^(the float before) < ratio


def _largest_sums(prior: list[Fraction]) -> list[Fraction]:
    """S_1 … S_k."""
    common = math.lcm(*(p.denominator for p in prior))
    total, sums = 0, []
    for weight in sorted((p.numerator * (common // p.denominator) for p in prior), reverse=True):
        total += weight
        sums.append(Fraction(total, common))
    return sums


def _below(number: Fraction) -> float:
    """The largest float that is at most `number`, or the one before it."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)
