"""Plants faults in the headers of a capture, and holds what the dissector finds against what `sealsim tlp decode --stream` finds, packet by packet.

    pairing.py sealsim link.pcapng
"""

import json
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

DISSECTOR = Path(__file__).resolve().parents[2] / "tools/wireshark/sealsim_pcie.lua"
CODES = {"tag_in_use", "unknown_tag", "bytes_left", "lower_address", "rcb", "answer", "class", "bcm"}
PACKET, RECORD, STP = 6, 48, 0xFB
# Bytes of a header, with the bits that may change: traffic class, attributes, completion status, BCM, byte count, tag, lower address; byte enables, address.
COMPLETION = {1: 0x70, 2: 0x30, 6: 0xFF, 7: 0xFF, 10: 0xFF, 11: 0x7F}
READ = {1: 0x70, 2: 0x30, 6: 0xFF, 7: 0xFF, 11: 0xFC, 15: 0xFC}


def blocks(data):
    """Type and place of each block."""
    at = 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, at
        at += size


def plant(data, draw, count):
    """Inverts a bit in each of so many headers, and mends their LCRCs."""
    places = [at + RECORD for kind, at in blocks(data) if kind == PACKET and data[at + RECORD] == STP]
    for at in draw.sample(places, count):
        size = struct.unpack_from("<H", data, at - 6)[0] & 0x7FFF
        bits = COMPLETION if data[at + 3] == 0x4A else READ
        byte = draw.choice([byte for byte in bits if byte < (12, 16)[data[at + 3] >> 5 & 1]])
        data[at + 3 + byte] ^= draw.choice([1 << bit for bit in range(8) if bits[byte] >> bit & 1])
        lcrc = zlib.crc32(bytes([data[at + 1] & 0xF]) + data[at + 2 : at + size - 5])
        struct.pack_into("<I", data, at + size - 5, lcrc)


def dissected(path):
    """Way, bytes and faults of each packet."""
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, "-T", "fields", "-E", "separator=;", "-E", "aggregator=|"]
    for field in ["pcie_record.way", "pcie_record.packet", "tlp.fault"]:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Lua: Error" not in done.stdout + done.stderr, done.stderr
    return [line.split(";", 2) for line in done.stdout.splitlines()]


def main():
    sealsim, path = sys.argv[1:]
    clean = Path(path).read_bytes()
    found = set()
    for seed in range(8):
        data = bytearray(clean)
        plant(data, random.Random(seed), 0 if seed == 0 else 30)
        Path(f"{path}.planted").write_bytes(data)
        packets = dissected(f"{path}.planted")
        lines = "".join(f"{way} {packet}\n" for way, packet, _ in packets)
        judge = subprocess.run([sealsim, "tlp", "decode", "--wire=gen1", "--stream", "--format", "json"], input=lines, capture_output=True, text=True)
        items = [json.loads(line) for line in judge.stdout.splitlines()]
        assert len(items) == len(packets), judge.stderr
        for number, ((_, _, faults), item) in enumerate(zip(packets, items), 1):
            told = {fault.split(":")[0] for fault in faults.split("|") if fault}
            due = {problem["code"] for problem in item.get("problems", [])} & CODES
            assert told == due, f"seed {seed}, packet {number}: {told} against {due}: {item}"
            found |= told
        assert seed or not found, found
    assert found == CODES, CODES - found
    print(f"{len(packets)} packets, 210 faults planted: the dissector finds what decode finds")


main()
