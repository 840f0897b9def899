"""Labels that nobody knew: strings of devices, found down a prefix tree and confirmed on other devices."""

from extremal.discovery.protocol import HeavyHitters
from extremal.discovery.results import Discovered

__all__ = ["Discovered", "HeavyHitters"]
