"""Patterns found one after another, where they are too many to list."""
