"""A report is that of the program, and errors are its errors."""

import copy
import inspect
import json
import pickle
import signal
import threading
import time

import pytest
import sealsim
from test_designs import STUDY


def fixed(report):
    """Without what depends on the host."""
    return {name: value for name, value in report.items() if name != "host"}


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (
            {"machine": "h100-nvl-tdx", "copies": ["h2d:1MiB", "d2h:64KiB:pageable"], "data": "exact", "seed": 7},
            "h100-nvl-tdx --copy h2d:1MiB --copy d2h:64KiB:pageable --seed 7",
        ),
        (
            {
                "machine": "h100-nvl-tdx",
                "copies": ["h2d:2MiB"],
                "designs": ["hold"],
                "set": {"tag_queue.quarantine": "4MiB"},
                "what_if": 3,
            },
            "h100-nvl-tdx --copy h2d:2MiB --design hold --set tag_queue.quarantine=4MiB --what-if 3 --data none",
        ),
        ({"machine": "h100-nvl-tdx", "copies": ["h2d:1MiB"], "cc": False}, "h100-nvl-tdx --copy h2d:1MiB --cc off --data none"),
        (
            {"machine": "h100-nvl-tdx", "copies": ["h2d:256KiB"], "data": "exact", "inject": ["link.h2d.flip:20"]},
            "h100-nvl-tdx --copy h2d:256KiB --inject link.h2d.flip:20",
        ),
        ({"workload": "weight-streaming"}, "--workload weight-streaming --data none"),
        (
            {"workload": "ddp-bert-large", "parameters": {"ranks": 2}, "machine": "hgx-h100-8gpu"},
            "hgx-h100-8gpu --workload ddp-bert-large --param ranks=2 --data none",
        ),
    ],
)
def test_a_report_is_the_json_of_the_program(document, question, arguments):
    report = sealsim.run(**question)
    assert fixed(report.to_dict()) == fixed(document("run", *arguments.split()))
    # Who is told of progress has the same report.
    assert fixed(sealsim.run(**question, progress=lambda part: None).to_dict()) == fixed(report.to_dict())


def test_settings_are_values_of_python_or_texts():
    copies = ["h2d:64KiB"]
    off = fixed(sealsim.run("h100-nvl-tdx", copies, cc=False))
    for settings in ({"confidential_computing": False}, ["confidential_computing=false"]):
        assert fixed(sealsim.run("h100-nvl-tdx", copies, set=settings)) == off
    assert not off["confidential_computing"]


def test_a_report_is_an_object_and_a_mapping():
    report = sealsim.run("h100-nvl-tdx", ["h2d:64KiB"])
    assert report.delivered and report.shortcomings == []
    assert report["copies"][0]["gb_per_s"] == report.copies[0].gb_per_s == report.to_dict()["copies"][0]["gb_per_s"]
    assert report.units["host.cipher"].busy > 0 and "copies" in report and "copies" in dir(report)
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()
    with pytest.raises(AttributeError, match="no field 'copy'; there are .*copies"):
        report.copy  # noqa: B018
    for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        assert other.to_dict() == report.to_dict() and other.delivered


def test_what_is_not_delivered_is_said_and_is_no_exception():
    report = sealsim.run("h100-nvl-tdx", ["h2d:1MiB"], data="exact", inject=["staging.ciphertext.flip:1"])
    assert not report.delivered and "copy 1 was not delivered" in report.shortcomings[0]
    assert report.copies[0].tags_failed == 1


@pytest.mark.parametrize(
    ("question", "error", "words"),
    [
        ({"machine": "h100-nvl", "copies": ["h2d:1KiB"]}, sealsim.ConfigError, "help: shipped machines: .*h100-nvl-tdx"),
        ({"machine": "h100-nvl-tdx", "copies": ["h2d:1KiB"], "set": ["link.x=1"]}, sealsim.ConfigError, "link.x"),
        ({"machine": "h100-nvl-tdx", "copies": ["up:1KiB"]}, sealsim.UsageError, r"copies\[0\]: .*up"),
        ({"machine": "h100-nvl-tdx", "copies": ["h2d"]}, sealsim.UsageError, "has no size"),
        ({"machine": "h100-nvl-tdx"}, sealsim.UsageError, "give copies or a workload"),
        ({"copies": ["h2d:1KiB"]}, sealsim.UsageError, "no machine"),
        ({"machine": "h100-nvl-tdx", "copies": ["h2d:1KiB"], "inject": ["here"]}, sealsim.UsageError, "fault point"),
        ({"machine": "h100-nvl-tdx", "copies": ["h2d:1KiB"], "inject": ["link.x.flip"]}, sealsim.UsageError, "link"),
        ({"workload": "no-such-file.toml"}, sealsim.FileError, "no-such-file"),
        ({"machine": "h100-nvl-tdx", "copies": "h2d:1KiB"}, TypeError, r"copies=\['h2d:1KiB'\]"),
        ({"machine": "h100-nvl-tdx", "copies": ["h2d:1KiB"], "seed": -1}, sealsim.UsageError, "seed is -1"),
    ],
)
def test_an_error_has_its_class_and_its_remedy(question, error, words):
    with pytest.raises(error, match=words):
        sealsim.run(**question)


def test_errors_have_the_statuses_of_the_program(program):
    with pytest.raises(sealsim.Error) as raised:
        sealsim.run("h100-nvl", ["h2d:1KiB"])
    program("run", "h100-nvl", "--copy", "h2d:1KiB", status=raised.value.status)


def test_progress_grows_to_one():
    parts = []
    sealsim.run("h100-nvl-tdx", ["h2d:64MiB"], data="exact", what_if=0, progress=parts.append)
    assert parts == sorted(parts) and parts[-1] == 1.0 and all(0 < part <= 1 for part in parts)
    assert len(parts) > 2


def test_what_progress_raises_stops_the_run():
    def stop(part):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sealsim.run("h100-nvl-tdx", ["h2d:256MiB"], data="exact", progress=stop)


@pytest.mark.parametrize(
    "work",
    [
        lambda: sealsim.run("h100-nvl-tdx", ["h2d:16GiB"], data="exact"),
        lambda: sealsim.run("h100-nvl-tdx", ["h2d:16GiB"] * 8, what_if=0),
        lambda: sealsim.compare("h100-nvl-tdx", sizes=["16GiB"]),
    ],
)
def test_ctrl_c_stops_what_takes_long(work):
    begun = time.monotonic()
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - begun < 10


def test_other_threads_work_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    sealsim.run("h100-nvl-tdx", ["h2d:64MiB"], data="exact", what_if=0)
    done.set()
    thread.join()
    assert len(ticks) > 3


NONE_OF_THEM = {"text": "zzz", "number": 1 << 70, "part": 1.5, "bytes": b"h2d:1KiB", "list": ["zzz"], "nothing": [], "map": {"zzz": None}, "flag": True, "object": object()}
FINE = {"cc": "flag", "progress": "flag", "folder": "text", "storage": "text"} | dict.fromkeys(["designs", "set", "inject", "over", "cheap", "minimise", "maximise"], "nothing")


@pytest.mark.parametrize("function", [sealsim.run, sealsim.compare, sealsim.sweep, sealsim.search.run])
def test_each_argument_refuses_what_its_option_does_not_take(function, tmp_path):
    copies, file = {"machine": "h100-nvl-tdx", "copies": ["h2d:4KiB"]}, tmp_path / "study.toml"
    file.write_text(STUDY)
    study = {"study": file, "folder": tmp_path / "out"}
    compared = {"machine": "h100-nvl-tdx", "designs": ["hold"], "sizes": ["4KiB"]}
    right = {sealsim.run: copies, sealsim.compare: compared, sealsim.sweep: study}.get(function, {**study, "budget": 1})
    for name in inspect.signature(function).parameters:
        for value in [value for kind, value in NONE_OF_THEM.items() if kind != FINE.get(name)]:
            with pytest.raises((TypeError, sealsim.Error)):
                function(**{**right, name: value})
                pytest.fail(f"{name}={value!r} was taken")
    with pytest.raises(sealsim.UsageError, match="cc is 'of', but must be True"):
        sealsim.run(**copies, cc="of")
