"""The kinds of proof, a file for each family: frozen values that derive a bound."""
