"""The optimum and the closed forms over ε."""

from __future__ import annotations

from pathlib import Path

import pytest

import extremal as ex


class TestTradeoff:
    def test_values_ratios_and_table(self) -> None:
        utility = ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7])
        curve = ex.tradeoff(ex.LDP, utility, [0.5, 5])
        assert curve.values["optimum"][0] == ex.design(ex.LDP(0.5), utility).value
        assert curve.ratios["binary"][0] == pytest.approx(1)
        assert curve.ratios["randomised response"][1] == pytest.approx(1)
        assert all(r is None or r <= 1 + 1e-12 for row in curve.ratios.values() for r in row)
        assert "subset selection" in str(curve)
        assert list(curve.to_frame()["epsilon"]) == [0.5, 5.0]
        with pytest.raises(ex.InvalidParameter, match="epsilons must hold at least one level"):
            ex.tradeoff(ex.LDP, utility, [])

    def test_picture_and_progress(self, tmp_path: Path) -> None:
        from extremal.plotting import save

        said: list[str] = []
        curve = ex.tradeoff(
            ex.LDP, ex.KL([0.5, 0.3, 0.2], [0.1, 0.2, 0.7]), [0.1, 10], progress=lambda what, _: said.append(what)
        )
        drawn = curve.plot()
        assert [axis.get_xlabel() for axis in drawn.axes] == ["ε (nats)", "ε (nats)"]
        assert save(drawn, tmp_path / "curve.png").stat().st_size > 10_000
        assert said == ["ε = 0.1", "ε = 10"]

    def test_command_line(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        from extremal.cli import main

        pair = ["--p0", "0.5,0.3,0.2", "--p1", "0.1,0.2,0.7"]
        assert (
            main(
                [
                    "tradeoff",
                    *pair,
                    "--epsilons",
                    "0.5,2",
                    "--plot",
                    str(tmp_path / "t.png"),
                    "--csv",
                    str(tmp_path / "t.csv"),
                ]
            )
            == 0
        )
        assert "optimum" in capsys.readouterr().out
        assert (tmp_path / "t.csv").read_text().startswith("epsilon,optimum")
        assert main(["tradeoff", *pair, "--epsilons", "1:2:2", "--json"]) == 0
        assert '"gaps"' in capsys.readouterr().out
        assert main(["tradeoff", *pair, "--epsilons", "a:b"]) == 2
        assert "--epsilons must be FROM:TO:COUNT or a list" in capsys.readouterr().err
        assert main(["tradeoff"]) == 2
