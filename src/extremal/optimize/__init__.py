"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.leakage_comparison import EqualLeakage, equal_leakage

__all__ = ["Design", "EqualLeakage", "design", "equal_leakage"]
