"""What the proofs count with: columns and rays, enclosures, exact sums and variances."""
