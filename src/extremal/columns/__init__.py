"""Columns of data in whatever container or file they stand: the one place that knows containers, frames and formats.

`distinct(column)` gives codes and labels, `filled(codes, labels, like)` a column; release and estimate need no more.
"""

from extremal.columns.column import CONTAINERS, Container, distinct, filled

__all__ = ["CONTAINERS", "Container", "distinct", "filled"]
