"""`extremal design`: the best mechanism from the shell."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_design_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from extremal.cli import main

    arguments = ["design", "--epsilon", "1", "--p0", "0.5,0.3,0.2", "--p1", "0.1,0.2,0.7", "--inputs", "a,b,c"]
    assert main([*arguments, "-o", str(tmp_path / "m.json")]) == 0
    assert "found by" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "m.certificate.json")]) == 0
    assert "proved by dual" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "m.json")]) == 0
    assert main([*arguments, "-o", str(tmp_path / "m.json"), "--max-outputs", "1"]) == 2
    assert "the file must not exist yet" in capsys.readouterr().err
    assert main([*arguments, "--json"]) == 0
    assert '"method"' in capsys.readouterr().out
    assert main(["design", "--epsilon", "1"]) == 2
    assert main(["design", "--epsilon", "1", "--privacy", "pml", "--p0", "0.5,0.5", "--p1", "0.2,0.8"]) == 2
    assert "pml needs the prior that it promises under" in capsys.readouterr().err
