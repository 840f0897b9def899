"""The frozen result: exact weights, names, and the privacy that is claimed for them.

A mechanism is a row-stochastic k×m matrix Q of multiples of 2^-62: row x is the distribution of the report when the
true value is x. However it comes into being (a constructor, a file, a copy, a pickle, `dataclasses.replace`), its
weights cannot be written to and the claim it carries was decided in integer arithmetic. Floats that it hands out
(`matrix`, `marginal`) are for computing; every proof and every sample reads the integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from extremal.errors import InvalidParameter, PrivacyViolation
from extremal.exact import Column, as_prior
from extremal.exact.weights import DENOMINATOR, Floats, Indices, Weights, as_probabilities, frozen
from extremal.mechanism.labels import MOST_LABELS, Label, Labels, count_text
from extremal.mechanism.structures import Colourings, RandomizedResponse, Rows, Structure, TwoValuedColumns
from extremal.mechanism.structures.structure import refuse_large
from extremal.mechanism.structures.unlisted import Unlisted
from extremal.privacy import LDP, Notion

if TYPE_CHECKING:
    from extremal.mechanism.disclosure import Disclosure
    from extremal.mechanism.structures.circulant import Run


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism:
    """A local randomiser Q(y|x) with exact integer weights over 2^62.

    Make one with `from_matrix`, `from_weights`, `from_partition`, `from_windows`, a closed form or `ex.design`.

    Guarantee: each row of weights sums to `denominator`; `privacy`, when not None, holds exactly.

    Reference: L. Warner, Journal of the American Statistical Association 60 (1965), 63–69, is the first of them.

    >>> import extremal as ex
    >>> m = ex.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], privacy=ex.LDP.from_ratio(3), inputs=["no", "yes"])
    >>> m.k, m.m, int(m.weights[0, 0]) * 4 == 3 * m.denominator, m.privacy.level(m)
    (2, 2, True, 1.0986122886681098)
    """

    structure: Structure
    row_of: Indices | None
    input_labels: Labels
    output_labels: Labels
    privacy: Notion | None = None

    # -- making

    @staticmethod
    def from_matrix(matrix: Any, privacy: Notion | None = None, inputs: Any = None, outputs: Any = None) -> Mechanism:
        """Round a row-stochastic matrix to exact weights; check `privacy` if it is given.

        Entries may be floats, Fractions or decimal strings. Rounding moves an entry by a few units of 2^-62; where a
        claim is given and the rounded floats miss it by rounding, the columns at fault are mixed with a constant until
        the claim holds exactly. Outputs that no input reports are dropped.

        Args:
            matrix: k rows (inputs) of m probabilities (outputs), rows summing to 1 within 1e-6.
            privacy: the notion to claim, e.g. `ex.LDP(1)`.
            inputs: k labels; 0..k−1 if not given.
            outputs: m labels; 0..m−1 if not given.

        Raises:
            InvalidParameter: not a row-stochastic matrix.
            PrivacyViolation: not private as claimed, by more than rounding; `value` is the level it has.

        >>> Mechanism.from_matrix([[0.5, 0.5], [0.2, 0.8]]).denominator == 2**62
        True
        """
        from extremal.mechanism.constructors import from_matrix

        return from_matrix(matrix, privacy, inputs, outputs)

    @staticmethod
    def from_weights(
        weights: Any,
        denominator: int = DENOMINATOR,
        privacy: Notion | None = None,
        inputs: Any = None,
        outputs: Any = None,
    ) -> Mechanism:
        """Take integer weights as they are; rows must sum to `denominator`, a power of two of at most 2^62.

        Raises:
            InvalidParameter: a row sum is off, a weight is negative, an output is unused, the denominator is no power
                of two.
            PrivacyViolation: `privacy` does not hold on these weights.

        >>> Mechanism.from_weights([[3, 1], [1, 3]], 4).matrix.tolist()
        [[0.75, 0.25], [0.25, 0.75]]
        """
        from extremal.mechanism.constructors import from_weights

        return from_weights(weights, denominator, privacy, inputs, outputs)

    @staticmethod
    def from_partition(blocks: Any, privacy: LDP, inputs: Any = None, outputs: Any = None) -> Mechanism:
        """Report the block of the input through randomised response on the blocks, at the ε of `privacy`.

        Args:
            blocks: for each input the number of its block, 0..L−1, none empty. A million inputs are fine.
            privacy: an `ex.LDP`.
            inputs, outputs: k input labels, L block labels.

        >>> import extremal as ex
        >>> m = Mechanism.from_partition([0, 0, 1], ex.LDP(1))
        >>> m.k, m.m, bool((m.matrix[0] == m.matrix[1]).all())
        (3, 2, True)
        """
        from extremal.mechanism.constructors import from_partition

        return from_partition(blocks, privacy, inputs, outputs)

    @staticmethod
    def from_windows(k: int, length: int, privacy: LDP, inputs: Any = None, outputs: Any = None) -> Mechanism:
        """k outputs, each e^ε times likelier on `length` cyclically consecutive inputs: subset selection on windows.

        >>> import extremal as ex
        >>> Mechanism.from_windows(10_000, 2_500, ex.LDP(1)).m
        10000
        """
        from extremal.mechanism.constructors import from_windows

        return from_windows(k, length, privacy, inputs, outputs)

    @staticmethod
    def from_cover(k: int, sets: Iterable[Any], privacy: LDP, times: Any = None, inputs: Any = None) -> Mechanism:
        """Output y is e^ε times likelier on the inputs sets[y]; every input lies in equally many sets, those counted
        `times`.

        Windows, disjoint blocks and designs on them; exact, whatever their number.

        Args:
            k: number of inputs.
            sets: for each output the positions of its inputs (some, not all).
            privacy: an `ex.LDP`.
            times: how often each set counts, positive integers; 1 if not given.
            inputs: k labels.

        >>> import extremal as ex
        >>> Mechanism.from_cover(4, [[0, 1], [2, 3]], ex.LDP(1)) == Mechanism.from_partition([0, 0, 1, 1], ex.LDP(1))
        True
        """
        from extremal.mechanism.constructors import from_cover

        return from_cover(k, sets, privacy, times, inputs)

    @staticmethod
    def from_subsets(k: int, size: int, privacy: LDP, inputs: Any = None) -> Mechanism:
        """Report a random subset of `size` inputs, e^ε times likelier if it holds the true one; outputs are sorted
        label tuples.

        Listed as ordinary outputs up to 4,096 subsets, otherwise kept as one number.

        >>> import extremal as ex
        >>> Mechanism.from_subsets(4, 2, ex.LDP(1), inputs="a b c d".split()).outputs[:2]
        (('a', 'b'), ('a', 'c'))
        >>> Mechanism.from_subsets(100, 27, ex.LDP(1)).m > 10**24
        True
        """
        from extremal.mechanism.constructors import from_subsets

        return from_subsets(k, size, privacy, inputs)

    @staticmethod
    def from_circulant(
        runs: Sequence[Run], privacy: Notion | None = None, inputs: Any = None, outputs: Any = None
    ) -> Mechanism:
        """Output y has the column of output 0 shifted cyclically by y rows; exact integer weights.

        Args:
            runs: column 0 as (weight, how many rows), the weights adding up to 2^62 over all rows.
            privacy: the notion to claim.
            inputs, outputs: labels; 0..k−1 if not given.

        >>> quarter = 2**60
        >>> Mechanism.from_circulant([(2 * quarter, 1), (quarter, 2)]).matrix.tolist()
        [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
        """
        from extremal.mechanism.constructors import from_circulant

        return from_circulant(runs, privacy, inputs, outputs)

    @staticmethod
    def from_structure(
        structure: Structure, privacy: Notion | None = None, inputs: Any = None, outputs: Labels | None = None
    ) -> Mechanism:
        """Weights that a structure holds, whatever their number; the claim decided exactly.

        Args:
            structure: one of `extremal.mechanism.structures`.
            privacy: the notion to claim.
            inputs: labels; 0, 1, … if not given.
            outputs: labels; 0, 1, … if not given.
        """
        from extremal.mechanism.constructors import from_structure

        return from_structure(structure, privacy, inputs, outputs)

    @classmethod
    def _made(
        cls, structure: Structure, row_of: Indices | None, inputs: Labels, outputs: Labels, privacy: Notion | None
    ) -> Mechanism:
        """The structure in canonical form."""
        structure, row_of = canonical(structure, row_of)
        return cls(structure, row_of, inputs, outputs, privacy)

    def __post_init__(self) -> None:
        """Whatever way it was made: names that fit, nothing to be written to, the claim decided exactly."""
        if self.row_of is not None:
            object.__setattr__(self, "row_of", frozen(self.row_of))
        rows = self.structure.r if self.row_of is None else self.row_of.size
        if len(self.input_labels) != rows or rows > MOST_LABELS or self.output_labels.count != self.structure.m:
            raise InvalidParameter(
                f"every row and every column must have a name, and there may be {MOST_LABELS:,} rows",
                parameter="rows and names of inputs",
                value=[rows, len(self.input_labels)],
            )
        if self.row_of is not None and np.unique(self.row_of).size != self.structure.r:
            raise InvalidParameter(
                "every row must be that of some input: a row that nobody has would count for what is claimed",
                parameter="row_of",
                value=f"{np.unique(self.row_of).size} of {self.structure.r} rows",
                hint="Make the mechanism for the inputs that there are.",
            )
        if self.privacy is not None and not self.privacy.holds(self):
            raise PrivacyViolation(
                f"the mechanism must satisfy the claimed {self.privacy!r}",
                parameter="level",
                value=self.privacy.level(self),
                hint="Claim that level.",
            )

    def __reduce__(self) -> Any:
        return Mechanism, (self.structure, self.row_of, self.input_labels, self.output_labels, self.privacy)

    def claiming(self, privacy: Notion | None) -> Mechanism:
        """The same mechanism with another claim, decided exactly; None: without a claim.

        Raises:
            PrivacyViolation: `privacy` does not hold; `value` is the level it has.

        >>> import extremal as ex
        >>> ex.randomized_response(3, 1).claiming(ex.PML(1, [0.5, 0.3, 0.2])).privacy
        PML(epsilon=1.0, prior=[0.5, 0.3, 0.2])
        """
        return self._made(self.structure, self.row_of, self.input_labels, self.output_labels, privacy)

    # -- reading

    @property
    def k(self) -> int:
        """Number of inputs."""
        return len(self.input_labels)

    @property
    def m(self) -> int:
        """Number of outputs."""
        return self.structure.m

    @property
    def inputs(self) -> tuple[Label, ...]:
        """Labels of the inputs (rows)."""
        return self.input_labels.values

    @property
    def outputs(self) -> tuple[Label, ...]:
        """Labels of the outputs (columns)."""
        return self.output_labels.values

    @property
    def denominator(self) -> int:
        """What every row of `weights` sums to: 2^62, or a multiple of it when the outputs are all subsets."""
        return self.structure.denominator

    @property
    def row_classes(self) -> int:
        """Number of different rows."""
        return self.structure.r

    @property
    def weights(self) -> Weights:
        """The exact integer weights, k×m; raises TooLarge above 2^24 entries."""
        refuse_large(self.k, self.m, "weights")
        rows = self.structure.rows() if self.row_of is None else self.structure.rows()[self.row_of]
        rows.setflags(write=False)
        return rows

    @property
    def matrix(self) -> Floats:
        """Q as float64, k×m; raises TooLarge above 2^24 entries."""
        refuse_large(self.k, self.m, "matrix")
        return as_probabilities(self.weights)

    def columns(self) -> Iterator[Column]:
        """Each output's exact weights as groups of (weight, row classes)."""
        return self.structure.columns()

    def kinds_of_columns(self) -> Iterator[Column]:
        """Columns of every kind that there is: of those that differ only by a permutation of the rows, at least one."""
        return self.structure.kinds_of_columns()

    def two_valued(self) -> tuple[list[Indices], list[int], list[int]] | None:
        """For each output the row classes with the larger of its two weights, and both weights; None where that is not
        stored."""
        return self.structure.two_valued() if isinstance(self.structure, (Colourings, TwoValuedColumns)) else None

    def patterns(self) -> Iterator[Column]:
        """Columns, each up to a factor, as checks of one report read them: all while they are few, else what bounds
        them."""
        return self.structure.patterns() if isinstance(self.structure, Unlisted) else self.structure.columns()

    def distinct_rows(self) -> Weights:
        """Each different row of weights once; raises TooLarge above 2^24 entries."""
        return self.structure.rows()

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the content: labels, weights, claim. The same after saving and loading."""
        from extremal.mechanism.files import content_hash

        return content_hash(self)

    # -- using

    def marginal(self, prior: Any) -> Floats:
        """Probabilities of the outputs, P(y) = Σ_x p(x) Q(y|x), when inputs follow `prior` (KOV eq 2).

        >>> Mechanism.from_weights([[3, 1], [1, 3]], 4).marginal([0.5, 0.5]).tolist()
        [0.5, 0.5]
        """
        values = as_prior(prior, inputs=self.input_labels).values
        if self.row_of is not None:
            values = np.asarray(np.bincount(self.row_of, weights=values, minlength=self.row_classes), dtype=np.float64)
        return self.structure.marginal(values)

    def posterior(self, prior: Any) -> Floats:
        """P(x|y) as a k×m array; the column of an output that cannot occur under `prior` is zero.

        >>> Mechanism.from_weights([[3, 1], [1, 3]], 4).posterior([0.5, 0.5]).tolist()
        [[0.75, 0.25], [0.25, 0.75]]
        """
        values = as_prior(prior, inputs=self.input_labels).values
        joint = values[:, None] * self.matrix
        total = joint.sum(axis=0)
        return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))

    def then(self, post_processing: Any, outputs: Any = None) -> Mechanism:
        """This mechanism followed by a transformation of its reports; the claim is kept (data processing).

        Args:
            post_processing: a mapping from every output label to a new label (merging, exact); another Mechanism whose
                inputs are these outputs; or a row-stochastic m×m' matrix. The last two are rounded to 2^-62 again, the
                claim re-decided.
            outputs: labels of the new outputs when a matrix is given.

        >>> Mechanism.from_weights([[2, 1, 1], [1, 2, 1]], 4).then({0: "low", 1: "high", 2: "high"}).outputs
        ('low', 'high')
        """
        from extremal.mechanism.constructors import followed_by

        return followed_by(self, post_processing, outputs)

    def spread(self, row_of: Any, inputs: Any = None) -> Mechanism:
        """The same reports for more (or reordered) inputs: new input x reports as input row_of[x] does here; the claim
        is decided again.

        Args:
            row_of: for each new input the position of an input of this mechanism.
            inputs: labels; 0, 1, … if not given.

        >>> Mechanism.from_weights([[3, 1], [1, 3]], 4).spread([0, 1, 1], inputs=["a", "b", "c"]).matrix.tolist()
        [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]
        """
        from extremal.mechanism.constructors import spread

        return spread(self, row_of, inputs)

    def privatize(self, values: Any, **options: Any) -> Any:
        """Randomise a value, or each value of a list, array or series, with the operating system's randomness.

        The reports come in the same container as the values. There are no options: a seed is refused by name, and
        `extremal.simulate` has the seeded twin for experiments.

        Raises:
            UnknownLabel: a value is missing or is no input label; nothing is released then.
        """
        from extremal.release import privatize_values

        return privatize_values(self, values, **options)

    def explain(self, prior: Any = None) -> Disclosure:
        """What a report lets someone believe, in plain sentences with bounds rounded outwards.

        Args:
            prior: what someone believes about the answers before; None for a few beliefs about any answer.

        >>> import extremal as ex
        >>> explained = ex.randomized_response(2, 1, inputs=["no", "yes"]).explain([0.9, 0.1])
        >>> explained.table().splitlines()[2].split()
        ['yes', '10%', '3.9%', '23.2%']
        """
        from extremal.mechanism.disclosure import disclosure

        return disclosure(self, prior)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a versioned JSON file with a content hash, atomically; read it back with `ex.load`.

        Raises:
            FileConflict: the file exists and holds something else (pass overwrite=True to replace it).
        """
        from extremal.mechanism.files import to_json
        from extremal.mechanism.writing import write_once

        return write_once(Path(path), to_json(self), overwrite)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        claim = f", privacy={self.privacy!r}" if self.privacy is not None else ""
        return f"Mechanism(k={self.k}, m={count_text(self.m)}, {self.structure.kind}{claim})"

    def __str__(self) -> str:
        from extremal.mechanism.display import text_table

        return text_table(self)

    def _repr_html_(self) -> str:
        from extremal.mechanism.display import html_table

        return html_table(self)

    def plot(self, prior: Any = None) -> Any:
        """A heat map: true values downwards, reports across; a matplotlib figure.

        Args:
            prior: shown beside the labels, if given.

        Raises:
            TooLarge: there are more than 128 inputs or reports.

        >>> import extremal as ex
        >>> drawn = ex.randomized_response(2, 1, inputs=["no", "yes"]).plot()
        >>> [label.get_text() for label in drawn.axes[0].get_yticklabels()]
        ['no', 'yes']
        """
        from extremal.mechanism.display import heat_map

        return heat_map(self, prior)


def distinct(array: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Indices | None]:
    """The different rows in order of first appearance, and which one each input has (None: all differ)."""
    first: dict[Any, int] = {}
    exact = array.dtype == object
    row_of = [first.setdefault(tuple(row) if exact else row.tobytes(), len(first)) for row in array]
    if len(first) == len(row_of):
        return array, None
    where = np.array(row_of, dtype=np.intp)
    return array[np.unique(where, return_index=True)[1]], where


def canonical(structure: Structure, row_of: Indices | None) -> tuple[Structure, Indices | None]:
    """The form that is stored: rows merged, then randomised response, two-valued columns or rows, whichever says it
    shortest."""
    plain = structure.plain_rows()
    if plain is None:
        return structure, row_of
    rows, merged = distinct(plain)
    if merged is not None:
        row_of = merged if row_of is None else merged[row_of]
    if row_of is not None and row_of.size == rows.shape[0]:
        rows, row_of = rows[row_of], None  # every input has a row of its own: put them in the order of the inputs
    return RandomizedResponse.recognised(rows) or TwoValuedColumns.recognised(rows) or Rows(rows), row_of
