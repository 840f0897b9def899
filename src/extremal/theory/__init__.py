"""What is known about optimal mechanisms without solving for them: thresholds, limits, curves."""

from extremal.theory.information import binary_threshold_for_information, response_is_optimal, rr_threshold_for_information

__all__ = ["binary_threshold_for_information", "response_is_optimal", "rr_threshold_for_information"]
