"""An AES-GCM engine, stepped cycle by cycle."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from typing import Any

from . import _native
from .arguments import Path, Settings, settings, text
from .errors import ConfigError, SimulationError, UsageError, VerificationError
from .record import Record

GIVE_UP_AFTER = 1 << 22
"""Cycles without an event after which a message is given up."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in a cycle.

    kind: ``key_ready``; ``phase``, with its name; ``aad``, a block came in; ``taken``, with the number of text blocks that came in; ``text``, with a
    block that is valid at the output from this cycle on; ``chain_tag`` and ``tag``, with a tag.
    """

    cycle: int
    kind: str
    value: bytes | int | str | None = None


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed message, with what happened when."""

    text: bytes
    tag: bytes
    events: list[Event]
    start: int = 0

    @property
    def cycles(self) -> int:
        """From the start of the message to its tag."""
        return self.events[-1].cycle - self.start


@dataclass(frozen=True, slots=True)
class Opened:
    """An opened message, whose tag was right, with what happened when."""

    text: bytes
    events: list[Event]
    start: int = 0

    @property
    def cycles(self) -> int:
        """From the start of the message to its tag."""
        return self.events[-1].cycle - self.start


class Engine:
    """An AES-GCM engine as hardware, each register with its value in each cycle.

    config: a shipped engine (``sealsim list``), a machine, whose engine is taken, or a TOML file.
    set: single values over it, as ``{"aes.lanes": 4}``; key_bits: the key size, if not the configuration's.

    What is started or offered before ``step`` happens in the cycle that it works.
    """

    def __init__(
        self,
        config: Path,
        key: bytes | None = None,
        *,
        set: Settings | None = None,
        key_bits: int | None = None,
    ) -> None:
        if key is not None and key_bits is None:
            key_bits = 8 * len(key)
        self._engine = _native.Engine(text(config), settings("set", set), key_bits)
        if key is not None:
            self._engine.load_key(key)

    def load_key(self, key: bytes) -> None:
        """Loads a key in this cycle. Messages may be started at once; they wait for it."""
        self._engine.load_key(key)

    def start(self, iv: bytes, aad: bytes = b"", *, text_bytes: int, open: bool = False) -> None:
        """Starts a message in this cycle: its AAD comes in by itself, its text as it is offered."""
        self._engine.start(iv, aad, text_bytes, open)

    def offer(self, text: bytes) -> None:
        """Text that is visible from this cycle on. It belongs to the messages in the order of their starts."""
        self._engine.offer(text)

    def step(self) -> list[Event]:
        """Works one cycle and goes to the next. Gives what happened; text is valid one cycle after its block was taken."""
        return [Event(*event) for event in self._engine.step()]

    @property
    def cycle(self) -> int:
        """The cycle that the next ``step`` works."""
        return self._engine.cycle

    @property
    def idle(self) -> bool:
        """Whether no message is in the engine."""
        return self._engine.idle

    @property
    def key_bits(self) -> int:
        """Bits of its keys."""
        return self._engine.key_bits

    @property
    def spec(self) -> Record:
        """What it is built of: the table ``engine`` of a configuration."""
        return Record(json.loads(self._engine.spec()))

    def registers(self) -> dict[str, int]:
        """Every register that holds a value, by its path as in waves: ``aes.lane0.state3``, ``ghash0.accumulator0``."""
        return self._engine.registers()

    def seal(self, iv: bytes, text: bytes, aad: bytes = b"") -> Sealed:
        """Seals a message, with all of its text there from the start."""
        start = self.cycle
        output, tag, events = self._message(iv, text, aad, open=False)
        return Sealed(output, tag, events, start)

    def open(self, iv: bytes, text: bytes, tag: bytes, aad: bytes = b"") -> Opened:
        """Opens a message and compares its tag.

        Errors: VerificationError, if the tag is wrong; the text is not given then.
        """
        start = self.cycle
        output, computed, events = self._message(iv, text, aad, open=True)
        if len(tag) != 16 or not hmac.compare_digest(tag, computed):
            raise VerificationError(f"the tag is wrong: given {tag.hex()}, computed {computed.hex()}")
        return Opened(output, events, start)

    def _message(self, iv: bytes, text: bytes, aad: bytes, *, open: bool) -> tuple[bytes, bytes, list[Event]]:
        if not self.idle:
            raise UsageError("a message is in the engine: step until it is idle, or take another engine")
        if self._engine.tags != 1:
            raise ConfigError("this engine has a tag for each of several chains, which is not AES-GCM: use step")
        self.start(iv, aad, text_bytes=len(text), open=open)
        self.offer(text)
        events: list[Event] = []
        quiet = 0
        while quiet < GIVE_UP_AFTER:
            new = self.step()
            events += new
            quiet = 0 if new else quiet + 1
            tags = [_bytes(event.value) for event in new if event.kind == "tag"]
            if tags:
                output = b"".join(_bytes(event.value) for event in events if event.kind == "text")
                return output, tags[0], events
        raise SimulationError(f"nothing happened for {GIVE_UP_AFTER} cycles; this engine's control never lets the message end")


def _bytes(value: Any) -> bytes:
    assert isinstance(value, bytes)
    return value
