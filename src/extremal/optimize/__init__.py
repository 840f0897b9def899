"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.tradeoff import Tradeoff, tradeoff

__all__ = ["Design", "Tradeoff", "design", "tradeoff"]
