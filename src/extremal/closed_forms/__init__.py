"""Mechanisms that are known in closed form, one file for each family."""

from extremal.closed_forms import surveys
from extremal.closed_forms.balance import balanced_subset
from extremal.closed_forms.binary import binary, binary_for_information
from extremal.closed_forms.exponential import exponential
from extremal.closed_forms.forms import FORMS, Form, Setting
from extremal.closed_forms.geometric import geometric
from extremal.closed_forms.hamming import hamming
from extremal.closed_forms.leakage import pml_binary, pml_high_privacy, pml_randomized_response, pml_uniform
from extremal.closed_forms.mixed import better_of_two
from extremal.closed_forms.quaternary import quaternary
from extremal.closed_forms.randomized_response import randomized_response
from extremal.closed_forms.subset_selection import subset_selection

__all__ = [
    "FORMS",
    "Form",
    "Setting",
    "balanced_subset",
    "better_of_two",
    "binary",
    "binary_for_information",
    "exponential",
    "geometric",
    "hamming",
    "pml_binary",
    "pml_high_privacy",
    "pml_randomized_response",
    "pml_uniform",
    "quaternary",
    "randomized_response",
    "subset_selection",
    "surveys",
]
