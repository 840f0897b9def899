"""Frequent strings of a million devices: `ex.HeavyHitters` beside PEM and TreeHist of pure-LDP, on the same strings.

10^6 devices, Zipf 1.1 over 10^7 strings of 4 to 16 letters, ε = 4; F1 of the list against the 50 most frequent. All
know the alphabet (a to z, and how a string ends). What is listed here is confirmed, at most 5% for any false label; the
peers return the 50 that they find best. pure-LDP's local hashing keeps an array over the domain, 27^16 labels, so its
searches run with its count-mean sketch, and with fast local hashing that is evaluated only where the search asks (the
oracle that PEM's authors use). Exits 1 when a peer's F1 is above ours, or a listed label is held by nobody.

Run alone: python bench/heavy_hitters.py [DEVICES]
"""

from __future__ import annotations

import math
import random
import string
import sys
from time import process_time
from types import SimpleNamespace
from typing import Any

import numpy as np
import xxhash
from pure_ldp.core import FreqOracleClient, FreqOracleServer, _freq_oracle_server
from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer
from pure_ldp.heavy_hitters.prefix_extending import PEMClient, PEMServer
from pure_ldp.heavy_hitters.treehistogram import TreeHistClient, TreeHistServer

import extremal as ex
from extremal.discovery.strings import mixed

EPSILON, TOP, LABELS, SHORTEST, LONGEST = 4.0, 50, 10**7, 4, 16
END = "_"  # fills up strings for the peers, as a letter of their alphabet
STEP = 2  # letters by which their prefixes grow: 729 children
SKETCH = (64, 1024)  # hash functions and width of the count-mean sketch
HASHES = 4096  # public hash functions of fast local hashing
WORD = (1 << 64) - 1
_drawn = random.Random(0)
FACTORS = [_drawn.getrandbits(63) << 1 | 1 for _ in range(HASHES)]  # odd, one for each function


class HashingClient(FreqOracleClient):  # type: ignore[misc]
    """Local hashing by one of `HASHES` multiply-shift functions of a string's xxHash."""

    def __init__(self, epsilon: float, index_mapper: Any = None) -> None:
        self.index_mapper: Any = index_mapper
        self.update_params(epsilon)

    def update_params(self, epsilon: float | None = None, index_mapper: Any = None) -> None:
        if epsilon is not None:
            self.epsilon, self.g = epsilon, round(math.exp(epsilon)) + 1
            self.p = math.exp(epsilon) / (math.exp(epsilon) + self.g - 1)

    def privatise(self, data: str) -> tuple[int, int]:
        seed = random.randrange(HASHES)
        bucket = ((xxhash.xxh64(data.encode()).intdigest() * FACTORS[seed] & WORD) >> 32) % self.g
        if random.random() >= self.p:
            bucket = (bucket + random.randrange(1, self.g)) % self.g
        return bucket, seed


class HashingServer(FreqOracleServer):  # type: ignore[misc]
    """Its counts by function and bucket, and estimates of the strings that are asked for."""

    def __init__(self, epsilon: float) -> None:
        self.update_params(epsilon)

    def update_params(self, epsilon: float | None = None, index_mapper: Any = None) -> None:
        if epsilon is not None:
            self.epsilon, self.g = epsilon, round(math.exp(epsilon)) + 1
            self.p = math.exp(epsilon) / (math.exp(epsilon) + self.g - 1)
        self.reset()

    def reset(self) -> None:
        self.counts, self.n = np.zeros((HASHES, self.g)), 0

    def aggregate(self, data: tuple[int, int]) -> None:
        self.counts[data[1], data[0]] += 1
        self.n += 1

    def estimate_all(self, data_list: Any, suppress_warnings: bool = False, normalization: int = 0) -> Any:
        prints = np.array([xxhash.xxh64(text.encode()).intdigest() for text in data_list], dtype=np.uint64)
        held = np.zeros(prints.size)
        for seed, factor in enumerate(FACTORS):
            at = (prints * np.uint64(factor) >> np.uint64(32)) % np.uint64(self.g)
            held += self.counts[seed][at.astype(np.int64)]
        return (held - self.n / self.g) / (self.p - 1 / self.g)


def devices(count: int) -> tuple[list[str], list[str]]:
    """A string for each device, and the strings of the highest probabilities."""
    shares = np.cumsum(np.arange(1, LABELS + 1) ** -1.1)
    ranks = np.searchsorted(shares / shares[-1], np.random.default_rng(1).random(count))
    held, place = np.unique(np.concatenate((np.arange(TOP), ranks)), return_inverse=True)
    seeds = held.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = np.stack([mixed(seeds + np.uint64(j + 1)) for j in range(LONGEST + 1)], axis=1)
    letters = (97 + words[:, 1:] % np.uint64(26)).astype(np.uint8)
    lengths = SHORTEST + (words[:, 0] % np.uint64(LONGEST - SHORTEST + 1)).astype(int)
    texts = [row[:length].tobytes().decode() for row, length in zip(letters, lengths.tolist(), strict=True)]
    return [texts[i] for i in place[TOP:].tolist()], texts[:TOP]


def ours(strings: list[str]) -> list[str]:
    protocol = ex.HeavyHitters(4, max_bytes=LONGEST, alphabet=string.ascii_lowercase)
    return list(protocol.discover(protocol.privatize(strings)).labels)


def peers(strings: list[str], search: str, oracle: str) -> list[str]:
    letters, half = [*string.ascii_lowercase, END], EPSILON / 2
    epsilon = half if search == "TreeHist" else EPSILON
    if oracle == "sketch":
        server: Any = CMSServer(epsilon, *SKETCH)
        client: Any = CMSClient(epsilon, server.get_hash_funcs(), SKETCH[1])
    else:
        server, client = HashingServer(epsilon), HashingClient(epsilon)
    if search == "PEM":
        one: Any = PEMClient(EPSILON, 0, LONGEST, STEP, letters, len, client)
        all_of: Any = PEMServer(EPSILON, 0, LONGEST, STEP, letters, len, server)
    else:
        one = TreeHistClient(EPSILON, STEP, LONGEST, letters, len, client)
        all_of = TreeHistServer(EPSILON, LONGEST, STEP, letters, len, server)
    for text in strings:
        all_of.aggregate(one.privatise(text.ljust(LONGEST, END)))
    found, _ = all_of.find_heavy_hitters(k=TOP)
    return [text.rstrip("*").rstrip(END) for text in found]


def main() -> int:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - pure-LDP draws from it
    zeros = {"zeros": lambda d: np.zeros(() if d is None else d)}  # its sketches ask for a shape of None, refused today
    _freq_oracle_server.np = SimpleNamespace(**{**vars(np), **zeros})
    strings, top = devices(int(sys.argv[1]) if len(sys.argv) > 1 else 10**6)
    held, scores = set(strings), dict[str, float]()
    runs: dict[str, Any] = {"ex.HeavyHitters": ours}
    for search in ("PEM", "TreeHist"):
        for oracle in ("hashing", "sketch"):
            runs[f"pure-LDP {search}, {oracle}"] = lambda texts, s=search, o=oracle: peers(texts, s, o)
    bad = 0
    for name, run in runs.items():
        start = process_time()
        listed = run(strings)
        right, false = len(set(listed) & set(top)), sum(label not in held for label in listed)
        scores[name] = 2 * right / (len(listed) + TOP)
        bad += false if run is ours else 0
        print(
            f"{name:28} F1 {scores[name]:.3f}: {len(listed):2} listed, {right:2} of the top {TOP}, "
            f"{false:2} held by nobody; {process_time() - start:.0f} s",
            flush=True,
        )
    return int(bad > 0 or max(scores, key=lambda name: scores[name]) != "ex.HeavyHitters")


if __name__ == "__main__":
    sys.exit(main())
