"""Values → reports."""

from __future__ import annotations

from typing import Any

import numpy as np

from extremal.mechanism import Mechanism
from extremal.release.sampler import sample_codes


def privatize_values(mechanism: Mechanism, values: Any) -> Any:
    """One report for each value: a list, array or series gives a list of reports, anything else is one value."""
    if isinstance(values, (list, np.ndarray)) or hasattr(values, "to_list"):
        items = list(values)
        codes = np.array([mechanism.input_labels.code(v, f"values[{i}]") for i, v in enumerate(items)], dtype=np.intp)
        return [mechanism.output_labels[y] for y in sample_codes(mechanism, codes).tolist()]
    code = np.array([mechanism.input_labels.code(values)], dtype=np.intp)
    return mechanism.output_labels[int(sample_codes(mechanism, code)[0])]


__all__ = ["privatize_values", "sample_codes"]
