"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.distortion_tradeoff import DistortionTradeoff, distortion_tradeoff
from extremal.optimize.smallest_epsilon import smallest_epsilon

__all__ = ["Design", "DistortionTradeoff", "design", "distortion_tradeoff", "smallest_epsilon"]
