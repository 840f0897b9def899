"""Mutual information under ε-LDP, certified without enumeration."""
