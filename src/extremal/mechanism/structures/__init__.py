"""Ways to store exact weights, one file each."""
