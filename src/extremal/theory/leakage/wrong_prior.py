"""What a PML or LIP mechanism leaks when the inputs do not follow the prior that its claim is about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from extremal.errors import InvalidParameter
from extremal.mechanism import Mechanism
from extremal.plotting import COLOURS, figure
from extremal.privacy import LIP, PML
from extremal.sources import SourceClass
from extremal.tables import aligned, as_frame, number

RADII = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class WrongPrior:
    """What a mechanism leaks when its prior is wrong; `str()` is a table, `plot()` a picture.

    Attributes:
        claimed: the level under the prior of the claim.
        radii, levels: largest leakage over all priors within each total-variation distance.
        others: name → leakage under that prior.
    """

    claimed: float
    radii: tuple[float, ...]
    levels: tuple[float, ...]
    others: dict[str, float]

    def to_frame(self) -> Any:
        """A data frame: which prior, its leakage."""
        names = [*(f"within {r:g} in total variation" for r in self.radii), *self.others]
        return as_frame({"prior": names, "leakage": [*self.levels, *self.others.values()]})

    def __str__(self) -> str:
        body = [
            [f"within {r:g} in total variation", number(level)]
            for r, level in zip(self.radii, self.levels, strict=True)
        ]
        body += [[name, number(level)] for name, level in self.others.items()]
        return aligned(["true prior", "leakage ε"], body, left=1)

    def plot(self) -> Any:
        """Leakage against the distance of the true prior from the assumed one; a matplotlib figure."""
        drawn, axis = figure()
        finite = [(r, level) for r, level in zip(self.radii, self.levels, strict=True) if math.isfinite(level)]
        axis.plot(*zip(*finite, strict=True), marker="o", color=COLOURS[0], label="worst prior at that distance")
        axis.axhline(
            self.claimed, color=COLOURS[5], linestyle="--", linewidth=1, label="claimed under the assumed prior"
        )
        for i, (name, level) in enumerate((n, v) for n, v in self.others.items() if math.isfinite(v)):
            axis.axhline(level, color=COLOURS[(i + 1) % len(COLOURS)], linewidth=1, label=f"under {name}")
        axis.set_xlabel("total-variation distance of the true prior from the assumed one")
        axis.set_ylabel("leakage ε (nats)")
        axis.set_ylim(bottom=0)
        axis.legend(frameon=False)
        return drawn


def wrong_prior(
    mechanism: Mechanism, others: Mapping[str, Any] | None = None, radii: Sequence[float] = RADII
) -> WrongPrior:
    """What a PML or LIP mechanism leaks if the inputs do not follow the prior that its claim is about.

    For each radius the largest pointwise maximal leakage over all priors within that total-variation distance, exactly;
    and the leakage under each of the priors in `others`.

    Args:
        mechanism: one whose claim is `ex.PML` or `ex.LIP` with one prior.
        others: name → prior.
        radii: total-variation distances between 0 and 1.

    Guarantee: the largest leakage is attained by some prior within that distance.

    Reference: the leakage is that of GSO Definition 1; docs/design/leakage.md says how the worst prior is found.

    >>> import extremal as ex
    >>> table = wrong_prior(ex.pml_binary([0.55, 0.45], 0.3), {"even": [0.5, 0.5]}, radii=[0, 0.05])
    >>> [round(level, 6) for level in table.levels], round(table.others["even"], 6)
    ([0.3, 0.339649], 0.339649)
    """
    claim = mechanism.privacy
    if not isinstance(claim, (PML, LIP)):
        raise InvalidParameter("the mechanism must claim PML or LIP", parameter="mechanism.privacy", value=claim)
    assumed = claim.prior
    notion = PML(1, assumed)
    levels = tuple(notion.level(mechanism, prior=SourceClass.ball(assumed, r) if r else assumed) for r in radii)
    named = {name: notion.level(mechanism, prior=prior) for name, prior in (others or {}).items()}
    return WrongPrior(notion.level(mechanism), tuple(float(r) for r in radii), levels, named)
