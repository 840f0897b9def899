"""For our tests and for yours: Hypothesis strategies, slow oracles, and the one helper that checks any design.

Needs the package `hypothesis`. The strategies are here by name; the rest is in `designs`, `oracles`, `coverage` and
`random_mechanisms`.
"""

from extremal.testing.strategies import epsilons, ldp_mechanisms, matrices, mechanisms, pml_mechanisms, priors

__all__ = ["epsilons", "ldp_mechanisms", "matrices", "mechanisms", "pml_mechanisms", "priors"]
