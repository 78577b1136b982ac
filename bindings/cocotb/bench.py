"""Messages through the core, held against sealsim. cocotb runs these inside the simulator; test_cocotb.py starts it."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from sealsim.cocotb import Watch
from sealsim.scoreboard import Budget, Scoreboard

KEY_BYTES = int(os.environ["KEY_BITS"]) // 8
DRAW = random.Random(11)


async def begin(dut, key, budget=None):
    """The core at rest, watched."""
    for pin in (dut.start, dut.opens, dut.in_valid, dut.in_data):
        pin.value = 0
    dut.reset.value = 1
    dut.key.value = int.from_bytes(key, "big")
    cocotb.start_soon(Clock(dut.clock, 2, unit="ns").start())
    for _ in range(2):
        await RisingEdge(dut.clock)
    dut.reset.value = 0
    scoreboard = Scoreboard(key, budget=budget)
    return Watch(
        scoreboard, dut.clock, valid=dut.out_valid, data=dut.out_data, tag_valid=dut.tag_valid, tag=dut.tag
    )


async def send(dut, watch, iv, text, aad, *, opens=False, pauses=0):
    """A message, with up to so many cycles between two blocks; until its tag is out. Gives whether the core ended it in time."""
    last = watch.cycle + (40 + pauses) * (len(aad) // 16 + len(text) // 16 + 6)
    dut.start.value, dut.opens.value = 1, int(opens)
    dut.iv.value = int.from_bytes(iv, "big")
    dut.aad_bytes.value, dut.text_bytes.value = len(aad), len(text)
    watch.scoreboard.start(iv, text, aad, open=opens, cycle=watch.cycle)
    await RisingEdge(dut.clock)
    dut.start.value = 0
    for part in (aad, text):
        # What stands behind the end of a short block does not count.
        blocks = part + DRAW.randbytes(-len(part) % 16)
        for at in range(0, len(blocks), 16):
            for _ in range(DRAW.randint(0, pauses)):
                await RisingEdge(dut.clock)
            dut.in_valid.value, dut.in_data.value = 1, int.from_bytes(blocks[at : at + 16], "big")
            await until(dut, watch, dut.in_ready, last)
            dut.in_valid.value = 0
    return await until(dut, watch, dut.idle, last)


async def until(dut, watch, pin, last):
    """Until the edge before which a pin is high; gives whether it was."""
    while watch.cycle < last:
        await ReadOnly()
        high = str(pin.value) == "1"
        await RisingEdge(dut.clock)
        if high:
            return True
    return False


@cocotb.test()
async def messages_of_any_length_both_ways(dut):
    """Random messages, with the empty ones and those that end within a block among them."""
    watch = await begin(dut, DRAW.randbytes(KEY_BYTES))
    lengths = [(0, 0), (0, 1), (1, 0), (16, 16), (20, 60), (33, 300)]
    lengths += [(DRAW.randrange(50), DRAW.randrange(200)) for _ in range(6)]
    for aad, text in lengths:
        iv, pauses = DRAW.randbytes(12), DRAW.choice([0, 3, 20])
        await send(
            dut, watch, iv, DRAW.randbytes(text), DRAW.randbytes(aad), opens=bool(DRAW.getrandbits(1)), pauses=pauses
        )
    watch.scoreboard.finish()
    assert len(watch.scoreboard.log) == len(lengths)


@cocotb.test()
async def within_the_cycles_of_an_engine(dut):
    """The core makes H again for each message, which the engine does not: twice its cycles are enough."""
    watch = await begin(dut, DRAW.randbytes(KEY_BYTES), Budget(os.environ["BUDGET"], factor=2.0, slack=40))
    for text in (64, 640):
        await send(dut, watch, DRAW.randbytes(12), DRAW.randbytes(text), DRAW.randbytes(16))
    watch.scoreboard.finish()
