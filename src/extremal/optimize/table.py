"""Which method designs what: notion × goal × size, as data.

`design` asks once. A notion and a goal have a kind; the rows of that cell say which module answers, and when. A row is
the first that applies, nearly always the only one; a method that finds nothing after all leaves the problem to the
next. Limits of size are in one place, `SIZES`, each with what it stands for; times are seconds of one processor core at
the limit. The page docs/design/index.md prints this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from extremal.errors import InvalidParameter
from extremal.optimize.problem import Problem, Solution
from extremal.privacy import LDP, LIP, PML, MaximalLeakage, MetricPrivacy, Notion
from extremal.privacy.cones import coupled, lift, metric, staircase
from extremal.utility import (
    ConvexUtility,
    Distortion,
    Divergence,
    Hamming,
    MutualInformation,
    SumOfColumns,
    Utility,
    Workload,
    WorstCase,
)


@dataclass(frozen=True)
class SizeLimits:
    """Inputs up to which a method works, unless another noun is given; rays that the kernel lists as well have their
    limits from the cones."""

    few_patterns: int = 9  # means and worst cases of divergences: 510 patterns, 0.1 s; a search is faster beyond
    patterns: int = staircase.MOST_INPUTS  # all staircase patterns: 65,534 columns, 3 s
    distributions: int = 6  # distributions whose directions are cut into cells: 720 simplices to begin with
    convex: int = 5  # all vertices of the staircase program: 142,506 sets of five patterns, 0.7 s; 61 million of six
    coupled_rays: int = coupled.MOST_INPUTS  # all rays under (ε,δ): 9,308, 1 s; seven inputs have 94,801
    coupled_chords: int = 24  # a program of k² rows for each chord: no new grid after 20 s
    coupled_mixed: int = 12  # staircase patterns and single inputs, mixed: 4,106 columns, 1.2 s
    coupled: int = 40  # any method under (ε,δ): 0.5 s, mostly to decide the claim, which grows like k²·reports
    simplex: int = 4096  # closed forms under PML and LIP that are dense matrices: 128 MB
    lifts: int = lift.MOST_INPUTS  # all extreme lift vectors: 57,344 at most, 1 s
    few_lifts: int = 9  # lift vectors that are listed for a second proof: 0.03 s
    lift_columns: int = 12  # all extreme columns in an interior-point method: 24,576 at most, 0.5 s
    searched_lifts: int = 40  # columns that a search finds, with the notion's own prior: it ends by its time limit
    lift_information: int = 250  # knapsacks on all inputs; more are merged
    lift_divergence: int = 400  # supporting lines on all inputs; more are merged
    class_columns: int = 12  # extreme columns by the inequalities that matter: 0.8 s for 50 priors of 8 inputs
    nested_columns: int = 10  # the same for a ball, or all permutations of a prior: 59,049 at most, 3 s
    metric_chords: int = 40  # k² inequalities for each chord: 5 s at 16 inputs, and growing like k⁴
    tree_rays: int = metric.MOST_ON_TREE  # all rays of a tree: 32,768, 6 s
    metric_rays: int = metric.MOST_IN_GENERAL  # all rays of any other metric: 1.5 s
    few_tree_rays: int = 10  # rays that are listed too when chords leave a gap: 0.07 s
    few_metric_rays: int = 5  # the same for a metric that is no tree: 0.02 s
    minimax: int = 10  # a saddle point over a class of priors: 1,022 patterns in each step, 0.6 s
    minimax_columns: int = 40  # the same on patterns that a search finds: it ends by its time limit
    workload_patterns: int = 14  # all patterns in an interior-point method: 16,382, 1.2 s
    workload_counted: int = 18  # columns counted for a bound: 262,142, as many as the independent checker takes
    workload_columns: int = 60  # column generation with a convex master: it ends by its time limit
    ordered_columns: int = 30  # of a distribution function or ranges: mixtures of colourings are as good beyond
    workload: int = 1500  # any other workload: the kernel inverts a matrix of this size
    symbols: int = 260  # different symbols that information is searched on as they are: 4 s
    symbols_of_small_sets: int = 600  # the same, when a set holds fewer than three: merging would lose too much
    crowded_symbols: int = 4096  # symbols, all small, beyond which a packing design is tried first
    certified_chords: int = 5_000  # whose certificates hold the proof that rests on no theorem, too: 0.6 s
    values: int = 40  # values of one statistic whose intervals are all columns: 0.4 s


SIZES = SizeLimits()


@dataclass(frozen=True)
class Row:
    """A method and what it is for.

    Attributes:
        notions, goals: kinds, as `notion_kind` and `goal_kind` name them.
        module: of extremal.optimize.
        way: how, in a few words, with its sizes.
        proof: what it proves its bound by.
        applies: whether it is for a problem of its cell.
        function: of the module; takes the problem, its notion and its goal.
        limited: whether `max_outputs` may be given.
    """

    notions: str
    goals: str
    module: str
    way: str
    proof: str
    applies: Callable[[Problem], bool] = lambda _: True
    function: str = "solve"
    limited: bool = False

    def solve(self, problem: Problem) -> Solution | None:
        """The method's answer; its module is loaded when it is first asked."""
        method: Any = getattr(import_module(f"extremal.optimize.{self.module}"), self.function)
        answer: Solution | None = method(problem, problem.privacy, problem.utility)
        return answer


def notion_kind(privacy: Notion) -> str:
    """The row of the table; empty for a notion that has none."""
    match privacy:
        case LDP():
            return "coupled" if privacy.delta else "pure"
        case PML():
            return "class" if privacy.source.single is None else "lift"
        case LIP():
            return "lift"
        case MetricPrivacy():
            return "metric"
        case MaximalLeakage():
            return "maximal"
        case _:
            return ""


def goal_kind(utility: Utility) -> str:
    """The column of the table; empty for a goal that has none."""
    kinds: tuple[tuple[Any, str], ...] = (
        (Divergence, "divergence"),
        (MutualInformation, "information"),
        ((SumOfColumns, WorstCase), "sum"),
        (Hamming, "hamming"),
        (Distortion, "distortion"),
        (Workload, "workload"),
        (ConvexUtility, "convex"),
    )
    return next((name for kind, name in kinds if isinstance(utility, kind)), "")


def _equal_hypotheses(problem: Problem) -> bool:
    utility = problem.utility
    return isinstance(utility, Divergence) and utility.pair.p0 == utility.pair.p1


def _several_hypotheses(problem: Problem) -> bool:
    from extremal.optimize.hypotheses.goals import is_known

    return problem.privacy.epsilon > 0 and problem.utility.k > SIZES.few_patterns and is_known(problem.utility)


def _class_of_priors(problem: Problem) -> bool:
    return isinstance(problem.utility, Workload) and problem.utility.prior is None


_REVEAL = f"{SIZES.coupled}: reveal with probability δ, else the best ε-mechanism"

TABLE: tuple[Row, ...] = (
    Row(
        "pure",
        "divergence",
        "divergence.solve",
        "sorted partition, any number of inputs",
        f"order; chords too up to {SIZES.certified_chords:,} inputs",
        limited=True,
    ),
    Row(
        "pure",
        "information",
        "information.solve",
        f"closed forms where they are optimal, windows of equal symbols, column generation on sets; beyond "
        f"{SIZES.symbols} different symbols ({SIZES.symbols_of_small_sets} when sets are small) on merged ones; many "
        "small symbols: packing",
        "sets, concave",
    ),
    Row(
        "pure",
        "sum",
        "hypotheses.solve",
        f"divergences on more than {SIZES.few_patterns} inputs. One pair: mixture of sorted partitions; up to "
        f"{SIZES.distributions} distributions, or beyond {SIZES.patterns} inputs: column generation on sets, priced on "
        "cells of directions or by a tree over sets",
        "order; chords on cells; sets; groups",
        _several_hypotheses,
    ),
    Row("pure", "sum", "rays", f"all staircase patterns, {SIZES.patterns} inputs", "listed"),
    Row("pure", "hamming", "distortion.hamming", "game between diagonals and priors", "chords, one prior"),
    Row(
        "pure",
        "workload",
        "workload.minimax",
        f"class of priors: saddle point, {SIZES.minimax} inputs on all patterns, {SIZES.minimax_columns} by column "
        "generation; means over all priors: one bit; shares where the class holds the uniform prior: block design or "
        "subset selection",
        "one prior of the class, as below",
        _class_of_priors,
        limited=True,
    ),
    Row(
        "pure",
        "workload",
        "workload.solve",
        f"shares, all alike: block design or subset selection. One statistic: intervals of {SIZES.values} values, a "
        f"grid beyond. {SIZES.workload_patterns} inputs: all patterns; {SIZES.workload_columns}: column generation; "
        f"{SIZES.workload}: types of sets, subset selection; mixtures of colourings (ordered goals: beyond "
        f"{SIZES.ordered_columns})",
        "squares with listed, chords or matrix",
        limited=True,
    ),
    Row("pure", "convex", "rays", f"all vertices, {SIZES.convex} inputs", "none: a user's function", function="convex"),
    Row("pure", "distortion", "distortion.solve", "linear program in the mechanism", "chords, one prior"),
    Row(
        "coupled",
        "divergence",
        "approximate.solve",
        f"{SIZES.coupled_rays} inputs: all rays of the arrangement; {SIZES.coupled_chords}: chords of f; {_REVEAL}",
        "listed with prices; chords",
    ),
    Row(
        "coupled",
        "information sum",
        "approximate.solve",
        f"{SIZES.coupled_rays} inputs: all rays of the arrangement; {_REVEAL}",
        "listed with prices; truncated; listed, revealed",
    ),
    Row(
        "coupled",
        "workload",
        "approximate.workload",
        f"{SIZES.coupled_rays} different inputs: all rays of the arrangement; {SIZES.coupled_mixed}: patterns and "
        f"single inputs, mixed; {_REVEAL}; beyond: the best ε-mechanism",
        "squares with listed, truncated or matrix",
    ),
    Row(
        "lift class metric",
        "divergence",
        "divergence.solve",
        "equal hypotheses: the constant mechanism",
        "chords",
        _equal_hypotheses,
        "equal_hypotheses",
        limited=True,
    ),
    Row(
        "lift class metric",
        "hamming distortion",
        "distortion.solve",
        "linear program in the mechanism",
        "chords, one prior",
    ),
    Row(
        "lift",
        "divergence",
        "leakage.solve",
        f"simplex: closed form; column generation on supporting lines; more than {SIZES.lift_divergence} inputs are "
        "merged",
        "chords",
    ),
    Row(
        "lift",
        "information",
        "leakage.solve",
        f"prior of the notion: closed forms, column generation with knapsacks, more than {SIZES.lift_information} "
        f"inputs merged; another prior: all lift vectors, {SIZES.lifts} inputs, neighbouring sets, "
        f"{SIZES.lift_information}",
        "sets; listed; chords",
    ),
    Row("lift", "sum", "leakage.solve", f"all extreme lift vectors, {SIZES.lifts} inputs", "listed"),
    Row(
        "lift class",
        "workload",
        "workload.leakage",
        f"all extreme columns, {SIZES.lift_columns} inputs; with the notion's own prior columns that a search finds, "
        f"{SIZES.searched_lifts} inputs; classes of priors are refused",
        "squares with listed; with matrix",
        limited=True,
    ),
    Row(
        "class",
        "divergence information sum",
        "leakage.classes",
        f"balls and permutations, {SIZES.nested_columns} inputs: all extreme columns; lists, {SIZES.class_columns}: "
        "cut by the inequalities that matter, while columns are few; beyond: the best of the designs under LDP and for "
        "one prior, mended",
        "listed; one prior",
    ),
    Row(
        "metric",
        "divergence",
        "divergence.metric",
        f"column generation on a tree; else blocks of chords, {SIZES.metric_chords} inputs",
        "chords; listed",
    ),
    Row(
        "metric",
        "divergence information sum",
        "rays",
        f"all extreme rays: {SIZES.tree_rays} inputs on a tree, {SIZES.metric_rays} else",
        "listed",
        function="over_metric",
    ),
    Row(
        "maximal",
        "divergence information sum",
        "rays",
        f"all sets of inputs, {SIZES.patterns} inputs; no worst cases",
        "listed",
        lambda problem: not isinstance(problem.utility, WorstCase),
        "over_sets",
    ),
)


def rows_for(problem: Problem) -> tuple[Row, ...]:
    """The rows that apply to a problem, in order; empty when no method is known."""
    notion, goal = notion_kind(problem.privacy), goal_kind(problem.utility)
    cell = (row for row in TABLE if notion in row.notions.split() and goal in row.goals.split())
    allowed = (row for row in cell if problem.max_outputs is None or row.limited)
    return tuple(row for row in allowed if row.applies(problem))


def solved(problem: Problem) -> Solution:
    """The answer of the method that the table names.

    Raises:
        InvalidParameter: there is none.
    """
    for row in rows_for(problem):
        solution = row.solve(problem)
        if solution is not None:
            return solution
    raise InvalidParameter(
        f"no method is known for {problem.utility.name} under {problem.privacy.name}"
        + (" with max_outputs" if problem.max_outputs is not None else ""),
        parameter="utility",
        value=problem.utility,
        hint=_hint(problem),
    )


def _hint(problem: Problem) -> str:
    notion, limited = notion_kind(problem.privacy), problem.max_outputs is not None
    known = [row for row in TABLE if notion in row.notions.split() and (row.limited or not limited)]
    goals = dict.fromkeys(goal for row in known for goal in row.goals.split())
    under = f"Under this notion methods are known for: {', '.join(goals)}. " if goals else ""
    return under + "See docs/design/index.md for the combinations that are solved."
