"""A tree over sets of inputs, which shows that a dual vector is feasible, for mutual information or for sums of
divergences.

A tree decides, group by group (equal symbols together, heaviest first), how many symbols of the group are in a set T. A
node of it is closed by one inequality that covers everything below it; the proof says which. The replay only evaluates
those inequalities, in integers over 2^-SCALE rounded to the safe side, so that the bound is Σα exactly. They are stated
and proved in docs/design/proofs.md, `sets`:

ε-LDP: with the tangent of φ (`concave.PatternWorth`) at a mass y,
    φ(y) − φ'(y)·y + φ'(y)·P(T) − c·α(T) + Σ_open (φ'(y)p_x − c·α_x)⁺ ≤ Σα.

ε-PML and ε-LIP, where one symbol j is taken by a part f: with a multiplier ν, s = α − νp and the masses that are left,
    ν·b + s(T) + Σ_open min(0, s_x) + (f·s_j + p_j·dip(f)/step at both ends of the range of f) ≥ K.

Sums of divergences, ε-LDP: input by input, v_i = 1 + c·P_i(T). Below a node the ratio v_i/v_j of each pair lies between
two numbers, which are found exactly, and between them a convex function lies below its chord; with λ the sum of all
chords' coefficients, rounded up, which only raises what they multiply,
    λ·v(T) − Σα − c·α(T) + c·Σ_open (λ·P(x) − α_x)⁺ ≤ 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from flint import arb, fmpq

from extremal.certificate.arithmetic.cones import Lifts, Staircase, Vector, cone_of
from extremal.certificate.arithmetic.enclosures import PairRule, finite_above, narrow, pair_rule, pair_value, rational
from extremal.certificate.limits import leaves_in, width_of
from extremal.certificate.proof import Refused
from extremal.certificate.proofs.chords import divergences_of
from extremal.certificate.proofs.concave import PatternWorth
from extremal.certificate.proofs.dual import RATIO_BITS, Price, Reason, SumWorth, Worth
from extremal.certificate.reading import Numbers, Trees
from extremal.exact import Prior
from extremal.problem import Goal, InformationGoal, PairGoal, Privacy

SCALE = 200  # bits after the point: what rounding loses is far below the last digit of a double
BRANCH, EMPTY = -1, -2  # tokens
MOST_SUMS = 1 << 12  # of the masses that open groups can make, listed
PER_LEAF = 3  # units for a leaf and an input at a node: two ends of a ratio, found by a few sums
TABLE = 1 << 10  # pieces of the table that screens dips

ROUGH_BITS = 10  # after the point of ratios that are tried first: few of them, so that most chords are known

State = tuple[int, int, int]  # groups decided, mass and price of what is in
Ratio = tuple[int, int]  # of two positive whole numbers
Node = tuple[int, tuple[int, ...], int]  # inputs decided; of those taken the weight in each distribution, and the price
Symbols = list[tuple[int, fmpq]]  # weight and α of each
Close = Callable[[int, State], None]  # raises when a node is not closed by a token


@dataclass(frozen=True)
class Sets(Reason):
    """Fields: choices, masses y at which tangents are taken (LDP), or multipliers ν (PML, LIP); for divergences the
    inputs in the order in which the tree decides them, which has the tokens −1 and 0. trees: each a list of
    tokens in depth-first order, the children of a node by increasing number of symbols taken: −1, the node branches on
    the next group; i ≥ 0, it is closed by choice i; −2, no vertex lies below it.
    """

    kind: ClassVar[str] = "sets"
    choices: Numbers
    trees: Trees

    def work(self, privacy: Privacy, goal: Goal) -> int:
        each = 1000 if isinstance(goal, InformationGoal) else PER_LEAF * width_of(goal) * leaves_in(goal)
        return each * sum(map(len, self.trees))

    def excess(self, worth: Worth, alpha: Vector, prices: list[Price]) -> fmpq:
        """0, when the trees show that α is feasible."""
        if not isinstance(worth, SumWorth):
            raise Refused("a tree over sets is about information or divergences", "worth", type(worth).__name__)
        if not isinstance(worth.goal, InformationGoal):
            return self._of_divergences(worth, alpha)
        prior, total = worth.goal.prior, alpha.total
        priced = [(w, fmpq(a, alpha.unit)) for w, a in zip(prior.weights, alpha.entries, strict=True)]
        if any(a < 0 for w, a in priced if not w):
            raise Refused("inputs of probability 0 need numbers ≥ 0", "alpha", len(priced))
        symbols, cone = [(w, a) for w, a in priced if w], cone_of(worth.privacy, worth.k)
        if isinstance(cone, Staircase):
            _PatternTree(symbols, prior.total, total, cone, self.choices).run(self.trees)
        elif isinstance(cone, Lifts) and cone.prior == prior:
            _LiftTrees(symbols, prior.total, total, cone, self.choices).run(self.trees)
        else:
            raise Refused(
                "a tree needs ε-LDP, or one prior that is also that of the information",
                "privacy",
                type(worth.privacy).__name__,
            )
        return fmpq(0)

    def _of_divergences(self, worth: SumWorth, alpha: Vector) -> fmpq:
        leaves, cone = divergences_of(worth.goal), cone_of(worth.privacy, worth.k)
        if not isinstance(cone, Staircase) or len(self.trees) != 1 or any(x.denominator > 1 for x in self.choices):
            raise Refused("a tree of divergences is one, of inputs, under ε-LDP", "len(trees)", len(self.trees))
        _SumTree(worth, leaves, alpha, cone).run([int(x) for x in self.choices], self.trees[0])
        return fmpq(0)


def _floor(x: fmpq) -> int:
    """x in units of 2^-SCALE, rounded down."""
    return int((x * (1 << SCALE)).floor())


def _bounds(x: arb) -> tuple[int, int]:
    if not x.is_finite():
        raise Refused("a number must be finite", "ball", str(x))
    return _floor(-finite_above(-x)), -_floor(-finite_above(x))


def _grouped(symbols: Symbols) -> dict[tuple[int, fmpq], int]:
    """(weight, α) ↦ how many symbols have them, heaviest first."""
    return Counter(sorted(symbols, key=lambda symbol: (-symbol[0], symbol[1])))


def _replay(tokens: tuple[int, ...], steps: list[list[tuple[int, int]]], close: Close) -> None:
    """Walk a tree; steps[d] holds (mass, price) of each choice in group d, close(token, state) raises if it fails."""
    stack: list[State] = [(0, 0, 0)]
    depths, met = len(steps), 1
    for token in tokens:
        if not stack:
            raise Refused("a tree must end where its nodes are all closed", "tree", len(tokens))
        state = stack.pop()
        if token != BRANCH:
            close(token, state)
            continue
        depth, mass, price = state
        if depth == depths:
            raise Refused("a tree cannot branch when everything is decided", "depth", depth)
        met += len(steps[depth])
        if met > len(tokens):  # every node has a token: no file makes the replay grow beyond itself
            raise Refused("a tree must close all of its nodes", "tree", len(tokens))
        stack.extend([(depth + 1, mass + m, price + a) for m, a in steps[depth]])
    if stack:
        raise Refused("a tree must close all of its nodes", "tree", len(stack))


class _PatternTree:
    """The replay for ε-LDP."""

    def __init__(self, symbols: Symbols, total: int, sum_alpha: fmpq, cone: Staircase, choices: Numbers) -> None:
        self.total, self.curve, self.choices = total, PatternWorth(cone.top), choices
        c = cone.top - 1
        # prices rounded down: harder to satisfy
        self.items = [(w, _floor(c * a), n) for (w, a), n in _grouped(symbols).items()]
        self.limit, self.line = _floor(sum_alpha), cache(self._line)

    def run(self, trees: Trees) -> None:
        if len(trees) != 1:
            raise Refused("there is one tree under ε-LDP", "len(trees)", len(trees))
        steps = [[(m * w, m * a) for m in range(n, -1, -1)] for w, a, n in self.items]
        _replay(trees[0], steps, self.close)

    def close(self, token: int, state: State) -> None:
        slope, start, gains = self.line(token)
        depth, mass, price = state
        if start + slope * mass // self.total + 1 - price + gains[depth] > self.limit:
            raise Refused("a node of the tree is not closed by its tangent", "choice", token)

    def _line(self, i: int) -> tuple[int, int, list[int]]:
        """(slope, start) of a line above φ on [0, 1], and for each depth the most that open groups gain on it."""
        if not 0 <= i < len(self.choices) or not 0 <= self.choices[i] <= 1:
            raise Refused("a tangent must be at a mass between 0 and 1 that the proof names", "choice", i)
        y = rational(self.choices[i])
        # the slope taken is the lower end; the tangent turns by less than most − slope
        slope, most = _bounds(self.curve.slope(y))
        exact = fmpq(slope, 1 << SCALE)
        _, start = _bounds(self.curve.value(y) - arb(exact * y))
        gains = [0]
        for w, a, n in reversed(self.items):
            gains.append(gains[-1] + n * max(0, slope * w // self.total + 1 - a))
        return slope, start + most - slope, gains[::-1]


class _LiftTrees:
    """The replay for ε-PML and ε-LIP. Masses are in units of 1/(total·denominator of b)."""

    def __init__(self, symbols: Symbols, total: int, sum_alpha: fmpq, cone: Lifts, choices: Numbers) -> None:
        self.low, self.step, self.choices = cone.low, cone.top - cone.low, choices
        if self.step <= 0:
            raise Refused("a tree needs ε > 0", "epsilon", 0)
        b = (1 - cone.low) / self.step
        unit, self.unit = int(b.q), int(b.q) * total
        self.full = int(b.p) * total  # b in those units
        self.items = [(w * unit, a, n) for (w, a), n in _grouped(symbols).items()]
        at_low, at_top = self.bend(self.low), self.bend(self.low + self.step)
        self.chord = at_low, at_top - at_low
        least = (at_low + arb(b) * (at_top - at_low) - arb(self.low * sum_alpha)) / arb(self.step)
        self.least = _bounds(least)[1]  # K rounded up
        self.table = cache(lambda i: self.dip(fmpq(i, TABLE)))
        self.multiplier = cache(self._multiplier)

    @staticmethod
    def bend(t: fmpq) -> arb:
        """g(t) = t·ln t − t + 1."""
        d = t - 1
        return narrow(lambda: arb(t) * arb(d).log1p() - arb(d)) if t else arb(1)

    def dip(self, f: fmpq) -> int:
        """dip(f)/step, rounded down; at least 0."""
        x = narrow(
            lambda: (self.chord[0] + arb(f) * self.chord[1] - self.bend(self.low + self.step * f)) / arb(self.step)
        )
        return max(0, _bounds(x)[0])

    def run(self, trees: Trees) -> None:
        if len(trees) != len(self.items):
            raise Refused("there must be a tree for each group of equal symbols", "len(trees)", len(trees))
        prices = [_floor(a) for _, a, _ in self.items]  # rounded down: a set costs at least this
        steps = [[(m * w, m * a) for m in range(n, -1, -1)] for (w, _, n), a in zip(self.items, prices, strict=True)]
        for j, tokens in enumerate(trees):
            counts = [n - (i == j) for i, (_, _, n) in enumerate(self.items)]
            _replay(tokens, [*steps[:j], steps[j][1:], *steps[j + 1 :]], self.closer(j, counts))

    def _multiplier(self, i: int) -> tuple[int, list[int], list[int]]:
        """ν, s = α − νp of each group rounded down, and for each depth the least that open groups add to it."""
        if not 0 <= i < len(self.choices):
            raise Refused("a multiplier must be one that the proof names", "choice", i)
        nu = _floor(rational(self.choices[i]))  # the multiplier taken is this one, exactly
        reduced = [_floor(a) - (-(-nu * w // self.unit)) for w, a, _ in self.items]  # s, rounded down
        open_sums = [0]
        for s, (_, _, n) in zip(reversed(reduced), reversed(self.items), strict=True):
            open_sums.append(open_sums[-1] + n * min(0, s))
        return nu, reduced, open_sums[::-1]

    def closer(self, j: int, counts: list[int]) -> Close:
        own, open_groups = self.items[j][0], _OpenGroups([w for w, _, _ in self.items], counts)
        full, unit, share = self.full, self.unit, (own << SCALE) // self.unit

        def close(token: int, state: State) -> None:
            depth, mass, price = state
            added = open_groups.between(depth, full - own - mass, full - mass)
            if added is None:
                return  # no vertex lies below
            if token == EMPTY:
                raise Refused("a vertex lies below a node that is said to be empty", "depth", depth)
            nu, reduced, opened = self.multiplier(token)
            fixed = price + (nu * (full - mass)) // unit + opened[depth] - (min(0, reduced[j]) if depth <= j else 0)
            for more in added:
                part = full - mass - more  # f = part/own
                cost = fixed + reduced[j] * part // own
                if cost + share * self.near_dip(part, own) // (1 << SCALE) >= self.least:
                    continue
                if cost + share * self.dip(fmpq(part, own)) // (1 << SCALE) < self.least:
                    raise Refused("a node of the tree is not closed by its multiplier", "choice", token)

        return close

    def near_dip(self, part: int, own: int) -> int:
        """At most dip(part/own)/step, from the table: it is concave, above its chords."""
        place, rest = divmod(part * TABLE, own)
        low = self.table(place)
        return low + ((self.table(place + 1) - low) * rest // own if rest else 0)


class _OpenGroups:
    """What the groups that are open from each depth on can add: their mass, their lightest symbol (0: nothing is
    open), and all sums that they can make, where those are not too many."""

    def __init__(self, weights: list[int], counts: list[int]) -> None:
        reach, lightest, sums = [0], [0], [[0]]
        for w, n in zip(reversed(weights), reversed(counts), strict=True):
            reach.append(reach[-1] + n * w)
            lightest.append(min(w, lightest[-1] or w) if n else lightest[-1])
            few = bool(sums[-1]) and len(sums[-1]) * (n + 1) <= MOST_SUMS
            sums.append(sorted({s + m * w for s in sums[-1] for m in range(n + 1)}) if few else [])
        self.reach, self.lightest, self.sums = reach[::-1], lightest[::-1], sums[::-1]

    def between(self, depth: int, low: int, high: int) -> tuple[int, int] | None:
        """Numbers around all masses from `low` to `high` that can be added; None when there is none."""
        listed = self.sums[depth]
        if listed:
            first, last = bisect_left(listed, low), bisect_right(listed, high) - 1
            return (listed[first], listed[last]) if first <= last else None
        least, most = 0, self.reach[depth]
        if low > 0:  # something must be added; the lightest at least
            least = max(low, self.lightest[depth])
        if most > high:  # something must be left out
            most = min(high, most - self.lightest[depth])
        return (least, most) if least <= most else None


class _SumTree:
    """The replay for sums of divergences."""

    def __init__(self, worth: SumWorth, leaves: Sequence[PairGoal], alpha: Vector, cone: Staircase) -> None:
        self.unit = 1 << RATIO_BITS
        self.c = int((cone.top * self.unit).ceil()) - self.unit  # over unit: a slightly larger cone
        self.priors: list[Prior] = []
        parts: dict[tuple[int, int], list[tuple[arb, PairRule, bool]]] = {}
        for leaf, weight in zip(leaves, worth.weights, strict=True):
            if weight:
                i, j = self._place(leaf.p0), self._place(leaf.p1)
                parts.setdefault((min(i, j), max(i, j)), []).append((arb(weight), pair_rule(leaf), i > j))
        self.pairs = list(parts.items())
        self.scaled = [self.unit * p.total for p in self.priors]  # what v_i is counted in
        entries = alpha.entries
        self.all_paid = sum((a << SCALE) // alpha.unit for a in entries)
        self.paid = [(self.c * a << SCALE) // (self.unit * alpha.unit) for a in entries]  # rounded down: harder
        self.height = cache(self._height)

    def _place(self, prior: Prior) -> int:
        if prior not in self.priors:
            self.priors.append(prior)
        return self.priors.index(prior)

    def run(self, order: Sequence[int], tokens: Sequence[int]) -> None:
        """Refuse unless the tree closes all of its nodes."""
        if sorted(order) != list(range(len(self.paid))):
            raise Refused("choices must name every input once", "choices", len(order))
        gains = [tuple(p.weights[x] for p in self.priors) for x in order]
        stack: list[Node] = [(0, (0,) * len(self.priors), 0)]
        for token in tokens:
            if not stack:
                raise Refused("a tree must end where its nodes are all closed", "tree", len(tokens))
            depth, inside, price = stack.pop()
            if token == 0:
                self._close(inside, price, order[depth:])
            elif token == BRANCH and depth < len(order):
                taken = tuple(a + b for a, b in zip(inside, gains[depth], strict=True))
                stack += [(depth + 1, inside, price), (depth + 1, taken, price + self.paid[order[depth]])]
            else:
                raise Refused("a node branches on the next input or is closed", "token", token)
        if stack:
            raise Refused("a tree must close all of its nodes", "tree", len(stack))

    def _close(self, inside: tuple[int, ...], price: int, free: Sequence[int]) -> None:
        at = [s + self.c * w for s, w in zip(self.scaled, inside, strict=True)]
        ends = [(self._end(at, i, j, free, 1), self._end(at, i, j, free, -1)) for (i, j), _ in self.pairs]
        wide = [(_coarse(*top, 1), _coarse(*low, -1)) for top, low in ends]
        if (
            self._excess(at, free, wide) - price > self.all_paid
            and self._excess(at, free, ends) - price > self.all_paid
        ):
            raise Refused("a node of the tree is not closed by its chords", "open", len(free))

    def _excess(self, at: list[int], free: Sequence[int], ends: Sequence[tuple[Ratio, Ratio]]) -> int:
        """The most that the chords make of a pattern below the node, less what its open inputs cost; rounded up."""
        slopes = [0] * len(self.priors)
        for name, ((i, j), _) in enumerate(self.pairs):
            top, low = (fmpq(*end) for end in ends[name])
            high = self.height(name, top)
            slope = (high - self.height(name, low)) / (top - low) if top > low else fmpq(0)
            slopes[i] += int((slope * (1 << SCALE)).ceil())
            slopes[j] += int(((high - slope * top) * (1 << SCALE)).ceil())
        lines = list(zip(slopes, self.scaled, self.priors, strict=True))
        found = sum(_up(s * v, unit) for v, (s, unit, _) in zip(at, lines, strict=True))
        for x in free:
            gain = sum(_up(s * self.c * p.weights[x], unit) for s, unit, p in lines)
            found += max(0, gain - self.paid[x])
        return found

    def _end(self, at: list[int], i: int, j: int, free: Sequence[int], sign: int) -> Ratio:
        """The largest v_i/v_j below a node, or the smallest: a ratio of linear functions, raised until it stays."""
        mine, theirs = self.priors[i], self.priors[j]
        a, b = at[i] * theirs.total, at[j] * mine.total
        steps = [(self.c * mine.weights[x] * theirs.total, self.c * theirs.weights[x] * mine.total) for x in free]
        top, bottom = a, b
        while True:
            taken = [(s, t) for s, t in steps if sign * (s * bottom - top * t) > 0]
            new = a + sum(s for s, _ in taken), b + sum(t for _, t in taken)
            if new[0] * bottom == top * new[1]:
                return top, bottom
            top, bottom = new

    def _height(self, name: int, ratio: fmpq) -> fmpq:
        """At or above the divergences of a pair at a ratio, for v_j = 1."""
        one, found = fmpq(1), arb(0)
        for weight, rule, turned in self.pairs[name][1]:
            found += weight * (pair_value(rule, one, ratio) if turned else pair_value(rule, ratio, one))
        return finite_above(found)


def _coarse(top: int, bottom: int, sign: int) -> Ratio:
    """A ratio beyond, with few bits; itself where those are none."""
    found = sign * _up(sign * top << ROUGH_BITS, bottom)
    return (found, 1 << ROUGH_BITS) if found else (top, bottom)


def _up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
