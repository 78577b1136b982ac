"""The core in Icarus Verilog: it is AES-GCM, and with a fault in it the scoreboard says which block is wrong and why."""

import contextlib
import os
import pathlib
import re
import shutil
from xml.etree import ElementTree

import pytest
from cocotb_tools.runner import get_results, get_runner
from mutants import outputs, verdict
from planted import BUGS, FILES, RTL, changed

HERE = pathlib.Path(__file__).resolve().parent

if shutil.which("iverilog") is None:
    pytest.skip("needs Icarus Verilog", allow_module_level=True)


def simulate(folder, test, *, key_bits=128, files=None, budget="serial-aes128"):
    """Runs a test of the bench. Gives how many failed, and what was printed."""
    more = {"KEY_BITS": str(key_bits), "BUDGET": budget}
    return simulated(folder, "bench", test, "aes_gcm", {"KEY_BITS": key_bits}, more, files)


def simulated(folder, module, test, top, parameters, more, files=None):
    """Runs a test of any bench on a core."""
    runner = get_runner("icarus")
    names = [*FILES, "aes_gcm_axis.v"]
    for name in names:
        (folder / name).write_text((files or {}).get(name) or (RTL / name).read_text())
    runner.build(
        sources=[folder / name for name in names],
        hdl_toplevel=top,
        parameters=parameters,
        build_args=["-Wall", "-Wno-timescale"],
        build_dir=folder,
        timescale=("1ns", "1ps"),
        always=True,
    )
    log = folder / "simulation.log"
    results = folder / "results.xml"
    # The runner ends the program where a test fails, which some of these have to.
    with contextlib.suppress(SystemExit):
        runner.test(
            test_module=module,
            hdl_toplevel=top,
            test_filter=test,
            build_dir=folder,
            test_dir=folder,
            results_xml=str(results),
            log_file=log,
            extra_env={"COCOTB_ANSI_OUTPUT": "0", "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]), **more},
        )
    ran, failed = get_results(results)
    assert ran == 1
    return failed, log.read_text()


@pytest.mark.parametrize("key_bits", [128, 256])
def test_the_core_is_aes_gcm(tmp_path, key_bits):
    failed, log = simulate(tmp_path, "messages_of_any_length_both_ways", key_bits=key_bits)
    assert not failed, log


@pytest.mark.parametrize(
    ("bug", "place", "stage"),
    [
        ("carry of the counter", r"message 5, block 14, cycle \d+, text", "the counter: its carry ends at bit 4, so that it counts 0 in place of 16"),
        ("lengths in bytes", r"message 1, cycle \d+, tag", "the length block: lengths are in bytes, not in bits"),
        ("GHASH drops a block", r"message 5, cycle \d+, tag", "GHASH: it did not take text block 5"),
        ("no mask", r"message 0, cycle \d+, tag", r"one of mask, tag: the mask: E\(K, J0\) was not added"),
    ],
)
def test_a_fault_is_found_where_it_is(tmp_path, bug, place, stage):
    failed, log = simulate(tmp_path, "messages_of_any_length_both_ways", files=changed(BUGS[bug]))
    assert failed and re.search(f"{place}: ({stage})", log), log
    assert re.search(r"expected +[0-9a-f]+\n.*got +[0-9a-f]+\n.*counter block +[0-9a-f]{32}", log), log


SOME = ["block repeated", "key of another message", "S-box", "byte order of the counter", "shifted text", "polynomial", "short block of AAD", "stale H", "mask of another message", "byte order of the tag"]


@pytest.mark.parametrize("bug", SOME if not os.environ.get("SEALSIM_BUGS") else list(BUGS))
def test_several_messages_name_the_stage(tmp_path, bug):
    """All forty with SEALSIM_BUGS=all."""
    found = verdict(outputs(changed(BUGS[bug]), tmp_path))
    assert found and found.part == BUGS[bug].part, found


def test_several_messages_of_a_right_core_blame_nothing(tmp_path):
    assert verdict(outputs({name: (RTL / name).read_text() for name in FILES}, tmp_path)) == ""


def test_a_core_keeps_to_its_budget_or_is_told_by_how_much_not(tmp_path):
    failed, log = simulate(tmp_path, "within_the_cycles_of_an_engine")
    assert not failed, log
    failed, log = simulate(tmp_path, "within_the_cycles_of_an_engine", budget="folded-8")
    assert failed and re.search(r"message 1, cycle \d+, cycles: later than folded-8", log), log


def streams(folder, one_port, tag_in_stream, files=None):
    parameters = {"ONE_PORT": one_port, "TAG_IN_STREAM": tag_in_stream}
    more = {name: str(value) for name, value in parameters.items()}
    return simulated(folder, "axis_bench", "messages_both_ways", "aes_gcm_axis", parameters, more, files)


@pytest.mark.parametrize(("one_port", "tag_in_stream"), [(0, 0), (1, 1)])
def test_a_core_with_streams_is_aes_gcm(tmp_path, one_port, tag_in_stream):
    failed, log = streams(tmp_path, one_port, tag_in_stream)
    assert not failed, log


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("passed <= tag_now == given_now;", "passed <= 1;", "it passed, but its tag is forged|its tag"),
        ("m_text_tlast  <= out_left <= 16 && (!TAG_IN_STREAM || opens_now)", "m_text_tlast <= out_left <= 32", "last of m_text_tdata: it comes 1?[0-9] bytes before the end"),
        ("m_text_tlast  <= out_left <= 16 && (!TAG_IN_STREAM || opens_now)", "m_text_tlast <= out_left <= 16 ? 1'b1 : 1'bx", "m_text_tlast is X while m_text_tvalid is high"),
        ("if (m_text_tvalid && m_text_tready) m_text_tvalid <= 0;", "if (m_text_tvalid && (m_text_tready || $random % 2)) m_text_tvalid <= 0;", r"m_text_tvalid went to 0 before its beat was taken \(IHI 0051A 2.2.1\)"),
        ("{high, out_high, m_text_tvalid, tag_waits} <= 0;", "{high, out_high, tag_waits} <= 0; m_text_tvalid <= 1;", r"m_text_tvalid is 1 in reset .*2.7.2"),
        ("assign s_text_tready = !from_aad && takes;", "assign s_text_tready = 0;", "s_text_tvalid has been high for 1000 cycles, waiting for s_text_tready, which is 0"),
        ("{16'h0, lanes(out_left)}", "32'hffff", "bytes that belong to no message"),
        ("high ? beat[255:128] : beat[127:0]", "beat[127:0]", "text"),
    ],
)
def test_what_streams_do_wrong_is_told(tmp_path, old, new, told):
    text = (RTL / "aes_gcm_axis.v").read_text()
    assert text.count(old) == 1
    failed, log = streams(tmp_path, 0, 0, {"aes_gcm_axis.v": text.replace(old, new)})
    assert failed and re.search(told, log), log


def uvm(folder, count, files=None):
    more = {"KEY_BITS": "128", "MESSAGES": str(count), "COVERED": str(folder / "coverage.xml")}
    return simulated(folder, "uvm_bench", "AllKinds", "aes_gcm", {"KEY_BITS": 128}, more, files)


def test_an_environment_of_uvm_passes_the_core_and_covers_it(tmp_path):
    failed, log = uvm(tmp_path, 50)
    assert not failed, log
    told = re.search(r"coverage: ([0-9.]+) %, missing: (.*)", log)
    # Nothing is forged here, since the core does not judge.
    assert told and all("forged" in one for one in re.split(r", (?=\w+: )", told.group(2))), log
    root = ElementTree.parse(tmp_path / "coverage.xml").getroot()
    hits = {place.attrib["abs_name"]: int(place.attrib["hits"]) for place in root.iter() if "hits" in place.attrib}
    assert [hits[f"top.aes_gcm.text.bin{at}"] for at in range(5)] == [10] * 5


def test_an_environment_of_uvm_fails_a_core_with_a_bug(tmp_path):
    failed, log = uvm(tmp_path, 20, changed(BUGS["lengths in bytes"]))
    assert failed and "the length block: lengths are in bytes, not in bits" in log, log
