"""Least distortion at ε, and the smallest ε within a distortion."""
