"""A prior of a source class, named in a proof and decided exactly to be one.

A worst case over a class is at least what any of its priors gives: so a proof may choose a prior. It is written as
weights on the class's own priors (`mix`), or as the probabilities themselves (`prior`), which must then lie in the
class, in rationals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from extremal.certificate.refused import Refused
from extremal.exact import Prior, as_fraction
from extremal.sources import SourceClass


def chosen_prior(content: dict[str, Any], source: SourceClass) -> list[Fraction]:
    """The probabilities that a proof chose; they sum to 1 exactly and lie in the class."""
    if "mix" in content:
        return _mixture([as_fraction(w, "mix") for w in content["mix"]], source)
    prior = Prior([as_fraction(p, "prior") for p in content["prior"]])
    if len(prior) != source.k or not source.admits(prior):
        raise Refused("the prior of a proof must lie in the class", parameter="prior", value=prior)
    return [prior.fraction(x) for x in range(source.k)]


def _mixture(mix: list[Fraction], source: SourceClass) -> list[Fraction]:
    priors = source.listed
    if priors is None or len(mix) != len(priors) or any(w < 0 for w in mix) or not sum(mix):
        raise Refused(
            "a mixture must have one weight ≥ 0 for each prior of the class", parameter="len(mix)", value=len(mix)
        )
    used = [(w, p) for w, p in zip(mix, priors, strict=True) if w]
    common = math.lcm(*(w.denominator * p.total for w, p in used))  # integers throughout: a thousand symbols stay cheap
    scales = [w.numerator * (common // (w.denominator * p.total)) for w, p in used]
    totals = [sum(s * p.weights[x] for s, (_, p) in zip(scales, used, strict=True)) for x in range(source.k)]
    whole = sum(totals)
    return [Fraction(t, whole) for t in totals]
