"""Frames that are plans, and data that outgrow a machine: reports by a key and a row id, so that they repeat."""
