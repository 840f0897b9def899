"""Several divergences between several hypotheses at once, under ε-LDP."""
