"""TLPs as dictionaries are those of the program."""

import json
import random

import pytest
import sealsim

FRAME = "5f006000000000010100000f123456784f2b77e3"
READ = "20082000010055ff0000000100000000"


@pytest.mark.parametrize(("text", "wire"), [(FRAME, True), (READ, False), ("f0ac000000059617", True)])
def test_decode_is_that_of_the_program_and_encode_its_inverse(program, text, wire):
    items = sealsim.tlp.decode(text, wire=wire)
    lines = program("tlp", "decode", *(["--wire"] if wire else []), "--format", "json", text).splitlines()
    assert items == [json.loads(line) for line in lines]
    assert sealsim.tlp.encode(items, wire=wire) == bytes.fromhex(text)
    assert sealsim.tlp.decode(bytes.fromhex(text), wire=wire) == items


def test_fields_that_change_come_back():
    draw = random.Random(1)
    (read,) = sealsim.tlp.decode(READ)
    for _ in range(100):
        read["fields"] |= {"tag": draw.randrange(1024), "address": draw.randrange(1 << 30, 1 << 62) << 2 & ~3, "tc": draw.randrange(8)}
        (back,) = sealsim.tlp.decode(sealsim.tlp.encode(read))
        assert back["fields"] == read["fields"]


def test_any_bytes_are_decoded_or_said_to_be_unreadable():
    draw = random.Random(2)
    for _ in range(300):
        for wire in (False, True):
            items = sealsim.tlp.decode(draw.randbytes(draw.randrange(1, 64)), wire=wire)
            assert items and all("kind" in item for item in items)


def test_hexadecimal_is_read_with_separators():
    assert sealsim.tlp.decode("0x20082000, 01:00:55_ff\n0x00000001 00000000") == sealsim.tlp.decode(READ)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ({"kind": "tlp"}, "fields"),
        ({"kind": "tpl"}, "did you mean"),
        ({"kind": "dllp", "fields": {"type": "ack", "sequence": 4096}}, "4096|sequence"),
        ([{"kind": "tlp", "payload": "0", "fields": {}}], "object 1|fields"),
    ],
)
def test_what_is_no_tlp_is_refused(items, words):
    with pytest.raises(sealsim.UsageError, match=words):
        sealsim.tlp.encode(items)


def test_no_bytes_and_no_digits_are_refused():
    for text in ("", "4a 0", "4g"):
        with pytest.raises(sealsim.UsageError):
            sealsim.tlp.decode(text)


def test_flits_are_those_of_the_program_and_come_back(program):
    write = {"kind": "flit_tlp", "payload": "000000a5" * 40, "fields": {"type": 96, "length_dw": 40, "address": 1 << 32}}
    flits = sealsim.tlp.encode([write, write], flits=True)
    assert len(flits) % 256 == 0
    items = sealsim.tlp.decode(flits, flits=True)
    lines = program("tlp", "decode", "--flit", "--format", "json", "-", stdin=flits.hex()).splitlines()
    assert items == [json.loads(line) for line in lines]
    assert sum(item["kind"] == "flit_tlp" for item in items) == 2
    assert sealsim.tlp.encode(items, flits=True) == flits


def test_dllps_and_symbols_are_those_of_the_program(program):
    for text, form, flag in (("8084b345", {"dllp": True}, "--dllp"), ("5c000000059617fd", {"wire": "gen1"}, "--wire=gen1")):
        lines = program("tlp", "decode", flag, "--format", "json", text).splitlines()
        assert sealsim.tlp.decode(text, **form) == [json.loads(line) for line in lines]


def test_header_logs_are_read(program):
    log = "pcieport 0000:00:01.0: AER: TLP Header: 40000001 0000000f fee00000 00000000"
    (item,) = sealsim.tlp.decode_log(log)
    (line,) = program("tlp", "decode", "--header-log", "--format", "json", log).splitlines()
    assert item["fields"] == json.loads(line)["fields"]
    with pytest.raises(sealsim.UsageError, match="TLP Header"):
        sealsim.tlp.decode_log("nothing")


@pytest.mark.parametrize("form", [{"wire": True, "dllp": True}, {"flits": True, "dllp": True}, {"wire": "gen9"}])
def test_forms_that_exclude_each_other_are_refused(form):
    with pytest.raises(sealsim.UsageError, match="one of|generation"):
        sealsim.tlp.decode(READ, **form)
