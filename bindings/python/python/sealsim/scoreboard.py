"""Holds an AES-GCM core against software AES-GCM, block by block, in whatever cycles the core takes.

    scoreboard = Scoreboard(key)
    scoreboard.start(iv, text, aad)          # what goes into the core
    scoreboard.text(block)                   # each block that comes out of it, in order
    scoreboard.tag(tag)
    scoreboard.finish()                      # everything has come

The first difference raises Mismatch, which says what differs where and which stage would make such a difference.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from .arguments import Path
from .diagnosis import of_tag, of_text
from .engine import Engine
from .errors import UsageError
from .software import BLOCK, AesGcm

__all__ = ["Budget", "Message", "Mismatch", "Scoreboard"]


@dataclass(frozen=True)
class Message:
    """A message on its way through the core, with what has to come out. ``number`` counts from 0."""

    number: int
    iv: bytes
    aad: bytes
    input: bytes
    output: bytes
    tag: bytes
    opens: bool
    started: int | None = None
    """The cycle of its start, where cycles are told."""

    @property
    def ciphertext(self) -> bytes:
        """What GHASH takes."""
        return self.input if self.opens else self.output


class Mismatch(AssertionError):
    """The core gave something else than AES-GCM, or gave it too late.

    what: ``text``, ``tag``, ``cycles`` or ``missing``. message, block: which, from 0; of a tag the block is None.
    expected, got: bytes, or cycles. counter_block: what the block is sealed with; of a tag, J0. stage: what would make such a difference.
    """

    def __init__(
        self,
        what: str,
        message: Message | None,
        stage: str,
        *,
        block: int | None = None,
        expected: bytes | int | None = None,
        got: bytes | int | None = None,
        counter_block: bytes | None = None,
        cycle: int | None = None,
    ) -> None:
        self.what, self.message, self.stage, self.block = what, message, stage, block
        self.expected, self.got, self.counter_block, self.cycle = expected, got, counter_block, cycle
        super().__init__(self._told())

    def _told(self) -> str:
        place = [] if self.message is None else [f"message {self.message.number}"]
        place += [] if self.block is None else [f"block {self.block}"]
        place += [] if self.cycle is None else [f"cycle {self.cycle}"]
        lines = [", ".join([*place, f"{self.what}: {self.stage}"])]
        for name, value in (("expected", self.expected), ("got", self.got), ("counter block", self.counter_block)):
            if value is not None:
                lines.append(f"  {name:14}{value.hex() if isinstance(value, bytes) else value}")
        return "\n".join(lines)


@dataclass
class Budget:
    """How many cycles a message may take from its start to its tag: those of an engine, times ``factor``, and ``slack`` more.

    engine: a shipped engine, or the path of a TOML file.
    """

    engine: Path
    factor: float = 1.0
    slack: int = 0
    _engines: dict[bytes, Engine] = field(default_factory=dict, repr=False)

    def cycles(self, key: bytes, message: Message) -> int:
        """The most cycles for this message. The engine has to give the same bytes."""
        engine = self._engines.get(key)
        if engine is None:
            engine = self._engines[key] = Engine(self.engine, key)
        done = (
            engine.open(message.iv, message.input, message.tag, message.aad)
            if message.opens
            else engine.seal(message.iv, message.input, message.aad)
        )
        assert done.text == message.output, "engine and software differ"
        return int(done.cycles * self.factor) + self.slack


class Scoreboard:
    """What has gone into a core and what has to come out of it.

    ``tag_bytes``: how many bytes of the tag the core gives, the first ones. Cycles need not be told; with a ``budget`` those of starts and tags must be. ``log`` has every tag's message, and how many cycles it took.
    """

    def __init__(self, key: bytes, *, budget: Budget | None = None, tag_bytes: int = BLOCK) -> None:
        if not 4 <= tag_bytes <= BLOCK:
            raise UsageError(f"a tag of AES-GCM has 4 to 16 bytes, not {tag_bytes}")
        self.key = key
        self.tag_bytes = tag_bytes
        self.budget = budget
        self.software = AesGcm(key)
        self.log: list[tuple[Message, int | None]] = []
        self._open: deque[Message] = deque()
        self._started = 0
        # Of the messages in the core, how many have all of their text out; and the blocks of the next that are.
        self._through = 0
        self._blocks = 0

    def start(
        self, iv: bytes, text: bytes, aad: bytes = b"", *, open: bool = False, cycle: int | None = None
    ) -> Message:
        """A message goes into the core: plaintext, or with ``open`` ciphertext. Gives what has to come out."""
        if self.budget is not None and cycle is None:
            raise UsageError("a budget needs the cycle of each start")
        other, tag = self.software.seal(iv, text, aad)
        if open:
            # Text is deciphered as it is enciphered; the tag is that of the ciphertext.
            again, tag = self.software.seal(iv, other, aad)
            assert again == text
        message = Message(self._started, iv, aad, text, other, tag, open, cycle)
        self._started += 1
        self._open.append(message)
        self._skip_finished()
        return message

    def text(self, block: bytes, *, cycle: int | None = None) -> None:
        """A block came out. Of a last block that is short, what stands behind it does not count.

        Errors: Mismatch.
        """
        if self._through == len(self._open):
            raise Mismatch("text", None, "a block that belongs to no message", got=block, cycle=cycle)
        message, number = self._open[self._through], self._blocks
        expected = message.output[BLOCK * number : BLOCK * (number + 1)]
        if block[: len(expected)] != expected:
            raise Mismatch(
                "text",
                message,
                of_text(self.software, message.iv, message.input, message.output, number, block),
                block=number,
                expected=expected,
                got=block[: len(expected)],
                counter_block=self.software.counter_block(message.iv, number),
                cycle=cycle,
            )
        self._blocks += 1
        self._skip_finished()

    def tag(self, tag: bytes, *, cycle: int | None = None) -> None:
        """A tag came out.

        Errors: Mismatch.
        """
        if not self._open:
            raise Mismatch("tag", None, "a tag that belongs to no message", got=tag, cycle=cycle)
        message = self._open.popleft()
        tag = tag[: self.tag_bytes]
        if tag != message.tag[: self.tag_bytes]:
            raise Mismatch(
                "tag",
                message,
                of_tag(self.software, message.iv, message.aad, message.ciphertext, tag),
                expected=message.tag[: self.tag_bytes],
                got=tag,
                counter_block=self.software.counter_block(message.iv, -1),
                cycle=cycle,
            )
        if self._through == 0:
            blocks = -(-len(message.output) // BLOCK)
            stage = f"its tag came before its text, of which {self._blocks} of {blocks} blocks had"
            raise Mismatch("missing", message, stage, block=self._blocks, cycle=cycle)
        self._through -= 1
        self._hold_to_budget(message, cycle)

    def finish(self) -> None:
        """The core is at rest: everything has to have come.

        Errors: Mismatch.
        """
        if self._open:
            message = self._open[0]
            blocks, came = -(-len(message.output) // BLOCK), self._blocks if self._through == 0 else None
            stage = "its tag did not come" if came is None else f"{came} of {blocks} blocks came, and no tag"
            raise Mismatch("missing", message, stage, block=came)

    @property
    def due(self) -> int:
        """How many bytes of the next block count; 0 where no text is due."""
        if self._through == len(self._open):
            return 0
        return min(BLOCK, len(self._open[self._through].output) - BLOCK * self._blocks)

    @property
    def idle(self) -> bool:
        """Whether no message is in the core."""
        return not self._open

    def unknown(self, what: str, pins: str, *, cycle: int | None = None) -> None:
        """Pins that have to have a value are X or Z.

        Errors: Mismatch, always.
        """
        message = self._open[0] if self._open else None
        raise Mismatch(what, message, f"{pins}, which is no value: a register without reset, or a driver that is missing", cycle=cycle)

    def _skip_finished(self) -> None:
        while self._through < len(self._open) and BLOCK * self._blocks >= len(self._open[self._through].output):
            self._through += 1
            self._blocks = 0

    def _hold_to_budget(self, message: Message, cycle: int | None) -> None:
        took = None if cycle is None or message.started is None else cycle - message.started
        self.log.append((message, took))
        if self.budget is None:
            return
        if took is None:
            raise UsageError("a budget needs the cycle of each tag")
        most = self.budget.cycles(self.key, message)
        if took > most:
            stage = f"later than {self.budget.engine} with factor {self.budget.factor} and slack {self.budget.slack}"
            raise Mismatch("cycles", message, stage, expected=most, got=took, cycle=cycle)
