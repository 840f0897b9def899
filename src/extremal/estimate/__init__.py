"""Reports → answers."""

from extremal.estimate.frequencies import FrequencyEstimate, estimate_frequencies

__all__ = ["FrequencyEstimate", "estimate_frequencies"]
