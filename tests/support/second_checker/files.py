"""A certificate's whole file (§2, §4): grammar, hashes, row sums, privacy of the weights, value, optimality."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .numbers import (
    INFINITE,
    ZERO,
    Bound,
    Interval,
    Malformed,
    Refused,
    Undecided,
    count,
    dot,
    ends,
    exp,
    expect,
    list_of,
    ln,
    rational,
    solution,
)
from .problem import (
    OF_USERS,
    Gain,
    Goal,
    Information,
    Level,
    Losses,
    NotKnown,
    Source,
    Statistics,
    read_goal,
    read_notion,
    read_prior,
    read_source,
)
from .proofs import bound, read
from .squares import RHO
from .worths import worth

LARGEST_FILE, DEEPEST_FILE = 64 * 2**20, 32
MOST_ENTRIES = 2**20  # of a mechanism that is written out here
MOST_SOLVED = 40  # inputs of a workload whose cost is found by elimination
PROVED, REFUTED, NOT_PROVEN, NOTHING_CLAIMED = "proved", "refuted", "not proven", "nothing claimed"


@dataclass(frozen=True)
class Verdict:
    """What a file claims, and what became of it."""

    privacy: str
    value: str
    optimality: str

    @property
    def code(self) -> int:
        """0 accepted, 1 something refuted, 3 nothing refuted but something not proven."""
        said = (self.privacy, self.value, self.optimality)
        return 1 if REFUTED in said else 0 if set(said) == {PROVED} else 3


# -- the file --


def parsed(text: bytes) -> Any:
    """JSON without floats, duplicate keys, and integers from 2^53 on."""
    expect(len(text) <= LARGEST_FILE, "at most 64 MiB")

    def no(what: str) -> Callable[[Any], Any]:
        def refuse(_given: Any) -> Any:
            raise Malformed(what)

        return refuse

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        expect(len({name for name, _ in pairs}) == len(pairs), "no key twice")
        return dict(pairs)

    def integer(digits: str) -> int:
        expect(len(digits) <= 17 and abs(int(digits)) < 2**53, "integers below 2^53")
        return int(digits)

    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=once,
            parse_int=integer,
            parse_float=no("no floats"),
            parse_constant=no("no NaN"),
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Malformed(f"JSON in UTF-8: {error}") from None


def hashed(content: dict[str, Any]) -> str:
    """SHA-256 of all fields but `hash`."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def with_format(content: Any, name: str) -> dict[str, Any]:
    """An object of the format, whose version and hash are right."""
    expect(isinstance(content, dict) and content.get("format") == name, f"a file of format {name!r}")
    version = str(content.get("version"))
    expect(version.split(".")[0] == "1", "version 1")
    expect(content.get("hash") == hashed(content), "a hash of the content")
    return dict(content)


# -- the mechanism --


@dataclass(frozen=True)
class Channel:
    """Rows of integer weights over a denominator."""

    rows: Sequence[Sequence[int]]
    denominator: int
    labels: tuple[Any, ...]
    inputs: tuple[Any, ...]

    def columns(self) -> list[tuple[int, ...]]:
        return list(zip(*self.rows, strict=True))


def weight(given: Any) -> int:
    expect(isinstance(given, str) and given.isdigit() and len(given) <= 20_000, "a weight is a string of digits")
    return int(given)


def _written(content: Any) -> list[list[int]]:
    return [list_of(weight)(row) for row in list_of(lambda row: row)(content.get("rows"))]


def _response(content: Any) -> list[list[int]]:
    n, low, high = count(content.get("rows")), weight(content.get("low")), weight(content.get("high"))
    if n * n > MOST_ENTRIES:
        raise Undecided("a mechanism of that size")
    return [[high if x == y else low for y in range(n)] for x in range(n)]


def _circulant(content: Any) -> list[list[int]]:
    runs = [(weight(w), count(n)) for w, n in list_of(lambda run: run)(content.get("runs"))]
    if sum(n for _, n in runs) ** 2 > MOST_ENTRIES:
        raise Undecided("a mechanism of that size")
    column = [w for w, n in runs for _ in range(n)]
    k = len(column)
    return [[column[(x - y) % k] for y in range(k)] for x in range(k)]


KINDS_OF_WEIGHTS: dict[str, Callable[[Any], list[list[int]]]] = {
    "rows": _written,
    "randomized_response": _response,
    "circulant": _circulant,
}


def labels_of(given: Any) -> tuple[Any, ...]:
    """The labels, in a form that can be compared: 1 and true are not the same."""
    if isinstance(given, dict) and set(given) == {"range"} and isinstance(given["range"], int):
        expect(0 < given["range"] <= 2**24, "labels of reasonable number")
        return tuple(map(repr, range(given["range"])))
    if not isinstance(given, list):
        raise Undecided("labels in short form")
    return tuple(map(repr, given))


def _repeated(rows: list[list[int]], given: Any) -> list[list[int]]:
    """[row, how many inputs in a row]."""
    pairs = [(count(row), count(n)) for row, n in list_of(lambda pair: pair)(given)]
    expect(all(0 <= row < len(rows) and 0 < n <= MOST_ENTRIES for row, n in pairs), "rows of inputs")
    return [rows[row] for row, n in pairs for _ in range(n)]


def channel(given: Any) -> Channel:
    """Read a mechanism file's weights; every row adds up to the denominator."""
    content = with_format(given, "extremal-mechanism")
    expect(isinstance(content.get("weights"), dict), "weights are an object")
    weights: dict[str, Any] = content["weights"]
    kind = weights.get("kind")
    if kind not in KINDS_OF_WEIGHTS:
        raise Undecided(f"weights of kind {kind!r}")
    rows, denominator = KINDS_OF_WEIGHTS[kind](weights), weight(content.get("denominator"))
    inputs, outputs = labels_of(content.get("inputs")), labels_of(content.get("outputs"))
    rows = _repeated(rows, content["rows_of_inputs"]) if "rows_of_inputs" in content else rows
    expect(len(rows) == len(inputs) and all(len(row) == len(outputs) for row in rows), "a weight for each report")
    expect(denominator > 0 and all(sum(row) == denominator for row in rows), "rows that add up to the denominator")
    return Channel(rows, denominator, outputs, inputs)


# -- privacy --


def at_most(left: Fraction, right: Interval) -> bool:
    """left ≤ right, decided; e^ε is irrational for rational ε ≠ 0, so that a fine enough enclosure always decides."""
    if left <= right.low:
        return True
    if left > right.high:
        return False
    raise Undecided("a comparison that needs more digits")


def level_of(given: Any) -> Interval:
    """e^ε."""
    expect(("ratio" in given) != ("epsilon" in given), "a level has ε or e^ε")
    return ends(rational(given["ratio"])) if "ratio" in given else exp(rational(given["epsilon"]))


def is_private(claim: Any, mechanism: Channel) -> bool:
    """Whether the weights satisfy the notion."""
    kind, columns = claim.get("notion"), [list(map(Fraction, column)) for column in mechanism.columns()]
    if kind == "LDP":
        return _is_local(columns, level_of(claim), rational(claim.get("delta")), mechanism.denominator)
    if kind == "MetricPrivacy":
        return _is_metric(columns, claim)
    top = level_of(claim)
    if kind == "PML":
        source = read_source(claim.get("source"))
        expect(source.k == len(columns[0]), "a notion about the inputs of the mechanism")
        return all(_leaks_little(column, source, top) for column in columns)
    expect(kind == "LIP", f"a notion, not {kind!r}")
    prior = read_prior(claim.get("prior"))
    expect(len(prior) == len(columns[0]), "a notion about the inputs of the mechanism")
    below = top if claim.get("lower") is None else level_of(claim["lower"])
    one = Source("list", (tuple(prior),))
    return all(
        _leaks_little(column, one, top)
        and at_most(dot(prior, column), min(v for v, p in zip(column, prior, strict=True) if p) * below)
        for column in columns
    )


def _is_local(columns: Sequence[Sequence[Fraction]], top: Interval, delta: Fraction, denominator: int) -> bool:
    """max ≤ e^ε·min in every column; with δ, Σ_y (q_y(x) − e^ε·q_y(z))⁺ ≤ δ for all x, z."""
    if delta == 0:
        return all(at_most(max(column), min(column) * top) for column in columns)
    k = len(columns[0])
    over = [
        Interval(*(sum((max(ZERO, c[x] - e * c[z]) for c in columns), ZERO) for e in (top.high, top.low)))
        for x in range(k)
        for z in range(k)
        if x != z
    ]
    return all(at_most(-delta * denominator, -excess) for excess in over)


def _is_metric(columns: Sequence[Sequence[Fraction]], claim: Any) -> bool:
    epsilon, rows = rational(claim.get("epsilon")), claim.get("distances")
    expect(len(rows) == len(columns[0]), "a notion about the inputs of the mechanism")
    for x, row in enumerate(rows):
        for z, distance in enumerate(row):
            if distance == "inf" or x == z:
                continue
            top = exp(epsilon * rational(distance))
            if not all(at_most(column[x], column[z] * top) for column in columns):
                return False
    return True


def _leaks_little(column: Sequence[Fraction], source: Source, top: Interval) -> bool:
    """q_x ≤ e^ε·p·q for every prior p of the class and every x that can occur."""
    least = -source.largest([-v for v in column])
    return all(at_most(v, least * top) for x, v in enumerate(column) if source.can_occur(x))


# -- the value --


def enclosed(goal: Goal, mechanism: Channel) -> Interval | float:
    """U(Q), between two rationals, or +∞."""
    if isinstance(goal, Gain):
        parts = [_mean_worth(part, mechanism) for part in goal.parts]
        finite = [part for part in parts if isinstance(part, Interval)]
        return Interval(min(p.low for p in finite), min(p.high for p in finite)) if finite else INFINITE
    if isinstance(goal, Losses):
        return ends(_distortion_of(goal, mechanism))
    if isinstance(goal, Level):
        return _level_within(goal, mechanism)
    return _cost(goal, mechanism)


def _mean_worth(part: Sequence[Any], mechanism: Channel) -> Interval | float:
    found = ends(ZERO)
    for share, leaf in part:
        expect(len(leaf.prior if isinstance(leaf, Information) else leaf.p0) == len(mechanism.rows), "the same inputs")
        for column in mechanism.columns():
            one = worth(leaf, [Fraction(v, mechanism.denominator) for v in column])
            if isinstance(one, float):
                return INFINITE
            found += share * one
    return found


def _distortion_of(goal: Losses, mechanism: Channel) -> Fraction:
    """The largest over the class of Σ_x p(x) Σ_y Q(y|x)·d(x, y)."""
    expect(goal.k == len(mechanism.rows), "a goal about the inputs of the mechanism")
    names: Sequence[Any] = goal.outputs or (mechanism.inputs if goal.columns == goal.k else mechanism.labels)
    place = {name: y for y, name in enumerate(names)}
    if any(label not in place for label in mechanism.labels):
        raise NotKnown("an output without losses")
    columns = [goal.column(place[label]) for label in mechanism.labels]
    losses = [
        sum((Fraction(w, mechanism.denominator) * d[x] for w, d in zip(row, columns, strict=True)), ZERO)
        for x, row in enumerate(mechanism.rows)
    ]
    return goal.source.largest(losses)


def _level_within(goal: Level, mechanism: Channel) -> Interval | float:
    """ln of the largest ratio in a column; +∞ when the Hamming distortion exceeds D, or a column has a 0."""
    columns = [column for column in mechanism.columns() if any(column)]
    if _distortion_of(Losses(goal.source, None), mechanism) > goal.distortion or any(0 in c for c in columns):
        return INFINITE
    return ln(max(Fraction(max(column), min(column)) for column in columns))


def _cost(goal: Statistics, mechanism: Channel) -> Interval:
    """F = tr(AP·(J + ρI)⁻¹·(AP)ᵀ), J = Σ_y q_y q_yᵀ/m_y."""
    p, k = goal.source.only, goal.k
    if p is None or k > MOST_SOLVED or not all(p):
        raise Undecided("the cost of statistics over a class, of many inputs, or with inputs of probability 0")
    expect(k == len(mechanism.rows), "a goal about the inputs of the mechanism")
    j = _information_matrix(p, mechanism)
    w = [[Fraction(v, goal.unit) for v in row] for row in goal.gram]
    average = [dot(row, p) for row in w]
    whole = dot(average, p)
    centred = [[w[x][z] - average[z] - average[x] + whole for z in range(k)] for x in range(k)]  # PᵀWP
    return ends(sum((solution(j, row)[x] for x, row in enumerate(centred)), ZERO))


def _information_matrix(p: Sequence[Fraction], mechanism: Channel) -> list[list[Fraction]]:
    """J + ρI."""
    columns = [[Fraction(v, mechanism.denominator) for v in column] for column in mechanism.columns() if any(column)]
    scaled = [(dot(p, q), q) for q in columns]

    def entry(x: int, z: int) -> Fraction:
        return sum((q[x] * q[z] / m for m, q in scaled), RHO if x == z else ZERO)

    return [[entry(x, z) for z in range(len(p))] for x in range(len(p))]


# -- the verdict --


def number_shown(given: Any) -> Bound:
    """A double as it prints, or an infinity."""
    expect(isinstance(given, str), "a value is a string")
    if given in ("inf", "-inf"):
        return INFINITE if given == "inf" else -INFINITE
    found = float(given)
    expect(math.isfinite(found) and repr(found) == given, "a double as it prints")
    return Fraction(found)


FIELDS = {"format", "version", "mechanism", "utility", "value", "bound", "worst_prior", "proofs", "hash"}


def checked(text: bytes) -> Verdict:
    """Decide every claim of a certificate's file."""
    content = with_format(parsed(text), "extremal-certificate")
    expect(set(content) >= FIELDS, "the fields of a certificate")
    value, best = number_shown(content["value"]), number_shown(content["bound"])
    proofs = [read(proof) for proof in list_of(lambda proof: proof)(content["proofs"])]
    mechanism, claim = channel(content["mechanism"]), content["mechanism"].get("privacy")
    privacy = NOTHING_CLAIMED if claim is None else PROVED if is_private(claim, mechanism) else REFUTED
    if content["utility"] is None or content["utility"].get("utility") in OF_USERS:
        return Verdict(privacy, NOT_PROVEN, NOT_PROVEN)  # a user's function
    try:
        goal = read_goal(content["utility"])
        reached = enclosed(goal, mechanism)
    except NotKnown:
        return Verdict(privacy, NOT_PROVEN, NOT_PROVEN)
    return Verdict(
        privacy,
        PROVED if _is_next_to(value, reached) else REFUTED,
        _optimality(proofs, claim, goal, reached, (value, best)),
    )


def _is_next_to(value: Bound, reached: Interval | float) -> bool:
    """predecessor(value) < U(Q) < successor(value), or both are +∞."""
    if isinstance(reached, float) or isinstance(value, float):
        return value == reached
    below, after = (Fraction(math.nextafter(float(value), way)) for way in (-INFINITE, INFINITE))
    return below < reached.low and reached.high < after


def _safe_end(reached: Interval | float, is_cost: bool) -> Bound:
    """What the mechanism is worth at least; a cost with its sign turned."""
    if isinstance(reached, float):
        return -reached if is_cost else reached
    return -reached.high if is_cost else reached.low


def _optimality(
    proofs: Sequence[Any], claim: Any, goal: Goal, reached: Interval | float, said: tuple[Bound, Bound]
) -> str:
    """Steps 3 to 7 of the order of checks; a cost is a utility with its sign turned."""
    is_cost = not isinstance(goal, Gain)
    sign = -1 if is_cost else 1
    value, best, reach = sign * said[0], sign * said[1], _safe_end(reached, is_cost)
    if value > best or reach > best:
        return REFUTED
    if best == INFINITE or (is_cost and best >= 0):
        return PROVED
    if claim is None or not proofs:
        return NOT_PROVEN
    try:
        least = min(sign * bound(proof, read_notion(claim), goal) for proof in proofs)
    except Refused:
        return REFUTED
    return PROVED if reach <= least <= best else REFUTED
