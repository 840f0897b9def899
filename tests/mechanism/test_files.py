"""Files: the same mechanism back, and every damaged file refused with its reason."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import extremal as ex
from extremal.errors import FileConflict, MalformedFile, PrivacyViolation
from extremal.mechanism import files
from extremal.testing import ldp_mechanisms, pml_mechanisms


def _rewritten(path: Path, change: Any, rehash: bool = True) -> Path:
    """The file with `change` applied to its content; hash made to fit unless told otherwise."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    if rehash:
        content["hash"] = files.content_digest({k: v for k, v in content.items() if k != "hash"})
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return ex.Mechanism.from_matrix([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], ex.LDP(1), inputs=["no", "yes"]).save(
        tmp_path / "m.json"
    )


@settings(max_examples=25)
@given(ldp_mechanisms() | pml_mechanisms())
def test_what_is_saved_is_what_is_loaded(tmp_path_factory: pytest.TempPathFactory, m: ex.Mechanism) -> None:
    path = m.save(tmp_path_factory.mktemp("files") / "m.json")
    again = ex.load(path)
    assert again == m
    assert again.hash == m.hash
    assert again.privacy == m.privacy
    assert (again.weights == m.weights).all()
    assert ex.verify(path)


@pytest.mark.parametrize(
    "privacy",
    [
        ex.LDP(1.5, 0.25),
        ex.LDP.from_ratio("7/2"),
        ex.PML(1, [0.5, 0.5]),
        ex.PML(2, ex.SourceClass.ball([0.5, 0.5], 0.1)),
        ex.PML(2, ex.SourceClass.simplex(2)),
        ex.PML(2, ex.SourceClass.permutation_invariant(["1/3", "2/3"])),
        ex.PML(2, ex.SourceClass.ordered([[0.6, 0.4], [0.5, 0.5]])),
        ex.PML(2, ex.SourceClass([[0.4, 0.6], [0.5, 0.5]])),
        ex.LIP(1, [0.5, 0.5]),
        ex.LIP(1, [0.5, 0.5], lower=2),
        ex.MetricPrivacy(1, [[0, 1.5], [1.5, 0]]),
    ],
    ids=repr,
)
def test_every_notion_survives_a_file(tmp_path: Path, privacy: Any) -> None:
    m = ex.Mechanism.from_weights(
        [[5, 3], [3, 5]], 8, privacy=privacy, inputs=[False, True], outputs=[("a", 1), ("b", 2)]
    )
    again = ex.load(m.save(tmp_path / "m.json"))
    assert again.privacy == privacy
    assert hash(again.privacy) == hash(privacy)
    assert again.outputs == (("a", 1), ("b", 2))
    assert again == m


def test_saving_never_destroys_another_mechanism(stored: Path) -> None:
    before = stored.read_bytes()
    ex.load(stored).save(stored)  # the same content: nothing to do
    with pytest.raises(FileConflict, match="the file must not exist yet"):
        ex.randomized_response(3, 1).save(stored)
    assert stored.read_bytes() == before
    ex.randomized_response(3, 1).save(stored, overwrite=True)
    assert ex.load(stored) == ex.randomized_response(3, 1)


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ex.randomized_response(3, 1).save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_a_claim_below_the_level_is_false_not_malformed(stored: Path) -> None:
    _rewritten(stored, lambda c: c["privacy"].update(epsilon="0.9"))
    with pytest.raises(PrivacyViolation, match=r"LDP\(epsilon=0.9\); got level=0.916"):
        ex.load(stored)
    outcome = ex.verify(stored)
    assert not outcome
    assert outcome.privacy == "refuted"
    assert "is false: the level is 0.916" in outcome.reasons[0]
    unjudged, claim = files.read(stored)
    assert unjudged.privacy is None
    assert claim == ex.LDP("0.9")


def test_a_newer_minor_version_is_read_and_a_newer_major_one_refused(stored: Path) -> None:
    _rewritten(stored, lambda c: c.update(version="1.7", colour="blue"))
    assert ex.load(stored).k == 2
    _rewritten(stored, lambda c: c.update(version="2.0"))
    with pytest.raises(
        MalformedFile, match=r"this release reads version 1\.x; got version='2\.0'\. Install a newer extremal"
    ):
        ex.load(stored)


def _set_weight(text: Any) -> Any:
    def change(content: dict[str, Any]) -> None:
        content["weights"]["rows"][0][0] = text

    return change


def _off_by_one(content: dict[str, Any]) -> None:
    content["weights"]["rows"][0][0] = str(int(content["weights"]["rows"][0][0]) + 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_off_by_one, "each row of weights must sum to the denominator exactly"),
        (_set_weight("-5"), "a weight must be a string of digits"),
        (_set_weight(5), "a weight must be a string of digits"),
        (_set_weight("9" * 30), "a weight must be a string of digits"),
        (lambda c: c.update(version=2), "version must be major.minor; got version=2"),
        (lambda c: c.update(version="1.x"), "version must be major.minor"),
        (lambda c: c.update(format="other"), "must be a mechanism file; got format='other'"),
        (lambda c: c.update(format="extremal-certificate"), "The file without .certificate in its name"),
        (lambda c: c.update(denominator="4"), "denominator must be what each row sums to"),
        (lambda c: c["weights"].update(kind="cube"), "weights must be of a known kind; got kind='cube'"),
        (lambda c: c.update(outputs=["a", "b"]), "outputs must name the 3 columns"),
        (lambda c: c.update(outputs=["a", "b", "b"]), "outputs must be distinct"),
        (lambda c: c.update(inputs=["a"]), "inputs must name the rows"),
        (lambda c: c.update(inputs="no"), "inputs must be a list of labels or a range"),
        (lambda c: c.pop("weights"), "must have all fields of a mechanism file; got missing=\"'weights'\""),
        (lambda c: c.update(privacy={"notion": "Vibes"}), "privacy must be a known notion"),
        (lambda c: c.update(privacy="LDP"), "privacy must be a known notion"),
        (lambda c: c["privacy"].update(epsilon="-1"), "epsilon must not be negative"),
        (
            lambda c: c.update(
                privacy={"notion": "PML", "epsilon": "1", "source": {"kind": "list", "priors": [["0.5", "0.6"]]}}
            ),
            "decimals that sum to 1",
        ),
        (
            lambda c: c.update(privacy={"notion": "PML", "epsilon": "1", "source": {"kind": "cloud"}}),
            "a source class must be of a known kind",
        ),
        (lambda c: c.update(rows_of_inputs=[[0, -1]]), "rows_of_inputs must count 1..16,777,216 inputs in all"),
        (lambda c: c.update(rows_of_inputs=[[0, 10**12]]), "rows_of_inputs must count 1..16,777,216 inputs in all"),
        (lambda c: c.update(rows_of_inputs=[[2, 2]]), "must be pairs of a row, 0..1, and a count"),
        (lambda c: c.update(rows_of_inputs=[["0", "2"]]), "must be pairs of a row"),
        (lambda c: c.update(rows_of_inputs=[[0, 2]]), "must give each of the 2 rows to some input"),
        (lambda c: c.update(rows_of_inputs=[[True, 2]]), "must be pairs of a row"),
        (lambda c: c.update(rows_of_inputs=[0, 2]), "must be pairs of a row"),
        (lambda c: c.update(rows_of_inputs=[[[0, 2]]]), "must be pairs of a row"),
        (lambda c: c.update(rows_of_inputs={"0": 2}), "must be pairs of a row"),
        (lambda c: c.update(version="\u0661.0"), "version must be major.minor"),
        (
            lambda c: c.update(inputs=["a"], weights={**c["weights"], "rows": c["weights"]["rows"][:1]}),
            "a mechanism has at least 2 inputs",
        ),
        (lambda c: c.update(outputs=[[], ["a"], ["b"]]), "outputs must not hold an empty set"),
        (lambda c: c.update(inputs=["a", "\ud800"]), "text that can be written as UTF-8, without lone surrogates"),
        (lambda c: c.update(inputs=["a", {"integer": "x"}]), 'a large integer label must be {"integer": "digits"}'),
        (
            lambda c: c.update(inputs=["a", {"integer": "9" * 402}]),
            'a large integer label must be {"integer": "digits"}',
        ),
        (lambda c: c.update(inputs={"range": 10**12}), "a list of labels or a range of at most 16,777,216"),
        (lambda c: c.update(weights=[1]), "weights must be of a known kind"),
        (lambda c: c["weights"].update(kind=["rows"]), "weights must be of a known kind"),
        (lambda c: c["weights"].update(rows="abc"), "rows must be a list; got rows='abc'"),
        (lambda c: c["weights"].update(rows=[["1"], []]), "rows must be lists of equally many weights"),
        (lambda c: c["weights"].update(rows=[]), "rows must be lists of equally many weights"),
        (_set_weight("\u0661"), "a weight must be a string of digits"),
        (lambda c: c["privacy"].update(epsilon="0." + "1" * 10**6), "of at most 1,000 characters"),
        (
            lambda c: c.update(privacy={"notion": "PML", "epsilon": "1", "source": 3}),
            "a source class must be of a known kind",
        ),
    ],
)
def test_whole_but_wrong_files(stored: Path, change: Any, message: str) -> None:
    _rewritten(stored, change)
    with pytest.raises(MalformedFile, match=message):
        ex.load(stored)


def test_a_changed_weight_with_the_old_hash(stored: Path) -> None:
    _rewritten(stored, _off_by_one, rehash=False)
    with pytest.raises(
        MalformedFile, match="the content must match its hash: the file was changed after it was written"
    ):
        ex.load(stored)


def test_a_wrong_prior_makes_the_claim_false(tmp_path: Path) -> None:
    m = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4, privacy=ex.PML(0.5, [0.5, 0.5]))
    path = m.save(tmp_path / "m.json")
    _rewritten(path, lambda c: c["privacy"]["source"].update(priors=[["0.9", "0.1"]]))
    assert ex.verify(path).privacy == "refuted"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"format": "extremal-mechanism", "format": "x"}', "a key must not appear twice; got key='format'"),
        (b'{"format": 1e400}', "numbers must be whole; others are strings; got number='1e400'"),
        (b'{"format": 0.5}', "numbers must be whole"),
        (b'{"format": NaN}', "numbers must be whole; others are strings; got number='NaN'"),
        (b'{"format": 9007199254740993}', "integers beyond 2\\^53 must be strings"),
        (b'{"format": ' + b"9" * 5000 + b"}", "integers beyond 2\\^53 must be strings"),
        (b'{"format": "extremal-mech', "the file must be valid JSON.*Is it truncated"),
        (b"", "the file must be valid JSON"),
        (b'{"a": "\xff"}', "a mechanism file is UTF-8 text; got byte=7"),
        (b"[" * 100_000, "must not be nested that deeply"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "must not be nested that deeply"),
        (b'{"a":' + b"[" * 990 + b"]" * 990 + b"}", "must not be nested that deeply; got levels='above 32'"),
        (b'{"a":[' + b"[]," * (1 << 22) + b"[]]}", "holds at most 4,194,304 values"),
        (b'{"a":[' + b"{}," * (1 << 17) + b"{}]}", "holds at most 4,194,304 values"),
        (b"[1, 2]", "a mechanism file must hold a JSON object; got type='list'"),
        (b"{}", "must be a mechanism file; got format=None"),
    ],
)
def test_damaged_files(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(data)
    with pytest.raises(MalformedFile, match=message):
        ex.load(path)


def test_a_hundred_megabytes_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(MalformedFile, match="a mechanism file has at most 64 MiB; got size='above 67108864 bytes'"):
        ex.load(path)


def test_structures_are_checked_when_read(tmp_path: Path) -> None:
    response = ex.randomized_response(300, 1).save(tmp_path / "response.json")
    _rewritten(response, lambda c: c["weights"].update(low="3"))
    with pytest.raises(MalformedFile, match="must sum to the denominator"):
        ex.load(response)
    for change in (
        lambda col: col.reverse(),
        lambda col: col.pop(),
        lambda col: col.__setitem__(0, 99),
        lambda col: col.__setitem__(1, -1),
    ):
        path = ex.Mechanism.from_windows(100, 3, ex.LDP(1)).save(tmp_path / "windows.json", overwrite=True)
        _rewritten(path, lambda c, change=change: change(c["weights"]["columns"][5]))
        with pytest.raises(MalformedFile, match="a column is a weight pair and increasing run edges"):
            ex.load(path)
    rows = ex.Mechanism.from_partition([0, 1, 1, 0], ex.LDP(1)).save(tmp_path / "rows.json")
    assert ex.load(rows).row_classes == 2


def test_a_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="write one"):
        ex.load(tmp_path / "none.json")
    ex.randomized_response(2, 1).save(tmp_path / "nones.json")
    with pytest.raises(FileNotFoundError, match="did you mean .*nones"):
        ex.load(tmp_path / "none.json")


def test_deep_or_crowded_files_are_refused(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text('{"a":' * 60 + "1" + "}" * 60)
    with pytest.raises(ex.errors.MalformedFile, match="must not be nested that deeply"):
        ex.load(deep)
    crowded = tmp_path / "crowded.json"
    crowded.write_text('{"a":[' + "1," * 30_000_000 + "1]}")
    with pytest.raises(ex.errors.MalformedFile, match="holds at most"):
        ex.load(crowded)
