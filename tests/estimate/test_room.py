"""The package itself, when somebody calls it."""

import pytest

import extremal as ex
from extremal import estimate


def test_calling_the_package_says_what_to_call() -> None:
    with pytest.raises(TypeError, match="ex.estimate_frequencies"):
        estimate([0, 1], ex.randomized_response(2, 1))  # type: ignore[operator]
