"""What the papers state, as functions: bounds, thresholds, regions and regimes, as printed and as they hold."""

from extremal.theory import distortion
from extremal.theory.leakage import pml_regions, randomized_response_leakage, wrong_prior

__all__ = ["distortion", "pml_regions", "randomized_response_leakage", "wrong_prior"]
