"""Mechanisms that are known in closed form, a file for each family of them."""

from extremal.closed_forms import surveys
from extremal.closed_forms.balance import balanced_subset
from extremal.closed_forms.bits import bloom_filter, local_hashing, unary_encoding
from extremal.closed_forms.distortion import exponential, hamming
from extremal.closed_forms.forms import FORMS, Form, Setting
from extremal.closed_forms.leakage import pml_binary, pml_high_privacy, pml_randomized_response, pml_uniform
from extremal.closed_forms.ordered import geometric, hierarchical, piecewise, square_wave, stochastic_rounding
from extremal.closed_forms.response import (
    better_of_two,
    binary,
    binary_for_information,
    quaternary,
    randomized_response,
)
from extremal.closed_forms.set_systems import hadamard_response, projective_geometry, subset_selection

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
