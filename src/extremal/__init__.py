"""extremal: provably optimal local privacy.

Say what you want to learn and how private it must be; get the best local randomiser, a certificate that it is private,
a sampler that is exact, and the estimators for what comes back.

A name is loaded when it is used first: `import extremal` loads none of the rooms.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers; a test holds it equal to the table
    from extremal import errors as errors
    from extremal import studies as studies
    from extremal import theory as theory
    from extremal.certificate import verify as verify
    from extremal.closed_forms import binary as binary
    from extremal.closed_forms import binary_for_information as binary_for_information
    from extremal.closed_forms import bloom_filter as bloom_filter
    from extremal.closed_forms import geometric as geometric
    from extremal.closed_forms import hadamard_response as hadamard_response
    from extremal.closed_forms import hamming as hamming
    from extremal.closed_forms import hierarchical as hierarchical
    from extremal.closed_forms import local_hashing as local_hashing
    from extremal.closed_forms import piecewise as piecewise
    from extremal.closed_forms import pml_binary as pml_binary
    from extremal.closed_forms import pml_high_privacy as pml_high_privacy
    from extremal.closed_forms import pml_randomized_response as pml_randomized_response
    from extremal.closed_forms import pml_uniform as pml_uniform
    from extremal.closed_forms import projective_geometry as projective_geometry
    from extremal.closed_forms import quaternary as quaternary
    from extremal.closed_forms import randomized_response as randomized_response
    from extremal.closed_forms import square_wave as square_wave
    from extremal.closed_forms import stochastic_rounding as stochastic_rounding
    from extremal.closed_forms import subset_selection as subset_selection
    from extremal.closed_forms import surveys as surveys
    from extremal.closed_forms import unary_encoding as unary_encoding
    from extremal.columns.bins import binned as binned
    from extremal.discovery import HeavyHitters as HeavyHitters
    from extremal.errors import ExtremalError as ExtremalError
    from extremal.errors import show_values as show_values
    from extremal.estimate import Sample as Sample
    from extremal.estimate import estimate_change as estimate_change
    from extremal.estimate import estimate_crosstab as estimate_crosstab
    from extremal.estimate import estimate_frequencies as estimate_frequencies
    from extremal.estimate import estimate_workload as estimate_workload
    from extremal.estimate import pool as pool
    from extremal.estimate import regress as regress
    from extremal.estimate import sequential_test as sequential_test
    from extremal.estimate import test_distribution as test_distribution
    from extremal.estimate import test_homogeneity as test_homogeneity
    from extremal.estimate import test_hypotheses as test_hypotheses
    from extremal.estimate import test_independence as test_independence
    from extremal.estimate.reports.counts import count_reports as count_reports
    from extremal.loading import load as load
    from extremal.mechanism import Mechanism as Mechanism
    from extremal.optimize import design as design
    from extremal.optimize import smallest_epsilon as smallest_epsilon
    from extremal.privacy import LDP as LDP
    from extremal.privacy import LIP as LIP
    from extremal.privacy import PML as PML
    from extremal.privacy import MaximalLeakage as MaximalLeakage
    from extremal.privacy import MetricPrivacy as MetricPrivacy
    from extremal.questionnaire import Questionnaire as Questionnaire
    from extremal.release import privatize as privatize
    from extremal.release.engines.key import ReleaseKey as ReleaseKey
    from extremal.release.memory import Memory as Memory
    from extremal.sources import SourceClass as SourceClass
    from extremal.studies import compare as compare
    from extremal.studies import plan as plan
    from extremal.studies import plan_test as plan_test
    from extremal.studies import tradeoff as tradeoff
    from extremal.theory import epsilon_for_shuffle as epsilon_for_shuffle
    from extremal.theory import error_exponent as error_exponent
    from extremal.theory import shuffled as shuffled
    from extremal.utility import CDF as CDF
    from extremal.utility import Average as Average
    from extremal.utility import ConvexUtility as ConvexUtility
    from extremal.utility import Distortion as Distortion
    from extremal.utility import FDivergence as FDivergence
    from extremal.utility import Frequencies as Frequencies
    from extremal.utility import Hamming as Hamming
    from extremal.utility import Mean as Mean
    from extremal.utility import MutualInformation as MutualInformation
    from extremal.utility import PairwiseDivergence as PairwiseDivergence
    from extremal.utility import Ranges as Ranges
    from extremal.utility import RobustDivergence as RobustDivergence
    from extremal.utility import Sublinear as Sublinear
    from extremal.utility import Workload as Workload
    from extremal.utility import WorstCase as WorstCase
    from extremal.utility.divergences import KL as KL
    from extremal.utility.divergences import AlphaDivergence as AlphaDivergence
    from extremal.utility.divergences import ChiSquared as ChiSquared
    from extremal.utility.divergences import HockeyStick as HockeyStick
    from extremal.utility.divergences import JensenShannon as JensenShannon
    from extremal.utility.divergences import ReverseKL as ReverseKL
    from extremal.utility.divergences import SquaredHellinger as SquaredHellinger
    from extremal.utility.divergences import SymmetricKL as SymmetricKL
    from extremal.utility.divergences import TotalVariation as TotalVariation

__version__ = "0.1.0"

_NAMES = {
    "certificate": "verify",
    "closed_forms": (
        "binary binary_for_information bloom_filter geometric hadamard_response hamming hierarchical "
        "local_hashing piecewise pml_binary pml_high_privacy pml_randomized_response pml_uniform "
        "projective_geometry quaternary randomized_response square_wave stochastic_rounding subset_selection "
        "surveys unary_encoding"
    ),
    "columns.bins": "binned",
    "discovery": "HeavyHitters",
    "errors": "ExtremalError show_values",
    "estimate": (
        "Sample estimate_change estimate_crosstab estimate_frequencies estimate_workload pool regress sequential_test "
        "test_distribution test_homogeneity test_hypotheses test_independence"
    ),
    "estimate.reports.counts": "count_reports",
    "loading": "load",
    "mechanism": "Mechanism",
    "optimize": "design smallest_epsilon",
    "privacy": "LDP LIP MaximalLeakage MetricPrivacy PML",
    "questionnaire": "Questionnaire",
    "release": "privatize",
    "release.engines.key": "ReleaseKey",
    "release.memory": "Memory",
    "sources": "SourceClass",
    "studies": "compare plan plan_test tradeoff",
    "theory": "epsilon_for_shuffle error_exponent shuffled",
    "utility": (
        "Average CDF ConvexUtility Distortion FDivergence Frequencies Hamming Mean MutualInformation "
        "PairwiseDivergence Ranges RobustDivergence Sublinear Workload WorstCase"
    ),
    "utility.divergences": (
        "AlphaDivergence ChiSquared HockeyStick JensenShannon KL ReverseKL SquaredHellinger SymmetricKL TotalVariation"
    ),
}
"""Module of the package → the public names that come from it."""

_MODULES = ("errors", "studies", "theory")  # public as they are

_CALLS = {
    "rappor": "ex.unary_encoding(k, epsilon, optimised=False), or ex.bloom_filter(k, epsilon) with hashing",
    "sue": "ex.unary_encoding(k, epsilon, optimised=False)",
    "oue": "ex.unary_encoding(k, epsilon)",
    "olh": "ex.local_hashing(k, epsilon)",
    "blh": "ex.local_hashing(k, epsilon, buckets=2)",
    "grr": "ex.randomized_response(k, epsilon)",
    "krr": "ex.randomized_response(k, epsilon)",
    "rr": "ex.randomized_response(k, epsilon)",
    "hr": "ex.hadamard_response(k, epsilon)",
    "hadamard": "ex.hadamard_response(k, epsilon)",
    "pgr": "ex.projective_geometry(k, epsilon)",
    "warner": "ex.surveys.warner(…), or ex.randomized_response(2, epsilon)",
    "duchi": "ex.stochastic_rounding(k, epsilon)",
    "laplace": "ex.geometric(k, epsilon) or ex.piecewise(k, epsilon) for a local report on a number",
    "gaussian": "ex.LDP(epsilon, delta) and ex.design for (ε,δ): there is no Gaussian noise on finite answers",
    "estimate": "ex.estimate_frequencies(reports, mechanism), or ex.estimate_workload for a mean",
    "estimate_chosen": "ex.estimate_frequencies(reports, mechanism, labels=[…])",
    "randomize": "ex.privatize(values, mechanism), or mechanism.privatize(values)",
    "optimize": "ex.design(ex.LDP(epsilon), goal)",
    "respondents": "ex.compare(goal, epsilon=…).respondents()",
    "sample_size": "ex.plan(k=…, epsilon=…, half_width=…)",
    "shares": "ex.Frequencies(k) as a goal, ex.estimate_frequencies(reports, mechanism) for estimates",
    "optimise": "ex.design(ex.LDP(epsilon), goal)",
    "anonymize": "ex.privatize(frame, column=…, mechanism=…), or mechanism.privatize(values)",
    "anonymise": "ex.privatize(frame, column=…, mechanism=…), or mechanism.privatize(values)",
    "simulate": "from extremal.simulate import Simulation",
    "simulation": "from extremal.simulate import Simulation",
    "data": "from extremal.data import survey",
    "thresholds": "ex.theory.thresholds(goal)",
    "read": "ex.load(path)",
    "open": "ex.load(path)",
}
"""What other libraries, papers and spellings call something → how it is called here; asked for in small letters."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted([*_MODULE_OF, *_MODULES, "__version__"])


if not TYPE_CHECKING:  # or a type checker would believe every name

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f"extremal.{name}")
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'extremal' has no attribute {name!r}{_meant(name)}")
        held = getattr(importlib.import_module(f"extremal.{_MODULE_OF[name]}"), name)
        if isinstance(held, ModuleType):  # a module, or a file with the name of its function, imported by itself
            held = getattr(held, name, held)
        globals()[name] = held
        return held


def _meant(name: str) -> str:
    """The right call, or a question, that ends a message; empty for names that Python itself looks for."""
    if name.startswith("__"):
        return ""
    import difflib

    asked = name.lower().removeprefix("basic_").replace("k_rr", "krr")
    if asked in _CALLS:
        return f". Here it is: {_CALLS[asked]}"
    american = name.replace("ise", "ize").replace("isation", "ization")
    if american in (*_MODULE_OF, "randomize"):
        return f". Here it is: {_CALLS.get(american, f'ex.{american}')}"

    close = [known for known in __all__ if known.startswith(name)] or difflib.get_close_matches(name, __all__, n=3)
    return f". Did you mean {' or '.join(f'ex.{known}' for known in close)}?" if close else ""


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
