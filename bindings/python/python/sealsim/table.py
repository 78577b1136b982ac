"""Rows as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars


class Table:
    """Rows with the same columns."""

    columns: list[str]
    rows: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a frame of pandas, which must be installed."""
        import pandas

        return pandas.DataFrame(self.rows, columns=self.columns)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a frame of polars, which must be installed."""
        import polars

        return polars.DataFrame(
            {column: [row[column] for row in self.rows] for column in self.columns}, strict=False
        )
