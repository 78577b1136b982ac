"""Beats as bytes and back, on pins of no simulator."""

import pytest
import sealsim

pytest.importorskip("cocotb")
from sealsim.axis import Source, Stream  # noqa: E402
from sealsim.axis_rules import Rules  # noqa: E402


class Pin:
    """A bus with a value."""

    def __init__(self, name, bits, value="0"):
        self._name, self._bits, self.value = name, bits, value

    def __len__(self):
        return self._bits

    def set(self, value):
        self.value = value if isinstance(value, str) else f"{value:0{self._bits}b}"


def stream(big=False, **pins):
    return Stream(Pin("valid", 1), Pin("data", 64), big=big, **pins)


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("count", range(1, 9))
def test_beats_come_back(big, count):
    one = stream(big, keep=Pin("keep", 8))
    data, keep = one.beat(bytes(range(1, count + 1)))
    one.data.set(data)
    one.keep.set(keep)
    assert one.held(8) == (bytes(range(1, count + 1)), None)
    assert one.data.value[:8] == ("00000001" if big else f"{8 if count == 8 else 0:08b}")


def test_bytes_that_do_not_count_may_have_no_value():
    one = stream(keep=Pin("keep", 8))
    one.data.set("x" * 32 + f"{0x04030201:032b}")
    one.keep.set(0b1111)
    assert one.held(8) == (bytes([1, 2, 3, 4]), None)
    one.keep.set(0b11111)
    data, unknown = one.held(8)
    assert data[:4] == bytes([1, 2, 3, 4]) and unknown.startswith("data is x")
    one.keep.set("1111x111")
    assert one.held(8) == (b"", "keep is 1111x111")


def test_without_keep_what_is_due_counts_or_what_size_says():
    one = stream(big=True)
    one.data.set(0x0102030405060708)
    assert one.held(3) == (bytes([1, 2, 3]), None)
    sized = stream(big=True, size=Pin("size", 3), size_less=1)
    sized.data.set(0x0102030405060708)
    sized.size.set(4)
    assert sized.held(8) == (bytes([1, 2, 3, 4, 5]), None)


def test_ready_and_busy_are_opposite():
    for name, high in (("ready", True), ("busy", False)):
        pin = Pin(name, 1)
        one = stream(**{name: pin})
        for value, takes in (("1", high), ("0", not high)):
            pin.value = value
            assert one.ready == takes
        one.accept(True)
        assert pin.value == int(high)
    assert stream().ready


def test_what_cannot_be_is_refused():
    with pytest.raises(sealsim.UsageError, match="8 bytes"):
        stream(keep=Pin("keep", 4))
    with pytest.raises(sealsim.UsageError, match="keep or size"):
        Source(stream(), None, short=0.5)
    with pytest.raises(sealsim.UsageError, match="no s_tvalid"):
        Stream.of(Pin("dut", 1), "s")
    with pytest.raises(sealsim.UsageError, match="below 1"):
        Source(stream(), None, stalls=1.0)


PINS = {"valid": 1, "ready": 1, "data": 16, "keep": 2, "strb": 2, "last": 1, "user": 2, "id": 4, "dest": 4, "reset": 1}
STALLED = {"valid": "1", "ready": "0", "data": "0" * 16, "keep": "11", "strb": "11", "last": "0", "user": "00", "id": "0000", "dest": "0000", "reset": "0"}
TAKEN = STALLED | {"ready": "1"}
SHORT = {"keep": "01", "strb": "01"}


def broken(*cycles):
    """What the rules say of a stream whose pins are these, cycle by cycle."""
    pins = {name: Pin(name, bits) for name, bits in PINS.items()}
    one = Stream(**{name: pin for name, pin in pins.items() if name != "reset"})
    rules, told = Rules(one), []
    for cycle in cycles:
        for name, value in cycle.items():
            pins[name].value = value
        told.append(rules.sample(pins["reset"].value == "1"))
    return told


@pytest.mark.parametrize("name", ["data", "keep", "strb", "last", "user", "id", "dest"])
def test_what_counts_has_a_value_and_stays_while_it_waits(name):
    other = "1" * PINS[name] if STALLED[name].startswith("0") else "01"
    change = {name: other} if name != "keep" else SHORT
    assert broken(STALLED, TAKEN, STALLED | change, TAKEN | change) == [None] * 4
    (first, told) = broken(STALLED, TAKEN | change)
    assert first is None and "before its beat was taken (IHI 0051A 2.2.1)" in told and (name in told or name == "keep")
    if name != "data":
        for level in "xz":
            (told,) = broken(TAKEN | {name: level * PINS[name]})
            assert told.endswith(f"no value (AXI4STREAM_ERRM_T{name.upper()}_X)")


def test_null_and_position_bytes_may_be_anything():
    null = SHORT | {"data": "x" * 8 + "0" * 8, "user": "x0"}
    assert broken(STALLED | null, TAKEN | null | {"data": "1" * 8 + "0" * 8, "user": "10"}) == [None, None]
    position = {"keep": "11", "strb": "01", "data": "x" * 8 + "0" * 8}
    assert broken(TAKEN | position) == [None]
    (told,) = broken(TAKEN | {"keep": "01", "strb": "11"})
    assert "reserved (IHI 0051A 2.4.3)" in told
    one = Stream(**{name: Pin(name, bits, (TAKEN | position)[name]) for name, bits in PINS.items() if name != "reset"})
    assert one.held(2) == (b"\0", None)


def test_valid_keeps_to_the_handshake_and_to_reset():
    assert broken(STALLED, TAKEN, TAKEN | {"valid": "0"}) == [None] * 3
    for level in "0x":
        told = broken(STALLED, STALLED | {"valid": level})
        assert told[1].endswith(f"went to {level} before its beat was taken (IHI 0051A 2.2.1)")
    resets, rests = {"reset": "1", "valid": "x"}, {"reset": "1", "valid": "0"}
    assert broken(resets, rests, {"reset": "0", "valid": "0"}, STALLED) == [None] * 4
    for cycles in ((resets, resets), (rests, STALLED), (STALLED | {"reset": "1"}, STALLED | {"reset": "1"})):
        assert broken(*cycles)[-1].endswith("(IHI 0051A 2.7.2)")
    assert broken({"reset": "0", "valid": "x"})[0].endswith("(AXI4STREAM_ERRM_TVALID_X)")
    assert broken(STALLED, STALLED | rests, STALLED | {"valid": "0"}) == [None] * 3
