"""What the papers state, as functions: bounds, thresholds, regions and regimes, as printed and as they hold."""

from extremal.closed_forms.leakage import randomized_response_leakage
from extremal.theory import distortion
from extremal.theory.leakage import pml_regions
from extremal.theory.thresholds import (
    binary_threshold_for_information,
    response_is_optimal,
    rr_threshold_for_information,
)
from extremal.theory.wrong_prior import wrong_prior

__all__ = [
    "binary_threshold_for_information",
    "distortion",
    "pml_regions",
    "randomized_response_leakage",
    "response_is_optimal",
    "rr_threshold_for_information",
    "wrong_prior",
]
