"""PML-optimal, LDP-optimal and randomised response at equal leakage."""

import pytest

import extremal as ex

P = [0.5, 0.3, 0.2]


def test_the_order_of_the_three() -> None:
    """Theorem 5 against any mechanism of that leakage; the LDP-optimal one against randomised response of the same LDP
    level or less."""
    table = ex.studies.equal_leakage(P, ["0.1", 0.5, 1.0])
    for best, local, response, level, leakage in zip(
        table.pml_optimal, table.ldp_optimal, table.randomized_response, table.ldp_levels, table.epsilons, strict=True
    ):
        assert best > local >= response * (1 - 1e-5)
        m = ex.design(ex.LDP(repr(level)), ex.MutualInformation(P)).mechanism
        assert ex.PML(leakage, P).holds(m)
    assert table.randomized_response[1] == pytest.approx(0.0519929508707, abs=1e-9)  # GSO Fig. 1


def test_another_utility_table_and_picture() -> None:
    table = ex.studies.equal_leakage(P, [0.4], ex.TotalVariation(P, [0.2, 0.3, 0.5]))
    assert "PML-optimal" in str(table)
    assert list(table.to_frame()["leakage"]) == [0.4]
    axis = table.plot().axes[0]
    assert axis.get_xlabel() == "pointwise maximal leakage ε (nats)"
    assert len(axis.get_lines()) == 3


@pytest.mark.parametrize("epsilon", [0, 2])
def test_leakages_outside_the_range_are_refused(epsilon: float) -> None:
    with pytest.raises(ex.errors.InvalidParameter, match="leakages must lie between 0 and ε_max"):
        ex.studies.equal_leakage(P, [epsilon])


def test_progress_is_told_for_every_level() -> None:
    told: list[str] = []
    ex.studies.equal_leakage([0.5, 0.3, 0.2], [0.3, 0.5], progress=lambda word, share: told.append(f"{word} {share:g}"))
    assert told == ["ε = 0.3 0", "ε = 0.5 0.5"]
