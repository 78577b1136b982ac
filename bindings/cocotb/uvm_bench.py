"""The core in a UVM environment of pyuvm: sequence items, a driver, a monitor, a predictor and a scoreboard, which hold it against sealsim.

    sequence --> sequencer --> driver --> pins of the core --> monitor --> scoreboard --> coverage
                                 |                                          ^
                                 +--> predictor: what has to come out ------+
"""

import os
import random
from dataclasses import dataclass

import cocotb
import pyuvm
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge
from pyuvm import (
    ConfigDB,
    uvm_analysis_port,
    uvm_component,
    uvm_driver,
    uvm_env,
    uvm_sequence,
    uvm_sequence_item,
    uvm_sequencer,
    uvm_subscriber,
    uvm_test,
)
from sealsim.coverage import Coverage
from sealsim.scoreboard import Scoreboard

KEY_BYTES = int(os.environ["KEY_BITS"]) // 8


class Message(uvm_sequence_item):
    """A message that goes into the core."""

    def __init__(self, name, draw, aad_bytes, text_bytes, opens, key=None):
        super().__init__(name)
        self.key = key or draw.randbytes(KEY_BYTES)
        self.iv, self.aad, self.text = draw.randbytes(12), draw.randbytes(aad_bytes), draw.randbytes(text_bytes)
        self.opens = opens


class Messages(uvm_sequence):
    """Messages of drawn kinds, half of them under the key of the one before."""

    async def body(self):
        draw, key = random.Random(13), None
        kinds = [0, 5, 16, 32, 41]
        pairs = [(aad, text, opens) for aad in kinds for text in kinds for opens in (False, True)]
        for number, (aad, text, opens) in enumerate(draw.sample(pairs, int(os.environ["MESSAGES"]))):
            item = Message(f"message {number}", draw, aad, text, opens, key if draw.random() < 0.5 else None)
            key = item.key
            await self.start_item(item)
            await self.finish_item(item)


class Driver(uvm_driver):
    """Puts messages on the pins, and tells others when one begins."""

    def build_phase(self):
        self.begun = uvm_analysis_port("begun", self)

    async def run_phase(self):
        dut = cocotb.top
        for pin in (dut.start, dut.opens, dut.in_valid, dut.in_data):
            pin.value = 0
        dut.reset.value = 1
        await RisingEdge(dut.clock)
        await RisingEdge(dut.clock)
        dut.reset.value = 0
        while True:
            item = await self.seq_item_port.get_next_item()
            self.begun.write(item)
            dut.start.value, dut.opens.value = 1, int(item.opens)
            dut.key.value, dut.iv.value = int.from_bytes(item.key, "big"), int.from_bytes(item.iv, "big")
            dut.aad_bytes.value, dut.text_bytes.value = len(item.aad), len(item.text)
            await RisingEdge(dut.clock)
            dut.start.value = 0
            for part in (item.aad, item.text):
                for at in range(0, len(part), 16):
                    dut.in_valid.value, dut.in_data.value = 1, int.from_bytes(part[at : at + 16].ljust(16, b"\xa5"), "big")
                    await self.until(dut, dut.in_ready)
                    dut.in_valid.value = 0
            await self.until(dut, dut.idle)
            self.seq_item_port.item_done()

    @staticmethod
    async def until(dut, pin):
        high = False
        while not high:
            await ReadOnly()
            high = str(pin.value) == "1"
            await RisingEdge(dut.clock)


@dataclass
class Out:
    """What the monitor saw: a block of text, or a tag."""

    what: str
    data: bytes


class Monitor(uvm_component):
    """Sees what comes out of the core."""

    def build_phase(self):
        self.seen = uvm_analysis_port("seen", self)

    async def run_phase(self):
        dut = cocotb.top
        while True:
            await RisingEdge(dut.clock)
            await ReadOnly()
            for what, valid, bus in (("text", dut.out_valid, dut.out_data), ("tag", dut.tag_valid, dut.tag)):
                if str(valid.value) == "1":
                    self.seen.write(Out(what, int(bus.value).to_bytes(16, "big")))


class Predictor(uvm_subscriber):
    """Says what has to come out for what goes in: sealsim's AES-GCM."""

    def write(self, item):
        board = ConfigDB().get(self, "", "BOARD")
        board.start(item.iv, item.text, item.aad, open=item.opens, key=item.key)


class Judge(uvm_subscriber):
    """Compares, and reports what is missing at the end."""

    def write(self, out):
        board = ConfigDB().get(self, "", "BOARD")
        (board.text if out.what == "text" else board.tag)(out.data)

    def check_phase(self):
        ConfigDB().get(self, "", "BOARD").finish()


class Environment(uvm_env):
    def build_phase(self):
        board = Scoreboard(bytes(KEY_BYTES), gather=8)
        ConfigDB().set(None, "*", "BOARD", board)
        self.coverage = Coverage(board)
        self.sequencer = uvm_sequencer("sequencer", self)
        self.driver, self.monitor = Driver("driver", self), Monitor("monitor", self)
        self.predictor, self.judge = Predictor("predictor", self), Judge("judge", self)

    def connect_phase(self):
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)
        self.driver.begun.connect(self.predictor.analysis_export)
        self.monitor.seen.connect(self.judge.analysis_export)

    def report_phase(self):
        self.logger.info("coverage: %.1f %%, missing: %s", self.coverage.percent, ", ".join(self.coverage.missing()) or "nothing")
        self.coverage.export(os.environ["COVERED"])


@pyuvm.test()
class AllKinds(uvm_test):
    def build_phase(self):
        self.environment = Environment("environment", self)

    async def run_phase(self):
        self.raise_objection()
        cocotb.start_soon(Clock(cocotb.top.clock, 2, unit="ns").start())
        await Messages("messages").start(self.environment.sequencer)
        self.drop_objection()
