"""Reports → answers."""

from extremal.estimate.crosstab import estimate_crosstab
from extremal.estimate.frequencies import estimate_frequencies
from extremal.estimate.pool import pool
from extremal.estimate.results.combined import CombinedEstimate
from extremal.estimate.results.crosstab import CrosstabEstimate
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.stratified import StratifiedEstimate

__all__ = [
    "CombinedEstimate",
    "CrosstabEstimate",
    "FrequencyEstimate",
    "StratifiedEstimate",
    "estimate_crosstab",
    "estimate_frequencies",
    "pool",
]
