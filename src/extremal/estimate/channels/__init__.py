"""Which channel serves which structure: the one place to register another."""

from __future__ import annotations

from collections.abc import Callable

from extremal.estimate.channels.bloom import BloomChannel
from extremal.estimate.channels.channel import Channel
from extremal.estimate.channels.colourings import colourings_channel
from extremal.estimate.channels.dense import DenseChannel
from extremal.estimate.channels.grouped_sets import GroupedSetsChannel
from extremal.estimate.channels.indicators import BitsChannel, HashChannel
from extremal.estimate.channels.response import ResponseChannel
from extremal.estimate.channels.subsets import SubsetChannel
from extremal.estimate.channels.transforms import HadamardChannel, ProjectiveChannel
from extremal.mechanism import Mechanism
from extremal.mechanism.structures import (
    BloomBits,
    Colourings,
    GroupedSets,
    HadamardSets,
    HashedSets,
    IndependentBits,
    ProjectiveSets,
    RandomizedResponse,
    SubsetSelection,
)

CHANNELS: dict[str, Callable[[Mechanism], Channel]] = {
    RandomizedResponse.kind: ResponseChannel,
    SubsetSelection.kind: SubsetChannel,
    IndependentBits.kind: BitsChannel,
    HashedSets.kind: HashChannel,
    BloomBits.kind: BloomChannel,
    HadamardSets.kind: HadamardChannel,
    ProjectiveSets.kind: ProjectiveChannel,
    GroupedSets.kind: GroupedSetsChannel,
    Colourings.kind: colourings_channel,
}
"""Structures with estimators of their own, by their kind."""


def channel_of(mechanism: Mechanism) -> Channel:
    """The analyst's side of a mechanism, by its structure."""
    return CHANNELS.get(mechanism.structure.kind, DenseChannel)(mechanism)
