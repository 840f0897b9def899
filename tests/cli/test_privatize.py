import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import extremal as ex
from extremal.cli import main
from extremal.release.files import mechanism_hashes


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"answer": ["no", "yes"] * 500, "age": [20, 30] * 500}), tmp_path / "in.parquet")
    ex.randomized_response(2, 1, inputs=["no", "yes"]).save(tmp_path / "m.json")
    ex.randomized_response(2, 1, inputs=[20, 30]).save(tmp_path / "age.json")
    return tmp_path


def _arguments(folder: Path, *more: str) -> list[str]:
    return ["privatize", str(folder / "in.parquet"), "-o", str(folder / "out.parquet"), *more]


def test_a_file_is_randomised(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(_arguments(stored, "--column", "answer", "--mechanism", str(stored / "m.json"))) == 0
    out = capsys.readouterr().out
    assert "1,000 rows" in out
    assert "answer: LDP(epsilon=1.0), mechanism" in out
    assert pq.read_table(stored / "out.parquet")["answer"].to_pylist() != ["no", "yes"] * 500


def test_two_columns_and_json(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [
        "--column",
        "answer",
        "--mechanism",
        str(stored / "m.json"),
        "--column",
        "age",
        "--mechanism",
        str(stored / "age.json"),
    ]
    assert main(_arguments(stored, *pairs, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 1000
    assert found["columns"] == mechanism_hashes(stored / "out.parquet")
    assert set(found["columns"]) == {"answer", "age"}
    assert main(_arguments(stored, *pairs, "--overwrite")) == 0
    assert "all columns together, about one person: ε = 2\n" in capsys.readouterr().out


def test_mistakes_exit_2_and_leave_nothing(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    m = str(stored / "m.json")
    for arguments, message in (
        (
            _arguments(stored, "--column", "age", "--mechanism", m),
            "row 0 (from 0) of column 'age': a value of type int that is no label",
        ),
        (_arguments(stored, "--column", "answr", "--mechanism", m), "Did you mean 'answer'?"),
        (
            _arguments(stored, "--column", "answer", "--column", "age", "--mechanism", m),
            "every --column needs its --mechanism",
        ),
        (_arguments(stored, *["--column", "answer", "--mechanism", m] * 2), "a column can be randomised once"),
        (
            _arguments(stored, "--column", "answer", "--mechanism", str(stored / "none.json")),
            "No such file or directory",
        ),
        (
            [
                "privatize",
                str(stored / "none.parquet"),
                "--column",
                "a",
                "--mechanism",
                m,
                "-o",
                str(stored / "o.parquet"),
            ],
            "No such file",
        ),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
        assert not (stored / "out.parquet").exists()


def test_an_existing_file_is_kept_unless_told(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = _arguments(stored, "--column", "answer", "--mechanism", str(stored / "m.json"))
    (stored / "out.parquet").write_bytes(b"precious")
    assert main(arguments) == 2
    assert "the output file must not exist yet" in capsys.readouterr().err
    assert (stored / "out.parquet").read_bytes() == b"precious"
    assert main([*arguments, "--overwrite"]) == 0


def test_progress_is_shown_on_a_terminal(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    main(_arguments(stored, "--column", "answer", "--mechanism", str(stored / "m.json")))
    assert "100.0% of 1,000 rows" in capsys.readouterr().err
    (stored / "in.csv").write_text("answer\nno\nyes\n")
    main(
        [
            "privatize",
            str(stored / "in.csv"),
            "--column",
            "answer",
            "--mechanism",
            str(stored / "m.json"),
            "-o",
            str(stored / "out.csv"),
        ]
    )
    assert "2 rows" in capsys.readouterr().err


def test_there_is_no_seed(stored: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(_arguments(stored, "--column", "answer", "--mechanism", str(stored / "m.json"), "--seed", "1"))
    assert caught.value.code == 2


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("privatize", "audit"):
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 80
