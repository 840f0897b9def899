"""Mechanisms that are known in closed form, one file for each."""

from extremal.closed_forms.randomized_response import randomized_response

__all__ = ["randomized_response"]
