"""An estimate of frequencies for people: notes, the sentences below a table, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.estimate.results.tabled import MOST_SHOWN, as_frame, framed, interval_name, short
from extremal.exact.weights import Floats, Indices
from extremal.mechanism.labels import count_text
from extremal.tables import aligned

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate
    from extremal.estimate.results.linear import LinearEstimate

FAKE = 0.01  # share of fake or non-compliant reporters in every summary
FEW = 30  # expected reports below which a normal interval is rough
SUSPICIOUS = 1e-3  # goodness of fit below which a note says so


def notes(result: LinearEstimate) -> tuple[str, ...]:
    fit, found = result.fit, list(result.fit.notes)
    least, most = fit.combinations.range()
    outside = np.flatnonzero((result.estimate < least) | (result.estimate > most))
    if outside.size:
        example = result.labels[int(outside[0])]
        found.append(
            f"{outside.size} of {len(result.labels)} unbiased estimates lie outside their possible range (first: "
            f"{example!r}). This is the price of unbiasedness, not an error; .shown holds estimates inside it."
        )
    if not fit.combinations.plain and hasattr(result, "inputs"):
        found.append(
            f"The mechanism does not tell all {fit.combinations.mechanism.k} inputs apart: "
            f"these are the {len(result.labels)} combinations that it identifies."
        )
    if fit.observed.distinct == 1:
        found.append("All reports are identical.")
    if fit.observed.dropped:
        gone = fit.observed.dropped
        found.append(
            f"{gone} missing {'report was' if gone == 1 else 'reports were'} dropped: these are frequencies among "
            "those who reported."
        )
    rarest = fit.observed.effective_n * fit.combinations.channel.smallest_share(fit.plausible)
    if rarest < FEW and not bool(fit.inverse.binary(fit.combinations.matrix).all()):
        found.append(
            f"The rarest report is expected {rarest:.3g} times; below {FEW}, intervals that are not exact are rough."
        )
    test = result.goodness_of_fit()
    if test.p_value < SUSPICIOUS:
        found.append(f"The reports do not look as if this mechanism had made them ({test}).")
    return tuple(found)


def summary(result: FrequencyEstimate, level: float, simultaneous: bool, robustness: bool) -> str:
    header, body, more = cells(result, level, simultaneous, robustness)
    lines = aligned(header, body, left=1).split("\n")
    return framed(result.head, [*lines, *more], below(result, robustness))


def cells(
    result: FrequencyEstimate, level: float, simultaneous: bool, robustness: bool
) -> tuple[list[str], list[list[str]], list[str]]:
    """Header and rows of the table, and how many inputs it leaves out."""
    limits = result.interval(level, simultaneous)
    shown = result.shown_within(limits)
    rows = _rows_shown(result.inputs, shown)
    columns = [
        ("", [short(result.inputs[x]) for x in rows.tolist()]),
        (result.candidate[0], _formatted("{:.4f}", shown[rows])),
        (interval_name(level, simultaneous), [f"{low:.4f} to {high:.4f}" for low, high in limits[rows].tolist()]),
        ("s.e.", _formatted("{:.4f}", result.standard_error[rows])),
    ]
    if result.method == "unbiased":
        columns.insert(3, ("unbiased", _formatted("{:.4f}", result.estimate[rows])))
    if robustness:
        observed = result.fit.combinations.of_rows(result.fit.unbiased)
        moved = np.abs(result.poisoning(FAKE) - observed[:, None]).max(axis=1)
        columns += [
            (f"{FAKE:.0%} fake", _formatted("±{:.4f}", moved[rows])),
            (f"{FAKE:.0%} random", _formatted("{:+.4f}", (result.noncompliance(FAKE) - observed)[rows])),
        ]
    names, lines = [name for name, _ in columns], zip(*(found for _, found in columns), strict=True)
    return names, list(map(list, lines)), result._left_out()


def _rows_shown(inputs: Sequence[Any], shown: Floats) -> Indices:
    """Places of the inputs that a table has room for: the most frequent where all are texts, else the first."""
    if len(inputs) <= MOST_SHOWN or not all(isinstance(label, str) for label in inputs):
        return np.arange(min(len(inputs), MOST_SHOWN))
    return np.argsort(-shown, kind="stable")[:MOST_SHOWN]


def _formatted(form: str, values: Floats) -> list[str]:
    return [form.format(v) for v in values]


def mechanism_words(result: LinearEstimate) -> str:
    """What made the reports, in a few words."""
    mechanism = result.fit.combinations.mechanism
    claim = f", {mechanism.privacy!r}" if mechanism.privacy is not None else ""
    return f"{mechanism.k} inputs, {count_text(mechanism.m)} outputs{claim}"


def intervals_words(result: LinearEstimate) -> str:
    if result.exact:
        return "Intervals are exact: each has at least its nominal coverage."
    if not result.fit.simple:
        return "Intervals are approximate: taken at the effective number of reports."
    return "Intervals are approximate: their coverage is nominal in large samples."


def below(result: FrequencyEstimate, robustness: bool) -> list[str]:
    lines, equivalent = [intervals_words(result)], result.equivalent_n()
    if result.reason:
        lines.append(f"Points shown: {result.candidate[0]} ({result.reason}).")
    if 1 <= equivalent < np.inf:
        lines.append(
            f"Privacy multiplies the variance by {result.n / equivalent:.1f}: the same precision without privacy needs "
            f"n = {equivalent:.0f}{' drawn in the same way' if result.sample else ''}."
        )
    if robustness:
        lines += [
            (
                f"{FAKE:.0%} fake: how far fake reporters could have moved the unbiased estimate: a bound, attained by "
                "the worst report."
            ),
            f"{FAKE:.0%} random: how the unbiased estimate changes if that share answered at random and is taken out.",
        ]
    lines.append(f"Fit of the reports to the mechanism: {result.goodness_of_fit()}.")
    if result.deficit is not None:
        lines.append(
            f"The mean log-likelihood is within {result.deficit:.1e} of the largest; intervals stand around the "
            "one-step estimate."
        )
    return lines + [f"Note: {note}" for note in result.notes]


COLUMNS = (
    "input",
    "shown",
    "low",
    "high",
    "estimate",
    "standard_error",
    "privacy_cost",
    "low_if_1_percent_fake",
    "high_if_1_percent_fake",
    "n",
    "level",
    "method",
    "shown_as",
)


def frame(
    results: Sequence[tuple[tuple[Any, ...], FrequencyEstimate]],
    strata: tuple[str, ...],
    level: float,
    simultaneous: bool,
    library: str,
    robustness: bool,
) -> Any:
    """One row for each stratum and input."""
    used = [name for name in COLUMNS if robustness or not name.endswith("fake")]
    columns: dict[str, list[Any]] = {name: [] for name in (*strata, *used)}
    for names, result in results:
        limits, count = result.interval(level, simultaneous), len(result.inputs)
        for name, value in zip(strata, names, strict=True):
            columns[name] += [value] * count
        shown = result.shown_within(limits)
        found: dict[str, list[Any]] = {
            "input": list(result.inputs),
            "shown": np.where(shown < TINY, 0.0, shown).tolist(),
            "low": limits[:, 0].tolist(),
            "high": limits[:, 1].tolist(),
            "estimate": result.estimate.tolist(),
            "standard_error": result.standard_error.tolist(),
            "privacy_cost": result.privacy_cost.tolist(),
            "n": [result.n] * count,
            "level": [level] * count,
            "method": [result.method] * count,
            "shown_as": [result.candidate[0]] * count,
        }
        if robustness:
            low, high = result.poisoning(FAKE).T.tolist()
            found |= {"low_if_1_percent_fake": low, "high_if_1_percent_fake": high}
        for name in used:
            columns[name] += found[name]
    return as_frame(columns, library)


TINY = 1e-15  # shares below this are rounding of a zero
