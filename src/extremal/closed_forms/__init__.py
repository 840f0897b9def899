"""Mechanisms that are known in closed form, one file for each family."""

from extremal.closed_forms import surveys
from extremal.closed_forms.balance import balanced_subset
from extremal.closed_forms.binary import binary, binary_for_information
from extremal.closed_forms.bloom_filter import bloom_filter
from extremal.closed_forms.exponential import exponential
from extremal.closed_forms.forms import FORMS, Form, Setting
from extremal.closed_forms.geometric import geometric
from extremal.closed_forms.hadamard_response import hadamard_response
from extremal.closed_forms.hamming import hamming
from extremal.closed_forms.hierarchical import hierarchical
from extremal.closed_forms.leakage import pml_binary, pml_high_privacy, pml_randomized_response, pml_uniform
from extremal.closed_forms.local_hashing import local_hashing
from extremal.closed_forms.mixed import better_of_two
from extremal.closed_forms.piecewise import piecewise, square_wave
from extremal.closed_forms.projective_geometry import projective_geometry
from extremal.closed_forms.quaternary import quaternary
from extremal.closed_forms.randomized_response import randomized_response
from extremal.closed_forms.stochastic_rounding import stochastic_rounding
from extremal.closed_forms.subset_selection import subset_selection
from extremal.closed_forms.unary_encoding import unary_encoding

__all__ = [
    "FORMS",
    "Form",
    "Setting",
    "balanced_subset",
    "better_of_two",
    "binary",
    "binary_for_information",
    "bloom_filter",
    "exponential",
    "geometric",
    "hadamard_response",
    "hamming",
    "hierarchical",
    "local_hashing",
    "piecewise",
    "pml_binary",
    "pml_high_privacy",
    "pml_randomized_response",
    "pml_uniform",
    "projective_geometry",
    "quaternary",
    "randomized_response",
    "square_wave",
    "stochastic_rounding",
    "subset_selection",
    "surveys",
    "unary_encoding",
]
