"""Messages through the engine with AXI4-Stream ports that stall at random, held against software AES-GCM by the scoreboard of the Python package sealsim."""

import os
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEY_BYTES = @KEY_BYTES@

if "COCOTB_TEST_MODULES" in os.environ:
    import cocotb
    from cocotb.clock import Clock
    from cocotb.triggers import ReadOnly, RisingEdge
    from sealsim.axis import Check, Source, Stream
    from sealsim.scoreboard import Scoreboard

    def round_keys():
        """A key of vectors/keys.hex, as its first words give it, and its round keys, the first in the lowest bits."""
        words = [int(line, 16) for line in (HERE / "vectors/keys.hex").read_text().split()][: @ROUNDS@ + 1]
        key = b"".join(word.to_bytes(16, "big") for word in words)[:KEY_BYTES]
        return key, sum(word << 128 * place for place, word in enumerate(words))

    async def until(dut, pin):
        while True:
            await ReadOnly()
            high = str(pin.value) == "1"
            await RisingEdge(dut.clk)
            if high:
                return

    @cocotb.test()
    async def messages_both_ways(dut):
        draw = random.Random(1)
        cocotb.start_soon(Clock(dut.clk, 2, unit="ns").start())
        key, keys = round_keys()
        scoreboard = Scoreboard(key)
        dut.rst.value, dut.load.value, dut.start.value, dut.keys.value = 1, 0, 0, keys
        text, aad = (Source(Stream.of(dut, name), dut.clk, stalls=0.3, draw=draw, within=5000) for name in ("s_text", "s_aad"))
        check = Check(scoreboard, dut.clk, text=Stream.of(dut, "m_text"), tag=dut.tag, tag_valid=dut.tag_valid, stalls=0.3, draw=draw, reset=dut.rst)
        for _ in range(3):
            await RisingEdge(dut.clk)
        dut.rst.value, dut.load.value = 0, 1
        await RisingEdge(dut.clk)
        dut.load.value = 0
        await RisingEdge(dut.clk)
        await until(dut, dut.ready)
        lengths = [(0, 0), (0, 1), (1, 0), (16, 16), (32, 64), (33, 31), (47, 300)]
        for aad_bytes, text_bytes in lengths + [(draw.randrange(80), draw.randrange(400)) for _ in range(20)]:
            iv, opens, given, header = draw.randbytes(12), draw.random() < 0.5, draw.randbytes(text_bytes), draw.randbytes(aad_bytes)
            await aad.send(header)
            scoreboard.start(iv, given, header, open=opens)
            await until(dut, dut.room)
            dut.start.value, dut.opens.value, dut.iv.value = 1, int(opens), int.from_bytes(iv, "big")
            dut.aad_bytes.value, dut.text_bytes.value = aad_bytes, text_bytes
            await RisingEdge(dut.clk)
            dut.start.value = 0
            # The next message's AAD comes while this one is at work, and it starts as soon as there is room.
            await text.send(given)
        await check.ended(within=20_000)
        scoreboard.finish()
        assert check.stalled > 0

else:
    from cocotb_tools.runner import get_results, get_runner

    runner = get_runner("icarus")
    files = (HERE / "files.f").read_text().replace("src/wide.sv", "build/wide.sv").split()
    sources = [HERE / name for name in [*files, "axis.sv"]]
    runner.build(
        sources=sources, hdl_toplevel="axis", defines={"BEHAVIOURAL": 1}, build_dir=HERE / "build/cocotb", timescale=("1ns", "1ps"), always=True,
        build_args=["-g2012"],
    )
    results = runner.test(
        test_module="cocotb_bench", hdl_toplevel="axis", build_dir=HERE / "build/cocotb", test_dir=HERE / "build/cocotb",
        extra_env={"PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])},
    )
    ran, failed = get_results(results)
    sys.exit(0 if ran > 0 and failed == 0 else 1)
