"""The space of a study: the points that ``sealsim sweep plan`` prints, and which of them a choice of values for each axis means.

Ranges, zipped axes and conditional ones are the program's affair: whatever it prints is the space.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import ConfigError, SimulationError

MOST_POINTS = 1_000_000
"""Points of a study that is searched: each takes some 500 bytes of memory."""

_NUMBER = re.compile(r"-?\d")


@dataclass(frozen=True)
class Point:
    """One point of a study: what each axis is set to, None where the axis does not apply."""

    index: int
    id: str
    settings: tuple[tuple[str, str | None], ...]

    def line(self) -> str:
        """As ``sealsim sweep run-point`` reads it."""
        return json.dumps({"index": self.index, "id": self.id, "settings": self.settings})


@dataclass(frozen=True)
class Axis:
    """An axis that is free: it has several values for some choice of the axes before it."""

    path: str
    values: list[str]
    ordered: bool
    """Whether neighbours in the list are neighbours in meaning: numbers are, names are not."""


class Space:
    """The points of a study by their axes."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.points = [_point(line) for line in lines]
        if not self.points:
            raise ConfigError("the study has no points: give it an [[axis]]")
        self.paths = [path for path, _ in self.points[0].settings]
        self._places: list[dict[str | None, int]] = [{} for _ in self.paths]
        for point in self.points:
            for places, (_, value) in zip(self._places, point.settings, strict=True):
                if value is not None:
                    places.setdefault(value, len(places))
        # By choices for the first axes: the points with them, by the choice for the next axis. Made as they are asked for.
        self._nodes: dict[tuple[int, ...], dict[int, list[int]]] = {}
        self.axes = self._free()

    def __len__(self) -> int:
        return len(self.points)

    def choices(self, point: Point) -> dict[str, int]:
        """For each free axis: the place of the point's value in the axis's list; the first where the axis does not apply."""
        known = zip(self.paths, self._places, point.settings, strict=True)
        places = {path: places.get(value, 0) for path, places, (_, value) in known}
        return {axis.path: places[axis.path] for axis in self.axes}

    def point(self, choices: Mapping[str, int]) -> Point:
        """The point of a choice for each free axis; where there is none with it, as among points drawn at random, the next one."""
        prefix: tuple[int, ...] = ()
        numbers: Sequence[int] = range(len(self.points))
        for path in self.paths:
            by_choice = self._split(prefix, numbers)
            wanted = choices.get(path, 0)
            choice = min(by_choice, key=lambda choice: abs(choice - wanted))
            prefix, numbers = (*prefix, choice), by_choice[choice]
        return self.points[numbers[0]]

    def _split(self, prefix: tuple[int, ...], numbers: Iterable[int]) -> dict[int, list[int]]:
        node = self._nodes.get(prefix)
        if node is None:
            node = {}
            place = len(prefix)
            for number in numbers:
                value = self.points[number].settings[place][1]
                choice = -1 if value is None else self._places[place][value]
                node.setdefault(choice, []).append(number)
            self._nodes[prefix] = node
        return node

    def _free(self) -> list[Axis]:
        """A zipped axis follows the first of its group, so it is none."""
        free = []
        # By point: a number for what its axes so far are set to.
        before = [0] * len(self.points)
        for place, (path, places) in enumerate(zip(self.paths, self._places, strict=True)):
            after: dict[tuple[int, str | None], int] = {}
            groups = len(set(before))
            for number, point in enumerate(self.points):
                before[number] = after.setdefault((before[number], point.settings[place][1]), len(after))
            if len(after) > groups:
                texts = [text for text in places if text is not None]
                free.append(Axis(path, texts, all(_NUMBER.match(text) for text in texts)))
        return free


def _point(line: str) -> Point:
    try:
        fields = json.loads(line)
        settings = tuple((str(path), value) for path, value in fields["settings"])
        return Point(int(fields["index"]), str(fields["id"]), settings)
    except (ValueError, KeyError, TypeError) as error:
        raise SimulationError(
            f"`sealsim sweep plan` printed {line[:80]!r}, which is no point ({error}): are program and package of one version?"
        ) from None
