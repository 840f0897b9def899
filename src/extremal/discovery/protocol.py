"""`HeavyHitters`: what a device reports about its string, and the file that says so.

Three quarters of the devices help to find labels, a quarter only confirms them; which, and at which length of the
prefix tree, a device draws for itself, whatever its string.

* A device that finds reports the place of its prefix, hashed by a public function to `SIZE` labels, through projective
  geometry (or Hadamard response at large ε) at full ε.
* A device that confirms draws a public seed of its own, hashes its whole string to g buckets under it, and reports the
  seed and, through randomised response at full ε, the bucket: local hashing.

A report is one whole number below 2^53: the group, then the report of its mechanism. Groups and seeds are drawn
independently of the string, and each mechanism is ε-LDP in integers, so that the report is.
"""

from __future__ import annotations

import json
import math
import secrets
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from extremal.closed_forms.response import randomized_response
from extremal.closed_forms.set_systems import (
    MOST_VECTORS,
    best_order,
    coordinates_for,
    hadamard_response,
    projective_geometry,
)
from extremal.discovery.frames import privatize_frame
from extremal.discovery.results import Discovered
from extremal.discovery.search import CANDIDATES, discovered
from extremal.discovery.strings import Strings, Symbols, buckets, places
from extremal.errors import ExtremalError, InvalidParameter, MalformedFile
from extremal.exact import as_count
from extremal.mechanism import Mechanism
from extremal.mechanism.files import check_version, content_digest, refuse_changed, refuse_unknown_fields
from extremal.mechanism.files import to_json as mechanism_to_json
from extremal.mechanism.writing import write_once
from extremal.privacy import LDP
from extremal.release.sampling.sampler import sample_codes
from extremal.release.sampling.subsets import uniform_below
from extremal.release.sampling.words import SecureWords, WordSource

FORMAT = "extremal-heavy-hitters"
VERSION = (1, 0)
SIZE = 1 << 16  # labels that prefixes are hashed to: few collide with the hundreds that are frequent
FIRST = 1 << 17  # prefixes at the first length, all of which are looked at
CHILDREN = 1 << 11  # of a prefix from one length to the next, at least one symbol
FINDING = 3  # devices that find for each one that confirms: finding is the harder part
LONGEST = 64  # bytes of a string
MOST_BUCKETS_BITS = 10  # of a bucket: e^ε + 1 at ε = 6.9, where a report is hardly noise
SEED_BITS = 32  # of a device's seed
PAYLOAD_BITS = SEED_BITS + MOST_BUCKETS_BITS  # of a report, below its group
PARTS = (None, "find", "confirm")  # of all devices of a round

Codes = npt.NDArray[np.int64]


class HeavyHitters:
    """Find the frequent strings of many devices when no list of them is known.

    Guarantee: one report is ε-LDP, decided in integers, whatever the hash functions are. What `discover` returns holds
    no string that no device has, with probability at least `level`, and its intervals hold together with it: labels are
    picked on three quarters of the devices and confirmed by exact binomial limits on the others, for all candidates
    together. Both rest on devices being a random sample and on the public hash functions acting as random.

    Args:
        epsilon: nats, above 0; all that a device spends.
        max_bytes: the longest string, in bytes of UTF-8.
        alphabet: the characters (of one byte each) that occur; every byte if not given. Fewer make it faster and
            better: prefixes grow by more symbols at a time, and more devices share a length.
        salt: a public number below 2^64 for the hash functions; drawn if not given.

    Reference: Wang, Li and Jha, Locally differentially private heavy hitter identification, 2019 (prefixes in groups);
    Bassily, Nissim, Stemmer and Thakurta, Practical locally private heavy hitters, NeurIPS 2017.

    >>> import extremal as ex
    >>> hh = ex.HeavyHitters(4, max_bytes=4, alphabet="abcdefgh", salt=7)
    >>> reports = hh.privatize(["bach"] * 6000 + ["cage"] * 4000)
    >>> hh.discover(reports).labels[:2]
    ('bach', 'cage')
    """

    def __init__(self, epsilon: Any, max_bytes: int = 16, alphabet: str | None = None, salt: int | None = None) -> None:
        self.privacy = LDP(epsilon)
        if not self.privacy.epsilon or not math.isfinite(self.privacy.epsilon):
            raise InvalidParameter("epsilon must be positive and finite", parameter="epsilon", value=epsilon)
        if as_count(max_bytes, "max_bytes", 1) > LONGEST:
            raise InvalidParameter(f"max_bytes may be at most {LONGEST}", parameter="max_bytes", value=max_bytes)
        letters = bytes(range(1, 256)) if alphabet is None else _letters(alphabet)
        public = secrets.randbits(64) if salt is None else as_count(salt, "salt", 0)
        if public >> 64:
            raise InvalidParameter("salt must be below 2^64", parameter="salt", value=salt)
        self.strings = Strings(int(max_bytes), letters, public)

    @property
    def epsilon(self) -> float:
        return self.privacy.epsilon

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of prefixes that are asked about, up to whole strings: these twice, under two hash functions, so
        that what only shares the place of a frequent string is found out."""
        symbols, longest = self.strings.symbols, self.strings.max_bytes
        first = max(1, int(math.log(FIRST, symbols)))
        step = max(1, int(math.log(CHILDREN, symbols)))
        return (*range(min(first, longest), longest, step), longest, longest)

    @cached_property
    def prefixes(self) -> Mechanism:
        """From the place of a hashed prefix to a report."""
        q = best_order(SIZE, self.epsilon)
        fits = q ** coordinates_for(SIZE, q) <= MOST_VECTORS
        return (projective_geometry if fits else hadamard_response)(SIZE, self.privacy.exponential.exponent)

    @cached_property
    def response(self) -> Mechanism:
        """From the bucket of a whole string to a report."""
        bits = min(MOST_BUCKETS_BITS, max(1, round(math.log2(math.exp(min(self.epsilon, 10.0)) + 1))))
        return randomized_response(1 << bits, self.privacy.exponential.exponent)

    def privatize(
        self,
        strings: Any,
        *,
        column: Any = None,
        row_id: Any = None,
        release_key: Any = None,
        check_ids: bool | None = None,
        connection: Any = None,
        part: str | None = None,
        source: WordSource | None = None,
    ) -> Any:
        """One report, a whole number, for each device's string.

        Args:
            strings: a sequence of texts, one for each device; or a data frame or a plan of polars, DuckDB or Spark.
            column: which column of a frame holds the strings; its reports take their place.
            row_id, release_key, check_ids, connection: as for `ex.privatize`: reports by a key, the same whenever they
                are evaluated. A plan needs `row_id`.
            part: "find" or "confirm" for a round in which all devices do one of the two; each draws its part if not
                given.
            source: of random words, for simulation and tests; the operating system's if not given.

        Returns:
            An array of whole numbers, or the frame with the column replaced.

        Raises:
            InvalidParameter: a string is empty, too long, or not of the alphabet; the message does not show it.
        """
        if part not in PARTS:
            raise InvalidParameter("part must be 'find', 'confirm' or None", parameter="part", value=part)
        if row_id is not None or column is not None:
            return privatize_frame(self, strings, column, row_id, release_key, check_ids, connection, part)
        if isinstance(strings, (str, bytes)):
            raise InvalidParameter(
                "strings must be a sequence, one for each device", parameter="strings", value=type(strings).__name__
            )
        words = SecureWords() if source is None else source

        def draw(mechanism: Mechanism, codes: Codes, _places: Any) -> Codes:
            return sample_codes(mechanism, codes, source=source)

        return self.reports_on(self.strings.encoded(list(strings)), words, draw, part)

    def reports_on(self, symbols: Symbols, words: WordSource, draw: Any, part: str | None) -> Codes:
        """A report on each row of symbols; `draw(mechanism, codes, places)` samples for the rows at these places."""
        count, levels = symbols.shape[0], len(self.lengths)
        if not count:
            return np.empty(0, dtype=np.int64)
        finding, every = FINDING * levels, (FINDING + 1) * levels
        start, end = finding if part == "confirm" else 0, finding if part == "find" else every
        drawn = start + uniform_below(end - start, count, words)
        group = np.where(drawn < finding, drawn % levels, levels)  # the last one confirms
        seeds = np.empty(count, dtype=np.uint64)
        words.fill(seeds)
        seeds >>= np.uint64(64 - SEED_BITS)
        payload = np.empty(count, dtype=np.int64)
        for level, length in enumerate(self.lengths):
            mine = np.flatnonzero(group == level)
            at = places(self.strings.prints(symbols[mine], length), level, SIZE)
            payload[mine] = draw(self.prefixes, at, mine)
        mine = np.flatnonzero(group == levels)
        bits = (self.response.k - 1).bit_length()
        own = buckets(self.strings.prints(symbols[mine], self.strings.max_bytes), seeds[mine], bits)
        shown = draw(self.response, own, mine)
        payload[mine] = (seeds[mine].astype(np.int64) << MOST_BUCKETS_BITS) | shown
        return np.asarray((group << PAYLOAD_BITS) | payload)

    def discover(self, reports: Any, level: float = 0.95, candidates: int = CANDIDATES) -> Discovered:
        """The strings that are frequent beyond doubt, with shares and limits that hold together.

        Args:
            reports: what `privatize` returned, of all devices.
            level: with which probability no false string is listed and all limits hold.
            candidates: how many strings are handed to the devices that confirm: more of them need more evidence each.

        Raises:
            InvalidParameter: reports that this protocol does not make.
        """
        return discovered(self, reports, level, as_count(candidates, "candidates", 1))

    def to_json(self) -> dict[str, Any]:
        """What the file holds: all that a device needs, the two mechanisms with their weights included."""
        content = {
            "format": FORMAT,
            "version": f"{VERSION[0]}.{VERSION[1]}",
            "privacy": self.privacy.to_json(),
            "max_bytes": self.strings.max_bytes,
            "alphabet": self.strings.alphabet.hex(),
            "salt": str(self.strings.salt),
            "lengths": list(self.lengths),
            "finding": FINDING,
            "prefixes": mechanism_to_json(self.prefixes),
            "response": mechanism_to_json(self.response),
        }
        return content | {"hash": content_digest(content)}

    @property
    def hash(self) -> str:
        """The SHA-256 of the file's content."""
        return str(self.to_json()["hash"])

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the protocol to a JSON file that `ex.load` and `loadHeavyHitters` of the device script read; it is
        public."""
        return write_once(Path(path), self.to_json(), overwrite)

    def __repr__(self) -> str:
        return (
            f"HeavyHitters(epsilon={self.epsilon:g}, max_bytes={self.strings.max_bytes}, {len(self.lengths)} lengths)"
        )


def _letters(alphabet: Any) -> bytes:
    try:
        letters = alphabet.encode("ascii") if isinstance(alphabet, str) else b""
    except UnicodeEncodeError:
        letters = b""
    if not letters or b"\0" in letters or len(set(letters)) != len(letters):
        raise InvalidParameter(
            "alphabet must be different ASCII characters, without NUL",
            parameter="alphabet",
            value=alphabet,
            hint="Leave it out to allow every byte.",
        )
    return bytes(sorted(letters))


def heavy_hitters_from_json(content: dict[str, Any], source: str) -> HeavyHitters:
    """The protocol in a file, made again from ε, the alphabet and the salt; the file must hold just that."""
    fields = (
        "format",
        "version",
        "privacy",
        "max_bytes",
        "alphabet",
        "salt",
        "lengths",
        "finding",
        "prefixes",
        "response",
    )
    check_version(content, source, FORMAT, VERSION, "a protocol for heavy hitters")
    refuse_unknown_fields(content, (*fields, "hash"), VERSION)
    try:
        claim, letters = LDP.from_json(content["privacy"]), bytes.fromhex(content["alphabet"])
        exponent = claim.exponential.exponent
        every = letters == bytes(range(1, 256))
        made = HeavyHitters(exponent, content["max_bytes"], None if every else letters.decode(), int(content["salt"]))
    except (KeyError, TypeError, ValueError, AttributeError, ExtremalError) as error:
        raise MalformedFile(f"{source} is no protocol: {error}", parameter="format", value=FORMAT) from None
    for name, written in made.to_json().items():  # one way to write each: δ, blanks or other digits are none
        same = json.dumps(content.get(name), sort_keys=True) == json.dumps(written, sort_keys=True)
        if not same and name not in ("version", "hash"):
            raise MalformedFile(f"{source} is no protocol", parameter=name, value=str(content.get(name))[:60])
    refuse_changed(content)
    return made
