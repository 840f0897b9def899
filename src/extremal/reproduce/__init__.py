"""The figures and tables of the three papers, and what lies beyond them: `extremal reproduce`."""

from extremal.reproduce import beyond, gso, kov, kss, several
from extremal.reproduce.figure import Figure, Reproduced

FIGURES: dict[str, Figure] = {
    figure.name: figure for room in (kov, gso, kss, beyond, several) for figure in room.FIGURES
}
"""Every figure by its name, in the order of the papers."""

__all__ = ["FIGURES", "Figure", "Reproduced"]
