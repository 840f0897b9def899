"""Against the proof kernel: attacks, and a second checker written from the page on proofs alone."""
