"""Reports → answers."""

from extremal.estimate.frequencies import estimate_frequencies
from extremal.estimate.results.estimate import FrequencyEstimate
from extremal.estimate.results.stratified import StratifiedEstimate
from extremal.estimate.workload import WorkloadEstimate, estimate_workload

__all__ = ["FrequencyEstimate", "StratifiedEstimate", "WorkloadEstimate", "estimate_frequencies", "estimate_workload"]
