"""Probability vectors, as floats for computing and as integers for proving.

A prior is read as the decimals it prints as, must be non-negative and sum to 1 within 1e-9, and is divided by its exact
sum. `values` are the floats; `weights` and `total` the same vector as integers (weights/total is exact), made only when
asked for. More than `DECIMALS_UP_TO` floats are not read as decimals: they are the binary numbers `values`, divided by
their exact sum, which millions of symbols can be added up in.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.errors import ExtremalError, InvalidPrior, MalformedFile
from extremal.exact.numbers import as_fraction, decimal_text, in_order
from extremal.exact.weights import Floats, exact_float_sums
from extremal.exact.written import DECIMAL

SUM_TOLERANCE = 1e-9  # DESIGN: a prior must sum to 1 within this
LARGEST_ENTRY = 1e290  # of numbers that shall be probabilities: no sum of them overflows
DECIMALS_UP_TO = 4096  # floats
MOST_PLACES = 400  # of a decimal in a file
MOST_BITS = 1 << 17  # of a common denominator
MOST_DIGITS = 1 << 28  # of a prior in a file, brought to one denominator: 112 MiB


class Prior:
    """A probability vector over k ≥ 2 symbols. Zeros are allowed.

    Up to 4,096 floats are the decimals that they print as; more than 4,096 floats are the binary numbers that they are.
    Strings, fractions and integers are exact however many there are.

    >>> Prior(["1/2", 0.3, 0.2]).weights, Prior([0.5, 0.3, 0.2]).total
    ((5, 3, 2), 10)
    """

    __slots__ = ("__dict__", "_given", "values")

    def __init__(self, probabilities: Any, parameter: str = "prior") -> None:
        self._given: list[Any] | Floats
        self.values: Floats
        if isinstance(probabilities, Prior):
            self.values, self._given = probabilities.values, probabilities._given
            self.__dict__.update(probabilities.__dict__)
            return
        self._given = _sequence(probabilities, parameter)
        self.values = self._checked(parameter)
        self.values.setflags(write=False)
        if isinstance(self._given, np.ndarray):
            self._given = self.values if self.values.size > DECIMALS_UP_TO else self._given.copy()

    @classmethod
    def of_binary(cls, values: Any) -> Prior:
        """Floats taken for the binary numbers that they are, however few.

        >>> Prior.of_binary([0.1, 0.9]).fraction(0) == Fraction(0.1) / (Fraction(0.1) + Fraction(0.9))
        True
        """
        made = cls(np.array(values, dtype=np.float64))
        made._given = made.values
        return made

    def _checked(self, parameter: str) -> Floats:
        values = np.array([float(p) for p in self._given]) if isinstance(self._given, list) else self._given
        if values.size < 2:
            raise InvalidPrior(f"{parameter} must have at least 2 entries", parameter=parameter, value=self._given)
        if not (values.min() >= 0 and values.max() <= LARGEST_ENTRY):
            bad = np.flatnonzero(~((values >= 0) & (values <= LARGEST_ENTRY)))
            where = f"{parameter}[{bad[0]}]"
            raise InvalidPrior(
                f"{parameter} must hold finite, non-negative numbers", parameter=where, value=float(values[bad[0]])
            )
        total = math.fsum(values) if values.size <= DECIMALS_UP_TO else float(values.sum())
        if abs(total - 1) > SUM_TOLERANCE:
            raise InvalidPrior(
                f"{parameter} must sum to 1 within {SUM_TOLERANCE:g}, and sums to {total:.12g}",
                parameter=parameter,
                value=values.tolist() if len(values) <= 12 else f"{len(values)} entries",
                hint="Divide each entry by the sum.",
            )
        return np.asarray(values / total)

    @property
    def binary(self) -> Floats | None:
        """Floats that the probabilities are in exact proportion to: `values`, if more than `DECIMALS_UP_TO` were given
        as floats."""
        return self.values if self._given is self.values else None

    @cached_property
    def sum_of_values(self) -> Fraction:
        """The exact sum of `values`, which need not be 1."""
        sums, unit = exact_float_sums(self.values, np.zeros(len(self), dtype=np.int8), 1)
        return Fraction(sums[0], unit)

    def masses(self, cell: npt.NDArray[Any], count: int) -> tuple[list[int], int]:
        """Exact sums over cells: `cell` gives the cell of each symbol, 0..count−1; each sum is to be divided by the
        integer that is returned too.

        >>> Prior([0.5, 0.3, 0.2]).masses(np.array([0, 1, 0]), 2)
        ([7, 3], 10)
        """
        if self.binary is not None:
            sums, unit = exact_float_sums(self.binary, cell, count)
            self.__dict__["sum_of_values"] = Fraction(sum(sums), unit)
            return sums, sum(sums)
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(count + 1))
        ordered = np.array(self.weights, dtype=object)[order]
        return [int(ordered[a:b].sum()) for a, b in itertools.pairwise(starts.tolist())], self.total

    @cached_property
    def _integers(self) -> tuple[tuple[int, ...], int]:
        if isinstance(self._given, list):
            fractions = [as_fraction(p, "prior") for p in self._given]
            common = _common([f.denominator for f in fractions])
            weights = [f.numerator * (common // f.denominator) for f in fractions]
        elif self.binary is not None:
            weights = _shifted(self.binary)
        else:
            weights, _ = _scaled(list(map(repr, self._given.tolist())))
        shared = math.gcd(*weights)
        weights = [w // shared for w in weights] if shared > 1 else weights
        return tuple(weights), sum(weights)

    @property
    def weights(self) -> tuple[int, ...]:
        """Integers proportional to the probabilities, without a common divisor."""
        return self._integers[0]

    @property
    def total(self) -> int:
        """The sum of `weights`."""
        return self._integers[1]

    def fraction(self, x: int) -> Fraction:
        """The exact probability of symbol x."""
        if self.binary is not None:
            return Fraction(float(self.binary[x])) / self.sum_of_values
        return Fraction(self.weights[x], self.total)

    def to_json(self) -> list[str]:
        """Decimals that sum to 1 where all of them are decimals; else the integer weights, to be divided by their sum.

        >>> Prior([0.5, 0.3, 0.2]).to_json(), Prior(["1/3", "2/3"]).to_json()
        (['0.5', '0.3', '0.2'], ['1', '2'])
        """
        if 10**MOST_PLACES % self.total:
            return list(map(str, self.weights))
        return [decimal_text(Fraction(w, self.total)) for w in self.weights]

    @classmethod
    def from_json(cls, content: Any) -> Prior:
        """What `to_json` wrote, and nothing else: decimals that sum to exactly 1, or weights without a common divisor.

        Raises:
            MalformedFile: anything else.
        """
        texts = isinstance(content, list) and len(content) > 1 and set(map(type, content)) <= {str}
        if not texts or not all(map(DECIMAL.fullmatch, content)):
            raise _malformed("a prior must be a list of at least 2 decimals or weights as they are written", content)
        longest = max(map(len, content))
        if longest * len(content) > MOST_DIGITS:
            raise _malformed(
                "a prior may have at most 2^28 digits, all entries counted as long as the longest", content
            )
        weights, places = _scaled(content)
        total = sum(weights)
        decimals = total == 10**places and places <= MOST_PLACES
        if min(weights) < 0 or not (decimals or (not places and _are_weights(weights, total))):
            raise _malformed(
                "a prior must be decimals that sum to 1, or weights without a common divisor that are no such decimals",
                content,
            )
        return cls._of(weights, total)

    @classmethod
    def _of(cls, weights: list[int], total: int) -> Prior:
        made = cls.__new__(cls)
        made._given = []
        made.values = np.array([w / total for w in weights])
        made.values.setflags(write=False)
        shared = math.gcd(*weights)
        made.__dict__["_integers"] = tuple([w // shared for w in weights] if shared > 1 else weights), total // shared
        return made

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Prior) and self.weights == other.weights)

    def __hash__(self) -> int:
        return hash(self.weights)

    def __repr__(self) -> str:
        shown = ", ".join(f"{p:g}" for p in self.values[:8])
        return f"Prior([{shown}{', …' if len(self) > 8 else ''}])"


def _are_weights(weights: list[int], total: int) -> bool:
    """Whether a file holds them as they are: with nothing in common, and no decimals when divided by their sum."""
    return total > 0 and math.gcd(*weights) == 1 and 10**MOST_PLACES % total != 0


def _malformed(requirement: str, content: Any) -> MalformedFile:
    shown = str(content[:6] if isinstance(content, list) else content)[:60]
    return MalformedFile(requirement, parameter="prior", value=shown)


def _common(denominators: list[int]) -> int:
    """Their least common multiple, unless it is too large to work with: a file may hold anything."""
    common = 1
    for denominator in denominators:
        common = math.lcm(common, denominator)
        if common.bit_length() > MOST_BITS:
            raise InvalidPrior(
                f"the common denominator of a prior must have at most {MOST_BITS} bits",
                parameter="prior",
                value=f"{len(denominators)} entries",
                hint="Write decimals, or fractions with one denominator.",
            )
    return common


def _shifted(values: Floats) -> list[int]:
    """Integers in proportion to floats ≥ 0."""
    mantissas, exponents = np.frexp(values)
    digits, least = np.ldexp(mantissas, 53).astype(np.int64), int(exponents[values > 0].min())
    shifts = np.where(values > 0, exponents - least, 0)
    return [d << s for d, s in zip(digits.tolist(), shifts.tolist(), strict=True)]


def _scaled(texts: list[str]) -> tuple[list[int], int]:
    """Integers in proportion to decimals, and their number of places: digits and exponents are read off the texts."""
    digits, places = [], []
    for text in texts:
        mantissa, _, exponent = text.partition("e")
        whole, _, fraction = mantissa.partition(".")
        digits.append(int(whole + fraction))
        places.append(len(fraction) - int(exponent or 0))
    most = max(0, *places) if places else 0
    powers = [10**n for n in range(most - min(places, default=0) + 1)]
    return [d * powers[most - n] for d, n in zip(digits, places, strict=True)], most


def _sequence(probabilities: Any, parameter: str) -> list[Any] | Floats:
    """Floats stay an array; anything that carries more meaning (str, Fraction, Decimal) stays a list of those
    objects."""
    if isinstance(probabilities, (str, bytes, Mapping)) or not isinstance(probabilities, Iterable):
        raise InvalidPrior(f"{parameter} must be a sequence of probabilities", parameter=parameter, value=probabilities)
    items = probabilities if isinstance(probabilities, np.ndarray) else list(in_order(probabilities, parameter))
    if isinstance(items, list) and all(type(p) is float for p in items):
        items = np.array(items, dtype=np.float64)
    if isinstance(items, np.ndarray) and items.ndim != 1:
        raise InvalidPrior(f"{parameter} must be one-dimensional", parameter=f"{parameter}.shape", value=items.shape)
    if isinstance(items, np.ndarray) and items.dtype == np.float64:
        return items
    return [_checked(p, f"{parameter}[{x}]") for x, p in enumerate(items)]


def _checked(p: Any, parameter: str) -> Any:
    try:
        as_fraction(p, parameter)
    except ExtremalError as error:
        hint = 'Write 0.5 or "1/3"; labels belong in inputs=….' if isinstance(p, str) else ""
        raise InvalidPrior(error.requirement, parameter=parameter, value=p, hint=hint) from None
    return _as_number(p)


def _as_number(p: Any) -> Any:
    """Strings become rationals so that float() works on them; a float32 keeps the decimal it prints as."""
    return as_fraction(p, "prior") if isinstance(p, (str, np.floating)) else p


def as_prior(probabilities: Any, parameter: str = "prior", k: int | None = None, inputs: Any = None) -> Prior:
    """`probabilities` as a Prior, of length k when that is given, or one for each of the labels `inputs`: those of a
    pandas series by their labels. Floats are read as decimals, more than 4,096 of them as binary numbers.

    >>> few, many = as_prior([0.1] * 10), as_prior([1 / 5000] * 5000)
    >>> few.binary is None, many.binary is None, as_prior(["1/5000"] * 5000).binary is None
    (True, False, True)
    """
    prior = Prior(probabilities if inputs is None else in_order(probabilities, parameter, inputs), parameter)
    k = k if inputs is None else len(inputs)
    if k is not None and len(prior) != k:
        raise InvalidPrior(
            f"{parameter} must have {k} entries, one for each input", parameter=f"len({parameter})", value=len(prior)
        )
    return prior
