"""Exceptions from the rules of tests/test_layers.py that are to go: empty when every room is in its place."""

MERGES: set[str] = {
    "exact.quotients",
}
CLASS_NAMES: set[str] = {"Channel", "Statistics"}
NUMBERS: set[str] = {
    "CHUNK",
    "FLAT",
    "KEY_BITS",
    "LARGEST_EXPONENT",
    "LARGEST_PLAIN",
    "LARGEST_SCALE",
    "LONGEST_WHOLE",
    "MOST_BITS",
    "MOST_COUNTS",
    "MOST_DIGITS",
    "MOST_DISTRIBUTIONS",
    "MOST_ENDS",
    "MOST_FLOAT_BITS",
    "MOST_INPUTS",
    "MOST_LIFTED",
    "MOST_NODES",
    "MOST_RAYS",
    "MOST_REVEALED",
    "MOST_TOKENS",
    "NEWTON_STEPS",
    "ORDER_BITS",
    "ROUNDING",
    "ROUNDS",
    "SCALE",
    "SLICES",
    "WORKING_BITS",
}
GONE: set[str] = set()
LOADED: set[str] = {"utility"}
MODULES_TOO_MANY = 25  # that importing the proof kernel loads
