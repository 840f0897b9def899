"""Exceptions from the rules of tests/test_layers.py that are to go: empty when every room is in its place."""

MERGES: set[str] = set()
CLASS_NAMES: set[str] = set()
NUMBERS: set[str] = set()
GONE: set[str] = set()
LOADED: set[str] = set()
MODULES_TOO_MANY = 1  # that importing the proof kernel loads
