"""Against the proof kernel: attacks, and what the checker that stands alone says."""
