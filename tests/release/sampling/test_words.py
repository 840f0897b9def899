"""The words: a known cipher, a fresh key for each call, nothing shared by children or threads, no seed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import extremal as ex
from extremal.release.sampling.words import LARGEST_CHUNK, CipherWords, SecureWords

M = ex.randomized_response(1000, 0.01)
CODES = np.zeros(64, dtype=np.int64)  # 64 reports of about 10 bits: two equal streams cannot be an accident


def _words(source: CipherWords, count: int) -> np.ndarray:  # type: ignore[type-arg]
    words = np.empty(count, dtype=np.uint64)
    source.fill(words)
    return words


def test_the_stream_is_aes_256_ctr() -> None:
    """NIST: AES-256 under the zero key of the zero block."""
    assert _words(CipherWords(bytes(32)), 2).astype("<u8").tobytes().hex() == "dc95c078a2408989ad48a21492842087"


def test_the_stream_does_not_depend_on_how_it_is_cut() -> None:
    whole = _words(CipherWords(bytes(32)), 3 * LARGEST_CHUNK + 5)
    source = CipherWords(bytes(32))
    assert np.array_equal(whole, np.concatenate([_words(source, n) for n in (7, LARGEST_CHUNK, 2 * LARGEST_CHUNK - 2)]))


def test_every_call_has_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytes] = []
    real = os.urandom

    def noted(size: int) -> bytes:
        keys.append(real(size))
        return keys[-1]

    monkeypatch.setattr(os, "urandom", noted)
    for _ in range(5):
        M.privatize(CODES)
    assert [len(key) for key in keys] == [32] * 5
    assert len(set(keys)) == 5


def test_threads_never_share_a_stream() -> None:
    with ThreadPoolExecutor(8) as pool:
        streams = list(pool.map(lambda _: tuple(M.privatize(CODES).tolist()), range(64)))
    assert len(set(streams)) == 64


FORKING = """
import os, sys, numpy as np, extremal as ex
m, codes = ex.randomized_response(1000, 0.01), np.zeros(64, dtype=np.int64)
m.privatize(codes)                       # the parent has drawn before: a kept generator would now be copied
ends = []
for _ in range(6):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, m.privatize(codes).tobytes())
        os._exit(0)
    os.close(write)
    ends.append(read)
streams = [m.privatize(codes).tobytes()]
for end in ends:
    data = b""
    while part := os.read(end, 4096):
        data += part
    streams.append(data)
print(len(set(streams)), {len(s) for s in streams})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_never_share_a_stream() -> None:
    ran = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "7 {512}"


def test_a_secret_stream_is_not_copied() -> None:
    with pytest.raises(TypeError, match="never copied"):
        pickle.dumps(SecureWords())


@pytest.mark.parametrize("error", [NotImplementedError("no generator"), OSError("no /dev/urandom")])
def test_no_cryptographic_source_releases_nothing(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(size: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", fails)
    with pytest.raises(
        ex.errors.NoSecureRandomness,
        match="a report needs the operating system's random generator.*Nothing was released",
    ):
        M.privatize(3)


@pytest.mark.parametrize("name", ["seed", "rng", "random_state", "generator"])
def test_a_seed_is_refused_by_name(name: str) -> None:
    with pytest.raises(
        ex.errors.InvalidParameter,
        match=rf"a release takes no seed.*got {name}='something of type int'. For experiments use extremal.simulate",
    ):
        M.privatize([1], **{name: 7})


def test_other_options_are_refused_too() -> None:
    with pytest.raises(
        ex.errors.InvalidParameter, match="privatize has no such option; got axis='something of type int'"
    ):
        M.privatize([1], axis=1)
