"""Input codes → output codes, exactly by the weights: tables, trees, subsets and rules, from random words."""
