"""What is wanted: every utility, by name."""

from typing import Any

from extremal.errors import MalformedFile
from extremal.mechanism.labels import Labels
from extremal.sources import SourceClass
from extremal.utility.combinations import Average, PairwiseDivergence, WorstCase
from extremal.utility.distortion import Distortion, Hamming
from extremal.utility.divergence import Divergence
from extremal.utility.divergences import (
    KL,
    AlphaDivergence,
    ChiSquared,
    HockeyStick,
    JensenShannon,
    ReverseKL,
    SquaredHellinger,
    SymmetricKL,
    TotalVariation,
)
from extremal.utility.information import MutualInformation
from extremal.utility.level import LevelAtDistortion
from extremal.utility.sublinear import Sublinear
from extremal.utility.user_function import FDivergence
from extremal.utility.utility import SumOfColumns, Utility

DIVERGENCES: dict[str, type[Divergence]] = {
    divergence.name: divergence
    for divergence in (
        KL,
        ReverseKL,
        SymmetricKL,
        TotalVariation,
        ChiSquared,
        SquaredHellinger,
        JensenShannon,
        AlphaDivergence,
        HockeyStick,
    )
}
"""The divergences that files and the command line know, by name; the last two take one more parameter."""


def utility_from_json(content: dict[str, Any]) -> Utility:
    """The utility that `to_json` described; a user's function cannot be read back."""
    name = content.get("utility") if isinstance(content, dict) else None
    if name in DIVERGENCES:
        extra = {key: content[key] for key in ("alpha", "gamma") if key in content}
        return DIVERGENCES[name](content["p0"], content["p1"], **extra)
    if name == MutualInformation.name:
        return MutualInformation(content["prior"])
    if name in (Average.name, WorstCase.name):
        parts = [utility_from_json(part) for part in content["utilities"]]
        return Average(parts) if name == Average.name else WorstCase(parts)
    if name == Hamming.name:
        return Hamming(SourceClass.from_json(content["source"]))
    if name == LevelAtDistortion.name:
        return LevelAtDistortion(SourceClass.from_json(content["source"]), content["distortion"])
    if name == Distortion.name:
        outputs = content["outputs"]
        labels = None if outputs is None else Labels.from_json(outputs, "outputs", tuples=True)
        return Distortion(
            SourceClass.from_json(content["source"]), [[float(d) for d in row] for row in content["distances"]], labels
        )
    raise MalformedFile("utility must be one that a file can hold", parameter="utility", value=name)


__all__ = [
    "DIVERGENCES",
    "KL",
    "AlphaDivergence",
    "Average",
    "ChiSquared",
    "Distortion",
    "Divergence",
    "FDivergence",
    "Hamming",
    "HockeyStick",
    "JensenShannon",
    "LevelAtDistortion",
    "MutualInformation",
    "PairwiseDivergence",
    "ReverseKL",
    "SquaredHellinger",
    "Sublinear",
    "SumOfColumns",
    "SymmetricKL",
    "TotalVariation",
    "Utility",
    "WorstCase",
    "utility_from_json",
]
