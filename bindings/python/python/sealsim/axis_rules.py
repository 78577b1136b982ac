"""What AXI4-Stream asks of whoever drives a stream, as far as a monitor sees it. Clauses are those of ARM IHI 0051A, each as SVA-AXI4-FVIP (38543ef) quotes it
with its page; names of what has no value are those of ARM's protocol checker (DUI 0534).

| rule | clause |
| --- | --- |
| valid is low in reset, and at the first edge after it | 2.7.2, figure 2-4 |
| valid, once high, stays so until its beat is taken; meanwhile no pin changes that counts | 2.2.1, figure 2-1 |
| strb is low where keep is low | 2.4.3, table 2-2 |
| no pin that counts is X or Z: valid outside reset, the others while it is high | ERRM_..._X |
| the packet is ended by last, on its last byte or on null beats behind it (``Check``) | 2.5 |

Null bytes (keep low) and position bytes (strb low) may hold anything, and so may the bits of user that belong to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .axis import Stream

__all__ = ["Rules"]


class Rules:
    """Holds a stream to the rules; ``sample`` is called before each rising edge of its clock."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._offered: dict[str, str] | None = None
        """What was offered at the last edge and not taken, by pin."""
        self._was_reset = False

    def sample(self, resets: bool | None) -> str | None:
        """What breaks a rule, if anything does. resets: whether the stream is in reset; None where that is not known."""
        stream, valid = self._stream, str(self._stream.valid.value)
        (before, self._offered), (was_reset, self._was_reset) = (self._offered, None), (self._was_reset, bool(resets))
        if was_reset and valid != "0":
            return f"{stream.valid._name} is {valid} in reset or at the first edge after it, but has to be low (IHI 0051A 2.7.2)"
        if resets:
            return None
        if before is not None and valid != "1":
            return f"{stream.valid._name} went to {valid} before its beat was taken (IHI 0051A 2.2.1)"
        if valid != "1":
            unknown = resets is not None and valid != "0"
            return f"{stream.valid._name} is {valid} outside reset (AXI4STREAM_ERRM_TVALID_X)" if unknown else None
        offered = self._counting()
        for name, levels in offered.items():
            if before is not None and before[name] != levels:
                pin = stream.pins[name]._name
                return f"{pin} changed from {before[name]} to {levels} before its beat was taken (IHI 0051A 2.2.1)"
        if not stream.ready:
            self._offered = offered
        return self._wrong(offered)

    def _counting(self) -> dict[str, str]:
        """The levels of each pin that goes with valid, with ``-`` for those that do not count."""
        stream = self._stream
        levels = {name: str(pin.value) for name, pin in stream.pins.items()}
        counts = [keep != "0" and strb != "0" for keep, strb in stream.lanes()]
        for name in ("data", "user"):
            each, rest = divmod(len(levels.get(name, "x")), stream.bytes)
            if name in levels and rest == 0:
                levels[name] = "".join(bit if counts[at // each] else "-" for at, bit in enumerate(levels[name]))
        return levels

    def _wrong(self, offered: dict[str, str]) -> str | None:
        """What is wrong with a beat by itself. Data without a value is told where its bytes are."""
        stream = self._stream
        for name, levels in offered.items():
            if name != "data" and any(bit not in "01-" for bit in levels):
                pin = stream.pins[name]._name
                return f"{pin} is {levels} while {stream.valid._name} is high: no value (AXI4STREAM_ERRM_T{name.upper()}_X)"
        if ("0", "1") in stream.lanes():
            return f"{stream.pins['strb']._name} is {offered['strb']} where keep is {offered['keep']}: reserved (IHI 0051A 2.4.3)"
        return None
