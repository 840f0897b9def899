"""What the papers state, as functions: bounds, thresholds and regimes, as printed and as they hold."""

from extremal.theory import distortion

__all__ = ["distortion"]
