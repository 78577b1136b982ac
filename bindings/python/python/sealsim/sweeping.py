"""Spaces of designs."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from . import _native
from .arguments import MOST_THREADS, Path, Progress, count, text, told
from .table import Table


class Sweep(Table):
    """The points of a study with their figures; docs/studies.md describes the columns."""

    def __init__(self, folder: pathlib.Path, columns: list[str], rows: list[list[Any]]) -> None:
        self.folder = folder
        self.columns = columns
        self.rows = [dict(zip(columns, row, strict=True)) for row in rows]

    def __repr__(self) -> str:
        return f"Sweep({str(self.folder)!r}, {len(self.rows)} rows)"


def sweep(
    study: Path, folder: Path, *, threads: int | None = None, progress: Progress = None
) -> Sweep:
    """Runs every point of a study that the folder does not have yet, and gives the table of all.

    study: a TOML file, or the text of one, which has more than one line. folder: where results are kept; made if it is not there. A sweep that
    was interrupted goes on when it is run again.

    Errors: ConfigError, FileError; UsageError, if the folder holds another study.
    """
    named = not (isinstance(study, str) and "\n" in study)
    question = {
        "path": text(study) if named else None,
        "text": "" if named else study,
        "folder": text(folder),
        "threads": None if threads is None else count("threads", threads, MOST_THREADS),
    }
    with told(progress, "sweep") as tell:
        columns, rows = _native.sweep(question, tell)
    return Sweep(pathlib.Path(folder), columns, json.loads(rows))
