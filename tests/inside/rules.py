"""Plants faults in a capture, and holds what the dissector finds against what `sealsim tlp decode --stream` finds, packet by packet.

    rules.py sealsim link.pcapng
"""

import json
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DISSECTOR = ROOT / "tools/wireshark/sealsim_pcie.lua"
TABLE = (ROOT / "crates/pcie/src/items/stream.rs").read_text(encoding="utf-8").split("\nuse ")[0]
CODES = {row.split("`")[1] for row in TABLE.splitlines() if row.startswith("//! | `")}
PACKET, RECORD, STP = 6, 48, 0xFB
# Bytes of a header, with the bits that may change: tag, traffic class, attributes, completion status, BCM, byte count, lower address; byte enables, address.
COMPLETION = [(1, 0xFC), (2, 0x30), (6, 0xE0), (6, 0x10), (6, 0x0F), (7, 0xFF), (10, 0xFF), (11, 0x7F)]
READ = [(1, 0xFC), (2, 0x30), (6, 0xFF), (7, 0xFF), (11, 0xFC), (15, 0xFC)]
# Sequence numbers and credits of a DLLP.
DLLP = [(1, 0x3F), (2, 0xCF), (3, 0xFF)]
KINDS = ["header"] * 4 + ["dllp", "damaged", "lost", "again", "another"]


def blocks(data):
    """Each block."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at : at + size]
        at += size


def crc16(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xD008 if value & 1 else 0)
    return value ^ 0xFFFF


def flipped(block, draw):
    """A block with another bit in its TLP's header, or its DLLP, and a CRC that fits."""
    block, size = bytearray(block), struct.unpack_from("<H", block, RECORD - 6)[0] & 0x7FFF
    is_tlp = block[RECORD] == STP
    start = RECORD + (3 if is_tlp else 1)
    bits = (COMPLETION if block[start] == 0x4A else READ) if is_tlp else DLLP
    byte, mask = draw.choice([(byte, mask) for byte, mask in bits if byte < (12, 16)[block[start] >> 5 & 1]])
    block[start + byte] ^= draw.choice([1 << bit for bit in range(8) if mask >> bit & 1])
    if is_tlp:
        end = RECORD + size - 5
        struct.pack_into("<I", block, end, zlib.crc32(bytes([block[RECORD + 1] & 0xF]) + block[RECORD + 2 : end]))
    else:
        struct.pack_into("<H", block, start + 4, crc16(block[start : start + 4]))
    return bytes(block)


def planted(data, draw, count):
    """The capture with so many faults."""
    all_blocks = list(blocks(data))
    packets = [at for at, (kind, _) in enumerate(all_blocks) if kind == PACKET]
    tlps = [at for at in packets if all_blocks[at][1][RECORD] == STP]
    made = {at: block for at, (_, block) in enumerate(all_blocks)}
    for _ in range(count):
        kind = draw.choice(KINDS)
        at = draw.choice([at for at in packets if at not in tlps] if kind == "dllp" else tlps)
        block = all_blocks[at][1]
        damaged = bytearray(block)
        damaged[RECORD + 5] ^= 4
        makes = {"damaged": bytes(damaged), "lost": b"", "again": block + block, "another": block + flipped(block, draw)}
        made[at] = makes.get(kind) if kind in makes else flipped(block, draw)
    return b"".join(made.values())


def dissected(path):
    """Way, bytes and faults of each packet."""
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, "-T", "fields", "-E", "separator=;", "-E", "aggregator=|"]
    for field in ["pcie_record.way", "pcie_record.packet", "pcie_record.fault"]:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Lua Error" not in done.stdout + done.stderr and "Lua: Error" not in done.stderr, done.stderr
    return [line.split(";", 2) for line in done.stdout.splitlines()]


def main():
    sealsim, path = sys.argv[1:]
    clean = Path(path).read_bytes()
    found, faults = set(), 0
    for seed in range(24):
        count = (0, 2, 40)[min(seed, 1 + seed % 2)]
        Path(f"{path}.planted").write_bytes(planted(clean, random.Random(seed), count))
        packets = dissected(f"{path}.planted")
        lines = "".join(f"{way} {packet}\n" for way, packet, _ in packets)
        judge = subprocess.run([sealsim, "tlp", "decode", "--wire=gen1", "--stream", "--format", "json"], input=lines, capture_output=True, text=True)
        items = [json.loads(line) for line in judge.stdout.splitlines()]
        assert len(items) == len(packets), judge.stderr
        for number, ((_, _, told), item) in enumerate(zip(packets, items), 1):
            told = {fault.split(":")[0] for fault in told.split("|") if fault}
            due = {problem["code"] for problem in item.get("problems", [])} & CODES
            assert told == due, f"seed {seed}, packet {number}: {told} against {due}: {item}"
            found |= told
        assert seed or not found, found
        faults += count
    assert found == CODES, CODES - found
    print(f"{faults} faults planted: the dissector finds what decode finds, by all {len(CODES)} rules")


main()
