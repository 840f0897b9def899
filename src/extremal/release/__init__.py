"""Values → reports, exactly by the weights and with the operating system's randomness."""

from __future__ import annotations

from typing import Any

from extremal.mechanism import Mechanism
from extremal.release.privatize import privatize, privatize_column
from extremal.release.sampling.sampler import sample_codes
from extremal.release.sampling.words import refuse_seed


def privatize_values(mechanism: Mechanism, values: Any, **options: Any) -> Any:
    """One report for each value: what `Mechanism.privatize` does. No option is accepted; a seed is refused by name."""
    refuse_seed(options)
    return privatize_column(mechanism, values)


__all__ = ["privatize", "privatize_values", "sample_codes"]
