"""f-divergences: under ε-LDP for any alphabet, and under metric privacy."""
