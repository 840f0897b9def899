"""Privacy and utility → design."""

from extremal.optimize.design import Design, design

__all__ = ["Design", "design"]
