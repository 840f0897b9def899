"""`extremal estimate FILE --mechanism M`: the frequencies behind a file of reports."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from extremal.cli.printing import add_printing, drawn, plain, said
from extremal.cli.reading import refuse_written
from extremal.estimate import FrequencyEstimate, estimate_frequencies
from extremal.estimate.frequencies import METHODS
from extremal.mechanism import load


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "estimate",
        help="estimate frequencies, with intervals, from a file of reports",
        description="Estimate how frequent each input is, with standard errors and intervals, from a Parquet, Feather "
        "or CSV file "
        "written by `extremal privatize`. The file is streamed, and the hash of its mechanism is checked.",
        epilog="exit codes:  0 done   2 bad input, another mechanism, or frequencies that are not identified",
    )
    verb.add_argument("file", nargs="+", help="a file of reports; several are taken together")
    verb.add_argument(
        "--mechanism", required=True, metavar="FILE", help="the mechanism file that the reports were made with"
    )
    verb.add_argument("--column", help="the column of reports; not needed when one column was randomised")
    verb.add_argument("--method", choices=METHODS, default="unbiased", help="default: unbiased")
    verb.add_argument("--weights", metavar="COLUMN", help="a column of positive survey weights")
    verb.add_argument(
        "--by", metavar="COLUMN", action="append", help="estimate each stratum by itself; may be given several times"
    )
    verb.add_argument("--level", type=float, default=0.95, help="confidence level (default 0.95)")
    verb.add_argument("--top", type=int, metavar="N", help="the N most frequent inputs, with joint limits and ranks")
    verb.add_argument("--simultaneous", action="store_true", help="all intervals hold together with that confidence")
    verb.add_argument(
        "--merge", action="store_true", help="where inputs cannot be told apart, estimate the combinations that can"
    )
    verb.add_argument(
        "--no-hash-check", action="store_true", help="take reports from a file that does not record its mechanism"
    )
    add_printing(verb, plot="also draw the estimates")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    refuse_written(options, "plot")
    by = options.by[0] if options.by and len(options.by) == 1 else options.by
    result: Any = estimate_frequencies(
        [Path(file) for file in options.file],
        load(options.mechanism),
        options.method,
        column=options.column,
        weights=options.weights,
        by=by,
        merge=options.merge,
        check_hash=not options.no_hash_check,
    )
    strata = [(None, result)] if isinstance(result, FrequencyEstimate) else list(result.items())
    drawn(options, lambda: result.plot(options.level, options.simultaneous))
    if options.top is not None:
        return _top(options, strata)
    if not options.json:
        return said(options, None, result.summary(options.level, options.simultaneous))
    content = [_content(name, one, options.level, options.simultaneous) for name, one in strata]
    return said(options, plain({"estimates": content} if by else content[0]), "")


def _top(options: argparse.Namespace, strata: list[tuple[Any, FrequencyEstimate]]) -> int:
    """The most frequent inputs of each stratum."""
    tops = [(name, one.top(options.top, options.level)) for name, one in strata]
    if not options.json:
        return said(options, None, "\n\n".join(str(top) if name is None else f"{name}\n{top}" for name, top in tops))
    fields = ("estimate", "low", "high", "best_rank", "worst_rank")
    content = [
        {
            **_stratum(name),
            "level": top.level,
            "of": top.of,
            "order_is_certain": top.order_is_certain,
            "top": [
                {"input": label, **{field: getattr(top, field)[i].item() for field in fields}}
                for i, label in enumerate(top.inputs)
            ],
        }
        for name, top in tops
    ]
    return said(options, plain(content[0] if len(content) == 1 else {"estimates": content}), "")


def _stratum(name: Any) -> dict[str, Any]:
    return {} if name is None else {"stratum": list(name) if isinstance(name, tuple) else name}


def _content(stratum: Any, result: FrequencyEstimate, level: float, simultaneous: bool) -> dict[str, Any]:
    limits, poisoned, test = result.interval(level, simultaneous), result.poisoning(), result.goodness_of_fit()
    shown = result.shown_within(limits)
    return {
        **_stratum(stratum),
        "n": result.n,
        "effective_n": result.effective_n,
        "method": result.method,
        "level": level,
        "simultaneous": simultaneous,
        "exact": result.exact,
        "shown_as": result.candidate[0],
        "mechanism": result.fit.combinations.mechanism.hash,
        "inputs": [
            {
                "input": label,
                "shown": float(shown[x]),
                "estimate": float(result.estimate[x]),
                "standard_error": float(result.standard_error[x]),
                "interval": limits[x].tolist(),
                "if_1_percent_fake": poisoned[x].tolist(),
            }
            for x, label in enumerate(result.inputs)
        ],
        "n_without_privacy": result.equivalent_n(),
        "goodness_of_fit": {"p_value": test.p_value, "statistic": test.statistic, "degrees": test.degrees},
        "deficit": result.deficit,
        "notes": list(result.notes),
    }
