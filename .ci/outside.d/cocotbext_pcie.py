"""cocotbext-pcie (MIT) against `sealsim tlp`: random TLPs of all kinds that it packs and random DLLPs, in both directions, and flips of their bits."""

import json
import random

from cocotbext.pcie.core.dllp import Dllp, DllpType, FcScale
from cocotbext.pcie.core.tlp import CplStatus, Tlp, TlpAt, TlpAttr, TlpTc, TlpType
from cocotbext.pcie.core.utils import PcieId
from count import Count, sealsim

CASES = 2000
chance = random.Random(20)
MEMORY = ["MEM_READ", "MEM_READ_LOCKED", "MEM_WRITE"]
ATOMIC = ["FETCH_ADD", "SWAP", "CAS"]
PLAIN = ["IO_READ", "IO_WRITE", "CFG_READ_0", "CFG_WRITE_0", "CFG_READ_1", "CFG_WRITE_1"]
COMPLETIONS = ["CPL", "CPL_DATA", "CPL_LOCKED", "CPL_LOCKED_DATA"]
# Which field of sealsim's JSON is which attribute of a Tlp.
EVERY = {"length_dw": "length", "tc": "tc", "attr": "attr", "at": "at", "td": "td", "ep": "ep", "th": "th", "ln": "ln", "tag": "tag"}
REQUEST = {"address": "address", "first_be": "first_be", "last_be": "last_be"}
COMPLETION = {"status": "status", "bcm": "bcm", "byte_count": "byte_count", "lower_address": "lower_address"}


def pcie_id():
    return PcieId(chance.randrange(256), chance.randrange(32), chance.randrange(8))


def address(wide, multiple):
    low, high = (1 << 32, 1 << 64) if wide else (0, 1 << 32)
    return chance.randrange(low // multiple, high // multiple) * multiple


def memory(name, wide):
    tlp = Tlp()
    tlp.fmt_type = TlpType[name + ("_64" if wide else "")]
    at = address(wide, 1)
    length = chance.randrange(min(4096 - at % 4096, chance.choice([8, 512, 4096])) + 1)
    if name == "MEM_WRITE":
        tlp.set_addr_be_data(at, chance.randbytes(max(length, 1)))
    else:
        tlp.set_addr_be(at, length)
    tlp.at = chance.choice([TlpAt.DEFAULT, TlpAt.TRANSLATED])
    return tlp


def atomic(name, wide):
    tlp = Tlp()
    tlp.fmt_type = TlpType[name + ("_64" if wide else "")]
    operand = chance.choice([4, 8, 16] if name == "CAS" else [4, 8])
    tlp.address = address(wide, operand)
    tlp.set_data(chance.randbytes(operand * (2 if name == "CAS" else 1)))
    return tlp


def plain(name):
    tlp = Tlp()
    tlp.fmt_type = TlpType[name]
    tlp.first_be, tlp.length = chance.randrange(16), 1
    tlp.address = chance.randrange(1024) * 4 if name.startswith("CFG") else address(False, 4)
    tlp.completer_id = pcie_id() if name.startswith("CFG") else PcieId(0)
    if "WRITE" in name:
        tlp.set_data(chance.randbytes(4))
    return tlp


def completion(name):
    tlp = Tlp()
    tlp.fmt_type = TlpType[name]
    tlp.completer_id = pcie_id()
    tlp.lower_address = chance.randrange(128)
    tlp.byte_count = chance.randrange(1, 4097)
    if "DATA" in name:
        # Up to a multiple of 64 B, or to the end.
        ends = [end for end in range(64, 64 + 4096, 64) if tlp.lower_address < end < tlp.lower_address + tlp.byte_count]
        end = chance.choice([*ends, tlp.lower_address + tlp.byte_count])
        tlp.set_data(chance.randbytes(((end + 3) // 4 - tlp.lower_address // 4) * 4))
        if tlp.length > 1024:
            return completion(name)
    else:
        tlp.status = chance.choice([CplStatus.SC, CplStatus.UR, CplStatus.CRS, CplStatus.CA])
    return tlp


def tlps():
    """TLPs that keep the rules, of each kind in turn."""
    kinds = [lambda n=n, w=w: memory(n, w) for n in MEMORY for w in (False, True)]
    kinds += [lambda n=n, w=w: atomic(n, w) for n in ATOMIC for w in (False, True)]
    kinds += [lambda n=n: plain(n) for n in PLAIN] + [lambda n=n: completion(n) for n in COMPLETIONS]
    for case in range(CASES):
        tlp = kinds[case % len(kinds)]()
        tlp.requester_id, tlp.tag, tlp.ep = pcie_id(), chance.randrange(1024), chance.random() < 0.1
        if tlp.fmt_type.name not in PLAIN:
            tlp.tc, tlp.attr = TlpTc(chance.randrange(8)), TlpAttr(chance.randrange(8))
        yield tlp


def fields(tlp):
    """A Tlp as sealsim's fields."""
    names = {**EVERY, **(COMPLETION if tlp.fmt_type.name in COMPLETIONS else REQUEST)}
    found = {name: int(getattr(tlp, attribute)) for name, attribute in names.items()}
    # Its byte count is that of the header, cut to 12 bits.
    if "byte_count" in found:
        found["byte_count"] = found["byte_count"] or 4096
    found |= {"fmt": int(tlp.fmt), "type": int(tlp.type), "requester_id": int(tlp.requester_id)}
    if tlp.fmt_type.name in COMPLETIONS or tlp.fmt_type.name.startswith("CFG"):
        found["completer_id"] = int(tlp.completer_id)
    return found


def decoded(lines, *more):
    """Objects of each line's bytes; lines that follow each other are one stream, so each is a call's own only where that matters."""
    return [json.loads(line) for line in sealsim("tlp", "decode", "--format", "json", *more, "-", text="\n".join(lines)).splitlines()]


def judge_tlps(count):
    made = list(tlps())
    bits = [tlp.pack().hex() for tlp in made]
    read = decoded(bits)
    count.same("TLPs in a stream", len(read), len(made))
    for tlp, hexadecimal, item in zip(made, bits, read):
        kept = {name: value for name, value in item["fields"].items() if name != "ph"}
        count.same(f"fields of {hexadecimal[:32]}", kept, fields(tlp))
        count.same(f"data of {hexadecimal[:32]}", item.get("payload") or "", bytes(tlp.data).hex())
        count.same(f"problems of {hexadecimal[:32]}", item.get("problems") or [], [])
    objects = "\n".join(json.dumps(item) for item in read)
    for hexadecimal, again, tlp in zip(bits, sealsim("tlp", "encode", text=objects).splitlines(), made):
        count.same("bytes encoded", again, hexadecimal)
        theirs = Tlp.unpack(bytearray.fromhex(again))
        count.same(f"their reading of {hexadecimal[:32]}", fields(theirs), fields(tlp))


def judge_flips(count):
    """One bit of a header is flipped: what both read must agree, or sealsim must call it unreadable."""
    for tlp in list(tlps())[:300]:
        flipped = bytearray(tlp.pack())
        place = chance.randrange(tlp.get_header_size() * 8)
        flipped[place // 8] ^= 1 << place % 8
        item = decoded([flipped.hex()])[0]
        try:
            theirs = Tlp.unpack_header(flipped)
        except Exception:  # noqa: BLE001, its own type is Exception
            theirs = None
        if theirs is None or item["kind"] == "unreadable" or theirs.fmt_type.name.startswith("MSG"):
            # Kinds that it has no reading of: sealsim may know more (DMWr, messages).
            count.same(f"a flip in {flipped.hex()[:32]}", "problems" in item or item["kind"] == "tlp", True)
            continue
        kept = {name: value for name, value in item["fields"].items() if name != "ph"}
        count.same(f"a flip in {flipped.hex()[:32]}", kept, fields(theirs))


def dllps():
    credit = [kind for kind in DllpType if "FC" in kind.name and "MR" not in kind.name]
    for case in range(CASES):
        dllp = Dllp()
        dllp.type = [DllpType.ACK, DllpType.NAK, DllpType.DATA_LINK_FEATURE, DllpType.PM_ENTER_L1, DllpType.PM_ENTER_L23,
                     DllpType.PM_ACT_ST_REQ_L1, DllpType.PM_REQ_ACK, DllpType.NOP, *credit][case % (8 + len(credit))]
        dllp.seq = chance.randrange(4096)
        dllp.vc, dllp.hdr_fc, dllp.data_fc = chance.randrange(8), chance.randrange(256), chance.randrange(4096)
        dllp.hdr_scale, dllp.data_scale = FcScale(chance.randrange(4)), FcScale(chance.randrange(4))
        dllp.feature_support, dllp.feature_ack = chance.randrange(1 << 23), chance.random() < 0.5
        yield dllp


def judge_dllps(count):
    names = {DllpType.PM_ACT_ST_REQ_L1: "PM_ACTIVE_STATE_REQ_L1"}
    made = list(dllps())
    # A DLLP on a link of gen3 to gen5 is a token of two bytes before it.
    wire = ["f0ac" + dllp.pack_crc().hex() for dllp in made]
    read = decoded(wire, "--wire")
    count.same("DLLPs in a stream", len(read), len(made))
    for dllp, item in zip(made, read):
        found = item["fields"]
        count.same("type", found["type"], names.get(dllp.type, dllp.type.name))
        if "seq" in found:
            count.same("sequence", found["seq"], dllp.seq)
        if "hdr_fc" in found:
            scales = [FcScale[found.get(key, "DIS")] for key in ("hdr_scale", "data_scale")]
            ours = [found["hdr_fc"], found["data_fc"], found.get("vc", 0), *scales]
            count.same("credits", ours, [dllp.hdr_fc, dllp.data_fc, dllp.vc, dllp.hdr_scale, dllp.data_scale])
        if "feature_support" in found:
            count.same("features", [found["feature_support"], bool(found["feature_ack"])], [dllp.feature_support, dllp.feature_ack])
        count.same("problems", item.get("problems") or [], [])
    objects = "\n".join(json.dumps(item) for item in read)
    for hexadecimal, again in zip(wire, sealsim("tlp", "encode", "--wire", text=objects).splitlines()):
        count.same("bytes encoded", again, hexadecimal)
    for dllp in made[:300]:
        place, flipped = chance.randrange(48), bytearray(dllp.pack_crc())
        flipped[place // 8] ^= 1 << place % 8
        problems = [problem["code"] for problem in decoded([flipped.hex()], "--dllp")[0].get("problems", [])]
        count.same(f"a flip in {flipped.hex()}", bool({"crc16", "reserved_type"} & set(problems)), True)


if __name__ == "__main__":
    count = Count()
    judge_tlps(count)
    judge_flips(count)
    judge_dllps(count)
    count.close()
