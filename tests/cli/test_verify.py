import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import extremal as ex
from extremal.cli import main
from extremal.mechanism import files
from extremal.problem import states
from extremal.utility.divergence import NamedDivergence
from extremal.utility.utility import UTILITIES


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return ex.randomized_response(4, 1).save(tmp_path / "m.json")


def test_a_true_claim_exits_0(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(stored)]) == 0
    assert "LDP(epsilon=1.0) holds: the level is 1.0" in capsys.readouterr().out


def test_json_has_three_verdicts(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--json", str(stored)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["proved"] is True
    assert (found["privacy"], found["value"], found["optimality"]) == ("proved", "nothing claimed", "nothing claimed")
    assert found["claim"] == {"notion": "LDP", "epsilon": "1", "delta": "0"}


def test_a_certificate_that_is_proved_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]))
    found.save(tmp_path / "m.json")
    assert main(["verify", str(tmp_path / "m.certificate.json")]) == 0
    assert "ok  optimality  proved" in capsys.readouterr().out


def test_a_bound_that_is_false_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]))
    path = replace(found.certificate, bound=found.value / 2).save(tmp_path / "c.json")
    assert main(["verify", "--json", str(path)]) == 1
    assert json.loads(capsys.readouterr().out)["optimality"] == "refuted"


def test_a_user_function_exits_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ex.design(ex.LDP(1), ex.FDivergence([0.7, 0.3], [0.4, 0.6], lambda x: (x - 1) ** 2))
    path = found.certificate.save(tmp_path / "c.json")
    assert main(["verify", str(path)]) == 3
    out = capsys.readouterr().out
    assert "ok  privacy     proved" in out
    assert "?   optimality  not proven" in out


def test_a_questionnaire_is_sent_to_its_own_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ex.Questionnaire.within(1, {"a": 2, "b": 2}).save(tmp_path / "q.json")
    assert main(["verify", str(path)]) == 2
    assert "extremal questionnaire show FILE verifies it" in capsys.readouterr().err


def test_a_false_claim_exits_1(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads(stored.read_text())
    content["privacy"]["epsilon"] = "0.9"
    content["hash"] = files.content_digest({k: v for k, v in content.items() if k != "hash"})
    stored.write_text(json.dumps(content))
    assert main(["verify", str(stored)]) == 1
    out = capsys.readouterr().out
    assert "NO  privacy     refuted" in out
    assert "LDP(epsilon=0.9) is false: the level is 1.0" in out


def test_no_claim_exits_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ex.Mechanism.from_weights([[3, 1], [1, 3]], 4).save(tmp_path / "m.json")
    assert main(["verify", str(path)]) == 3
    assert "-   privacy     nothing claimed" in capsys.readouterr().out


def test_a_defect_exits_70(stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(subject: object) -> None:
        raise KeyError(subject)

    monkeypatch.setattr("extremal.cli.verify.verify", broken)
    assert main(["verify", str(stored)]) == 70
    assert "a defect of extremal" in capsys.readouterr().err


def test_a_changed_file_exits_2(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored.write_text(stored.read_text().replace('"rows":4', '"rows":5'))
    assert main(["verify", str(stored)]) == 2
    assert "extremal: the content must match its hash" in capsys.readouterr().err


def test_a_missing_file_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path / "none.json")]) == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_bad_arguments_exit_2() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["verfy"])
    assert caught.value.code == 2


def test_help_reads_well(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    text = capsys.readouterr().out
    assert caught.value.code == 0
    assert "verify" in text
    assert "exit codes" in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_verify_refuses_what_is_no_mechanism() -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="verify takes a mechanism, a design, a certificate or a path"):
        ex.verify(3)  # type: ignore[arg-type]


def test_a_number_of_outputs_beyond_all_printing_is_said_by_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = str(ex.subset_selection(20_000, 1, size=5_000).save(tmp_path / "m.json"))
    assert main(["verify", stored]) == 0
    assert "20000 inputs, about 10^4882 outputs" in capsys.readouterr().out
    assert main(["verify", stored, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"] == "about 10^4882"


@pytest.fixture
def designed(tmp_path: Path) -> Path:
    found = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), inputs=["a", "b", "c"])
    found.save(tmp_path / "m.json")
    return tmp_path / "m.json"


def test_what_was_proved_is_named(designed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(designed)]) == 0
    out = capsys.readouterr().out
    assert "m.certificate.json, found beside the mechanism file, is about it" in out
    assert "goal        KL, p0 = (0.5, 0.3, 0.2), p1 = (0.2, 0.3, 0.5)" in out
    assert 'inputs      ("a", "b", "c")' in out
    assert json.loads(designed.read_text())["hash"] in out
    assert "optimality  proved: optimal to within" in out
    assert main(["verify", "--json", str(designed)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["interval"][0] <= found["interval"][1]
    assert found["gap"] < 1e-6
    assert found["goal"].startswith("KL, p0 = (0.5")


def test_a_loose_bound_is_proved_and_never_called_optimal(designed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = ex.design(ex.LDP(1), ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])).certificate
    path = replace(certificate, bound=certificate.value * 1.25).save(designed.parent / "loose.json")
    assert main(["verify", str(path)]) == 0
    out = capsys.readouterr().out
    assert "bound       proved: within 20% of the optimum: bound proved, between" in out
    assert "optimal" not in out
    for gap, code in (("0.3", 0), ("1e-6", 3)):
        assert main(["verify", str(path), "--gap", gap]) == code
    assert "gap         above 1e-06: 0.2" in capsys.readouterr().out
    assert main(["verify", str(designed), "--gap", "1e-6"]) == 0


def test_a_mechanism_and_its_certificate_belong_together(designed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = designed.with_name("m.certificate.json")
    assert main(["verify", str(designed), str(certificate)]) == 0
    assert main(["verify", str(certificate), str(designed)]) == 0
    other = ex.randomized_response(["a", "b", "c"], 1).save(designed.parent / "other.json")
    capsys.readouterr()
    assert main(["verify", str(other), str(certificate)]) == 1
    assert "about another mechanism" in capsys.readouterr().out
    assert main(["verify", str(designed), str(other)]) == 2
    assert main(["verify", str(designed), str(other), str(certificate)]) == 2


def test_a_certificate_of_another_mechanism_beside_it_is_named_and_not_used(
    designed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ex.randomized_response(3, 1).save(designed, overwrite=True)
    assert main(["verify", str(designed)]) == 0
    out = capsys.readouterr().out
    assert "is about another mechanism, and is not used" in out
    assert "optimality  nothing claimed" in out
    designed.with_name("m.certificate.json").write_text("{}")
    assert main(["verify", str(designed)]) == 0


class Doubled(NamedDivergence):
    """A divergence that a user registers, without an enclosure."""

    name, function = "Doubled", ex.KL.function


def test_a_users_divergence_is_not_proven_and_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(UTILITIES, "Doubled", Doubled)
    states(Doubled, lambda utility: utility.problem())
    mine: Any = Doubled([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    for goal in (mine, ex.Average([mine, ex.KL([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])])):
        for notion in (ex.LDP(1), ex.LDP(1, "0.1"), ex.PML(1, [0.5, 0.3, 0.2])):
            found = ex.design(notion, goal)
            assert ex.verify(found).exit_code == 3
            assert "not proved optimal" in found.summary()
            found.save(tmp_path / "m.json", overwrite=True)
            assert main(["verify", str(tmp_path / "m.json")]) == 3
            assert "optimality  not proven" in capsys.readouterr().out
