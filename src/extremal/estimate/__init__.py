"""Reports → answers."""

from extremal.estimate.frequencies import estimate_frequencies
from extremal.estimate.result import FrequencyEstimate
from extremal.estimate.stratified import StratifiedEstimate

__all__ = ["FrequencyEstimate", "StratifiedEstimate", "estimate_frequencies"]
