"""AXI4-Stream ports of an AES-GCM core under cocotb: drivers that stall at random, and a checker that gives a scoreboard what comes out.

    text = Source(Stream.of(dut, "s_axis"), dut.clock, stalls=0.3)
    check = Check(scoreboard, dut.clock, text=Stream.of(dut, "m_axis"), tag_valid=dut.tag_valid, tag=dut.tag, stalls=0.3)
    scoreboard.start(iv, plain, aad)
    await text.send(plain)
    await check.ended()

Beats may have any number of bytes, several blocks among them. A last beat that is short has ``keep`` low behind its end; with ``short`` so have others.
AAD goes over a port of its own, a second ``Source``, or over that of text before it. A tag comes in the stream behind its text, over a stream of its
own, or on pins; of messages that are opened, pins that say passed or failed may take its place.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from cocotb.types import LogicArray

from .axis_rules import Rules
from .errors import UsageError
from .scoreboard import Scoreboard

__all__ = ["Check", "Source", "Stream"]


class Stream:
    """The pins of a stream. ready, keep, strb, last, user, id, dest: where the core has them. big: the first byte stands in the highest bits, not in the lowest.

    Cores that came before AXI may have ``busy``, which is high where ready is low, and ``size``, the bytes of a beat (less ``size_less``), in place of keep.
    """

    def __init__(
        self,
        valid: Any,
        data: Any,
        *,
        ready: Any = None,
        keep: Any = None,
        last: Any = None,
        big: bool = False,
        busy: Any = None,
        size: Any = None,
        size_less: int = 0,
        strb: Any = None,
        user: Any = None,
        id: Any = None,
        dest: Any = None,
    ) -> None:
        self.valid, self.data, self.keep, self.last, self.big = valid, data, keep, last, big
        self.size, self.size_less = size, size_less
        self._ready, self._takes = (ready, "1") if busy is None else (busy, "0")
        self.bytes = len(data) // 8
        pins = {"keep": keep, "strb": strb, "last": last, "user": user, "id": id, "dest": dest, "data": data}
        self.pins = {name: pin for name, pin in pins.items() if pin is not None}
        self.axi = busy is None and size is None
        for pin in (keep, strb):
            if pin is not None and len(pin) != self.bytes:
                raise UsageError(f"{pin._name} has {len(pin)} bits, but {data._name} has {self.bytes} bytes")

    @classmethod
    def of(cls, dut: Any, name: str, *, big: bool = False) -> Stream:
        """The pins whose names begin with ``name``: ``NAME_tvalid``, ``NAME_valid`` and so on."""
        found: dict[str, Any] = {}
        for pin in ("valid", "data", "ready", "keep", "strb", "last", "user", "id", "dest"):
            handles = (getattr(dut, f"{name}_{form}{pin}", None) for form in ("t", ""))
            found[pin] = next((handle for handle in handles if handle is not None), None)
        if found["valid"] is None or found["data"] is None:
            raise UsageError(f"{dut._name} has no {name}_tvalid and {name}_tdata")
        return cls(big=big, **found)

    @property
    def ready(self) -> bool:
        """Whether a beat that is offered is taken."""
        return self._ready is None or str(self._ready.value) == self._takes

    @property
    def waits_for(self) -> str:
        """What a beat that is offered waits for, with its level."""
        return "nothing" if self._ready is None else f"{self._ready._name}, which is {self._ready.value}"

    def accept(self, takes: bool) -> None:
        """Says whether beats are taken."""
        if self._ready is not None:
            self._ready.value = int(takes == (self._takes == "1"))

    def beat(self, data: bytes) -> tuple[int, int]:
        """Data and keep of a beat, its bytes from the first place on."""
        held = int.from_bytes(data, "big" if self.big else "little")
        keep = (1 << len(data)) - 1
        if self.big:
            empty = self.bytes - len(data)
            return held << 8 * empty, keep << empty
        return held, keep

    def lanes(self) -> list[tuple[str, str]]:
        """Keep and strb of each byte, the highest first; high where there is no such pin, and strb as keep where there is none of it."""
        keep = str(self.keep.value) if self.keep is not None else "1" * self.bytes
        return list(zip(keep, str(self.pins["strb"].value) if "strb" in self.pins else keep, strict=True))

    def held(self, most: int) -> tuple[bytes, str | None]:
        """The bytes of a beat that count, ``most`` at most where no pin says how many; and which pin has no value, if one that counts has none."""
        if self.size is not None:
            size = str(self.size.value)
            if any(bit not in "01" for bit in size):
                return b"", f"{self.size._name} is {size}"
            most = int(size, 2) + self.size_less
        bits, marks = str(self.data.value), self.lanes()
        for name in ("keep", "strb"):
            if name in self.pins and any(bit not in "01" for bit in str(self.pins[name].value)):
                return b"", f"{self.pins[name]._name} is {self.pins[name].value}"
        lanes = [bits[at : at + 8] for at in range(0, len(bits), 8)]
        kept = [lane for lane, mark in (zip(lanes, marks, strict=True) if self.big else zip(lanes[::-1], marks[::-1], strict=True)) if mark == ("1", "1")]
        if self.keep is None and most > 0:
            kept = kept[:most]
        unknown = any(bit not in "01" for lane in kept[: max(most, 0)] for bit in lane)
        data = bytes(int("".join(bit if bit in "01" else "0" for bit in lane), 2) for lane in kept)
        return data, f"{self.data._name} is {bits}" if unknown else None


def _rate(name: str, given: float) -> float:
    if not 0 <= given < 1:
        raise UsageError(f"{name} is {given}, but must lie from 0 to below 1: nothing would ever move")
    return given


class Source:
    """Drives a stream into the core.

    stalls: how often a cycle passes without a beat, from 0 to below 1. short: how often a beat that is not the last has fewer bytes than it might, where the
    core takes that. What does not count, bytes behind the end of a beat and all pins between beats, is random, or with ``unknown`` X, for simulators that have
    it. within: how many cycles a beat may wait for ready.
    """

    def __init__(
        self, stream: Stream, clock: Any, *, stalls: float = 0.0, short: float = 0.0, draw: random.Random | None = None, unknown: bool = False, within: int = 100_000
    ) -> None:
        if short and stream.keep is None and stream.size is None:
            raise UsageError("short beats need a keep or size pin")
        self._stream, self._clock, self._stalls, self._short = stream, clock, _rate("stalls", stalls), short
        self._draw, self._unknown, self._within = draw or random.Random(1), unknown, within
        for pin in stream.pins.values():
            pin.value = 0
        self._rest()

    def _rest(self) -> None:
        """No beat: what goes with valid is anything."""
        stream = self._stream
        stream.valid.value = 0
        for pin in (stream.data, stream.keep, stream.last, stream.size):
            if pin is not None:
                pin.value = LogicArray(self._anything(len(pin)))

    def _anything(self, bits: int) -> str:
        return "X" * bits if self._unknown else f"{self._draw.getrandbits(bits):0{bits}b}"

    async def send(self, data: bytes, *, last: bool = True, marks: Mapping[Any, int] | None = None) -> None:
        """All beats of ``data``, until the core has taken them. last: whether its last beat ends a packet. marks: other pins, with what they say meanwhile."""
        stream, at = self._stream, 0
        for pin, value in (marks or {}).items():
            pin.value = value
        while at < len(data):
            while self._draw.random() < self._stalls:
                await RisingEdge(self._clock)
            count = min(stream.bytes, len(data) - at)
            if count == stream.bytes and self._draw.random() < self._short:
                count = self._draw.randint(1, count)
            held, keep = stream.beat(data[at : at + count])
            at += count
            stream.valid.value, stream.data.value = 1, self._filled(held, keep)
            if stream.keep is not None:
                stream.keep.value = keep
            if stream.size is not None:
                stream.size.value = count - stream.size_less
            if stream.last is not None:
                stream.last.value = int(last and at == len(data))
            await self._taken()
            self._rest()

    def _filled(self, held: int, keep: int) -> Any:
        """Data with anything in the lanes that are not kept."""
        lanes = reversed(range(self._stream.bytes))
        return LogicArray("".join(f"{held >> 8 * lane & 0xFF:08b}" if keep >> lane & 1 else self._anything(8) for lane in lanes))

    async def _taken(self) -> None:
        for _ in range(self._within):
            await ReadOnly()
            ready = self._stream.ready
            await RisingEdge(self._clock)
            if ready:
                return
        raise TimeoutError(f"{self._stream.valid._name} has been high for {self._within} cycles, waiting for {self._stream.waits_for}")


class Check:
    """Takes what comes out of a core and gives it to a scoreboard; drives ``ready``. Holds its streams to the rules of AXI4-Stream (``sealsim.axis_rules``).

    text: the stream of text. tag: a bus, with tag_valid, its first byte in the highest bits, or a Stream; without, tags follow their text in its stream.
    passed, failed: pins that are high for a cycle when an opened message has been judged; such a message has no tag then. stalls: how often ready is low.
    resetn, reset: the pin of reset, low or high in it, where rules of reset are to be seen. nulls: whether beats of null bytes alone may come, which
    AXI4-Stream allows and many receivers do not take. cycle: edges so far. A difference fails the test at the edge at which it is seen.
    """

    def __init__(
        self,
        scoreboard: Scoreboard,
        clock: Any,
        *,
        text: Stream,
        tag: Any = None,
        tag_valid: Any = None,
        passed: Any = None,
        failed: Any = None,
        stalls: float = 0.0,
        draw: random.Random | None = None,
        resetn: Any = None,
        reset: Any = None,
        nulls: bool = True,
    ) -> None:
        self.scoreboard, self.cycle, self.transfers, self.stalled = scoreboard, 0, 0, 0
        self._clock, self._text, self._tag, self._tag_valid = clock, text, tag, tag_valid
        self._nulls = nulls
        self._reset, self._in_reset = (reset, "1") if resetn is None else (resetn, "0")
        self._rules = {id(stream): Rules(stream) for stream in self._streams() if stream.axi}
        self._judging = [(pin, outcome) for pin, outcome in ((passed, True), (failed, False)) if pin is not None]
        self._stalls, self._draw = _rate("stalls", stalls), draw or random.Random(2)
        self._buffer = {id(text): b"", id(tag): b""}
        cocotb.start_soon(self._run())

    async def ended(self, within: int = 100_000) -> None:
        """Until no message is in the core; no longer than so many cycles, after which what is missing fails the test."""
        for _ in range(within):
            if self.scoreboard.idle and not self.scoreboard.unended:
                return
            await RisingEdge(self._clock)
            await ReadOnly()
        self.scoreboard.finish(f"waited {within} cycles for {self._awaited()}")

    def _awaited(self) -> str:
        """The pin that does not come."""
        if not self.scoreboard.awaits_tag or self._tag is None:
            return str(self._text.valid._name)
        judging = [pin._name for pin, _ in self._judging] if self.scoreboard.oldest and self.scoreboard.oldest.opens else []
        return " or ".join(judging) or str((self._tag.valid if isinstance(self._tag, Stream) else self._tag_valid)._name)

    def _streams(self) -> Iterable[Stream]:
        yield self._text
        if isinstance(self._tag, Stream):
            yield self._tag

    async def _run(self) -> None:
        while True:
            for stream in self._streams():
                stream.accept(self._draw.random() >= self._stalls)
            await ReadOnly()
            resets = None if self._reset is None else str(self._reset.value) == self._in_reset
            broken = [told for rules in self._rules.values() if (told := rules.sample(resets)) is not None]
            comes = {id(stream) for stream in self._streams() if not resets and self._high("text", stream.valid)}
            ready = {id(stream) for stream in self._streams() if stream.ready}
            beats = [(stream, *stream.held(self._due(stream)), self._last(stream)) for stream in self._streams() if id(stream) in comes & ready]
            self.stalled += len(comes - ready)
            tag = str(self._tag.value) if self._tag_valid is not None and self._high("tag", self._tag_valid) else None
            outcomes = [outcome for pin, outcome in self._judging if self._high("outcome", pin)]
            await RisingEdge(self._clock)
            self.cycle += 1
            for told in broken:
                self.scoreboard.misplaced(told, cycle=self.cycle)
            for stream, data, unknown, last in beats:
                self.transfers += 1
                self._beat(stream, data, unknown, last)
            if tag is not None:
                bits = tag[: 8 * self.scoreboard.tag_bytes]
                if any(bit not in "01" for bit in bits):
                    self.scoreboard.unknown("tag", f"{self._tag._name} is {tag} while its valid is high", cycle=self.cycle)
                self.scoreboard.tag(int(bits, 2).to_bytes(len(bits) // 8, "big"), cycle=self.cycle)
            for outcome in outcomes:
                self.scoreboard.outcome(outcome, cycle=self.cycle)

    def _high(self, what: str, pin: Any) -> bool:
        level = str(pin.value)
        if level not in ("0", "1") and not self.scoreboard.idle:
            self.scoreboard.unknown(what, f"{pin._name} is {level}", cycle=self.cycle)
        return level == "1"

    def _last(self, stream: Stream) -> bool | None:
        return None if stream.last is None else str(stream.last.value) == "1"

    def _rest(self) -> tuple[int, int]:
        """Bytes of text, and of a tag behind it, that may still come in the stream of text."""
        board = self.scoreboard
        if self._tag is not None:
            return board.rest, 0
        oldest = board.oldest
        if oldest is None:
            return 0, 0
        return 0 if board.awaits_tag else board.rest, 0 if oldest.opens and self._judging else board.tag_bytes

    def _due(self, stream: Stream) -> int:
        """Bytes that may still come in this packet."""
        due = sum(self._rest()) if stream is self._text else self.scoreboard.tag_bytes
        return due - len(self._buffer[id(stream)])

    def _beat(self, stream: Stream, data: bytes, unknown: str | None, last: bool | None) -> None:
        if unknown is not None:
            self.scoreboard.unknown("text" if stream is self._text else "tag", unknown, cycle=self.cycle)
        if not data and not unknown and not self._nulls:
            self.scoreboard.misplaced(f"{stream.data._name}: a beat of null bytes", cycle=self.cycle)
        due = self._due(stream)
        if len(data) > due:
            self.scoreboard.surplus(data[max(due, 0) :], cycle=self.cycle)
        unended, late = self.scoreboard.unended, f"last of {stream.data._name}: it does not come at the end"
        if late in unended and (data or last):
            unended.discard(late)
            if data:
                self.scoreboard.misplaced(f"{late} (IHI 0051A 2.5)", cycle=self.cycle)
        elif last and len(data) < due:
            told = f"last of {stream.data._name}: it comes {due - len(data)} bytes before the end (IHI 0051A 2.5)"
            self.scoreboard.misplaced(told, cycle=self.cycle)
        elif last is False and data and len(data) == due:
            # Null beats may follow, of which one ends the packet.
            unended.add(late)
        board, held = self.scoreboard, self._buffer[id(stream)] + data
        while stream is self._text and self._rest()[0] and len(held) >= board.due:
            count = board.due
            board.text(held[:count].ljust(16, b"\0"), cycle=self.cycle)
            held = held[count:]
        text, tag = self._rest()
        if len(held) >= board.tag_bytes and (stream is not self._text or (tag and not text)):
            board.tag(held[: board.tag_bytes], cycle=self.cycle)
            held = held[board.tag_bytes :]
        self._buffer[id(stream)] = held
