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

    data, tag: buses, the first byte in the highest bits. cycle: edges so far, which ``Scoreboard.start`` may be told.
    A difference fails the test at the edge at which it is seen.
    """

    def __init__(self, scoreboard: Scoreboard, clock: Any, *, valid: Any, data: Any, tag_valid: Any, tag: Any) -> None:
        self.scoreboard = scoreboard
        self.cycle = 0
        self._clock = clock
        self._text = (valid, data)
        self._tag = (tag_valid, tag)
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        while True:
            await RisingEdge(self._clock)
            # Values after the edge's assignments: what stands there until the next one.
            await ReadOnly()
            self.cycle += 1
            if _is_high(self._text[0]):
                self.scoreboard.text(_bytes(self._text[1]), cycle=self.cycle)
            if _is_high(self._tag[0]):
                self.scoreboard.tag(_bytes(self._tag[1]), cycle=self.cycle)


def _is_high(pin: Any) -> bool:
    return bool(pin.value.is_resolvable and int(pin.value) == 1)


def _bytes(bus: Any) -> bytes:
    value = bus.value
    assert value.is_resolvable, f"{bus._name} is {value} while its valid is high"
    return int(value).to_bytes(len(value) // 8, "big")
