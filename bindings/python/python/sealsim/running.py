"""Copies and workloads on a machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Literal

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


class Report(Record):
    """What a run gave: the fields of ``sealsim run --format json``, which docs/results.md describes."""

    __slots__ = ("shortcomings",)

    shortcomings: list[str]
    """What was not delivered and why; empty where all is well."""

    def __init__(self, fields: dict[str, object], shortcomings: Iterable[str] = ()) -> None:
        super().__init__(fields)
        self.shortcomings = list(shortcomings)

    @property
    def delivered(self) -> bool:
        """Whether every copy arrived, verified and unchanged."""
        return not self.shortcomings

    def __getstate__(self) -> tuple[dict[str, object], list[str]]:  # type: ignore[override]
        return self._fields, self.shortcomings

    def __setstate__(self, state: tuple[dict[str, object], list[str]]) -> None:  # type: ignore[override]
        self._fields, self.shortcomings = state


def run(
    machine: Path | None = None,
    copies: Iterable[str] | None = None,
    *,
    workload: Path | None = None,
    parameters: Settings | None = None,
    designs: Iterable[Path] | None = None,
    set: Settings | None = None,
    cc: Switch = None,
    data: Literal["none", "exact"] = "none",
    seed: int = 0,
    inject: Iterable[str] | None = None,
    what_if: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Report:
    """Runs copies one after the other, or a workload, on a machine.

    machine: a shipped one (``sealsim list``) or a TOML file; may be left out for a workload that names its own.
    copies: ``h2d:64MiB``, ``d2h:1GiB:pageable``, each a direction, a size and a kind of host memory.
    workload: a TOML file or a shipped one, in place of copies; parameters: values of its parameters.
    designs: laid over the machine, later ones on top; set: single values, ``{"link.max_payload": "512B"}``.
    cc: confidential computing of the machine, True (``on``) or False (``off``), whatever its file says; designs lie over it.
    data: ``none`` for the timing alone, ``exact`` to carry and check every byte; the timing is the same.
    inject: faults, as ``link.h2d.flip:200``.
    what_if: of the copy that ends last, how many parameters to measure that may limit it (default: one, where that is quick).
    progress: called with the part that is done, from 0 to 1; ``True`` for a bar, if tqdm is installed.

    A copy that is not delivered is no error: see ``Report.delivered``. Errors: UsageError, ConfigError, FileError, SimulationError.
    """
    if (copies is None) == (workload is None):
        raise UsageError("give copies or a workload, for example copies=[\"h2d:64MiB\"]")
    asked = texts("copies", copies)
    if not asked and workload is None:
        raise UsageError("copies is empty: give one at least, for example copies=[\"h2d:64MiB\"]")
    if workload is None and parameters is not None:
        raise UsageError("parameters are a workload's, and none is given")
    if data not in ("none", "exact"):
        raise UsageError(f"data is {data!r}, but must be \"none\" or \"exact\"")
    question = {
        "machine": machine_question(machine, designs, set, cc),
        "copies": asked,
        "workload": None if workload is None else text(workload),
        "parameters": settings("parameters", parameters),
        "data": data == "exact",
        "seed": count("seed", seed, (1 << 64) - 1),
        "inject": texts("inject", inject),
        "what_if": None if what_if is None else count("what_if", what_if, MOST_MEASURED),
        "threads": None if threads is None else count("threads", threads, MOST_THREADS),
    }
    with told(progress, "run") as tell:
        report, shortcomings = _native.run(question, tell)
    return Report(json.loads(report), shortcomings)
