"""Holds an AES-GCM core against software AES-GCM, block by block, in whatever cycles the core takes.

    scoreboard = Scoreboard(key)
    scoreboard.start(iv, text, aad)          # what goes into the core
    scoreboard.text(block)                   # each block that comes out of it, in order
    scoreboard.tag(tag)
    scoreboard.finish()                      # everything has come

The first difference raises Mismatch, which says what differs where and which stage would make such a difference. With ``gather`` it is raised some
messages later: what is right and wrong in several messages tells more of the stage than one of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from .arguments import Path
from .diagnosis import Stage, one_of
from .engine import Engine
from .errors import UsageError
from .software import BLOCK, AesGcm
from .verdict import NO_VALUE, Seen, explain

__all__ = ["Budget", "Message", "Mismatch", "Scoreboard"]

TAG_BYTES = (16, 15, 14, 13, 12, 8, 4)
"""Bytes of tags, as SP 800-38D has them (5.2.1.2)."""
MOST_SEEN = 64
"""Messages, the last ones, from which a difference is explained."""


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
    key: bytes = b""
    passes: bool = True
    """Whether the tag that an opened message was given is its own."""

    @property
    def ciphertext(self) -> bytes:
        """What GHASH takes."""
        return self.input if self.opens else self.output


class Mismatch(AssertionError):
    """The core gave something else than AES-GCM, or gave it too late.

    what: ``text``, ``tag``, ``cycles`` or ``missing``. message, block: which, from 0; of a tag the block is None.
    expected, got: bytes, or cycles. counter_block: what the block is sealed with; of a tag, J0. stage: what would make such a difference, in words;
    part: the stage's name, one of those of ``sealsim.diagnosis.Stage``, or None where it is not known; among: the stages of which it is one, where several
    would give the same.
    """

    def __init__(
        self,
        what: str,
        message: Message | None,
        stage: Stage | str,
        *,
        block: int | None = None,
        expected: bytes | int | None = None,
        got: bytes | int | None = None,
        counter_block: bytes | None = None,
        cycle: int | None = None,
    ) -> None:
        self.part: str | None = None if isinstance(stage, str) else stage.part
        self.among: tuple[str, ...] = () if isinstance(stage, str) else stage.among
        self.stage = stage if isinstance(stage, str) else stage.text
        self.what, self.message, self.block = what, message, block
        self.expected, self.got, self.counter_block, self.cycle = expected, got, counter_block, cycle
        self.judged = stage if isinstance(stage, Stage) else None
        super().__init__(self._told())

    def _told(self) -> str:
        place = [] if self.message is None else [f"message {self.message.number}"]
        place += [] if self.block is None else [f"block {self.block}"]
        place += [] if self.cycle is None else [f"cycle {self.cycle}"]
        stage = f"one of {', '.join(self.among)}: {self.stage}" if self.among else self.stage
        lines = [", ".join([*place, f"{self.what}: {stage}"])]
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
    gather: a difference is raised when so many further messages have ended, or by ``finish``, which has to be called then.
    """

    def __init__(
        self, key: bytes, *, budget: Budget | None = None, tag_bytes: int = BLOCK, gather: int = 0
    ) -> None:
        if tag_bytes not in TAG_BYTES:
            raise UsageError(f"a tag of AES-GCM has {', '.join(map(str, TAG_BYTES[:-1]))} or {TAG_BYTES[-1]} bytes, not {tag_bytes}")
        self.key = key
        self.tag_bytes = tag_bytes
        self.budget = budget
        self.gather = gather
        self.software = AesGcm(key)
        self.log: list[tuple[Message, int | None]] = []
        self.ended: list[Callable[[Message], None]] = []
        """Called with each message that has ended without a difference."""
        self._softwares = {self.software.key: self.software}
        self._open: deque[Seen] = deque()
        self._seen: deque[Seen] = deque(maxlen=MOST_SEEN)
        self._started = 0
        # Of the messages in the core, how many have all of their text out.
        self._through = 0
        self._first: Mismatch | None = None
        self._strays: list[tuple[str, str]] = []
        self.unended: set[str] = set()
        """Packets that are complete and whose end has not come, in words: `finish` fails on them."""
        self._ended_since = 0

    def start(
        self,
        iv: bytes,
        text: bytes,
        aad: bytes = b"",
        *,
        open: bool = False,
        cycle: int | None = None,
        key: bytes | None = None,
        tag: bytes | None = None,
    ) -> Message:
        """A message goes into the core: plaintext, or with ``open`` ciphertext; from now on under ``key``, if one is given. Gives what has to come out.

        tag: what a core that judges opened messages is given for it, the right one or another.
        """
        if self.budget is not None and cycle is None:
            raise UsageError("a budget needs the cycle of each start")
        if key is not None and key != self.key:
            self.key = key
            self.software = self._softwares.setdefault(key, AesGcm(key))
        other, right = self.software.seal(iv, text, aad)
        if open:
            # Text is deciphered as it is enciphered; the tag is that of the ciphertext.
            again, right = self.software.seal(iv, other, aad)
            assert again == text
        passes = tag is None or tag == right[: len(tag)]
        message = Message(self._started, iv, aad, text, other, right, open, cycle, self.key, passes)
        self._started += 1
        self._open.append(Seen(message, self.software))
        self._skip_finished()
        return message

    def text(self, block: bytes, *, cycle: int | None = None) -> None:
        """A block came out. Of a last block that is short, what stands behind it does not count.

        Errors: Mismatch.
        """
        if self._through == len(self._open):
            self._stray("text", Stage("control", "a block that belongs to no message"), block, cycle)
            return
        seen = self._open[self._through]
        number, message = len(seen.blocks), seen.message
        expected = seen.right(number)
        seen.blocks.append(block)
        if block[: len(expected)] != expected:
            self._differs(
                Mismatch(
                    "text",
                    message,
                    "",
                    block=number,
                    expected=expected,
                    got=block[: len(expected)],
                    counter_block=seen.software.counter_block(message.iv, number),
                    cycle=cycle,
                )
            )
        self._skip_finished()

    def tag(self, tag: bytes, *, cycle: int | None = None) -> None:
        """A tag came out.

        Errors: Mismatch.
        """
        if not self._open:
            self._stray("tag", Stage("control", "a tag that belongs to no message"), tag, cycle)
            return
        seen = self._oldest_ends()
        message = seen.message
        seen.tag = tag = tag[: self.tag_bytes]
        short = len(tag) < self.tag_bytes
        if short or seen.tag_wrong:
            self._differs(
                Mismatch(
                    "tag",
                    message,
                    one_of(("tag", "control"), f"{len(tag)} of its {self.tag_bytes} bytes came") if short else "",
                    expected=message.tag[: self.tag_bytes],
                    got=tag,
                    counter_block=seen.software.counter_block(message.iv, -1),
                    cycle=cycle,
                )
            )
        self._ends(seen, cycle)

    def outcome(self, passed: bool, *, cycle: int | None = None) -> None:
        """The core says that an opened message passed or failed; no tag of it comes out then.

        Errors: Mismatch.
        """
        if not self._open:
            self._stray("outcome", Stage("control", "an outcome that belongs to no message"), b"", cycle)
            return
        seen = self._oldest_ends()
        if passed != seen.message.passes:
            told = "it passed, but its tag is forged" if passed else "it failed, but its tag is right"
            self._differs(Mismatch("outcome", seen.message, Stage(None, told), cycle=cycle))
        self._ends(seen, cycle)

    def _oldest_ends(self) -> Seen:
        """The oldest message, with which the core is through."""
        seen = self._open.popleft()
        self._seen.append(seen)
        seen.short = self._through == 0
        self._through = max(self._through - 1, 0)
        return seen

    def _ends(self, seen: Seen, cycle: int | None) -> None:
        """What is looked at when a message ends, besides its tag."""
        message = seen.message
        if seen.short:
            blocks = -(-len(message.output) // BLOCK)
            stage = Stage("control", f"its tag came before its text, of which {len(seen.blocks)} of {blocks} blocks had")
            self._differs(Mismatch("missing", message, stage, block=len(seen.blocks), cycle=cycle))
        self._hold_to_budget(message, cycle)
        if self._first is None:
            for told in self.ended:
                told(message)
        else:
            self._ended_since += 1
            if self._ended_since > self.gather:
                raise self._judged()

    def surplus(self, data: bytes, *, cycle: int | None = None) -> None:
        """Bytes came behind the end of a message.

        Errors: Mismatch.
        """
        self._stray("text", Stage("control", f"{len(data)} bytes that belong to no message"), data, cycle)

    def misplaced(self, pins: str, *, cycle: int | None = None) -> None:
        """Pins that say where a message ends say something else, or break a rule of their bus.

        Errors: Mismatch.
        """
        message = self._open[0].message if self._open else None
        self._strays.append(("pins", pins))
        self._differs(Mismatch("text", message, Stage("control", pins), cycle=cycle))

    def finish(self, waited: str = "") -> None:
        """The core is at rest: everything has to have come. waited: for what it was waited how long, if it was.

        Errors: Mismatch.
        """
        waited = waited and f": {waited}"
        if not self._open:
            for told in sorted(self.unended):
                self._strays.append(("pins", told))
                self._first = self._first or Mismatch("text", None, Stage("control", f"{told}{waited}"))
        if self._open:
            seen = self._open[0]
            blocks, came = -(-len(seen.message.output) // BLOCK), len(seen.blocks) if self._through == 0 else None
            stage = "its tag did not come" if came is None else f"{came} of {blocks} blocks came, and no tag"
            self._strays.append(("tag" if came is None else "text", f"{stage}{waited}"))
            self._first = self._first or Mismatch("missing", seen.message, "", block=came)
        if self._first is not None:
            raise self._judged()

    def _differs(self, mismatch: Mismatch) -> None:
        """Raises the first difference, at once or when as many messages as are gathered have ended."""
        self._first = self._first or mismatch
        if not self.gather:
            raise self._judged()

    def _stray(self, what: str, stage: Stage, got: bytes, cycle: int | None) -> None:
        self._strays.append((what, stage.text))
        self._differs(Mismatch(what, None, stage, got=got, cycle=cycle))

    def _judged(self) -> Mismatch:
        """The first difference, with the stage that explains all of them."""
        first = self._first
        assert first is not None
        stage = first.judged
        if stage is None or (self.gather and stage.part == "control"):
            stage = explain([*self._seen, *self._open], self._strays)
        if not self.gather:
            self._first, self._strays = None, []
        return Mismatch(
            first.what,
            first.message,
            stage,
            block=first.block,
            expected=first.expected,
            got=first.got,
            counter_block=first.counter_block,
            cycle=first.cycle,
        )

    @property
    def due(self) -> int:
        """How many bytes of the next block count; 0 where no text is due."""
        if self._through == len(self._open):
            return 0
        seen = self._open[self._through]
        return min(BLOCK, len(seen.message.output) - BLOCK * len(seen.blocks))

    @property
    def rest(self) -> int:
        """How many bytes of text are still to come of the message whose text comes out next."""
        if self._through == len(self._open):
            return 0
        seen = self._open[self._through]
        return len(seen.message.output) - BLOCK * len(seen.blocks)

    @property
    def oldest(self) -> Message | None:
        """The oldest message in the core."""
        return self._open[0].message if self._open else None

    @property
    def awaits_tag(self) -> bool:
        """Whether all text of the oldest message is out."""
        return self._through > 0

    @property
    def idle(self) -> bool:
        """Whether no message is in the core."""
        return not self._open

    def unknown(self, what: str, pins: str, *, cycle: int | None = None) -> None:
        """Pins that have to have a value are X or Z.

        Errors: Mismatch, at once or with those that are gathered.
        """
        oldest = self._open[0] if self._open else None
        if self.gather and what in ("text", "tag"):
            # The bytes follow, with anything for what has no value.
            if what == "text" and self._through < len(self._open):
                oldest = self._open[self._through]
                oldest.unknown.add(len(oldest.blocks))
            elif oldest is not None:
                oldest.unknown.add(-1)
            self._first = self._first or Mismatch(what, oldest.message if oldest else None, "", cycle=cycle)
            return
        stage = Stage(None, f"{pins}, which is {NO_VALUE}")
        self._first = self._first or Mismatch(what, oldest.message if oldest else None, stage, cycle=cycle)
        raise self._judged()

    def _skip_finished(self) -> None:
        while self._through < len(self._open):
            seen = self._open[self._through]
            if BLOCK * len(seen.blocks) < len(seen.message.output):
                break
            self._through += 1

    def _hold_to_budget(self, message: Message, cycle: int | None) -> None:
        took = None if cycle is None or message.started is None else cycle - message.started
        self.log.append((message, took))
        if self.budget is None:
            return
        if took is None:
            raise UsageError("a budget needs the cycle of each tag")
        most = self.budget.cycles(message.key, message)
        if took > most:
            stage = f"later than {self.budget.engine} with factor {self.budget.factor} and slack {self.budget.slack}"
            raise Mismatch("cycles", message, stage, expected=most, got=took, cycle=cycle)
