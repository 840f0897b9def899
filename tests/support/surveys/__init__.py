"""Surveys simulated, to hold intervals and plans against."""
