"""Confidence limits: exact where a count is binomial, score limits elsewhere, and what a level means for one or
many."""
