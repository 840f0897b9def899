"""Sets of priors: what is known, or promised, about where the inputs come from; one file a shape."""

from extremal.sources.ball import Ball
from extremal.sources.hull import Hull, Ordered
from extremal.sources.permutations import PermutationInvariant
from extremal.sources.simplex import Simplex
from extremal.sources.source_class import SHAPES, SourceClass, as_source

__all__ = ["SHAPES", "Ball", "Hull", "Ordered", "PermutationInvariant", "Simplex", "SourceClass", "as_source"]
