"""The mechanism file: labels, which row each input has, hash, version; and whether its privacy claim holds."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from extremal.checker.grammar import (
    Content,
    Names,
    count,
    entries,
    exactly,
    hash_of,
    list_of,
    read_label,
    read_labels,
    read_set_label,
)
from extremal.checker.notions import ClassLifted, LeakageSum, Lifted, Local, Metrical, Notion, PowerOfE, read_notion
from extremal.checker.numbers import ZERO, Uncheckable, Undecided, afford, expect
from extremal.checker.sources import MOST_INPUTS, Source
from extremal.checker.structures import SetReports, SetType, Weights, read_structure

LONGEST_DECIMAL = 12_000  # bits of a denominator that is written in decimal digits
MOST_PAIRS = 2**23  # of rows, times reports, that are compared one by one
MOST_DISTANCES = 2**22  # pairs of inputs of a metric


@dataclass(frozen=True)
class MechanismFile:
    """Rows of weights, which row each input has, the names, and the notion that is claimed."""

    structure: Weights
    row_of: Sequence[int]
    inputs: Names
    outputs: Names
    claim: Notion | None

    @property
    def k(self) -> int:
        """Number of inputs."""
        return len(self.row_of)

    def mass_of_rows(self, p: Sequence[int]) -> list[int]:
        """Weights of inputs, added up for each row."""
        masses = [0] * self.structure.rows
        for row, mass in zip(self.row_of, p, strict=True):
            masses[row] += mass
        return masses


# -- the file --

VERSION = re.compile(r"(0|[1-9][0-9]{0,4})\.(0|[1-9][0-9]{0,4})")
FIELDS_OF_MECHANISM = {"format", "version", "inputs", "outputs", "denominator", "weights", "privacy", "hash"}


def require_format(content: Any, name: str, fields: set[str]) -> Content:
    """An object of the format and its fields, of a version that this checker reads, whose hash is that of its content.

    A newer minor version may have more fields at the top.
    """
    expect(isinstance(content, dict) and content.get("format") == name, f"a file of format {name}")
    version = content.get("version")
    expect(isinstance(version, str) and VERSION.fullmatch(version) is not None, "version is major.minor")
    major, minor = map(int, str(version).split("."))
    expect(major == 1, "version 1")
    expect(set(content) >= fields, "all fields of the format")
    expect(minor > 0 or set(content) <= fields | {"rows_of_inputs"}, "no field that is not known")
    expect(content["hash"] == hash_of(content), "the content matches its hash")
    return dict(content)


def read_mechanism(given: Any) -> MechanismFile:
    """A mechanism file: every row sums to the denominator, every report and every input has a name."""
    content = require_format(given, "extremal-mechanism", FIELDS_OF_MECHANISM)
    structure = read_structure(content["weights"])
    expect(content["denominator"] == digits_of(structure.denominator), "the denominator is what each row sums to")
    inputs = read_labels(content["inputs"], read_label, MOST_INPUTS)
    row_of = read_rows_of_inputs(content["rows_of_inputs"], structure.rows) if "rows_of_inputs" in content else None
    outputs = read_outputs(content["outputs"], inputs, structure)
    expect(
        inputs.count == (structure.rows if row_of is None else len(row_of)) >= 2, "a name for each input, at least 2"
    )
    claim = None if content["privacy"] is None else read_notion(content["privacy"])
    return MechanismFile(structure, range(structure.rows) if row_of is None else row_of, inputs, outputs, claim)


def digits_of(number: int) -> str:
    """Decimal digits; hexadecimal from 12,000 bits on."""
    return str(number) if number.bit_length() < LONGEST_DECIMAL else hex(number)


def read_rows_of_inputs(given: Any, rows: int) -> list[int]:
    """Pairs of a row and how many inputs in a row have it."""
    pairs = list_of(entries(count, count))(given)
    expect(all(0 <= row < rows and n >= 1 for row, n in pairs), "pairs of a row and a count")
    expect(sum(n for _, n in pairs) <= MOST_INPUTS, "at most 16,777,216 inputs")
    expect(all(a[0] != b[0] for a, b in itertools.pairwise(pairs)), "neighbours of one row are counted together")
    expect(len({row for row, _ in pairs}) == rows, "every row is that of some input")
    return [row for row, n in pairs for _ in range(n)]


def read_outputs(given: Any, inputs: Names, structure: Weights) -> Names:
    """Labels of reports: listed, numbered, all sets of so many inputs, or words of bits."""
    reports = structure.reports
    if structure.word is not None:
        expect(given == {"bits": structure.word}, "outputs are words of a bit for each row")
        return Names(reports)
    if isinstance(given, dict) and "bits" in given:
        bits = count(exactly(given, {"bits"}, "words of bits")["bits"])
        expect(1 <= bits <= MOST_INPUTS and reports == 2**bits, "a word of bits for each report")
        return Names(reports)
    if isinstance(given, dict) and "subsets_of_inputs" in given:
        size = count(exactly(given, {"subsets_of_inputs"}, "sets of inputs")["subsets_of_inputs"])
        expect(size >= 1 and math.comb(inputs.count, size) == reports, "a set of inputs for each report")
        return Names(reports)
    found = read_labels(given, read_set_label, max(MOST_INPUTS, reports if reports.bit_length() < 64 else 0))
    expect(found.count == reports, "a name for each report")
    return found


# -- privacy --


def is_private(mechanism: MechanismFile, notion: Notion) -> bool:
    """Whether the weights satisfy the notion, decided in whole numbers and with as many digits of e^ε as it takes."""
    if notion.k not in (None, mechanism.k):
        raise Uncheckable("the notion is about another number of inputs")
    if isinstance(notion, Local):
        return is_local(mechanism, notion)
    if isinstance(notion, LeakageSum):
        return is_little_in_sum(mechanism, notion)
    sets = mechanism.structure.sets
    if sets is not None:
        name = "MetricPrivacy" if isinstance(notion, Metrical) else "LIP" if has_lower_side(notion) else "PML"
        holds = all(ON_SETS[name](mechanism, notion, sets, one) for one in sets.types)
        if holds or name in sets.decides:
            return holds
    if isinstance(notion, Metrical):
        return is_metric(mechanism, notion)
    return is_lifted(mechanism, notion)


def has_lower_side(notion: Notion) -> bool:
    return isinstance(notion, Lifted) and notion.bottom is not None


def is_local(mechanism: MechanismFile, notion: Local) -> bool:
    """max ≤ e^ε·min in every column; with δ > 0, Σ_y (q_y(x) − e^ε·q_y(z))⁺ ≤ δ for all pairs of rows."""
    structure, sets = mechanism.structure, mechanism.structure.sets
    if all(notion.top.allows(high, low) for low, high in structure.extremes):
        return True
    if notion.delta == 0:
        if sets is not None and "LDP" not in sets.decides:
            raise Undecided("the largest ratio of two weights is known as a bound only")
        return False
    known = sets is not None and sets.complete
    found = excesses_of_sets(sets, notion.top) if known and sets is not None else excesses(structure, notion.top)
    return all(is_within_delta(large, small, notion, structure.listed_sum) for large, small in found)


def is_little_in_sum(mechanism: MechanismFile, notion: LeakageSum) -> bool:
    """Σ_y max_x q_y(x) ≤ e^ε, over all reports."""
    structure = mechanism.structure
    afford(structure.rows * structure.reports, MOST_PAIRS, "rows times reports")
    return notion.top.allows(sum(max(column) for column in structure.columns()), structure.listed_sum)


def excesses(structure: Weights, top: PowerOfE) -> Iterator[tuple[int, int]]:
    """Σ q_y(x) and Σ q_y(z) over the reports with q_y(x) > e^ε·q_y(z), for all pairs of rows."""
    afford(structure.rows**2 * structure.reports, MOST_PAIRS, "pairs of rows times reports")
    rows = list(zip(*structure.columns(), strict=True))
    for one, other in itertools.permutations(rows, 2):
        above = [(a, b) for a, b in zip(one, other, strict=True) if not top.allows(a, b)]
        yield sum(a for a, _ in above), sum(b for _, b in above)


def is_within_delta(large: int, small: int, notion: Local, unit: int) -> bool:
    """large − e^ε·small ≤ δ·unit, in whole numbers."""
    n, d = notion.delta.numerator, notion.delta.denominator
    return notion.top.allows(large * d - n * unit, small * d)


def excesses_of_sets(sets: SetReports, top: PowerOfE) -> Iterator[tuple[int, int]]:
    """The same over the sets that hold a row of part g and not one of part h, for all g and h."""
    kinds = [one for one in sets.types if not top.allows(one.high, one.low)]
    sizes = list(map(len, sets.parts))
    for g, h in itertools.product(range(len(sizes)), repeat=2):
        if g != h or sizes[g] >= 2:
            often = [how_many_hold(sizes, one.held, g, h) for one in kinds]
            large = sum(n * one.high for n, one in zip(often, kinds, strict=True))
            yield large, sum(n * one.low for n, one in zip(often, kinds, strict=True))


def how_many_hold(sizes: Sequence[int], held: Sequence[int], g: int, h: int) -> int:
    """How many sets with these counts hold one given row of part g and not one given row of part h."""
    numbers = [math.comb(n, t) for n, t in zip(sizes, held, strict=True)]
    if held[g] == 0:
        return 0
    numbers[g] = math.comb(sizes[g] - 1 - (g == h), held[g] - 1)
    if g != h:
        numbers[h] = math.comb(sizes[h] - 1, held[h])
    return math.prod(numbers)


# -- listed reports --


def is_lifted(mechanism: MechanismFile, notion: Lifted | ClassLifted) -> bool:
    """q_x ≤ e^ε·p·q for every prior p of the class and every x that can occur; LIP: p·q ≤ e^λ·q_x as well."""
    source = notion.source if isinstance(notion, ClassLifted) else Source("list", (notion.prior,))
    bottom = notion.bottom if isinstance(notion, Lifted) else None
    afford(mechanism.k * mechanism.structure.reports, MOST_PAIRS, "weights of a class of priors")
    for rows in mechanism.structure.columns():
        column = [rows[row] for row in mechanism.row_of]
        seen = [v for v, occurs in zip(column, source.can_occur, strict=True) if occurs]
        mean = source.least_mean(column)
        if not notion.top.allows(max(seen) * mean.denominator, mean.numerator):
            return False
        if bottom is not None and not bottom.allows(mean.numerator, min(seen) * mean.denominator):
            return False
    return True


def is_metric(mechanism: MechanismFile, notion: Metrical) -> bool:
    """q_x ≤ e^{ε·d(x,z)}·q_z for all pairs of inputs: for each pair of rows the closest inputs decide."""
    afford(mechanism.structure.rows**2 * mechanism.structure.reports, MOST_PAIRS, "pairs of rows times reports")
    closest = closest_exponents(mechanism.row_of, notion)
    for column in mechanism.structure.columns():
        if not all(PowerOfE(exponent).allows(column[a], column[b]) for (a, b), exponent in closest.items()):
            return False
    return True


def closest_exponents(names: Sequence[int], notion: Metrical) -> dict[tuple[int, int], Fraction]:
    """The least ε·d between inputs of two different groups, by their names; none where all are infinite."""
    afford(notion.k**2, MOST_DISTANCES, "pairs of inputs")
    found: dict[tuple[int, int], Fraction] = {}
    for a, row in zip(names, notion.exponents, strict=True):
        for b, exponent in zip(names, row, strict=True):
            if a != b and exponent is not None and exponent < found.get((a, b), exponent + 1):
                found[a, b] = exponent
    return found


# -- sets --


def least_mass(sets: SetReports, held: Sequence[int], mass: Sequence[int], wanted: Sequence[bool]) -> int | None:
    """The least mass of a set with so many rows of each part that holds a wanted row; None when no set does.

    The lightest rows of each part, and one wanted row among them: the lightest wanted one of a part takes the place of
    the heaviest that was chosen there, unless it may be among the lightest itself.
    """
    ordered = [sorted(mass[x] for x in part)[:n] for part, n in zip(sets.parts, held, strict=True)]
    raised = []
    for part, chosen in zip(sets.parts, ordered, strict=True):
        candidates = [mass[x] for x in part if wanted[x]]
        if chosen and candidates:
            raised.append(max(0, min(candidates) - chosen[-1]))
    return sum(map(sum, ordered)) + min(raised) if raised else None


def least_share(mechanism: MechanismFile, source: Source, sets: SetReports, held: Sequence[int]) -> Fraction | None:
    """The least p(S) over the priors of a class and the sets S with these counts that hold an input that can occur."""
    occurs = [n > 0 for n in mechanism.mass_of_rows([int(v) for v in source.can_occur])]
    inputs = mechanism.mass_of_rows([1] * mechanism.k)
    if source.kind == "simplex":
        return ZERO  # all mass on an input outside of the set
    if source.kind == "permutation_invariant":  # the smallest probabilities go to the set with the fewest inputs
        return sum(sorted(source.priors[0])[: least_mass(sets, held, inputs, occurs)], ZERO)
    least = [(least_mass(sets, held, mechanism.mass_of_rows(p), occurs), mass) for p, mass in source.in_whole_numbers]
    found = [Fraction(v, mass) for v, mass in least if v is not None]
    return max(ZERO, min(found) - source.radius) if found else None  # of a ball, so much is moved out of the set


def is_lifted_on(mechanism: MechanismFile, notion: Lifted | ClassLifted, sets: SetReports, one: SetType) -> bool:
    """high ≤ e^ε·(low + (high − low)·p(S)) for every set that holds an input that can occur."""
    source = notion.source if isinstance(notion, ClassLifted) else Source("list", (notion.prior,))
    share = least_share(mechanism, source, sets, one.held)
    if share is None:
        return True
    mean = one.low * share.denominator + (one.high - one.low) * share.numerator
    return notion.top.allows(one.high * share.denominator, mean)


def is_lifted_both_ways_on(mechanism: MechanismFile, notion: Lifted, sets: SetReports, one: SetType) -> bool:
    """And low + (high − low)·p(S) ≤ e^λ·low for every set outside of which an input can occur."""
    if not is_lifted_on(mechanism, notion, sets, one):
        return False
    outside = [len(part) - n for part, n in zip(sets.parts, one.held, strict=True)]
    share = least_share(mechanism, Source("list", (notion.prior,)), sets, outside)
    if share is None or notion.bottom is None:
        return True
    mean = one.low * share.denominator + (one.high - one.low) * (share.denominator - share.numerator)
    return notion.bottom.allows(mean, one.low * share.denominator)


def is_metric_on(mechanism: MechanismFile, notion: Metrical, sets: SetReports, one: SetType) -> bool:
    """high ≤ e^{ε·d}·low for the closest inputs of different rows of which a set can hold the one and not the other."""
    counts = list(zip(sets.parts, one.held, strict=True))
    can_be_in = {x for part, n in counts for x in part if n > 0}
    can_be_out = {x for part, n in counts for x in part if n < len(part)}
    closest = closest_exponents(mechanism.row_of, notion).items()
    exponents = [exponent for (a, b), exponent in closest if a in can_be_in and b in can_be_out]
    return not exponents or PowerOfE(min(exponents)).allows(one.high, one.low)


ON_SETS: dict[str, Callable[[MechanismFile, Any, SetReports, SetType], bool]] = {
    "PML": is_lifted_on,
    "LIP": is_lifted_both_ways_on,
    "MetricPrivacy": is_metric_on,
}
