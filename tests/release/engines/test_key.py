"""A release key is secret: in no repr, no pickle, no file but its own."""

import copy
import pickle
import stat
from pathlib import Path

import pytest

import extremal as ex
from extremal.release.engines.key import HEADER


def test_a_key_is_saved_for_its_owner_alone_and_read_back(tmp_path: Path) -> None:
    key = ex.ReleaseKey.new()
    path = key.save(tmp_path / "key")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ex.ReleaseKey.load(path).derive(b"a", 32) == key.derive(b"a", 32)
    with pytest.raises(ex.errors.FileConflict, match="must not exist yet"):
        ex.ReleaseKey.new().save(path)


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = ex.ReleaseKey.new().save(tmp_path / "key")
    path.chmod(0o640)
    with pytest.raises(ex.errors.InvalidParameter, match="readable by its owner alone; got mode='0640'"):
        ex.ReleaseKey.load(path)


@pytest.mark.parametrize("content", [b"", b"hello", HEADER, HEADER + b"00" * 31, HEADER + b"zz" * 32, b"00" * 32])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(ex.errors.MalformedFile, match="must hold a release key"):
        ex.ReleaseKey.load(path)


def test_a_key_shows_in_nothing_and_cannot_be_copied(tmp_path: Path) -> None:
    key = ex.ReleaseKey.new()
    secret = key.save(tmp_path / "key").read_text().splitlines()[1]
    assert secret not in f"{key!r} {key} {vars(type(key))!r}"
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="never copied or pickled"):
            copied(key)
    with pytest.raises(TypeError, match="ReleaseKey.new"):
        ex.ReleaseKey()


def test_purposes_and_keys_are_told_apart() -> None:
    key = ex.ReleaseKey.new()
    assert len({key.derive(b"a", 32), key.derive(b"b", 32), ex.ReleaseKey.new().derive(b"a", 32)}) == 3
