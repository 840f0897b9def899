"""Answers: points, their uncertainty, functions of them, and how they are shown."""
