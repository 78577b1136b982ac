"""What is looked for: columns to be small, columns to be large, and which points do not count."""

from __future__ import annotations

import csv
import json
import math
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import FileError, UsageError
from .space import Point, Space

_TIMES = ("_ns", "_us", "_ms", "_s")
_UNITS = {
    "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "fs": 1e-15, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0,
    "Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9, "cycle": 1.0, "cycles": 1.0,
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """A point as an optimiser sees it."""

    values: tuple[float, ...] | None
    """The objectives; None where there are none."""
    violation: float
    """0 where it counts: 1 for engines that do not close at their clock, 2 for a point without figures."""


@dataclass(frozen=True)
class Goal:
    """Columns of points.csv, as ``sealsim pareto`` takes them."""

    minimise: tuple[str, ...]
    maximise: tuple[str, ...]
    axes: tuple[str, ...] = ()
    """The columns of the study's axes, in their order."""

    @staticmethod
    def of(folder: pathlib.Path, minimise: Sequence[str] = (), maximise: Sequence[str] = ()) -> Goal:
        """The objectives that are given, or those of the folder's study."""
        record = json.loads(_text(folder / "study.json"))
        if not minimise and not maximise:
            minimise, maximise = record["min"], record["max"]
        if not minimise and not maximise:
            raise UsageError("no objective: give --min COLUMN or --max COLUMN, or `objectives` in the study")
        known = next(csv.reader([_text(folder / "points.csv").partition("\n")[0]]))
        for name in [*minimise, *maximise]:
            if name not in known and f"{_stem(name)}_ps" not in known:
                raise UsageError(f"no column `{name}`; there are {', '.join(known)}")
        if "copy" in record["axes"]:
            raise UsageError(
                "copies of different size or direction are different work, which no front holds against each other: "
                "leave the axis `copy` out, and search one --copy at a time"
            )
        return Goal(tuple(minimise), tuple(maximise), tuple(record["axes"]))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, those to be small first."""
        return self.minimise + self.maximise

    @property
    def arguments(self) -> list[str]:
        """As ``sealsim pareto`` takes them."""
        small = [word for name in self.minimise for word in ("--min", name)]
        return small + [word for name in self.maximise for word in ("--max", name)]

    def judge(self, space: Space, point: Point, row: dict[str, Any]) -> Judged:
        """What a point is worth."""
        figures = row.get("figures", {})
        if figures.get("does_not_close"):
            return Judged(None, 1.0)
        if row.get("error"):
            return Judged(None, 2.0)
        values = []
        for name in self.columns:
            value = self._value(name, space, point, figures)
            if value is None or not math.isfinite(value):
                return Judged(None, 2.0)
            values.append(value)
        return Judged(tuple(values), 0.0)

    def _value(self, name: str, space: Space, point: Point, figures: dict[str, Any]) -> float | None:
        if name in self.axes:
            return _number(point.settings[self.axes.index(name)][1])
        found = figures.get(name)
        if found is None:
            # A time in another unit orders points as picoseconds do.
            found = figures.get(f"{_stem(name)}_ps")
        return found if isinstance(found, (int, float)) else None


def _stem(name: str) -> str:
    """The name of a time without its unit."""
    return next((name.removesuffix(unit) for unit in _TIMES if name.endswith(unit)), name)


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: {error}") from None


def _number(setting: str | None) -> float | None:
    """A quantity in its base unit; any will do that orders those of one axis."""
    number, _, unit = (setting or "").partition(" ")
    try:
        return float(number) * _UNITS.get(unit, 1.0)
    except ValueError:
        return None
