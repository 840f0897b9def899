"""An estimate for people: summary, notes, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter, MissingDependency
from extremal.exact.weights import Floats
from extremal.mechanism.labels import count_text
from extremal.tables import aligned, shortened, wrapped
from extremal.tables import html as html_table

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate

MOST_SHOWN = 40  # rows of a summary; the rest is counted
FAKE = 0.01  # share of fake or non-compliant reporters in every summary
FEW = 30  # expected reports below which a normal interval is rough
SUSPICIOUS = 1e-3  # goodness of fit below which a note says so
_WIDEST = 28  # characters of a label: a row of the widest table stays within 120


def notes(result: FrequencyEstimate) -> tuple[str, ...]:
    fit, found = result.fit, []
    least, most = fit.combinations.range()
    outside = np.flatnonzero((result.estimate < least) | (result.estimate > most))
    if outside.size:
        example = result.inputs[int(outside[0])]
        found.append(
            f"{outside.size} of {len(result.inputs)} unbiased estimates lie outside their possible range (first: "
            f"{example!r}). That is what unbiasedness costs and not an error; .shown holds points inside."
        )
    if not fit.combinations.plain:
        found.append(
            f"The mechanism does not tell all {fit.combinations.mechanism.k} inputs apart: "
            f"these are the {len(result.inputs)} combinations that it identifies."
        )
    if fit.observed.distinct == 1:
        found.append("All reports are identical.")
    if fit.observed.dropped:
        found.append(
            f"{fit.observed.dropped} missing reports were dropped: these are frequencies among those who reported."
        )
    rarest = fit.observed.effective_n * fit.combinations.channel.smallest_share(fit.plausible)
    if rarest < FEW and not bool(fit.inverse.binary(fit.combinations.matrix).all()):
        found.append(
            f"The rarest report is expected {rarest:.3g} times: intervals that are not exact are rough below {FEW}."
        )
    test = result.goodness_of_fit()
    if test.p_value < SUSPICIOUS:
        found.append(f"The reports do not look as if this mechanism had made them ({test}).")
    return tuple(found)


def summary(result: FrequencyEstimate, level: float, simultaneous: bool, robustness: bool) -> str:
    header, body, more = _cells(result, level, simultaneous, robustness)
    lines = aligned(header, body, left=1).split("\n")
    rule = "─" * max(map(len, lines))
    return "\n".join([_title(result), rule, *lines, *more, rule, *map(wrapped, _below(result, robustness))])


def html(result: FrequencyEstimate, level: float = 0.95) -> str:
    """The summary for a notebook."""
    header, body, more = _cells(result, level, simultaneous=False, robustness=False)
    return html_table(header, body, _title(result), [*more, *_below(result, robustness=False)])


def _cells(
    result: FrequencyEstimate, level: float, simultaneous: bool, robustness: bool
) -> tuple[list[str], list[list[str]], list[str]]:
    """Header and rows of the table, and how many inputs it leaves out."""
    limits = result.interval(level, simultaneous)
    kind = f"{'simultaneous ' if simultaneous else ''}{100 * level:.4g}% interval"
    columns = [
        ("", list(map(short, result.inputs[:MOST_SHOWN]))),
        (result.candidate[0], _formatted("{:.4f}", result.shown_within(limits))),
        (kind, [f"{low:.4f} to {high:.4f}" for low, high in limits[:MOST_SHOWN].tolist()]),
        ("s.e.", _formatted("{:.4f}", result.standard_error)),
    ]
    if result.method == "unbiased":
        columns.insert(3, ("unbiased", _formatted("{:.4f}", result.estimate)))
    if robustness:
        observed = result.fit.combinations.of_rows(result.fit.unbiased)
        moved = np.abs(result.poisoning(FAKE) - observed[:, None]).max(axis=1)
        columns += [
            (f"{FAKE:.0%} fake", _formatted("±{:.4f}", moved)),
            (f"{FAKE:.0%} random", _formatted("{:+.4f}", result.noncompliance(FAKE) - observed)),
        ]
    left_out = len(result.inputs) - MOST_SHOWN
    more = [f"… {left_out} more: use to_frame()"] if left_out > 0 else []
    return [name for name, _ in columns], list(map(list, zip(*(cells for _, cells in columns), strict=True))), more


def _formatted(form: str, values: Floats) -> list[str]:
    return [form.format(v) for v in values[:MOST_SHOWN]]


def _title(result: FrequencyEstimate) -> str:
    mechanism = result.fit.combinations.mechanism
    weighted = f" (weighted, as {result.effective_n:.0f})" if result.fit.observed.weighted else ""
    claim = f", {mechanism.privacy!r}" if mechanism.privacy is not None else ""
    outputs = count_text(mechanism.m)
    return (
        f"Frequencies from {result.n} reports{weighted}, method {result.method}; {mechanism.k} inputs, {outputs} "
        f"outputs{claim}"
    )


def _below(result: FrequencyEstimate, robustness: bool) -> list[str]:
    equivalent, effective = result.equivalent_n(), result.effective_n
    if result.exact:
        lines = ["Intervals are exact: each holds with at least its level."]
    elif not result.fit.simple:
        lines = ["Intervals are approximate: taken at the effective number of reports."]
    else:
        lines = ["Intervals are approximate: of their level in large samples."]
    if 1 <= equivalent < np.inf:
        price = effective / equivalent
        lines.append(
            f"Privacy multiplies the variance by {price:.1f}: the same precision without privacy needs n = "
            f"{equivalent:.0f}."
        )
    if robustness:
        lines += [
            (
                f"{FAKE:.0%} fake: how far fake reporters could have moved the unbiased estimate: a bound, attained by "
                "the worst report."
            ),
            f"{FAKE:.0%} random: how the unbiased estimate changes if that share answered at random and is taken out.",
        ]
    test = result.goodness_of_fit()
    lines.append(f"Fit of the reports to the mechanism: {test}.")
    if result.deficit is not None:
        lines.append(
            f"The mean log-likelihood is within {result.deficit:.1e} of the largest; intervals stand around the "
            "one-step estimate."
        )
    return lines + [f"Note: {note}" for note in result.notes]


def short(label: object) -> str:
    return shortened(label, _WIDEST)


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
) -> Any:
    """One row for each stratum and input."""
    columns: dict[str, list[Any]] = {name: [] for name in (*strata, *COLUMNS)}
    for names, result in results:
        limits, honest = result.interval(level, simultaneous), result.poisoning(FAKE)
        count = len(result.inputs)
        for name, value in zip(strata, names, strict=True):
            columns[name] += [value] * count
        columns["input"] += list(result.inputs)
        numbers = (
            result.shown_within(limits),
            limits[:, 0],
            limits[:, 1],
            result.estimate,
            result.standard_error,
            result.privacy_cost,
            honest[:, 0],
            honest[:, 1],
        )
        constant = (result.n, level, result.method, result.candidate[0])
        for column, values in zip(
            COLUMNS[1:], [*(v.tolist() for v in numbers), *([v] * count for v in constant)], strict=True
        ):
            columns[column] += values
    return as_frame(columns, library)


def as_frame(columns: dict[str, list[Any]], library: str) -> Any:
    if library not in ("pandas", "polars", "pyarrow"):
        raise InvalidParameter('library must be "pandas", "polars" or "pyarrow"', parameter="library", value=library)
    try:
        if library == "pandas":
            import pandas

            return pandas.DataFrame(columns)
        if library == "polars":
            import polars

            return polars.DataFrame(columns)
        import pyarrow

        return pyarrow.table(columns)
    except ModuleNotFoundError:
        raise MissingDependency(f"a {library} frame needs {library}", hint="pip install 'extremal[frames]'") from None
