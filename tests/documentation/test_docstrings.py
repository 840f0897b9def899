"""Every public name says what it is, what it guarantees, where it comes from, and shows itself in an example.

Errors have an example that raises them. What a function returns names that function, which has the rest. The examples
themselves are run with the modules.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import extremal as ex
from extremal import certificate, estimate, optimize
from extremal.closed_forms import surveys
from extremal.data import survey
from extremal.simulate import Simulated, Simulation

PUBLIC = {f"ex.{name}": getattr(ex, name) for name in ex.__all__ if name != "__version__"}
for room in (ex.theory, ex.studies, optimize):
    PUBLIC |= {f"{room.__name__}.{name}": getattr(room, name) for name in room.__all__ if name not in PUBLIC}
PUBLIC |= {f"ex.errors.{name}": held for name, held in vars(ex.errors).items() if inspect.isclass(held)}
PUBLIC |= {f"estimate.{name}": getattr(estimate, name) for name in estimate.__all__ if name.endswith("Estimate")}
PUBLIC |= {f"certificate.{held.__name__}": held for held in (certificate.Verdict, certificate.Verification)}
PUBLIC |= {f"ex.surveys.{name}": held for name, held in vars(surveys).items() if inspect.isfunction(held)}
PUBLIC |= {"simulate.Simulation": Simulation, "simulate.Simulated": Simulated, "data.survey": survey}
PUBLIC = {
    name: held
    for name, held in PUBLIC.items()
    if not inspect.ismodule(held)
    and str(getattr(held, "__module__", "")).startswith("extremal")
    and not str(held.__module__).startswith("extremal.exact")
    and "._" not in name
}
REFERENCE = re.compile(r"Reference|KOV|GSO|KSS|\(1[89]\d\d\)|\(20\d\d\)|\b1[89]\d\d\b|\b20[012]\d\b|docs/")


def _is_error(held: Any) -> bool:
    return inspect.isclass(held) and issubclass(held, Exception)


def _is_result(held: Any) -> bool:
    """What functions return: it lists attributes, or names what makes it."""
    text = held.__doc__ or ""
    return inspect.isclass(held) and not _is_error(held) and bool(re.search(r"Attributes:|Made by|, from `ex\.", text))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_a_docstring_of_its_own(name: str) -> None:
    text = PUBLIC[name].__doc__
    assert text
    assert len(text.strip().split("\n")[0]) > 10
    assert not text.startswith(f"{PUBLIC[name].__name__}("), "dataclasses write a signature when there is no docstring"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_shows_itself_in_an_example(name: str) -> None:
    assert ">>> " in (PUBLIC[name].__doc__ or "")


WHOLE = [n for n, held in PUBLIC.items() if not _is_error(held) and not _is_result(held)]


@pytest.mark.parametrize("name", WHOLE)
def test_what_computes_states_its_guarantee_and_its_reference(name: str) -> None:
    text = PUBLIC[name].__doc__ or ""
    assert "Guarantee" in text
    assert REFERENCE.search(text)


@pytest.mark.parametrize("name", [n for n, held in PUBLIC.items() if _is_result(held)])
def test_a_result_names_what_makes_it(name: str) -> None:
    named = re.findall(r"\bex\.(?:theory\.|studies\.)?(\w+)", PUBLIC[name].__doc__ or "")
    assert any(hasattr(room, one) for one in named for room in (ex, ex.theory, ex.studies))


def test_examples_of_an_object_are_found_by_doctest() -> None:
    assert len(WHOLE) > 100
    assert "ex.design" in WHOLE
    assert "ex.LDP" in WHOLE
    assert "extremal.optimize.Design" not in WHOLE
