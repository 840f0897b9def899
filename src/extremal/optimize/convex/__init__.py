"""Convex utilities of the user."""
