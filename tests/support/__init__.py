"""What tests and audits share: oracles, random mechanisms, attacks on proofs and files, simulated surveys."""
