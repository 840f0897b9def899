"""Privacy and utility → design."""

from extremal.optimize.design import Design, design
from extremal.optimize.information_over_epsilon import InformationOverEpsilon, information_over_epsilon

__all__ = ["Design", "InformationOverEpsilon", "design", "information_over_epsilon"]
