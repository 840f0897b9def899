"""An estimate for people: summary, notes, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from extremal.errors import InvalidParameter, MissingDependency

if TYPE_CHECKING:
    from extremal.estimate.results.estimate import FrequencyEstimate

MOST_SHOWN = 40  # rows of a summary; the rest is counted
FAKE = 0.01  # share of fake or non-compliant reporters in every summary
FEW = 30  # expected reports below which a normal interval is rough
SUSPICIOUS = 1e-3  # goodness of fit below which a note says so
_WIDEST = 28
_MANY = 10**9  # outputs beyond this are given by their order of magnitude
_LARGEST_EFFECT = 1000  # shown; above it the denominator is a frequency that is zero for all that is known


def notes(result: FrequencyEstimate) -> tuple[str, ...]:
    fit, found = result.fit, []
    least, most = fit.combinations.range()
    outside = np.flatnonzero((result.estimate < least) | (result.estimate > most))
    if outside.size:
        example = result.inputs[int(outside[0])]
        found.append(
            f"{outside.size} of {len(result.inputs)} estimates lie outside their possible range (first: {example!r}). "
            "That is what "
            'unbiasedness costs and not an error; method="mle" or "projected" gives points inside.'
        )
    if not fit.combinations.plain:
        found.append(
            f"The mechanism does not tell all {fit.mechanism.k} inputs apart: "
            f"these are the {len(result.inputs)} combinations that it identifies."
        )
    if fit.distinct == 1:
        found.append("All reports are identical.")
    rarest = fit.effective_n * fit.channel.smallest_share(fit.plausible)
    if rarest < FEW:
        found.append(f"The rarest report is expected {rarest:.3g} times: normal intervals are rough below {FEW}.")
    test = result.goodness_of_fit()
    if test.p_value < SUSPICIOUS:
        found.append(f"The reports do not look as if this mechanism had made them ({test}).")
    return tuple(found)


def summary(result: FrequencyEstimate, level: float, simultaneous: bool) -> str:
    shown = min(len(result.inputs), MOST_SHOWN)
    limits, honest = result.interval(level, simultaneous), result.poisoning(FAKE)
    observed = result.fit.combinations.of_rows(result.fit.unbiased)
    moved = np.abs(honest - observed[:, None]).max(axis=1)
    lazy = result.noncompliance(FAKE) - observed
    kind = f"{'simultaneous ' if simultaneous else ''}{100 * level:.4g}% interval"
    header = ["", "estimate", "s.e.", kind, "design effect", f"{FAKE:.0%} fake", f"{FAKE:.0%} random"]
    body = [
        [
            _short(result.inputs[x]),
            f"{result.estimate[x]:.4f}",
            f"{result.standard_error[x]:.4f}",
            f"{limits[x, 0]:.4f} to {limits[x, 1]:.4f}",
            f"{result.design_effect[x]:.1f}" if result.design_effect[x] < _LARGEST_EFFECT else "large",
            f"±{moved[x]:.4f}",
            f"{lazy[x]:+.4f}",
        ]
        for x in range(shown)
    ]
    widths = [max(len(row[j]) for row in [header, *body]) for j in range(len(header))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in [header, *body]
    ]
    rule = "─" * len(lines[0])
    more = [f"… {len(result.inputs) - shown} more: use to_frame()"] if shown < len(result.inputs) else []
    return "\n".join([_title(result), rule, *lines, *more, rule, *_below(result)])


def _title(result: FrequencyEstimate) -> str:
    mechanism = result.fit.mechanism
    weighted = f" (weighted, as {result.effective_n:.0f})" if result.fit.weighted else ""
    claim = f", {mechanism.privacy!r}" if mechanism.privacy is not None else ""
    outputs = mechanism.m if mechanism.m < _MANY else f"about 10^{len(str(mechanism.m)) - 1}"
    return (
        f"Frequencies from {result.n} reports{weighted}, method {result.method}; {mechanism.k} inputs, {outputs} "
        f"outputs{claim}"
    )


def _below(result: FrequencyEstimate) -> list[str]:
    equivalent, effective = result.equivalent_n(), result.effective_n
    lines = []
    if 1 <= equivalent < np.inf:
        price = effective / equivalent
        lines.append(
            f"Privacy multiplies the variance by {price:.1f}: the same precision without privacy needs n = "
            f"{equivalent:.0f}."
        )
    lines += [
        (
            f"{FAKE:.0%} fake: how far fake reporters could have moved the unbiased estimate: a bound, attained by the "
            "worst report."
        ),
        f"{FAKE:.0%} random: how the unbiased estimate changes if that share answered at random and is taken out.",
        f"Fit of the reports to the mechanism: {result.goodness_of_fit()}.",
    ]
    if result.deficit is not None:
        lines.append(
            f"The mean log-likelihood is within {result.deficit:.1e} of the largest; intervals stand around the "
            "one-step estimate."
        )
    return lines + [f"Note: {note}" for note in result.notes]


def _short(label: object) -> str:
    text = str(label)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


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
        for name, value in zip(strata, names, strict=True):
            columns[name] += [value] * len(result.inputs)
        columns["input"] += list(result.inputs)
        values = (
            result.estimate,
            result.standard_error,
            limits[:, 0],
            limits[:, 1],
            result.design_effect,
            honest[:, 0],
            honest[:, 1],
        )
        for column, numbers in zip(COLUMNS[1:], values, strict=True):
            columns[column] += numbers.tolist()
    return _as_frame(columns, library)


COLUMNS = ("input", "estimate", "standard_error", "low", "high", "design_effect", "low_if_poisoned", "high_if_poisoned")


def _as_frame(columns: dict[str, list[Any]], library: str) -> Any:
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
