"""Square systems in rationals."""

from fractions import Fraction

from extremal.exact import solve_exactly

F = Fraction


def test_square_systems() -> None:
    assert solve_exactly([[F(0), F(2)], [F(1), F(1)]], [F(1), F(1)]) == [F(1, 2), F(1, 2)]
    assert solve_exactly([[F(1), F(2)], [F(2), F(4)]], [F(1), F(2)]) is None
