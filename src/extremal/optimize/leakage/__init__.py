"""Pointwise maximal leakage and local information privacy."""
