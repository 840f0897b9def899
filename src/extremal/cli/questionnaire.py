"""`extremal questionnaire`: several questions to one person, from the budget to the estimates."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from extremal.atomic import write_atomically
from extremal.cli.printing import add_printing, plain, said, written
from extremal.cli.reading import prior, questionnaire_in, refuse_written
from extremal.errors import InvalidParameter, MissingDependency
from extremal.estimate.workload import WorkloadEstimate
from extremal.loading import load
from extremal.mechanism import Mechanism
from extremal.progress import ProgressLine
from extremal.questionnaire import OnlyIf, Questionnaire, QuestionText, TickAll
from extremal.questionnaire.device import write_surveyjs_folder
from extremal.questionnaire.forms import read_form
from extremal.questionnaire.strategies import STRATEGIES
from extremal.tables import as_frame
from extremal.utility import CDF, Mean


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "questionnaire",
        help="ask one person several questions within one privacy budget",
        description="Make a questionnaire, explain what it discloses, randomise answers to it, and estimate.",
        epilog="example:\nextremal questionnaire make --epsilon 2 drugs=no,yes party=left,centre,right -o q.json",
    )
    actions = verb.add_subparsers(title="actions", metavar="ACTION", required=True)

    action = _action(actions, "make", _make, "write a questionnaire")
    action.add_argument(
        "question",
        nargs="+",
        metavar="NAME=…",
        help="with --epsilon: the answers, comma-separated, a range 0-10, or their number; without: a mechanism file",
    )
    action.add_argument("--epsilon", help="what one person spends on all questions together, in nats")
    _add_strategy(action)
    action.add_argument("--text", action="append", metavar="NAME=TEXT", help="what a person reads")
    action.add_argument(
        "--only-if", action="append", metavar="NAME=QUESTION:ANSWER", help="ask NAME only after this answer"
    )
    action.add_argument("--title", default="", help="title of the questionnaire")
    action.add_argument("-o", "--output", metavar="FILE", required=True, help="the file to write")

    action = _action(
        actions, "import", _import, "make a questionnaire from a form (XLSForm, LimeSurvey, SurveyJS, REDCap)"
    )
    action.add_argument("form", help="an .xlsx, .tsv, .json or .csv file, as the tool exports it")
    action.add_argument("--epsilon", required=True, help="what one person spends on all questions together, in nats")
    _add_strategy(action)
    action.add_argument("-o", "--output", metavar="FILE", required=True, help="the file to write")

    action = _action(actions, "show", _show, "verify its claims and show what each person spends")
    action.add_argument("file", help="a questionnaire file")

    action = _action(actions, "explain", _explain, "say what the reports disclose, in plain sentences")
    action.add_argument("file", help="a questionnaire file")
    action.add_argument(
        "--prior", action="append", metavar="NAME=P", help="what someone believes before; may be repeated"
    )
    action.add_argument("--html", metavar="FILE", help="write one self-contained page that can be printed")
    action.add_argument("--title", default="What this questionnaire discloses", help="title of the page")

    action = _action(actions, "privatize", _privatize, "randomise the questions' columns of a file")
    action.add_argument("file", help="a questionnaire file")
    action.add_argument("answers", help="a Parquet, Feather, CSV or JSON lines file with a column for each question")
    action.add_argument("-o", "--output", metavar="FILE", required=True, help="the file to write, of the same format")

    action = _action(actions, "estimate", _estimate, "estimate the frequencies of every question")
    action.add_argument("file", help="a questionnaire file")
    action.add_argument("reports", help="a file written by `extremal privatize`, or JSON lines collected by a server")
    action.add_argument("--level", type=float, default=0.95, help="confidence level (default 0.95)")
    action.add_argument("--by", metavar="COLUMN", help="estimate each group of an open column by itself")
    action.add_argument("--csv", metavar="FILE", help="write all estimates as one table")
    action.add_argument("--excel", metavar="FILE", help="the same as a workbook")
    _add_hash_check(action)

    action = _action(actions, "crosstab", _crosstab, "estimate the joint shares of two questions")
    action.add_argument("file", help="a questionnaire file")
    action.add_argument("reports", help="a file written by `extremal privatize`, or JSON lines collected by a server")
    action.add_argument("first", help="a question")
    action.add_argument("second", help="another question, or an open column")
    action.add_argument("--level", type=float, default=0.95, help="confidence level (default 0.95)")
    _add_hash_check(action)

    action = _action(actions, "export", _export, "write the questions as a form of a survey tool, with the randomiser")
    action.add_argument("file", help="a questionnaire file")
    action.add_argument("--to", choices=("surveyjs",), required=True, help="which tool")
    action.add_argument("-o", "--output", metavar="FOLDER", required=True, help="an empty or new folder")


def _add_strategy(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--strategy",
        choices=("best", *STRATEGIES),
        default="best",
        help="how --epsilon is spent: a joint report, a sample of the questions, or split; default: best",
    )
    action.add_argument("--per-person", type=int, metavar="S", help="how many questions a person is asked")
    action.add_argument(
        "--importance", action="append", metavar="NAME=W", help="margins are compared after multiplication with this"
    )
    action.add_argument("--optional", action="append", metavar="NAME", help="a question that need not be answered")
    action.add_argument(
        "--goal",
        action="append",
        metavar="NAME=mean|cdf",
        help="what is wanted of a question; the shares of its answers if not given",
    )


def _add_hash_check(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--no-hash-check",
        action="store_true",
        help="read a file that does not say which questionnaire made its reports",
    )


def _action(actions: Any, name: str, run: Any, explain: str) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=explain, description=explain)
    add_printing(action)
    action.set_defaults(run=run)
    return action


def _pairs(texts: list[str] | None, parameter: str) -> dict[str, str]:
    """NAME=… as typed, each name once."""
    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, rest = text.partition("=")
        if not equals or not name or not rest or name in found:
            raise InvalidParameter(
                f"{parameter} must be NAME=…, each name once",
                parameter=parameter,
                value=text,
                hint="For a question, drugs=no,yes or sickdays=0-10." if parameter == "question" else None,
            )
        found[name] = rest
    return found


def _make(options: argparse.Namespace) -> int:
    refuse_written(options, "output")
    given = _pairs(options.question, "question")
    if options.epsilon is None:
        spends = (options.importance, options.goal, options.per_person, options.optional, options.only_if)
        if any(spends) or options.strategy != "best":
            raise InvalidParameter(
                "a budget is spent when there is one", parameter="--epsilon", value=None, hint="Give --epsilon 2."
            )
        mechanisms = {name: _mechanism(path) for name, path in given.items()}
        texts = {name: QuestionText(text) for name, text in _pairs(options.text, "--text").items()}
        made = Questionnaire(mechanisms, texts=texts, title=options.title)
    else:
        asked = _with_goals({name: _answers(text) for name, text in given.items()}, options.goal)
        made = Questionnaire.within(
            options.epsilon,
            {**asked, **_conditions(options.only_if, asked)},
            options.strategy,
            options.per_person,
            _pairs(options.importance, "--importance") or None,
            optional=options.optional,
            texts=_pairs(options.text, "--text"),
            title=options.title,
        )
    made.save(options.output, overwrite=options.overwrite)
    return said(options, _content(made), written(made, options.output))


def _import(options: argparse.Namespace) -> int:
    refuse_written(options, "output")
    form = read_form(options.form)
    if not form.questions:
        raise InvalidParameter(
            "the form must have a question with listed answers", parameter="form", value=options.form
        )
    made = Questionnaire.within(
        options.epsilon,
        _with_goals(form.answers(), options.goal),
        options.strategy,
        options.per_person,
        _pairs(options.importance, "--importance") or None,
        optional=[*form.optional(), *(options.optional or ())],
        texts=form.texts(),
        title=form.title,
    )
    made.save(options.output, overwrite=options.overwrite)
    content = {**_content(made), "not_randomised": [list(other) for other in form.others]}
    return said(options, content, f"{form.summary()}\n\n{written(made, options.output)}")


def _answers(text: str) -> Any:
    """Answers as typed: a number of them, a range 0-10, or a list."""
    if text.isascii() and text.isdecimal():
        return int(text)
    first, dash, last = text.partition("-")
    if dash and first.isascii() and last.isascii() and first.isdecimal() and last.isdecimal():
        if int(first) >= int(last):
            raise InvalidParameter("a range goes upwards", parameter="question", value=text, hint="0-10.")
        return range(int(first), int(last) + 1)
    return text.split(",")


def _conditions(texts: list[str] | None, asked: Mapping[str, Any]) -> dict[str, OnlyIf]:
    """NAME=QUESTION:ANSWER as typed; several answers lead to a question that is named several times."""
    found: dict[str, OnlyIf] = {}
    for text in texts or []:
        name, _, condition = text.partition("=")
        question, colon, answer = condition.partition(":")
        if not colon or name not in asked or question not in asked:
            raise InvalidParameter("--only-if must be NAME=QUESTION:ANSWER", parameter="--only-if", value=text)
        before = found[name].leads if name in found and found[name].question == question else ()
        found[name] = OnlyIf(question, [*before, _label(asked[question], answer)], asked[name])
    return found


def _label(given: Any, text: str) -> Any:
    """The answer to a question that is typed so; the text itself where there is none."""
    labels = range(given) if isinstance(given, int) else given
    return next((label for label in labels if str(label) == text), text)


def _with_goals(answers: dict[str, Any], texts: list[str] | None) -> dict[str, Any]:
    """What `Questionnaire.within` takes: some of the questions with a goal."""
    goals = _pairs(texts, "--goal")
    for name in goals:
        if name not in answers or isinstance(answers[name], (OnlyIf, TickAll)):
            raise InvalidParameter(
                "--goal must be of a question that is always asked and has one answer", parameter="--goal", value=name
            )
    return answers | {name: _asked(answers[name], goal) for name, goal in goals.items()}


def _asked(answers: Any, goal: str) -> Any:
    """Labels and a goal."""
    labels = list(range(answers)) if isinstance(answers, int) else list(answers)
    if goal == "cdf":
        return labels, CDF(len(labels))
    try:
        values = [float(label) for label in labels]
    except ValueError:
        raise InvalidParameter("a mean needs answers that are numbers", parameter="--goal", value=goal) from None
    if goal != "mean":
        raise InvalidParameter("a goal is mean or cdf", parameter="--goal", value=goal)
    return labels, Mean(values)


def _mechanism(path: str) -> Mechanism:
    found = load(path)
    if not isinstance(found, Mechanism):
        raise InvalidParameter("a question needs a mechanism file", parameter="question", value=path)
    return found


def _show(options: argparse.Namespace) -> int:
    asked = questionnaire_in(options.file)
    return said(options, _content(asked), asked)


def _content(asked: Questionnaire) -> dict[str, Any]:
    levels = {name: asked.level_of(name) for name in asked.questions}
    content = {"epsilon": asked.epsilon, "delta": float(asked.delta), "questions": levels, "hash": asked.hash}
    return dict(plain(content))


def _explain(options: argparse.Namespace) -> int:
    refuse_written(options, "html")
    priors = {name: prior(text, "--prior") for name, text in _pairs(options.prior, "--prior").items()}
    explained = questionnaire_in(options.file).explain(priors)
    if options.html:
        write_atomically(Path(options.html), explained.html(options.title).encode("utf-8"), options.overwrite)
    content = {"guarantee": explained.guarantee(), "sentences": explained.sentences()}
    return said(options, content, written(explained, options.html))


def _privatize(options: argparse.Namespace) -> int:
    asked = questionnaire_in(options.file)
    with ProgressLine() as line:
        rows = asked.privatize_file(options.answers, options.output, overwrite=options.overwrite, progress=line.rows)
    content = {"rows": rows, "output": options.output, "epsilon": asked.epsilon, "hash": asked.hash}
    return said(options, plain(content), f"{options.output}: {rows:,} rows, {asked.said_level()} per person")


def _names(found: Any) -> Any:
    """What was estimated: answers, or statistics."""
    return found.names if isinstance(found, WorkloadEstimate) else found.inputs


def _estimate(options: argparse.Namespace) -> int:
    refuse_written(options, "csv", "excel")
    asked = questionnaire_in(options.file)
    grouped = {} if options.by is None else {"by": options.by}
    found = asked.estimate(Path(options.reports), check_hash=not options.no_hash_check, **grouped)
    if options.csv or options.excel:
        _write_table(_table(asked, found, options.level), options)
    text = "\n\n".join(f"{name}\n{_summary(one, options.level)}" for name, one in found.items())
    if options.by is not None:
        return said(options, {"rows": _table(asked, found, options.level)}, written(text, options.csv, options.excel))
    content = {
        name: [
            {"answer": label, "estimate": float(e), "low": float(low), "high": float(high)}
            for label, e, (low, high) in zip(_names(one), one.estimate, one.interval(options.level), strict=True)
        ]
        for name, one in found.items()
    }
    return said(options, content, written(text, options.csv, options.excel))


def _summary(found: Any, level: float) -> str:
    """The estimates of a question; those of a goal come group by group."""
    if isinstance(found, dict):
        return "\n\n".join(f"stratum {group!r}\n{one.summary(level)}" for group, one in found.items())
    return str(found.summary(level))


def _table(asked: Questionnaire, found: dict[str, Any], level: float) -> list[dict[str, Any]]:
    """A row for each estimate: question, group, answer or statistic and its text, estimate, standard error, limits,
    reports."""
    rows = []
    for question, result in found.items():
        known = asked.texts.get(question, QuestionText()).answers
        texts = dict(zip(asked.questions[question].inputs, known, strict=False))
        groups = result.items() if isinstance(result, Mapping) else [("", result)]
        for group, one in groups:
            for label, e, s, (low, high) in zip(
                _names(one), one.estimate, one.standard_error, one.interval(level), strict=True
            ):
                rows.append(
                    {
                        "question": question,
                        "group": str(group),
                        "answer": str(label),
                        "text": texts.get(label, ""),
                        "estimate": float(e),
                        "standard_error": float(s),
                        "low": float(low),
                        "high": float(high),
                        "n": int(one.n),
                    }
                )
    return rows


def _write_table(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    frame = as_frame({name: [row[name] for row in rows] for name in rows[0]})
    if options.csv:
        write_atomically(Path(options.csv), frame.to_csv(index=False).encode("utf-8"), options.overwrite)
    if options.excel:
        try:
            import openpyxl  # noqa: F401
        except ImportError:
            raise MissingDependency("a workbook needs openpyxl", hint="pip install 'extremal[forms]'.") from None
        data = io.BytesIO()
        frame.to_excel(data, index=False)
        write_atomically(Path(options.excel), data.getvalue(), options.overwrite)


def _crosstab(options: argparse.Namespace) -> int:
    asked = questionnaire_in(options.file)
    found = asked.crosstab(Path(options.reports), options.first, options.second, check_hash=not options.no_hash_check)
    limits = found.interval(options.level)
    cells = [
        {
            options.first: str(x),
            options.second: str(z),
            "estimate": float(found.estimate[i, j]),
            "low": float(limits[i, j, 0]),
            "high": float(limits[i, j, 1]),
        }
        for i, x in enumerate(found.first.inputs)
        for j, z in enumerate(found.second.inputs)
    ]
    return said(options, {"n": found.n, "cells": cells}, found.summary(options.level))


def _export(options: argparse.Namespace) -> int:
    asked = questionnaire_in(options.file)
    names = [path.name for path in write_surveyjs_folder(options.output, asked, overwrite=options.overwrite)]
    text = f"{options.output}: {', '.join(names)}\n  {asked.said_level()} per person, questionnaire {asked.hash[:12]}"
    return said(options, {"folder": options.output, "files": names, "questionnaire": asked.hash}, text)
