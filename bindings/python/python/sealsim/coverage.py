"""Functional coverage of the messages that a core has ended rightly, with cocotb-coverage: what kinds there were, and which pairs of kinds are missing.

    coverage = Coverage(scoreboard)
    ...
    print(coverage.percent, coverage.missing())
    coverage.export("coverage.xml")

``pip install sealsim[coverage]``. The file is cocotb-coverage's own XML, which its ``merge_coverage`` joins with others.
"""

from __future__ import annotations

from pathlib import Path

from cocotb_coverage.coverage import CoverCross, CoverPoint, coverage_db, coverage_section

from .scoreboard import Message, Scoreboard
from .software import BLOCK

__all__ = ["Coverage"]

LENGTHS = ["none", "part of a block", "a block", "blocks", "blocks and a part"]


def _length(count: int) -> str:
    """The kind of a number of bytes."""
    if count <= BLOCK:
        return "none" if count == 0 else LENGTHS[1 + count // BLOCK]
    return "blocks and a part" if count % BLOCK else "blocks"


class Coverage:
    """Samples each message of a scoreboard when it ends without a difference.

    Points: aad, text (their lengths), direction (sealed, opened, or opened with a forged tag), key (new, or that of the message before), and the crosses of
    the first three, two at a time. name: the root of their names in cocotb-coverage's data base, which all scoreboards of a program share.
    """

    def __init__(self, scoreboard: Scoreboard, name: str = "aes_gcm") -> None:
        self.name = name
        self._key: bytes | None = None
        points = {
            "aad": (lambda message, new: _length(len(message.aad)), LENGTHS),
            "text": (lambda message, new: _length(len(message.input)), LENGTHS),
            "direction": (lambda message, new: _direction(message), ["sealed", "opened", "forged"]),
            "key": (lambda message, new: "new" if new else "kept", ["new", "kept"]),
        }
        crosses = [("aad", "text"), ("aad", "direction"), ("text", "direction")]
        self._names = [*points, *(f"{one}_{other}" for one, other in crosses)]
        section = coverage_section(
            *(CoverPoint(f"{name}.{point}", xf=of, bins=bins) for point, (of, bins) in points.items()),
            *(CoverCross(f"{name}.{one}_{other}", items=[f"{name}.{one}", f"{name}.{other}"]) for one, other in crosses),
        )
        self._sample = section(lambda message, new: None)
        scoreboard.ended.append(self.sample)

    def sample(self, message: Message) -> None:
        """Counts a message."""
        self._sample(message, message.key != self._key)
        self._key = message.key

    @property
    def percent(self) -> float:
        """Of all bins, how many in a hundred have been hit."""
        return float(coverage_db[self.name].cover_percentage)

    def missing(self) -> list[str]:
        """Bins that no message has hit."""
        bins = {name: coverage_db[f"{self.name}.{name}"].detailed_coverage for name in self._names}
        return [f"{name}: {told}" for name, hits in bins.items() for told, count in hits.items() if not count]

    def export(self, path: str | Path) -> None:
        """Writes XML, or YAML where the name ends so."""
        if str(path).endswith((".yml", ".yaml")):
            coverage_db.export_to_yaml(str(path))
        else:
            coverage_db.export_to_xml(str(path))


def _direction(message: Message) -> str:
    if not message.opens:
        return "sealed"
    return "opened" if message.passes else "forged"
