"""Reports → answers."""

from extremal.estimate.frequencies import estimate_frequencies
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.stratified import StratifiedEstimate

__all__ = ["FrequencyEstimate", "StratifiedEstimate", "estimate_frequencies"]
