"""Rows of points that have run, in the folder of a search: nothing that is done is run again."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Iterator, Sequence
from types import TracebackType

from ..errors import FileError
from .program import Row, Worker, sealed, unsealed
from .space import Point, Space

ROWS = "search.jsonl"


class Kept:
    """The rows that a sweep has left in a folder, and those of searches, also at less cost, in a file beside them."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._path = folder / ROWS
        self._rows: dict[str, Row] = {}
        self._read(folder / "points.jsonl")
        self._read(self._path)
        try:
            self._file = open(self._path, "ab")
        except OSError as error:
            raise FileError(f"{self._path}: {error.strerror}") from None

    def rows(self, points: Sequence[Point], worker: Worker) -> Iterator[Row]:
        """What comes of points, in their order. Those that are not known run."""
        for row in worker.rows([point for point in points if point.id not in self._rows]):
            self._add(row)
        return (self._rows[point.id] for point in points)

    def of(self, space: Space) -> list[Row]:
        """The rows of a space, also of those that others have added meanwhile."""
        self._read(self._path)
        return [self._rows[point.id] for point in space.points if point.id in self._rows]

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def _add(self, row: Row) -> None:
        self._rows[row["id"]] = row
        try:
            # One write to the end of the file, so that lines of several processes do not mix.
            self._file.write(sealed(row).encode())
            self._file.flush()
        except OSError as error:
            raise FileError(f"{self._path}: {error.strerror}; all points that were done are kept") from None

    def _read(self, path: pathlib.Path) -> None:
        """A line that is not whole is a kill's, and its point runs again, as does that of one that somebody has changed."""
        if not path.exists():
            return
        with open(path, encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                row = unsealed(line)
                if row is not None:
                    self._rows[row["id"]] = row
                elif line.endswith("\n"):
                    warnings.warn(f"{path}, line {number}, is not as it was written: its point runs again", stacklevel=2)
