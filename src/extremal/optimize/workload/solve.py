"""Privacy and a workload → the mechanism with the least n × mean squared error.

Which way is taken under pure ε-LDP for one prior depends on what is asked (optimal design of experiments):

| asked | way | proof |
|---|---|---|
| shares, all inputs alike | closed form: a block design or subset selection | squares, one class |
| one statistic, or its multiples | intervals of values, to 40 values exactly; a grid and cells beyond | chords |
| at most 14 different inputs, to all statistics | all patterns, interior point | squares, listed |
| shares of every question of a record | blocks of questions under one coin | agreements, yes-no |
| at most 60 inputs, 30 if ordered | column generation from random sets that the bound suggests | listed or matrix |
| more, shares in up to three groups of equal probability | sets of a few types, counted | squares, listed |
| more, other shares | subset selection, or a projective geometry on its first points | squares with matrix |
| more, all others | mixture of colourings | squares with matrix |
| shares, fewer reports than the best has | the best known construction of that size | as without the limit |

What column generation finds is proved by the matrix inequality, or by counting all patterns: on up to 18 inputs of the
question itself, beyond of a coarser one, if few statistics matter, whose inputs are those that the design hardly tells
apart. Where ε is so large that randomised response costs no more than the inputs themselves it is taken. A way whose
floats fail is left for the next, and the last, randomised response, needs none.

Classes of priors are in `minimax`, PML and LIP in `leakage`, δ > 0 in `approximate`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from extremal.certificate import Proof
from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.mechanism import Mechanism
from extremal.mechanism.labels import count_text
from extremal.optimize.problem import Problem, Solution
from extremal.optimize.table import SIZES
from extremal.optimize.workload.fewer import MOST_SHIFTED, fewer_patterns, shifted_sets
from extremal.optimize.workload.generation import Pool, generate, random_sets
from extremal.optimize.workload.inequality import Inequality, best_inequality
from extremal.optimize.workload.interior import OptimalDesign, optimal_design
from extremal.optimize.workload.lifts import (
    DEPENDENT,
    Coordinates,
    Floats,
    Sets,
    all_sets,
    principal,
    staircase_deviations,
)
from extremal.optimize.workload.mechanisms import reduced, staircase_mechanism
from extremal.optimize.workload.merging import Merged, clustered, denominator_of, merged
from extremal.optimize.workload.notes import People, Precision, Shorter
from extremal.optimize.workload.proofs import listed_patterns, proven, revealed_inputs
from extremal.optimize.workload.structured.colourings import OrderedInputs
from extremal.optimize.workload.structured.mean import (
    CELLS,
    cells_for,
    grid_columns,
    grid_for,
    on_grid,
    one_statistic,
    rounded,
    rounding,
    statistic_proof,
)
from extremal.optimize.workload.structured.mixtures import ColourMixture, best_mixture
from extremal.optimize.workload.structured.questions import question_shares
from extremal.optimize.workload.structured.shares import many_shares
from extremal.optimize.workload.structured.short import best_short
from extremal.optimize.workload.structured.symmetric import symmetric_mechanism, symmetric_proof
from extremal.privacy import LDP, Notion
from extremal.utility import CDF, Frequencies, Ranges, Workload

MOST_ON_A_LINE = 8.0  # ε: beyond, the line's floats run out of digits, and few values have all their patterns listed
AS_GOOD = 1e-7  # relative: closer to a bound nothing else is looked for
CLOSED = 1e-4  # relative: a gap that asks for no second bound
WIDE = 0.01  # a gap of the matrix inequality that a coarser question may halve
STARTS, MOST_STARTS = 40, 1200  # random sets for each input, and in all: a first design on them takes a second
LISTING = 0.3  # of the time, for a second bound
COARSER, MOST_COARSER = 3, 30  # coarser questions without and with a limit of time: each of them takes seconds
BENT = 0.2  # logarithms by which inputs count more or less in all of them but the first
MANY = 500  # inputs: the exact weights and their proof then take a good part of a short time
MOST_REPORTS = 45_000  # without a limit: verified in 15 seconds at 1,000 inputs, whatever their sets are
MOST_SMALL_SETS, MOST_PAIRS = 100_000, 10**9  # the same where sets are small: reports, and pairs of inputs in all sets
FINISHING = 0.25  # of the time, for that
BOUND_SHARE = 0.15  # of it, for their bound: later steps raise it by less than new colourings lower the value
Way = Callable[[Problem, Workload, LDP, Merged], Solution | None]

BOUND_SECONDS = 60.0  # of the processor for a bound, when no time limit is given


def solve(problem: Problem, privacy: LDP, utility: Workload) -> Solution:
    """The best mechanism found under pure ε-LDP, and a proof of how good it is."""
    refuse_nothing(privacy)
    if utility.prior is None:  # the table has another method for classes of priors
        raise TypeError("a workload for one prior was expected")
    return finished(problem, utility, _under_ldp(problem, utility, utility.prior.values, privacy))


def refuse_nothing(privacy: Notion) -> None:
    """No workload has an answer at ε = 0."""
    if privacy.epsilon == 0:
        raise InvalidParameter(
            "at epsilon 0 the reports say nothing, and nothing can be estimated from them",
            parameter="epsilon",
            value=0,
            hint="Use ε > 0.",
        )


def _under_ldp(problem: Problem, utility: Workload, prior: Floats, privacy: LDP) -> Solution:
    limit = problem.max_outputs
    if _alike(utility, prior):
        mechanism, method = symmetric_mechanism(utility.k, privacy, problem.inputs)
        if limit is None or mechanism.m <= limit or utility.k > SIZES.workload_patterns:
            return Solution(mechanism, math.nan, method, (symmetric_proof(utility.k),))
    if utility.k > SIZES.workload_patterns:
        blocks = question_shares(problem, utility, prior, privacy)
        if blocks is not None:
            return blocks
    groups = merged(utility.rows, prior)
    for way in _ways(problem, utility, privacy, groups):
        with suppress(np.linalg.LinAlgError, PrivacyViolation):  # floats do not hold its numbers
            found = way(problem, utility, privacy, groups)
            if found is not None:
                return found
    return _plain(problem, utility, privacy, groups)


def _ways(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Iterator[Way]:
    """The best way first; after it those that may do where it does not."""
    k = groups.prior.size
    listable = k <= SIZES.workload_patterns
    if math.exp(-privacy.epsilon) < AS_GOOD:
        yield _inputs_themselves
    if (problem.max_outputs is None and privacy.epsilon <= MOST_ON_A_LINE) or not listable:
        yield _one_statistic
    if listable:
        yield _all_patterns
    if k <= (SIZES.ordered_columns if isinstance(utility, (CDF, Ranges)) else SIZES.workload_columns):
        yield _by_columns
    else:
        yield _many_inputs


def _plain(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    """Randomised response, and nothing but the inputs to bound it."""
    mechanism = Mechanism.from_partition(groups.group.tolist(), privacy, inputs=problem.inputs)
    return Solution(
        mechanism, 0.0, _named("randomised response", groups), proven((revealed_inputs(utility),), privacy, utility)
    )


def _inputs_themselves(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution | None:
    """Randomised response where no more could be learned from the inputs themselves."""
    return _response(problem, utility, privacy, groups, Inequality.of_inputs(Coordinates(groups.prior, groups.rows)))


def _many_inputs(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    if utility.k > SIZES.workload:
        raise InvalidParameter(
            f"this workload is designed for at most {SIZES.workload} different inputs",
            parameter="k",
            value=utility.k,
            hint="Group inputs into fewer bins, or ask for fewer thresholds or items.",
        )
    if isinstance(utility, Frequencies) and groups.whole:
        return many_shares(problem, utility, groups.prior, privacy, *_seconds(problem, 0.4))
    return _ordered(problem, utility, privacy, groups)


def _alike(utility: Workload, prior: Floats) -> bool:
    return isinstance(utility, Frequencies) and utility.symmetric and len(set(prior.tolist())) == 1


def _spread(group: Any, whole: bool) -> Any:
    return None if whole else group


def _all_patterns(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    coordinates = Coordinates(groups.prior, groups.rows)
    sets = all_sets(groups.prior.size)
    points = coordinates.points(staircase_deviations(sets, groups.prior, math.expm1(privacy.epsilon)))
    found = optimal_design(points, coordinates.guarded)
    proof = listed_patterns(coordinates, found, denominator_of(utility, groups), groups.groups)
    theta = reduced(points, found.theta, coordinates.guarded)
    mechanism = _staircase(problem, privacy, coordinates, sets, theta, groups)
    proofs = proven((revealed_inputs(utility), proof), privacy, utility)
    return Solution(mechanism, found.bound, _named("all patterns, interior point", groups), proofs)


def _staircase(
    problem: Problem, privacy: LDP, coordinates: Coordinates, sets: Sets, theta: Floats, groups: Merged
) -> Mechanism:
    """The mechanism on these patterns, on fewer of them when `max_outputs` says so."""
    limit = problem.max_outputs
    if limit is not None and int((theta > 0).sum()) > limit:
        found = fewer_patterns(coordinates, sets, theta, math.expm1(privacy.epsilon), limit)
        if found is not None:
            sets, theta = found
    return staircase_mechanism(
        sets, theta, coordinates.prior, privacy, problem.inputs, _spread(groups.group, groups.whole)
    )


def _named(method: str, groups: Merged) -> str:
    return method if groups.whole else f"{method}; {groups.group.size} inputs merged into {groups.prior.size}"


def _by_columns(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    epsilon = privacy.epsilon
    coordinates = Coordinates(groups.prior, groups.rows)
    bound = best_inequality(coordinates, epsilon, *_seconds(problem, 0.3))
    if (response := _response(problem, utility, privacy, groups, bound)) is not None:
        return response
    reserve = LISTING * (problem.seconds_left or 0.0)
    count = min(STARTS * coordinates.k, MOST_STARTS)
    start = random_sets(coordinates, bound, epsilon, count, np.random.default_rng(0))
    pool = generate(
        coordinates,
        math.expm1(epsilon),
        lambda: problem.seconds_left is not None and problem.seconds_left <= reserve,
        problem.progress,
        extra=start,
        floor=bound.bound,
    )
    points = coordinates.points(staircase_deviations(pool.sets, groups.prior, math.expm1(epsilon)))
    theta = reduced(points, pool.found.theta, coordinates.guarded)
    mechanism = _staircase(problem, privacy, coordinates, pool.sets, theta, groups)
    proofs = [bound.proof(privacy, utility, groups.groups)]
    if pool.found.value > bound.bound * (1 + CLOSED) and not problem.out_of_time:
        proofs += _listed(problem, utility, privacy, groups, coordinates, pool, 1 - bound.bound / pool.found.value)
    proved = proven(proofs, privacy, utility)
    return Solution(mechanism, bound.bound, _named("column generation", groups), proved)


def _listed(
    problem: Problem,
    utility: Workload,
    privacy: LDP,
    groups: Merged,
    coordinates: Coordinates,
    pool: Pool,
    gap: float,
) -> list[Proof]:
    """The bound of all patterns, counted: of the question itself, or of a coarser one in the time that is left."""
    if coordinates.k <= SIZES.workload_counted:
        return [listed_patterns(coordinates, pool.found, denominator_of(utility, groups), groups.groups)]
    if gap < WIDE or coordinates.statistics.shape[0] >= SIZES.workload_counted:
        return []  # merging would lose whole statistics
    found, few = _coarser(problem, coordinates, pool.found, math.expm1(privacy.epsilon))
    spread = Merged(few.group[groups.group], few.prior, few.rows)
    proof = listed_patterns(Coordinates(few.prior, few.rows), found, denominator_of(utility, spread), spread.groups)
    return [proof]


def _coarser(
    problem: Problem, coordinates: Coordinates, design: OptimalDesign, growth: float
) -> tuple[OptimalDesign, Merged]:
    """The dearest of several coarser questions, as many as there is time for until one is near to the design."""
    covariance = coordinates.covariance(design.inverse)
    generator = np.random.default_rng(0)  # proposals of a search, always the same ones
    tried: list[tuple[OptimalDesign, Merged]] = []
    for turn in range(COARSER if problem.seconds_left is None else MOST_COARSER):
        weights = np.exp(BENT * generator.normal(size=coordinates.k) * bool(turn))
        few = clustered(coordinates.rows, coordinates.prior, covariance, SIZES.workload_counted, weights)
        coarse = Coordinates(few.prior, few.rows)
        tried.append((generate(coarse, growth, lambda: problem.out_of_time, problem.progress).found, few))
        if problem.out_of_time or tried[-1][0].bound >= design.value * (1 - WIDE):
            break
    return max(
        (tried[:-1] if problem.out_of_time else []) or tried, key=lambda one: one[0].bound
    )  # not one that was stopped


def _response(problem: Problem, utility: Workload, privacy: LDP, groups: Merged, bound: Inequality) -> Solution | None:
    """Randomised response where the bound says that nothing is better, as at large ε; else None."""
    mechanism = Mechanism.from_partition(groups.group.tolist(), privacy, inputs=problem.inputs)
    if utility(mechanism) > bound.bound * (1 + AS_GOOD):
        return None
    proof = bound.proof(privacy, utility, groups.groups)
    return Solution(mechanism, bound.bound, _named("randomised response", groups), (proof,))


def _ordered(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution:
    coordinates = Coordinates(groups.prior, groups.rows)
    bound = best_inequality(coordinates, privacy.epsilon, *_seconds(problem, 0.3 if utility.k <= MANY else BOUND_SHARE))
    if (response := _response(problem, utility, privacy, groups, bound)) is not None:
        return response
    left = problem.seconds_left or 0.0
    reserve = FINISHING * left if utility.k > MANY else 0.0
    mixture = best_mixture(
        OrderedInputs.of(groups.prior, groups.rows, math.expm1(privacy.epsilon)),
        bound.bound,
        lambda: problem.seconds_left is not None and problem.seconds_left <= reserve,
        lambda gap: problem.progress("colourings", gap),
    )
    before, had, proof = mixture.value, int(mixture.reports.sum()), bound.proof(privacy, utility, groups.groups)
    if not _trimmed(mixture, problem.max_outputs):
        mechanism = Mechanism.from_partition(groups.group, privacy, inputs=problem.inputs)
        return Solution(mechanism, bound.bound, _named("randomised response", groups), (proof,))
    notes = () if int(mixture.reports.sum()) == had else (_price_of_fewer(had, mixture.value / before - 1),)
    inputs = problem.inputs if groups.whole else None
    mechanism = mixture.mechanism(privacy, inputs)
    if not groups.whole:
        mechanism = mechanism.spread(groups.group, problem.inputs)
    return Solution(mechanism, bound.bound, _named("mixture of colourings", groups), (proof,), notes)


def _trimmed(mixture: ColourMixture, limit: int | None) -> bool:
    """Whether so few colourings still tell all inputs apart."""
    with suppress(np.linalg.LinAlgError):
        mixture.trim(limit or _enough_reports(mixture))
        return True
    return False


def _price_of_fewer(reports: int, more: float) -> str:
    return f"fewer reports cost about {max(more, 0.0):.2%} more people: the search had {reports:,}"


def _enough_reports(mixture: ColourMixture) -> int:
    """As many as are verified in seconds."""
    pairs = mixture.problem.k**2 * float((1 / mixture.colours).sum() / mixture.colours.sum())  # in a set, on average
    return max(MOST_REPORTS, min(MOST_SMALL_SETS, int(MOST_PAIRS / pairs)))


def _seconds(problem: Problem, share: float) -> tuple[float, None, Callable[[], float]]:
    """For `best_inequality`: a share of the time that is left, or seconds of the processor."""
    left = problem.seconds_left
    return (BOUND_SECONDS, None, time.process_time) if left is None else (share * left, None, time.monotonic)


def _one_statistic(problem: Problem, utility: Workload, privacy: LDP, groups: Merged) -> Solution | None:
    """Where W is of rank one but for constants and rounding; None where it is not, or rounding costs something."""
    line, others = principal(groups.rows, groups.prior)
    if others > DEPENDENT:
        return None
    found = _on_a_line(problem, utility, privacy, groups, line)
    if len(groups.rows) == 1:
        return found
    information = utility.information(found.mechanism, utility.source.member().values)
    alone = information.value(line[None, groups.group])
    return found if information.value(utility.rows) <= alone * (1 + AS_GOOD) else None


def _on_a_line(problem: Problem, utility: Workload, privacy: LDP, groups: Merged, line: Floats) -> Solution:
    epsilon = privacy.epsilon
    order = np.argsort(line, kind="stable")
    values, prior = line[order], groups.prior[order]
    place = np.argsort(order)[groups.group]  # of each input among the ascending values
    if values.size <= SIZES.values:
        design = one_statistic(values, prior, epsilon)
        matrix: Any = grid_columns(design, epsilon)[place]
        cells, levels, chosen = place, values, design
    else:
        grid = grid_for(values, prior, SIZES.values)
        above, shares = rounding(values, grid)
        design = one_statistic(grid, on_grid(prior, above, shares, grid.size), epsilon)
        coarse = Mechanism.from_matrix(grid_columns(design, epsilon), privacy=privacy)
        matrix = rounded(above, shares, coarse)[place]
        cell = cells_for(values, prior, CELLS)
        mass = np.asarray(np.bincount(cell, weights=prior), dtype=np.float64)
        levels = np.asarray(np.bincount(cell, weights=prior * values) / mass)
        chosen, cells = one_statistic(levels, mass, epsilon), cell[place]
    named = tuple(int(c) for c in cells)
    merged_inputs = () if named == tuple(range(utility.k)) else named
    proof = statistic_proof(chosen, levels, utility.source.member(), privacy.exponential, merged_inputs)
    mechanism = Mechanism.from_matrix(matrix, privacy=privacy, inputs=problem.inputs)
    return Solution(
        mechanism,
        chosen.bound,
        "threshold mechanism on ordered values" if values.size <= SIZES.values else "rounding to a grid of values",
        (proof,),
    )


def finished(problem: Problem, utility: Workload, solution: Solution) -> Solution:
    """At most `max_outputs` reports, or a clear refusal; and what the design means, for its summary."""
    limit = problem.max_outputs
    within = solution if limit is None else _shorter(problem, utility, solution, limit)
    notes = tuple(note(utility, within.mechanism) for note in (Precision, People, Shorter))
    return replace(within, notes=(*within.notes, *notes))


def _shorter(problem: Problem, utility: Workload, solution: Solution, limit: int) -> Solution:
    """The best of known constructions of few reports, with the same bound; what the limit costs is in the gap."""
    fewest = solution.mechanism.m
    fits, others = fewest <= limit, []
    if isinstance(problem.privacy, LDP) and utility.prior is not None:
        groups = merged(utility.rows, utility.prior.values)
        fewest = min(fewest, groups.prior.size)
        if not fits or groups.prior.size <= MOST_SHIFTED:
            others = list(_shortest(problem, problem.privacy, utility, groups, limit, fits))
    named = [replace(solution, mechanism=mechanism, method=f"short reports: {name}") for mechanism, name in others]
    found = [solution, *named] if fits else named
    if found:
        return min(found, key=lambda one: utility(one.mechanism)) if len(found) > 1 else found[0]
    raise InvalidParameter(
        f"the shortest mechanism found for this workload has {count_text(fewest)} reports",
        parameter="max_outputs",
        value=limit,
        hint=f"Ask for at least that many; in bits, report_bits={(fewest - 1).bit_length()}.",
    )


def _shortest(
    problem: Problem, privacy: LDP, utility: Workload, groups: Merged, limit: int, fits: bool
) -> Iterator[tuple[Mechanism, str]]:
    """Known constructions for shares; as many reports as there are inputs that statistics tell apart, or a few more."""
    if isinstance(utility, Frequencies) and not fits:
        short = best_short(problem.inputs, utility, privacy, limit)
        if short is not None:
            yield short.mechanism, short.name
            return
    if groups.prior.size > limit:
        return
    yield Mechanism.from_partition(groups.group, privacy, inputs=problem.inputs), "randomised response"
    coordinates = Coordinates(groups.prior, groups.rows)
    shifted = shifted_sets(coordinates, math.expm1(privacy.epsilon), limit)
    if shifted is not None:
        spread = _spread(groups.group, groups.whole)
        made = staircase_mechanism(*shifted, coordinates.prior, privacy, problem.inputs, spread)
        yield made, f"{made.m} shifts of a set"
