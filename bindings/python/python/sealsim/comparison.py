"""Designs side by side on one machine."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any, Literal

from . import _native
from .arguments import (
    MOST_MEASURED,
    MOST_THREADS,
    Path,
    Progress,
    Settings,
    Switch,
    count,
    machine_question,
    settings,
    text,
    texts,
    told,
)
from .errors import UsageError
from .record import Record
from .table import Table

SIZES = ("4KiB", "64KiB", "1MiB", "64MiB", "1GiB")


class Comparison(Record, Table):
    """The fields of ``sealsim compare --format json``; ``rows`` are those of ``--format csv``."""

    __slots__ = ("columns", "rows")

    def __init__(self, fields: dict[str, Any], table: str) -> None:
        super().__init__(fields)
        lines = list(csv.reader(io.StringIO(table)))
        self.columns = lines[0]
        self.rows = [dict(zip(self.columns, map(_value, line), strict=True)) for line in lines[1:]]

    def __len__(self) -> int:
        return Record.__len__(self)


def _value(cell: str) -> int | float | str | None:
    for read in (int, float):
        try:
            return read(cell)
        except ValueError:
            pass
    return cell or None


def compare(
    machine: Path | None = None,
    designs: Iterable[Path] | None = None,
    sizes: Iterable[str | int] | None = None,
    *,
    memory: Literal["pinned", "pageable"] = "pinned",
    workload: Path | None = None,
    parameters: Settings | None = None,
    set: Settings | None = None,
    cc: Switch = None,
    what_if: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Comparison:
    """Compares designs copy by copy, or on a workload: rates, gains, what limits each, what each costs and risks.

    designs: shipped ones, TOML files, or several joined by ``+``; all shipped ones that matter, if left out. The baselines off, h100-cc and
    h100-cc-resealed always take part.
    set: single values over every design, ``{"link.max_payload": "512B"}``; cc: confidential computing of the machine on or off; designs lie over it.
    sizes: of copies, as ``64MiB`` or bytes (default: 4 KiB to 1 GiB); not with a workload.

    Errors: as those of ``run``; VerificationError, where a copy is not delivered.
    """
    asked = machine_question(machine, designs, set, cc)
    measured = count("what_if", what_if, MOST_MEASURED)
    workers = None if threads is None else count("threads", threads, MOST_THREADS)
    if workload is not None:
        if sizes is not None or measured or memory != "pinned":
            raise UsageError("sizes, memory and what_if are for copies: leave them out with a workload")
        question: dict[str, Any] = {
            "machine": asked,
            "workload": text(workload),
            "parameters": settings("parameters", parameters),
            "threads": workers,
        }
        with told(progress, "compare") as tell:
            return _comparison(_native.compare_workload(question, tell))
    if machine is None:
        raise UsageError("give a machine, for example sealsim.compare(\"h100-nvl-tdx\")")
    if parameters is not None:
        raise UsageError("parameters are a workload's, and none is given")
    copies = SIZES if sizes is None else texts("sizes", sizes)
    if not copies:
        raise UsageError("sizes is empty: give one at least, for example sizes=[\"64MiB\"]")
    question = {
        "machine": asked,
        "sizes": list(copies),
        "memory": text(memory),
        "what_if": measured,
        "threads": workers,
    }
    with told(progress, "compare") as tell:
        return _comparison(_native.compare(question, tell))


def _comparison(answer: tuple[str, str]) -> Comparison:
    document, table = answer
    return Comparison(json.loads(document), table)
