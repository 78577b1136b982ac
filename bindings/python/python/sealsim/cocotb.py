"""Watches the pins of an AES-GCM core under cocotb for a scoreboard.

    scoreboard = sealsim.scoreboard.Scoreboard(key)
    Watch(scoreboard, dut.clock, valid=dut.out_valid, data=dut.out_data, tag_valid=dut.tag_valid, tag=dut.tag)

cocotb 2.0 or later must be installed: ``pip install sealsim[cocotb]``.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from .scoreboard import Scoreboard

__all__ = ["Watch"]


class Watch:
    """Gives a scoreboard what stands at the outputs of a core before each rising edge of its clock, and counts these edges.

    data, tag: buses, the first byte in the highest bits; a tag bus may be as narrow as the scoreboard's ``tag_bytes``. ready, tag_ready: pins without which a
    transfer does not happen, where the core has them. Bits that are X are a difference where they count: on valid and ready while a message is in the
    core, in data and tag when they come; behind a short last block they do not. cycle: edges so far, which ``Scoreboard.start`` may be told.
    A difference fails the test at the edge at which it is seen.
    """

    def __init__(
        self,
        scoreboard: Scoreboard,
        clock: Any,
        *,
        valid: Any,
        data: Any,
        tag_valid: Any,
        tag: Any,
        ready: Any = None,
        tag_ready: Any = None,
    ) -> None:
        self.scoreboard = scoreboard
        self.cycle = 0
        self._clock = clock
        self._text = ([pin for pin in (valid, ready) if pin is not None], data)
        self._tag = ([pin for pin in (tag_valid, tag_ready) if pin is not None], tag)
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        while True:
            await RisingEdge(self._clock)
            # Values after the edge's assignments: what stands there until the next one.
            await ReadOnly()
            self.cycle += 1
            if self._come("text", self._text[0]):
                self.scoreboard.text(self._bytes("text", self._text[1], self.scoreboard.due), cycle=self.cycle)
            if self._come("tag", self._tag[0]):
                self.scoreboard.tag(self._bytes("tag", self._tag[1], self.scoreboard.tag_bytes), cycle=self.cycle)

    def _come(self, what: str, pins: list[Any]) -> bool:
        """Whether all pins are high; one that is low decides, whatever the others are."""
        levels = [str(pin.value) for pin in pins]
        if "0" in levels:
            return False
        for pin, level in zip(pins, levels, strict=True):
            if level != "1":
                if not self.scoreboard.idle:
                    self.scoreboard.unknown(what, f"{pin._name} is {level}", cycle=self.cycle)
                return False
        return True

    def _bytes(self, what: str, bus: Any, count: int) -> bytes:
        """What is on a bus, of which the first ``count`` bytes count."""
        bits = str(bus.value)
        if any(bit not in "01" for bit in bits[: 8 * count]):
            self.scoreboard.unknown(what, f"{bus._name} is {bits} while its valid is high", cycle=self.cycle)
        known = "".join(bit if bit in "01" else "0" for bit in bits)
        return int(known, 2).to_bytes(len(bits) // 8, "big")
