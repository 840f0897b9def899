"""The proofs that a certificate can hold, and their reasons."""
