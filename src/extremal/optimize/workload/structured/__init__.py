"""Designs that need no list of patterns: inputs that are alike, ordered, or wanted only through one statistic."""
