"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.smallest_epsilon import smallest_epsilon
from extremal.optimize.tradeoff import Tradeoff, tradeoff

__all__ = ["Design", "Tradeoff", "design", "smallest_epsilon", "tradeoff"]
