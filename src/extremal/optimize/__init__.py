"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.distortion.smallest_epsilon import smallest_epsilon

__all__ = ["Design", "design", "smallest_epsilon"]
