"""Messages through the core with AXI4-Stream ports, its pins stalled at random: a bench for a core of another shape."""

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from sealsim.axis import Check, Source, Stream
from sealsim.scoreboard import Scoreboard
from sealsim.software import AesGcm

DRAW = random.Random(12)
STALLS = float(os.environ.get("STALLS", "0.3"))
ONE_PORT, TAG_IN_STREAM = (int(os.environ[name]) for name in ("ONE_PORT", "TAG_IN_STREAM"))


@cocotb.test()
async def messages_both_ways(dut):
    scoreboard = Scoreboard(bytes(16))
    cocotb.start_soon(Clock(dut.clock, 2, unit="ns").start())
    dut.reset.value, dut.start.value = 1, 0
    text = Source(Stream.of(dut, "s_text"), dut.clock, stalls=STALLS, draw=DRAW, unknown=True, within=1000)
    aad = text if ONE_PORT else Source(Stream.of(dut, "s_aad"), dut.clock, stalls=STALLS, draw=DRAW, unknown=True, within=1000)
    tag = {} if TAG_IN_STREAM else {"tag": dut.tag, "tag_valid": dut.tag_valid}
    check = Check(
        scoreboard, dut.clock, text=Stream.of(dut, "m_text"), **tag, passed=dut.passed, failed=dut.failed, stalls=STALLS, draw=DRAW, reset=dut.reset
    )
    for _ in range(3):
        await RisingEdge(dut.clock)
    dut.reset.value = 0
    lengths = [(0, 0), (0, 1), (1, 0), (16, 16), (32, 64), (33, 31), (47, 300)]
    for aad_bytes, text_bytes in lengths + [(DRAW.randrange(80), DRAW.randrange(200)) for _ in range(6)]:
        key, iv, opens = DRAW.randbytes(16), DRAW.randbytes(12), DRAW.random() < 0.5
        header, given = DRAW.randbytes(aad_bytes), DRAW.randbytes(text_bytes)
        plain, _ = AesGcm(key).seal(iv, given, header)
        right = AesGcm(key).seal(iv, plain, header)[1]
        forged = right if DRAW.random() < 0.7 else bytes([right[0] ^ 1]) + right[1:]
        scoreboard.start(iv, given, header, open=opens, key=key, tag=forged if opens else None)
        dut.start.value, dut.opens.value = 1, int(opens)
        for pin, value in ((dut.key, key), (dut.iv, iv), (dut.given_tag, forged)):
            pin.value = int.from_bytes(value, "big")
        dut.aad_bytes.value, dut.text_bytes.value = aad_bytes, text_bytes
        await RisingEdge(dut.clock)
        dut.start.value = 0
        await aad.send(header)
        await text.send(given)
        await check.ended(within=10_000)
        await RisingEdge(dut.clock)
        await RisingEdge(dut.clock)
    scoreboard.finish()
    assert check.stalled > 0
