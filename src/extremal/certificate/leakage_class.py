"""A bound for a class of priors from one of them.

What is private for every prior of a class is private for each, so the optimum for one prior bounds the optimum for the
class. The proof names one of the priors that describe the class and holds the proof for that prior.
"""

from __future__ import annotations

KIND = "one prior of the class"
