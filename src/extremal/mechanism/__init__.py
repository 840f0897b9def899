"""The frozen result: exact weights stored by structure, labels, and versioned files."""

from extremal.mechanism.files import load
from extremal.mechanism.value import Mechanism

__all__ = ["Mechanism", "load"]
