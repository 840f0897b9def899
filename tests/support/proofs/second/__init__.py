"""The parts of the second checker: nothing of the kernel is imported here, only what the page on proofs says."""
