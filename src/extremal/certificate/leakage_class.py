"""A bound for a class of priors from one of them.

What is private for every prior of a class is private for each, so the optimum for one prior bounds the optimum for the
class. The proof names one of the priors that describe the class and holds the proof for that prior.
"""

from __future__ import annotations

from extremal.exact import Prior
from extremal.privacy import PML
from extremal.sources import SourceClass

KIND = "one prior of the class"


def member(source: SourceClass) -> Prior:
    """A prior of the class, exactly: the first of those that describe it; the uniform one of the whole simplex."""
    return source.priors[0] if source.priors else Prior([f"1/{source.k}"] * source.k)


def for_one(privacy: PML, prior: Prior) -> PML:
    """The notion at the same level for one prior."""
    return PML.from_json({**privacy.to_json(), "source": SourceClass([prior]).to_json()})
