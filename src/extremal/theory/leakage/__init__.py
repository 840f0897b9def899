"""What pointwise maximal leakage means: regions, its distribution over reports, wrong priors."""
