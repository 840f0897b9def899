"""What the papers prove, as functions: thresholds, regions, what a level means."""

from extremal.theory.leakage import pml_regions, randomized_response_leakage, wrong_prior

__all__ = ["pml_regions", "randomized_response_leakage", "wrong_prior"]
