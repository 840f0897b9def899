"""For tests of programs that use the package: Hypothesis strategies, and `designs.check`, which checks any design.

Needs the package `hypothesis`. The strategies are here by name.
"""

from extremal.testing.strategies import epsilons, ldp_mechanisms, matrices, mechanisms, pml_mechanisms, priors

__all__ = ["epsilons", "ldp_mechanisms", "matrices", "mechanisms", "pml_mechanisms", "priors"]
