"""Reads a capture with tshark and our dissector and holds it against the report of the run.

    capture.py link.pcapng report.json
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

DISSECTOR = Path(__file__).resolve().parents[2] / "tools/wireshark/sealsim_pcie.lua"
FIELDS = [
    "frame.time_epoch", "pcie_record.number", "pcie_record.time_ns", "pcie_record.upstream", "pcie_record.speed",
    "pcie_record.width", "tlp.kind", "tlp.lcrc_good", "dllp.kind", "dllp.crc_good", "tlp.payload", "frame.interface_name",
]


def packets(path):
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, "-T", "fields", "-E", "separator=|"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Lua: Error" not in done.stderr, done.stderr
    for line in done.stdout.splitlines():
        yield dict(zip(FIELDS, line.split("|")))


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    counts, payload, last = Counter(), Counter(), -1
    for number, packet in enumerate(packets(sys.argv[1])):
        assert int(packet["pcie_record.number"]) == number
        time = int(packet["pcie_record.time_ns"])
        assert time >= last, "packets are in the order of time"
        last = time
        seconds, fraction = packet["frame.time_epoch"].split(".")
        assert int(seconds) * 10**9 + int(fraction) == time
        way = "d2h" if packet["pcie_record.upstream"] == "1" else "h2d"
        assert packet["frame.interface_name"].endswith(way)
        assert packet["pcie_record.width"] == "4" and packet["pcie_record.speed"] == "2"
        if packet["tlp.kind"]:
            assert packet["tlp.kind"] in {"MRd", "MWr", "CplD"}, packet
            assert packet["tlp.lcrc_good"] in {"1", "True"}, packet
            counts[way, "tlps"] += 1
            payload[way] += len(packet["tlp.payload"]) // 2
        else:
            assert packet["dllp.crc_good"] in {"1", "True"}, packet
            # Those of initialisation come before all that is simulated.
            counts[way, "init" if packet["dllp.kind"].startswith("InitFC") else "dllps"] += 1
    for way in ["h2d", "d2h"]:
        link = report["link"][way]
        expected = {"tlps": link["tlps"], "dllps": link["dllps"], "init": 6}
        found = {name: counts[way, name] for name in expected}
        assert found == expected, f"{way}: {found} against {expected}"
        assert payload[way] >= link["payload_bytes"] > 0, f"{way}: {payload[way]} B"
    print(f"{sum(counts.values())} packets: as the report says")


main()
