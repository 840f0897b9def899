"""Ways to store exact weights, one file each; all that read them ask the structure."""

from typing import Any

from extremal.errors import MalformedFile
from extremal.exact.written import refuse_other_fields
from extremal.mechanism.structures.bits import IndependentBits
from extremal.mechanism.structures.bloom import BloomBits
from extremal.mechanism.structures.chosen_sets import ChosenSets, HadamardSets, HashedSets, ProjectiveSets
from extremal.mechanism.structures.circulant import Circulant
from extremal.mechanism.structures.colourings import Colourings
from extremal.mechanism.structures.grouped_sets import GroupedSets
from extremal.mechanism.structures.joint import JointBlocks
from extremal.mechanism.structures.response import RandomizedResponse
from extremal.mechanism.structures.rows import Rows
from extremal.mechanism.structures.structure import Levels, Structure
from extremal.mechanism.structures.subsets import SubsetSelection
from extremal.mechanism.structures.two_valued import TwoValuedColumns

_FIELDS: dict[type[Structure], tuple[str, ...]] = {
    Rows: ("rows",),
    TwoValuedColumns: ("rows", "weights", "columns"),
    RandomizedResponse: ("rows", "low", "high"),
    SubsetSelection: ("rows", "size", "inside"),
    Circulant: ("runs",),
    IndependentBits: ("rows", "own", "other"),
    HadamardSets: ("rows", "inside", "blocks", "width"),
    ProjectiveSets: ("rows", "inside", "order", "coordinates"),
    HashedSets: ("rows", "inside", "buckets"),
    BloomBits: ("rows", "bits", "hashes", "cohorts", "own", "other", "one", "zero"),
    GroupedSets: ("groups", "types", "low", "high"),
    Colourings: ("rows", "weights", "colours"),
    JointBlocks: ("questions", "assignments"),
}
"""Every structure, with what a file holds of it beside its kind."""
STRUCTURES: dict[str, type[Structure]] = {structure.kind: structure for structure in _FIELDS}


def structure_from_json(content: dict[str, Any]) -> Structure:
    """The structure that `to_json` described."""
    kind = content.get("kind") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in STRUCTURES:
        raise MalformedFile(
            "weights must be of a known kind", parameter="kind", value=kind, hint=f"Known: {', '.join(STRUCTURES)}."
        )
    refuse_other_fields(content, ("kind", *_FIELDS[STRUCTURES[kind]]), f"weights of the kind {kind}")
    return STRUCTURES[kind].from_json(content)


__all__ = [
    "STRUCTURES",
    "BloomBits",
    "ChosenSets",
    "Circulant",
    "Colourings",
    "GroupedSets",
    "HadamardSets",
    "HashedSets",
    "IndependentBits",
    "JointBlocks",
    "Levels",
    "ProjectiveSets",
    "RandomizedResponse",
    "Rows",
    "Structure",
    "SubsetSelection",
    "TwoValuedColumns",
    "structure_from_json",
]
