"""The list of closed forms: the name of each, the settings it has a place in, and how it is made.

`compare` shows every form, `tradeoff` those with a curve over ε, the summaries of designs the few of these that are
usual. A form that does not apply says so itself, by `InvalidParameter`. One more form is its function and its entry in
`FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from extremal.closed_forms import surveys
from extremal.closed_forms.bits import bloom_filter, local_hashing, unary_encoding
from extremal.closed_forms.leakage import pml_binary, pml_high_privacy, pml_randomized_response, pml_uniform
from extremal.closed_forms.ordered import geometric, hierarchical, piecewise, square_wave, stochastic_rounding
from extremal.closed_forms.response import better_of_two, binary, binary_for_information, randomized_response
from extremal.closed_forms.set_systems import hadamard_response, projective_geometry, subset_selection
from extremal.errors import ExtremalError, InvalidParameter
from extremal.exact import Prior
from extremal.mechanism import Mechanism
from extremal.privacy import LDP, Notion
from extremal.utility import Divergence, MutualInformation, Utility

NOMINAL_UP_TO = 200  # inputs: beyond, forms for ordered values are left out where only shares of inputs are wanted
DENSE_UP_TO = 1000  # inputs: beyond this, forms without structure are left out of tables
FILTERED_UP_TO = 1000  # inputs whose frequencies a filter of the usual size still tells apart


@dataclass(frozen=True)
class Setting:
    """The inputs, level and goal that a form is made for.

    Attributes:
        k, epsilon: number of inputs, and nats.
        prior: of the inputs, when there is one.
        divergence: the pair of hypotheses, when there is one; it also decides ties.
        nominal: whether the order of the inputs has no part in what is wanted.
    """

    k: int
    epsilon: Any
    prior: Prior | None = None
    divergence: Divergence | None = None
    nominal: bool = False

    @classmethod
    def of(cls, utility: Utility, epsilon: Any) -> Setting:
        """The setting that a utility brings."""
        prior = utility.prior if isinstance(utility, MutualInformation) else None
        return cls(utility.k, epsilon, prior, utility if isinstance(utility, Divergence) else None)


@dataclass(frozen=True)
class Form:
    """One closed form.

    Attributes:
        name: in tables.
        make: the mechanism for a setting.
        applies: whether it has a place in a setting.
        curve: its name among curves over ε; empty for a form that has none.
        summarised: whether the summaries of designs name it too.
        most_inputs: beyond this many it is not made for a table; None: stored by structure, any number.
        most_valued: beyond this many it is not evaluated over ε.
        label: the name of a row, for forms that say more about themselves when made; None: the name.
        ordered: whether it is made for values in an order.
    """

    name: str
    make: Callable[[Setting], Mechanism]
    applies: Callable[[Setting], bool] = lambda _: True
    curve: str = ""
    summarised: bool = True
    most_inputs: int | None = None
    most_valued: int | None = None
    label: Callable[[Mechanism], str] | None = None
    ordered: bool = False

    def valued(self, setting: Setting, dense_up_to: int) -> bool:
        """Whether it has a value in a setting, for a curve over ε."""
        few = self.most_valued is None or setting.k <= min(self.most_valued, dense_up_to)
        return bool(self.curve) and few and self.applies(setting)

    def at(self, setting: Setting) -> Mechanism | None:
        """The mechanism; None where the form has no place."""
        if (self.most_inputs is not None and setting.k > self.most_inputs) or not self.applies(setting):
            return None
        if self.ordered and setting.nominal and setting.k > NOMINAL_UP_TO:
            return None
        try:
            return self.make(setting)
        except InvalidParameter:  # not applicable at this ε: the form says so itself
            return None


def _has_pair(setting: Setting) -> bool:
    return setting.divergence is not None


def _has_prior(setting: Setting) -> bool:
    return setting.prior is not None


def _two_inputs(setting: Setting) -> bool:
    return setting.k == 2


def _two_with_prior(setting: Setting) -> bool:
    return setting.k == 2 and setting.prior is not None


def _even_prior(setting: Setting) -> bool:
    return setting.prior is not None and len(set(setting.prior.weights)) == 1


def _binary(setting: Setting) -> Mechanism:
    utility = setting.divergence
    if utility is None:
        raise InvalidParameter("the binary mechanism needs two hypotheses", parameter="utility", value=None)
    return binary(utility.pair.p0, utility.pair.p1, setting.epsilon, divergence=lambda *_: utility)


def _better(setting: Setting) -> Mechanism:
    return better_of_two(setting.divergence or MutualInformation(setting.prior), setting.epsilon)


def _used_by_others(
    name: str,
    make: Callable[[Setting], Mechanism],
    most_inputs: int | None = None,
    label: Callable[[Mechanism], str] | None = None,
    ordered: bool = False,
) -> Form:
    """A form with a curve of its own name that summaries do not name."""
    most_valued = DENSE_UP_TO if most_inputs is None else most_inputs
    return Form(
        name,
        make,
        curve=name,
        summarised=False,
        most_inputs=most_inputs,
        most_valued=most_valued,
        label=label,
        ordered=ordered,
    )


def _subsets(purpose: str) -> Callable[[Mechanism], str]:
    def label(mechanism: Mechanism) -> str:
        first = mechanism.output_labels[0]
        return f"subset selection ({purpose}, d={len(first) if isinstance(first, tuple) else 1})"

    return label


FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form("randomised response", lambda s: randomized_response(s.k, s.epsilon), curve="randomised response"),
        Form(
            "geometric",
            lambda s: geometric(s.k, s.epsilon),
            curve="geometric",
            most_inputs=DENSE_UP_TO,
            most_valued=DENSE_UP_TO,
            ordered=True,
        ),
        _used_by_others(
            "subset selection (frequencies)",
            lambda s: subset_selection(s.k, s.epsilon, size="frequencies"),
            label=_subsets("frequencies"),
        ),
        Form(
            "subset selection (information)",
            lambda s: subset_selection(s.k, s.epsilon, size="information"),
            curve="subset selection (information)",
            most_valued=DENSE_UP_TO,
            label=_subsets("information"),
        ),
        _used_by_others("unary encoding (optimised)", lambda s: unary_encoding(s.k, s.epsilon)),
        _used_by_others("unary encoding (symmetric)", lambda s: unary_encoding(s.k, s.epsilon, optimised=False)),
        _used_by_others("local hashing", lambda s: local_hashing(s.k, s.epsilon)),
        _used_by_others("Hadamard response", lambda s: hadamard_response(s.k, s.epsilon)),
        _used_by_others("projective geometry response", lambda s: projective_geometry(s.k, s.epsilon)),
        _used_by_others("Bloom filter (RAPPOR)", lambda s: bloom_filter(s.k, s.epsilon), most_inputs=FILTERED_UP_TO),
        _used_by_others("stochastic rounding", lambda s: stochastic_rounding(s.k, s.epsilon), ordered=True),
        _used_by_others("piecewise", lambda s: piecewise(s.k, s.epsilon), most_inputs=DENSE_UP_TO, ordered=True),
        _used_by_others(
            "hybrid", lambda s: piecewise(s.k, s.epsilon, hybrid=True), most_inputs=DENSE_UP_TO, ordered=True
        ),
        _used_by_others("square wave", lambda s: square_wave(s.k, s.epsilon), most_inputs=DENSE_UP_TO, ordered=True),
        _used_by_others("hierarchical", lambda s: hierarchical(s.k, s.epsilon), most_inputs=DENSE_UP_TO, ordered=True),
        Form("binary", _binary, _has_pair, curve="binary"),
        Form(
            "binary for information", lambda s: binary_for_information(s.prior, s.epsilon), _has_prior, curve="binary"
        ),
        Form(
            "better of binary and response",
            _better,
            lambda s: s.divergence is not None or s.prior is not None,
            curve="better of the two",
        ),
        Form("PML high privacy", lambda s: pml_high_privacy(s.prior, s.epsilon), _has_prior, most_inputs=DENSE_UP_TO),
        Form(
            "PML randomised response",
            lambda s: pml_randomized_response(s.prior, s.epsilon),
            _has_prior,
            most_inputs=DENSE_UP_TO,
        ),
        Form("PML binary", lambda s: pml_binary(s.prior, s.epsilon), _two_with_prior),
        Form("PML uniform", lambda s: pml_uniform(s.k, s.epsilon), _even_prior, most_inputs=DENSE_UP_TO),
        # Survey designs with parameters usual in practice; only Warner's and the crosswise design follow ε.
        Form("Warner", lambda s: surveys.warner(epsilon=s.epsilon), _two_inputs),
        Form("crosswise", lambda s: surveys.crosswise(epsilon=s.epsilon), _two_inputs),
        Form(
            "unrelated question (p=0.7, π=0.25)",
            lambda _: surveys.unrelated_question(p=0.7, innocuous=0.25),
            _two_inputs,
        ),
        Form("forced response (1/6, 1/6)", lambda _: surveys.forced_response(yes="1/6", no="1/6"), _two_inputs),
        Form("Kuk (0.8, 0.2)", lambda _: surveys.kuk(p=0.8, q=0.2), _two_inputs),
        Form("Mangat (p=0.7)", lambda _: surveys.mangat(p=0.7), _two_inputs),
        Form("triangular (p=0.25)", lambda _: surveys.triangular(p=0.25), _two_inputs),
    )
}
"""Closed forms by name, in the order of tables."""


def made_for(setting: Setting) -> dict[str, Mechanism]:
    """Every form that has a place in a setting, by the name of its row."""
    made = ((form, form.at(setting)) for form in FORMS.values())
    return {form.label(m) if form.label else form.name: m for form, m in made if m is not None}


def curve_values(
    utility: Utility,
    notion: Notion,
    dense_up_to: int = DENSE_UP_TO,
    value: Callable[[Mechanism], float | None] | None = None,
) -> dict[str, float | None]:
    """The value of the forms with a curve that satisfy the notion; None where it cannot be had.

    `dense_up_to`: inputs beyond which forms without structure are left out. `value` is how a mechanism is valued; if
    not given it is valued by the utility, and only the forms that summaries name are.
    """
    setting = Setting.of(utility, notion.epsilon)
    values: dict[str, float | None] = {}
    for form in FORMS.values():
        if not form.valued(setting, dense_up_to) or not (value or form.summarised):
            continue
        try:
            mechanism = form.make(setting)
            if isinstance(notion, LDP) or notion.holds(mechanism):
                values[form.curve] = (value or utility)(mechanism)
        except ExtremalError:  # too many reports to add up, or reports without a meaning for this utility
            values[form.curve] = None
    return values
