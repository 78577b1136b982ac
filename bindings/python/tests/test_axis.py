"""Beats as bytes and back, on pins of no simulator."""

import pytest
import sealsim

pytest.importorskip("cocotb")
from sealsim.axis import Source, Stream  # noqa: E402


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
